"""Every cause that an analysis names has a control that was run and came out otherwise; `tests/claims/causes/`."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

from benchmarks.sweeps.settings import differences, settings_of
from checker.reading.notebook import read
from shared.recorded import Recorded
from tests.claims import causes as at
from tests.claims.origins import Section

NOTEBOOKS = sorted(at.NOTEBOOKS.glob("*.ipynb"))
LISTED = [(path, cause) for path in NOTEBOOKS for cause in at.causes_of(path.stem)]
each = pytest.mark.parametrize(("path", "cause"), LISTED, ids=[f"{path.stem}: {cause.says}" for path, cause in LISTED])
names = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def both(path: Path, cause: at.Cause) -> tuple[list[float], list[float]]:
    notebook = read(path)
    return at.numbers_of(cause.run, notebook), at.numbers_of(cause.control, notebook)


@each
def test_the_control_came_out_otherwise(path, cause):
    """A cause that a new run or a new sweep refutes."""
    run, control = both(path, cause)
    assert at.bears_out(run, control, cause), (run, control)


@each
def test_run_and_control_differ_in_the_one_thing_that_is_named(path, cause):
    """A control with two differences, of which the one that is not told may be the cause."""
    assert at.what_differs(cause) == at.named(cause) and at.not_shared(cause) == []
    recorded = not isinstance(cause.run, str) and not isinstance(cause.control, str)
    assert cause.shares if recorded else len(cause.differs.split()) >= 4, "name what is shared, or say what differs"


@each
def test_methods_are_compared_at_the_best_of_three_rates(path, cause):
    """A method that is ahead since the one rate that was tried suits it."""
    if at.compares_methods(cause):
        assert at.is_at_its_best(cause.run) and at.is_at_its_best(cause.control)


@each
def test_no_measure_is_the_reward_in_other_words(path, cause):
    """Words for each full stop, where full stops are paid: it says what the reward says, and no more."""
    for source in (cause.run, cause.control):
        assert isinstance(source, str) or not at.fixed_by_reward(at.recorded(source[0]), source[2])


@names
def test_no_cause_is_unlisted(path):
    """A sentence with a causal word that came in after the lists were made."""
    assert list(at.unlisted(path)) == []


@names
def test_every_chapter_names_its_causes_and_says_them(path):
    """An entry of a sentence that is gone, two that share a sentence's part, and a chapter that nobody looked through."""
    text = at.text_of(read(path))
    said = [entry.says for entry in (*at.causes_of(path.stem), *at.exempt_in(path.stem))]
    found = len(at.causes_of(path.stem))
    assert found >= 2, (
        f"tests/claims/causes/{path.stem}.yml has {found} causes; name two of Cell 8, each with its control"
    )
    assert [part for part in said if text.count(part) != 1] == []
    assert len(set(said)) == len(said)


@names
def test_what_is_no_cause_has_a_reason(path):
    """An exemption that is a way out and not an exception."""
    for entry in at.exempt_in(path.stem):
        assert len(entry.because.split()) >= 4, entry


CAUSE = at.Cause(says="", run="", control="", threshold=0.5, higher="run")


@pytest.mark.parametrize(
    ("run", "control", "right"),
    [
        ([0.9, 0.8], [0.1, 0.2], True),
        ([0.9, 0.4], [0.1, 0.2], False),
        ([0.9, 0.8], [0.1, 0.6], False),
        ([0.1, 0.2], [0.9, 0.8], False),
        ([0.9], [], False),
        ([], [0.1], False),
    ],
)
def test_every_seed_lies_on_its_side(run, control, right):
    """A seed that lies beyond the threshold, and a pattern that no line fits."""
    assert at.bears_out(run, control, CAUSE) == right


@pytest.mark.parametrize(
    ("printed", "found"),
    [("reward 0.5\n", 1), ("reward 0.5\nreward 0.5\n", 1), ("reward 0.5\nreward 0.9\n", 2), ("", 0)],
)
def test_a_pattern_means_one_number(printed, found, monkeypatch):
    """Catches a pattern that fits the run and its control, or a line of a cell that was added later."""
    section = Section(tuple(printed.split("\n")), ())
    monkeypatch.setattr(at, "sections_of", lambda notebook: {7: section})
    if found == 1:
        assert at.numbers_of("reward {}", None) == [0.5]
    else:
        with pytest.raises(ValueError, match=f"{found or 'no'} numbers in a line that prints 'reward {{}}'"):
            at.numbers_of("reward {}", None)


