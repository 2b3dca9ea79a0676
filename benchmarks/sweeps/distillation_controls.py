"""Controls of `notebooks/distillation.ipynb`: one change of a way of `distillation` at a time.

whose samples, which KL   both divergences, on the student's own samples and on the teacher's
soft                      a teacher at temperature 1, which often has several tokens to say
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from benchmarks.sweeps.distillation import (
    FORWARD,
    REVERSE,
    by_distillation,
    by_supervision,
    setting,
    solved,
)
from benchmarks.sweeps.measuring import rounded
from shared.models import frozen_copy

SOFT = {"teacher_temperature": 1.0}


def distilled(model, seed: int, **changes) -> None:
    """The reverse KL on the student's own samples, with these changes."""
    by_distillation(model, seed, replace(REVERSE, **changes))


TAUGHT = {"sampled_by": "teacher"}
TOWARDS = {"distillation_alpha": FORWARD.distillation_alpha}
CONDITIONS: dict[str, Callable] = {
    "reverse KL, teacher's samples": partial(distilled, **TAUGHT),
    "forward KL, own samples": partial(distilled, **TOWARDS),
    "forward KL, teacher's samples": partial(distilled, **TOWARDS, **TAUGHT),
    "soft: forward KL, teacher's samples": partial(distilled, **TOWARDS, **TAUGHT, **SOFT),
    "soft: supervised, teacher's samples": partial(by_supervision, temperature=SOFT["teacher_temperature"]),
}


def run(name: str, seed: int) -> dict:
    """Train one condition with one seed; the shares of samples, and of greedy answers, that solve held-out problems."""
    model = frozen_copy(setting().base).requires_grad_(True)
    CONDITIONS[name](model, seed)
    return {"solved": rounded(solved(model)), "greedy": rounded(solved(model, temperature=0.0))}
