"""Generalised advantages: `advantages_of(rewards, values, completion_mask, lam) -> advantages`, (B, C) each."""

import torch

from shared.exercises.arguments import Mask, Numbers, Scalar
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()
WRAPS_AROUND = (
    "The next value of the last token wraps around to the first column: `roll` does that. After the last token it is 0."
)


@STEPS.step
def real_rewards(rewards, completion_mask):
    return rewards * completion_mask


@STEPS.step
def real_values(values, completion_mask):
    return values * completion_mask


@STEPS.step
def following(real_values):
    """The value of the next state, 0 after the last token."""
    return torch.cat([real_values[:, 1:], torch.zeros_like(real_values[:, :1])], dim=1)


@STEPS.step
def deltas(real_rewards, following, real_values):
    return real_rewards + following - real_values


@STEPS.step
def real_deltas(deltas, completion_mask):
    return deltas * completion_mask


@STEPS.step
def decay(lam):
    return lam


@STEPS.step
def accumulated(real_deltas, decay):
    collected = []
    running = torch.zeros_like(real_deltas[:, 0])
    for delta in reversed(real_deltas.unbind(dim=1)):
        running = delta + decay * running
        collected.append(running)
    return torch.stack(collected[::-1], dim=1)


@STEPS.step
def advantages(accumulated):
    return accumulated


@STEPS.slip(
    "following",
    "The value of the padding is used as the next state's value after the last token. An episode ends there: multiply "
    "values (and rewards) by the mask first, so that the next value is 0.",
)
def padding_read_as_a_state(values):
    return torch.cat([values[:, 1:], torch.zeros_like(values[:, :1])], dim=1)


@STEPS.slip(
    "completion_mask",
    "The rewards and values of the padding flow back into the real tokens: make them 0 before the differences are formed.",
)
def mask_ignored(completion_mask):
    return torch.ones_like(completion_mask)


@STEPS.slip(
    "accumulated",
    "You accumulate from the first token to the last. An advantage is about what comes after: go backwards through time.",
)
def accumulated_forwards(real_deltas, decay):
    collected = []
    running = torch.zeros_like(real_deltas[:, 0])
    for delta in real_deltas.unbind(dim=1):
        running = delta + decay * running
        collected.append(running)
    return torch.stack(collected, dim=1)


@STEPS.slip("following", WRAPS_AROUND)
def next_value_wraps_around(real_values):
    return real_values.roll(-1, dims=1)


@STEPS.slip("following", "You take the value of the state before instead of the one after: shift the other way.")
def previous_value(real_values):
    return torch.cat([torch.zeros_like(real_values[:, :1]), real_values[:, :-1]], dim=1)


@STEPS.slip(
    "following",
    "After the last column the last value is used once more. An episode ends there: the next value is 0.",
)
def last_value_repeated(real_values):
    return torch.cat([real_values[:, 1:], real_values[:, -1:]], dim=1)


@STEPS.slip("following", "lam multiplies the next value. It decays the advantage of the next token; nothing else.")
def next_value_decayed(following, lam):
    return lam * following


@STEPS.slip("deltas", "The sign is flipped: delta is reward + V(next) - V(now), not the other way round.")
def sign_flipped(deltas):
    return -deltas


@STEPS.slip(
    "advantages",
    "The last column is missing: your loop begins one token too early. Its advantage is reward minus value.",
)
def last_token_left_out(accumulated):
    return torch.cat([accumulated[:, :-1], torch.zeros_like(accumulated[:, :1])], dim=1)


@STEPS.slip("advantages", "You normalise the advantages. That comes later: return them as they are.")
def whitened(accumulated):
    return (accumulated - accumulated.mean()) / (accumulated.std(correction=0) + 1e-8)


@STEPS.slip(
    "real_deltas",
    "The values are masked and the rewards are not: what stands in the padding flows back into the real tokens.",
)
def rewards_not_masked(rewards, following, real_values):
    return rewards + following - real_values