def test_the_report_finds_a_cause_that_nobody_listed(monkeypatch):
    """A search that finds nothing, or that reports what is listed."""
    text = "It is slow because of noise. So it ends early. It ends.\n\nWhy is it slow? It rose, so it is 3."
    monkeypatch.setattr(at, "text_of", lambda notebook: text)
    listed = [at.NoCause("It rose, so", "a sum that was rearranged")]
    monkeypatch.setattr(at, "exempt_in", lambda notebook: listed)
    monkeypatch.setattr(at, "causes_of", lambda notebook: [])
    found = list(at.unlisted(NOTEBOOKS[0]))
    assert found == ["It is slow because of noise.", "So it ends early."]


def bounded(value: float, bound: float = 1.0) -> float:
    return min(value, bound)


def squared(value: float) -> float:
    return value**2


@dataclass(frozen=True)
class Condition:
    """A condition of a sweep that is made up."""

    rate: float = 1.0
    weigh: Callable = bounded
    parts: dict = field(default_factory=dict)


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (Condition(), Condition(), set()),
        (Condition(), Condition(rate=2.0), {"rate"}),
        (Condition(), Condition(parts={"beta": 0.1}), {"parts.beta"}),
        (Condition(rate=2.0), Condition(weigh=partial(bounded, bound=5.0)), {"rate", "weigh.bound"}),
        (Condition(), Condition(weigh=partial(bounded, bound=1.0)), set()),
        (Condition(), Condition(weigh=squared), {"weigh"}),
        (Condition(), partial(bounded, bound=2.0), {"way"}),
    ],
)
def test_settings_tell_two_conditions_apart(one, other, found):
    """Catches a second difference that is not seen, and one function told apart from another by each of its arguments."""
    assert differences(settings_of(one), settings_of(other)) == found


def sweep_of(runs: list[dict], rates: dict[str, float], reward: str = "") -> Recorded:
    settings = {name: {"way": "Condition", "learning_rate": rate} for name, rate in rates.items()}
    return Recorded("made up", "", "", "", 1, tuple(runs), settings, reward)


def test_a_method_is_at_its_best_where_three_rates_were_tried(monkeypatch):
    """Catches two rates that pass for a search, and a rate that is not the best of them."""
    runs = [{"condition": name, "right": right} for name, right in (("a", 0.2), ("b", 0.6), ("c", 0.4))]
    made = sweep_of(runs, {"a": 1.0, "b": 2.0, "c": 3.0})
    monkeypatch.setattr(at, "recorded", lambda name: made)
    assert [at.is_at_its_best(["made up", name, "right"]) for name in "abc"] == [False, True, False]
    two = sweep_of(runs[:2], {"a": 1.0, "b": 2.0})
    monkeypatch.setattr(at, "recorded", lambda name: two)
    assert not at.is_at_its_best(["made up", "b", "right"])


def test_two_differences_are_one_at_equal_cost_alone(monkeypatch):
    """Catches a control that asks fewer prompts and has fewer completions besides."""
    settings = {"a": {"prompts": 32, "times": 1}, "b": {"prompts": 8, "times": 4}, "c": {"prompts": 8, "times": 1}}
    monkeypatch.setattr(at, "recorded", lambda name: replace(sweep_of([], {}), settings=settings))
    sources = {name: ["made up", name, "right"] for name in settings}
    trade = replace(CAUSE, run=sources["a"], control=sources["b"], differs=["prompts", "times"])
    assert at.what_differs(trade) == at.named(trade)
    with pytest.raises(ValueError, match="more than one difference"):
        at.named(replace(trade, control=sources["c"]))


def test_words_for_each_full_stop_are_the_full_stops_again():
    """Catches a measure that is computed from the reward, and one that is not and is taken for it."""
    stops = [3, 9, 5, 24, 12, 8]
    runs = [{"stops": n, "words a stop": (32 - n) / n, "known": n % 5} for n in stops]
    found = {name: at.fixed_by_reward(sweep_of(runs, {}, "stops"), name) for name in runs[0]}
    assert found == {"stops": False, "words a stop": True, "known": False}


def test_a_run_that_went_on_behind_its_measure_counts_as_one_that_ended_there(monkeypatch):
    """Catches 120 steps held against 60 where both were measured at 60, and 30 steps taken for 60."""
    made = replace(sweep_of([], {}), settings={name: {"steps": int(name)} for name in ("120", "60", "30")})
    monkeypatch.setattr(at, "recorded", lambda name: made)
    assert [at.settings_of(["", steps, "wins at 60"])["steps"] for steps in made.settings] == [60, 60, 30]
    assert at.settings_of(["", "120", "wins"])["steps"] == 120
