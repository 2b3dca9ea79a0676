"""PPO's value loss: `value_loss(values, old_values, returns, completion_mask, epsilon) -> loss`, (B, C) each."""

import torch

from shared.exercises.arguments import Mask, Numbers, Scalar
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()
CLIPPED_IN_PROPORTION = (
    "The value is clipped relative to the old value (old times 1 plus or minus epsilon). epsilon is a distance: old plus "
    "or minus epsilon."
)


@STEPS.step
def moved(values, old_values, epsilon):
    return (values - old_values).clamp(-epsilon, epsilon)


@STEPS.step
def clipped(old_values, moved):
    return old_values + moved


@STEPS.step
def free_error(values, returns):
    return (values - returns) ** 2


@STEPS.step
def clipped_error(clipped, returns):
    return (clipped - returns) ** 2


@STEPS.step
def worse(free_error, clipped_error):
    return torch.maximum(free_error, clipped_error)


@STEPS.step
def averaged(worse, completion_mask):
    return (worse * completion_mask).sum() / completion_mask.sum()


@STEPS.step
def loss(averaged):
    return averaged / 2


@STEPS.slip(
    "worse", "The smaller of the two errors is taken: clipping must not make the loss look better. Take the larger."
)
def minimum_of_the_two(free_error, clipped_error):
    return torch.minimum(free_error, clipped_error)


@STEPS.slip(
    "worse", "There is no clipping: compare with the error of the value clipped to old value plus or minus epsilon."
)
def not_clipped(free_error):
    return free_error


@STEPS.slip(
    "worse", "Only the clipped error is used: a value that has moved too far then gets no gradient to come back."
)
def clipped_only(clipped_error):
    return clipped_error


@STEPS.slip("worse", "You add the two errors. Take the larger of them.")
def errors_added(free_error, clipped_error):
    return free_error + clipped_error


@STEPS.slip("worse", "You average the two errors. Take the larger of them.")
def errors_averaged(free_error, clipped_error):
    return (free_error + clipped_error) / 2


@STEPS.slip("loss", "The half is missing: the loss is the mean of the larger squared error, divided by 2.")
def half_forgotten(averaged):
    return averaged


@STEPS.slip("loss", "You multiply by 2 where the loss is divided by 2.")
def doubled(averaged):
    return averaged * 2


@STEPS.slip("loss", "The sign is flipped: the loss is minimised, and an error is to become smaller.")
def sign_flipped(loss):
    return -loss


@STEPS.slip(
    "worse",
    "The error is clipped, not the value: values - returns within epsilon. Clip the value around the old value.",
)
def clipped_around_the_return(values, returns, epsilon):
    return (values - returns).clamp(-epsilon, epsilon) ** 2


@STEPS.slip(
    "clipped",
    "The value is clipped to 1 - epsilon and 1 + epsilon, as a ratio is. A value is clipped around the old value.",
)
def clipped_as_a_ratio(values, epsilon):
    return values.clamp(1 - epsilon, 1 + epsilon)


@STEPS.slip(
    "clipped",
    "The value itself is clipped to plus or minus epsilon. Its distance to the old value is: "
    "old_values + (values - old_values).clamp(-epsilon, epsilon).",
)
def clipped_around_zero(values, epsilon):
    return values.clamp(-epsilon, epsilon)


@STEPS.slip("clipped", CLIPPED_IN_PROPORTION)
def clipped_in_proportion(values, old_values, epsilon):
    low = old_values - epsilon * old_values.abs()
    return torch.minimum(torch.maximum(values, low), old_values + epsilon * old_values.abs())


@STEPS.slip("clipped", "The old value is not added back: you compare the clipped movement alone with the return.")
def old_value_forgotten(moved):
    return moved


@STEPS.slip(
    "moved", "The movement is clipped above only. A value may also have moved too far down: clamp at -epsilon too."
)
def clipped_above_only(values, old_values, epsilon):
    return (values - old_values).clamp(max=epsilon)


@STEPS.slip(
    "moved", "The movement is clipped below only. A value may also have moved too far up: clamp at epsilon too."
)
def clipped_below_only(values, old_values, epsilon):
    return (values - old_values).clamp(min=-epsilon)


@STEPS.slip("clipped", CLIPPED_IN_PROPORTION)
def clipped_by_factors(values, old_values, epsilon):
    return torch.clamp(values, old_values * (1 - epsilon), old_values * (1 + epsilon))


