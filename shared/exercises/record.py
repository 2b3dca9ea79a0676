"""A verdict in the notebook: coloured, wrapped at words, and beside it a record for the checker."""

import re
from html import escape

from shared.exercises.judging import Verdict

MIME = "application/vnd.tiny-grpo.check+json"
COLOURS = {True: "#1a7f37", False: "#cf222e"}
STYLE = "white-space: pre-wrap; overflow-wrap: break-word; padding-left: 0.6em; border-left: 3px solid"
CODE = re.compile(r"`([^`\n]+)`")


def show(verdict: Verdict) -> None:
    """Display the verdict in Jupyter, print it anywhere else."""
    if not in_jupyter():
        print(verdict.line)
        return
    from IPython.display import display

    display(bundle(verdict), raw=True)


def in_jupyter() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return hasattr(get_ipython(), "kernel")


def bundle(verdict: Verdict) -> dict:
    """The verdict by MIME type: the plain text reads without colour, the record is read by the checker alone."""
    return {"text/plain": verdict.line, "text/html": as_html(verdict), MIME: verdict.record}


def as_html(verdict: Verdict) -> str:
    """A bar in the verdict's colour, the name in bold, code as code; the page's own font and colour for the rest.

    Both colours can be told from a white and from a black page. A page that does not trust the notebook drops the bar.
    """
    colour = COLOURS[verdict.passed]
    mark, rest = verdict.line.split(" ", 1)
    text = CODE.sub(r"<code>\1</code>", escape(rest.removeprefix(verdict.exercise), quote=False))
    name = f'<b><span style="color: {colour}">{mark}</span> {escape(verdict.exercise)}</b>'
    return f'<div style="{STYLE} {colour}">{name}{text}</div>'
