"""One advantage for all tokens: `flat(advantages, completion_mask) -> (B, C)`, from (B,) and (B, C)."""

import torch

from shared.exercises.arguments import Mask, Numbers
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def spread(advantages, completion_mask):
    return advantages[:, None].expand(-1, completion_mask.size(1))


@STEPS.step
def weights(completion_mask):
    return completion_mask


@STEPS.step
def tokens(spread, weights):
    return spread * weights


@STEPS.slip(
    "weights", "The padding gets the advantage too. Multiply by the mask: what was not sampled is not rewarded."
)
def padding_filled(completion_mask):
    return torch.ones_like(completion_mask)


@STEPS.slip("weights", "The mask is upside down: padding gets the advantage, the real tokens 0.")
def mask_upside_down(completion_mask):
    return 1 - completion_mask


@STEPS.slip(
    "weights",
    "The advantage is divided among the tokens: it is copied to each of them. (Divided, a long completion teaches less "
    "per token; the loss takes its mean already.)",
)
def divided_among_tokens(completion_mask):
    return completion_mask / completion_mask.sum(dim=1, keepdim=True)


@STEPS.slip("weights", "Only the last token gets the advantage. GRPO gives every token of a completion the same one.")
def last_token_only(completion_mask):
    last = completion_mask.sum(dim=1, keepdim=True) - 1
    return (torch.arange(completion_mask.size(1)) == last).to(completion_mask.dtype)


@STEPS.slip("weights", "Only the first token gets the advantage. GRPO gives every token of a completion the same one.")
def first_token_only(completion_mask):
    return (torch.arange(completion_mask.size(1)) == 0).to(completion_mask.dtype).expand_as(completion_mask)


@STEPS.slip("spread", "All completions get the first one's advantage. Each has its own row: `advantages[:, None]`.")
def first_for_all(advantages, completion_mask):
    return advantages[:1, None].expand_as(completion_mask)


@STEPS.slip("spread", "All completions get the average advantage. Each keeps its own: `advantages[:, None]`.")
def averaged(advantages, completion_mask):
    return advantages.mean().expand_as(completion_mask)


@STEPS.slip("tokens", "The sign is flipped.")
def sign_flipped(tokens):
    return -tokens


@STEPS.slip("tokens", "You add up over the tokens. One number for each token is asked for, (B, C).")
def summed(tokens):
    return tokens.sum(dim=1)


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size()
    return {"advantages": draw.numbers(B), "completion_mask": draw.mask(B, C)}


def boundary() -> list[Case]:
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    return [
        {"advantages": torch.ones(1), "completion_mask": mask[:1, :1]},
        {"advantages": torch.ones(1), "completion_mask": mask[:1]},
        {"advantages": torch.tensor([1.0, -0.5]), "completion_mask": mask},
        {"advantages": torch.tensor([1.0, -0.5]), "completion_mask": mask[:, :2]},
    ]


EXERCISE = Exercise(
    name="flat advantages",
    function="flat",
    steps=STEPS,
    arguments={"advantages": Numbers("B"), "completion_mask": Mask("B C")},
    result=TensorOf("B C"),
    draw=draw,
    boundary=boundary,
)