@STEPS.slip(
    "accumulated",
    "Only one later difference is added: the advantage of the next token has all that follow in it. Keep one tensor that "
    "you update.",
)
def one_later_difference(real_deltas, decay):
    later = torch.cat([real_deltas[:, 1:], torch.zeros_like(real_deltas[:, :1])], dim=1)
    return real_deltas + decay * later


@STEPS.slip(
    "accumulated",
    "Each difference is weighted with lambda to the power of its place in the completion. The power counts from the token "
    "whose advantage it is: its own difference has the weight 1.",
)
def powers_from_the_start(real_deltas, decay):
    weighted = real_deltas * decay ** torch.arange(real_deltas.size(1))
    return weighted.flip(1).cumsum(dim=1).flip(1)


@STEPS.slip(
    "accumulated",
    "A reward ends the episode in yours: neither the next value nor what comes later reaches across it. Only the "
    "completion's end does that.",
)
def ended_by_a_reward(real_rewards, following, real_values, completion_mask, decay):
    goes_on = (real_rewards == 0).float()
    deltas = (real_rewards + following * goes_on - real_values) * completion_mask
    collected = []
    running = torch.zeros_like(deltas[:, 0])
    for delta, onward in zip(reversed(deltas.unbind(dim=1)), reversed(goes_on.unbind(dim=1))):
        running = delta + decay * onward * running
        collected.append(running)
    return torch.stack(collected[::-1], dim=1)


@STEPS.slip("real_deltas", WRAPS_AROUND)
def wraps_around_unmasked(real_rewards, real_values):
    return real_rewards + real_values.roll(-1, dims=1) - real_values


@STEPS.slip(
    "real_deltas",
    "Only the next values are masked: the padding's own rewards and values flow back into the real tokens, by lam. Make "
    "its differences 0 as well.",
)
def next_values_alone_masked(rewards, following, values):
    return rewards + following - values


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size(5)
    mask = draw.mask(B, C)
    rewards = draw.numbers(B, C)
    if draw.random() < 0.3:
        last = torch.arange(C) == mask.sum(dim=1, keepdim=True) - 1
        rewards = rewards * last  # as in the notebook: one reward, at the end
    return {
        "rewards": draw.garbage(rewards, mask),
        "values": draw.garbage(draw.numbers(B, C), mask),
        "completion_mask": mask.float() if draw.random() < 0.2 else mask,
        "lam": draw.choice([0.0, 0.3, 0.5, 0.7, 0.95, 1.0]),
    }


def boundary() -> list[Case]:
    def case(rewards: list[float], values: list[float], mask: list[int], lam: float) -> Case:
        return {
            "rewards": torch.tensor([rewards]),
            "values": torch.tensor([values]),
            "completion_mask": torch.tensor([mask]),
            "lam": lam,
        }

    return [
        case([1.0], [0.25], [1], 0.95),
        case([0.0, 1.0], [0.5, 0.25], [1, 1], 0.0),
        case([0.0, 1.0], [0.5, 0.25], [1, 1], 1.0),
        case([0.0, 0.0, 1.0], [0.5, 0.25, 0.75], [1, 1, 1], 0.5),
        case([1.0, 3.0], [0.5, 2.0], [1, 0], 0.5),
    ]


EXERCISE = Exercise(
    name="generalised advantages",
    function="advantages_of",
    contract="`f(rewards, values, completion_mask, lam) -> advantages`, (B, C) each.",
    steps=STEPS,
    arguments={
        "rewards": Numbers("B C"),
        "values": Numbers("B C"),
        "completion_mask": Mask("B C"),
        "lam": Scalar(usual=0.95, most=1.0),
    },
    result=TensorOf("B C"),
    draw=draw,
    boundary=boundary,
    relevant="completion_mask",
    valid=lambda case: bool((case["completion_mask"].sum(dim=1) > 0).all()),
)
