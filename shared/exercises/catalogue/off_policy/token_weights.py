"""The weight of each token: `token_weights(completion_mask, max_length) -> {"grpo": ..., "dapo": ..., "dr_grpo": ...}`."""

import torch

from shared.exercises.arguments import Mask, Scalar
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import ByName
from shared.exercises.steps import Steps

STEPS = Steps()
NAMES = ("grpo", "dapo", "dr_grpo")


@STEPS.step
def lengths(completion_mask):
    return completion_mask.sum(dim=1, keepdim=True)


@STEPS.step
def of_grpo(completion_mask, lengths):
    return completion_mask / (len(completion_mask) * lengths)


@STEPS.step
def of_dapo(completion_mask):
    return completion_mask / completion_mask.sum()


@STEPS.step
def of_dr_grpo(completion_mask, max_length):
    return completion_mask / (len(completion_mask) * max_length)


@STEPS.step
def weights(of_grpo, of_dapo, of_dr_grpo):
    return {"grpo": of_grpo, "dapo": of_dapo, "dr_grpo": of_dr_grpo}


@STEPS.slip(
    "of_grpo",
    "In grpo the mean over the completions is missing: each completion's weights add up to 1 / B, all of them to 1.",
)
def grpo_not_averaged(completion_mask, lengths):
    return completion_mask / lengths


@STEPS.slip("of_grpo", "In grpo you divide by the padded width C. Each completion is divided by its own length.")
def grpo_by_width(completion_mask):
    return completion_mask / completion_mask.numel()


@STEPS.slip(
    "of_grpo",
    "In grpo all tokens weigh the same in your answer: that is dapo. A token of a short completion weighs more.",
)
def grpo_as_dapo(completion_mask):
    return completion_mask / completion_mask.sum()


@STEPS.slip("of_dapo", "In dapo the padding is counted: divide by the number of real tokens, the sum of the mask.")
def dapo_by_places(completion_mask):
    return completion_mask / completion_mask.numel()


@STEPS.slip(
    "of_dapo", "In dapo each completion has the same share in your answer: that is grpo. Each token has the same."
)
def dapo_as_grpo(completion_mask, lengths):
    return completion_mask / (len(completion_mask) * lengths)


@STEPS.slip(
    "of_dr_grpo", "In dr_grpo the mean over the completions is missing: divide by B as well as by the constant."
)
def dr_grpo_not_averaged(completion_mask, max_length):
    return completion_mask / max_length


@STEPS.slip("of_dr_grpo", "In dr_grpo nothing is divided by the length: the constant is missing.")
def dr_grpo_without_constant(completion_mask):
    return completion_mask / len(completion_mask)


@STEPS.slip(
    "of_dr_grpo",
    "In dr_grpo you divide by the longest completion of the batch, which changes from step to step. The constant is the "
    "room a completion has, `max_length`.",
)
def dr_grpo_by_longest(completion_mask, lengths):
    return completion_mask / (len(completion_mask) * lengths.max())


@STEPS.slip(
    "of_dr_grpo",
    "In dr_grpo you divide by the width of the batch, C, which changes from step to step. The constant is the room a "
    "completion has, `max_length`.",
)
def dr_grpo_by_width(completion_mask):
    return completion_mask / completion_mask.numel()


@STEPS.slip(
    "weights", "The padding has a weight: multiply by the mask, so that what was never sampled counts for nothing."
)
def padding_weighs(completion_mask, max_length):
    lengths = completion_mask.sum(dim=1, keepdim=True)
    every = torch.ones_like(completion_mask)
    B = len(completion_mask)
    return {
        "grpo": every / (B * lengths),
        "dapo": every / completion_mask.sum(),
        "dr_grpo": every / (B * max_length),
    }


@STEPS.slip("of_dapo", "In dapo the padding has a weight: the constant stands where the mask is 1, and 0 elsewhere.")
def dapo_weighs_padding(completion_mask):
    return torch.ones_like(completion_mask) / completion_mask.sum()


@STEPS.slip(
    "of_dr_grpo", "In dr_grpo the padding has a weight: the constant stands where the mask is 1, and 0 elsewhere."
)
def dr_grpo_weighs_padding(completion_mask, max_length):
    return torch.ones_like(completion_mask) / (len(completion_mask) * max_length)


