"""The loss with one ratio for each completion: `gspo_loss(logps, old_logps, advantages, ref_logps, beta, epsilon)`."""

import torch

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Number
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def log_ratio(logps, old_logps):
    return logps - old_logps


@STEPS.step
def ratio(log_ratio):
    return torch.exp(log_ratio)


@STEPS.step
def free(ratio, advantages):
    return ratio * advantages


@STEPS.step
def clipped(ratio, advantages, epsilon):
    return ratio.clamp(1 - epsilon, 1 + epsilon) * advantages


@STEPS.step
def objective(free, clipped):
    return torch.minimum(free, clipped)


@STEPS.step
def distance(ref_logps, logps):
    return ref_logps - logps


@STEPS.step
def penalty(distance):
    return torch.exp(distance) - distance - 1


@STEPS.step
def per_completion(objective, penalty, beta):
    return beta * penalty - objective


@STEPS.step
def loss(per_completion):
    return per_completion.mean()


@STEPS.slip("log_ratio", "The ratio is upside down: it is exp(logps - old_logps), new over old.")
def upside_down(logps, old_logps):
    return old_logps - logps


@STEPS.slip(
    "log_ratio",
    "The ratio is taken against the reference. It repairs that the samples are those of `old_logps`; the reference "
    "belongs into the penalty alone.",
)
def against_the_reference(logps, ref_logps):
    return logps - ref_logps


@STEPS.slip("ratio", "`torch.exp` is missing: the log-ratio is 0 where the ratio is 1.")
def exponential_forgotten(log_ratio):
    return log_ratio


@STEPS.slip("objective", "Nothing is clipped: the free term alone has no end to its pull. Take the smaller of the two.")
def not_clipped(free):
    return free


@STEPS.slip(
    "objective",
    "You use the clipped term alone. A completion that moved too far in the wrong direction then has no gradient that "
    "brings it back: take the smaller of the free and the clipped term.",
)
def clipped_alone(clipped):
    return clipped


@STEPS.slip("objective", "You take the larger of the two terms, which limits nothing. The objective is the smaller.")
def larger_of_the_two(free, clipped):
    return torch.maximum(free, clipped)


@STEPS.slip("clipped", "You clip the ratio times the advantage. Clip the ratio, then multiply.")
def product_clipped(free, epsilon):
    return free.clamp(1 - epsilon, 1 + epsilon)


@STEPS.slip("objective", "The sign of the objective is flipped: what is to be made large has a minus in a loss.")
def objective_minimised(objective):
    return -objective


@STEPS.slip("distance", "The penalty's difference is upside down: d is ref_logps - logps.")
def distance_upside_down(ref_logps, logps):
    return logps - ref_logps


@STEPS.slip("distance", "The penalty is taken against the policy that sampled. It is against `ref_logps`.")
def distance_from_old(old_logps, logps):
    return old_logps - logps


@STEPS.slip("penalty", "The penalty is halved in yours, which halves beta. Asked for is e^d - d - 1 as it is.")
def penalty_halved(distance):
    return (torch.exp(distance) - distance - 1) / 2


@STEPS.slip("penalty", "The penalty is d squared over 2. Asked for is e^d - d - 1.")
def square_instead(distance):
    return distance**2 / 2


@STEPS.slip("penalty", "The penalty has no gradient: it is detached, and holds nothing back.")
def penalty_detached(distance):
    return (torch.exp(distance) - distance - 1).detach()


@STEPS.slip("beta", "The sign of the penalty is flipped: in a loss, beta times the penalty is added.")
def penalty_rewarded(beta):
    return -beta


@STEPS.slip("beta", "The penalty is missing: beta changes nothing.")
def penalty_forgotten():
    return 0.0


@STEPS.slip("beta", "The penalty is not multiplied by beta.")
def beta_forgotten():
    return 1.0


@STEPS.slip("epsilon", "The range is written down as 0.2: use the argument `epsilon`.")
def epsilon_hard_coded():
    return 0.2


@STEPS.slip("loss", "You add up the completions. The loss is their mean.")
def added_up(per_completion):
    return per_completion.sum()


@STEPS.slip("loss", "You return one number for each completion. The loss is their mean, one number.")
def not_averaged(per_completion):
    return per_completion


@STEPS.slip("logps", "The gradient is missing: `logps` is detached, or the loss is computed without gradients.")
def gradient_missing(logps):
    return logps.detach()


def draw(draw: Draw) -> Case:
    B = draw.size(4)
    old = draw.numbers(B, least=-2, most=-0.1)
    far = draw.choice([0.3, 1.0])
    return {
        "logps": old + far * draw.numbers(B, least=-1, most=1),
        "old_logps": old,
        "advantages": draw.numbers(B),
        "ref_logps": old + draw.numbers(B, least=-1, most=1),
        "beta": draw.choice([0.05, 0.4, 2.5]),
        "epsilon": draw.choice([0.1, 0.2, 0.35]),
    }


def boundary() -> list[Case]:
    old = torch.tensor([-1.0, -0.5, -1.5, -0.7, -0.9])
    new = old + torch.tensor([0.0, 0.5, -0.6, -0.4, 0.7])
    ref = old + torch.tensor([0.0, -0.3, 0.8, 0.2, 0.1])
    numbers = {"beta": 0.5, "epsilon": 0.2}
    whole = {
        "logps": new,
        "old_logps": old,
        "advantages": torch.tensor([1.0, 1.5, 0.5, -1.0, -2.0]),
        "ref_logps": ref,
        **numbers,
    }
    ones = [{name: value[i : i + 1] for name, value in whole.items() if name not in numbers} for i in range(5)]
    return [*(one | numbers for one in ones), whole, whole | {"epsilon": 0.4, "beta": 0.1}]


EXERCISE = Exercise(
    name="GSPO loss",
    function="gspo_loss",
    contract="`f(logps (B,), old_logps (B,), advantages (B,), ref_logps (B,), beta, epsilon) -> loss`, one number.",
    steps=STEPS,
    arguments={
        "logps": Numbers("B", most=0.0),
        "old_logps": Numbers("B", most=0.0),
        "advantages": Numbers("B"),
        "ref_logps": Numbers("B", most=0.0),
        "beta": Scalar(usual=0.6),
        "epsilon": Scalar(usual=0.2),
    },
    result=Number(),
    gradient="logps",
    draw=draw,
    boundary=boundary,
)
