"""Formulas in Markdown as MathML, which a browser shows without any script."""

import html
import re
import unicodedata
from contextlib import suppress
from xml.etree import ElementTree

from markdown_it.token import Token

from checker.reading.prose.tex import NAMESPACE, Unread, converted

ALPHABETS = ("double-struck", "script", "bold")
SPACE = "0.167em"  # between a function's name and its argument
WITH_LIMITS = frozenset("lim max min sup inf det gcd Pr".split())
BELOW = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
# A formula in a line, and what is written to it without a space: a bracket, a full stop, "'s".
IN_LINE = re.compile(r'\(?(?P<made><math\b[^>]* display="inline"(?:(?!</math>).)*</math>)[^\s<>&;]{0,12}', re.DOTALL)


def unbroken(page: str) -> str:
    """A page on which no line begins with the full stop behind a formula: a browser breaks lines at formulas."""

    def together(match: re.Match) -> str:
        return match[0] if match[0] == match["made"] else f'<span class="unbroken">{match[0]}</span>'

    return IN_LINE.sub(together, page)


def shown(formula: Token) -> str:
    """A formula of a text as MathML, as `code` where it cannot be read; "" for one that only defines what others say."""
    tex = formula.meta.get("tex")
    if tex == "":
        return ""
    with suppress(Unread):
        if tex is not None:
            return mathml(tex, bool(formula.markup))
    return f"<code>{html.escape(formula.content.strip())}</code>"


def mathml(tex: str, display: bool) -> str:
    """MathML in which the names of functions keep their distance, letters of other alphabets are characters, and the
    bars of an absolute value are brackets.

    Browsers take `<mo>std</mo>` for an operator such as "=", with wide spaces around it, set `<mi>log</mi><mi>p</mi>`
    as one word, know no `mathvariant="double-struck"`, and set |v| as they set the bar of p(y|x).

    Raises:
        Unread: as `converted` does.
    """
    ElementTree.register_namespace("", NAMESPACE)
    root = converted(tex, display)
    _put_limits_below(root, display)
    for element in list(root.iter()):
        if element.text and _is_name(element):
            element.tag = _tag("mi")
        if element.get("mathvariant") in ALPHABETS and element.text:
            element.text = _character(element.attrib.pop("mathvariant"), element.text)
    for row in list(root.iter(_tag("mrow"))):
        _space_names(row)
        _close_bars(row)
    return ElementTree.tostring(root, encoding="unicode")


def _put_limits_below(root: ElementTree.Element, display: bool) -> None:
    """Put what stands at "max" below it in a formula that has a line of its own, but not in its fractions and scripts.

    The one table of a formula, as `gather` is one, has lines of its own, too.
    """
    waiting = [(root, display)]
    while waiting:
        element, has_room = waiting.pop()
        kind = element.tag.removeprefix(f"{{{NAMESPACE}}}")
        if kind in BELOW and has_room and _takes_limits(element[0]):
            element.tag = _tag(BELOW[kind])
        if kind == "mtable":
            if display and len(root[0]) == 1 and element in (root[0][0], *root[0][0]):
                element.set("displaystyle", "true")
            has_room = element.get("displaystyle") == "true"
        asked = element.get("displaystyle") if kind == "mstyle" else None
        has_room = asked == "true" if asked else has_room
        for number, child in enumerate(element):
            is_small = kind == "mfrac" or (number and kind in {*BELOW, *BELOW.values()})
            waiting.append((child, has_room and not is_small))


def _takes_limits(element: ElementTree.Element) -> bool:
    return element.get("movablelimits") == "true" or (element.tag == _tag("mo") and element.text in WITH_LIMITS)


def _character(alphabet: str, text: str) -> str:
    """A letter or digit of an alphabet, U+1D53C for the double-struck "E"; the text itself where Unicode has none."""
    name = unicodedata.name(text, "") if len(text) == 1 else ""
    name = name.replace("LATIN CAPITAL LETTER", "CAPITAL").replace("LATIN SMALL LETTER", "SMALL")
    for block in ("MATHEMATICAL ", ""):  # some, such as U+211D, were there before their block was
        with suppress(KeyError):
            return unicodedata.lookup(f"{block}{alphabet.upper()} {name}")
    return text


def _space_names(row: ElementTree.Element) -> None:
    """Put a space between a function's name and what stands beside it, but not at brackets and operators."""
    spaced: list[ElementTree.Element] = []
    for element in row:
        neighbours = [*spaced[-1:], element]
        at_name = len(neighbours) == 2 and any(map(_is_named, neighbours))
        if at_name and not {"mo", "mspace"} & {_kind(one) for one in neighbours}:
            spaced.append(ElementTree.Element(_tag("mspace"), width=SPACE))
        spaced.append(element)
    row[:] = spaced


def _close_bars(row: ElementTree.Element) -> None:
    """Make brackets of each two bars with whole brackets between them; in p(y|x) + p(a|b) there are none such."""
    opened, depth = None, 0
    for element in row:
        sign = element.text if element.tag == _tag("mo") else None
        if sign == "|" and opened is not None and depth == 0:
            opened.set("form", "prefix")
            element.set("form", "postfix")
            opened = None
        elif sign == "|":
            opened, depth = element, 0
        elif sign in ("(", "["):
            depth += 1
        elif sign in (")", "]"):
            depth -= 1
            opened = opened if depth >= 0 else None


def _is_named(element: ElementTree.Element) -> bool:
    """A function's name, or one with something below or above it, such as the maximum over a."""
    scripts = {_tag(kind) for kind in ("msub", "msup", "msubsup", "munder", "mover", "munderover")}
    return _is_name(element[0] if element.tag in scripts and len(element) else element)


def _is_name(element: ElementTree.Element) -> bool:
    return _kind(element) in {"mi", "mo"} and bool(re.fullmatch("[a-z]{2,}", element.text or "", re.IGNORECASE))


def _kind(element: ElementTree.Element) -> str:
    """The tag of an element; of a row in brackets that of its first element, which is what stands at its edge."""
    kind = element.tag.removeprefix(f"{{{NAMESPACE}}}")
    return _kind(element[0]) if kind == "mrow" and len(element) else kind


def _tag(kind: str) -> str:
    return f"{{{NAMESPACE}}}{kind}"
