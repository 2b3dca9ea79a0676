"""The functions that notebooks call: each shows one verdict on its exercise."""

import inspect

import pytest
import torch

from shared import check
from shared.exercises import catalogue
from shared.exercises.judging import Verdict
from shared.exercises.record import MIME, bundle

pytestmark = pytest.mark.usefixtures("patient_judge")
CHECKS = {name: function for name, function in vars(check).items() if inspect.isfunction(function)}
CHECKS = {
    name: function
    for name, function in CHECKS.items()
    if function.__module__ == check.__name__ and name not in ("run", "about")
}
ANY_TASK = (
    "cases",
    "reward_function",
    "rows",
    "task",
)  # checks of no exercise, but of a reward and a task of one's own


def test_every_exercise_has_its_check():
    """Catches an exercise that no notebook can call, and a check of something else."""
    name_of = {id(module.EXERCISE): name for name, module in catalogue.exercise_modules().items()}
    judged = [name_of.get(id(exercise)) for exercise in check.EXERCISES.values()]
    assert sorted(judged) == sorted(catalogue.exercise_modules())
    assert sorted([*check.EXERCISES, *ANY_TASK]) == sorted(CHECKS)
    assert len(judged) == len(CHECKS) - len(ANY_TASK)


@pytest.mark.parametrize("name", CHECKS)
def test_each_check_says_which_arguments_it_gives(name):
    assert CHECKS[name].__doc__.startswith("Check `")


def right_kl(logps, ref_logps):
    return torch.exp(ref_logps - logps) - (ref_logps - logps) - 1


def test_the_verdict_is_printed(capsys):
    check.kl(right_kl)
    assert capsys.readouterr().out == "✓ per-token KL: right in all 125 cases.\n"
    check.kl(lambda logps, ref_logps: logps - ref_logps)
    assert capsys.readouterr().out.startswith("✗ per-token KL: This is k1")


def test_in_jupyter_the_verdict_has_colour_and_a_record(monkeypatch):
    """Catches a verdict that only colour tells, text that becomes HTML, and a record that says less than the verdict."""
    shown = []
    monkeypatch.setattr("shared.exercises.record.in_jupyter", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    check.kl(lambda logps, ref_logps: "<script>")
    (data,) = shown
    assert data["text/plain"].startswith("✗ per-token KL: it returns '<script>'")
    assert "<script>" not in data["text/html"] and "&lt;script&gt;" in data["text/html"]
    assert data[MIME] == {
        "version": 1,
        "exercise": "per-token KL",
        "passed": False,
        "cases": 125,
        "slips": (),
        "first": (),
    }
    assert "pre-wrap" in data["text/html"] and "break-word" in data["text/html"]


def test_a_verdict_is_marked_up_without_a_hole():
    """Catches backticks left in the page's text, and tags of a function's own that come into it by way of its code."""
    verdict = Verdict("per-token KL", False, "it calls `<b>log</b>`.\nA ` alone\nis `no` code.")
    html = bundle(verdict)["text/html"]
    assert "per-token KL</b>: it calls <code>&lt;b&gt;log&lt;/b&gt;</code>." in html
    assert "A ` alone\nis <code>no</code> code.</div>" in html


def test_the_record_names_the_slips():
    from shared.exercises.process import verdict_on

    verdict = verdict_on(
        catalogue.kl.EXERCISE, lambda logps, ref_logps: -torch.exp(ref_logps - logps) - logps + ref_logps
    )
    assert bundle(verdict)[MIME]["slips"] == ("without_minus_one", "negative")
