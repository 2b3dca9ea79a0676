"""A mark that is disputed, and one exercise judged anew for everybody."""

import io
import json
import os
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from checker.grading import disputes
from checker.grading.box.walls import Isolation
from checker.grading.disputes import dispute, of_students, require
from checker.grading.judge import one_notebook
from checker.grading.judge.one_notebook import Job, Settings
from checker.grading.judge.oracle import key
from checker.grading.judge.oracle.disputed import disputed
from checker.grading.judge.reference_process import HiddenVerdict
from checker.grading.judge.worked_notebooks import read_worked_notebook
from checker.grading.results import graded, regraded
from checker.grading.table.class_folder import Folder
from checker.grading.work import collected
from checker.reading.notebook import Unreadable
from tests.checker.grading.table.forty import Points, class_of, worked_notebook


def test_the_words_of_a_case_are_its_arguments_what_was_given_and_what_is_right(monkeypatch, shapes_unchecked):
    """Catches a right case among the wrong ones, one without an answer left out, and values cut to a few digits."""
    import torch

    from checker.grading.box.inside import exchange

    cases = [{"logps": torch.tensor([[-1.0]]), "ref_logps": torch.tensor([[ref]])} for ref in (-1.0, -0.5, -2.0)]
    asked = {("per_token_kl", 7): [(case, None, None) for case in cases]}
    monkeypatch.setattr(key, "hidden", lambda check, seed: asked[check, seed])
    key.expected_outcome.cache_clear()

    def doubled(logps, ref_logps):
        log_r = ref_logps - logps
        return 2 * (log_r.exp() - log_r - 1)

    outcomes = [exchange.outcome_of(doubled, case, vars(key.exercise("per_token_kl"))) for case in cases[:2]]
    second, third = disputed("per_token_kl", [*outcomes, None], 7)
    assert disputed("per_token_kl", outcomes, 7) == [second, third]
    key.expected_outcome.cache_clear()
    assert second["case"] == 2 and second["arguments"] == [["logps", "[[-1]]"], ["ref_logps", "[[-0.5]]"]]
    assert second["given"].startswith("[[0.29744") and second["right"].startswith("[[0.14872")
    assert third["case"] == 3 and third["given"] == "no answer" and third["right"].startswith("[[0.36787")


def test_an_outcome_is_told_in_full():
    """Catches a gradient or a harm that is left out, an error without its line, and a text that fills the page."""
    import torch

    from checker.grading.judge.oracle import disputed as words
    from shared.exercises.calling import Outcome

    value = torch.tensor([[1.0, -0.0], [0.123456789, 2.5]]).double()
    assert words._told(Outcome(value=value)) == "[[1, 0], [0.1234568, 2.5]]"
    whole = Outcome(value="a", gradient=torch.ones(1), harm="it changes x.", complaint="it is a list.")
    assert words._told(whole) == "'a'; gradient [1]; it changes x.; it is a list."
    assert words._told(Outcome(raised="it raised E", where=", in line 2: `x`")) == "it raised E, in line 2: `x`"
    assert words._in_full(torch.tensor([True, False])) == "[True, False]" and words._in_full(torch.tensor([3])) == "[3]"
    longest = "'" + "x" * 3_998 + "'"
    assert words._in_full("x" * 3_998) == longest
    assert words._in_full("x" * 5_998) == "'" + "x" * 3_999 + " ... (2,000 more characters)"


def test_the_main_program_answers_what_it_is_asked(monkeypatch, capfd):
    """Catches cases of another seed, and the outcomes of another check."""
    from checker.grading.judge.oracle import disputed as words

    def told(check, outcomes, seed):
        os.write(1, b"a library speaks")
        return [check, outcomes, seed, "ü"]

    monkeypatch.setattr(words, "disputed", told)
    monkeypatch.setattr("sys.argv", ["disputed", "7"])
    monkeypatch.setattr("sys.stdin", io.StringIO('{"check": "kl", "outcomes": [null]}'))
    out = os.dup(1)
    try:
        words.main()
    finally:
        os.dup2(out, 1)
        os.close(out)
    assert capfd.readouterr().out == json.dumps(["kl", [None], 7, "ü"])


