"""Policy losses: from log-probabilities and advantages to one number to minimise.

`plain_grpo_loss` is GRPO's (Shao et al. 2024, DeepSeekMath, arXiv:2402.03300, equation 3), `grpo_loss` the same with variants:

- The clipped surrogate is PPO's (Schulman et al. 2017, arXiv:1707.06347, equation 7). In the place of the clip CISPO
  (arXiv:2506.13585) has a bound, SAPO (arXiv:2511.20347) a gate; `ratio_weight` is what each multiplies the gradient with.
- The ratio is one a token or, as in GSPO (Zheng et al. 2025, arXiv:2507.18071), one a completion.
- Token losses are averaged as in GRPO, DAPO (Yu et al. 2025, arXiv:2503.14476) or Dr. GRPO (arXiv:2503.20783).
- Truncated importance sampling corrects for a sampler that is not the policy.

One departure from TRL 1.x: the KL penalty is the published one; TRL multiplies it by the importance ratio unless
`use_bias_correction_kl=False`. Every function is pure: tensors in, `(value, metrics)` or a tensor out. `notebooks/dots.ipynb`
writes `grpo_loss`; `gradients`, `off_policy` and `ratio_weights` derive and measure its parts.
"""

from typing import Literal, get_args

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from shared.kl import KLEstimator, k3, per_token_kl

LossType = Literal["grpo", "dapo", "dr_grpo", "cispo", "sapo"]
RatioLevel = Literal["token", "sequence"]
CorrectionMode = Literal["token_truncate", "token_mask", "sequence_truncate", "sequence_mask"]
# TRL's names: the share of ratios without a gradient below the range, above it, and both.
CLIP_RATIOS = ("clip_ratio/low_mean", "clip_ratio/high_mean", "clip_ratio/region_mean")


def plain_grpo_loss(
    logps: Float[Tensor, "B C"],
    old_logps: Float[Tensor, "B C"],
    advantages: Float[Tensor, "B"],
    completion_mask: Tensor,
    ref_logps: Float[Tensor, "B C"],
    beta: float,
    epsilon: float = 0.2,
) -> Float[Tensor, ""]:
    """`grpo_loss` without its options: with ratio = pi / pi_old, and k3 the KL penalty of `shared.kl`,

        mean over completions of the mean over tokens of  -min(ratio A, clip(ratio, 1 - epsilon, 1 + epsilon) A) + beta k3

    Four completions of one token, pi_ref = pi_old, beta 0.1:

        pi    pi_old   ratio   A      ratio A   clip(ratio) A   k3      loss
        0.6   0.5      1.2     1.2    1.44      1.44            0.016   -1.438
        0.4   0.5      0.8     -0.4   -0.32     -0.32           0.027   0.323
        0.7   0.6      1.167   0.5    0.583     0.583           0.011   -0.582
        0.3   0.4      0.75    -1     -0.75     -0.8            0.046   0.805     clipped: made rare enough, no gradient
                                                                mean    -0.223
    """
    padding = completion_mask == 0
    # Masked before exp: padding may hold any value, and inf x 0 is nan.
    logps, old_logps, ref_logps = (x.masked_fill(padding, 0.0) for x in (logps, old_logps, ref_logps))
    A = advantages[:, None]  # (B, 1), one for all tokens of a completion
    ratio = (logps - old_logps).exp()  # (B, C)
    surrogate = torch.minimum(ratio * A, ratio.clamp(1 - epsilon, 1 + epsilon) * A)
    token_losses = (beta * k3(logps, ref_logps) - surrogate).masked_fill(padding, 0.0)  # (B, C)
    return (token_losses.sum(dim=1) / completion_mask.sum(dim=1)).mean()


def masked_mean(values: Float[Tensor, "B C"], mask: Tensor) -> Float[Tensor, ""]:
    """Mean over the tokens where `mask` (B, C) is 1; what stands under 0 is never read, not even nan."""
    return values.masked_fill(mask == 0, 0.0).sum() / mask.sum().clamp(min=1)


