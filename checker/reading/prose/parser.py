"""Markdown as notebooks have it, read into tokens: CommonMark with tables, formulas, definitions and footnotes.

Beside these what Quarto adds to it: names (`{#fig-loss}`), references to them (`@fig-loss`), blocks between colons. How
it is shown is for `checker/pages/markdown.py`; what of it no page shows as it was meant is a remark.
"""

from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit, table
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.attrs.parse import ParseError, parse
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

from checker.reading.prose.spans import Span, formula_at, spans
from checker.reading.prose.tex import Names, Unread, prepared

PIPE = "\ue002"  # of Unicode's private use area: a pipe that parts no cells
DEEPEST = 100  # blocks within each other; what is deeper is left out, as the parser has it
MOST_BRACKETS = 5_000  # of a text: for each the parser looks for its end
LONGEST_NAME = 300  # characters of what stands between braces behind a figure or a heading
DIAGRAMS = ("mermaid", "dot", "graphviz", "tikz")


@dataclass(frozen=True)
class Remark:
    """A part of a text that no page shows as it was meant.

    is_lost: something of it cannot be read on the page; otherwise it stands there in plain words.
    """

    found: str
    advice: str
    is_lost: bool = True


@dataclass
class Text:
    """A text as tokens, with the remarks on it.    env: what the parser's renderer has to know of it."""

    tokens: list[Token]
    env: dict
    remarks: list[Remark] = field(default_factory=list)


def read(source: str, names: Names, anchor: str = "") -> Text:
    """The tokens of a text.

    Args:
        names: what the texts of its page define for each other; what this text defines is added.
        anchor: what is put into the places of its footnotes, so that two texts of a page have two.
    """
    remarks: list[Remark] = []
    env = {"names": names, "remarks": remarks, "docId": anchor}
    if source.count("[") > MOST_BRACKETS:
        remarks.append(
            Remark(f"a text with more than {MOST_BRACKETS:,} brackets, shown as it was written", "Write fewer.")
        )
        return Text([Token("code_block", "", 0, content=source)], env, remarks)
    return Text(parser().parse(source, env), env, remarks)


