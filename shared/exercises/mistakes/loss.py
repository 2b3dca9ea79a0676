"""Wrong GRPO losses: `f(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon) -> loss`."""

import torch

from shared.exercises.mistakes import Mistakes

MISTAKES = Mistakes()


def _kl(logps, ref_logps):
    return torch.exp(ref_logps - logps) - (ref_logps - logps) - 1


def _surrogate(ratio, advantages, epsilon):
    return torch.minimum(ratio * advantages, ratio.clamp(1 - epsilon, 1 + epsilon) * advantages)


def _per_sequence_mean(per_token, mask):
    return ((per_token * mask).sum(dim=1) / mask.sum(dim=1)).mean()


def _loss(logps, old_logps, advantages, mask, ref_logps, beta, epsilon, surrogate=_surrogate):
    ratio = torch.exp(logps - old_logps)
    return _per_sequence_mean(-surrogate(ratio, advantages[:, None], epsilon) + beta * _kl(logps, ref_logps), mask)


@MISTAKES.known(
    "The sign of the policy term is flipped: an optimiser minimises, so the loss is minus the surrogate. As it stands, "
    "training makes bad completions more likely."
)
def maximised_instead(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return _loss(
        logps,
        old_logps,
        -advantages,
        completion_mask,
        ref_logps,
        beta,
        epsilon,
        lambda ratio, a, e: _surrogate(ratio, -a, e) * -1,
    )


@MISTAKES.known("The sign of the KL term is flipped: `+ beta * kl` in a loss keeps the policy near the reference.")
def kl_rewarded(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return _loss(logps, old_logps, advantages, completion_mask, ref_logps, -beta, epsilon)


@MISTAKES.known(
    "There is no KL term: beta changes nothing. Add `beta * per_token_kl(logps, ref_logps)` to every token."
)
def kl_forgotten(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return _loss(logps, old_logps, advantages, completion_mask, ref_logps, 0.0, epsilon)


@MISTAKES.known("The KL term is not multiplied by beta: it counts as if beta were 1.")
def beta_forgotten(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return _loss(logps, old_logps, advantages, completion_mask, ref_logps, 1.0, epsilon)


@MISTAKES.known(
    "The ratio is taken against the reference. It corrects for the policy that sampled, `old_logps`; the reference "
    "belongs in the KL term only. With a frozen reference your ratio leaves the clipping range for good."
)
def ratio_against_the_reference(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return _loss(logps, ref_logps, advantages, completion_mask, ref_logps, beta, epsilon)


@MISTAKES.known(
    "You take the larger of the free and the clipped term. The objective is the smaller one (a pessimistic bound): "
    "with the larger one, clipping never limits an update."
)
def maximum_of_the_two(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return _loss(
        logps,
        old_logps,
        advantages,
        completion_mask,
        ref_logps,
        beta,
        epsilon,
        lambda ratio, a, e: torch.maximum(ratio * a, ratio.clamp(1 - e, 1 + e) * a),
    )


@MISTAKES.known("There is no clipping: the ratio acts without bound. Take the minimum with the clipped term.")
def not_clipped(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return _loss(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon, lambda ratio, a, e: ratio * a)


@MISTAKES.known(
    "You use the clipped term alone, without the minimum. A token that has moved too far in the wrong direction then "
    "gets no gradient to bring it back."
)
def clipped_without_minimum(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return _loss(
        logps,
        old_logps,
        advantages,
        completion_mask,
        ref_logps,
        beta,
        epsilon,
        lambda ratio, a, e: ratio.clamp(1 - e, 1 + e) * a,
    )


@MISTAKES.known("You clip the ratio times the advantage. Clip the ratio alone, then multiply.")
def product_clipped(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return _loss(
        logps,
        old_logps,
        advantages,
        completion_mask,
        ref_logps,
        beta,
        epsilon,
        lambda ratio, a, e: torch.minimum(ratio * a, (ratio * a).clamp(1 - e, 1 + e)),
    )


@MISTAKES.known(
    "The log-ratio is used as the ratio: `torch.exp` is missing. Where old and new policy agree your policy term is 0 "
    "and should be minus the advantage."
)
def exponential_forgotten(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    ratio = logps - old_logps
    per_token = -_surrogate(ratio, advantages[:, None], epsilon) + beta * _kl(logps, ref_logps)
    return _per_sequence_mean(per_token, completion_mask)


@MISTAKES.known(
    "The ratio is upside down: exp(old_logps - logps). Its gradient has the wrong sign, so training unlearns."
)
def ratio_upside_down(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    ratio = torch.exp(old_logps - logps)
    per_token = -_surrogate(ratio, advantages[:, None], epsilon) + beta * _kl(logps, ref_logps)
    return _per_sequence_mean(per_token, completion_mask)


@MISTAKES.known(
    "The ratio is always 1 because you compare `logps` with its own detached copy. That is right for a single update "
    "and ignores `old_logps` in every later one: clipping can never act."
)
def own_copy_as_old(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return _loss(logps, logps.detach(), advantages, completion_mask, ref_logps, beta, epsilon)


@MISTAKES.known("The mask is not used: padding counts as tokens. Multiply by `completion_mask` and divide by its sum.")
def mask_ignored(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return _loss(logps, old_logps, advantages, torch.ones_like(completion_mask), ref_logps, beta, epsilon)


@MISTAKES.known(
    "You mask, but then divide by all positions, padding included: short completions count for less. Divide by each "
    "completion's own number of tokens, `completion_mask.sum(dim=1)`."
)
def divided_by_all_positions(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    ratio = torch.exp(logps - old_logps)
    per_token = -_surrogate(ratio, advantages[:, None], epsilon) + beta * _kl(logps, ref_logps)
    return (per_token * completion_mask).mean()


@MISTAKES.known(
    "You average over all tokens of the batch at once, so long completions count for more. That is DAPO's choice "
    '(`loss_type="dapo"`); GRPO takes the mean of each completion first, then the mean over completions.'
)
def one_mean_over_tokens(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    ratio = torch.exp(logps - old_logps)
    per_token = -_surrogate(ratio, advantages[:, None], epsilon) + beta * _kl(logps, ref_logps)
    return (per_token * completion_mask).sum() / completion_mask.sum()


@MISTAKES.known("You sum over the tokens of a completion where a mean is asked for: long completions dominate.")
def summed_over_tokens(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    ratio = torch.exp(logps - old_logps)
    per_token = -_surrogate(ratio, advantages[:, None], epsilon) + beta * _kl(logps, ref_logps)
    return (per_token * completion_mask).sum(dim=1).mean()


@MISTAKES.known("You sum over completions where the mean is asked for: the step then grows with the batch.")
def summed_over_completions(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return len(logps) * _loss(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon)


@MISTAKES.known(
    "The ratio is that of whole completions: you sum the log-probabilities before `exp`. Ratios of sequences are tiny "
    "or huge and nearly always clipped; GRPO's ratio is per token."
)
def ratio_of_sequences(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    log_ratio = ((logps - old_logps) * completion_mask).sum(dim=1, keepdim=True).expand_as(logps)
    per_token = -_surrogate(torch.exp(log_ratio), advantages[:, None], epsilon) + beta * _kl(logps, ref_logps)
    return _per_sequence_mean(per_token, completion_mask)


@MISTAKES.known(
    "The advantages run along the tokens: (B,) against (B, C) lines up with the columns when B equals C. "
    "Write `advantages[:, None]`."
)
def advantages_along_tokens(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    ratio = torch.exp(logps - old_logps)
    per_token = -_surrogate(ratio, advantages[None, :], epsilon) + beta * _kl(logps, ref_logps)
    return _per_sequence_mean(per_token, completion_mask)


@MISTAKES.known("The KL term is averaged over all positions, padding included. Mask it like the policy term.")
def kl_of_padding(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    policy = _loss(logps, old_logps, advantages, completion_mask, ref_logps, 0.0, epsilon)
    return policy + beta * _kl(logps, ref_logps).mean()


@MISTAKES.known("The KL term is multiplied by the advantage. It stands beside the surrogate, not inside it.")
def kl_times_advantage(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    ratio = torch.exp(logps - old_logps)
    per_token = -_surrogate(ratio, advantages[:, None], epsilon) + beta * _kl(logps, ref_logps) * advantages[:, None]
    return _per_sequence_mean(per_token, completion_mask)


@MISTAKES.known(
    "The gradient is missing: `logps` is detached, or the loss is computed inside `torch.no_grad()`. Nothing is learned."
)
def gradient_missing(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    return _loss(logps.detach(), old_logps, advantages, completion_mask, ref_logps, beta, epsilon) + 0 * logps.sum()
