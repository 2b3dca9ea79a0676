"""A text quotes the saved run: a fresh one that ends elsewhere is told, and fails where claims are required."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from checker.outputs.drift import drifted, key_numbers, wanted
from checker.reading.inventory import Entry
from checker.reading.notebook import Cell, Notebook, Output, read
from checker.running import report

LINE = "{} reward  {}   (95 % interval {} to {}, 200 held-out prompts)\n"
SAVED = LINE.format("fine-tuned", "0.985", "0.957", "0.995")
NOTEBOOKS = sorted((Path(__file__).parents[3] / "notebooks").glob("*.ipynb"))


def printing(text: str, name: str = "mine", label: str = "# Cell 7: Evaluation") -> Notebook:
    """A notebook of a name whose Cell 7 prints a text."""
    cell = Cell(0, "code", label, outputs=(Output("stream", text),))
    return Notebook(Path(f"{name}.ipynb"), (cell,))


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (SAVED, 0),
        (LINE.format("fine-tuned", "1.000", "0.981", "1.000"), 0),
        (LINE.format("fine-tuned", "0.930", "0.890", "0.960"), 0),
        (LINE.format("fine-tuned", "0.928", "0.880", "0.960"), 1),
        (LINE.format("fine-tuned", "1.006", "0.990", "1.100"), 1),
        ("the fine-tuned model is good\n", 1),
    ],
)
def test_a_reward_outside_of_twice_the_saved_interval_is_told(now, said):
    """Outputs of yesterday's code under a text that praises them; a word for a run that only rounds otherwise."""
    found = drifted(printing(SAVED), printing(now))
    assert len(found) == said
    assert all("0.985" in sentence for sentence in found)


def test_what_is_told_names_the_number_and_what_was_allowed():
    """A sentence from which nobody learns what to look at."""
    (said,) = drifted(printing(SAVED), printing(LINE.format("fine-tuned", "0.900", "0.850", "0.930")))
    assert said == '"fine-tuned reward" is 0.900; the saved outputs say 0.985 and allow 0.929 to 1.005.'


def test_both_rewards_are_looked_at():
    """A baseline that moves because the data or the model did."""
    saved = LINE.format("baseline", "0.000", "0.000", "0.019") + SAVED
    fresh = LINE.format("baseline", "0.100", "0.050", "0.150") + SAVED
    assert ["baseline" in sentence for sentence in drifted(printing(saved), printing(fresh))] == [True]


def test_a_number_without_an_interval_hides_no_other():
    """Catches a reward that has moved and is not told, since the baseline above it is printed without an interval."""
    saved = "baseline reward 0.100\n"
    fresh = printing(saved + LINE.format("fine-tuned", "0.500", "0.400", "0.600"))
    (said,) = drifted(printing(saved + SAVED), fresh)
    assert said.startswith('"fine-tuned reward" is 0.500')


@pytest.mark.parametrize(
    ("saved", "fresh", "told"),
    [
        ("untrained   0.333 of 200", "untrained   0.337 of 200", False),
        ("untrained   0.333 of 200", "untrained   0.339 of 200", True),
        ("RLOO, trained above   0.860 of", "RLOO, trained above   0.800 of", True),
        ("GRPO, trained above   0.860 of", "GRPO, trained above   0.100 of", False),
    ],
)
def test_a_notebook_of_the_course_has_numbers_and_distances_of_its_own(saved, fresh, told):
    """A chapter that prints no baseline reward, and would be told nothing."""
    assert bool(drifted(printing(saved, "gradients"), printing(fresh, "gradients-executed"))) == told


def test_negative_numbers_and_a_table_s_intervals_are_read():
    """A gold reward of -7.56 that is taken for 7.56, or whose interval is not found as no words stand before it."""
    saved = printing("base      -7.56 ( -8.38 to  -6.83)     -0.58\n", "reward_model")
    assert drifted(saved, printing("base      -6.20 ( -7.00 to  -5.00)\n", "reward_model")) == []
    assert drifted(saved, printing("base       7.56 (  6.83 to   8.38)\n", "reward_model"))


