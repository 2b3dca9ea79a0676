"""The rules on what was run: the cells that they name, and what they say of an error."""

import pytest

from tests.checker.conftest import code


def unrun(good, *numbers):
    for number in numbers:
        good["cells"][number]["execution_count"] = None
        good["cells"][number]["outputs"] = []


def unnumbered(good, *numbers):
    for number in numbers:
        good["cells"][number]["execution_count"] = None


RULES = [
    (unrun, "X001", "the cell was not run", ", nor were "),
    (unnumbered, "X005", "the cell has outputs", ", and so have "),
]


@pytest.mark.parametrize(("spoil", "wanted", "begins", "likewise"), RULES)
def test_one_finding_names_all_cells_of_which_it_is_true(good, told, spoil, wanted, begins, likewise):
    """Catches a finding for each of seven cells, and a cell that is named twice or not at all."""
    spoil(good, 4)
    (finding,) = told(wanted)
    assert finding.cell == 4 and finding.found.startswith(begins) and likewise not in finding.found
    assert "run all cells" in finding.advice
    spoil(good, 2, 5, 6)
    (finding,) = told(wanted)
    others = finding.found.split(likewise)[1]
    assert finding.cell == 2
    assert others == "Cell 4: Reward function; Cell 5: One GRPO step; Cell 6: Training loop"


@pytest.mark.parametrize(("spoil", "wanted", "begins", "likewise"), RULES)
def test_many_cells_are_counted(good, told, spoil, wanted, begins, likewise):
    """Catches a sentence that names every cell of a notebook."""
    spoil(good, 2, 3, 4, 5, 6)
    (finding,) = told(wanted)
    assert finding.found.endswith(f"{likewise}4 others")


def test_comments_alone_need_not_be_run(good, told):
    """Catches a cell that holds nothing to run told as one that was not."""
    good["cells"].insert(3, code("\n# only words\n   \n  # and more", count=None))
    assert told("X001") == []
    good["cells"][3]["source"] += "\nx = 1"
    assert [finding.cell for finding in told("X001")] == [3]


def test_a_cell_without_a_number_is_told_by_one_rule(good, told):
    """Catches a cell that shows its outputs and is said not to have been run."""
    unnumbered(good, 4)
    unrun(good, 6)
    assert [finding.cell for finding in told("X001")] == [6] and [finding.cell for finding in told("X005")] == [4]


def test_a_number_that_comes_twice_is_said_to(good, told):
    """Catches two cells In [3]; and a cell that was not run behind which no other is looked at."""
    unrun(good, 3)
    good["cells"][5]["execution_count"] = good["cells"][4]["execution_count"] = 3
    (finding,) = told("X002")
    assert finding.cell == 5 and finding.found == "two cells have In [3]: one was copied, or two sessions were mixed"
    assert "Restart the kernel" in finding.advice


def test_each_number_is_compared_with_the_highest_above(good, told):
    """Catches a cell compared with the one above it only."""
    good["cells"][3]["execution_count"] = 9
    assert [finding.found.split(":")[0] for finding in told("X002")] == [
        f"In [{n}] stands below In [9]" for n in (3, 4, 5, 6)
    ]


def error(*traceback, name="", value=""):
    return {"output_type": "error", "ename": name, "evalue": value, "traceback": list(traceback)}


def test_an_error_is_told_by_its_last_words(good, told):
    """Catches a traceback's first line, its colours or an empty line told as the error."""
    lines = ("Traceback (most recent call last)", "\x1b[31mNameError\x1b[0m: name 'x'", "  \n")
    good["cells"][4]["outputs"].append(error(*lines))
    (finding,) = told("X003")
    assert finding.cell == 4 and finding.found == "the cell ended in an error: NameError: name 'x'"
    assert finding.advice.startswith("Mend it. Restart")


def test_an_error_is_told_by_its_type_and_message_where_they_were_saved(good, told):
    """Catches the last line of a traceback, an arrow or a note of the library, told as what went wrong."""
    good["cells"][4]["outputs"].append(error("KeyError", "    ~~~~^^^^", name="KeyError", value="'prompt'"))
    (finding,) = told("X003")
    assert finding.found == "the cell ended in an error: KeyError: 'prompt'"


def test_an_error_that_says_nothing_is_one(good, told):
    good["cells"][4]["outputs"].append(error("   ", "\n"))
    (finding,) = told("X003")
    assert finding.found == "the cell ended in an error: unknown"


def test_a_long_error_is_cut_between_two_words(good, told):
    """Catches a page of text in a finding, and one that is cut without a sign of it."""
    good["cells"][4]["outputs"].append(error(f"ValueError: {'word ' * 100}"))
    (finding,) = told("X003")
    words = finding.found.removeprefix("the cell ended in an error: ")
    assert 190 < len(words) <= 200 and words.endswith("word ...")


def test_each_error_is_told(good, told):
    for number in (3, 5):
        good["cells"][number]["outputs"].append(error("NameError: x"))
    assert [finding.cell for finding in told("X003")] == [3, 5]


def test_an_output_below_comments_belongs_to_no_code(good, told):
    """Catches an emptied cell that keeps a comment; and one that was emptied with its output told as well."""
    good["cells"][3:3] = [code("# was here", "left", None), code("", "", None)]
    (finding,) = told("X004")
    assert finding.cell == 3 and "no code" in finding.found and "Restart" in finding.advice
