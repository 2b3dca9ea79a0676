"""Two ratios in the place of one: `decoupled_objective(logps, start_logps, sampler_logps, advantages, epsilon, cap)`, (B, C).

Hilton et al. 2021 (arXiv:2110.00641), equation 3, with the first ratio bounded as in truncated importance sampling.
"""

import torch

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.catalogue.common.every_loss import column
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def behind(start_logps, sampler_logps):
    """The ratio of the policy that begins the step to the one that drew."""
    return (start_logps - sampler_logps).exp()


@STEPS.step
def factor(behind, cap):
    return behind.clamp(max=cap)


@STEPS.step
def ratio(logps, start_logps):
    return (logps - start_logps).exp()


STEPS.step(column)


@STEPS.step
def clipped(ratio, epsilon):
    return ratio.clamp(1 - epsilon, 1 + epsilon)


@STEPS.step
def smaller(ratio, clipped, column):
    return torch.minimum(ratio * column, clipped * column)


@STEPS.step
def objective(factor, smaller):
    return factor * smaller


@STEPS.slip(
    "behind", "The first ratio is upside down: the policy at the start of the step stands above, the sampler below."
)
def behind_upside_down(start_logps, sampler_logps):
    return (sampler_logps - start_logps).exp()


@STEPS.slip(
    "behind",
    "The first ratio has the policy of now in it: it would move with every update, and count what the second counts. "
    "The policy that begins the step stands above.",
)
def behind_of_now(logps, sampler_logps):
    return (logps - sampler_logps).exp()


@STEPS.slip("factor", "The first ratio has no cap: one answer that the sampler hardly knew outweighs the batch.")
def no_cap(behind):
    return behind


@STEPS.slip("factor", "The first ratio is missing: this is the surrogate of a rollout that the policy drew itself.")
def without_the_first():
    return torch.tensor(1.0)


@STEPS.slip("factor", "Above the cap yours is 0. That is a mask; capped, such a token weighs the cap.")
def masked(behind, cap):
    return torch.where(behind > cap, 0.0, behind)


@STEPS.slip("factor", "The cap is taken as a floor: the smaller of ratio and cap is meant.")
def at_least_the_cap(behind, cap):
    return behind.clamp(min=cap)


@STEPS.slip(
    "ratio",
    "The second ratio is over the sampler: what the first repairs is counted twice. It begins at 1: now over the start.",
)
def over_the_sampler(logps, sampler_logps):
    return (logps - sampler_logps).exp()


@STEPS.slip("ratio", "The second ratio is upside down: the policy of now stands above.")
def upside_down(logps, start_logps):
    return (start_logps - logps).exp()


@STEPS.slip("column", "The advantage's size is lost: you take its sign alone.")
def sign_alone(advantages):
    return advantages.sign()[:, None]


@STEPS.slip("smaller", "Nothing is clipped in yours: take the smaller of the free and the clipped product.")
def never_clipped(ratio, column):
    return ratio * column


@STEPS.slip(
    "smaller",
    "You take the clipped product alone. Of a worse answer that has become likelier the free one is smaller, and pulls.",
)
def clipped_alone(clipped, column):
    return clipped * column


@STEPS.slip("smaller", "You take the larger of the two products: the bound is a lower one then, and pays to be passed.")
def larger(ratio, clipped, column):
    return torch.maximum(ratio * column, clipped * column)


@STEPS.slip("objective", "The sign is turned: this is the loss. The objective is to be made large.")
def as_a_loss(objective):
    return -objective


@STEPS.slip("objective", "The two ratios are multiplied before the clip: it acts on their product, as with one ratio.")
def clipped_together(factor, ratio, column, epsilon):
    both = factor * ratio
    return torch.minimum(both * column, both.clamp(1 - epsilon, 1 + epsilon) * column)


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size()
    start = draw.numbers(B, C, least=-3.0, most=-0.1)
    return {
        "logps": start + draw.numbers(B, C, least=-0.8, most=0.8),
        "start_logps": start,
        "sampler_logps": start - draw.numbers(B, C, least=-1.0, most=1.5),
        "advantages": draw.numbers(B),
        "epsilon": draw.choice([0.1, 0.15, 0.2, 0.3, 0.4, 1e6]),
        "cap": draw.number(1.2, 3.0),
    }


def boundary() -> list[Case]:
    start = torch.tensor([[-1.0, -1.0], [-1.0, -1.0]])
    now = start + torch.tensor([[0.5, -0.5], [0.5, -0.5]])
    sampler = start - torch.tensor([[2.0, -2.0], [-2.0, 2.0]])
    signs = torch.tensor([1.0, -1.0])
    common = {"advantages": signs, "epsilon": 0.2, "cap": 3.0}
    sure = start.clone().fill_diagonal_(0.0)  # a token of probability 1
    return [
        {"logps": now, "start_logps": start, "sampler_logps": sampler} | common,
        {"logps": start.clone(), "start_logps": start, "sampler_logps": sampler} | common,
        {"logps": now, "start_logps": start, "sampler_logps": start.clone()} | common,
        {"logps": sure, "start_logps": start, "sampler_logps": sampler} | common,
        {"logps": now, "start_logps": sure, "sampler_logps": sampler} | common,
        {"logps": now, "start_logps": start, "sampler_logps": sure} | common,
    ]


EXERCISE = Exercise(
    name="two ratios",
    function="decoupled_objective",
    contract="`f(logps, start_logps, sampler_logps (B, C), advantages (B,), epsilon, cap) -> (B, C)`, the objective of each "
    "token, to be made large.",
    steps=STEPS,
    arguments={
        "logps": Numbers("B C"),
        "start_logps": Numbers("B C"),
        "sampler_logps": Numbers("B C"),
        "advantages": Numbers("B"),
        "epsilon": Scalar(usual=0.2, simple=(0.2, 0.5)),
        "cap": Scalar(usual=3.0, simple=(2.0, 3.0)),
    },
    result=TensorOf("B C"),
    gradient="logps",
    draw=draw,
    boundary=boundary,
    valid=lambda case: 0 < case["epsilon"] and 1 <= case["cap"],
)