def test_the_interval_of_a_table_counts_where_the_printed_line_has_none():
    """Catches a reward that is printed first and shown with its interval below: nothing would be held against it."""
    text = (
        "baseline reward    0.100\nmeasured          reward   95 % interval\nbaseline reward    {0}  0.080 to 0.120\n"
    )
    assert key_numbers(printing(text.format("0.100")), ["baseline reward"])["baseline reward"].interval == (0.08, 0.12)
    assert drifted(printing(text.format("0.100")), printing(text.format("0.300")))


@pytest.mark.parametrize(
    "saved",
    [
        printing("nothing\n"),
        printing("baseline reward 0.1\nfine-tuned reward 0.2\n"),
        printing(SAVED, label="# Cell 6: Training loop"),
    ],
    ids=["nothing", "no interval", "another cell"],
)
def test_where_nothing_is_allowed_nothing_is_told(saved):
    """A blank edition, a student's own notebook, a line of a log that says the same words."""
    assert drifted(saved, printing(LINE.format("fine-tuned", "0.1", "0.0", "0.2"))) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_has_key_numbers_that_can_be_missed(path):
    """A number that was renamed in a notebook, so that nothing is held against it any more."""
    notebook = read(path)
    names = wanted(notebook)
    found = key_numbers(notebook, names)
    assert [name for name in names if name not in found or found[name].allows(names[name]) is None] == []
    assert drifted(notebook, notebook) == []


def done(**changes) -> report.Run:
    """A run that went well, of a notebook that shows its claim."""
    shown = SimpleNamespace(status="pass", shows_its_claim=True)
    settings = dict(source=Path("dots.ipynb"), executed=Path("build/dots.ipynb"), page=Path("build/dots.html"))
    return report.Run(**(settings | dict(report=shown, seconds=1.0) | changes))


@pytest.mark.parametrize(
    ("changes", "require_claim", "fails"),
    [
        ({}, True, False),
        ({"drift": ("elsewhere",)}, True, True),
        ({"drift": ("elsewhere",)}, False, False),
        ({"drift": ("elsewhere",), "executed": Path("dots.ipynb")}, True, False),
        ({"error": "stopped"}, False, True),
        ({"error": "stopped", "lacks": "needs a model"}, True, False),
        ({"error": "stopped", "lacks": "needs a model"}, False, True),
    ],
    ids=["right", "drift in CI", "drift elsewhere", "drift that is saved", "stopped", "no model in CI", "no model"],
)
def test_a_drift_fails_only_where_claims_are_required_and_nothing_is_saved(changes, require_claim, fails):
    """CI that goes on with outputs of other code; a student whose machine rounds otherwise and who fails for it."""
    assert bool(report.failures(done(**changes), require_claim)) == fails


def test_a_notebook_lacks_the_model_of_its_header_only_while_that_is_not_fetched(tmp_path):
    """Catches a chapter whose claim may be missing for ever, and one that fails CI where nothing could be fetched."""
    header = "---\ncourse:\n  needs: smollm2\n---"
    needing = Notebook(Path("mine.ipynb"), (Cell(0, "markdown", header),))
    assert report.lacking(needing, tmp_path) == "needs the model smollm2, which is not fetched: make smollm2."
    (tmp_path / "smollm2").mkdir()
    assert report.lacking(needing, tmp_path) == report.lacking(printing(SAVED), tmp_path) == ""


@pytest.mark.parametrize("require_claim", [True, False])
def test_a_drift_is_a_sentence_and_an_exit_status(monkeypatch, tmp_path, require_claim):
    """A status without a word, or a word without a status."""
    monkeypatch.setattr(report, "run", lambda path, *_, **__: done(drift=('"fine-tuned reward" is 0.900; ...',)))
    monkeypatch.setattr(report, "summary", lambda *_: None)
    console = Console(record=True, width=200)
    entry = Entry("dots.ipynb", Path("dots.ipynb"), Path("dots.ipynb"))
    status = report.run_all([entry], tmp_path, console, in_place=False, require_claim=require_claim)
    assert status == int(require_claim)
    assert ("Save them again with --in-place" in console.export_text()) == require_claim
