"""Every number in an analysis is what the notebook printed: a claim that the outputs no longer bear out is found."""

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from checker.reading.notebook import Cell, Notebook, Output, read
from tests.claims import READ_BELOW_RESULTS
from tests.claims import origins as at
from tests.claims.reading import CELLS, Claim, cells_named, claims

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted([*FOLDER.glob("*.ipynb"), *FOLDER.glob("examples/*.ipynb")])
names = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def analysis_of(notebook: Notebook) -> str:
    """The text of a notebook on its results: what stands below them without a heading, and Cell 8."""
    read_below = notebook.path.stem in READ_BELOW_RESULTS
    below = [b.source for a, b in pairwise(notebook.cells) if read_below and a.is_code and is_plain_text(b)]
    return "\n\n".join([*below, notebook.cells[-1].source])


def is_plain_text(cell: Cell) -> bool:
    return not cell.is_code and not cell.source.lstrip().startswith("#")


def held_against_outputs(analysis: str, origins: list[at.Origin]) -> list[Claim]:
    """The claims of an analysis without those that an entry exempts."""
    exempt = {start for o in origins if o.because for place in at.places_of(o, analysis) for start in place}
    return [claim for claim in claims(analysis) if claim.starts not in exempt]


@names
def test_the_outputs_bear_out_every_number(path):
    """A number that was typed from memory, or kept from a run before the last one."""
    notebook = read(path)
    found = at.faults(analysis_of(notebook), at.sections_of(notebook), at.origins_of(path.stem))
    assert not found, f"{path.name}, Cell 8 against tests/claims/{path.stem}.yml:\n" + "\n".join(found)


def unnoticed(path: Path, another: Callable[[Claim], str | None]) -> list[str]:
    """The claims of a notebook that may be replaced by another number without a fault, each with the words around it.

    another: gives the number to be written in place of a claim, None for a claim that stays.

    All are replaced at once, and a claim is noticed where a fault names its new number. What that leaves open, since
    one replacement may hide another, is replaced alone.
    """
    notebook, origins = read(path), at.origins_of(path.stem)
    analysis, above = analysis_of(notebook), at.sections_of(notebook)
    others = {claim: another(claim) for claim in held_against_outputs(analysis, origins)}
    held = {claim: number for claim, number in others.items() if number is not None}
    faults = at.faults(replaced(analysis, held), above, origins)
    numbers = Counter(number for fault in faults for number in re.findall(r": (\S+) is claimed, and", fault))
    wanted = Counter(held.values())
    alone = [claim for claim, number in held.items() if numbers[number] < wanted[number]]
    missed = [claim for claim in alone if not at.faults(replaced(analysis, {claim: held[claim]}), above, origins)]
    return [at.context(claim, analysis) for claim in missed]


def replaced(analysis: str, numbers: dict[Claim, str]) -> str:
    """An analysis with other numbers in the places of some claims."""
    for claim in sorted(numbers, key=lambda claim: claim.starts, reverse=True):
        analysis = analysis[: claim.starts] + numbers[claim] + analysis[claim.starts + len(claim.written) :]
    return analysis


def another_last_digit(claim: Claim) -> str:
    end = max(i for i, letter in enumerate(claim.written) if letter.isdigit())
    return claim.written[:end] + str((int(claim.written[end]) + 1) % 10) + claim.written[end + 1 :]


def another_sign(claim: Claim) -> str | None:
    """None for a zero, which has no other."""
    bare = claim.written.lstrip("+-−")
    if claim.value == 0:
        return None
    return bare if claim.value < 0 else f"-{bare}"


@names
def test_another_last_digit_is_noticed(path):
    """A test of claims that accepts any number near the right one."""
    assert unnoticed(path, another_last_digit) == []


@names
def test_another_sign_is_noticed(path):
    """A test of claims that takes a loss of 3.8 for a gain of 3.8."""
    assert unnoticed(path, another_sign) == []


@names
def test_another_cell_is_noticed(path):
    """A sentence that sends the reader to a cell which does not print its number."""
    notebook, origins = read(path), at.origins_of(path.stem)
    analysis, above = analysis_of(notebook), at.sections_of(notebook)
    starts = [claim.starts for claim in held_against_outputs(analysis, origins)]
    for named in CELLS.finditer(analysis):
        elsewhere = analysis[: named.start()] + "Cell 0" + analysis[named.end() :]
        concerned = any(cells_named(analysis, start) != cells_named(elsewhere, start) for start in starts)
        assert not concerned or at.faults(elsewhere, above, origins), analysis[named.start() - 40 : named.end() + 30]


@names
def test_what_needs_no_output_has_a_reason(path):
    """An exemption that is a way out and not an exception."""
    for origin in at.origins_of(path.stem):
        assert not origin.because or len(origin.because.split()) >= 4, origin


def sections(*printed: str, code: str = "STEPS = 80") -> dict[int, at.Section]:
    """Cell 2 and those that follow it, each with the same code and what it prints."""
    cells = [
        Cell(i, "code", f"# Cell {i}: Code\n{code}", outputs=(Output("stream", text),))
        for i, text in enumerate(printed, 2)
    ]
    return at.sections_of(Notebook(Path("n.ipynb"), tuple(cells)))


REWARD = at.Origin(says="to {} in {} steps", prints=["fine-tuned reward {}"], sets=["STEPS = {}"])


