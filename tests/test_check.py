"""The functions that notebooks call: each shows one verdict on its exercise."""

import ast
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient

from shared import check
from shared.exercises import catalogue, stub
from shared.exercises.catalogue import EXERCISES, NO_NOTEBOOK, PLACES
from shared.exercises.judging import Verdict
from shared.exercises.record import COLOURS, MIME, Passed, as_html, bundle

pytestmark = pytest.mark.usefixtures("patient_judge")
CATALOGUE = Path(catalogue.__file__).parent
# Checks of no exercise, but of a reward and a task of one's own.
ANY_TASK = ["cases", "reward_function", "rows", "task"]


def test_every_exercise_has_its_check():
    """Catches an exercise under two names, one that hides behind another's, and a helper offered as a check."""
    assert [name for name, exercise in EXERCISES.items() if exercise.function != name] == []
    files = [path for path in CATALOGUE.glob("*/*") if path.suffix == ".py" or (path / "__init__.py").is_file()]
    assert sum(path.parent.name != NO_NOTEBOOK and path.name != "__init__.py" for path in files) == len(EXERCISES)
    assert dir(check) == sorted([*EXERCISES, *ANY_TASK])
    assert len({id(exercise) for exercise in EXERCISES.values()}) == len(EXERCISES) > 50


@pytest.mark.parametrize("name", dir(check))
def test_each_check_says_which_arguments_it_gives(name):
    function = getattr(check, name)
    assert function.__name__ == name
    assert function.__doc__.startswith("Check `")


def test_the_stub_is_written_from_the_checks():
    """Catches a check that an editor and the API page do not know, or know with an old signature."""
    text = stub.STUB.read_text(encoding="utf-8")
    assert text == stub.text(), "write it again: .venv/bin/python -m shared.exercises.stub"
    assert sorted(node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)) == dir(check)


NO_CHECKS = {
    "slops": "there is no check `slops`; did you mean `slopes`?",
    "weights": "there is no check `weights`; did you mean `exact_weights` or `next_weights`?",
    "zzzzzz": "there is no check `zzzzzz`.",
}


@pytest.mark.parametrize(("name", "told"), NO_CHECKS.items(), ids=NO_CHECKS)
def test_a_name_that_is_no_check_is_told(name, told):
    """Catches "module has no attribute", from which nobody learns what the check is called."""
    with pytest.raises(AttributeError) as error:
        getattr(check, name)
    assert str(error.value) == told


def test_a_file_of_the_catalogue_is_read_when_its_check_is_asked_for():
    """Catches seconds of waiting for models at `from shared import check` in a notebook that has none."""
    code = "import sys; from shared import check; print(sorted({m for m in sys.modules if m in sys.argv}))"
    named = ["transformers", *(f"shared.exercises.catalogue.{place}" for place in PLACES.values())]
    done = subprocess.run([sys.executable, "-c", code, *named], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def right_kl(logps, ref_logps):
    return torch.exp(ref_logps - logps) - (ref_logps - logps) - 1


def wrong_kl(logps, ref_logps):
    return logps - ref_logps


def test_the_verdict_is_printed(capsys):
    check.per_token_kl(right_kl)
    assert capsys.readouterr().out == "✓ per-token KL: right in all 125 cases.\n"
    check.per_token_kl(wrong_kl)
    assert capsys.readouterr().out.startswith("✗ per-token KL: This is k1")


def test_what_is_blank_is_open_and_not_wrong(capsys):
    """Catches a red ✗ at an exercise beyond the core that nobody has begun, and one that hides a wrong function."""

    def blank(*arguments, **columns):
        raise NotImplementedError

    assert not check.per_token_kl(blank) and not check.rows(blank) and not check.cases(blank)
    cases = [({"prompt": "a"}, "b", 1.0), ({"prompt": "a"}, "", 0.0)]
    assert not check.reward_function(blank, cases)
    said = capsys.readouterr().out.splitlines()
    assert said == [
        f"○ {name}: it is not filled in yet." for name in ("per-token KL", "rows", "cases", "reward function")
    ]
    assert as_html(Verdict("KL", False, "it is not filled in yet.")).count(COLOURS["○"]) == 1
    assert Verdict("KL", False, "it gives 0, expected it is not filled in yet").mark == "✗"


def test_a_check_returns_whether_the_function_passed(capsys):
    """Catches a wrong function that a notebook goes on with, as `if check.per_token_kl(f):` is true of every object."""
    assert check.per_token_kl(right_kl) == True  # noqa: E712
    assert check.per_token_kl(wrong_kl) == False  # noqa: E712
    assert sum([check.per_token_kl(right_kl), check.per_token_kl(wrong_kl)]) == 1
    assert not check.cases(list)


def test_a_cell_that_ends_in_a_check_shows_the_verdict_alone(monkeypatch, capsys):
    """Catches "True" below every verdict of every notebook."""
    formatted = InteractiveShell.instance().display_formatter.format
    try:
        monkeypatch.setattr("shared.exercises.record.in_jupyter", lambda: True)
        assert formatted(Passed(True)) == ({}, {})
        assert capsys.readouterr().out == ""
        assert formatted((Passed(True), Passed(False)))[0] == {"text/plain": "(True, False)"}
        monkeypatch.setattr("shared.exercises.record.in_jupyter", lambda: False)
        assert formatted(Passed(False)) == ({}, {})
        assert capsys.readouterr().out == "False\n"
    finally:
        InteractiveShell.clear_instance()


@pytest.mark.slow
def test_in_a_kernel_there_is_no_output_but_the_verdict():
    code = "from shared import check\nif check.causal_policy(print):\n    1 / 0\ncheck.causal_policy(lambda *given: 0)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(notebook, resources={"metadata": {"path": "."}}).execute()
    outputs = notebook.cells[0].outputs
    assert [output.output_type for output in outputs] == ["display_data", "display_data"]
    assert all(output.data["text/plain"].startswith("✗ causal policy: ") for output in outputs)


def test_in_jupyter_the_verdict_has_colour_and_a_record(monkeypatch):
    """Catches a verdict that only colour tells, text that becomes HTML, and a record that says less than the verdict."""
    shown = []
    monkeypatch.setattr("shared.exercises.record.in_jupyter", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    check.per_token_kl(lambda logps, ref_logps: "<script>")
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
        "right_after": False,
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
        EXERCISES["per_token_kl"], lambda logps, ref_logps: 1 + ref_logps - logps - torch.exp(ref_logps - logps)
    )
    assert bundle(verdict)[MIME]["slips"] == ("negative",)
