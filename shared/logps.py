"""Log-probabilities of sampled completion tokens under any model, with gradients.

The plain way pads prompt and completion into one batch of B rows and takes a log-softmax of all logits. Here the
prompt runs once per group and its cache is repeated, logits are made for completion positions only, and the
log-softmax is never stored: log pi(y) = logit(y) - logsumexp(logits). Result and gradients are those of the plain
way (tests hold them to 1e-5). `notebooks/dots.ipynb` derives it.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from shared.models import eval_mode
from shared.rollout import Rollout, distribution, prefill


def completion_logits(model: PreTrainedModel, rollout: Rollout) -> Float[Tensor, "B C V"]:
    """The logits from which each completion token is drawn, (B, C, V): position t sees the tokens before t."""
    G, N = rollout.num_generations, len(rollout.prompts)
    rows = torch.arange(N, device=rollout.prompt_ids.device).repeat_interleave(G)  # (B,)
    with eval_mode(model):
        first, cache = prefill(model, rollout.prompt_ids, rollout.prompt_mask, rows)
        if rollout.completion_ids.size(1) == 1:
            return first[:, None]
        seen = rollout.completion_ids[:, :-1]  # (B, C-1)
        # What stands in the padding cannot matter: nothing real attends to it, and its logits are masked later.
        attention_mask = torch.cat([rollout.prompt_mask[rows], rollout.completion_mask[:, :-1]], dim=1)
        start = rollout.prompt_mask.sum(dim=1)[rows]  # (B,)
        rest = model(
            input_ids=seen,
            attention_mask=attention_mask,
            position_ids=start[:, None] + torch.arange(seen.size(1), device=seen.device),
            past_key_values=cache,
            use_cache=True,
        ).logits
    return torch.cat([first[:, None], rest], dim=1)


def token_logps(
    logits: Float[Tensor, "B C K"], choice: Int[Tensor, "B C"]
) -> Float[Tensor, "B C"]:
    """log softmax(logits)[choice] without the (B, C, K) log-softmax: the chosen logit minus the logsumexp."""
    return logits.gather(-1, choice[..., None])[..., 0] - logits.logsumexp(dim=-1)


def entropy_of(logits: Float[Tensor, "*shape K"]) -> Float[Tensor, "*shape"]:
    """Entropy in nats of softmax(logits), (*, K) to (*); tokens with logit -inf contribute 0."""
    logps = logits.log_softmax(dim=-1)
    return -(logps.exp() * logps.masked_fill(logps.isneginf(), 0.0)).sum(dim=-1)


def completion_logps(
    model: PreTrainedModel, rollout: Rollout, *, with_entropy: bool = False
) -> tuple[Float[Tensor, "B C"], Float[Tensor, "B C"] | None]:
    """Score a rollout's tokens under `model`, with the same temperature, top-k, top-p and constraint.

    Args:
        model: the policy (with gradients, unless under `torch.no_grad()`) or the reference.
        with_entropy: also return the entropy of each token's distribution.

    Returns:
        (B, C) log-probabilities, 0 in the padding, and (B, C) entropies or None.
    """
    return score_logits(completion_logits(model, rollout), rollout, with_entropy=with_entropy)


def score_logits(
    logits: Float[Tensor, "B C V"], rollout: Rollout, *, with_entropy: bool = False
) -> tuple[Float[Tensor, "B C"], Float[Tensor, "B C"] | None]:
    """`completion_logps` from logits that are already there."""
    ids, trie, state = rollout.completion_ids, rollout.constraint, None
    choice = ids
    if trie is not None:
        state = trie.states(ids)  # (B, C)
        choice = ((trie.token_ids[state] == ids[..., None]) & trie.allowed[state]).int().argmax(dim=-1)  # (B, C)
    logits = distribution(logits, rollout.sampling, trie, state, always_keep=choice)
    padding = rollout.completion_mask == 0
    logps = token_logps(logits, choice).masked_fill(padding, 0.0)
    entropy = entropy_of(logits).masked_fill(padding, 0.0) if with_entropy else None
    return logps, entropy
