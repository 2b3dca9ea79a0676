"""The nine cells, in order and of the right kind."""

import re
from collections.abc import Iterator

from checker.outputs.claims import CLAIMS, LONGEST_HEADER, claim_of, parsed
from checker.reading.layout import SPECS, is_header, label_of
from checker.rules.base import Remark, Submission, rule

HEADER_EXAMPLE = "---\nformat:\n  html:\n    code-fold: true\njupyter: python3\n---"


@rule(
    "S001",
    "error",
    why="Quarto reads how to render the page from a YAML header in the first cell.",
    wrong="The notebook begins with its title.",
    right=HEADER_EXAMPLE,
)
def header_missing(submission: Submission) -> Iterator[Remark]:
    cells = submission.notebook.cells
    if not cells:
        yield None, "the notebook has no cells", "Hand in the notebook that you filled."
    elif not is_header(cells[0]):
        place = next((cell.number for cell in cells[1:] if is_header(cell)), None)
        if place is not None:
            yield (
                place,
                "the YAML header stands here",
                "Move it to the very beginning: Quarto reads it only there.",
            )
        else:
            yield (
                0,
                "there is no YAML header (Cell 0)",
                f"Make the first cell a Markdown cell with:\n{HEADER_EXAMPLE}",
            )


@rule(
    "S002",
    "error",
    why=("A header that is not valid YAML, or lacks a key, is ignored or shown as text, and the code is not folded."),
    wrong="---\nformat:\nhtml:\ncode-fold: true\n---",
    right=HEADER_EXAMPLE,
)
def header_wrong(submission: Submission) -> Iterator[Remark]:
    cells = submission.notebook.cells
    if not cells or not is_header(cells[0]):
        return
    text = cells[0].source.strip()
    match = re.fullmatch(r"---[ \t]*\n(.*?)\n?(?:---|\.\.\.)[ \t]*", text, re.DOTALL)
    if match is None:
        closed = re.search(r"\n(?:---|\.\.\.)[ \t]*(?:\n|$)", text)
        problem = "there is more than the header in its cell" if closed else "the header is not closed by a line ---"
        yield 0, problem, "Cell 0 holds the YAML header alone, between two lines of ---."
        return
    # To read YAML is slow, and a stranger's header may have any length.
    if len(match[1]) > LONGEST_HEADER:
        yield (
            0,
            f"the header has {len(match[1]):,} characters",
            f"Keep to what is asked for:\n{HEADER_EXAMPLE}",
        )
        return
    import yaml

    try:
        header = parsed(match[1])
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = f" (line {line + 2} of the cell)" if line is not None else ""
        yield 0, f"the header is not valid YAML{where}", f"Indent as in:\n{HEADER_EXAMPLE}"
        return
    if not isinstance(header, dict):
        yield 0, "the header is not a list of `key: value` lines", f"Write:\n{HEADER_EXAMPLE}"
        return
    # A header that was pasted without its indentation is valid YAML, and Quarto ignores it.
    if "code-fold" in header or "html" in header:
        yield (
            0,
            "the header has lost its indentation",
            f"`html` belongs under `format`, and `code-fold` under `html`:\n{HEADER_EXAMPLE}",
        )
        return
    html = header["format"].get("html") if isinstance(header.get("format"), dict) else None
    if not isinstance(html, dict) or "code-fold" not in html:
        yield 0, "the header does not set `code-fold` under `format: html:`", f"Write:\n{HEADER_EXAMPLE}"
    if "jupyter" not in header:
        yield 0, "the header does not name the kernel", "Add the line `jupyter: python3`."


@rule(
    "S003",
    "error",
    why="Reader, grader and page look for each part under its label.",
    wrong="# Reward",
    right="# Cell 4: Reward function",
)
def section_missing(submission: Submission) -> Iterator[Remark]:
    missing = [spec for spec in SPECS[1:] if spec.number not in submission.sections]
    if not missing:
        return
    names = ", ".join(f"Cell {spec.number} ({spec.title})" for spec in missing)
    first = missing[0]
    form = "as a heading" if first.kind == "markdown" else "as a comment"
    yield (
        None,
        f"{names} {'is' if len(missing) == 1 else 'are'} missing",
        f"Begin {'it' if len(missing) == 1 else 'each'} with its label, `# Cell {first.number}: ...` {form}.",
    )


@rule(
    "S004",
    "error",
    why="The parts build on each other: data before reward, reward before step, step before training.",
    wrong="Cell 5 before Cell 4.",
    right="Cell 0, 1, 2, ..., 8.",
)
def out_of_order(submission: Submission) -> Iterator[Remark]:
    highest = -1
    highest_at = None
    for cell in submission.notebook.cells:
        number = 0 if cell.number == 0 and is_header(cell) else label_of(cell)
        if number is None:
            continue
        if number > 8:
            yield (
                cell.number,
                f"there is a Cell {number}",
                "The structure has Cell 0 to Cell 8; put it into one of them.",
            )
        elif number < highest:
            yield (
                cell.number,
                f"Cell {number} comes after Cell {highest}",
                f"Move it before {submission.place(highest_at)}.",
            )
        elif number == highest:
            yield (
                cell.number,
                f"there is a second Cell {number}",
                "Label each part once; a further cell needs no label.",
            )
        if highest < number <= 8:
            highest = number
            highest_at = cell.number


@rule(
    "S005",
    "error",
    why="Text in a code cell does not render, and code in a Markdown cell does not run.",
    wrong="Cell 8 is a code cell of comments.",
    right="Cell 8 is a Markdown cell.",
)
def wrong_kind(submission: Submission) -> Iterator[Remark]:
    for cell in submission.notebook.cells:
        number = label_of(cell)
        if number is None or not 1 <= number <= 8:
            continue
        wanted = SPECS[number].kind
        if cell.kind != wanted:
            yield (
                cell.number,
                f"Cell {number} is a {cell.kind} cell",
                (f"Make it a {wanted} cell (in Jupyter: {'M' if wanted == 'markdown' else 'Y'} in command mode)."),
            )


@rule(
    "S006",
    "error",
    why="What a notebook has to show depends on what its header claims: that a model learns, or a measurement.",
    wrong="course:\n  claim: measurement",
    right="course:\n  claim: measures",
)
def claim_unknown(submission: Submission) -> Iterator[Remark]:
    claim = claim_of(submission.notebook)
    if claim not in CLAIMS:
        yield (
            0,
            f"the header claims {claim!r:.40}",
            f"Under `course:`, `claim:` is {' or '.join(CLAIMS)}; without it a notebook claims to learn.",
        )


RULES = [header_missing, header_wrong, section_missing, out_of_order, wrong_kind, claim_unknown]
