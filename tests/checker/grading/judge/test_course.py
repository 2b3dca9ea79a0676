"""The course's own notebooks, graded: the worked ones earn every point that a check gives, the blank ones none.

With real boxes, real exercises and torch, so these are slow.
"""

import json

import nbformat
import pytest

from checker.grading.box.limits import Limits
from checker.grading.judge.boxed_functions import Grader
from checker.grading.judge.hidden_cases import verdicts
from checker.grading.judge.reference_process import ReferenceProcess
from checker.grading.judge.whole_notebook import execute
from checker.grading.judge.worked_notebooks import read_worked_notebook
from checker.reading.notebook import joined, parse, read
from checker.reading.syntax.statements import definitions
from checker.setup.environment import ROOT
from tests.checker.grading.judge.reading import programs_of

SWEEPS = ROOT / "benchmarks" / "sweeps"
NAMES = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def key():
    pytest.importorskip("torch")
    made = ReferenceProcess(20_260_301)
    yield made
    made.close()


@pytest.fixture
def judged(key, isolation):
    """The verdicts on a notebook against the worked one of this name."""

    def judge(path, name):
        return verdicts(
            programs_of(definitions(read(path)), read_worked_notebook(ROOT / "notebooks" / name), key),
            Grader(key, isolation, Limits(wall=200)),
        )

    return judge


@pytest.mark.parametrize("name", NAMES)
def test_a_worked_notebook_is_right_in_every_hidden_case(name, judged):
    """Catches cases that the worked solution itself cannot bear, and a box that lacks what it needs."""
    wrong = {
        check.name: found.text for check, found in judged(ROOT / "notebooks" / name, name).items() if not found.passed
    }
    assert wrong == {}


def test_a_box_has_what_notebooks_load(tmp_path, isolation):
    """Catches a right notebook that stops in its box, because the recorded runs or the model are not there."""
    chapters = [path.stem for path in sorted(SWEEPS.glob("*.json"))]
    lines = [f"print(recorded({chapter!r}).command)" for chapter in chapters]
    source = "\n".join(["from shared.models import load_policy", "from shared.recorded import recorded", *lines])
    path = tmp_path / "loads.ipynb"
    path.write_text(json.dumps(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source + "\nload_policy()")])))
    done = execute(read(path), parse(path), isolation, Limits(wall=120))
    assert done.stopped == "" and chapters[-1] in str(done.content)


def test_a_blank_notebook_earns_nothing(judged):
    """Catches points for a function that nobody wrote."""
    found = judged(ROOT / "notebooks" / "student" / "dots.ipynb", "dots.ipynb")
    assert found and not any(verdict.passed for verdict in found.values())


SLIPS = {
    "log_r = ref_logps - logps": ("log_r = logps - ref_logps", "per_token_kl", "wrong sign"),
    "groups.mean(dim=1, keepdim=True)": ("groups.mean()", "group_advantages", ""),
    "logits[:, P - 1 : -1]": ("logits[:, P:]", "completion_logps", ""),
}


@pytest.mark.parametrize("right", SLIPS, ids=str)
def test_a_slip_costs_its_own_exercise_and_is_named(right, judged, tmp_path):
    """Catches a slip that hidden cases do not see, and one for which three exercises pay."""
    wrong, name, words = SLIPS[right]
    content = parse(ROOT / "notebooks" / "dots.ipynb")
    for cell in content["cells"]:
        cell["source"] = joined(cell["source"]).replace(right, wrong)
    path = tmp_path / "dots.ipynb"
    path.write_text(json.dumps(content))
    found = {check.name: verdict for check, verdict in judged(path, "dots.ipynb").items()}
    assert [check for check, verdict in found.items() if not verdict.passed] == [name]
    assert words in found[name].text
