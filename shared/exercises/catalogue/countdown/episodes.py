"""Scored episodes: `episodes(model, rows, seed) -> (rollout, rewards (B, 2), advantages (B,))`.

What is looked at is a table (B, 3): the two rewards of each completion and its advantage. The model says what it was told
to, and two plain rewards stand in for the student's own, which have checks of their own.
"""

import torch

from shared.exercises.arguments import Kind, Scalar, Things
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.catalogue.dots import group_advantages as advantages_exercise
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise, is_reference
from shared.exercises.results import NotAResult, TensorOf, named
from shared.exercises.stand_ins.speaking import (
    SETTINGS,
    Speaker,
    drawn_speaker,
    names,
    speak,
    standing_in,
    stays_behind,
)
from shared.exercises.steps import Steps

STEPS = Steps()
SEED_AND_STEP = (3, 2)
NORMALISED = advantages_exercise.EXERCISE.reference()


def speak_at_a_step(*arguments, seed=None, step=0, **settings):
    """In the place of `shared.rollout.sample`: speaks where it gets the seed and the step that the function was given."""
    if (seed, step) != SEED_AND_STEP:
        raise NotAResult(
            "its `sample` gets another seed or step than the function: each step draws numbers of its own."
        )
    return speak(*arguments, **settings)


def written(prompts, completions, **columns) -> list[float]:
    """Stands in for the format reward: 0.5 for anything written. Raises NotAResult for N prompts beside B completions."""
    if len(prompts) != len(completions):
        raise NotAResult(
            f"`score` gets {len(prompts)} prompts beside {len(completions)} completions. It wants one for each: "
            "`rollout.repeated(rollout.prompts)`."
        )
    return [0.5 * bool(text) for text in completions]


def on_target(prompts, completions, target, **columns) -> list[float]:
    """Stands in for the correctness reward: 1.0 for the row's target."""
    return [float(text == str(goal)) for text, goal in zip(completions, target)]


@STEPS.step
def completions(model, rows, G):
    return [text for row in rows for text in model.says(row["prompt"], 1.0, G)]


@STEPS.step
def targets(rows, G):
    return [row["target"] for row in rows for _ in range(G)]


@STEPS.step
def formats(completions):
    return torch.tensor(written(completions, completions))


@STEPS.step
def solved(completions, targets):
    return torch.tensor(on_target(completions, completions, targets))


@STEPS.step
def rewards(formats, solved):
    return torch.stack([formats, solved], dim=1)


@STEPS.step
def total(formats, solved):
    return formats + solved


@STEPS.step
def advantages(total, G):
    return NORMALISED(total, G)


@STEPS.step
def episodes(rewards, advantages):
    return None, rewards, advantages


@STEPS.slip(
    "targets",
    "Completions and columns do not belong together: the completions of a problem lie next to each other, p0 p0 p1 p1, "
    "and yours repeat all rows, p0 p1 p0 p1. `columns` is in the right order.",
)
def columns_tiled(rows, G):
    return [row["target"] for row in rows] * G


@STEPS.slip("total", "Only the format goes into the advantages. Add the two rewards up.")
def format_only(formats):
    return formats


@STEPS.slip("total", "Only correctness goes into the advantages. Add the two rewards up.")
def correctness_only(solved):
    return solved


@STEPS.slip("total", "You multiply the two rewards: what is not solved earns nothing. Add them up.")
def multiplied(formats, solved):
    return formats * solved


@STEPS.slip("rewards", "The two rewards are exchanged: (B, 2) of format and correctness.")
def rewards_exchanged(formats, solved):
    return torch.stack([solved, formats], dim=1)


@STEPS.slip("rewards", "You return the sum twice. Keep the two rewards apart, (B, 2): the log shows them one by one.")
def summed(total):
    return torch.stack([total, total], dim=1)


@STEPS.slip("advantages", "The rewards stand in the place of the advantages: take `group_advantages` of their sum.")
def rewards_as_advantages(total):
    return total