@lru_cache
def parser() -> MarkdownIt:
    """The parser. It lets every address and every tag through, as what is made of them is sanitised."""
    markdown = MarkdownIt("commonmark", {"alerts": True, "maxNesting": DEEPEST}).enable(["table", "strikethrough"])
    for plugin in (deflist_plugin, footnote_plugin, gfm_autolink_plugin):
        markdown.use(plugin)
    markdown.validateLink = lambda address: True
    markdown.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    markdown.block.ruler.before("fence", "div", _div, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    markdown.block.ruler.before("lheading", "formulas", _paragraph_with_formulas)
    markdown.inline.ruler.before("escape", "formula", _formula)
    markdown.inline.ruler.before("image", "attachment", _attachment)
    markdown.inline.ruler.before("link", "attributes", _attributes)
    markdown.inline.ruler.before("gfm_autolink_email", "reference", _reference)
    markdown.core.ruler.before("footnote_tail", "unasked", _footnotes_that_nobody_asks_for)
    markdown.core.ruler.push("html", _formulas_in_html)
    markdown.core.ruler.push("named", _named)
    return markdown


def _remark(state, found: str, advice: str, is_lost: bool = True) -> None:
    remark = Remark(found, advice, is_lost)
    if remark not in state.env["remarks"]:
        state.env["remarks"].append(remark)


def push_formula(state, span: Span, push) -> None:
    """Add a formula's token, its TeX prepared; one that cannot be read keeps it as it was written."""
    token = push("formula", "", 0)
    token.content, token.markup = span.tex, "block" if span.display else ""
    try:
        token.meta["tex"] = prepared(span.tex, state.env["names"])
    except (Unread, RecursionError) as error:
        reason = str(error) if isinstance(error, Unread) else "too many groups in each other"
        shown = " ".join(span.tex.split())[:60]
        _remark(
            state,
            f"a formula that the page shows as it was written, for it has {reason}: {shown}",
            "Write it in the TeX that MathJax knows.",
        )


def _formula(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    found = formula_at(state.src, state.pos)
    if found is None or found.end > state.posMax:
        return False
    if not silent:
        push_formula(state, found, state.push)
    state.pos = found.end
    return True


def _paragraph_with_formulas(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A paragraph in which a formula goes over the end of a line: what looks like a list or a heading in it is none."""
    position = state.bMarks[start_line] + state.tShift[start_line]
    line = last = start_line  # up to `last` nothing ends the paragraph
    while line < end_line and not state.isEmpty(line) and (line <= last or not _is_ended(state, line)):
        for span in spans(state.src, position, state.eMarks[line]):
            position = span.end
            if span.tex is not None and span.end > state.eMarks[line]:
                line = last = bisect_right(state.bMarks, span.end - 1) - 1
                break
        else:
            line += 1
            position = max(position, state.eMarks[line - 1])
    if last == start_line or line > end_line:
        return False
    state.line = line
    state.push("paragraph_open", "p", 1).map = [start_line, line]
    token = state.push("inline", "", 0)
    token.content = state.getLines(start_line, line, state.blkIndent, False).strip()
    token.map = [start_line, line]
    token.children = []
    state.push("paragraph_close", "p", -1)
    return True


def _is_ended(state: StateBlock, line: int) -> bool:
    """True if a paragraph ends before a line."""
    if state.sCount[line] - state.blkIndent > 3 or state.sCount[line] < 0:
        return False
    return any(rule(state, line, state.lineMax, True) for rule in state.md.block.ruler.getRules("paragraph"))


def _table(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A table in which a pipe in code or in a formula parts no cells. What is beyond the last column is remarked."""
    if not table(state, start_line, end_line, True):
        return False
    source = state.src
    _hide_pipes(state, start_line, start_line + 1)
    is_one = table(state, start_line, end_line, True)
    if is_one and not silent:
        _push_table(state, start_line, end_line)
    state.src = source
    return is_one


def _push_table(state: StateBlock, start_line: int, end_line: int) -> None:
    """Add a table's tokens. A line that begins with a colon ends it: Pandoc's caption."""
    stop = start_line + 2
    while stop < end_line and not state.isEmpty(stop) and state.src[state.bMarks[stop] + state.tShift[stop]] != ":":
        stop += 1
    _hide_pipes(state, start_line, stop)
    known = len(state.tokens)
    table(state, start_line, stop, False)
    for token in state.tokens[known:]:
        token.content = token.content.replace(PIPE, "|")
    columns = sum(token.type == "th_open" for token in state.tokens[known:])
    rows = [
        state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip()
        for line in range(start_line, state.line)
    ]
    if any(len(escapedSplit(row.removeprefix("|").removesuffix("|"))) > columns for row in rows[2:]):
        _remark(
            state,
            f"a row of a table has more cells than its head, {columns}: what is beyond them is not shown",
            "Give the head as many cells, or write a pipe inside a cell as \\|.",
        )


def _hide_pipes(state: StateBlock, start_line: int, stop: int) -> None:
    """Put another character for each pipe in the code and the formulas of some lines."""
    begin, end = state.bMarks[start_line], state.eMarks[stop - 1]
    lines = state.src[begin:end]
    if "`" in lines or "$" in lines:
        state.src = state.src[:begin] + "\n".join(map(_without_pipes, lines.split("\n"))) + state.src[end:]


def _without_pipes(line: str) -> str:
    pieces, position = [], 0
    for span in spans(line):
        inside = line[span.start : span.end]
        inside = inside.replace("\\|", "|") if span.tex is None else inside  # in a formula it is a norm
        pieces += [line[position : span.start], inside.replace("|", PIPE)]
        position = span.end
    return "".join(pieces) + line[position:]


def _div(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A block between lines of colons, as Pandoc has it: a callout, tabs, columns. What is in it is read."""
    opening = _colons(state, start_line)
    if not opening:
        return False
    if silent:
        return True
    depth, line = 1, start_line
    while depth and line + 1 < end_line:
        line += 1
        said = _colons(state, line)
        depth += 0 if said is None else 1 if said else -1
    given = {"class": opening}
    with suppress(ParseError):
        given = parse(opening)[1]
    token = state.push("div_open", "div", 1)
    token.meta, token.map = given, [start_line, line]
    old = state.lineMax, state.parentType
    state.lineMax, state.parentType = line if not depth else line + 1, "container"
    state.md.block.tokenize(state, start_line + 1, state.lineMax)
    state.lineMax, state.parentType = old
    state.push("div_close", "div", -1).meta = given
    state.line = min(line + 1, end_line)
    kind = given.get("class", "")
    if kind:
        shown = "a quotation" if kind.startswith("callout") else "its plain text"
        _remark(state, f"a block of Quarto's, {kind[:40]}, which the page shows as {shown}", "It is readable.", False)
    return True


def _colons(state: StateBlock, line: int) -> str | None:
    """The words behind the colons of a line that begins or, without words, ends a block; None for any other line."""
    said = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    if not said.startswith(":::") or state.is_code_block(line):
        return None
    return said.strip(": \t")


def _attachment(state: StateInline, silent: bool) -> bool:
    """A picture that is attached to its cell under a name with blanks in it, which CommonMark takes for no address."""
    if not state.src.startswith("![", state.pos) or "](attachment:" not in state.src:
        return False
    label_end = state.md.helpers.parseLinkLabel(state, state.pos + 1, False)
    if label_end < 0 or not state.src.startswith("(attachment:", label_end + 1):
        return False
    end = state.src.find(")", label_end, label_end + LONGEST_NAME)
    while 0 <= end and state.src.count("(", label_end + 2, end) > state.src.count(")", label_end + 2, end):
        end = state.src.find(")", end + 1)
    address = state.src[label_end + 2 : end].strip().partition(' "')[0]
    if end < 0 or "\n" in address:
        return False
    if not silent:
        token = state.push("image", "img", 0)
        token.content = state.src[state.pos + 2 : label_end]
        token.children = [Token("text", "", 0, content=token.content)]
        token.attrs = {"src": address, "alt": ""}
    state.pos = end + 1
    return True


def _attributes(state: StateInline, silent: bool) -> bool:
    """The name of a figure, an equation or a heading, which stands behind it: `{#fig-loss fig-alt="..."}`."""
    if not state.src.startswith(("{#", "{."), state.pos):
        return False
    try:
        length, given = parse(state.src[state.pos : state.pos + LONGEST_NAME])
    except ParseError:
        return False
    before = state.tokens[-1].type if state.tokens and not state.pending.strip() else ""
    behind = state.src[state.pos + length + 1 :].strip()
    if before not in ("image", "formula") and behind:
        return False
    if not silent:
        token = state.push("attributes", "", 0)
        token.meta = given
        token.content = state.src[state.pos : state.pos + length + 1]
    state.pos += length + 1
    return True


def _reference(state: StateInline, silent: bool) -> bool:
    """A reference to a figure, a table, an equation or a section: a link, where the page has it."""
    text, begin = state.src, state.pos
    if text[begin] != "@" or (begin and (text[begin - 1].isalnum() or text[begin - 1] in "_@")):
        return False
    end = begin + 1
    while end < state.posMax and (text[end].isalnum() or text[end] in "_-"):
        end += 1
    name = text[begin + 1 : end].rstrip("-")
    if name.partition("-")[0] not in Names.KINDS or not name.partition("-")[2]:
        return False
    words = state.env["names"].words.get(name)
    if not silent:
        if words is None:
            state.push("text", "", 0).content = f"@{name}"
            state.env.setdefault("asked", []).append(name)
        else:
            state.push("link_open", "a", 1).attrs = {"href": f"#{name}"}
            state.push("text", "", 0).content = words
            state.push("link_close", "a", -1)
    state.pos = begin + 1 + len(name)
    return True


def _footnotes_that_nobody_asks_for(state: StateCore) -> None:
    """Keep footnotes whose mark is missing or stands in another cell: they would be left out."""
    notes = state.env.get("footnotes", {"refs": {}})
    for label, number in notes["refs"].items():
        if number < 0:
            known = notes.setdefault("list", {})
            notes["refs"][label] = len(known)
            known[len(known)] = {"label": label[1:], "count": 0}


def _named(state: StateCore) -> None:
    """Give names to what they stand behind, and remark what is shown otherwise than it was meant."""
    names = state.env["names"]
    for number, token in enumerate(state.tokens):
        if token.type == "fence" and token.info.strip("{}. ").partition(" ")[0] in DIAGRAMS:
            _remark(state, "a diagram, of which the page shows the source", "Draw it in a code cell.", False)
        for place, child in enumerate(token.children or ()):
            if child.type == "attributes":
                _name(state, number, place, names)
            elif child.type == "text":
                _look_at(state, child.content)
    for name in state.env.get("asked", ()):
        if name not in names.words:
            _remark(state, f"@{name} names nothing on this page", f"Write {{#{name}}} behind what it is about.")


def _name(state: StateCore, number: int, place: int, names: Names) -> None:
    """Give a name to what it stands behind: a picture, a formula, a heading, the table above a line that begins with ":"."""
    token = state.tokens[number]
    child = token.children[place]
    given = child.meta
    name = given.get("id", "")
    before = next((one for one in reversed(token.children[:place]) if one.content.strip()), None)
    opening = state.tokens[number - 1]
    above = state.tokens[number - 2].type if number > 1 else ""
    if before is not None and before.type in ("image", "formula"):
        names.add(name)
        before.meta |= given
        if name in names.words:
            _alone(state, number, place, before)
    elif opening.type == "heading_open":
        given["place"] = name
        words = "".join(one.content for one in token.children[:place]).strip()
        names.add(name, words)
    elif above == "table_close" and token.content.startswith(":"):
        names.add(name)
        opening.attrs["id"] = name
        token.children[0].content = f"{names.words.get(name, '')}: {token.children[0].content.lstrip(': ')}"
    else:
        child.type = "text"


def _alone(state: StateCore, number: int, place: int, named: Token) -> None:
    """Make a figure or an equation of a paragraph that holds nothing else; otherwise what has the name is its place."""
    opening, token, closing = state.tokens[number - 1 : number + 2]
    others = [one for one in token.children if one.type != "attributes" and (one.type != "text" or one.content.strip())]
    if others != [named] or opening.type != "paragraph_open":
        named.attrs["id"] = named.meta.pop("id")
        return
    opening.attrs["id"] = named.meta["id"]
    if named.type == "image":
        opening.tag = closing.tag = "figure"
    else:
        opening.attrs["class"] = "equation"
        token.children = [named]


def _formulas_in_html(state: StateCore) -> None:
    """Find the formulas in a block of HTML, outside of its tags."""
    for block in state.tokens:
        if block.type == "html_block":
            block.children, source, position, kept = [], block.content, 0, 0
            while position < len(source):
                tag = _tag(source, position)
                span = next((one for one in spans(source, position, tag) if one.tex is not None), None)
                if span is None:
                    end = source.find(">", tag)
                    position = len(source) if tag == len(source) or end < 0 else end + 1
                    continue
                block.children.append(Token("html_inline", "", 0, content=source[kept : span.start]))
                push_formula(
                    state, span, lambda *kind, children=block.children: children.append(Token(*kind)) or children[-1]
                )
                position = kept = span.end
            block.children.append(Token("html_inline", "", 0, content=source[kept:]))


def _tag(source: str, position: int) -> int:
    """The place of the next tag of HTML, the end where there is none."""
    while 0 <= (position := source.find("<", position)):
        if source[position + 1 : position + 2].isalpha() or source[position + 1 : position + 2] in ("/", "!"):
            return position
        position += 1
    return len(source)


def _look_at(state: StateCore, text: str) -> None:
    """Remark what of a text is neither Markdown nor words."""
    if "{{<" in text:
        _remark(state, "a shortcode of Quarto's, which the page shows as it was written", "Write what it stands for.")
    if "$$" in text:
        _remark(
            state,
            "two dollars that begin no formula: its end is missing, or an empty line stands in it",
            "Take the empty line out, or write \\$\\$.",
        )
    if "[^" in text and "]" in text:
        _remark(state, "a footnote's mark without its footnote in the cell", "Write the footnote into the same cell.")
