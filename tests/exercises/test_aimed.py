"""Functions that are aimed at what cases and stand-ins do not show, made from references and worked solutions."""

import ast
import copy
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import yaml

from shared.exercises import calling, drawing
from shared.exercises import exercise as exercise_module
from shared.exercises.catalogue import EXERCISES
from shared.exercises.catalogue.countdown import correctness_reward, episodes
from shared.exercises.catalogue.what_rl_adds import rejection_sampling
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Exercise
from tests.conftest import few_of
from tests.exercises import called
from tests.exercises.aimed import accepted
from tests.exercises.test_constants import is_excused
from tests.exercises.traits import FORM

pytestmark = pytest.mark.usefixtures("shapes_unchecked")
HARMLESS = yaml.safe_load((Path(__file__).parent / "harmless.yml").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("name", EXERCISES)
def test_what_is_aimed_at_blind_spots_is_refused(name):
    """Catches a class of values that is never drawn, a row that nobody misses, and a setting that a stand-in overlooks.

    And a reason that outlived its function.
    """
    found = accepted(EXERCISES[name], name)
    reasons = HARMLESS.get(name, {})
    assert [change for change in found if not any(fnmatchcase(change, one) for one in reasons)] == []
    assert [one for one in reasons if not any(fnmatchcase(change, one) for change in found)] == []


def test_rows_that_nobody_misses_are_found(monkeypatch):
    """The test above sees what it is about: without large cases whoever takes the first eight rows passes."""
    exercise = EXERCISES["teacher_rows"]
    assert accepted(exercise, "teacher_rows", "rows: the first eight") == []
    monkeypatch.setattr(drawing, "WIDE", 0)
    short = replace(exercise, long=0)
    assert accepted(short, "teacher_rows", "rows: the first eight") == ["rows: the first eight"]


def test_a_setting_that_a_stand_in_overlooks_is_found(monkeypatch):
    """Catches a `sample` that is handed another seed, and says the same."""
    exercise = replace(EXERCISES["rejection_sampling"], draws=1)
    assert accepted(exercise, "rejection_sampling", "seed=1,") == []
    hears = rejection_sampling.speak_by_round
    monkeypatch.setattr(
        rejection_sampling, "speak_by_round", lambda *given, **others: hears(*given, **others | {"seed": 0})
    )
    assert len(accepted(exercise, "rejection_sampling", "seed=1,")) == 1


def test_a_sign_that_nobody_misses_is_found(monkeypatch):
    """Catches a reward that pays 3 - 8 for a target of 5, which no case shows if none has such a value."""
    exercise = EXERCISES["correctness_reward"]
    assert accepted(exercise, "correctness_reward", "abs(") == []
    other = [problem for problem in correctness_reward.PROBLEMS if problem[2] != "3 - 8"]
    monkeypatch.setattr(correctness_reward, "PROBLEMS", other)
    assert "abs(value) == abs(goal)" in accepted(exercise, "correctness_reward", "abs(")[0]


def test_a_mask_by_tokens_is_found():
    """Catches a mask that goes by the token alone, if no token is both drawn and heard."""
    exercise = EXERCISES["play"]
    assert accepted(exercise, "play", "mask by ids") == []

    def apart(draw: Draw) -> dict:
        case = exercise.draw(draw)
        heard = {token: ([100 + word for word in said], over) for token, (said, over) in case["listen"].items()}
        return case | {"listen": heard}

    assert accepted(replace(exercise, draw=apart), "play", "mask by ids") == ["cut: mask by ids"]


@pytest.mark.parametrize(
    ("name", "held", "loud"),
    [
        ("sapo_weight", "tau_neg: nothing beyond 3", 1),
        ("gspo_loss", "distance: nothing beyond 8", 4),
    ],
)
def test_numbers_that_are_held_at_a_bound_are_found(monkeypatch, name, held, loud):
    """Catches what is cut "against overflow": a log ratio, a setting, a distance, if they are small in all cases."""
    assert accepted(EXERCISES[name], name, held) == []
    monkeypatch.setattr(exercise_module, "LOUD", loud)
    assert accepted(EXERCISES[name], name, held) == [held]


@pytest.mark.parametrize(
    ("name", "change", "place", "part", "spoilt"),
    [
        ("turns_loss", "advantages: no row of 0", Exercise, "_silent", lambda self, name, kind, case: case[name]),
        ("value_loss", "epsilon: no 0", Exercise, "_quiet", lambda self, name, kind, case: case[name]),
        ("full_stops", "without their prompt", Exercise, "_echoed", lambda self, name, kind, case: case[name]),
        ("vote", "each text an object", calling, "_copied", copy.deepcopy),
        ("rloo_advantages", "float32", calling, "halved", lambda exercise, result, own: ""),
    ],
)
def test_what_a_part_of_the_cases_shows_is_missed_without_it(monkeypatch, name, change, place, part, spoilt):
    """Catches rows of 0 that no case has, a setting that is never 0, an echo, texts that are one object, and float32."""
    assert accepted(EXERCISES[name], name, change) == []
    monkeypatch.setattr(place, part, spoilt)
    assert accepted(EXERCISES[name], name, change)


def test_floats_in_the_place_of_whole_numbers_are_found():
    """Catches a text of a result in which 1.0 looks like 1: a table of the notebook shows another one."""
    exercise = replace(EXERCISES["queue_ages"], draws=4)
    assert accepted(exercise, "queue_ages", "floats for") == []

    def in_short(function, case):
        return " ".join(f"{age:g}" for age in function(*case.values()))

    assert accepted(replace(exercise, call=in_short), "queue_ages", "floats for") == ["ages: floats for whole numbers"]


def test_what_is_asked_twice_is_found():
    """Catches a stand-in for a game that a second question about the same words does not change."""
    exercise = replace(EXERCISES["play"], draws=4)
    assert accepted(exercise, "play", "without") == []

    def forgiving(function, case):
        def once(draw, listen, max_new_tokens):
            heard = {}
            return function(
                draw, lambda ids: heard.setdefault(str(ids), None) or heard_now(heard, listen, ids), max_new_tokens
            )

        return exercise.call(once, case)

    def heard_now(heard, listen, ids):
        heard[str(ids)] = listen(ids)
        return heard[str(ids)]

    assert len(accepted(replace(exercise, call=forgiving), "play", "without")) == 1


def test_a_tensor_that_stays_on_the_cpu_is_found(monkeypatch):
    """Catches advantages that are not where the model is: with a model on the CPU nothing shows it."""
    exercise = replace(EXERCISES["episodes"], draws=1)
    about = "advantages = group_advantages(rewards_per_func.sum(dim=1), G)"
    assert accepted(exercise, "episodes", about) == []
    monkeypatch.setattr(episodes, "stays_behind", lambda model, give: False)
    assert about in accepted(exercise, "episodes", about)


@pytest.mark.parametrize("name", few_of(EXERCISES, ["own_weight", "slopes"]))
def test_what_a_notebook_hands_over_is_among_the_cases(name):
    """Catches a function that is judged with two axes and called with three in the next cell."""
    found = called.never_drawn(EXERCISES[name])
    assert {trait: found[trait] for trait in found if FORM in trait or not is_excused(f"{name} {trait}")} == {}
    assert called.too_short(EXERCISES[name]) == {}


def test_a_call_that_has_changed_makes_its_record_stale():
    """Catches a record that outlives what it was made of, also where another function of the notebook makes the call."""
    cells = "def f(x): return x\ndef g(): return f({})\ny = g()\nz = {}"
    codes = {cell: called.calling_code(ast.parse(cells.format(*cell)).body, "f") for cell in ((1, 1), (2, 1), (1, 2))}
    assert codes[1, 1] != codes[2, 1] and codes[1, 1] == codes[1, 2]


def test_axes_that_no_case_has_are_found():
    """The test above sees what it is about: without the case of three axes a notebook's call has none like it."""
    exercise = replace(EXERCISES["own_weight"], ranks=())
    assert called.never_drawn(exercise)["ratio: form: axes"] == (2, 3)


def test_a_batch_that_no_case_is_as_long_as_is_found():
    """The same of sizes: a sum in one byte is right for a hundred rows, and the notebook has two hundred."""
    exercise = replace(EXERCISES["clustered_error"], draws=4)
    assert called.too_short(exercise) == {}
    with_few = replace(exercise, draw=lambda draw: EXERCISES[exercise.function].draw(Draw("few")))
    assert "pairs: length" in called.too_short(with_few)