def test_the_program_answers_where_it_is_run(monkeypatch, capfd):
    """Catches a program that does nothing, whose silence is taken for its answer."""
    from checker.grading.judge.oracle import disputed as words

    monkeypatch.setattr("sys.argv", ["disputed", "7"])
    monkeypatch.setattr("sys.stdin", io.StringIO('{"check": "no such check", "outcomes": []}'))
    out = os.dup(1)
    try:
        runpy.run_path(words.__file__, run_name="__main__")
    finally:
        os.dup2(out, 1)
        os.close(out)
    assert capfd.readouterr().out == "[]"


@pytest.mark.slow
def test_a_students_wrong_function_is_shown_with_the_right_values(isolation, tmp_path):
    """Catches a report on another function than the student's, and one that says nothing of what is right."""
    worked = read_worked_notebook(Path("notebooks/dots.ipynb"))
    content = json.loads(json.dumps(worked.content).replace("torch.exp(log_r) - log_r - 1", "torch.exp(log_r) - log_r"))
    text = dispute(Job("ann", "dots.ipynb", json.dumps(content), worked, Settings(7, isolation)), "per_token_kl")
    assert "The -1 is missing" in text and "Case 1\n  logps = [[-1]]" in text
    assert "given  [[1]]" in text and "right  [[0]]" in text


def test_an_exercise_that_is_not_there_is_said_with_those_that_are(tmp_path):
    """Catches a slip of the pen for which the whole class is graded anew."""
    worked = worked_notebook(tmp_path)
    require([worked], "kl")
    with pytest.raises(Unreadable, match="no notebook has a checked exercise of this name. There are kl"):
        require([worked], "Success")


def test_a_student_without_the_exercise_is_told_so(one, tmp_path):
    """Catches a command that ends well and shows nothing."""
    work = collected([one.submissions], one.this_class)
    found = of_students(work.jobs, ["student02"], "kl")
    assert [submission.student for submission, _ in found] == ["student02"]
    with pytest.raises(Unreadable, match="--again student01 --exercise loss: .* none of this student's: dots.ipynb"):
        of_students(work.jobs, ["student01"], "loss")


def test_an_exercise_whose_checks_have_no_hidden_cases_says_so(tmp_path, monkeypatch):
    """Catches a report that is a heading and nothing else."""
    worked = worked_notebook(tmp_path)
    monkeypatch.setattr(disputes, "judge", lambda job, references: {})
    monkeypatch.setattr(disputes, "ReferenceProcess", lambda seed: SimpleNamespace(close=lambda: None))
    job = Job("ann", "dots.ipynb", json.dumps(worked.content), worked, Settings(7, Isolation("none")))
    assert dispute(job, "kl").endswith("None of its checks has hidden cases: a person gives its points.\n")


# Stands in for Python: of each outcome that is none it tells the case in the words of what it was asked.
WORDS = """#!{python} -S
import json, pathlib, sys
if not pathlib.Path(*sys.argv[2].split(".")).with_suffix(".py").is_file():
    sys.exit("started beside the course")
asked = json.loads(sys.stdin.buffer.read())
cases = [
    {{"case": number, "arguments": [["of", asked["check"]], ["as", sys.argv[1]]], "given": "né\\x1b[2J", "right": sys.argv[3]}}
    for number, outcome in enumerate(asked["outcomes"], 1) if outcome is None
]
sys.stdout.buffer.write(json.dumps(cases, ensure_ascii=False).encode("utf-8"))
"""


@pytest.fixture
def told(tmp_path, monkeypatch):
    """The text of a dispute whose checks have these outcomes; a process stands in for each that would import torch."""
    worked = worked_notebook(tmp_path / "notebooks")
    item = disputes.exercise_in(worked, "kl")
    program = tmp_path / "python"
    program.write_text(WORDS.format(python=os.path.realpath(sys.executable)))
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.chdir(tmp_path)
    settings = Settings(7, Isolation("none"))

    class References:
        closed = 0

        def __init__(self, seed):
            self.seed = seed

        def cases(self, checks):
            return [self.seed, *checks]

        def judge(self, check, outcomes):
            return HiddenVerdict(None not in outcomes, f"{check}: {len(outcomes)} answers.")

        def close(self):
            References.closed += 1

    def tell(outcomes, more=()):
        def judge(job, references):
            assert json.loads(job.text) == worked.content and job.settings is settings
            assert job.worked_notebook.items == (item,)
            assert references.cases(["kl"]) == [7, "kl"]
            checks = [*item.checks, *(replace(item.checks[0], name=name) for name in more)]
            return {
                check: references.judge(check.name, outcomes) if outcomes else HiddenVerdict(False, "There is no `kl`.")
                for check in checks
            }

        monkeypatch.setattr(disputes, "judge", judge)
        monkeypatch.setattr(disputes, "ReferenceProcess", References)
        before = References.closed
        try:
            return dispute(Job("ann", "dots.ipynb", json.dumps(worked.content), worked, settings), "kl")
        finally:
            assert References.closed == before + 1

    return tell


