"""The files whose mutants are made, the tests that should notice, and the drawn sample."""

from pathlib import Path

import pytest

from tests.mutants.copying import changed
from tests.mutants.files import files, how_many, nearest_tests, relevant_tests, sample


def test_every_file_has_tests_that_are_about_it():
    """Catches a file that is left out, and one of which no test would be run."""
    found = files()
    assert {"shared/kl.py", "checker/points/totals.py", "shared/exercises/judging.py"} <= set(found)
    assert not any("catalogue" in file for file in found)
    assert all(relevant_tests(file) and Path(file).is_file() for file in found)


def test_the_nearest_tests_come_first():
    """Catches a survivor for which every test of the project was run before the one that is about it."""
    first, *others = nearest_tests("checker/reading/archive.py")
    assert first == "tests/checker/reading/test_archive.py" and "tests/checker/reading/test_files.py" in others


def test_behind_them_come_those_of_the_modules_that_import_it():
    """Catches a decoder of which no test that samples is run, and a formula that boxes are started for."""
    tests = relevant_tests("shared/engine/decoding.py")
    assert {"tests/engine/test_llama.py", "tests/test_rollout.py", "tests/test_sampled_record.py"} <= set(tests)
    assert "tests/checker/grading/box/test_modules.py" not in relevant_tests("shared/kl.py")


@pytest.mark.parametrize(
    "file", ["shared/kl", "shared/engine/llama", "checker/points/totals", "checker/grading/box/walls"]
)
def test_what_is_computed_and_what_gives_points_is_tried_whole(file):
    assert how_many(f"{file}.py") is None


@pytest.mark.parametrize("file", ["shared/run/plan", "shared/exercises/stub", "checker/pages/card"])
def test_of_other_files_a_sample_is_tried(file):
    assert how_many(f"{file}.py") == 40


def test_a_sample_is_the_same_every_time_and_part_of_a_larger_one():
    """Catches a sample that is drawn anew until it looks well, and mutants that a larger one runs again."""
    labels = [str(number) for number in range(100)]
    forty = sample(labels, 40, "a.py")
    assert forty == sample(labels, 40, "a.py") != sample(labels, 40, "b.py")
    assert forty == sorted(forty, key=int) and set(forty) < set(sample(labels, 60, "a.py"))
    assert sample(labels, None, "a.py") == labels and sample(labels[:7], 40, "a.py") == labels[:7]


def test_a_changed_file_is_again_as_it_was(tmp_path):
    """Catches a mutant that stays in the copy, or a compiled file that is taken for the right one's."""
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    before = file.stat().st_mtime_ns
    with changed(file, "x = 2\n"):
        assert file.read_text() == "x = 2\n"
    assert file.read_text() == "x = 1\n" and file.stat().st_mtime_ns == before
