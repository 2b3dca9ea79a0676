"""Log-probabilities of sampled completion tokens under any model, with gradients.

The plain way pads prompt and completion into one batch of B rows and takes a log-softmax of all logits. Here the
prompt runs once per group and its cache is repeated, logits are made for completion positions only, and the
log-softmax is never stored: log pi(y) = logit(y) - logsumexp(logits). Result and gradients are those of the plain
way (tests hold them to 1e-5). `notebooks/dots.ipynb` derives it.

With a large vocabulary the logits are by far the largest tensors of a step, and passes over them cost more than the
arithmetic. So what is computed from them is computed in chunks that stay in the processor's cache.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable
from transformers import PreTrainedModel

from shared.models import eval_mode
from shared.rollout import Rollout, distribution, prefill

CHUNK = 1 << 20  # logits in a chunk: 4 MB, which a core's cache holds


def logits_in_two(model: PreTrainedModel, rollout: Rollout) -> Iterator[Float[Tensor, "B T V"]]:
    """The logits from which the first completion token is drawn, (B, 1, V), then those of the others, (B, C-1, V).

    They come out of two passes, over the prompts and over the completions; joining them would copy them.
    """
    G, N = rollout.num_generations, len(rollout.prompts)
    rows = torch.arange(N, device=rollout.prompt_ids.device).repeat_interleave(G)  # (B,)
    with eval_mode(model):
        first, cache = prefill(model, rollout.prompt_ids, rollout.prompt_mask, rows)
        yield first[:, None]
        if rollout.completion_ids.size(1) == 1:
            return
        seen = rollout.completion_ids[:, :-1]  # (B, C-1)
        # What stands in the padding cannot matter: nothing real attends to it, and its logits are masked later.
        attention_mask = torch.cat([rollout.prompt_mask[rows], rollout.completion_mask[:, :-1]], dim=1)
        start = rollout.prompt_mask.sum(dim=1)[rows]  # (B,)
        yield model(
            input_ids=seen,
            attention_mask=attention_mask,
            position_ids=start[:, None] + torch.arange(seen.size(1), device=seen.device),
            past_key_values=cache,
            use_cache=True,
        ).logits


def completion_logits(model: PreTrainedModel, rollout: Rollout) -> Float[Tensor, "B C V"]:
    """The logits from which each completion token is drawn, (B, C, V): position t sees the tokens before t."""
    return torch.cat(list(logits_in_two(model, rollout)), dim=1)


class TokenLogps(torch.autograd.Function):
    """log softmax(logits)[choice] and its gradient, one_hot(choice) - softmax(logits), written once.

    Autograd's own route from a gather and a logsumexp fills four tensors of the size of the logits on its way back.
    """

    @staticmethod
    def forward(ctx, logits: Tensor, choice: Tensor) -> Tensor:
        rows = chunk_rows(logits)
        logsumexp = torch.cat([chunk.logsumexp(dim=-1) for chunk in logits.split(rows)])  # (B, C)
        ctx.save_for_backward(logits, choice, logsumexp)
        return logits.gather(-1, choice[..., None])[..., 0] - logsumexp

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None]:
        logits, choice, logsumexp = ctx.saved_tensors
        result = torch.empty_like(logits)
        parts = (t.split(chunk_rows(logits)) for t in (result, logits, choice, logsumexp, grad))
        for out, chunk, index, total, weight in zip(*parts, strict=True):
            torch.sub(chunk, total[..., None], out=out).exp_().mul_(-weight[..., None])
            out.scatter_add_(-1, index[..., None], weight[..., None])
        return result, None


def chunk_rows(logits: Float[Tensor, "B C K"]) -> int:
    """How many of the B rows make a chunk."""
    return max(1, CHUNK // logits[0].numel())


def token_logps(
    logits: Float[Tensor, "B C K"], choice: Int[Tensor, "B C"]
) -> Float[Tensor, "B C"]:
    """log softmax(logits)[choice] without the (B, C, K) log-softmax: the chosen logit minus the logsumexp."""
    return TokenLogps.apply(logits, choice)


def entropy_of(logits: Float[Tensor, "*shape K"]) -> Float[Tensor, "*shape"]:
    """Entropy in nats of softmax(logits), (*, K) to (*); tokens with logit -inf contribute 0."""
    logps = logits.log_softmax(dim=-1)
    return -(logps.exp() * logps.masked_fill(logps.isneginf(), 0.0)).sum(dim=-1)


def completion_logps(
    model: PreTrainedModel, rollout: Rollout, *, with_entropy: bool = False, entropy_gradient: bool = True
) -> tuple[Float[Tensor, "B C"], Float[Tensor, "B C"] | None]:
    """Score a rollout's tokens under `model`, with the same temperature, top-k, top-p and constraint.

    Args:
        model: the policy (with gradients, unless under `torch.no_grad()`) or the reference.
        with_entropy: also return the entropy of each token's distribution.
        entropy_gradient: whether that entropy is part of a loss; False is faster where it is only logged.

    Returns:
        (B, C) log-probabilities, 0 in the padding, and (B, C) entropies or None.
    """
    trie, ids, padding = rollout.constraint, rollout.completion_ids, rollout.completion_mask == 0
    states = None if trie is None else trie.states(ids)  # (B, C)
    logps, entropies, start = [], [], 0
    for logits in logits_in_two(model, rollout):
        here = slice(start, start + logits.size(1))
        start = here.stop
        choice, state = ids[:, here], None
        if trie is not None:
            state = states[:, here]
            choice = ((trie.token_ids[state] == choice[..., None]) & trie.allowed[state]).int().argmax(dim=-1)
        logits = distribution(logits, rollout.sampling, trie, state, always_keep=choice)  # (B, T, K)
        logps.append(token_logps(logits, choice))
        if with_entropy:
            with torch.set_grad_enabled(entropy_gradient and torch.is_grad_enabled()):
                entropies.append(torch.cat([entropy_of(chunk) for chunk in logits.split(chunk_rows(logits))]))
    entropy = torch.cat(entropies, dim=1).masked_fill(padding, 0.0) if with_entropy else None
    return torch.cat(logps, dim=1).masked_fill(padding, 0.0), entropy
