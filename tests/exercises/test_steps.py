"""A reference in steps: each is worked out once, and a slip changes the step that it names."""

import pytest

from shared.exercises.steps import Slip, Slips, Steps


@pytest.fixture
def steps() -> Steps:
    """(x + 1) twice: 2 x + 2; with four slips, of which two stand in the place of one step."""
    made = Steps()

    @made.step
    def one_more(x):
        return x + 1

    @made.step
    def doubled(one_more):
        return 2 * one_more

    @made.slip("one_more", "You take away.")
    def one_less(x):
        return x - 1

    @made.slip("one_more", "You add two.")
    def two_more(x):
        return x + 2

    @made.slip("doubled", "The sign is flipped.")
    def negative(doubled):
        return -doubled

    @made.slip("x", "You ignore x.")
    def ignored(x):
        return 0 * x

    return made


def named(steps: Steps, *names: str) -> list[Slip]:
    return [slip for slip in steps.slips if slip.name in names]


@pytest.mark.parametrize(
    ("slips", "result"),
    [((), 8), (("one_less",), 4), (("negative",), -8), (("ignored",), 2), (("one_less", "negative", "ignored"), 2)],
)
def test_a_slip_changes_what_it_names(steps, slips, result):
    """Catches a slip in the place of its step that is taken for a change of its result, and an argument that stays."""
    assert steps.result({"x": 3}, named(steps, *slips)) == result


def test_two_slips_that_stand_in_one_place_are_never_made_together(steps):
    names = [tuple(slip.name for slip in slips) for slips in steps.combinations()]
    alone = [("one_less",), ("two_more",), ("negative",), ("ignored",)]
    assert names[:4] == alone and ("one_less", "two_more") not in names and len(names) == 4 + 5
    assert [slips[0].name for slips in steps.combinations(1)] == [name for (name,) in alone]
    assert len(list(steps.combinations(3))) == 4 + 5 + 2


def test_each_step_is_worked_out_once():
    """Catches a step that draws chance twice, or takes twice as long."""
    made, asked = Steps(), []

    @made.step
    def drawn(x):
        asked.append(x)
        return x

    @made.step
    def both(drawn, x):
        return drawn + x + drawn

    @made.step
    def sum_of(both, drawn):
        return both + drawn

    assert made.result({"x": 1}) == 4 and asked == [1]


def test_slips_of_a_file_of_their_own_are_added_as_they_are(steps):
    """Catches a decorator that gives nothing back, and an explanation that is lost."""
    more = Slips()

    @more.slip("doubled", "Three times.")
    def tripled(one_more):
        return 3 * one_more

    assert tripled(2) == 6
    steps.add(*more)
    assert (steps.slips[-1].explanation, steps.slips[-1].changes, steps.slips[-1].stands_in) == (
        "Three times.",
        "doubled",
        True,
    )
    assert steps.result({"x": 3}, more) == 12 and not named(steps, "negative")[0].stands_in


def test_what_a_step_raises_is_raised(steps):
    with pytest.raises(KeyError, match="x"):
        steps.result({})


def test_two_steps_are_not_exchanged_for_each_other():
    """Catches a pair of slips that never ends: each step waits for the other."""
    exchanged = Steps()

    @exchanged.step
    def one(x):
        return x

    @exchanged.step
    def other(x):
        return x + 1

    @exchanged.step
    def both(one, other):
        return one, other

    @exchanged.slip("one", "The other twice.")
    def other_twice(other):
        return other

    @exchanged.slip("other", "One, added.")
    def one_added(one, other):
        return one + other

    assert [[slip.name for slip in slips] for slips in exchanged.combinations()] == [["other_twice"], ["one_added"]]
    assert exchanged.result({"x": 1}, exchanged.slips[:1]) == (2, 2)


def test_the_words_of_a_slip_are_kept(steps):
    assert [slip.explanation for slip in steps.slips][:2] == ["You take away.", "You add two."]


def test_steps_that_would_wait_for_each_other_are_never_made_together():
    """Catches a reference that never ends, because a slip reads a step that reads what the slip changes."""
    made = Steps()

    @made.step
    def first(x):
        return x

    @made.step
    def second(first):
        return first

    @made.slip("second", "a")
    def negative(second):
        return -second

    @made.slip("first", "b")
    def waits(first, second):
        return first + second

    @made.slip("first", "c")
    def stands_in(second):
        return second

    assert [[slip.name for slip in slips] for slips in made.combinations()] == [["negative"]]
