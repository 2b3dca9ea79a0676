"""Blank editions: nothing of a solution is left, and nothing else is lost."""

import copy
import json
import shutil
from pathlib import Path

import pytest

from checker.checking.check import check
from checker.editions.assign import (
    EXAMPLE_PRINTED,
    SHOULD_PRINT,
    MarkerError,
    assign,
    blank,
    edition,
    fill,
    leaked,
    solution_lines,
)
from checker.editions.identity import filled
from checker.editions.kept_answers import kept_answers
from checker.reading.convert import to_markdown
from checker.reading.notebook import CHECK_RECORD, dump, read
from tests.checker.command_line import checker
from tests.checker.conftest import code

WORKED = """def loss(x):
    # student code here
    # TODO: return the square of x (1 point, 2 minutes)
    squared = x * x
    return squared
    # end student code


check.grpo_loss(loss)"""


@pytest.mark.parametrize(("name", "own"), [("own_task", True), ("dots", False)])
def test_a_task_of_ones_own_prints_something_else(name, own):
    """Catches a header whose lines were indented, and a student told to print what another task printed."""
    content = json.loads((Path("notebooks") / f"{name}.ipynb").read_text(encoding="utf-8"))
    texts = ["".join(cell["source"]) for cell in blank(content, name)["cells"]]
    assert any(text.startswith(EXAMPLE_PRINTED) for text in texts) == own
    assert any(text.startswith(SHOULD_PRINT) for text in texts) != own


def test_a_blank_edition_links_to_its_questions_where_they_are_public(tmp_path):
    """Catches a link that leads nowhere: no questions, no address, no site at all."""
    notebooks = tmp_path / "notebooks"
    notebooks.mkdir()
    shutil.copyfile(Path("notebooks") / "dots.ipynb", notebooks / "dots.ipynb")
    link = "(https://example.org/course/notebooks/dots.html#questions)"

    def linked() -> bool:
        made = edition(notebooks / "dots.ipynb", notebooks / "student")
        note = next(cell for cell in json.loads(made.text)["cells"] if cell["id"].endswith("-generated"))
        return link in "".join(note["source"])

    assert not linked()
    settings = "website:\n  title: Course\n  sidebar: {contents: [notebooks/dots.ipynb]}\n"
    (tmp_path / "_quarto.yml").write_text(f"{settings}  site-url: https://example.org/course/\n", encoding="utf-8")
    assert not linked()
    (notebooks / "questions").mkdir()
    (notebooks / "questions" / "dots.yml").touch()
    assert linked()
    (tmp_path / "_quarto.yml").write_text(settings, encoding="utf-8")
    assert not linked()


@pytest.fixture
def worked(good):
    good["cells"][5] = code(WORKED, "✓ loss: right\n" + "line\n" * 20, 4) | {"id": "five"}
    good["cells"][8]["source"] += "\n\n<!-- student answer -->\nThe answer.\n<!-- end student answer -->"
    for number, cell in enumerate(good["cells"]):
        cell["id"] = f"cell-{number}"
        cell["metadata"] = {"tags": ["of the author"]}
    good["metadata"]["widgets"] = {"state": "of the author"}
    return good


