"""Every number in an analysis is what the notebook printed: a claim that the outputs no longer bear out is found."""

import copy
import json
from pathlib import Path

import pytest

from tests.claims import origins as at
from tests.claims.reading import claims

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
names = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells_of(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def test_every_notebook_is_held_against_its_outputs():
    """A notebook whose numbers nobody looked up, and origins of a notebook that is gone."""
    described = {path.stem for path in at.FOLDER.glob("*.yml")}
    assert described == {path.stem for path in NOTEBOOKS}


@names
def test_the_outputs_bear_out_every_number(path):
    """A number that was typed from memory, or kept from a run before the last one."""
    found = at.faults(cells_of(path), at.origins_of(path.stem))
    assert not found, f"{path.name}, Cell 8 against tests/claims/{path.stem}.yml:\n" + "\n".join(found)


@names
def test_another_last_digit_is_noticed(path):
    """A test of claims that accepts any number near the right one."""
    cells = cells_of(path)
    origins = at.origins_of(path.stem)
    analysis = "".join(cells[-1]["source"])
    exempt = {start for o in origins if o.because for place in at.places_of(o, analysis) for start in place}
    for claim in claims(analysis):
        if claim.starts in exempt:
            continue
        end = claim.starts + max(i for i, letter in enumerate(claim.written) if letter.isdigit())
        other = str((int(analysis[end]) + 1) % 10)
        changed = copy.deepcopy(cells[-1])
        changed["source"] = [analysis[:end] + other + analysis[end + 1 :]]
        assert at.faults([*cells[:-1], changed], origins), at.context(claim, analysis)


@names
def test_what_needs_no_output_has_a_reason(path):
    """An exemption that is a way out and not an exception."""
    for origin in at.origins_of(path.stem):
        assert not origin.because or len(origin.because.split()) >= 4, origin


def notebook(analysis: str, printed: str = "", code: str = "STEPS = 80") -> list[dict]:
    outputs = [{"output_type": "stream", "text": printed}]
    return [
        {"cell_type": "code", "source": code, "outputs": outputs},
        {"cell_type": "markdown", "source": analysis},
    ]


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
    found = at.faults(notebook(analysis, printed), [REWARD])
    assert (found == []) if word is None else any(word in sentence for sentence in found)


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
