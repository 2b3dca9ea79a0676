"""Calling reward functions, adding them up, and a few that fit any task.

A reward function has TRL's signature, `reward(prompts, completions, **columns) -> list[float]`, so each one also
runs in `trl.GRPOTrainer` unchanged. It reads only the completion: a reward that reads the prompt as well pays for
what the user wrote.
"""

import math
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

RewardFunction = Callable[..., list[float]]


def score(
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    prompts: Sequence[str],
    completions: Sequence[str],
    columns: dict[str, Sequence] | None = None,
) -> Float[Tensor, "B F"]:
    """Call F reward functions on B completions, (B, F).

    Args:
        columns: further columns of the data set, each with B entries, passed by name.

    Raises:
        ValueError: a function returns the wrong number of rewards or one that is not a finite number; the
            message names the function and the completion.
    """
    functions = [reward_funcs] if callable(reward_funcs) else list(reward_funcs)
    if not functions:
        raise ValueError("reward_funcs is empty: at least one reward function is needed.")
    scores = []
    for function in functions:
        name = getattr(function, "__name__", repr(function))
        rewards = function(prompts=list(prompts), completions=list(completions), **(columns or {}))
        if rewards is None or len(rewards) != len(completions):
            found = "nothing" if rewards is None else f"{len(rewards)} rewards"
            raise ValueError(f"{name} returned {found} for {len(completions)} completions; return a list, one for each.")
        for i, reward in enumerate(rewards):
            if reward is None or not math.isfinite(reward):
                raise ValueError(
                    f"{name} gave the reward {reward} to completion {i}, {completions[i]!r}; give a finite number."
                )
        scores.append([float(reward) for reward in rewards])
    return torch.tensor(scores).T


def add_up(rewards_per_func: Float[Tensor, "B F"], weights: Sequence[float] | None = None) -> Float[Tensor, "B"]:
    """The weighted sum over functions, (B, F) to (B,); all weights 1 by default. ValueError when F weights are not given."""
    if weights is None:
        return rewards_per_func.sum(dim=1)
    if len(weights) != rewards_per_func.size(1):
        raise ValueError(f"{len(weights)} reward weights were given for {rewards_per_func.size(1)} reward functions.")
    return rewards_per_func @ rewards_per_func.new_tensor(weights)


def columns_of(rows: Sequence[dict]) -> dict[str, list]:
    """The columns of a data set other than `prompt`. ValueError when a row lacks one that the first row has."""
    for i, row in enumerate(rows):
        if missing := rows[0].keys() - row.keys():
            raise ValueError(f"Row {i} of the data set has no {sorted(missing)[0]!r}, which row 0 has.")
    return {name: [row[name] for row in rows] for name in rows[0] if name != "prompt"}


def exact_match(prompts, completions, answer, **columns) -> list[float]:
    """1.0 where the stripped, case-folded first line of the completion is the answer, else 0.0."""
    return [float(first_line(c) == str(a).strip().casefold()) for c, a in zip(completions, answer)]


def first_line(completion: str) -> str:
    """The first line that is not blank, stripped and case-folded; "" when there is none."""
    return next((line.strip().casefold() for line in completion.splitlines() if line.strip()), "")
