"""A filter for a stranger's HTML. It lets through what can only be looked at.

Names that the page itself uses are out of reach: an `id` gets a prefix, and a class is let through only where colours
of code and of terminals need it, so that nothing a stranger wrote passes for the page's own words or buttons.
"""

import re
from collections.abc import Callable

LONGEST = 400_000  # characters of an output in HTML
MOST = 40_000  # tags of an output; empty ones take the square of how many there are
DEEPEST = 2_000  # elements of an output that are not closed
OWN = "user-"  # before the ids of what a stranger wrote
OURS = re.compile(r"#(?:cell-\d+|section-\d|(?:fig|eq|tbl|sec)-[\w-]+)")  # links to places that pages have
NAMED = re.compile(r"(?:fig|eq|tbl|sec)-[\w-]+")  # ids that stay, for what a text refers to
CLASSES = re.compile(r"[a-z]{1,2}\d?|highlight|dataframe|equation|ansi-[a-z-]+")
DIRECTIONS = ("ltr", "rtl", "auto")
MATHML = set(
    """
    math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle mpadded mphantom menclose msub msup msubsup munder mover
    munderover mtable mtr mtd semantics annotation
    """.split()
)
OF_MATHML = set(
    """
    mathvariant stretchy fence form separator accent columnalign lspace rspace width linethickness minsize maxsize
    displaystyle
    """.split()
)
Pictures = Callable[[str], str | None]  # a picture's address to the picture itself as a `data:` address, None without


def no_picture(address: str) -> None:
    """None: the text comes without pictures of its own."""


def bearable(fragment: str) -> bool:
    """True if HTML is short and shallow: the time to sanitise it grows with the square of the elements left open."""
    tags = fragment.count("<")
    left_open = tags - 2 * fragment.count("</")
    return len(fragment) <= LONGEST and tags <= MOST and left_open <= DEEPEST


def sanitised(fragment: str, pictures: Pictures = no_picture) -> str:
    """HTML that can only be looked at: no script, no style, no address but links and pictures inside the page.

    Args:
        pictures: gives the pictures that came with the text by the address it uses for them.
    """
    return _cleaned(fragment, lambda tag, name, value: _let_through(tag, name, value, pictures))


def arranged(content: str, pictures: Pictures) -> str:
    """Quarto's HTML of a notebook, sanitised for a page: its own classes and the places of figures are kept.

    Args:
        pictures: gives the pictures that Quarto wrote beside its page.
    """

    def let_through(tag: str, name: str, value: str) -> str | None:
        if name == "class":
            return value
        if name == "id":
            return value if OURS.fullmatch(f"#{value}") else None
        return _let_through(tag, name, value, pictures)

    return _cleaned(content, let_through)


def _cleaned(fragment: str, let_through: Callable[[str, str, str], str | None]) -> str:
    import nh3

    attributes = {tag: set(names) for tag, names in nh3.ALLOWED_ATTRIBUTES.items()}
    attributes["*"] = {"class", "dir", "id", "lang", "title"}
    attributes["math"] = {"display", "xmlns"}
    for tag in MATHML - {"math"}:
        attributes[tag] = OF_MATHML
    attributes["details"] = {"open"}
    return nh3.clean(
        fragment,
        tags=nh3.ALLOWED_TAGS | MATHML | {"section"},
        attributes=attributes,
        url_schemes={"http", "https", "mailto", "data", "attachment"},
        attribute_filter=let_through,
        link_rel="noopener noreferrer",
    )


def _let_through(tag: str, name: str, value: str, pictures: Pictures) -> str | None:
    """An attribute as it may stand on a page, None for one that may not: opening a page fetches nothing."""
    if name == "src":
        return value if value.startswith("data:image/") else pictures(value)
    if name == "href":
        return _link(value)
    if name == "id":
        return value if NAMED.fullmatch(value) else OWN + value
    if name == "dir":
        return value if value in DIRECTIONS else None
    if name == "class":
        return " ".join(word for word in value.split() if CLASSES.fullmatch(word)) or None
    return value


def _link(value: str) -> str | None:
    """The target of a link: elsewhere, a place of the page or one of the stranger's own ids; None for embedded data."""
    if value.startswith(("data:", "attachment:")):
        return None
    if not value.startswith("#") or OURS.fullmatch(value):
        return value
    return f"#{OWN}{value[1:]}"