@pytest.mark.parametrize(
    ("analysis", "printed", "word"),
    [
        ("It rose to 0.85 in 80 steps.", "fine-tuned reward  0.847", None),
        ("It rose to 85 % in 80 steps.", "fine-tuned reward  0.847", None),
        ("It rose to 0.86 in 80 steps.", "fine-tuned reward  0.847", "claimed"),
        ("It rose to 0.8470 in 80 steps.", "fine-tuned reward  0.847", "claimed"),
        ("It rose to 0.85 in 81 steps.", "fine-tuned reward  0.847", "claimed"),
        ("It rose to 0.85 in 80 steps, by 0.25.", "fine-tuned reward  0.847", "0.25"),
        ("It rose to 0.85 in 80 steps.", "reward 0.847", "no numbers"),
        ("It rose to 0.85 in 80 steps.", "fine-tuned reward 0.85\nfine-tuned reward 0.90", "2 numbers"),
        ("It rose.", "fine-tuned reward  0.847", "any more"),
    ],
)
def test_what_is_found(analysis, printed, word):
    """More decimals than were printed, the right number of another line, an entry that nothing says any more."""
    found = at.faults(analysis, sections(printed), [REWARD])
    assert (found == []) if word is None else any(word in sentence for sentence in found)


GAIN = at.Origin(says="gain of {}", prints=["gain {}"])
FALL = at.Origin(says="fall of {}", prints=["gain -{}"])


@pytest.mark.parametrize(
    ("analysis", "printed", "origin", "right"),
    [
        ("A gain of 3.8.", "gain 3.8", GAIN, True),
        ("A gain of 3.8.", "gain +3.8", GAIN, True),
        ("A gain of +3.8.", "gain 3.8", GAIN, True),
        ("A gain of 3.8.", "gain -3.8", GAIN, False),
        ("A gain of -3.8.", "gain 3.8", GAIN, False),
        ("A gain of -3.8.", "gain -3.8", GAIN, True),
        ("A gain of −3.8.", "gain -3.8", GAIN, True),
        ("A gain of -3.8.", "gain −3.8", GAIN, True),
        ("A gain of −3.8.", "gain 3.8", GAIN, False),
        ("A fall of 3.8.", "gain -3.8", FALL, True),
        ("A fall of 3.8.", "gain 3.8", FALL, False),
        ("A gain of -12 %.", "gain -0.12", GAIN, True),
        ("A gain of 12 %.", "gain -0.12", GAIN, False),
    ],
)
def test_signs(analysis, printed, origin, right):
    """A sign that is dropped, on either side and in either way of writing it; a fall that an entry declares."""
    assert (at.faults(analysis, sections(printed), [origin]) == []) == right


@pytest.mark.parametrize(
    ("analysis", "word"),
    [
        ("The gain of 0.30 (Cell 3) is large.", None),
        ("As Cell 3 prints, a gain of 0.30.", None),
        ("Cells 2 and 3 show a gain of 0.30.", None),
        ("Cells 2 to 4 show a gain of 0.30.", None),
        ("A gain of 0.30.", None),
        ("Cell 2 has the rows. A gain of 0.30.", None),
        ("A gain of 0.30! See Cell 2.", None),
        ("What does Cell 2 say?\n\nA gain of 0.30", None),
        ("The gain of 0.30 (Cell 2) is large.", "in Cell 2, which the sentence names"),
        ("Cells 2 and 4 show a gain of 0.30.", "in Cell 2 and 4, which"),
        ("In cell 4, e.g., a gain of 0.30.", "in Cell 4, which"),
        ("As Cell 9 prints, a gain of 0.30.", "in Cell 9, which"),
    ],
)
def test_a_cell_that_is_named_is_the_cell_that_counts(analysis, word):
    """The right number of another cell than the one to which the sentence sends its reader."""
    found = at.faults(analysis, sections("nothing", "gain 0.30", "other gains"), [GAIN])
    assert (found == []) if word is None else (len(found) == 1 and word in found[0])


def test_a_setting_counts_in_the_cell_that_is_named():
    """A setting that another cell has."""
    steps = at.Origin(says="{} steps", sets=["STEPS = {}"])
    above = sections("", code="STEPS = 80") | {3: sections("", code="STEPS = 90")[2]}
    assert at.faults("In Cell 3 it takes 90 steps.", above, [steps]) == []
    assert at.faults("In Cell 2 it takes 90 steps.", above, [steps])


def test_an_unnamed_line_is_one_and_the_same_wherever_it_stands():
    """The number of a farther cell where the nearest says something else."""
    assert at.faults("A gain of 0.30.", sections("gain 0.30", "gain 0.30"), [GAIN]) == []
    assert at.faults("A gain of 0.30.", sections("gain 0.30", "gain 0.40"), [GAIN])


@pytest.mark.parametrize("text", ["3-0.5", "from 0.2-0.5", "x-0.5"])
def test_a_hyphen_is_no_minus(text):
    """A range that would want a negative number."""
    assert claims(text)[-1].value == 0.5


@pytest.mark.parametrize(
    "text",
    [
        "`beta = 0.04`",
        r"with $\epsilon = 0.2$",
        "it was [0.53](https://example.org/paper) there",
        "Schulman 2020, arXiv:2402.03300",
        "Shao et al. (2024)",
        "cells 4 and 5, Cell 7",
        "<!-- student answer: 3.5 points -->",
        "with G = 8",
    ],
)
def test_what_is_no_claim(text):
    """Settings in code, formulas, years and links that would each want an entry."""
    assert claims(text) == []