def aggregate(
    per_token_loss: Float[Tensor, "B C"],
    completion_mask: Tensor,
    loss_type: LossType = "grpo",
    max_completion_length: int | None = None,
) -> Float[Tensor, ""]:
    """Reduce (B, C) token losses to one number; numerator and denominator use the same mask.

    grpo     mean over a completion's tokens, then over completions: short completions weigh more per token
    dapo     one mean over all tokens: every token weighs the same
    dr_grpo  sum divided by B x max_completion_length, a constant: no length in the denominator
    cispo    as dapo
    sapo     as grpo

    Raises ValueError for an unknown `loss_type`, and for dr_grpo without `max_completion_length`.
    """
    token_losses = per_token_loss.masked_fill(completion_mask == 0, 0.0)  # (B, C)
    if loss_type in ("grpo", "sapo"):
        lengths = completion_mask.sum(dim=1).clamp(min=1)  # (B,)
        return (token_losses.sum(dim=1) / lengths).mean()
    if averages_over_tokens(loss_type):
        return token_losses.sum() / completion_mask.sum().clamp(min=1)
    if loss_type == "dr_grpo":
        if not max_completion_length:
            raise ValueError("dr_grpo divides by a constant length: give max_completion_length (max_new_tokens).")
        return token_losses.sum() / (len(token_losses) * max_completion_length)
    raise ValueError(unknown_loss_type(loss_type))


def averages_over_tokens(loss_type: LossType) -> bool:
    """True where the loss is one mean over all tokens, False where it is a mean over completions."""
    return loss_type in ("dapo", "cispo")


def clips(loss_type: LossType) -> bool:
    """True where the ratio is clipped as in PPO; cispo has a bound in the place of that, sapo a gate."""
    return loss_type in ("grpo", "dapo", "dr_grpo")


def unknown_loss_type(loss_type: str) -> str:
    return f"loss_type is {loss_type!r}; choose one of {', '.join(get_args(LossType))}."


def reinforce_loss(
    logps: Float[Tensor, "B C"], advantages: Float[Tensor, "B"], completion_mask: Tensor
) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
    """REINFORCE with advantages, the handout's plain objective: -mean over completions of A_i x mean_t log pi(y_t)."""
    loss = aggregate(-advantages.detach()[:, None] * logps, completion_mask)
    return loss, {"loss": loss.detach()}


def clipped_surrogate(
    logps: Float[Tensor, "*shape"],
    old_logps: Float[Tensor, "*shape"],
    advantages: Float[Tensor, "*#shape"],
    epsilon: float = 0.2,
    epsilon_high: float | None = None,
) -> tuple[Float[Tensor, "*shape"], Float[Tensor, "*shape"]]:
    """-min(ratio x A, clip(ratio, 1 - epsilon, 1 + epsilon_high) x A) with ratio = exp(logps - old_logps).

    `old_logps` are those of the policy that sampled, not the reference's. All arguments broadcast against each
    other, so that (B, 1) advantages serve (B, C) tokens.

    Returns:
        the loss and a 0/1 tensor of where clipping stopped the gradient, both of the broadcast shape.
    """
    return clipped_term(logps - old_logps, advantages, epsilon, epsilon_high)


def clipped_term(
    log_ratio: Float[Tensor, "*shape"],
    advantages: Float[Tensor, "*#shape"],
    epsilon: float,
    epsilon_high: float | None,
) -> tuple[Float[Tensor, "*shape"], Float[Tensor, "*shape"]]:
    """`clipped_surrogate` of a ratio that is there already, of a token or of a whole completion."""
    epsilon_high = epsilon if epsilon_high is None else epsilon_high
    ratio = torch.exp(log_ratio)
    free = ratio * advantages
    clipped = ratio.clamp(1 - epsilon, 1 + epsilon_high) * advantages
    return -torch.minimum(free, clipped), (clipped < free).float()


def cispo_loss(
    logps: Float[Tensor, "*shape"],
    log_ratio: Float[Tensor, "*shape"],
    advantages: Float[Tensor, "*#shape"],
    epsilon_high: float,
) -> Float[Tensor, "*shape"]:
    """-stopped(min(ratio, epsilon_high)) x A x log pi (MiniMax 2025, arXiv:2506.13585, equations 4 and 5).

    The ratio is a number that the gradient does not pass through, so every token keeps its pull, of bounded size. There
    is no lower bound. As in TRL `epsilon_high` is the bound itself; the paper writes 1 + epsilon_high.
    """
    return -log_ratio.exp().clamp(max=epsilon_high).detach() * advantages * logps


