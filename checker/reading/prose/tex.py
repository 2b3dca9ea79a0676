"""TeX of notebooks brought to what the converter to MathML reads: macros, environments, labels, words.

It is read token by token; what has no meaning for the converter is taken out or written otherwise, and what it has
none for is refused by name.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar
from xml.etree import ElementTree

NAMESPACE = "http://www.w3.org/1998/Math/MathML"

MOST = 4_000  # tokens of a formula, and of what its macros come to
MOST_EXPANDED = 100_000  # tokens that all macros of a page come to
LONGEST_WORDS = 400  # characters
DEFINITIONS = {"\\newcommand", "\\renewcommand", "\\providecommand", "\\def", "\\DeclareMathOperator"}
# The environments of mathematics, each as one that the converter knows, its own name where it knows it.
ENVIRONMENTS = {
    **dict.fromkeys(("align", "aligned", "alignat", "alignedat", "flalign", "xalignat"), "align*"),
    **dict.fromkeys(("gather", "gathered", "multline", "multlined"), "array}{c"),
    **dict.fromkeys(("equation", "subequations", "displaymath", "math"), ""),
    **{name: name for name in ("split", "array", "cases", "smallmatrix", "matrix")},
    **{f"{kind}matrix": f"{kind}matrix" for kind in "pbBvV"},
    "eqnarray": "array}{rcl",
    "dcases": "cases",
}
WITH_COLUMNS = {"alignat", "alignedat", "xalignat"}  # the number of their columns stands behind the name
WORDS = {"\\text", "\\textrm", "\\textnormal", "\\textbf", "\\textit", "\\texttt", "\\textsf", "\\mbox", "\\hbox"}
WITHOUT_MEANING = {"\\nonumber", "\\notag", "\\allowdisplaybreaks", "\\displaybreak", "\\limits@"}
# What the converter does not know, in words of those that it does.
OTHERWISE = {
    "\\arg": "\\operatorname{arg}",
    "\\argmax": "\\operatorname*{argmax}",
    "\\argmin": "\\operatorname*{argmin}",
    "\\middle": "",
    "\\displaylimits": "",
    "\\mathstrut": "",
    "\\strut": "",
}


class Unread(Exception):
    """A formula that cannot be read; the message says what of it."""


@dataclass
class Macro:
    """A command of the author's. arguments: how many it takes.    first: the first where none is given."""

    arguments: int
    body: list[str]
    first: list[str] | None = None


@dataclass
class Names:
    """The definitions that the texts of a page make for each other: macros of TeX, and the words that refer to a name.

    words: "Figure 2" by "fig-loss", and of a label of TeX the number of its equation, which counts with the others.
    """

    KINDS: ClassVar[dict[str, str]] = {"fig": "Figure", "eq": "Equation", "tbl": "Table", "sec": "Section"}
    macros: dict[str, Macro] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    expanded: int = 0  # tokens that macros came to

    def add(self, name: str, words: str = "") -> None:
        """Number what has a name, unless it has words of its own; "" is none, and a name stays with its first owner."""
        kind = name.partition("-")[0]
        if kind in self.KINDS and name not in self.words:
            self.words[name] = words if words and kind == "sec" else f"{self.KINDS[kind]} {self._counted(kind)}"

    def label(self, name: str) -> str:
        """The number of the equation that has a label of TeX."""
        if name not in self.words:
            self.words[name] = str(self._counted("eq"))
        return self.words[name]

    def _counted(self, kind: str) -> int:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return self.counts[kind]


def group_end(text: str, brace: int) -> int:
    """The place behind the group of words that an opening brace begins; -1 where it has no end nearby."""
    depth, position = 0, brace
    until = min(len(text), brace + LONGEST_WORDS)
    while position < until:
        letter = text[position]
        depth += (letter == "{") - (letter == "}")
        if not depth:
            return position + 1
        position += 2 if letter == "\\" else 1
    return -1


def lexed(tex: str) -> Iterator[str]:
    """The tokens of TeX, blanks among them and comments not: commands with their backslash, other characters alone."""
    position = 0
    while position < len(tex):
        end = position + 1
        if tex[position] == "\\":
            while end < len(tex) and tex[end].isascii() and tex[end].isalpha():
                end += 1
            end = max(end, position + 2)
        elif tex[position] == "%":
            end = tex.find("\n", position)
            position = end = len(tex) if end < 0 else end
            continue
        yield tex[position:end]
        position = end


