"""A verdict in the notebook: coloured, wrapped at words, and beside it a record for the checker."""

import re
from html import escape
from types import FunctionType
from weakref import WeakSet

from shared.exercises.judging import OPEN, RIGHT, WRONG, Verdict

MIME = "application/vnd.tiny-grpo.check+json"
COLOURS = {RIGHT: "#1a7f37", WRONG: "#cf222e", OPEN: "#6e7781"}
BAR = "padding-left: .6em; border-left: 3px solid"
WRAPPED = "white-space: pre-wrap; overflow-wrap: break-word; "  # for the cases that a verdict shows
REFUSED: WeakSet[FunctionType] = WeakSet()  # the functions whose last verdict was ✗, for a mistake of their own
ASK = "For a hint, call the check with `hint=True`."
CODE = re.compile(r"`([^`\n]+)`")


class Passed(int):
    """The result of a check, true or false. It is an int because Python allows no subclass of bool.

    A cell of a notebook that ends in one shows nothing for it: the verdict above says the same.
    """

    def __repr__(self) -> str:
        return str(bool(self))

    def _ipython_display_(self) -> None:
        """Show nothing in a notebook. A terminal has printed `Out[1]:` by now, so there the result follows it."""
        if not in_jupyter():
            print(self)


def show(verdict: Verdict, function: object = None, hint: bool = False) -> Passed:
    """Display the verdict in Jupyter, print it anywhere else.

    Args:
        function: what the verdict is on, so that a cell which uses it later can say so (`shared/blanks.py`).
        hint: whether the verdict's hint is shown with it. A page has it folded, whatever was asked for.
    """
    if isinstance(function, FunctionType):
        mistaken = verdict.mark == WRONG and not verdict.right_after
        (REFUSED.add if mistaken else REFUSED.discard)(function)
    if in_jupyter():
        from IPython.display import display

        display(bundle(verdict, hint), raw=True)
    else:
        print(in_plain(verdict, hint))
    return Passed(verdict.passed)


def in_jupyter() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return hasattr(get_ipython(), "kernel")


def bundle(verdict: Verdict, hint: bool = False) -> dict:
    """The verdict by MIME type: the plain text reads without colour, the record is read by the checker alone."""
    return {"text/plain": in_plain(verdict, hint), "text/html": as_html(verdict, hint), MIME: verdict.record}


def in_plain(verdict: Verdict, hint: bool = False) -> str:
    """The verdict's lines; below them its hint, or how to ask for it."""
    if not verdict.hint:
        return verdict.line
    return f"{verdict.line}\n{verdict.hint if hint else ASK}"


def as_html(verdict: Verdict, hint: bool = False) -> str:
    """A bar in the verdict's colour, the name in bold, code as code; the page's own font and colour for the rest.

    The colours can be told from a white and from a black page. A page that does not trust the notebook drops the bar.
    It is short, since every character of it counts in what nbconvert makes of a notebook that is handed in.
    """
    text, more = (CODE.sub(r"<code>\1</code>", escape(words, quote=False)) for words in (verdict.text, verdict.hint))
    folded = f"<details{' open' * hint}><summary>Hint</summary>{more}</details>" if more else ""
    style = f"{'' if verdict.passed else WRAPPED}{BAR} {COLOURS[verdict.mark]}"
    return f'<div style="{style}"><b>{verdict.mark} {escape(verdict.exercise)}</b>: {text}{folded}</div>'