def sapo_loss(
    log_ratio: Float[Tensor, "*shape"],
    advantages: Float[Tensor, "*#shape"],
    temperature_pos: float,
    temperature_neg: float,
) -> Float[Tensor, "*shape"]:
    """-4 / tau x sigmoid(tau x (ratio - 1)) x A, tau by the sign of A (arXiv:2511.20347).

    A gate in the place of the clip: its slope in the ratio is 1 at 1 and falls smoothly on both sides.
    """
    tau = torch.where(advantages > 0, temperature_pos, temperature_neg)
    return -4 / tau * torch.sigmoid(tau * (log_ratio.exp() - 1)) * advantages


def ratio_weight(
    log_ratio: Float[Tensor, "*shape"],
    advantages: Float[Tensor, "*#shape"],
    loss_type: LossType = "grpo",
    *,
    epsilon: float = 0.2,
    epsilon_high: float | None = None,
    sapo_temperature_pos: float = 1.0,
    sapo_temperature_neg: float = 1.05,
) -> Float[Tensor, "*shape"]:
    """The number that multiplies a token's gradient: the loss of each method has the gradient -weight x A x grad log pi.

        grpo, dapo, dr_grpo   ratio, and 0 where the clip has stopped it
        cispo                 min(ratio, epsilon_high)
        sapo                  4 x gate x (1 - gate) x ratio, gate = sigmoid(tau x (ratio - 1))

    All are 1 at a ratio of 1, and the ratio itself is the weight of importance sampling, without bias and without a
    bound. `grpo_loss` has these gradients by itself; here they can be looked at, as `notebooks/ratio_weights.ipynb` does.

    Raises ValueError for an unknown `loss_type` and for cispo without `epsilon_high`.
    """
    ratio = log_ratio.exp()
    if clips(loss_type):
        low, high = stopped(ratio, advantages, epsilon, epsilon_high)
        return ratio.masked_fill(low | high, 0.0)
    if loss_type == "cispo":
        return ratio.clamp(max=bound_of(epsilon_high))
    if loss_type == "sapo":
        tau = torch.where(advantages > 0, sapo_temperature_pos, sapo_temperature_neg)
        gate = torch.sigmoid(tau * (ratio - 1))
        return 4 * gate * (1 - gate) * ratio
    raise ValueError(unknown_loss_type(loss_type))


def bound_of(epsilon_high: float | None) -> float:
    """The bound of cispo. Raises ValueError for none, or one below 1."""
    if epsilon_high is None or epsilon_high < 1:
        raise ValueError(
            f"epsilon_high is {epsilon_high}, but under cispo it is the bound itself, at least 1, and no distance from "
            "1: give for example epsilon_high=5.0."
        )
    return epsilon_high


def sampler_correction(
    old_logps: Float[Tensor, "B C"],
    sampler_logps: Float[Tensor, "B C"],
    completion_mask: Tensor,
    mode: CorrectionMode = "sequence_mask",
    clip_max: float | None = 3.0,
    clip_min: float | None = None,
) -> Float[Tensor, "B #C"]:
    """Truncated importance sampling: the ratio of the policy's probability to that of the sampler which drew the token.

        token_truncate     the token's ratio pi_old / pi_sampler, held between clip_min and clip_max
        token_mask         the same ratio, and 0 where it lies outside of them
        sequence_truncate, sequence_mask    likewise, with the ratio of the whole completion, the product of its tokens'

    A sampler with rounded weights, or with other kernels, is not the policy, though both have the same weights. Multiply
    the policy term of each token with this; it has no gradient. Modes, names and defaults are TRL's `vllm_importance_sampling_*`.

    Returns (B, C), or (B, 1) for a sequence; 1 in the padding of a token mode. Raises ValueError for an unknown mode.
    """
    level, _, how = mode.partition("_")
    if mode not in get_args(CorrectionMode):
        raise ValueError(f"the mode is {mode!r}; choose one of {', '.join(get_args(CorrectionMode))}.")
    log_ratio = (old_logps - sampler_logps).detach().masked_fill(completion_mask == 0, 0.0)  # (B, C)
    ratio = (log_ratio if level == "token" else log_ratio.sum(dim=1, keepdim=True)).exp()
    low = 0.0 if clip_min is None else clip_min
    high = float("inf") if clip_max is None else clip_max
    if how == "truncate":
        return ratio.clamp(low, high)
    return ratio.masked_fill((ratio < low) | (ratio > high), 0.0)


