"""The updates of a run: `run_updates(model, loss_of, steps, learning_rate, max_grad_norm)`, which trains the model.

The model is a table of scores, one for each prompt and completion; the loss of a step is its expected reward, at another
scale each step. What is compared is a sentence on what happened to it.
"""

import torch
from torch import Tensor, nn

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise, is_reference
from shared.exercises.results import Text
from shared.exercises.steps import Steps

STEPS = Steps()
SCALES = (0.3, 4.0, 1.0, 9.0)  # of the loss, one step after the other: some gradients are clipped and some are not


class Policy(nn.Module):
    """Scores (N, K) for each prompt, and a bias (K,) that all prompts share."""

    def __init__(self, N: int, K: int):
        super().__init__()
        self.scores = nn.Parameter(torch.full((N, K), 0.5))
        self.bias = nn.Parameter(torch.zeros(K))

    def expected(self, rewards: Tensor) -> Tensor:
        """(N,): the expected reward of each prompt."""
        return ((self.scores + self.bias).softmax(dim=1) * rewards).sum(dim=1)


@STEPS.step
def optimizer(model, learning_rate):
    return torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.0)


@STEPS.step
def numbers(steps):
    """The number of each step."""
    return range(steps)


@STEPS.step
def losses(loss_of, numbers):
    """The loss of each step, computed when it is asked for."""
    return (loss_of(step) for step in numbers)


@STEPS.step
def backward():
    """The backward pass of a loss, which comes first."""
    return lambda loss: loss.backward()


@STEPS.step
def clip(model, max_grad_norm):
    return lambda: torch.nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)


@STEPS.step
def move(optimizer):
    return lambda: optimizer.step()


@STEPS.step
def clear(optimizer):
    return lambda: optimizer.zero_grad()


@STEPS.step
def updates(losses, backward, clip, move, clear):
    for loss in losses:
        backward(loss)
        clip()
        move()
        clear()


@STEPS.slip(
    "optimizer", "The optimiser is SGD. Asked for is AdamW, which divides each step by the gradient's usual size."
)
def plain_sgd(model, learning_rate):
    return torch.optim.SGD(model.parameters(), lr=learning_rate)


@STEPS.slip(
    "optimizer",
    "AdamW pulls all weights towards 0 by its default, weight_decay=0.01. Nothing in the loss asks for that: pass 0.0.",
)
def weights_decay(model, learning_rate):
    return torch.optim.AdamW(model.parameters(), lr=learning_rate)


@STEPS.slip("learning_rate", "The learning rate is written down as 3e-4. Use the argument `learning_rate`.")
def rate_hard_coded():
    return 3e-4


@STEPS.slip("numbers", "The steps are counted from 1. The first is step 0: the number decides which rows come.")
def counted_from_one(steps):
    return range(1, steps + 1)


@STEPS.slip("numbers", "One update is missing: make as many as `steps` says.")
def one_too_few(steps):
    return range(steps - 1)


@STEPS.slip(
    "losses", "Every step asks for the loss of step 0, the same rows again and again. Hand over the step's number."
)
def always_step_0(loss_of, numbers):
    return (loss_of(0) for _ in numbers)


@STEPS.slip(
    "losses",
    "All losses are computed before the first update, from what the untrained policy sampled. Ask for each one when its "
    "step has come.",
)
def all_beforehand(losses):
    return list(losses)


@STEPS.slip(
    "losses",
    "The loss is computed once and used in every step. Ask for it anew: the policy has changed, and samples anew.",
)
def computed_once(loss_of, numbers):
    def first():
        return loss_of(0)

    loss = first()
    return (loss.clone() for _ in numbers)


@STEPS.slip(
    "backward", "The sign is flipped: the loss has the sign that an optimiser minimises, and yours makes it grow."
)
def sign_flipped():
    return lambda loss: (-loss).backward()


@STEPS.slip(
    "clip",
    "The gradient's norm is not clipped when the optimiser steps: `clip_grad_norm_` is missing, stands before the backward "
    "pass, when there is no gradient yet, or behind the step; or it gets no parameters, as from a `model.parameters()` that "
    "somebody has gone through.",
)
def not_clipped():
    return lambda: None


@STEPS.slip(
    "clip", "Each number of the gradient is cut by itself, which turns it. `clip_grad_norm_` shortens the whole."
)
def clipped_by_value(model, max_grad_norm):
    return lambda: torch.nn.utils.clip_grad_value_(model.parameters(), max_grad_norm)


@STEPS.slip("max_grad_norm", "The largest norm is written down as 1.0. Use the argument `max_grad_norm`.")
def norm_hard_coded():
    return 1.0


@STEPS.slip(
    "move",
    "Nothing moves: the optimiser's step is missing, or comes when the gradients are cleared already.",
)
def no_step():
    return lambda: None


@STEPS.slip(
    "move",
    "The optimiser is made anew in each step and forgets the running means by which AdamW goes. Make it once, above the "
    "loop.",
)
def optimizer_made_anew(model, learning_rate):
    return lambda: torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.0).step()


