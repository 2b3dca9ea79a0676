"""Every cause that an analysis names has a control that was run and came out otherwise; `tests/claims/causes/`."""

from pathlib import Path

import pytest

from checker.reading.notebook import read
from tests.claims import causes as at
from tests.claims.origins import Section

NOTEBOOKS = sorted(at.NOTEBOOKS.glob("*.ipynb"))
LISTED = [(path, cause) for path in NOTEBOOKS for cause in at.causes_of(path.stem)]
each = pytest.mark.parametrize(("path", "cause"), LISTED, ids=[f"{path.stem}: {cause.says}" for path, cause in LISTED])
names = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def both(path: Path, cause: at.Cause) -> tuple[list[float], list[float]]:
    notebook = read(path)
    return at.numbers_of(cause.run, notebook), at.numbers_of(cause.control, notebook)


@each
def test_the_control_came_out_otherwise(path, cause):
    """A cause that a new run or a new sweep refutes."""
    run, control = both(path, cause)
    assert at.bears_out(run, control, cause), (run, control)


@each
def test_run_and_control_exchanged_are_noticed(path, cause):
    """An entry that holds whichever way it comes out."""
    run, control = both(path, cause)
    assert not at.bears_out(control, run, cause)


@names
def test_no_cause_is_unlisted(path):
    """A sentence with a causal word that came in after the lists were made."""
    assert list(at.unlisted(path)) == []


@names
def test_every_chapter_names_its_causes_and_says_them(path):
    """An entry of a sentence that is gone, two that share a sentence's part, and a chapter that nobody looked through."""
    text = at.text_of(read(path))
    said = [entry.says for entry in (*at.causes_of(path.stem), *at.exempt_in(path.stem))]
    found = len(at.causes_of(path.stem))
    assert found >= 2, (
        f"tests/claims/causes/{path.stem}.yml has {found} causes; name two of Cell 8, each with its control"
    )
    assert [part for part in said if text.count(part) != 1] == []
    assert len(set(said)) == len(said)


@names
def test_what_is_no_cause_has_a_reason(path):
    """An exemption that is a way out and not an exception."""
    for entry in at.exempt_in(path.stem):
        assert len(entry.because.split()) >= 4, entry


CAUSE = at.Cause(says="", run="", control="", threshold=0.5, higher="run")


@pytest.mark.parametrize(
    ("run", "control", "right"),
    [
        ([0.9, 0.8], [0.1, 0.2], True),
        ([0.9, 0.4], [0.1, 0.2], False),
        ([0.9, 0.8], [0.1, 0.6], False),
        ([0.1, 0.2], [0.9, 0.8], False),
        ([0.9], [], False),
        ([], [0.1], False),
    ],
)
def test_every_seed_lies_on_its_side(run, control, right):
    """A seed that lies beyond the threshold, and a pattern that no line fits."""
    assert at.bears_out(run, control, CAUSE) == right


@pytest.mark.parametrize(
    ("printed", "found"),
    [("reward 0.5\n", 1), ("reward 0.5\nreward 0.5\n", 1), ("reward 0.5\nreward 0.9\n", 2), ("", 0)],
)
def test_a_pattern_means_one_number(printed, found, monkeypatch):
    """Catches a pattern that fits the run and its control, or a line of a cell that was added later."""
    section = Section(tuple(printed.split("\n")), ())
    monkeypatch.setattr(at, "sections_of", lambda notebook: {7: section})
    if found == 1:
        assert at.numbers_of("reward {}", None) == [0.5]
    else:
        with pytest.raises(ValueError, match=f"{found or 'no'} numbers in a line that prints 'reward {{}}'"):
            at.numbers_of("reward {}", None)


def test_the_report_finds_a_cause_that_nobody_listed(monkeypatch):
    """A search that finds nothing, or that reports what is listed."""
    text = "It is slow because of noise. So it ends early. It ends.\n\nWhy is it slow? It rose, so it is 3."
    monkeypatch.setattr(at, "text_of", lambda notebook: text)
    listed = [at.NoCause("It rose, so", "a sum that was rearranged")]
    monkeypatch.setattr(at, "exempt_in", lambda notebook: listed)
    monkeypatch.setattr(at, "causes_of", lambda notebook: [])
    found = list(at.unlisted(NOTEBOOKS[0]))
    assert found == ["It is slow because of noise.", "So it ends early."]
