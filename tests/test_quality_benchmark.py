"""The benchmark of time to quality: what its seconds hold, when a run ends, and what its table compares."""

from dataclasses import replace

import pytest

from benchmarks import quality, quality_report
from benchmarks.contestants import Reading
from benchmarks.quality import CONTESTANTS, GOALS, Reached, Watch
from shared.models import COURSE_MODEL
from shared.recipes import RECIPES
from tests.conftest import few_of

DOTS = GOALS[COURSE_MODEL]["dots"]


def test_the_seconds_of_evaluation_are_not_counted(monkeypatch):
    """Catches a clock that goes on while the held-out reward is taken: the contestant with more steps would pay."""
    now = [100.0]
    monkeypatch.setattr(quality, "clock", lambda: Reading(now[0], now[0] / 2))

    def held_out(model):
        now[0] += 50.0
        return model

    watch = Watch(held_out, goal=0.9)
    watch(0.1)
    now[0] += 2.0
    watch(0.5)
    now[0] += 3.0
    with pytest.raises(Reached):
        watch(0.95)
    assert watch.curve == [(0.0, 0.0, 0.1), (2.0, 1.0, 0.5), (5.0, 2.5, 0.95)]


@pytest.mark.parametrize("contestant", few_of(["ours", "plain loop, one call", "plain loop, G calls"], ["ours"]))
def test_a_run_with_tiny_numbers(contestant, monkeypatch):
    """Catches a contestant that is not told the task's reward or stops elsewhere than after its last step."""
    small = RECIPES["dots"].settings | {"prompts_per_step": 2, "num_generations": 2}
    monkeypatch.setitem(RECIPES, "dots", replace(RECIPES["dots"], settings=small, train_rows=4, eval_rows=3))
    result = quality.run(
        CONTESTANTS[COURSE_MODEL][contestant], COURSE_MODEL, replace(DOTS, reward=1.1, steps=2), seed=0
    )
    assert not result["reached"] and len(result["curve"]) == 3
    seconds = [cpu for _, cpu, _ in result["curve"]]
    assert seconds[0] == 0 < seconds[1] < seconds[2]


def test_a_run_ends_as_soon_as_it_is_good_enough(monkeypatch):
    monkeypatch.setitem(RECIPES, "dots", replace(RECIPES["dots"], train_rows=16, eval_rows=3))
    result = quality.run(CONTESTANTS[COURSE_MODEL]["ours"], COURSE_MODEL, replace(DOTS, reward=0.0), seed=0)
    assert result["reached"] and len(result["curve"]) == 1


def record(contestant, seed, seconds, reached=True, threads=1):
    curve = [(0.0, 0.0, 0.1), (2 * seconds, seconds, 0.96)]
    return {
        "task": "dots",
        "goal": 0.95,
        "threads": threads,
        "seed": seed,
        "contestant": contestant,
        "reached": reached,
        "curve": curve,
    }


def test_seeds_are_compared_with_themselves_and_the_mean_is_geometric():
    """Catches the ratio of means, in which the slowest seed decides, and a run that never got there counted as fast."""
    records = [record("ours", 0, 1.0), record("ours", 1, 2.0), record("ours", 2, 1.0)]
    records += [record("TRL tuned", 0, 2.0), record("TRL tuned", 1, 16.0), record("TRL tuned", 2, 0.5, reached=False)]
    lines = quality_report.table(records).splitlines()
    assert lines[2].endswith("| ours | 3 of 3 | 1 to 1 | 1.26 (1.00 to 2.00) | 2.52 (2.00 to 4.00) | 1 |")
    assert lines[3].endswith("| 2 of 3 | 1 to 1 | 5.66 (2.00 to 16.00) | 11.31 (4.00 to 32.00) | 4.0 (2.0 to 8.0) |")


def test_two_threads_are_compared_on_the_wall():
    records = [record("ours", 0, 1.0, threads=2), record("plain", 0, 3.0, threads=2)]
    records[1]["curve"][-1] = (10.0, 3.0, 0.96)
    assert quality_report.table(records).splitlines()[-1].endswith("| 5.0 (5.0 to 5.0) |")


def test_a_run_that_was_made_again_replaces_the_old_one(tmp_path):
    records = quality_report.newest([record("ours", 0, 9.0), record("ours", 1, 2.0), record("ours", 0, 1.0)])
    assert quality_report.seconds_to_goal(records, "ours", quality_report.CPU) == {0: 1.0, 1: 2.0}
    quality_report.picture(records, tmp_path / "quality.png")
    assert (tmp_path / "quality.png").stat().st_size > 1000