def log_ratios(
    logps: Float[Tensor, "B C"],
    old_logps: Float[Tensor, "B C"],
    completion_mask: Tensor,
    level: RatioLevel = "token",
) -> Float[Tensor, "B C"]:
    """The logarithm of the ratio that each token's loss is weighted with.

    token     log pi(y_t) - log pi_old(y_t), the token's own
    sequence  its mean over the completion, the same for all its tokens (GSPO, equation 7): the logarithm of
              (pi(y) / pi_old(y))^(1 / |y|), whose range does not grow with the length

    Raises ValueError for another level. The padding must hold numbers.
    """
    log_ratio = logps - old_logps
    if level == "token":
        return log_ratio
    if level == "sequence":
        lengths = completion_mask.sum(dim=1, keepdim=True).clamp(min=1)  # (B, 1)
        return ((log_ratio * completion_mask).sum(dim=1, keepdim=True) / lengths).expand_as(log_ratio)
    raise ValueError(f'importance_sampling_level is {level!r}; choose "token" or "sequence".')


def grpo_loss(
    logps: Float[Tensor, "B C"],
    old_logps: Float[Tensor, "B C"],
    advantages: Float[Tensor, "B"] | Float[Tensor, "B C"],
    completion_mask: Tensor,
    ref_logps: Float[Tensor, "B C"] | None = None,
    entropy: Float[Tensor, "B C"] | None = None,
    *,
    beta: float = 0.0,
    epsilon: float = 0.2,
    epsilon_high: float | None = None,
    kl_estimator: KLEstimator = "k3",
    entropy_coef: float = 0.0,
    loss_type: LossType = "grpo",
    max_completion_length: int | None = None,
    importance_sampling_level: RatioLevel = "token",
    sapo_temperature_pos: float = 1.0,
    sapo_temperature_neg: float = 1.05,
    correction: Float[Tensor, "B #C"] | None = None,
) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
    """`plain_grpo_loss` with its variants:

        aggregate( correction x policy term + beta x per_token_kl - entropy_coef x entropy )

    The policy term is the clipped surrogate, or with that `loss_type` `cispo_loss` or `sapo_loss`.

    Args:
        logps: (B, C) of the current policy, with gradient.
        old_logps: (B, C) of the policy that sampled.
        advantages: (B,), one for all tokens of a completion, or (B, C).
        completion_mask: (B, C), 1 up to and including the first EOS.
        ref_logps: (B, C) of the frozen reference; needed when beta is not 0.
        entropy: (B, C) of the current policy; needed when entropy_coef is not 0.
        importance_sampling_level: "token" gives each token its own ratio, "sequence" all tokens of a completion the
            geometric mean of theirs; `clip_ratio` and `ratio` are means over tokens either way.
        correction: that of `sampler_correction`, where another than the policy sampled.

    Returns:
        the loss and metrics `loss`, `kl` (with a reference), `entropy` (when given) and `ratio`, and what is
        clipped: `clip_ratio` and those of CLIP_RATIOS; under cispo TRL's `cispo_clip_ratio`, the share above the bound
        with a positive advantage, which keeps its gradient; under sapo nothing.

    Raises:
        ValueError: a term is weighted whose tensor is missing, an unknown `importance_sampling_level` or `loss_type`, or
            cispo without its bound.
    """
    if beta and ref_logps is None:
        raise ValueError(f"beta is {beta}, but no ref_logps were given: the KL penalty needs the reference.")
    if entropy_coef and entropy is None:
        raise ValueError(f"entropy_coef is {entropy_coef}, but no entropy was given.")

    token_advantages = advantages.detach() if advantages.ndim == 2 else advantages.detach()[:, None]
    padding = completion_mask == 0
    # Padding may hold any value, inf and nan included: exp of it must not reach the gradient.
    logps = logps.masked_fill(padding, 0.0)
    old_logps = old_logps.masked_fill(padding, 0.0)
    log_ratio = log_ratios(logps, old_logps, completion_mask, importance_sampling_level)  # (B, C)
    ratio = log_ratio.detach().exp()  # (B, C)
    metrics = {"ratio": masked_mean(ratio, completion_mask)}
    if clips(loss_type):
        per_token_loss, was_clipped = clipped_term(log_ratio, token_advantages, epsilon, epsilon_high)
        metrics["clip_ratio"] = masked_mean(was_clipped, completion_mask)
        low, high = stopped(ratio, token_advantages, epsilon, epsilon_high)  # (B, C) each
        for name, where in zip(CLIP_RATIOS, (low, high, low | high)):
            metrics[name] = mean_over_ratios(where, completion_mask, importance_sampling_level)
    elif loss_type == "cispo":
        bound = bound_of(epsilon_high)
        per_token_loss = cispo_loss(logps, log_ratio, token_advantages, bound)
        bounded = (ratio > bound) & (token_advantages > 0)
        metrics["cispo_clip_ratio"] = mean_over_ratios(bounded, completion_mask, importance_sampling_level)
    elif loss_type == "sapo":
        per_token_loss = sapo_loss(log_ratio, token_advantages, sapo_temperature_pos, sapo_temperature_neg)
    else:
        raise ValueError(unknown_loss_type(loss_type))
    if correction is not None:
        per_token_loss = per_token_loss * correction
    if ref_logps is not None:
        kl = per_token_kl(logps, ref_logps.masked_fill(padding, 0.0), kl_estimator)  # (B, C)
        metrics["kl"] = masked_mean(kl.detach(), completion_mask)
        if beta:
            per_token_loss = per_token_loss + beta * kl
    if entropy is not None:
        metrics["entropy"] = masked_mean(entropy.detach(), completion_mask)
        if entropy_coef:
            per_token_loss = per_token_loss - entropy_coef * entropy

    loss = aggregate(per_token_loss, completion_mask, loss_type, max_completion_length)
    return loss, {"loss": loss.detach()} | metrics


