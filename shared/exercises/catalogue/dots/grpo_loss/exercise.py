"""The clipped GRPO loss: `grpo_loss(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon)`."""

import torch

from shared.exercises.arguments import Mask, Numbers, Scalar
from shared.exercises.catalogue.dots import per_token_kl
from shared.exercises.catalogue.dots.grpo_loss import advantages, averaging, clipping, penalty, ratio
from shared.exercises.catalogue.dots.grpo_loss.steps import STEPS
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf

for idea in (ratio, clipping, advantages, penalty, averaging):
    STEPS.add(*idea.SLIPS)


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size()
    mask = draw.mask(B, C)
    old_logps = draw.numbers(B, C, least=-3.0, most=-0.05)
    moved = draw.choice([0.0, 0.1, 0.5, 1.0]) * draw.numbers(B, C, least=-1.5, most=1.5)
    away = draw.choice([0.0, 0.5, 1.0]) * draw.numbers(B, C, least=-1.5, most=1.5)
    return {
        "logps": draw.garbage(old_logps + moved, mask),
        "old_logps": draw.garbage(old_logps, mask),
        "advantages": draw.choice([draw.numbers(B), torch.zeros(B)] if draw.random() < 0.2 else [draw.numbers(B)]),
        "completion_mask": mask,
        "ref_logps": draw.garbage(old_logps + away, mask),
        "beta": draw.choice([0.0, 0.04, 0.1, 0.5, 1.5]),
        "epsilon": draw.choice([0.1, 0.15, 0.2, 0.3, 0.5, 1e6]),
    }


def boundary() -> list[Case]:
    """One token with a ratio below, inside and above the range, for each sign; then a KL term alone."""
    cases = []
    for advantage in (1.0, -1.0):
        for log_ratio in (-0.7, 0.0, 0.7):
            cases.append(_one_token(log_ratio, advantage, 0.0, beta=0.0))
    cases.append(_one_token(0.0, 0.0, 0.6, beta=0.5))
    cases.append(_one_token(0.0, 0.0, -0.6, beta=0.04))
    return cases


def _one_token(log_ratio: float, advantage: float, away: float, beta: float, epsilon: float = 0.3) -> Case:
    return {
        "logps": torch.tensor([[-1.0 + log_ratio]]),
        "old_logps": torch.tensor([[-1.0]]),
        "advantages": torch.tensor([advantage]),
        "completion_mask": torch.ones(1, 1, dtype=torch.long),
        "ref_logps": torch.tensor([[-1.0 + log_ratio + away]]),
        "beta": beta,
        "epsilon": epsilon,
    }


def valid(case: Case) -> bool:
    return bool((case["completion_mask"].sum(dim=1) > 0).all())


EXERCISE = Exercise(
    name="GRPO loss",
    function="grpo_loss",
    contract="`f(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon) -> loss`.",
    steps=STEPS,
    arguments={
        "logps": Numbers("B C"),
        "old_logps": Numbers("B C"),
        "advantages": Numbers("B"),
        "completion_mask": Mask("B C"),
        "ref_logps": Numbers("B C"),
        "beta": Scalar(usual=0.04),
        "epsilon": Scalar(usual=0.2, simple=(0.5,)),
    },
    result=TensorOf(""),
    draw=draw,
    boundary=boundary,
    gradient="logps",
    valid=valid,
    needs=(per_token_kl.EXERCISE,),
)