def test_outputs_counts_and_metadata_are_cleared_and_ids_kept(worked):
    """Catches what its author's editor noted, in the cells or beside them, handed out to a class."""
    edition = blank(worked, "notebooks/x.ipynb")
    codes = [cell for cell in edition["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in codes)
    locked = {"editable": False, "deletable": False}  # text that is not the student's
    folded = locked | {"jupyter": {"source_hidden": True}}  # what a cell should print
    assert all(cell["metadata"] == {} for cell in codes)
    assert all(cell["metadata"] in ({}, locked, folded) for cell in edition["cells"])
    assert edition["metadata"].keys() == {"kernelspec", "course"}
    assert [c["id"] for c in edition["cells"] if not c["id"].endswith(("-expected", "-generated"))] == [
        c["id"] for c in worked["cells"]
    ]
    assert "Generated from `notebooks/x.ipynb`" in edition["cells"][1]["source"]
    assert "The answer." not in json.dumps(edition) and "squared" not in json.dumps(edition)


def test_text_without_an_answer_is_locked_and_what_is_to_be_filled_in_is_not(worked):
    """Catches a question that is deleted by accident, and an answer or a function that nobody can type."""
    edition = blank(worked, "x")["cells"]
    fixed = {"editable": False, "deletable": False}.items()
    locked = [cell["id"] for cell in edition if fixed <= cell["metadata"].items()]
    assert locked == ["cell-0", "cell-0-generated", "cell-1", "cell-5-expected"]
    assert all(cell["metadata"] == {} for cell in edition if cell["id"] not in locked)


def test_a_header_that_is_folded_stays_folded_and_locked(worked):
    """Catches an edition that opens on raw YAML, and a title of a task of one's own that nobody can write."""
    folded = {"jupyter": {"source_hidden": True}}
    worked["cells"][0]["metadata"] |= folded
    assert blank(worked, "x")["cells"][0]["metadata"] == folded | {"editable": False, "deletable": False}
    worked["cells"][0]["source"] = worked["cells"][0]["source"].replace("---\n", "---\n  task: own\n", 1)
    assert blank(worked, "x")["cells"][0]["metadata"] == folded


def test_an_edition_that_has_lost_its_locks_is_the_same_to_all_that_reads_it(worked, save):
    """Catches a reader that asks for the metadata, which Colab and other editors drop."""
    edition = blank(worked, "x")
    bare = copy.deepcopy(edition)
    for cell in bare["cells"]:
        cell["metadata"] = {}
    paths = [save(edition, "whole.ipynb"), save(bare, "bare.ipynb")]
    findings, texts = [check(path).findings for path in paths], [to_markdown(read(path)) for path in paths]
    assert findings[0] == findings[1] and texts[0] == texts[1]
    without = read(paths[1])
    assert filled(without, bare, edition) == []
    assert fill(bare, worked)["cells"][-1] == fill(edition, worked)["cells"][-1]


def test_a_table_that_an_exercise_should_show_stands_below_it_and_its_verdict_does_not(worked):
    """Catches a blank edition that shows what is printed and no table."""
    table = {"text/plain": "beta  loss\n 0.0  0.25", "text/html": "<table></table>"}
    verdict = {"text/plain": "✓ loss: right", CHECK_RECORD: {}}
    shown = [{"output_type": "display_data", "metadata": {}, "data": data} for data in (verdict, table)]
    worked["cells"][5]["outputs"] = shown
    expected = next(cell for cell in blank(worked, "x")["cells"] if cell["id"] == "cell-5-expected")
    assert expected["source"].endswith("```text\nbeta  loss\n 0.0  0.25\n```") and "✓" not in expected["source"]


def test_what_an_exercise_should_print_stands_below_it(worked):
    edition = blank(worked, "x")
    expected = next(cell for cell in edition["cells"] if cell["id"] == "cell-5-expected")
    assert "✓ loss: right" in expected["source"] and expected["source"].count("line\n") < 15


def test_what_went_wrong_and_what_is_drawn_is_nothing_that_should_be_printed(worked):
    """Catches a traceback of the author's machine, or the name of a picture, handed out as what is right."""
    error = {"output_type": "error", "ename": "ValueError", "evalue": "wrong", "traceback": ["ValueError: wrong"]}
    drawn = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "AAAA", "text/plain": "<Figure>"}}
    printed = {"output_type": "stream", "name": "stdout", "text": "0.25\n"}
    worked["cells"][5]["outputs"] = [error, printed, drawn]
    expected = next(cell for cell in blank(worked, "x")["cells"] if cell["id"] == "cell-5-expected")
    assert expected["source"].endswith("\n\n```text\n0.25\n```")


def test_the_note_says_what_the_edition_is_worth_and_links_to_no_questions_where_there_are_none(worked):
    note = blank(worked, "x")["cells"][1]["source"]
    assert "worth 1 points in all" in note and note.endswith("*")


def test_an_experiment_shows_nothing_that_it_should_print(worked):
    """Catches the numbers of the worked experiment below the one that a student is to design."""
    worked["cells"][5]["source"] = WORKED.replace("check.grpo_loss(loss)", "print(loss(3))")
    assert "cell-5-expected" not in [cell["id"] for cell in blank(worked, "x")["cells"]]


@pytest.mark.parametrize("shown", ["```python\nsquared = x * x\n```", "Take `squared = x * x`, and then the mean."])
def test_a_solution_that_a_text_shows_is_an_error(worked, shown):
    """Catches a look at code alone, while the hint above the exercise has the line that was to be found."""
    worked["cells"][1]["source"] += f"\n\n{shown}"
    with pytest.raises(MarkerError, match="squared = x"):
        blank(worked, "x")


@pytest.mark.parametrize(
    ("line", "says"), [("y = x * x", True), ("else:", False), ("])", False), ("# x squared", False)]
)
def test_a_short_line_says_something_where_it_names_something(worked, line, says):
    """Catches a length taken for a bracket's: `y = x * x` is short, too, and all of the solution."""
    solved = WORKED.replace("squared = x * x", line)
    worked["cells"][5]["source"] = solved
    assert (line in solution_lines(worked)) == says


def test_a_solution_line_that_stands_elsewhere_too_is_an_error(worked):
    worked["cells"][6]["source"] += "\nreturn squared\nsquared = x * x"
    with pytest.raises(MarkerError, match="is in the blank edition as well"):
        blank(worked, "x.ipynb")


