"""What of a stranger's HTML is let through to a page: what can only be looked at."""

LONGEST = 400_000  # characters of an output in HTML
DEEPEST = 5_000  # elements of an output that are not closed
MATHML = {
    "math",
    "mrow",
    "mi",
    "mn",
    "mo",
    "ms",
    "mtext",
    "mspace",
    "mfrac",
    "msqrt",
    "mroot",
    "mstyle",
    "mpadded",
    "mphantom",
    "menclose",
    "msub",
    "msup",
    "msubsup",
    "munder",
    "mover",
    "munderover",
    "mtable",
    "mtr",
    "mtd",
    "semantics",
    "annotation",
}


def bearable(fragment: str) -> bool:
    """Whether HTML is short and shallow: sanitising takes the square of how many elements are left open."""
    left_open = fragment.count("<") - 2 * fragment.count("</")
    return len(fragment) <= LONGEST and left_open <= DEEPEST


def sanitised(fragment: str) -> str:
    """HTML that can only be looked at: no script, no style, no address but links and embedded pictures."""
    import nh3

    tags = nh3.ALLOWED_TAGS | MATHML | {"section", "figure", "figcaption"}
    attributes = {tag: set(names) for tag, names in nh3.ALLOWED_ATTRIBUTES.items()}
    attributes["*"] = {"class", "id", "title"}
    attributes["math"] = {"display", "xmlns"}
    for tag in MATHML - {"math"}:
        attributes[tag] = {
            "mathvariant",
            "stretchy",
            "fence",
            "form",
            "separator",
            "accent",
            "columnalign",
            "lspace",
            "rspace",
            "width",
            "linethickness",
            "minsize",
            "maxsize",
            "displaystyle",
        }
    attributes["td"] = attributes["th"] = {"align", "colspan", "rowspan"}
    attributes["details"] = {"open"}
    return nh3.clean(
        fragment,
        tags=tags,
        attributes=attributes,
        url_schemes={"http", "https", "mailto", "data"},
        attribute_filter=_only_embedded_pictures,
        link_rel="noopener noreferrer",
    )


def _only_embedded_pictures(tag: str, attribute: str, value: str) -> str | None:
    """`data:` addresses for pictures only, and pictures only from `data:`: opening a page fetches nothing."""
    if attribute == "src":
        return value if value.startswith("data:image/") else None
    return None if attribute == "href" and value.startswith("data:") else value
