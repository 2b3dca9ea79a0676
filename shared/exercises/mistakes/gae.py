"""Wrong generalised advantages: `f(rewards, values, completion_mask, lam) -> advantages`, (B, C) each."""

import torch

from shared.exercises.mistakes import Mistakes

MISTAKES = Mistakes()


def _accumulate(deltas, lam):
    advantages = torch.zeros_like(deltas)
    running = torch.zeros_like(deltas[:, 0])
    for t in reversed(range(deltas.size(1))):
        running = deltas[:, t] + lam * running
        advantages[:, t] = running
    return advantages


def _following(values):
    return torch.cat([values[:, 1:], torch.zeros_like(values[:, :1])], dim=1)


@MISTAKES.known(
    "The value of the padding is used as the next state's value after the last token. An episode ends there: multiply "
    "values (and rewards) by the mask first, so that the next value is 0."
)
def padding_read_as_a_state(rewards, values, completion_mask, lam):
    return _accumulate((rewards + _following(values) - values) * completion_mask, lam) * completion_mask


@MISTAKES.known("The padding is not masked at all: its rewards and values flow back into the real tokens.")
def mask_ignored(rewards, values, completion_mask, lam):
    return _accumulate(rewards + _following(values) - values, lam)


@MISTAKES.known(
    "You accumulate from the first token to the last. An advantage is about what comes after: go backwards through time."
)
def accumulated_forwards(rewards, values, completion_mask, lam):
    rewards = rewards * completion_mask
    values = values * completion_mask
    deltas = (rewards + _following(values) - values) * completion_mask
    return _accumulate(deltas.flip(1), lam).flip(1) * completion_mask


@MISTAKES.known("lam is ignored: you return the one-step differences. Add lam times the advantage of the next token.")
def one_step_only(rewards, values, completion_mask, lam):
    rewards = rewards * completion_mask
    values = values * completion_mask
    return (rewards + _following(values) - values) * completion_mask


@MISTAKES.known("lam is ignored: you sum all later differences, which is lam = 1. Multiply the later advantage by lam.")
def whole_return(rewards, values, completion_mask, lam):
    return one_step_only(rewards, values, completion_mask, lam).flip(1).cumsum(1).flip(1) * completion_mask


@MISTAKES.known("The value of the next state is missing: delta is reward + V(next) - V(now).")
def next_value_forgotten(rewards, values, completion_mask, lam):
    return _accumulate((rewards - values) * completion_mask, lam) * completion_mask


@MISTAKES.known("The value of the state itself is not subtracted: these are returns, not advantages.")
def value_not_subtracted(rewards, values, completion_mask, lam):
    rewards = rewards * completion_mask
    values = values * completion_mask
    return _accumulate((rewards + _following(values)) * completion_mask, lam) * completion_mask


@MISTAKES.known("The sign is flipped: delta is reward + V(next) - V(now), not the other way round.")
def sign_flipped(rewards, values, completion_mask, lam):
    rewards = rewards * completion_mask
    values = values * completion_mask
    return -_accumulate((rewards + _following(values) - values) * completion_mask, lam) * completion_mask


@MISTAKES.known(
    "You return one column too many: there are C tokens and C advantages. The state after the last token has no action "
    "and so no advantage."
)
def one_column_too_many(rewards, values, completion_mask, lam):
    advantages = _accumulate((rewards + _following(values) - values) * completion_mask, lam)
    return torch.cat([advantages, torch.zeros_like(advantages[:, :1])], dim=1)