@STEPS.slip(
    "clear",
    "The gradients are never cleared: each backward pass adds to those of all steps before. Call `zero_grad()`.",
)
def never_cleared():
    return lambda: None


def call(function, case: Case) -> str:
    """Make the updates; a sentence on what they did."""
    rewards, steps, learning_rate, max_grad_norm = case.values()
    policy = Policy(*rewards.shape)
    asked = []

    def loss_of(step: int) -> Tensor:
        """The rows of a step are all but one, another one each time."""
        asked.append(step)
        rows = torch.arange(len(rewards)) != step % max(2, len(rewards))
        return -SCALES[step % len(SCALES)] * (policy.expected(rewards) * rows).sum()

    given = {
        "model": policy,
        "loss_of": loss_of,
        "steps": steps,
        "learning_rate": learning_rate,
        "max_grad_norm": max_grad_norm,
    }
    if is_reference(function):
        function(**given)
    else:
        function(*given.values())
    with torch.no_grad():
        ends = " ".join(f"{reward:.5f}" for reward in policy.expected(rewards).tolist())
        scores = " ".join(f"{score:+.5f}" for score in policy.scores.flatten().tolist())
    return f"the losses of the steps {asked} were asked for; expected rewards are {ends} at the end, scores {scores}"


@STEPS.slip(
    "losses",
    "Each loss is asked for twice, and every call samples anew. Keep what `loss_of(step)` gives in a variable.",
)
def asked_twice(loss_of, numbers):
    return (loss_of(step) for step in numbers if loss_of(step) is not None)


@STEPS.slip(
    "clip",
    "The gradient is always brought to the largest norm: a short one is made longer. Only one that is longer is shortened.",
)
def always_scaled(model, max_grad_norm):
    def scale():
        gradients = [parameter.grad for parameter in model.parameters()]
        norm = torch.sqrt(sum((gradient**2).sum() for gradient in gradients))
        for gradient in gradients:
            gradient.mul_(max_grad_norm / (norm + 1e-6))

    return scale


@STEPS.slip("clip", "Each parameter's gradient is clipped by itself. The norm is that of all parameters together.")
def each_clipped_alone(model, max_grad_norm):
    def clip():
        for parameter in model.parameters():
            torch.nn.utils.clip_grad_norm_([parameter], max_grad_norm)

    return clip


@STEPS.slip("numbers", "There is one update too many: make as many as `steps` says.")
def one_too_many(steps):
    return range(steps + 1)


@STEPS.slip("numbers", "Only one update is made. Make as many as `steps` says.")
def one_alone(steps):
    return range(1)


@STEPS.slip(
    "updates",
    "A step whose loss is 0 is left out. GRPO's loss is 0 wherever the policy has not moved yet, and its gradient is not: "
    "make the update.",
)
def loss_of_0_left_out(losses, backward, clip, move, clear):
    for loss in losses:
        if loss.abs() < 1e-6:
            continue
        backward(loss)
        clip()
        move()
        clear()


def draw(draw: Draw) -> Case:
    N, K = draw.size(3), draw.size(3, least=2)
    return {
        "rewards": draw.numbers(N, K, least=0.0, most=1.0),
        "steps": draw.choice([4, 6, 9, 3]),
        "learning_rate": draw.choice([0.1, 0.3]),
        "max_grad_norm": draw.choice([1.0, 0.5, 0.1]),
    }


def boundary() -> list[Case]:
    case = {"rewards": torch.tensor([[1.0, 0.0]]), "steps": 5, "learning_rate": 0.3, "max_grad_norm": 1.0}
    two = torch.tensor([[1.0, 0.0, 0.4], [0.0, 0.7, 1.0]])
    three = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.2, 0.9]])
    return [
        case,
        case | {"rewards": two},
        case | {"rewards": two, "max_grad_norm": 0.25},
        case | {"rewards": three, "steps": 3},
    ]


def _spread(rewards: Tensor) -> Tensor:
    """(N,): how far a prompt's rewards lie apart; without a spread there is no gradient."""
    return rewards.max(dim=1).values - rewards.min(dim=1).values


EXERCISE = Exercise(
    name="updates of a run",
    function="run_updates",
    contract="`f(model, loss_of, steps, learning_rate, max_grad_norm)`: AdamW updates by `loss_of(0)`, `loss_of(1)`, ...",
    steps=STEPS,
    arguments={
        "rewards": Numbers("N B", least=0.0, most=1.0),
        "steps": Scalar(usual=60, simple=(4, 5)),
        "learning_rate": Scalar(usual=3e-4, simple=(0.3,)),
        "max_grad_norm": Scalar(usual=1.0, simple=(1.0,)),
    },
    result=Text(),
    draw=draw,
    boundary=boundary,
    call=call,
    valid=lambda case: case["rewards"].size(1) > 1 and bool((_spread(case["rewards"]) > 0.2).all()),
    draws=10,
)
