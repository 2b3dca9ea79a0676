"""The names of a notebook that an exercise's call puts others in the place of, and those that it says it does."""

import pytest

from shared.check import EXERCISES


class Seen(Exception):
    """Raised by the function that looks around."""


def looks_around():
    """A notebook's function, and a set that holds the names it finds besides its own once it was called."""
    notebook = {"found": set(), "Seen": Seen}
    source = "def function(*arguments, **named):\n    found.update(set(globals()) - before)\n    raise Seen"
    exec(source, notebook)
    notebook["before"] = {*notebook, "before"}
    return notebook["function"], notebook["found"]


@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_an_exercise_says_what_its_call_supplies(name):
    """Catches a model that grading loads or trains because nobody said that the case brings its own."""
    exercise = EXERCISES[name]
    function, found = looks_around()
    case = (exercise.boundary() or exercise.cases())[0]
    with pytest.raises(Seen):
        exercise.call(function, case)
    assert found == set(exercise.supplies)