def test_filling_the_solutions_in_gives_the_worked_notebook(worked):
    filled = fill(blank(worked, "x"), worked)
    sources = [c["source"] for c in filled["cells"] if not c["id"].endswith(("-expected", "-generated"))]
    assert sources == [c["source"] for c in worked["cells"]]


def test_nothing_is_written_when_a_marker_is_wrong(worked, save, tmp_path):
    worked["cells"][5]["source"] += "\n# end student code"
    with pytest.raises(MarkerError, match='notebook.ipynb, "def loss.*" in Cell 4: Reward function, line 10'):
        assign(save(worked), tmp_path / "student")
    assert not (tmp_path / "student").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": ""}, '"ratio = 1" in Cell 4: Reward function: the cell has no id'),
        (
            {"outputs": None},
            '"ratio = 1" in Cell 4: Reward function: this is not a valid cell, it has no list of outputs',
        ),
    ],
    ids=["no id", "no outputs"],
)
def test_a_cell_that_cannot_be_handed_out_is_named_so_that_it_is_found(worked, save, tmp_path, change, said):
    """Catches "cell 6" said of what its author knows as the third cell below Cell 4's label."""
    worked["cells"].insert(6, code("ratio = 1") | change)
    with pytest.raises(MarkerError, match=said):
        assign(save(worked), tmp_path / "student")


NOTEBOOKS = sorted((Path(__file__).parents[3] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_committed_editions_are_a_fresh_build(path):
    """Edited by hand, or built before the worked notebook changed, a blank edition goes stale: run `make
    students`.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    fresh = blank(content, f"notebooks/{path.name}")
    committed = path.parent / "student" / path.name
    assert committed.read_text(encoding="utf-8") == dump(fresh)
    assert leaked(content, fresh) == []


def test_it_says_what_it_took_out(worked, save, tmp_path):
    """Catches an answer without markers that its author takes for taken out."""
    done = checker("assign", save(worked), "-o", tmp_path / "student")
    assert done.stdout.strip().endswith("notebook.ipynb  taken out: 1 exercise, 1 answer") and not done.stderr


@pytest.mark.parametrize(
    ("analysis", "kept"),
    [
        ("**Success (3 points).** Did it learn?\n\nIt did: 0.9.", "**Success (3 points).** Did it learn?"),
        ("**Success.** Did it learn?\n\n*Worth 3 points.*\n\nIt did.", "**Success.** Did it learn?"),
        ("**Why?**\n\n| points | for |\n|---|---|\n| 2 | a number |\n\nSo.", "**Why?**"),
        ("**Why?**\n<!-- student answer: 1 point -->\nSo.\n<!-- end student answer -->\nAnd so.", "And so."),
        ("**Why? (2 points)**\n<!-- student answer -->\nSo.\n<!-- end student answer -->\n**Then.** No.", None),
        ("**Success.** It rose by 12 percentage points.", None),
    ],
)
def test_text_that_stays_under_a_question_with_points_is_told(worked, save, tmp_path, analysis, kept):
    """Catches a worked answer that goes to students in silence."""
    worked["cells"][8]["source"] = f"# Cell 8: Analysis\n\n{analysis}"
    done = checker("assign", save(worked), "-o", tmp_path / "student")
    assert done.returncode == 0 and (tmp_path / "student" / "notebook.ipynb").exists()
    assert done.stderr.startswith("warning") == (kept is not None)
    assert kept is None or f"Cell 8: Analysis: {kept!r} stands under a question with points" in done.stderr


def test_no_chapter_of_the_course_keeps_an_answer():
    for path in NOTEBOOKS:
        assert kept_answers(read(path)) == []


def test_a_notebook_without_an_exercise_is_refused_unless_told(good, save, tmp_path):
    """Catches a solution that was handed out whole, since nobody had marked it."""
    for cell in good["cells"]:
        cell["id"] = f"cell-{good['cells'].index(cell)}"
    arguments = ("assign", save(good), "-o", tmp_path / "student")
    done = checker(*arguments)
    assert done.returncode == 2 and "has no exercise" in done.stderr and not (tmp_path / "student").exists()
    assert checker(*arguments, "--without-exercises").returncode == 0


@pytest.mark.parametrize("grader", ["nbgrader", "otter"])
def test_what_has_solutions_in_it_never_takes_a_blank_editions_place(worked, save, tmp_path, grader):
    """Catches `--for` into the folder from which students copy."""
    path = save(worked)
    blank_one = assign(path, tmp_path / "student")
    before = blank_one.read_text(encoding="utf-8")
    done = checker("assign", "--for", grader, path, "-o", tmp_path / "student")
    assert done.returncode == 2 and "is a blank edition" in done.stderr
    assert blank_one.read_text(encoding="utf-8") == before
    done = checker("assign", "--for", grader, path, cwd=tmp_path)
    assert done.returncode == 0 and "squared = x * x" in (tmp_path / "build" / grader / "notebook.ipynb").read_text()
