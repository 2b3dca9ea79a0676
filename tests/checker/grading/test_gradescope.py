"""What Gradescope reads, after its own specification; no upload to it was tried."""

import io
import json
import zipfile

from checker.grading.gradescope import autograder, results


def item(name, earned, points=2.0):
    return {"name": name, "earned": earned, "points": points, "verdict": f"about {name}"}


def test_scores_are_real_and_what_a_person_grades_is_left_to_them():
    """Catches an autograder that gives 0 of 3 for an answer that nobody has read yet."""
    found = [
        {"notebook": "dots.ipynb", "items": [item("kl", 2.0), item("loss", 1.0), item("analysis", None)], "stopped": ""}
    ]
    content = json.loads(results(found))
    assert [(test["score"], test["max_score"], test["status"]) for test in content["tests"]] == [
        (2.0, 2.0, "passed"),
        (1.0, 2.0, "failed"),
    ]
    assert "score" not in content  # Gradescope adds the tests up


def test_nothing_graded_is_said_and_is_no_failure_of_the_autograder():
    """Catches an empty list of tests without a score, which Gradescope takes for a fault of the autograder."""
    content = json.loads(results([]))
    assert content["score"] == 0 and "No notebook could be graded" in content["output"]


def test_the_zip_has_its_programs_where_they_are_looked_for_and_executable(tmp_path):
    """Catches a zip that Gradescope cannot start, and one with the caches of this machine in it."""
    (tmp_path / "checker" / "__pycache__").mkdir(parents=True)
    (tmp_path / "checker" / "x.py").write_text("")
    (tmp_path / "checker" / "__pycache__" / "x.pyc").write_text("")
    with zipfile.ZipFile(io.BytesIO(autograder(41, tmp_path))) as archive:
        assert archive.namelist() == ["setup.sh", "run_autograder", "course/checker/x.py"]
        assert archive.getinfo("run_autograder").external_attr >> 16 == 0o755
        program = archive.read("run_autograder").decode()
    assert "--seed 41" in program and "\\\n" in program and "\\\\" not in program