@STEPS.slip("advantages", "The whole batch is one group. A group is the G completions of one problem.")
def one_group(total):
    return NORMALISED(total, len(total))


STEPS.add(*LOSS_SLIPS.named("sign_flipped"))


@STEPS.slip(
    "advantages",
    "Each reward is normalised by itself and the two are added up. Add the rewards up first: one is enough.",
)
def each_normalised(formats, solved, G):
    return NORMALISED(formats, G) + NORMALISED(solved, G)


def call(function, case: Case):
    """(B, 3), with the rewards and the model of the case in the place of the notebook's."""
    model, rows, G = case.values()
    arguments = (rows, G) if is_reference(function) else (rows, *SEED_AND_STEP)

    def written_to(prompts, completions, **columns) -> list[float]:
        found = written(prompts, completions)
        if list(prompts) != [row["prompt"] for row in rows for _ in range(G)]:
            raise NotAResult(
                "`score` gets completions beside another row's prompt. Those of a prompt lie next to each other, p0 p0 p1 "
                "p1: `rollout.repeated(rollout.prompts)`."
            )
        return found

    with standing_in(function, sample=speak_at_a_step, REWARDS=[written_to, on_target], G=G):
        result = function(model, *arguments)
        if not is_reference(function) and stays_behind(model, lambda other: function(other, *arguments)[2]):
            raise NotAResult(
                "its advantages are not where the model is: the loss of the next cell fails on a GPU. Take them there, "
                "`.to(model.device)`."
            )
    if not isinstance(result, tuple) or len(result) != 3:
        raise NotAResult(f"it returns {named(result)}; return the rollout, the rewards (B, 2) and the advantages (B,).")
    _, rewards, advantages = result
    for value, shape in ((rewards, (len(rows) * G, 2)), (advantages, (len(rows) * G,))):
        if not isinstance(value, torch.Tensor) or value.shape != shape:
            raise NotAResult(f"it returns {named(value)} where a tensor of shape {shape} is expected.")
    return torch.cat([rewards, advantages[:, None]], dim=1)


TEXTS = ("22", "10", "3", "so", "")


@STEPS.slip(
    "rewards",
    "The first column of the rewards that you return is the sum of both. A column is a view of its table, which `+=` "
    "changes: make a new tensor, such as `rewards.sum(dim=1)`.",
)
def added_in_place(formats, solved):
    return torch.stack([formats + solved, solved], dim=1)


@STEPS.slip(
    "rewards",
    "The second column of the rewards that you return is the sum of both. A column is a view of its table, which `+=` "
    "changes: make a new tensor, such as `rewards.sum(dim=1)`.",
)
def added_in_place_to_the_second(formats, solved):
    return torch.stack([formats, formats + solved], dim=1)


def draw(draw: Draw) -> Case:
    rows = [{"prompt": f"{name}:", "target": draw.choice([22, 10, 3])} for name in names(draw.size(3))]
    model = drawn_speaker(draw, [row["prompt"] for row in rows], list(TEXTS))
    rows += rows[:1] * draw.randrange(2)
    return {"model": model, "rows": rows, "G": draw.choice([2, 3, 4])}


def boundary() -> list[Case]:
    rows = [{"prompt": "a:", "target": 22}, {"prompt": "b:", "target": 10}]
    model = Speaker({}, {"a:": ["22", "", "so"], "b:": ["22", "10", ""]})
    return [{"model": model, "rows": rows[:1], "G": 2}, {"model": model, "rows": rows, "G": 3}]


EXERCISE = Exercise(
    name="scored episodes",
    function="episodes",
    contract="`f(model, rows, seed) -> (rollout, rewards (B, 2), advantages (B,))`.",
    steps=STEPS,
    arguments={"model": Kind(), "rows": Things("N"), "G": Scalar(usual=8, simple=(2,))},
    result=TensorOf("B R"),
    draw=draw,
    boundary=boundary,
    call=call,
    needs=(advantages_exercise.EXERCISE,),
    draws=60,
    supplies=(*SETTINGS, "REWARDS", "G"),
    shows=("shared.exercises.stand_ins.speaking",),
)
