"""The share of wrong answers that a judge accepts, from two curves: `accepted_wrong(paid, right, false_negative) -> (T,)`.

The pay of a rollout is that of its right answers and that of its wrong ones: paid = right (1 - e1) + (1 - right) e0.
"""

import torch

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def paid_and_right(right, false_negative):
    """The share of all answers that are right and paid."""
    return right * (1 - false_negative)


@STEPS.step
def wrong(right):
    return 1 - right


@STEPS.step
def accepted(paid, paid_and_right, wrong):
    return (paid - paid_and_right) / wrong


@STEPS.slip("paid_and_right", "All right answers are paid in yours: the judge refuses some of them.")
def never_refused(right):
    return right


@STEPS.slip("paid_and_right", "You take off the right answers that are refused. Paid are the others.")
def the_refused(right, false_negative):
    return right * false_negative


@STEPS.slip("paid_and_right", "What the right answers are paid is still in it: take it off the pay first.")
def nothing_taken_off():
    return 0.0


@STEPS.slip("paid_and_right", "The share of right answers is missing: only of those that are right so many are paid.")
def of_all(false_negative):
    return 1 - false_negative


@STEPS.slip("wrong", "This is a share of all answers. Asked for is the share of the wrong ones.")
def of_all_answers():
    return 1.0


@STEPS.slip("wrong", "You divide by the share of right answers. Of the wrong ones it is asked how many are accepted.")
def of_the_right(right):
    return right


@STEPS.slip(
    "wrong", "You divide by the pay: this is how many of the paid answers are wrong, not of the wrong ones paid."
)
def of_the_paid(paid):
    return paid


@STEPS.slip("wrong", "You divide by what is not paid. The wrong answers are what is not right.")
def of_the_unpaid(paid):
    return 1 - paid


@STEPS.slip("accepted", "This is the share of wrong answers that the judge refuses. Asked for are those it accepts.")
def refused(accepted):
    return 1 - accepted


@STEPS.slip("accepted", "This is J, how much more a right answer is paid than a wrong one. Asked for is e0 alone.")
def gap(accepted, false_negative):
    return 1 - false_negative - accepted


@STEPS.slip("accepted", "The sign is turned: the pay of the right answers is taken off the whole pay.")
def turned(accepted):
    return -accepted


@STEPS.slip("accepted", "You return one number for the whole run. Each place has its own.")
def mean_of_all(accepted):
    return accepted.mean().expand_as(accepted)


def draw(draw: Draw) -> Case:
    count = draw.size()
    right = draw.numbers(count, least=0.0, most=0.95)
    e0 = draw.numbers(count, least=0.0, most=1.0)
    e1 = draw.choice([0.0, 0.2, draw.number(0.0, 1.0)])
    paid = right * (1 - e1) + (1 - right) * e0
    as_handed = draw.choice([torch.float32, torch.float64])
    return {"paid": ((1000 * paid).round() / 1000).to(as_handed), "right": right.to(as_handed), "false_negative": e1}


def boundary() -> list[Case]:
    cases = [([0.62], [0.4], 0.2), ([0.5, 0.8], [0.0, 0.5], 0.0), ([0.25, 0.5], [0.25, 0.75], 0.5)]
    cases += [([0.5], [0.5], 1.0), ([0.0, 0.5], [0.0, 0.5], 0.2)]
    return [{"paid": torch.tensor(p), "right": torch.tensor(r), "false_negative": e1} for p, r, e1 in cases]


EXERCISE = Exercise(
    name="accepted wrong answers",
    function="accepted_wrong",
    contract="`f(paid (T,), right (T,), false_negative) -> (T,)`: the share of the wrong answers that the judge paid.",
    steps=STEPS,
    arguments={
        "paid": Numbers("L", least=0.0, most=1.0),
        "right": Numbers("L", least=0.0, most=0.95),
        "false_negative": Scalar(usual=0.2, simple=(0.0, 0.5, 1.0), most=1.0),
    },
    result=TensorOf("L"),
    draw=draw,
    boundary=boundary,
    valid=lambda case: bool((case["right"] < 1).all()) and 0 <= case["false_negative"] <= 1,
)
