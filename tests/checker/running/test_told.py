"""The words about a run, and the files that it leaves. No kernel runs here: see test_report.py."""

import io
import json
import re
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from rich.console import Console

from checker.checking.check import Report
from checker.outputs.claims import MEASURES
from checker.reading.inventory import Entry
from checker.reading.notebook import Unreadable
from checker.rules.findings import Finding
from checker.running import execution
from checker.running import report as running
from checker.running.report import OUTPUTS_OF_OTHER_CODE, Run, failures, run, run_all, summary
from tests.checker.conftest import GOOD


def finding(level: str) -> Finding:
    return Finding("S001", level, None, "it is wrong", "Mend it.")


def a_run(status="pass", findings=(), executed="build/x.ipynb", error="", note="", drift=(), **facts) -> Run:
    report = Report("x.ipynb", status, tuple(findings), 1234, sections_present=9, **facts)
    return Run(Path("x.ipynb"), Path(executed), Path("build/[x].html"), report, 83.6, error, note, drift)


def told(result: Run, width=200) -> list[str]:
    out = io.StringIO()
    summary(result, Console(file=out, width=width, highlight=False))
    return out.getvalue().splitlines()


def facts(result: Run) -> dict[str, str]:
    """The table's rows."""
    found = (re.match(r"  (\S.*?) {2,}(\S.*)", line) for line in told(result))
    return {row[1]: row[2].rstrip() for row in found if row}


def test_a_run_is_told_as_a_table_without_a_gap():
    """Catches a row without its name or its figure."""
    learnt = a_run(baseline=0.25, tuned=0.97, checks=3, checks_passed=2)
    assert facts(learnt) == {
        "characters": "1,234 of 40,000",
        "structure": "9 of 9 cells",
        "findings": "none",
        "checks": "2 of 3",
        "baseline reward": "0.250",
        "fine-tuned reward": "0.970",
        "time": "84 s",
        "page": "build/[x].html",
        "executed copy": "build/x.ipynb",
    }
    assert [line.strip() for line in told(learnt)].index("") == len(facts(learnt)), "and an empty line below"


def test_rows_follow_what_the_notebook_is_and_where_it_was_saved():
    """Catches rewards asked of a notebook that measures, and "copy" of what was saved in place."""
    assert "checks" not in facts(a_run())
    assert facts(a_run())["fine-tuned reward"] == "not found"
    measured = [facts(a_run(claim=MEASURES, shows_its_claim=shown)) for shown in (True, False)]
    assert [rows["methods compared"] for rows in measured] == ["yes", "not found"]
    assert "baseline reward" not in measured[0]
    in_place = facts(a_run(executed="x.ipynb"))
    assert in_place["saved again"] == "x.ipynb" and "executed copy" not in in_place
    found = facts(a_run(findings=[finding("error"), finding("warning"), finding("warning"), finding("note")]))
    assert found["findings"] == "1 error, 2 warnings"


def test_a_long_path_is_there_to_its_end():
    """Catches a path that nobody can copy."""
    path = "/".join(["folder"] * 20) + "/x.ipynb"
    lines = told(a_run(executed=path), width=60)
    assert path in "".join(line.removeprefix("  executed copy").strip() for line in lines)


def test_a_stop_a_note_and_a_drift_are_lines_of_their_own_and_findings_follow():
    result = a_run("fail", [finding("error")], error="It [stopped].", note="No [Quarto].", drift=("It [drifts].",))
    lines = [line.strip() for line in told(result) if line.strip()]
    assert lines[0] == "stopped  It [stopped]."
    drift = lines.index("drift  It [drifts].")
    assert lines[drift - 1] == "note  No [Quarto]." and lines[drift + 1].startswith("fail  x.ipynb")


def test_a_failure_is_told_once():
    """Catches a stop that stands on the screen twice, and a claim that fails the command without a word."""
    stopped = a_run("fail", error="It stopped.", drift=("It drifts.",))
    assert [failure.in_summary for failure in failures(stopped, require_claim=False)] == [True, True]
    last = failures(stopped, require_claim=True)[-1]
    assert (last.sentence, last.in_summary) == (OUTPUTS_OF_OTHER_CODE, False)
    (failure,) = failures(a_run(drift=()), require_claim=True)
    assert "fine-tuned reward" in failure.sentence and failure.sentence.endswith(".") and not failure.in_summary
    assert failures(a_run(shows_its_claim=True, executed="x.ipynb", drift=("It drifts.",)), require_claim=True) == []
    (failure,) = failures(a_run(claim="dances"), require_claim=True)
    assert "dances" in failure.sentence and "nobody can test" in failure.sentence