def stopped(
    ratio: Float[Tensor, "*shape"], advantages: Float[Tensor, "*#shape"], epsilon: float, epsilon_high: float | None
) -> tuple[Bool[Tensor, "*shape"], Bool[Tensor, "*shape"]]:
    """The tokens to which clipping leaves no gradient: those below 1 - epsilon with a negative advantage, and those above
    1 + epsilon_high with a positive one."""
    low = (ratio < 1 - epsilon) & (advantages < 0)
    high = (ratio > 1 + (epsilon if epsilon_high is None else epsilon_high)) & (advantages > 0)
    return low, high


def mean_over_ratios(where: Bool[Tensor, "B C"], completion_mask: Tensor, level: RatioLevel) -> Float[Tensor, ""]:
    """The share of tokens, or of completions where each has one ratio for all its tokens."""
    if level == "sequence":
        where, completion_mask = where[:, :1], torch.ones_like(where[:, :1])
    return masked_mean(where.float(), completion_mask)


def clipped_value_loss(
    values: Float[Tensor, "B C"],
    old_values: Float[Tensor, "B C"],
    returns: Float[Tensor, "B C"],
    completion_mask: Tensor,
    epsilon: float = 0.2,
) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
    """PPO's value loss (Schulman et al. 2017, as in its reference implementation):

        mean over tokens of max( (V - R)^2, (clip(V, V_old - epsilon, V_old + epsilon) - R)^2 ) / 2

    `epsilon` is in units of the return. Returns the loss and the metrics `value_loss` and `value_clip_ratio`.
    """
    padding = completion_mask == 0
    values, old_values, returns = (v.masked_fill(padding, 0.0) for v in (values, old_values.detach(), returns.detach()))
    clipped = old_values + (values - old_values).clamp(-epsilon, epsilon)
    free_error = (values - returns) ** 2
    clipped_error = (clipped - returns) ** 2
    loss = masked_mean(torch.maximum(free_error, clipped_error), completion_mask) / 2
    ratio = masked_mean((clipped_error > free_error).float(), completion_mask)
    return loss, {"value_loss": loss.detach(), "value_clip_ratio": ratio}
