"""Advantages of a judge that errs by lot: `expected_advantages(rewards, false_positive, false_negative) -> (N, G)`.

The mean, over the judge's lots, of a completion's reward less its group's mean; nothing is divided. With rewards of 0
and 1 it is 1 - false_positive - false_negative times the advantage that the rule gives.
"""

import torch

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def pay_of_right(false_negative):
    return 1 - false_negative


@STEPS.step
def pay_of_wrong(false_positive):
    return false_positive


@STEPS.step
def pay(rewards, pay_of_right, pay_of_wrong):
    """The mean verdict on each completion."""
    return rewards * pay_of_right + (1 - rewards) * pay_of_wrong


@STEPS.step
def baseline(pay):
    return pay.mean(dim=1, keepdim=True)


@STEPS.step
def advantages(pay, baseline):
    return pay - baseline


@STEPS.slip(
    "pay_of_right", "A right completion is paid with the rate at which right ones are refused. Paid is the rest."
)
def pay_of_the_refused(false_negative):
    return false_negative


@STEPS.slip("pay_of_right", "Right completions are always paid in yours: the judge refuses some of them.")
def never_refused():
    return 1.0


@STEPS.slip("pay_of_right", "Only the errors on wrong completions count in yours, on both. Each kind has its own rate.")
def one_rate_for_right(false_positive):
    return 1 - false_positive


@STEPS.slip("pay_of_wrong", "Wrong completions are never paid in yours: the judge accepts some of them.")
def never_accepted():
    return 0.0


@STEPS.slip(
    "pay_of_wrong", "A wrong completion is paid where it should be refused: false positives are those accepted."
)
def pay_of_the_rest(false_positive):
    return 1 - false_positive


@STEPS.slip("pay_of_wrong", "Only the errors on right completions count in yours, on both. Each kind has its own rate.")
def one_rate_for_wrong(false_negative):
    return false_negative


@STEPS.slip("pay", "The judge's errors are missing: these are the advantages that the rule gives.")
def without_errors(rewards):
    return rewards


@STEPS.slip("baseline", "The mean is over all groups. Each prompt has a mean of its own.")
def mean_of_all(pay):
    return pay.mean()


@STEPS.slip("baseline", "The mean is over the prompts, place by place. A group is a row.")
def mean_of_columns(pay):
    return pay.mean(dim=0, keepdim=True)


@STEPS.slip("baseline", "The rule's mean is taken off. The group is compared by what its judge pays.")
def mean_of_the_rule(rewards):
    return rewards.mean(dim=1, keepdim=True)


@STEPS.slip("baseline", "The group's mean is missing: this is the mean pay itself.")
def no_baseline():
    return 0.0


@STEPS.slip("baseline", "The mean is of the others in the group. Here the completion itself is in it.")
def of_the_others(pay):
    G = pay.shape[1]
    return (pay.sum(dim=1, keepdim=True) - pay) / max(1, G - 1)


@STEPS.slip("advantages", "You divide by the deviation. Here the pay less the mean is asked for, and no more.")
def divided(pay, baseline):
    return (pay - baseline) / (pay.std(dim=1, correction=0, keepdim=True) + 1e-4)


@STEPS.slip(
    "advantages",
    "The sign is turned, or right and wrong are exchanged: what is paid above the mean has a positive advantage.",
)
def turned(pay, baseline):
    return baseline - pay


def draw(draw: Draw) -> Case:
    N, G = draw.size(), draw.size(least=2)
    rates = [draw.choice([0.0, 1.0, draw.number(0.0, 1.0), draw.number(0.0, 0.5)]) for _ in range(2)]
    rewards = torch.tensor(draw.some([0.0, 1.0], N * G)).view(N, G)
    return {"rewards": rewards, "false_positive": rates[0], "false_negative": rates[1]}


def boundary() -> list[Case]:
    group = torch.tensor([[1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]])
    two = torch.tensor([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    cases = [(group, rates) for rates in ((0.2, 0.2), (0.4, 0.0), (0.0, 0.4), (0.5, 0.5), (0.75, 0.5), (1.0, 1.0))]
    cases += [(two, (0.25, 0.5)), (torch.zeros(1, 3), (0.25, 0.5)), (torch.ones(2, 3), (0.25, 0.5))]
    return [{"rewards": rewards, "false_positive": e0, "false_negative": e1} for rewards, (e0, e1) in cases]


def valid(case: Case) -> bool:
    """True for rewards of 0 and 1 in groups of two at least, and rates that are chances."""
    rewards = case["rewards"]
    are_verdicts = bool(((rewards == 0) | (rewards == 1)).all())
    return (
        are_verdicts
        and rewards.shape[1] > 1
        and all(0 <= case[f"false_{kind}"] <= 1 for kind in ("positive", "negative"))
    )


EXERCISE = Exercise(
    name="advantages under noise",
    function="expected_advantages",
    contract="`f(rewards (N, G), false_positive, false_negative) -> (N, G)`: the mean pay of each completion less its "
    "group's mean.",
    steps=STEPS,
    arguments={
        "rewards": Numbers("N G", least=0.0, most=1.0),
        "false_positive": Scalar(usual=0.2, simple=(0.0, 0.5, 1.0), most=1.0),
        "false_negative": Scalar(usual=0.2, simple=(0.0, 0.5, 1.0), most=1.0),
    },
    result=TensorOf("N G"),
    draw=draw,
    boundary=boundary,
    valid=valid,
)