@pytest.fixture
def ran(monkeypatch):
    """A function that reports on notebooks whose runs are given by name: the status, what was printed, the folders."""

    def go(results: dict[str, object], require_claim=False):
        def runs(path, place, console, *, name, **options):
            places.append(place)
            if isinstance(results[name], BaseException):
                raise results[name]
            return results[name]

        places = []
        monkeypatch.setattr(running, "run", runs)
        inside = {name: Path(name.rpartition(":")[2]) for name in results}
        entries = [Entry(name, path, path) for name, path in inside.items()]
        out = io.StringIO()
        console = Console(file=out, width=300, highlight=False)
        status = run_all(entries, Path("build"), console, in_place=False, require_claim=require_claim)
        return SimpleNamespace(status=status, out=out.getvalue(), places=places)

    return go


def test_the_worst_run_is_the_status_of_all(ran):
    """Catches a good notebook that makes the command forget a bad one before it."""
    good, bad = a_run(), a_run("fail")
    assert ran({"a.ipynb": good}).status == 0
    assert ran({"a.ipynb": bad, "b.ipynb": good}).status == 1
    assert ran({"a.ipynb": Unreadable("It is none."), "b.ipynb": bad}).status == 2
    stopped = ran({"a.ipynb": good, "b.ipynb": KeyboardInterrupt(), "c.ipynb": good})
    assert stopped.status == 130 and "Stopped. b.ipynb is as it was." in stopped.out


def test_only_what_the_summary_has_not_told_is_an_error_below_it(ran):
    assert "error" not in ran({"a.ipynb": a_run("fail", error="It stopped.")}).out
    said = ran({"a.ipynb": a_run(drift=("It drifts.",), shows_its_claim=True)}, require_claim=True)
    (line,) = [line for line in said.out.splitlines() if line.startswith("error")]
    assert line.startswith("error  a.ipynb has saved outputs ") and ". Save them again with --in-place" in line


def test_notebooks_of_one_name_get_numbered_folders(ran):
    """Catches the third notebook of a name over the second."""
    places = ran({"x.ipynb": a_run(), "a.zip:x.ipynb": a_run(), "b.zip:x.ipynb": a_run(), "y.ipynb": a_run()}).places
    assert places == [Path("build"), Path("build/2"), Path("build/3"), Path("build")]


@pytest.fixture
def executed(monkeypatch):
    """In the place of a kernel: the notebook's file comes back with these outputs, or with a stop."""
    given = SimpleNamespace(printed="fine-tuned reward 0.5", error="")

    def execute(content, kernel, live, before_cell):
        before_cell(2, 9, "[a] cell")
        live("10 %")
        for cell in content["cells"]:
            if "Cell 7" in "".join(cell["source"]):
                cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": given.printed}]
        return json.dumps(content), given.error

    monkeypatch.setattr(running, "fresh_kernel", lambda folder: nullcontext(folder))
    monkeypatch.setattr(execution, "execute", execute)
    return given


def test_a_run_leaves_the_copy_its_text_and_its_page(executed, tmp_path, monkeypatch):
    """Catches a report about the old outputs, and a time that is none."""
    clock = iter([1000.0, 1007.5])
    monkeypatch.setattr(running, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    content = json.loads(json.dumps(GOOD))
    content["cells"][7]["outputs"][0]["text"] = "fine-tuned reward 0.9 (95 % interval 0.85 to 0.95)"
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps(content))
    out = io.StringIO()
    result = run(path, tmp_path / "build", Console(file=out), name="[the] name", engine="builtin")
    assert result.seconds == 7.5 and result.source == path and result.report.name == "[the] name"
    assert result.executed == tmp_path / "build" / "x.ipynb" and not result.saved_again
    assert json.loads(path.read_text()) == content
    assert "0.5" in nbformat.read(result.executed, as_version=4).cells[7].outputs[0].text
    assert "fine-tuned reward 0.5" in (tmp_path / "build" / "x.md").read_text()
    assert result.page.read_text().count("fine-tuned reward 0.5")
    (drift,) = result.drift
    assert "0.500" in drift and "0.900" in drift
    assert out.getvalue().splitlines() == ["[the] name", "   2/9  [a] cell"]


def test_a_run_that_stopped_does_not_replace_the_saved_outputs(executed, tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps(GOOD))
    executed.error = "It stopped."
    result = run(path, tmp_path, Console(file=io.StringIO()), in_place=True, engine="builtin")
    assert result.executed == tmp_path / "x-executed.ipynb" and json.loads(path.read_text()) == GOOD
    assert result.error == "It stopped." and result.drift == ()
