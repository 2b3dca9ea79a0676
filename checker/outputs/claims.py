"""The claim of a notebook, as its header declares it, and the test whether the outputs show it.

    course:
      claim: measures
      needs: smollm2

A notebook that *learns*, which is what one without the key says, prints a fine-tuned reward above its baseline. One
that *measures* compares methods on held-out data, and whether any of them gains is the question, not the claim (see CONTRIBUTING: house words).
A notebook that *needs* a model which one command fetches can show its claim only where that model is.
"""

import re
from functools import lru_cache

from checker.outputs.results import LINE, NUMBER, rewards
from checker.reading.convert import plain
from checker.reading.layout import is_header, sections
from checker.reading.notebook import Notebook

LEARNS = "learns"
MEASURES = "measures"
CLAIMS = (LEARNS, MEASURES)
LONGEST_HEADER = 5_000  # characters; reading YAML is slow
HELD_OUT = re.compile(r"\bheld[- ]?out\b", re.IGNORECASE)
NAMED = re.compile(r"\s*(?P<name>[^\W\d_].{0,60}?)\s*(?:[:|=]|\s\s)\s*(?P<rest>[-+]?\d.*)")
NOT_SHOWN = {
    LEARNS: "does not show a fine-tuned reward above its baseline",
    MEASURES: "does not show the held-out comparison of methods that its header declares",
}


@lru_cache(maxsize=32)
def parsed(header: str) -> object:
    """YAML as strings, lists and dicts. A class shares its header; merges are left out, as they can blow up."""
    import yaml

    return yaml.load(header, yaml.BaseLoader)


def header_of(notebook: Notebook) -> dict:
    """The header's keys; {} where there is no header that can be read, which rules of structure tell."""
    if not notebook.cells or not is_header(notebook.cells[0]):
        return {}
    text = notebook.cells[0].source.strip().removesuffix("---")
    if len(text) > LONGEST_HEADER:
        return {}
    try:
        found = parsed(text)
    except Exception:  # whatever a stranger's header makes the reader of YAML raise
        return {}
    return found if isinstance(found, dict) else {}


def claim_of(notebook: Notebook) -> str:
    """The value that the header declares under `course: claim:`, as it is written; "learns" without it."""
    course = header_of(notebook).get("course")
    claim = course.get("claim", LEARNS) if isinstance(course, dict) else LEARNS
    return claim if isinstance(claim, str) else repr(claim)


def needs_of(notebook: Notebook) -> str:
    """The model that the notebook needs besides the embedded one, as `course: needs:` of its header names it; else ""."""
    course = header_of(notebook).get("course")
    needs = course.get("needs", "") if isinstance(course, dict) else ""
    return needs if isinstance(needs, str) else repr(needs)


def methods(notebook: Notebook) -> dict[str, float]:
    """The methods that Cell 7 compares on held-out data, each with its first figure.

    Read are lines that begin with a name, such as `RLOO   0.790   0.741 to 0.826`, below one that says "held-out".
    """
    text = plain("\n".join(cell.text_output for cell in sections(notebook).get(7, [])))
    found: dict[str, float] = {}
    below = False
    for line in text.splitlines():
        line = line[:LINE]
        match = NAMED.fullmatch(line) if below else None
        number = NUMBER.match(match["rest"]) if match else None
        if number:
            found.setdefault(match["name"], float(number[0].rstrip("% \t")))
        below = below or bool(HELD_OUT.search(line))
    return found


def is_shown(notebook: Notebook) -> bool:
    """True if the outputs show what the header claims."""
    if claim_of(notebook) == MEASURES:
        return len(set(methods(notebook).values())) >= 2
    baseline, tuned = rewards(notebook)
    return baseline is not None and tuned is not None and tuned > baseline
