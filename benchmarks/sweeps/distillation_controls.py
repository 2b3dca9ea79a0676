"""Controls of `notebooks/distillation.ipynb`, on all 200 held-out problems, and GRPO after a distillation.

    four ways                 both divergences, on the student's own samples and on the teacher's
    soft                      a teacher at temperature 1, which often has several tokens to say
    then GRPO                 5,120 samples with the reward, after 1,024 of a distillation
    then more of the same     5,120 more samples of that distillation: as many without the reward

All else is the setting of `distillation`.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from benchmarks.sweeps.distillation import (
    BY_GRPO,
    FORWARD,
    REVERSE,
    TEACHER_TEMPERATURE,
    below_header,
    by_distillation,
    by_grpo,
    by_supervision,
    setting,
    solved,
    untrained,
)
from benchmarks.sweeps.measuring import rounded
from shared.models import frozen_copy

SECOND_GRPO = replace(BY_GRPO, steps=40)
SECOND_REVERSE = replace(REVERSE, steps=160)
SOFT = {"teacher_temperature": 1.0}


def distilled(model, seed: int, **changes) -> None:
    """1,024 samples, by the reverse KL on the student's own unless that is changed."""
    by_distillation(model, seed, replace(REVERSE, **changes))


def then_grpo(model, seed: int) -> None:
    distilled(model, seed)
    by_grpo(model, seed, SECOND_GRPO)


def then_more_of_the_same(model, seed: int) -> None:
    """Other draws than those of the first training, whose seeds are 0, 1, 2."""
    distilled(model, seed)
    by_distillation(model, seed + 100, SECOND_REVERSE)


TAUGHT = {"sampled_by": "teacher"}
TOWARDS = {"distillation_alpha": FORWARD.distillation_alpha}
CONDITIONS: dict[str, Callable] = {
    "base model": untrained,
    "reverse KL, own samples": distilled,
    "reverse KL, teacher's samples": partial(distilled, **TAUGHT),
    "forward KL, own samples": partial(distilled, **TOWARDS),
    "forward KL, teacher's samples": partial(distilled, **TOWARDS, **TAUGHT),
    "supervised, teacher's samples": by_supervision,
    "soft: forward KL, teacher's samples": partial(distilled, **TOWARDS, **TAUGHT, **SOFT),
    "soft: supervised, teacher's samples": partial(by_supervision, temperature=SOFT["teacher_temperature"]),
    "then GRPO": then_grpo,
    "then more of the same": then_more_of_the_same,
}


def run(name: str, seed: int) -> dict:
    """Train one condition with one seed; the shares of samples, and of greedy answers, that solve held-out problems."""
    model = frozen_copy(setting().base).requires_grad_(True)
    CONDITIONS[name](model, seed)
    found = {"solved": solved(model), "greedy": solved(model, temperature=0.0)}
    if name == "base model":
        told = below_header()
        found["teacher"] = solved(model, told, TEACHER_TEMPERATURE)
        found["soft teacher"] = solved(model, told, SOFT["teacher_temperature"])
        found["teacher, greedy"] = solved(model, told, 0.0)
    return {measure: rounded(value) for measure, value in found.items()}
