"""Forms that a newer Python has and the one that runs here has not.

A cell is written again with each such form in an older one. If this Python reads that, the form is what stopped it; if
not, something else is wrong too, and nothing is said. On a Python that has a form it is never told.
"""

import ast
import re
import sys
import warnings
from typing import NamedTuple

TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    | (?P<prefix>(?i:rb|br|rf|fr|rt|tr|[rbuft])?)(?P<quote>\"""|'''|"|')
    | (?P<name>\w+)
    | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
PLAIN_ENDS = {
    quote: re.compile(rf"(?:\\.|{inside})*?{quote}", re.DOTALL)
    for quote, inside in (('"""', r"[^\\]"), ("'''", r"[^\\]"), ('"', r"[^\\\n]"), ("'", r"[^\\\n]"))
}
ALIAS = re.compile(r"type[ \t]+[^\W\d]\w*[ \t]*(?=\[|=)")
CONVERSION = re.compile(r"![rsa]\s*(?=[:}])")
GENERIC = re.compile(r"(?:def|class)[ \t]+\w+[ \t]*(?=\[)")
ASSIGNED = re.compile(r"[ \t]*=(?!=)(?=[ \t]*[^\s;#])")


class Form(NamedTuple):
    """A form of syntax: the version of Python that brought it, its name, and the older way to write it."""

    version: tuple[int, int]
    name: str
    advice: str


TYPE_STATEMENT = Form((3, 12), "a `type` statement", "Write `X = ...` in the place of `type X = ...`.")
PARAMETERS = Form(
    (3, 12),
    "a type parameter in brackets, as in `def f[T](x: T)`,",
    'Leave the brackets out, and write `T = TypeVar("T")` above.',
)
DEFAULTS = Form((3, 13), "a type parameter with a default", PARAMETERS.advice)
F_STRING = Form(
    (3, 12),
    "an f-string with its own quote, a backslash, a comment or a new line in braces",
    "Give what stands in the braces a name on a line above.",
)
TEMPLATE = Form((3, 14), "a template string", 'Write an f-string, `f"..."`, in the place of `t"..."`.')


def newer_form(source: str) -> tuple[int, Form] | None:
    """The first form for which this Python does not read the source, with its line; None where that is not why."""
    try:
        older, forms = _in_older_forms(source)
        if not _reads(older):
            return None
    except (_Unknown, RecursionError):
        return None
    return next(((line, form) for line, form in forms if form.version > sys.version_info[:2]), None)


class _Unknown(Exception):
    """The source is not Python of any version that is known here."""


def _in_older_forms(source: str) -> tuple[str, list[tuple[int, Form]]]:
    """The source in older forms, and the forms that were replaced, each with its line."""
    written = []
    forms = []
    at = depth = 0
    begins = True  # a statement

    def found(form: Form, where: int) -> None:
        forms.append((source.count("\n", 0, where) + 1, form))

    while at < len(source):
        token = TOKEN.match(source, at)
        end = token.end()
        text = token[0]
        if token["quote"]:
            end, fields = _string(source, token)
            text = source[at:end]
            if fields is not None and not _reads(text):
                found(TEMPLATE if "t" in token["prefix"].lower() else F_STRING, at)
                for field in fields:
                    _check_field(field)
                text = '""'
        elif begins and depth == 0 and (alias := ALIAS.match(source, at)):
            found(TYPE_STATEMENT, at)
            equals = ASSIGNED.match(source, _after_parameters(source, alias.end())[0])
            if equals is None:
                raise _Unknown
            end = equals.end()
            text = "raise "  # which takes one expression and no more, as a type statement does
        elif token["name"] and (generic := GENERIC.match(source, at)):
            end, have_defaults = _after_parameters(source, generic.end())
            found(DEFAULTS if have_defaults else PARAMETERS, at)
            text = f"{generic[0]} "
        elif token["other"]:
            depth += (text in "([{") - (text in ")]}")
        written.append(text)
        begins = text in "\n;" or (begins and text.isspace())
        at = end
    return "".join(written), forms


def _check_field(field: str) -> None:
    """Raise `_Unknown` for what cannot stand in the braces of an f-string."""
    expression = field.rstrip().removesuffix("=")  # f"{x=}"
    if not _reads(f"x[{_in_older_forms(expression)[0]} \n]"):
        raise _Unknown


def _after_parameters(source: str, at: int) -> tuple[int, bool]:
    """The place behind the type parameters that begin at a bracket, and True if one of them has a default.

    They are written as a function's arguments are. Without a bracket it is the same place.
    """
    if not source.startswith("[", at):
        return at, False
    end = _expression(source, at + 1, "]")
    parameters = source[at + 1 : end]
    try:
        arguments = ast.parse(f"def f({parameters}): pass").body[0].args
    except SyntaxError as error:
        raise _Unknown from error
    if not parameters.strip():
        raise _Unknown
    return end + 1, bool(arguments.defaults or any(arguments.kw_defaults))


def _string(source: str, opening: re.Match) -> tuple[int, list[str] | None]:
    """The place behind a string, and what stands in its braces; None for a string without fields."""
    prefix = opening["prefix"].lower()
    if "f" in prefix or "t" in prefix:
        end, fields = _literal(source, opening.end(), opening["quote"], opening)
        return end + len(opening["quote"]), fields
    closed = PLAIN_ENDS[opening["quote"]].match(source, opening.end())
    if closed is None:
        raise _Unknown
    return closed.end(), None


def _literal(source: str, at: int, ending: str, opening: re.Match) -> tuple[int, list[str]]:
    """The place where the text of an f-string ends, or that of a format in it, and what stands in the braces before."""
    quote = opening["quote"]
    raw = "r" in opening["prefix"].lower()
    fields = []
    while not source.startswith(ending, at):
        if source.startswith(("{{", "}}"), at):
            at += 2
        elif source.startswith("\\N{", at) and not raw:
            at = source.find("}", at) + 1 or len(source)
        elif source.startswith("\\", at) and source[at + 1 : at + 2] != "{":
            at += 2
        elif source.startswith("{", at):
            at, inside = _field(source, at + 1, opening)
            fields += inside
        elif at >= len(source) or source[at] == "}" or source.startswith(quote, at):
            raise _Unknown
        elif source[at] == "\n" and len(quote) == 1:
            raise _Unknown
        else:
            at += 1
    return at, fields


def _field(source: str, at: int, opening: re.Match) -> tuple[int, list[str]]:
    """The place behind a field of an f-string, its expression, and those in its format."""
    end = _expression(source, at, "}:!")
    fields = [source[at:end]]
    if source[end] == "!":
        conversion = CONVERSION.match(source, end)
        if conversion is None:
            raise _Unknown
        end = conversion.end()
    if source[end] == ":":
        end, in_format = _literal(source, end + 1, "}", opening)
        fields += in_format
    return end + 1, fields


def _expression(source: str, at: int, endings: str) -> int:
    """The place of the first of these characters that is in no bracket and in no string."""
    depth = 0
    while at < len(source):
        token = TOKEN.match(source, at)
        text = token[0]
        if token["other"] and depth == 0 and text in endings and not source.startswith("!=", at):
            return at
        if token["other"]:
            depth += (text in "([{") - (text in ")]}")
        if depth < 0:
            raise _Unknown
        at = _string(source, token)[0] if token["quote"] else token.end()
    raise _Unknown


def _reads(source: str) -> bool:
    """True if this Python reads the source."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError, MemoryError):
        return False
    return True