@STEPS.slip(
    "of_dr_grpo", "In dr_grpo all tokens share 1 in your answer: that is dapo. The constant is B times max_length."
)
def dr_grpo_as_dapo(completion_mask):
    return completion_mask / completion_mask.sum()


@STEPS.slip(
    "of_dr_grpo",
    "In dr_grpo each completion is divided by its own length in your answer: that is grpo. The constant is the room, "
    "`max_length`.",
)
def dr_grpo_as_grpo(completion_mask, lengths):
    return completion_mask / (len(completion_mask) * lengths)


@STEPS.slip("of_dapo", "In dapo nothing is divided: the weights of all tokens of the batch add up to 1.")
def dapo_not_divided(completion_mask):
    return completion_mask * 1.0


@STEPS.slip("of_dapo", "In dapo you divide by max_length: that is dr_grpo. Divide by the number of all real tokens.")
def dapo_as_dr_grpo(completion_mask, max_length):
    return completion_mask / (len(completion_mask) * max_length)


@STEPS.slip("of_dapo", "In dapo you divide by the number of completions. Divide by the number of all real tokens.")
def dapo_by_completions(completion_mask):
    return completion_mask / len(completion_mask)


@STEPS.slip("of_grpo", "In grpo the division by each completion's length is missing.")
def grpo_without_lengths(completion_mask):
    return completion_mask / len(completion_mask)


@STEPS.slip(
    "of_grpo",
    "In grpo the padding has a weight: multiply by the mask, so that what was never sampled counts for nothing.",
)
def grpo_weighs_padding(completion_mask, lengths):
    return torch.ones_like(completion_mask) / (len(completion_mask) * lengths)


@STEPS.slip(
    "weights",
    "In dapo and dr_grpo the padding has a weight: the constant stands where the mask is 1, and 0 elsewhere.",
)
def constants_weigh_padding(completion_mask, of_grpo, max_length):
    every = torch.ones_like(completion_mask)
    constants = {"dapo": every / completion_mask.sum(), "dr_grpo": every / (len(completion_mask) * max_length)}
    return {"grpo": of_grpo, **constants}


@STEPS.slip(
    "of_grpo",
    "Under grpo you divide by how many completions have a token at that place, a sum over dim=0. Divide by the length of "
    "the completion, the sum over dim=1.",
)
def grpo_by_place(completion_mask):
    return completion_mask / (len(completion_mask) * completion_mask.sum(dim=0).clamp(min=1))


@STEPS.slip("of_dapo", "Under dapo you divide by B as well: all weights add up to 1 / B. They add up to 1.")
def dapo_by_completions_too(of_dapo, completion_mask):
    return of_dapo / len(completion_mask)


@STEPS.slip(
    "weights", "The weights are written into tensors of whole numbers, in which a fraction becomes 0. Make them floats."
)
def whole_numbers(of_grpo, of_dapo, of_dr_grpo):
    return {"grpo": of_grpo.long(), "dapo": of_dapo.long(), "dr_grpo": of_dr_grpo.long()}


def draw(draw: Draw) -> Case:
    B = draw.size()
    C = draw.size()
    return {"completion_mask": draw.mask(B, C), "max_length": C + draw.size(3)}


def boundary() -> list[Case]:
    return [
        {"completion_mask": torch.tensor([[1]]), "max_length": 1},
        {"completion_mask": torch.tensor([[1]]), "max_length": 6},
        {"completion_mask": torch.tensor([[1, 1, 1, 0], [1, 0, 0, 0]]), "max_length": 6},
        {"completion_mask": torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0]]), "max_length": 4},
    ]


EXERCISE = Exercise(
    name="weights of the tokens",
    function="token_weights",
    contract='`f(completion_mask (B, C), max_length) -> {"grpo": (B, C), "dapo": (B, C), "dr_grpo": (B, C)}`.',
    steps=STEPS,
    arguments={"completion_mask": Mask("B C"), "max_length": Scalar(usual=6, simple=(1, 2))},
    result=ByName("E B C", names=NAMES),
    draw=draw,
    boundary=boundary,
    valid=lambda case: case["max_length"] >= case["completion_mask"].size(1),
)
