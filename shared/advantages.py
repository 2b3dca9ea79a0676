"""Advantages: how much better a completion was than what the policy usually does.

Group advantages follow GRPO (Shao et al. 2024, DeepSeekMath, arXiv:2402.03300, section 4.1.2). Two choices are ours. The
standard deviation is the population's: divide by G. The paper writes std(r) and does not say which; `torch.std` divides by
G - 1. A group whose rewards are all equal gets exactly 0, so that rounding in the mean can never be blown up by a tiny
denominator. `notebooks/dots.ipynb` writes `group_advantages`, `notebooks/gradients.ipynb` derives it.
"""

from typing import Literal, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

ScaleRewards = Literal["group", "batch", "none", "mean"]


def plain_group_advantages(
    rewards: Float[Tensor, "B"], num_generations: int, advantage_eps: float = 1e-4
) -> Float[Tensor, "B"]:
    """GRPO's advantages: each reward beside those of the other completions of the same prompt.

        A_i = (r_i - mean(r_group)) / (std(r_group) + advantage_eps)

    Three prompts, four completions each (G = 4), rewards of 0 and 1:

        rewards    mean   std     advantages
        1 0 0 1    0.5    0.5      1     -1     -1      1
        1 0 0 0    0.25   0.433    1.73  -0.58  -0.58  -0.58     the one right answer pulls more
        1 1 1 1    1      0        0      0      0      0        nothing to compare: no gradient
    """
    groups = rewards.view(-1, num_generations)  # (N, G)
    mean = groups.mean(dim=1, keepdim=True)  # (N, 1)
    std = groups.std(dim=1, correction=0, keepdim=True)  # (N, 1)
    return ((groups - mean) / (std + advantage_eps)).view(-1)


def group_advantages(
    rewards: Float[Tensor, "B"],
    num_generations: int,
    scale_rewards: ScaleRewards = "group",
    advantage_eps: float = 1e-4,
    rated: Bool[Tensor, "B"] | None = None,
) -> tuple[Float[Tensor, "B"], dict[str, float]]:
    """`plain_group_advantages`, with other divisors and with completions that do not count; and metrics.

    Args:
        rewards: (B,) with B = prompts x G; the G completions of one prompt stand next to each other.
        num_generations: G, at least 2.
        scale_rewards: divide by the standard deviation of the "group" (GRPO), of the whole "batch", by nothing
            ("none", Dr. GRPO, Liu et al. 2025, arXiv:2503.20783), or by the group's "mean" (`maxrl_divisor`).
        advantage_eps: added to what is divided by.
        rated: (B,), the completions that count (`rated_in_groups`); the others are left out of mean and standard
            deviation, and their advantage is 0. None for all.

    Returns:
        (B,) advantages, and metrics: `reward`, `reward_std` (mean over groups) and `frac_reward_zero_std`, the
        fraction of groups that give no gradient.

    Raises:
        ValueError: G < 2, B not a multiple of G, a reward that is not finite, an unknown `scale_rewards`, or rewards
            below 0 that are to be divided by their mean.
    """
    require_groups(rewards, num_generations)
    rewards = rewards.detach().to(torch.promote_types(rewards.dtype, torch.float32))
    if rated is None or rated.all():
        rated = torch.ones_like(rewards, dtype=torch.bool)
    rewards = rewards.masked_fill(~rated, 0.0)
    if not rewards.isfinite().all():
        bad = int((~rewards.isfinite()).nonzero()[0])
        raise ValueError(f"The reward of completion {bad} is {rewards[bad].item()}; a reward must be a finite number.")

    groups = rewards.view(-1, num_generations)  # (N, G)
    counts = rated.view(-1, num_generations)  # (N, G)
    group_mean, group_std, all_equal = group_statistics(groups, counts)  # (N, 1) each
    centred = (groups - group_mean).masked_fill(~counts, 0.0)  # (N, G)
    if scale_rewards == "group":
        advantages = centred / (group_std + advantage_eps)
    elif scale_rewards == "batch":
        advantages = centred / (rewards[rated].std(correction=0) + advantage_eps)
    elif scale_rewards == "none":
        advantages = centred
    elif scale_rewards == "mean":
        advantages = centred / maxrl_divisor(rewards, group_mean, advantage_eps)
    else:
        raise ValueError(f"scale_rewards is {scale_rewards!r}; choose one of {', '.join(get_args(ScaleRewards))}.")

    metrics = {
        "reward": rewards[rated].mean().item(),
        "reward_std": group_std[counts.any(dim=1)].mean().item(),
        "frac_reward_zero_std": all_equal.float().mean().item(),
    }
    return advantages.masked_fill(all_equal, 0.0).view(-1), metrics


