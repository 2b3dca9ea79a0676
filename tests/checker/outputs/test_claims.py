"""The claim in a notebook's header, and the test whether the outputs show it."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from checker.checking.check import check
from checker.outputs.claims import claim_of, header_of, is_shown, methods
from checker.reading.notebook import read
from checker.running import report
from tests.checker.conftest import HEADER, code

MEASURES = HEADER.replace("jupyter:", "course:\n  claim: measures\njupyter:")
COMPARISON = (
    "held-out expected reward    mean   lowest to highest\n"
    "  REINFORCE, reward + 1   0.512   0.481 to 0.540\n"
    "  RLOO                    0.790   0.741 to 0.826\n"
)


@pytest.fixture
def measuring(good):
    """The right notebook, as one that measures."""
    good["cells"][0]["source"] = MEASURES
    good["cells"][7]["outputs"][0]["text"] = COMPARISON
    return good


def codes(path):
    return [finding.code for finding in check(path).findings]


def printed(notebook, text):
    notebook["cells"][7]["outputs"][0]["text"] = text
    return notebook


def test_a_measurement_needs_no_reward_that_rises(measuring, save):
    """Catches a chapter of comparisons that has to print a baseline and five examples to pass."""
    path = save(measuring)
    assert codes(path) == []
    report = check(path)
    assert (report.claim, report.shows_its_claim) == ("measures", True)
    assert methods(read(path)) == {"REINFORCE, reward + 1": 0.512, "RLOO": 0.79}


def test_of_a_method_named_twice_the_first_figure_counts(measuring, save):
    """Catches a figure of another measure further down, read for that of the comparison."""
    text = COMPARISON + "length of a completion\n  RLOO   12.5\n"
    assert methods(read(save(printed(measuring, text)))) == {"REINFORCE, reward + 1": 0.512, "RLOO": 0.790}


def test_what_is_no_better_than_before_has_not_learnt(good, save):
    """Catches a notebook whose two rewards are the same and that shows that it learnt."""
    for tuned, shown in (("0.97", True), ("0.25", False), ("0.20", False)):
        path = save(printed(good, f"baseline reward 0.25\nfine-tuned reward {tuned}\n"))
        assert is_shown(read(path)) is shown


def test_a_header_that_is_too_long_is_not_read(good, save):
    """Catches a page of YAML by which a stranger's notebook holds up everybody's."""
    good["cells"][0]["source"] = MEASURES
    assert claim_of(read(save(good))) == "measures"
    good["cells"][0]["source"] = MEASURES.replace("jupyter:", f"a: {'x' * 5_000}\njupyter:", 1)
    assert claim_of(read(save(good))) == "learns"


@pytest.mark.parametrize(
    ("claim", "words"), [("learns", "reward above its baseline"), ("measures", "held-out comparison"), ("wins", "wins")]
)
def test_a_claim_that_is_not_shown_is_told_by_what_is_missing(claim, words):
    """Catches a notebook that fails in CI, and nobody learns which line its outputs should have."""
    found = SimpleNamespace(status="pass", shows_its_claim=False, claim=claim)
    path = Path("dots.ipynb")
    run = report.Run(source=path, executed=path, page=path, report=found, seconds=1.0)
    (failure,) = report.failures(run, require_claim=True)
    assert words in str(failure)


def test_a_course_without_a_claim_learns(good, save):
    """Catches "claims None" said of a notebook whose header names its version alone."""
    good["cells"][0]["source"] = MEASURES.replace("claim: measures", "version: 1")
    assert claim_of(read(save(good))) == "learns"
    good["cells"][0]["source"] = MEASURES.replace("measures", "[measures]")
    assert claim_of(read(save(good))) == "['measures']"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("---\ntitle: A\n---", {"title": "A"}),
        ("\n---\ntitle: 1\n---\n", {"title": "1"}),
        ("--- \ntitle: A\n---", {"title": "A"}),
        ("---\ntitle: A", {"title": "A"}),
        ("---\n- title\n---", {}),
        ("---\n---", {}),
        ("---", {}),
        ("----\ntitle: A\n---", {}),
        ("title: A", {}),
    ],
)
def test_the_header_is_read_between_its_rules(good, save, source, found):
    """Catches a title that is not read, for a blank line before the header or a rule that is missing behind it."""
    good["cells"][0]["source"] = source
    assert header_of(read(save(good))) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("RLOO: 0.5", {"RLOO": 0.5}),
        ("HELD OUT   1 row", {"HELD OUT": 1.0}),
        ("  | GRPO | 0.25 |", {}),
        ("GRPO | 79 % | 0.5 s", {"GRPO": 79.0}),
        ("PPO = -3 %", {"PPO": -3.0}),
        ("k1 x   -0.50 to 0.2", {"k1 x": -0.5}),
        ("RLOO 0.5", {}),
        ("7  0.5", {}),
        (f"RLOO{' ' * 2_000}0.5", {}),
    ],
)
def test_a_method_is_read_as_people_print_it(measuring, save, line, found):
    """Catches a per cent or a minus that stops the reader, and a row that is named by its number alone."""
    assert methods(read(save(printed(measuring, f"Held-Out reward\n{line}\n")))) == found


def test_two_cells_of_an_evaluation_are_read_line_by_line(measuring, save):
    """Catches the last line of a cell read as one with the first line of the next."""
    measuring["cells"][7]["outputs"][0]["text"] = "held-out reward\nRLOO   0.5"
    measuring["cells"].insert(8, code("compare()", "GRPO   0.25"))
    assert methods(read(save(measuring))) == {"RLOO": 0.5, "GRPO": 0.25}


def test_without_an_evaluation_nothing_is_compared(measuring, save):
    """Catches a traceback for a notebook without a Cell 7."""
    del measuring["cells"][7]
    notebook = read(save(measuring))
    assert methods(notebook) == {} and not is_shown(notebook)


def test_one_reward_alone_shows_nothing(good, save):
    """Catches a traceback, or a claim that is shown, where one of the two rewards is missing."""
    for text in ("baseline reward 0.25\n", "fine-tuned reward 0.97\n"):
        assert not is_shown(read(save(printed(good, text))))
