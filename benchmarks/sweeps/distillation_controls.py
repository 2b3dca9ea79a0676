"""Controls of `notebooks/distillation.ipynb`, on all 200 held-out problems, and GRPO after a distillation.

    four ways                 both divergences, on the student's own samples and on the teacher's
    soft                      a teacher at temperature 1, which often has several tokens to say
    then GRPO                 5,120 samples with the reward, after 1,024 of a distillation
    then more of the same     5,120 more samples of that distillation: as many without the reward

All else is the setting of `distillation`, whose first 100 problems these are as well.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

from benchmarks.sweeps.distillation import (
    BY_GRPO,
    FORWARD,
    REVERSE,
    TEACHER_TEMPERATURE,
    Curve,
    Curves,
    by_distillation,
    by_grpo,
    by_supervision,
    setting,
    solved,
    untrained,
    with_teacher_prompts,
)
from benchmarks.sweeps.measuring import rounded
from shared.distill import TEACHER_PROMPT
from shared.models import frozen_copy
from shared.tasks import countdown

HELD_OUT = 200
DRAWS_AT = {2560: 4, 5120: 4}  # draws of a problem, after so many samples of the second training
SECOND_GRPO = replace(BY_GRPO, steps=40)
SECOND_REVERSE = replace(REVERSE, steps=160)
SOFT = {"teacher_temperature": 1.0}


@cache
def held_out() -> list[dict]:
    """The problems, with what the teacher reads."""
    return with_teacher_prompts(countdown.dataset("eval", HELD_OUT, seed=0))


def distilled(model, seed: int, **changes) -> Curve:
    """1,024 samples, by the reverse KL on the student's own unless that is changed; nothing is measured on the way."""
    config = replace(REVERSE, **changes)
    return by_distillation(model, seed, config, Curves(model, config.prompts_per_step, {}))


def then_grpo(model, seed: int) -> Curve:
    distilled(model, seed)
    per_step = SECOND_GRPO.prompts_per_step * SECOND_GRPO.num_generations
    return by_grpo(model, seed, SECOND_GRPO, Curves(model, per_step, DRAWS_AT, held_out()))


def then_more_of_the_same(model, seed: int) -> Curve:
    """Other draws than those of the first training, whose seeds are 0, 1, 2."""
    distilled(model, seed)
    curve = Curves(model, SECOND_REVERSE.prompts_per_step, DRAWS_AT, held_out())
    return by_distillation(model, seed + 100, SECOND_REVERSE, curve)


TAUGHT = {"sampled_by": "teacher"}
TOWARDS = {"distillation_alpha": FORWARD.distillation_alpha}
CONDITIONS: dict[str, Callable] = {
    "base model": untrained,
    "reverse KL, own samples": distilled,
    "reverse KL, teacher's samples": partial(distilled, **TAUGHT),
    "forward KL, own samples": partial(distilled, **TOWARDS),
    "forward KL, teacher's samples": partial(distilled, **TOWARDS, **TAUGHT),
    "supervised, teacher's samples": by_supervision,
    "soft: reverse KL, own samples": partial(distilled, **SOFT),
    "soft: forward KL, teacher's samples": partial(distilled, **TOWARDS, **TAUGHT, **SOFT),
    "soft: supervised, teacher's samples": partial(by_supervision, temperature=SOFT["teacher_temperature"]),
    "then GRPO": then_grpo,
    "then more of the same": then_more_of_the_same,
}


def run(name: str, seed: int) -> dict:
    """Train one condition with one seed; the shares of samples, and of greedy answers, that solve held-out problems."""
    model = frozen_copy(setting().base).requires_grad_(True)
    curve = CONDITIONS[name](model, seed)
    found = {"solved": solved(model, held_out()), "greedy": solved(model, held_out(), temperature=0.0)}
    if name == "base model":
        told = [row | {"prompt": row[TEACHER_PROMPT]} for row in held_out()]
        found["teacher"] = solved(model, told, TEACHER_TEMPERATURE)
        found["soft teacher"] = solved(model, told, SOFT["teacher_temperature"])
        found["teacher, greedy"] = solved(model, told, 0.0)
    found = {measure: rounded(value) for measure, value in found.items()}
    return found | ({"curve": curve} if name.startswith("then") else {})