HEADING = "ann, dots.ipynb, kl: the function as it was handed in, by itself."


def test_a_dispute_tells_every_failed_case_below_its_verdict(told):
    """Catches outcomes of one check told as another's, a verdict without its cases, cases of another seed, and an answer
    that rewrites a terminal.
    """
    case = "Case {}\n  of = {}\n  as = -m\n  given  né\N{REPLACEMENT CHARACTER}[2J\n  right  7"
    of_kl = ["kl: 3 answers.", case.format(2, "kl"), case.format(3, "kl")]
    assert told([{"value": 1}, None, None]) == "\n\n".join([HEADING, *of_kl]) + "\n"
    both = told([None], more=["k1"]).split("\n\n")
    assert both == [HEADING, "kl: 1 answers.", case.format(1, "kl"), "k1: 1 answers.", case.format(1, "k1") + "\n"]


def test_what_was_right_has_no_case(told):
    """Catches "No case was run" said of a function that is right in all of them."""
    assert told([{"value": 1}, {"value": 2}]) == f"{HEADING}\n\nkl: 2 answers.\n"


def test_a_function_that_was_never_called_says_so(told):
    """Catches a verdict without a word on why no case follows, and a process that is started for nothing."""
    Path(sys.executable).unlink()
    text = told([])
    assert text.startswith(f"{HEADING}\n\nThere is no `kl`.\n\nNo case was run")


def test_a_process_that_fails_is_no_list_of_cases(told, monkeypatch):
    """Catches half an answer read as one: the instructor would think that the function failed in no other case."""
    monkeypatch.setattr(disputes, "DISPUTED", "checker.no_such_program")
    with pytest.raises(subprocess.CalledProcessError):
        told([None])


def whole(grader):
    """Of each notebook that it graded: whether it ran whole."""
    return [job.settings.whole for job in grader.jobs]


@pytest.fixture
def one(tmp_path):
    made = class_of(2, tmp_path, worked_notebook(tmp_path / "notebooks"))
    made.this_class = replace(made.this_class, settings=replace(made.this_class.settings, whole=True))
    made.folder.prepare()
    return made


def run(one, grader, exercise=""):
    work = collected([one.submissions], one.this_class)
    how = regraded(work, one.folder, grader, exercise) if exercise else graded(work, one.folder, grader)
    found = list(how)
    return {each.submission.student: each.result for each in found}, [each.changed for each in found if each.changed]


def after_an_update(one, monkeypatch, grader=None):
    """The class was graded, and every result is of another course from now on."""
    run(one, grader or Points(1.0))
    monkeypatch.setattr(one_notebook, "course", lambda: "another course")


def test_one_exercise_is_judged_anew_and_the_rest_stays(one, monkeypatch):
    """Catches a whole class run again for one mended check, and pages that are lost by it."""
    after_an_update(one, monkeypatch, Points(1.0, "page 1"))
    again = Points(2.0, "page 2")
    results, changed = run(one, again, "kl")
    assert whole(again) == [False, False]
    assert [result["earned"] for result in results.values()] == [2.0, 2.0]
    assert [item["earned"] for item in results["student01"]["items"]] == [2.0, None, None]
    assert [result["page"] for result in results.values()] == ["page 1", "page 1"]
    assert changed == [f"student0{number}, dots.ipynb, kl: 1 before, 2 now." for number in (1, 2)]
    nobody = Points(0.0)
    results, _ = run(one, nobody)
    assert whole(nobody) == [] and results["student01"]["earned"] == 2.0


