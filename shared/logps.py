"""Log-probabilities of sampled completion tokens under any model, with gradients.

The plain way pads prompt and completion into one batch of B rows and takes a log-softmax of all logits. With a
Llama-shaped model (`shared.engine.llama`) a prompt is computed once for all its completions, padding not at all, and logits
are made for completion tokens only; with any other model, the plain way is taken as far as the logits. Either way the
log-softmax is never stored. Result and gradients are those of the plain way (tests hold them to 1e-5).
`notebooks/dots.ipynb` derives it.

With a large vocabulary the logits are by far the largest tensors of a step, and passes over them cost more than the
arithmetic. So what is computed from them is computed in chunks that stay in the processor's cache.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable
from transformers import PreTrainedModel

from shared.engine.sampling import position_ids
from shared.engine.llama import attention, hidden_states, llama_in
from shared.models import eval_mode
from shared.engine.sampling import distribution
from shared.rollout import Rollout

CHUNK = 1 << 20  # logits in a chunk: 4 MB, which a core's cache holds


def completion_logits(model: PreTrainedModel, rollout: Rollout) -> Float[Tensor, "L V"]:
    """The logits from which each completion token was drawn; the L tokens one completion after another, no padding."""
    llama = llama_in(model)
    with eval_mode(model):
        if llama is not None:
            return llama.lm_head(completion_states(llama, rollout))
        prompts = torch.arange(len(rollout.prompts)).repeat_interleave(rollout.num_generations)  # (B,)
        mask = torch.cat([rollout.prompt_mask[prompts], rollout.completion_mask], dim=1)  # (B, P + C)
        ids = torch.cat([rollout.prompt_ids[prompts], rollout.completion_ids], dim=1)
        kept = rollout.completion_ids.size(1) + 1
        out = model(
            input_ids=ids, attention_mask=mask, position_ids=position_ids(mask), logits_to_keep=kept, use_cache=False
        )
        return out.logits[:, -kept:-1][rollout.completion_mask.bool()]  # not every model heeds logits_to_keep


def completion_states(llama: PreTrainedModel, rollout: Rollout) -> Float[Tensor, "L d"]:
    """The hidden states from which each completion token was drawn, with one pass over every prompt.

    The row of tokens holds the N prompts, then the B completions, each without its last token. Attention works on
    sequences of one length: N of P places and B of C - 1, with the tokens of a sequence first and padding after.
    """
    (N, P), (B, C), G = rollout.prompt_ids.shape, rollout.completion_ids.shape, rollout.num_generations
    device = rollout.prompt_ids.device
    in_prompt, in_completion = rollout.prompt_mask.bool(), rollout.completion_mask[:, 1:].bool()
    lengths = rollout.prompt_mask.sum(dim=1)  # (N,)
    prompt_positions = position_ids(rollout.prompt_mask)
    positions = lengths.repeat_interleave(G)[:, None] + torch.arange(C - 1, device=device)  # (B, C - 1)
    places = torch.arange(N * P + B * (C - 1), device=device)
    prompt_places, completion_places = places[: N * P].view(N, P), places[N * P :].view(B, C - 1)
    place = torch.cat([prompt_places.gather(1, prompt_positions)[in_prompt], completion_places[in_completion]])  # (T,)
    row = torch.arange(len(place), device=device)
    token = torch.zeros_like(places).index_copy(0, place, row)  # the token at each place; where there is none, any

    own = torch.ones(C - 1, C - 1, dtype=torch.bool, device=device).tril().expand(B, -1, -1)
    prompt = (torch.arange(P, device=device) < lengths[:, None]).repeat_interleave(G, dim=0)  # (B, P)
    visible = torch.cat([prompt[:, None].expand(-1, C - 1, -1), own], dim=2)[:, None]  # (B, 1, C - 1, P + C - 1)

    def attend(i: int, *qkv: Tensor) -> Tensor:
        of_prompts, of_completions = zip(*(t.index_select(0, token).split([N * P, B * (C - 1)]) for t in qkv))
        prompts = [t.unflatten(0, (N, P)) for t in of_prompts]
        q, k, v = (t.unflatten(0, (B, C - 1)) for t in of_completions)
        k, v = (torch.cat([read.repeat_interleave(G, dim=0), t], dim=1) for read, t in zip(prompts[1:], (k, v)))
        out = [attention(*prompts, causal=True), attention(q, k, v, visible)]
        return torch.cat([t.flatten(0, 1) for t in out]).index_select(0, place)

    ids = torch.cat([rollout.prompt_ids[in_prompt], rollout.completion_ids[:, :-1][in_completion]])
    hidden = hidden_states(llama, ids, torch.cat([prompt_positions[in_prompt], positions[in_completion]]), attend)
    last_of_prompt = (lengths.cumsum(dim=0) - 1).repeat_interleave(G)[:, None]  # (B, 1)
    before = torch.zeros_like(positions).masked_scatter(in_completion, row[int(lengths.sum()) :])  # (B, C - 1)
    return hidden.index_select(0, torch.cat([last_of_prompt, before], dim=1)[rollout.completion_mask.bool()])


class TokenLogps(torch.autograd.Function):
    """log softmax(logits)[choice] and its gradient, one_hot(choice) - softmax(logits), written once.

    Autograd's own route from a gather and a logsumexp fills four tensors of the size of the logits on its way back.
    """

    @staticmethod
    def forward(ctx, logits: Tensor, choice: Tensor) -> Tensor:
        ctx.save_for_backward(logits, choice)
        pairs = zip(*in_chunks(logits, choice))
        return torch.cat([chunk.log_softmax(dim=-1).gather(-1, index[:, None])[:, 0] for chunk, index in pairs])

    @staticmethod
    @once_differentiable
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None]:
        logits, choice = ctx.saved_tensors
        result = torch.empty_like(logits)
        for out, chunk, index, weight in zip(*in_chunks(result, logits, choice, grad)):
            torch.softmax(chunk, dim=-1, out=out)
            out.mul_(-weight[:, None]).scatter_add_(-1, index[:, None], weight[:, None])
        return result, None


def in_chunks(logits: Float[Tensor, "L K"], *others: Tensor) -> list[tuple[Tensor, ...]]:
    """Logits and tensors of as many rows cut alike, so that a chunk has at most CHUNK logits or is one row."""
    rows = max(1, CHUNK // logits.size(-1))
    return [t.split(rows) for t in (logits, *others)]


def token_logps(logits: Float[Tensor, "*shape K"], choice: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """log softmax(logits)[choice] without storing the log-softmax, (*, K) and (*) to (*)."""
    return TokenLogps.apply(logits.flatten(0, -2), choice.flatten()).view(choice.shape)


def entropy_of(logits: Float[Tensor, "*shape K"]) -> Float[Tensor, "*shape"]:
    """Entropy in nats of softmax(logits), (*, K) to (*); tokens with logit -inf contribute 0."""
    logps = logits.log_softmax(dim=-1).clamp(min=torch.finfo(logits.dtype).min)  # 0 x -inf would be nan
    return -(logits.softmax(dim=-1) * logps).sum(dim=-1)


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
    real = rollout.completion_mask.bool()
    logits, choice = completion_logits(model, rollout), rollout.completion_ids[real]  # (L, V), (L,)
    trie, state = rollout.constraint, None
    if trie is not None:
        state = trie.states(rollout.completion_ids)[real]  # (L,)
        choice = ((trie.token_ids[state] == choice[:, None]) & trie.allowed[state]).int().argmax(dim=-1)  # (L,)
    logits = distribution(logits, rollout.sampling, trie, state, always_keep=choice)  # (L, K)

    def padded(values: Float[Tensor, "L"]) -> Float[Tensor, "B C"]:
        return values.new_zeros(real.shape).masked_scatter(real, values)

    logps = padded(token_logps(logits, choice))
    if not with_entropy:
        return logps, None
    with torch.set_grad_enabled(entropy_gradient and torch.is_grad_enabled()):
        return logps, padded(torch.cat([entropy_of(chunk) for (chunk,) in zip(*in_chunks(logits))]))