def joined(tokens: list[str]) -> str:
    """Tokens as TeX: a command that was put in front of a letter keeps its own name."""
    pieces = []
    for before, token in zip(["", *tokens], tokens):
        is_glued = token[0].isalpha() and before[:1] == "\\" and before[-1].isalpha()
        pieces.append(f" {token}" if is_glued else token)
    return "".join(pieces)


def prepared(tex: str, names: Names) -> str:
    """TeX for the converter. Definitions in it are kept in `names`, and a formula of these alone is "".

    Raises:
        Unread: the formula has an environment that is none of mathematics, or its macros do not end.
    """
    reader = Reader(list(lexed(tex)), names)
    made = reader.all()
    if reader.breaks:  # lines outside of any environment, as MathJax takes them
        environment = "align*" if "&" in made else "array}{c"
        return f"\\begin{{{environment}}}{joined(made)}\\end{{{environment.partition('}')[0]}}}"
    return joined(made).strip()


def converted(tex: str, display: bool) -> ElementTree.Element:
    """The MathML of TeX that was prepared, as the converter makes it.

    Raises:
        Unread: the converter can make nothing of it.
    """
    from latex2mathml.converter import convert

    try:
        return ElementTree.fromstring(convert(tex, display="block" if display else "inline"))
    except Exception as error:  # the converter raises many kinds
        raise Unread("what is no TeX") from error


def unknown(tex: str, display: bool) -> str:
    """The part of a formula that is shown as it was written, in words; "" where there is none."""
    try:
        commands = [element.text for element in converted(tex, display).iter() if (element.text or "").startswith("\\")]
    except Unread as error:
        return str(error)
    return f"the command {commands[0]}" if commands else ""


