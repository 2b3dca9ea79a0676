"""The TODO of an exercise: where it ends, what it asks, what it is worth."""

import pytest

from checker.reading.todos import LONGEST, Todo, todo_at, todos_in


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["# TODO: two (3 points)"], Todo(("# TODO: two (3 points)",), "two", 3)),
        (["  # TODO: two (1 point, 1 minute)  "], Todo(("  # TODO: two (1 point, 1 minute)  ",), "two", 1, 1)),
        (["# TODO: two (0.5 points, 10 minutes)"], Todo(("# TODO: two (0.5 points, 10 minutes)",), "two", 0.5, 10)),
        (["# TODO: two (3 points, further)"], Todo(("# TODO: two (3 points, further)",), "two", 3, 0, True)),
        (["# TODO: two (3 points) or so"], Todo(("# TODO: two (3 points) or so",), "two (3 points) or so")),
        (
            ["    # TODO: the mean", "    # of each (2 points, 5 minutes, further)", "    # (9 points)"],
            Todo(
                ("    # TODO: the mean", "    # of each (2 points, 5 minutes, further)"), "the mean of each", 2, 5, True
            ),
        ),
        (["# TODO: two ", "# of them", "x = 1", "# (3 points)"], Todo(("# TODO: two ",), "two")),
        (["# TODO: two", "# student code here", "# x (3 points)"], Todo(("# TODO: two",), "two")),
        (["# TODO: two", "# TODO: three (3 points)"], Todo(("# TODO: two",), "two")),
        (["# TODO: two", "", "# three (3 points)"], Todo(("# TODO: two",), "two")),
    ],
)
def test_a_todo_ends_in_what_it_is_worth(lines, found):
    """Catches points that are lost or belong to another comment, and "further" that nobody sees."""
    assert todo_at(lines) == found
    assert todo_at([*lines, "return 2"]) == found


@pytest.mark.parametrize("lines", [[], ["x = 1", "# TODO: two"], ["# TODO:"], ["# todo: two"], ["#TODO: two"]])
def test_no_todo_is_none(lines):
    assert todo_at(lines) is None


def test_of_an_endless_comment_the_beginning_is_read():
    """Catches a TODO whose worth stands in its last line that is read, and one that is searched to the end of a cell."""
    middle = ["# and"] * (LONGEST - 2)
    lines = ["# TODO: two", *middle, "# more (3 points)", "# and so on"]
    longer = ["# TODO: two", *middle, "# and", "# more (3 points)"]
    assert len(todo_at(lines).lines) == LONGEST
    assert todo_at(longer) == Todo(("# TODO: two",), "two")
    assert [todo.points for todo in todos_in("\n".join(["x = 1", *lines, *longer]))] == [3, 0]


def test_all_todos_of_a_cell_are_found_in_order():
    """Catches a second exercise of a cell that is not seen."""
    source = (
        "def f():\n    # TODO: one\n    # of all (1 point)\n    return 1\n# TODO: two\nx = '# TODO: no'\n# TODO: three"
    )
    assert [todo.what for todo in todos_in(source)] == ["one of all", "two", "three"]
    assert list(todos_in("x = 1")) == []
