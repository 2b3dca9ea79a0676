"""The factor of each token's gradient under the clip: `pull(logps, old_logps, advantages, epsilon)`, (B, C)."""

import torch

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS, column
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def log_ratio(logps, old_logps):
    return logps - old_logps


@STEPS.step
def ratio(log_ratio):
    return log_ratio.exp()


STEPS.step(column)


@STEPS.step
def risen(ratio, epsilon):
    return ratio > 1 + epsilon


@STEPS.step
def fallen(ratio, epsilon):
    return ratio < 1 - epsilon


@STEPS.step
def rests(risen, fallen, column):
    return (risen & (column > 0)) | (fallen & (column < 0))


@STEPS.step
def moving(ratio, column):
    return ratio * column


@STEPS.step
def pull(moving, rests):
    return torch.where(rests, 0.0, moving)


STEPS.add(*LOSS_SLIPS.named("upside_down", "logarithms_divided", "epsilon_hard_coded"))


@STEPS.slip("ratio", "`exp` is missing: you compare and multiply by the logarithm of the ratio.")
def exponential_forgotten(log_ratio):
    return log_ratio


@STEPS.slip(
    "column",
    "The advantages run along the tokens: (B,) against (B, C) lines up with the columns when B equals C. Write "
    "`advantages[:, None]`.",
)
def advantages_along_tokens(advantages):
    return advantages[None, :]


@STEPS.slip(
    "rests",
    "Every token out of the range rests in yours. One that moved against its advantage keeps its pull: a token of a worse "
    "completion that has risen has to come down again.",
)
def rests_on_either_side(risen, fallen):
    return risen | fallen


@STEPS.slip(
    "rests",
    "The wrong tokens rest: those that moved against their advantage. A token rests where it went far as it should: up "
    "with an advantage above 0, down with one below.",
)
def rests_on_the_wrong_side(risen, fallen, column):
    return (risen & (column < 0)) | (fallen & (column > 0))


@STEPS.slip("rests", "Tokens of worse completions never rest in yours. They do below 1 - epsilon.")
def better_ones_alone(risen, column):
    return risen & (column > 0)


@STEPS.slip("rests", "Tokens of better completions never rest in yours. They do above 1 + epsilon.")
def worse_ones_alone(fallen, column):
    return fallen & (column < 0)


@STEPS.slip("rests", "No token rests in yours: this is the free ratio. Beyond the range the pull is 0.")
def never_rests(risen):
    return torch.zeros_like(risen)


@STEPS.slip(
    "fallen", "The lower end of the range is not 1 - epsilon in yours: a quotient, 1/(1 + epsilon), is another one."
)
def range_by_quotient(ratio, epsilon):
    return ratio < 1 / (1 + epsilon)


@STEPS.slip(
    "pull",
    "You return the value of the clipped objective. A value out of the range is flat, so its gradient, the pull, is 0.",
)
def value_of_the_objective(ratio, epsilon, column):
    return torch.minimum(ratio * column, ratio.clamp(1 - epsilon, 1 + epsilon) * column)


@STEPS.slip("moving", "A token that moves on pulls with the ratio times its advantage. The ratio is missing in yours.")
def without_the_ratio(ratio, column):
    return torch.ones_like(ratio) * column


@STEPS.slip("moving", "The advantage is missing: this is the weight alone. A pull is the ratio times the advantage.")
def without_the_advantage(ratio):
    return ratio


@STEPS.slip("pull", "The sign is flipped: a better completion has to be pulled up, and the minus comes in the loss.")
def negative(pull):
    return -pull


@STEPS.slip("pull", "You return one number. Keep one for each token, (B, C): the weights come after.")
def averaged(pull):
    return pull.mean()


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size()
    logps = draw.numbers(B, C, least=-3.0, most=0.0)
    return {
        "logps": logps,
        "old_logps": logps - draw.numbers(B, C, least=-0.8, most=0.8) * (logps < 0),  # in the padding both are 0
        "advantages": draw.numbers(B),
        "epsilon": draw.number(0.05, 0.5),
    }


def boundary() -> list[Case]:
    ratios = torch.tensor([[1.0, 0.7, 1.5, 0.82, 12.0]])
    logps = torch.full((1, 5), -1.5)
    around = {"logps": logps, "old_logps": logps - ratios.log(), "advantages": -torch.ones(1), "epsilon": 0.2}
    return [
        around,
        around | {"advantages": torch.ones(1)},
        around | {"advantages": torch.ones(1), "epsilon": 1e6},
        {
            "logps": logps.expand(2, 5).clone(),
            "old_logps": (logps - ratios.log()).expand(2, 5).clone(),
            "advantages": torch.tensor([0.0, 2.0]),
            "epsilon": 0.1,
        },
    ]


def apart(case: Case) -> bool:
    """False where a ratio stands so near to an end of the range that rounding decides."""
    distance = (torch.exp(case["logps"] - case["old_logps"]) - 1).abs() - case["epsilon"]
    return bool((distance.abs() > 1e-4).all())


EXERCISE = Exercise(
    name="pull of a token",
    function="pull",
    contract="`f(logps (B, C), old_logps (B, C), advantages (B,), epsilon) -> (B, C)`, what multiplies each token's gradient: "
    "ratio times advantage, 0 where it rests.",
    steps=STEPS,
    arguments={
        "logps": Numbers("B C", most=0.0),
        "old_logps": Numbers("B C", most=0.0),
        "advantages": Numbers("B"),
        "epsilon": Scalar(usual=0.2, simple=(0.1, 0.5)),
    },
    result=TensorOf("B C"),
    draw=draw,
    boundary=boundary,
    valid=apart,
)