def require_groups(rewards: Tensor, num_generations: int) -> None:
    """ValueError for groups of less than two completions, and for rewards that are not one for every completion."""
    if num_generations < 2:
        raise ValueError(
            f"num_generations is {num_generations}, but a group needs at least 2 completions: with one, "
            "the reward equals the group's mean and every advantage is 0."
        )
    if rewards.ndim != 1 or rewards.numel() == 0 or rewards.numel() % num_generations:
        raise ValueError(
            f"rewards has shape {tuple(rewards.shape)}; expected (B,) with B a positive multiple of "
            f"num_generations = {num_generations}, one reward for every completion."
        )


def group_statistics(
    groups: Float[Tensor, "N G"], counts: Bool[Tensor, "N G"]
) -> tuple[Float[Tensor, "N 1"], Float[Tensor, "N 1"], Bool[Tensor, "N 1"]]:
    """Mean and standard deviation of the rewards that count in each group, and True where all of these are equal."""
    highest = groups.masked_fill(~counts, -torch.inf).amax(dim=1, keepdim=True)  # (N, 1)
    all_equal = ((groups == highest) | ~counts).all(dim=1, keepdim=True)  # (N, 1)
    if counts.all():
        return groups.mean(dim=1, keepdim=True), groups.std(dim=1, correction=0, keepdim=True), all_equal
    number = counts.sum(dim=1, keepdim=True).clamp(min=1)  # (N, 1)
    mean = groups.sum(dim=1, keepdim=True) / number
    squares = (groups - mean).masked_fill(~counts, 0.0).square()  # (N, G)
    return mean, (squares.sum(dim=1, keepdim=True) / number).sqrt(), all_equal


def maxrl_divisor(
    rewards: Float[Tensor, "B"], group_mean: Float[Tensor, "N 1"], advantage_eps: float
) -> Float[Tensor, "N 1"]:
    """The mean reward of each group, which follows the gradient of log p, p = E[r], for rewards of 0 and 1.

    Since grad log p = E[s | right], the mean score of the K right ones of G samples is an estimate of it where K is not 0.
    Take off the mean score of all G, which is 0 in expectation: sum_i (r_i / mean(r) - 1) s_i / G. Groups without a right
    one give 0, and so the mean over groups is exactly the gradient of -sum_{k=1}^{G-1} (1 - p)^k / k, which is log p for
    large G and p for G = 2. Tajwar et al. 2026 (arXiv:2602.02710) call maximum likelihood by such a series MaxRL; the
    estimator is derived here and tested by enumeration. The gradient of p is so multiplied by (1 - (1 - p)^(G-1)) / p: by
    6.6, not 50, at p = 0.02 and G = 8.

    Raises ValueError for a reward below 0.
    """
    if (rewards < 0).any():
        raise ValueError(
            f'A reward is {rewards.min().item()}, and scale_rewards="mean" divides by the mean of a group, which '
            "wants rewards of 0 and above. Add a constant to them, or choose another scale."
        )
    return group_mean + advantage_eps


def rated_in_groups(rewards: Float[Tensor, "B"], num_generations: int) -> Bool[Tensor, "B"]:
    """The completions that count in their groups, (B,): those with a reward, where two of the group have one.

    A reward of nan stands for none: no reward function was there for the completion. One that is alone in its group is
    compared with nothing.
    """
    rated = ~rewards.isnan().view(-1, num_generations)  # (N, G)
    return (rated & (rated.sum(dim=1, keepdim=True) >= 2)).flatten()


def leave_one_out_advantages(
    rewards: Float[Tensor, "B"], num_generations: int, rated: Bool[Tensor, "B"] | None = None
) -> tuple[Float[Tensor, "B"], dict[str, float]]:
    """Reward minus the mean of the *other* completions of the same prompt (RLOO; Kool et al. 2019; Ahmadian et al. 2024).

        A_i = r_i - mean of the other G - 1 rewards = G / (G - 1) x (r_i - mean(r_group))

    A baseline that leaves the completion itself out is independent of it, so the gradient is unbiased; the group's
    own mean shrinks it by (G - 1) / G.

    Args, metrics and errors are those of `group_advantages`.
    """
    centred, metrics = group_advantages(rewards, num_generations, scale_rewards="none", rated=rated)
    if rated is None or rated.all():
        return centred * num_generations / (num_generations - 1), metrics
    number = rated.view(-1, num_generations).sum(dim=1).repeat_interleave(num_generations)  # (B,)
    return centred * number / (number - 1).clamp(min=1), metrics


