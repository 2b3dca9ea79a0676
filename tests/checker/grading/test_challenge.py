"""A challenge: what is taken from a hand-in, what a run came to, who stands before whom, and a run in a box."""

import json
import math
from typing import get_args, get_type_hints

import pytest
from typer.testing import CliRunner

from checker.commands import app
from checker.grading import challenge as challenge_module
from checker.grading.box.isolation import Outcome
from checker.grading.box.limits import Limits
from checker.grading.challenge import Challenge, Entry, Run, run_from, run_once, table
from checker.reading.notebook import Unreadable
from shared.run.algorithms import ALGORITHMS
from shared.run.challenge import completions_of_a_step, plan_of

CHALLENGE = Challenge("dots", goal=0.8, budget=1024, every=256, seeds=(7, 8, 9))
HANDED_IN = {
    "task": "poker",
    "algorithm": "grpo",
    "model": {"name": "/tmp/trained-on-held-out-rows", "revision": None},
    "engine": "trl",
    "trained": "lora",
    "load_in_4bit": True,
    "constrained": True,
    "train_rows": 1,
    "eval_rows": 1,
    "settings": {"seed": 0, "steps": 9999, "eval_every": 1, "max_new_tokens": 1, "learning_rate": 2e-4, "beta": 0.0},
}


def outcome(*measured, ended="", stopped=""):
    """A box that told of measurements (completions, lower end of the interval)."""
    records = [{"drawn": drawn, "reward": low, "low": low} for drawn, low in measured]
    return Outcome((*records, {"ended": ended}), stopped, 1.0)


def entry(name, *gaps):
    return Entry(name, tuple(Run(low, high, 1.0) for low, high in gaps))


def test_task_model_rows_seed_and_measurements_are_never_those_of_the_hand_in(tmp_path):
    """Catches a model trained beforehand, a seed that was searched for, and a measurement after each completion."""
    file = tmp_path / "ann.json"
    file.write_text(json.dumps(HANDED_IN))
    plan = plan_of(file, "dots", budget=1000, every=256, seed=7)
    assert (plan.recipe.name, plan.model, plan.engine, plan.load_in_4bit) == ("dots", None, "course", False)
    assert (plan.recipe.train_rows, plan.recipe.eval_rows, plan.recipe.constrained) == (512, 200, False)
    assert plan.lora and completions_of_a_step(plan) == 128
    theirs = {"learning_rate": 2e-4, "beta": 0.0}
    assert plan.settings == theirs | {"seed": 7, "log_every": 0, "eval_every": 2, "steps": 7}


def test_no_setting_is_a_path_or_a_name_of_code():
    """Catches a new setting that is a free text: a hand-in could then name a file or a function of its own."""
    for kind in ALGORITHMS.values():
        for hint in get_type_hints(kind.config).values():
            assert str not in (hint, *get_args(hint)), kind.config


def test_a_run_is_known_up_to_the_gap_and_counts_as_the_budget_where_it_does_not_reach_the_goal():
    """Catches a hand-in that crashes, or is stopped, at once: after 0 completions it would tie with the best."""
    reached = run_from(outcome((0, 0.1), (256, 0.7), (512, 0.8), (768, 0.9)), CHALLENGE)
    assert (reached.low, reached.high) == (256, 512)
    for failed in (
        outcome((0, 0.1), (1024, 0.79)),
        outcome(ended="ValueError: no run"),
        outcome(stopped="it took more than 240 s of CPU"),
        Outcome((), "", 1.0),
    ):
        run = run_from(failed, CHALLENGE)
        assert (run.low, run.high) == (1024, math.inf) and run.remark
    with pytest.raises(Unreadable, match="Untrained"):
        run_from(outcome((0, 0.9)), CHALLENGE)


def test_ties_are_runs_that_overlap_and_a_lucky_seed_gives_no_rank():
    """Catches a rank for a median that chance made smaller, and a gambler who ties with settings that never miss."""
    first = entry("first", (0, 256), (256, 512))
    near = entry("near", (256, 512), (512, 768))
    last = entry("last", (512, 768), (512, 768))
    gambler = entry("gambler", (0, 64), (1024, math.inf))
    ranked = table([gambler, last, near, first])
    assert list(ranked["settings"]) == ["first", "near", "last", "gambler"]
    assert list(ranked["rank"]) == ["1", "1", "2", "-"]
    assert list(ranked["tied with"]) == ["near", "last, first", "near", ""]
    assert list(ranked["reached"]) == ["2 of 2"] * 3 + ["1 of 2"]
    assert Challenge("dots", 0.8, 1, 1, (1, 2, 3, 4, 5)).apart_by_chance == 2 / 252


def test_the_table_has_every_hand_in_and_the_tasks_own_settings_and_tells_the_seed(monkeypatch, tmp_path):
    """Catches seeds that differ between hand-ins, a linked file, a name that is markup, and a table nobody can repeat."""
    (tmp_path / "ann.json").write_text("{}")
    (tmp_path / "[red]bob.json").write_text("{}")
    (tmp_path / "eve.json").symlink_to("/etc/passwd")
    asked = []

    def run(settings, seed, challenge, isolation, limits):
        asked.append((settings, seed))
        return Run(0, 256, 1.0)

    monkeypatch.setattr(challenge_module, "run_once", run)
    monkeypatch.chdir(tmp_path)
    given = [".", "--task", "dots", "--reward", "0.8", "--budget", "1024", "--seeds", "2", "--seed", "7"]
    ran = CliRunner().invoke(app, ["challenge", *given, "--isolation", "none"])
    assert ran.exit_code == 0, ran.output
    assert sorted(asked, key=str) == sorted([(s, seed) for s in (None, "{}", "{}") for seed in (7, 8)], key=str)
    lines = (tmp_path / "challenge.csv").read_text().splitlines()
    assert len(lines) == 4 and "passwd" not in ran.output and "--seed 7" in ran.output


TASK = """
import sys
from dataclasses import replace
from shared.recipes import RECIPES
from shared.tasks.dots import *
from shared.tasks import dots

def dataset(split, n, seed=0):
    return dots.dataset(split, n, seed, lengths=range(11, 13))

RECIPE = replace(RECIPES["dots"], task=sys.modules[__name__], train_rows=64, eval_rows=16)
"""


@pytest.mark.slow
def test_a_box_trains_on_a_task_that_no_student_sees(isolation, tmp_path):
    """Catches a box that lacks what training imports, a run that its seed does not repeat, and one that crashes the class."""
    task = tmp_path / "longer.py"
    task.write_text(TASK)
    small = Challenge(str(task), goal=0.9, budget=32, every=16, seeds=(7,))
    handed = HANDED_IN | {"settings": {"prompts_per_step": 4, "num_generations": 4, "learning_rate": 2e-4}}
    runs = [run_once(json.dumps(handed), 7, small, isolation, Limits()) for _ in range(2)]
    assert runs[0].high == math.inf and "best measurement" in runs[0].remark
    assert runs[0].remark == runs[1].remark
    refused = run_once('{"algorithm": "grpo"}', 7, small, isolation, Limits())
    assert "holds no run" in refused.remark and refused.low == small.budget