@STEPS.slip("moved", "The movement has the wrong sign: it is values - old_values.")
def movement_reversed(values, old_values, epsilon):
    return (old_values - values).clamp(-epsilon, epsilon)


@STEPS.slip("free_error", "The free error is absolute, not squared.")
def free_error_absolute(values, returns):
    return (values - returns).abs()


@STEPS.slip("clipped_error", "The clipped error is absolute, not squared.")
def clipped_error_absolute(clipped, returns):
    return (clipped - returns).abs()


@STEPS.slip(
    "returns", "The error is taken against the old values. It is against the returns, which the critic is to learn."
)
def old_values_as_target(old_values):
    return old_values


STEPS.add(*LOSS_SLIPS.named("mask_ignored", "epsilon_hard_coded"))


@STEPS.slip("averaged", "You mask, but divide by all positions, padding included. Divide by the sum of the mask.")
def divided_by_all_positions(worse, completion_mask):
    return (worse * completion_mask).mean()


@STEPS.slip("averaged", "You divide by the number of tokens but add up the padding too. Multiply by the mask first.")
def padding_in_the_sum(worse, completion_mask):
    return worse.sum() / completion_mask.sum()


@STEPS.slip("averaged", "You sum over the tokens. Divide by how many there are, `completion_mask.sum()`.")
def summed(worse, completion_mask):
    return (worse * completion_mask).sum()


@STEPS.slip(
    "averaged",
    "You average each completion first and then the completions. The value loss is one mean over all real tokens.",
)
def mean_of_means(worse, completion_mask):
    return ((worse * completion_mask).sum(dim=1) / completion_mask.sum(dim=1)).mean()


@STEPS.slip("loss", "You return one number for each completion. The loss is one number, of which `backward` goes.")
def not_averaged(worse, completion_mask):
    return (worse * completion_mask).sum(dim=1) / completion_mask.sum(dim=1) / 2


@STEPS.slip("loss", "You return the root of the mean squared error. The loss is half of the mean itself.")
def root_taken(averaged):
    return averaged.sqrt()


@STEPS.slip("values", "The gradient is missing: `values` is detached, so the critic never learns.")
def gradient_missing(values):
    return values.detach()


@STEPS.slip("free_error", "The free error is detached: a value that has moved too far gets no gradient to come back.")
def free_error_detached(free_error):
    return free_error.detach()


@STEPS.slip("averaged", "The larger of two means is taken. Take the larger error of each token, then the mean.")
def larger_mean(free_error, clipped_error, completion_mask):
    free, clipped = ((error * completion_mask).sum() / completion_mask.sum() for error in (free_error, clipped_error))
    return torch.maximum(free, clipped)


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size()
    mask = draw.mask(B, C)
    old_values = draw.numbers(B, C)
    moved = draw.choice([0.0, 0.2, 1.0]) * draw.numbers(B, C, least=-1, most=1)
    return {
        "values": draw.garbage(old_values + moved, mask),
        "old_values": draw.garbage(old_values, mask),
        "returns": draw.garbage(draw.numbers(B, C), mask),
        "completion_mask": mask,
        "epsilon": draw.choice([0.1, 0.15, 0.2, 0.3, 0.5]),
    }


def boundary() -> list[Case]:
    """A value that stayed, and ones that moved far up and down, towards the return and away from it."""
    cases = []
    for value, target in [(0.55, 2.0), (1.75, 2.25), (1.75, 0.25), (-1.25, -1.75), (-1.25, 0.75), (1.75, 1.0)]:
        cases.append(
            {
                "values": torch.tensor([[value]]),
                "old_values": torch.tensor([[0.5]]),
                "returns": torch.tensor([[target]]),
                "completion_mask": torch.ones(1, 1, dtype=torch.long),
                "epsilon": 0.3,
            }
        )
    return cases


EXERCISE = Exercise(
    name="clipped value loss",
    function="value_loss",
    contract="`f(values, old_values, returns, completion_mask, epsilon) -> loss`, (B, C) each but epsilon.",
    steps=STEPS,
    arguments={
        "values": Numbers("B C"),
        "old_values": Numbers("B C"),
        "returns": Numbers("B C"),
        "completion_mask": Mask("B C"),
        "epsilon": Scalar(usual=0.2, simple=(0.5, 0.0), most=1.0),
    },
    result=TensorOf(""),
    draw=draw,
    boundary=boundary,
    gradient="values",
    valid=lambda case: bool((case["completion_mask"].sum(dim=1) > 0).all()),
)