def turn_advantages(rewards: Float[Tensor, "B T"], num_generations: int) -> Float[Tensor, "B T"]:
    """The advantage of each turn of a game: what follows it, beside the other games of the group that have this turn.

        R_it = sum_{k >= t} r_ik,    A_it = group advantage of R_it among the games with a turn t

    A game that ended sooner is not asked what it would have earned, so a late turn is compared with late turns alone.
    For a reward that comes at the end, R_it is the same number for every turn of a game, and only the comparison differs.
    `notebooks/game.ipynb` works an example out.

    Args:
        rewards: (B, T), the reward after each turn; nan where a game has no such turn.
        num_generations: G, at least 2; the G games of a group stand next to each other.

    Returns:
        (B, T); 0 where a game has no such turn, or is the only one of its group that has it.
    """
    absent = rewards.isnan()
    following = rewards.nan_to_num(0.0).flip(1).cumsum(dim=1).flip(1).masked_fill(absent, torch.nan)  # (B, T)
    of_turns = [
        group_advantages(returns, num_generations, rated=rated_in_groups(returns, num_generations))[0]
        for returns in following.unbind(dim=1)
    ]
    return torch.stack(of_turns, dim=1)


def turn_beginnings(mask: Int[Tensor, "B C"]) -> Bool[Tensor, "B C"]:
    """The places at which turns begin, (B, C): the mask is 1 there and was not one place before."""
    before = torch.nn.functional.pad(mask, (1, 0))[:, :-1]  # (B, C), 0 in the first place
    return (mask == 1) & (before == 0)


def advantages_of_turns(
    policy_mask: Int[Tensor, "B C"], rewards: Float[Tensor, "B"], num_generations: int
) -> Float[Tensor, "B C"]:
    """`turn_advantages` of games that are paid at their end, at each token of a turn.

    Args:
        policy_mask: (B, C), 1 for the tokens that the policy drew, 0 for what it heard and in the padding.
        rewards: (B,), what each game earned.
    """
    turn = (turn_beginnings(policy_mask).cumsum(dim=1) - 1).clamp(min=0)  # (B, C), the number of each turn, from 0
    last = turn.amax(dim=1, keepdim=True)  # (B, 1)
    numbers = torch.arange(int(last.max()) + 1, device=policy_mask.device)  # (T,)
    paid = torch.where(numbers == last, rewards[:, None].to(policy_mask.device), 0.0)  # (B, T)
    return turn_advantages(paid.masked_fill(numbers > last, torch.nan), num_generations).gather(1, turn)


def gae(
    rewards: Float[Tensor, "B C"], values: Float[Tensor, "B C"], completion_mask: Tensor, lam: float = 0.95
) -> tuple[Float[Tensor, "B C"], Float[Tensor, "B C"]]:
    """Generalised advantage estimates (Schulman et al. 2016, arXiv:1506.02438, equation 16) without discount.

        delta_t = r_t + V(s_{t+1}) - V(s_t),   A_t = delta_t + lam A_{t+1}

    The state after the last token is terminal: its value is 0, whatever the completion was cut by. Where an environment
    spoke the mask has a hole: its words belong to the way from one token of the policy's to the next, so the next state
    is the one before that token.

    Args:
        rewards: (B, C), the reward of each token; at the end of a completion for most tasks.
        values: (B, C), the critic's value of the state *before* each token.
        completion_mask: (B, C), 1 up to and including the last token, 0 where an environment spoke.
        lam: 0 is the one-step form, 1 the whole return minus the value.

    Returns:
        (B, C) advantages and (B, C) returns, the critic's targets A + V; both 0 in the padding.

    Raises:
        ValueError: shapes that differ, or lam outside of [0, 1].
    """
    if not rewards.shape == values.shape == completion_mask.shape:
        raise ValueError(
            f"rewards {tuple(rewards.shape)}, values {tuple(values.shape)} and mask {tuple(completion_mask.shape)} "
            "must all be (B, C): one entry for each token, none for the state after the last."
        )
    if not 0 <= lam <= 1:
        raise ValueError(f"lam is {lam}; it must lie in [0, 1].")
    own = completion_mask.bool()
    rewards = rewards.detach().masked_fill(~own, 0.0)
    values = values.detach().masked_fill(~own, 0.0)
    advantages = torch.zeros_like(values)
    following = torch.zeros_like(values[:, 0])  # (B,), the value of the next state: 0 after the last token
    running = torch.zeros_like(values[:, 0])  # (B,), the advantage of the next token
    for t in reversed(range(values.size(1))):
        here = rewards[:, t] + following - values[:, t] + lam * running
        running = torch.where(own[:, t], here, running)
        following = torch.where(own[:, t], values[:, t], following)
        advantages[:, t] = running
    advantages = advantages.masked_fill(~own, 0.0)
    return advantages, advantages + values


def whiten(values: Float[Tensor, "B C"], mask: Tensor, eps: float = 1e-8) -> Float[Tensor, "B C"]:
    """Mean 0 and standard deviation 1 over the real tokens only, (B, C); padding comes out 0."""
    values = values.masked_fill(mask == 0, 0.0)
    count = mask.sum()
    centred = (values - values.sum() / count).masked_fill(mask == 0, 0.0)
    std = (centred.square().sum() / count).sqrt()
    return centred / (std + eps)