class Reader:
    """The tokens of a formula that are still to be read, last first, and what was made of those before."""

    def __init__(self, tokens: list[str], names: Names) -> None:
        self.rest = tokens[::-1]
        self.names = names
        self.made: list[str] = []
        self.steps = 0
        self.depth = 0  # of environments
        self.breaks = False  # a line outside of all environments ends

    def all(self) -> list[str]:
        """Everything that is made of the formula."""
        while self.rest:
            self.steps += 1
            if max(self.steps, len(self.rest)) > MOST:
                raise Unread("macros that do not come to an end")
            self._read(self.rest.pop())
        return self.made

    def _read(self, token: str) -> None:
        if token in DEFINITIONS:
            self._define(token)
        elif token in self.names.macros:
            self._expand(self.names.macros[token])
        elif token == "\\begin":
            self._begin(self._argument())
        elif token == "\\end":
            self._end(self._argument())
        elif token == "\\\\":
            self._break()
        elif token in WORDS:
            self._words(token, self._argument())
        elif token in ("\\operatorname", "\\mathop", "\\operatornamewithlimits"):
            self._operator(token)
        elif token == "\\label":
            self._label("".join(self._argument()))
        elif token in ("\\eqref", "\\ref"):
            name = "".join(self._argument())
            words = self.names.words.get(name, name)
            self.made += ["\\text", "{", f"({words})" if token == "\\eqref" else words, "}"]
        elif token == "\\newenvironment":
            raise Unread("an environment of its own")
        elif token == "\\require":
            self._argument()
        elif token == "\\ensuremath":
            self.rest += self._argument()[::-1]
        elif token in OTHERWISE:
            self.made += lexed(OTHERWISE[token])
        elif token not in WITHOUT_MEANING:
            self.made.append(token)

    def _label(self, name: str) -> None:
        """Number the equation, unless a \\tag in its line does."""
        line = "".join(self.made).rpartition("\\\\")[2] + "".join(self.rest[::-1]).partition("\\\\")[0]
        tag = line.partition("\\tag{")[2].partition("}")[0]
        if tag:
            self.names.words[name] = tag
        else:
            self.made += lexed(f"\\qquad({self.names.label(name)})")

    def _skip(self) -> None:
        while self.rest and self.rest[-1].isspace():
            self.rest.pop()

    def _argument(self, opening: str = "{", closing: str = "}") -> list[str]:
        """The tokens of the next argument: those of a group, else the next one."""
        self._skip()
        if not self.rest:
            raise Unread("a command without what it is about")
        if self.rest[-1] != opening:
            return [self.rest.pop()]
        depth, tokens = 0, []
        while self.rest:
            token = self.rest.pop()
            depth += (token == opening) - (token == closing)
            if not depth:
                return tokens[1:]
            tokens.append(token)
        raise Unread("a brace that is not closed")

    def _optional(self) -> list[str] | None:
        self._skip()
        return self._argument("[", "]") if self.rest and self.rest[-1] == "[" else None

    def _star(self) -> bool:
        self._skip()
        is_there = bool(self.rest) and self.rest[-1] == "*"
        if is_there:
            self.rest.pop()
        return is_there

    def _define(self, command: str) -> None:
        starred = self._star()
        name = "".join(self._argument()).strip()
        if command == "\\DeclareMathOperator":
            body = ["\\operatorname", *(["*"] if starred else []), "{", *self._argument(), "}"]
            self.names.macros[name] = Macro(0, body)
            return
        if command == "\\def":
            count = 0
            while self.rest and self.rest[-1] != "{":
                count += self.rest.pop() == "#"
            first = None
        else:
            count = int("".join(self._optional() or ["0"]).strip() or 0)
            first = self._optional()
        self.names.macros[name] = Macro(count, self._argument(), first)

    def _expand(self, macro: Macro) -> None:
        given: list[list[str]] = []
        if macro.first is not None:
            asked = self._optional()
            given.append(macro.first if asked is None else asked)
        while len(given) < macro.arguments:
            given.append(self._argument())
        body: list[str] = []
        for before, token in zip(["", *macro.body], macro.body):
            if before == "#" and token.isdigit() and 0 < int(token) <= len(given):
                body[-1:] = given[int(token) - 1]
            else:
                body.append(token)
        self.rest += body[::-1]
        self.names.expanded += 1 + len(body)
        if self.names.expanded > MOST_EXPANDED:
            raise Unread("macros that do not come to an end")

    def _begin(self, argument: list[str]) -> None:
        name = "".join(argument).strip().rstrip("*")
        known = ENVIRONMENTS.get(name)
        if known is None:
            raise Unread(f"the environment {name or 'without a name'}")
        starred_matrix = "".join(argument).endswith("*") and name.endswith("matrix")
        if starred_matrix or name in ("aligned", "alignedat", "gathered"):
            self._optional()
        if name in WITH_COLUMNS:
            self._argument()
        self.depth += 1
        if known:
            self.made += ["\\begin", "{", known, "}"]
        self._skip()
        if known and name != "array" and self.rest and self.rest[-1] in "[{":
            self.made += ["{", "}"]  # else the converter takes a bracket for the columns of an array
        if name == "array":
            self._optional()
            columns = "".join(self._argument())
            self.made += ["{", "".join(letter for letter in _without_groups(columns) if letter in "lcr|"), "}"]

    def _end(self, argument: list[str]) -> None:
        known = ENVIRONMENTS.get("".join(argument).strip().rstrip("*"), "")
        self.depth -= 1
        if known:
            self.made += ["\\end", "{", known.partition("}")[0], "}"]

    def _break(self) -> None:
        """The end of a line, without the distance to the next."""
        self._star()
        if len(self.rest) > 1 and self.rest[-1] == "[" and (self.rest[-2].isdigit() or self.rest[-2] in "-."):
            self._optional()
        self._skip()
        self.breaks |= self.depth == 0
        self.made += ["\\\\", " "]

    def _words(self, command: str, argument: list[str]) -> None:
        """Words, which the converter wants without groups and formulas in them."""
        said = "".join(
            token.lstrip("\\") or token if len(token) == 2 else token for token in argument if token not in "{}"
        )
        for number, piece in enumerate(said.split("$")):
            if number % 2:
                self.made += Reader(list(lexed(piece)), self.names).all()
            elif piece:
                self.made += [command, "{", piece.replace("&", "&amp;").replace("<", "&lt;"), "}"]

    def _operator(self, command: str) -> None:
        """The name of an operator; of one with a star the limits stand below it, where there is room."""
        starred = self._star() or command != "\\operatorname"
        argument = self._argument()
        name = "".join(token for token in argument if token.isalpha() and len(token) == 1)
        if name:
            self.made += ["\\operatorname*" if starred else "\\operatorname", "{", name, "}"]
        else:
            self.made += [command, "{", *Reader(argument, self.names).all(), "}"]


def _without_groups(columns: str) -> str:
    """The columns of an array without what stands between them, `@{}`."""
    depth, kept = 0, []
    for letter in columns:
        depth += (letter == "{") - (letter == "}")
        if not depth and letter != "}":
            kept.append(letter)
    return "".join(kept)
