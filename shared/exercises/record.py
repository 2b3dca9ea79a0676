"""A verdict in the notebook: coloured, wrapped at words, and beside it a record for the checker."""

from html import escape

from shared.exercises.judging import Verdict

MIME = "application/vnd.tiny-grpo.check+json"
COLOURS = {True: "#1a7f37", False: "#cf222e"}
STYLE = "white-space: pre-wrap; overflow-wrap: break-word; font-family: var(--jp-code-font-family, monospace)"


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
    mark, rest = verdict.line[0], verdict.line[1:]
    html = f'<div style="{STYLE}"><b style="color: {COLOURS[verdict.passed]}">{mark}</b>{escape(rest)}</div>'
    return {"text/plain": verdict.line, "text/html": html, MIME: verdict.record}
