"""A loss over the policy's own tokens: `own_loss(logps, advantages, policy_mask) -> loss`, (B, C), (B,), (B, C)."""

import torch

from shared.exercises.arguments import Kind, Numbers
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def counted(policy_mask):
    """The mask of the sum."""
    return policy_mask


@STEPS.step
def divided_by(policy_mask):
    """(B,): how many tokens the mean of each completion is taken over."""
    return policy_mask.sum(dim=1)


@STEPS.step
def token_losses(logps, advantages):
    return -advantages[:, None] * logps


@STEPS.step
def of_completions(token_losses, counted, divided_by):
    return (token_losses * counted).sum(dim=1) / divided_by


@STEPS.step
def loss(of_completions):
    return of_completions.mean()


@STEPS.slip(
    "counted",
    "The environment's tokens are in the sum: the policy is taught to say what it only read. Multiply by `policy_mask`.",
)
def all_counted(policy_mask):
    return torch.ones_like(policy_mask)


@STEPS.slip("counted", "The mask is upside down: the policy learns the environment's words and none of its own.")
def upside_down(policy_mask):
    return 1 - policy_mask


@STEPS.slip(
    "divided_by",
    "You divide by the width, environment and padding included. A completion in which much was said to the policy then "
    "teaches less: divide by how many tokens are in the sum.",
)
def by_width(policy_mask):
    return torch.full((len(policy_mask),), float(policy_mask.size(1)))


@STEPS.slip("divided_by", "The mean over each completion's own tokens is missing: you add them up.")
def not_divided(policy_mask):
    return torch.ones(len(policy_mask))


@STEPS.slip(
    "divided_by", "You divide by one number for all completions. Each has its own count of tokens: `sum(dim=1)`."
)
def one_number(policy_mask):
    return (policy_mask.sum() / len(policy_mask)).expand(len(policy_mask))


@STEPS.slip("token_losses", "The sign is flipped: minimising this makes the better completions less likely.")
def sign_flipped(logps, advantages):
    return advantages[:, None] * logps


@STEPS.slip("token_losses", "The advantages are missing: this raises every completion, good or bad.")
def without_advantages(logps):
    return -logps


@STEPS.slip("token_losses", "All completions get the average advantage. Each has its own: `advantages[:, None]`.")
def average_advantage(logps, advantages):
    return -advantages.mean() * logps


@STEPS.slip("loss", "You add up over the completions. Take the mean.")
def summed(of_completions):
    return of_completions.sum()


@STEPS.slip(
    "token_losses",
    "This is the ratio of the policy with itself, which is 1: its gradient is that of the log-probability, its value is "
    "not. Asked for is A times log pi.",
)
def ratio_with_itself(logps, advantages):
    return -advantages[:, None] * torch.exp(logps - logps.detach())


@STEPS.slip(
    "divided_by",
    "You divide by the number of real tokens, the environment's included. A completion in which much was said to the "
    "policy then teaches less: divide by how many tokens are in the sum.",
)
def by_real_tokens(logps):
    return (logps != 0).sum(dim=1)


@STEPS.slip("of_completions", "The mean runs over the completions at each token, dim=0. Take each completion's, dim=1.")
def along_completions(token_losses, counted, policy_mask):
    return (token_losses * counted).sum(dim=0) / policy_mask.sum(dim=0).clamp(min=1)


@STEPS.slip(
    "token_losses",
    "The advantages run along the tokens: (B,) against (B, C) lines up with the columns when B equals C. Write "
    "`advantages[:, None]`.",
)
def advantages_along_tokens(logps, advantages):
    return -advantages[None, :] * logps


@STEPS.slip("token_losses", "You weight probabilities, not log-probabilities: leave `exp` out.")
def probabilities_weighted(logps, advantages):
    return -advantages[:, None] * logps.exp()


STEPS.add(*LOSS_SLIPS.named("gradient_missing"))


@STEPS.slip("loss", "You return one number for each completion. The loss is their mean.")
def not_averaged(of_completions):
    return of_completions


@STEPS.slip(
    "loss",
    "You average over the completions with an advantage other than 0 alone. Divide by B, all of them: a batch of which little "
    "is to be learnt makes a small step.",
)
def over_those_with_an_advantage(of_completions, advantages):
    return of_completions.sum() / (advantages != 0).sum().clamp(min=1)


@STEPS.slip(
    "divided_by",
    "You count the log-probabilities that are not 0. Of a token that the policy was sure of it is 0, and that is one of "
    "its own: count the mask.",
)
def by_logps_that_are_not_0(logps, policy_mask):
    return (logps * policy_mask != 0).sum(dim=1).clamp(min=1)


@STEPS.slip(
    "divided_by",
    "You divide every completion by the number of own tokens of the one that has most. Each has its own count of tokens: "
    "`sum(dim=1)`.",
)
def by_the_most(policy_mask):
    return policy_mask.sum(dim=1).max().expand(len(policy_mask))


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size(5)
    mask = (draw.numbers(B, C, least=0.0, most=1.0) < 0.6).long()
    mask[:, 0] = 1  # the policy has the first word
    return {"logps": draw.numbers(B, C, least=-3.0, most=0.0), "advantages": draw.numbers(B), "policy_mask": mask}


def boundary() -> list[Case]:
    logps = torch.tensor([[-1.0, -2.0, -0.5, -0.25], [-0.5, -1.0, -3.0, -2.0]])
    mask = torch.tensor([[1, 0, 0, 1], [1, 1, 0, 0]])
    advantages = torch.tensor([1.0, -0.5])
    return [
        {"logps": logps[:1, :1], "advantages": advantages[:1], "policy_mask": mask[:1, :1]},
        {"logps": logps[:1], "advantages": advantages[:1], "policy_mask": mask[:1]},
        {"logps": logps, "advantages": advantages, "policy_mask": mask},
        {"logps": logps, "advantages": 0 * advantages, "policy_mask": torch.ones_like(mask)},
        {"logps": logps, "advantages": advantages, "policy_mask": torch.ones_like(mask)},
        {"logps": logps * torch.tensor([[1, 1, 1, 0]]), "advantages": advantages, "policy_mask": mask * 0 + mask[1]},
        {"logps": logps, "advantages": torch.tensor([1.0, 0.0]), "policy_mask": mask},
        {"logps": logps * torch.tensor([[1, 1, 1, 0]]), "advantages": advantages, "policy_mask": mask},
    ]


EXERCISE = Exercise(
    name="loss of the policy's own tokens",
    function="own_loss",
    contract="`f(logps (B, C), advantages (B,), policy_mask (B, C)) -> loss`, a mean over each completion's own "
    "tokens.",
    steps=STEPS,
    arguments={"logps": Numbers("B C", most=0.0), "advantages": Numbers("B"), "policy_mask": Kind("B C")},
    result=TensorOf(""),
    gradient="logps",
    draw=draw,
    boundary=boundary,
    valid=lambda case: bool(case["policy_mask"].sum(dim=1).min() >= 1),
)
