"""One update: `training_step(model, optimizer, loss, max_grad_norm)`, which changes the model's parameters.

Twenty updates of a table of scores, one for each prompt and completion, whose expected reward is worked out exactly. What
is compared is a sentence on what happened to it.
"""

import torch
from torch import Tensor, nn

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise, is_reference
from shared.exercises.results import Text
from shared.exercises.steps import Steps

STEPS = Steps()
UPDATES = 20


class Table(nn.Module):
    """A policy without a network: scores (N, K) for each prompt, and a bias (K,) that all prompts share."""

    def __init__(self, N: int, K: int):
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(N, K))
        self.bias = nn.Parameter(torch.zeros(K))

    def expected(self, rewards: Tensor) -> Tensor:
        return ((self.scores + self.bias).softmax(dim=1) * rewards).sum(dim=1).mean()


class CountingSGD(torch.optim.SGD):
    """SGD that counts its steps."""

    steps = 0

    def step(self, closure=None):
        self.steps += 1
        return super().step(closure)


@STEPS.step
def backward(loss):
    loss.backward()


@STEPS.step
def clipped(backward, model, max_grad_norm):
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)


@STEPS.step
def stepped(clipped, optimizer):
    optimizer.step()


@STEPS.step
def cleared(stepped, optimizer):
    optimizer.zero_grad()


@STEPS.slip("loss", "The sign is flipped: the loss has the sign that an optimiser minimises, and yours makes it grow.")
def sign_flipped(loss):
    return -loss


@STEPS.slip("backward", "The backward pass is missing: without `loss.backward()` there is no gradient to step along.")
def no_backward():
    return None


@STEPS.slip(
    "clipped",
    "The gradient's norm is not clipped when the optimiser steps: `clip_grad_norm_` is missing, stands before the backward "
    "pass, when there is no gradient yet, or behind the step.",
)
def not_clipped(backward):
    return None


@STEPS.slip(
    "clipped", "Each number of the gradient is cut by itself, which turns it. `clip_grad_norm_` shortens the whole."
)
def clipped_by_value(backward, model, max_grad_norm):
    torch.nn.utils.clip_grad_value_(model.parameters(), max_grad_norm)


@STEPS.slip("clipped", "Each parameter's gradient is clipped by itself. The norm is that of all parameters together.")
def each_clipped_alone(backward, model, max_grad_norm):
    for parameter in model.parameters():
        torch.nn.utils.clip_grad_norm_([parameter], max_grad_norm)


@STEPS.slip("max_grad_norm", "The largest norm is written down as 1.0. Use the argument `max_grad_norm`.")
def norm_hard_coded():
    return 1.0


@STEPS.slip("stepped", "The optimiser's step is missing: the gradient is there, and nothing moves.")
def no_step(clipped):
    return None


@STEPS.slip("stepped", "The optimiser makes two steps with one gradient.")
def two_steps(clipped, optimizer):
    optimizer.step()
    optimizer.step()


@STEPS.slip(
    "stepped",
    "The step has nothing to go by: the gradients are cleared before it, or the backward pass comes after it.",
)
def cleared_too_early(clipped, optimizer):
    optimizer.zero_grad()
    optimizer.step()


@STEPS.slip(
    "cleared",
    "The gradients are never cleared: each backward pass adds to those of all steps before. Call `optimizer.zero_grad()`.",
)
def never_cleared(stepped):
    return None


def call(function, case: Case) -> str:
    """Make twenty updates; what they did, as short as can be, since a verdict shows two of these."""
    rewards, scale, learning_rate, max_grad_norm = case.values()
    model = Table(*rewards.shape)
    optimizer = CountingSGD(model.parameters(), lr=learning_rate)
    passes = []
    lengths = []
    with torch.no_grad():
        first = model.expected(rewards).item()
    for _ in range(UPDATES):
        loss = -scale * model.expected(rewards)
        loss.register_hook(lambda gradient: passes.append(1))
        before = nn.utils.parameters_to_vector(model.parameters()).detach().clone()
        given = {"model": model, "optimizer": optimizer, "loss": loss, "max_grad_norm": max_grad_norm}
        if is_reference(function):
            function(**given)
        else:
            function(*given.values())
        lengths.append((nn.utils.parameters_to_vector(model.parameters()).detach() - before).norm().item())
    with torch.no_grad():
        last = model.expected(rewards).item()
    moved = sum(length > 0 for length in lengths)
    return (
        f"{len(passes)} backward passes, {optimizer.steps} steps, {moved} moves of {max(lengths):.5f} at most, "
        f"reward {first:.5f} to {last:.5f}"
    )


@STEPS.slip(
    "clipped",
    "The gradient is always brought to the largest norm: a short one is made longer. Only one that is longer is shortened.",
)
def always_scaled(backward, model, max_grad_norm):
    gradients = [parameter.grad for parameter in model.parameters()]
    norm = torch.sqrt(sum((gradient**2).sum() for gradient in gradients))
    for gradient in gradients:
        gradient.mul_(max_grad_norm / (norm + 1e-6))


@STEPS.slip(
    "clipped", "Every gradient is multiplied by the largest norm. Only one that is longer is shortened, to that norm."
)
def multiplied_by_the_norm(backward, model, max_grad_norm):
    for parameter in model.parameters():
        parameter.grad.mul_(max_grad_norm)


def draw(draw: Draw) -> Case:
    N, K = draw.size(3), draw.size(3, least=2)
    rewards = draw.numbers(N, K, least=0.0, most=1.0)
    return {
        "rewards": rewards,
        "scale": draw.choice([0.5, 5.0, 20.0]),
        "learning_rate": draw.choice([0.1, 0.5]),
        "max_grad_norm": draw.choice([1.0, 0.5, 0.1]),
    }


def boundary() -> list[Case]:
    case = {"rewards": torch.tensor([[1.0, 0.0]]), "scale": 10.0, "learning_rate": 0.5, "max_grad_norm": 1.0}
    return [case, case | {"scale": 0.5}, case | {"max_grad_norm": 0.25}]


EXERCISE = Exercise(
    name="training step",
    function="training_step",
    contract="`f(model, optimizer, loss, max_grad_norm)`, one update of the model's parameters.",
    steps=STEPS,
    arguments={
        "rewards": Numbers("N B", least=0.0, most=1.0),
        "scale": Scalar(usual=1.0, simple=(1.0, 10.0)),
        "learning_rate": Scalar(usual=0.1, simple=(0.5,)),
        "max_grad_norm": Scalar(usual=1.0, simple=(1.0,)),
    },
    result=Text(),
    draw=draw,
    boundary=boundary,
    call=call,
    valid=lambda case: case["rewards"].size(1) > 1 and bool((_spread(case["rewards"]) > 0.2).all()),
    draws=10,
)


def _spread(rewards: Tensor) -> Tensor:
    """(N,): how far a prompt's rewards lie apart; without a spread there is no gradient."""
    return rewards.max(dim=1).values - rewards.min(dim=1).values