def test_results_of_an_earlier_version_are_judged_anew(one, monkeypatch):
    """Catches a folder of a class that was graded before results said whether a fault may pass."""
    after_an_update(one, monkeypatch)
    for path in (one.folder.path / "results").glob("*.json"):
        path.write_text(json.dumps({k: v for k, v in json.loads(path.read_text()).items() if k != "transient"}))
    results, _ = run(one, Points(2.0), "kl")
    assert [result["earned"] for result in results.values()] == [2.0, 2.0]


def test_who_has_the_same_points_is_not_named(one, monkeypatch):
    """Catches a list of changes in which everybody stands, so that nobody sees who gained."""
    after_an_update(one, monkeypatch)
    _, changed = run(one, Points(1.0), "kl")
    assert changed == []


def test_a_notebook_without_the_exercise_keeps_its_points(one, monkeypatch):
    """Catches a notebook that is graded anew for an exercise of another one, and lost for the runs to come."""
    after_an_update(one, monkeypatch)
    nobody = Points(2.0)
    for exercise in ("loss", ""):
        results, changed = run(one, nobody, exercise)
        assert [result["earned"] for result in results.values()] == [1.0, 1.0] and changed == []
    assert whole(nobody) == []


def test_points_that_nobody_had_yet_are_told_as_new(one, monkeypatch):
    """Catches "0 before" of an exercise that a person was to judge until it had a check."""
    after_an_update(one, monkeypatch, Points(None))
    results, changed = run(one, Points(2.0), "kl")
    assert changed[0] == "student01, dots.ipynb, kl: none yet before, 2 now."
    assert results["student01"]["course"] == "another course" and results["student01"]["possible"] == 2.0


def test_who_was_never_graded_is_graded_in_full(one, monkeypatch):
    """Catches a late notebook that gets points for one exercise and none for the others."""
    after_an_update(one, monkeypatch, Points(1.0, "page 1"))
    path = one.submissions / "student02" / "dots.ipynb"
    path.write_text(path.read_text().replace('"metadata": {}', '"metadata": {"changed": 1}', 1))
    again = Points(2.0, "page 2")
    results, changed = run(one, again, "kl")
    assert sorted(whole(again)) == [False, True] and len(changed) == 1
    assert results["student02"]["page"] == "page 2"


def test_a_box_that_fails_takes_no_points_and_is_tried_again(one, monkeypatch):
    """Catches earlier points overwritten by a machine's fault, or left out of the table."""
    after_an_update(one, monkeypatch)
    failing = Points(None, ungraded={"student01": "no memory", "student02": "no memory"}, transient=False)
    results, changed = run(one, failing, "kl")
    assert [result["earned"] for result in results.values()] == [1.0, 1.0]
    assert changed[0] == "student01, dots.ipynb, kl: not judged anew: no memory"
    assert one.folder.earlier() and all(result["earned"] == 1.0 for result in one.folder.earlier().values())


def test_results_that_are_written_otherwise_are_not_mixed_with_todays(one, monkeypatch):
    """Catches one exercise of today in a result that an earlier checker wrote, whose other parts nobody can read now."""
    after_an_update(one, monkeypatch)
    for path in (one.folder.path / "results").glob("*.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"format": one_notebook.FORMAT - 1}))
    again = Points(2.0)
    run(one, again, "kl")
    assert whole(again) == [True, True]


def test_an_earlier_result_is_the_latest_of_the_same_cases(one, monkeypatch):
    """Catches points by other hidden cases taken up, and the last by name taken for the last in time."""
    after_an_update(one, monkeypatch)
    other_cases = Points(2.0)
    settings = one.this_class.settings
    one.this_class = replace(one.this_class, settings=replace(settings, seed=settings.seed + 1))
    run(one, other_cases, "kl")
    assert whole(other_cases) == [True, True]


def test_of_two_earlier_results_the_later_one_counts(tmp_path):
    """Catches the last by name taken for the last in time."""
    folder = Folder(tmp_path / "graded")
    folder.prepare()
    for moment, (digest, earned) in enumerate([("b", 1.0), ("a", 2.0)]):
        folder.keep(digest, {"format": one_notebook.FORMAT, "upload": "one", "earned": earned})
        os.utime(folder.path / "results" / f"{digest}.json", (moment, moment))
    assert folder.earlier()["one"]["earned"] == 2.0
