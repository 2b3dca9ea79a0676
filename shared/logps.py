"""Log-probabilities of sampled completion tokens under any model, with gradients.

The plain way pads prompt and completion into one batch of B rows and takes a log-softmax of all logits. Here
completions of a prompt share a row, and with it one pass over the prompt; logits are made for completion positions
only, and the log-softmax is never stored: log pi(y) = logit(y) - logsumexp(logits). Result and gradients are those of
the plain way (tests hold them to 1e-5). `notebooks/dots.ipynb` derives it.

With a large vocabulary the logits are by far the largest tensors of a step, and passes over them cost more than the
arithmetic. So what is computed from them is computed in chunks that stay in the processor's cache.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable
from transformers import PreTrainedModel

from shared.models import eval_mode
from shared.rollout import Rollout, distribution, position_ids

CHUNK = 1 << 20  # logits in a chunk: 4 MB, which a core's cache holds


def completions_a_row(G: int, P: int, C: int, hidden_size: int) -> int:
    """How many of a prompt's G completions to lay behind one copy of it, so that the pass costs least.

    A row of S tokens costs about 24 S d^2 for a layer's matrices and 4 S^2 d for its attention. More completions a
    row repeat the prompt less often, but each then computes attention scores with the others, to be masked.
    """
    def cost(k: int) -> int:
        S = P - 1 + k * C
        return G // k * S * (6 * hidden_size + S)

    return min((k for k in range(1, G + 1) if G % k == 0), key=cost)


def pack(rollout: Rollout, k: int, dtype: torch.dtype) -> dict[str, Tensor]:
    """A model's inputs for rows of a prompt and k of its completions, which see the prompt but not each other.

    A row holds P-1 + k x C tokens: the prompt without its last token, then for each completion that last token and
    the completion without its own last, so that the token at place t is the one from which token t is drawn.
    """
    N, P = rollout.prompt_ids.shape
    C, device = rollout.completion_ids.size(1), rollout.prompt_ids.device
    prompts = torch.arange(N, device=device).repeat_interleave(rollout.num_generations // k)  # (R,)
    last = rollout.prompt_ids[:, -1:].repeat_interleave(rollout.num_generations, dim=0)  # (B, 1)
    blocks = torch.cat([last, rollout.completion_ids[:, :-1]], dim=1).view(len(prompts), k * C)
    places = rollout.prompt_mask.sum(dim=1, keepdim=True) - 1 + torch.arange(C, device=device)  # (N, C)

    lengths = torch.tensor([P - 1] + [C] * k, device=device)
    block = torch.arange(-1, k, device=device).repeat_interleave(lengths)  # (S,), -1 for the prompt
    visible = torch.ones(len(block), len(block), dtype=torch.bool, device=device).tril()
    visible &= (block == block[:, None]) | (block == -1)  # (S, S), query by key
    real = torch.cat([rollout.prompt_mask[prompts, :-1], torch.ones_like(blocks)], dim=1).bool()  # (R, S)
    # Padding sees itself: a row of scores that are all masked would be nan.
    visible = visible & real[:, None] | torch.eye(len(block), dtype=torch.bool, device=device)  # (R, S, S)
    mask = torch.zeros(visible.shape, dtype=dtype, device=device).masked_fill(~visible, torch.finfo(dtype).min)
    return dict(
        input_ids=torch.cat([rollout.prompt_ids[prompts, :-1], blocks], dim=1),
        position_ids=torch.cat([position_ids(rollout.prompt_mask)[:, :-1], places.repeat(1, k)], dim=1)[prompts],
        attention_mask=mask[:, None],
        logits_to_keep=k * C,
    )


def completion_logits(model: PreTrainedModel, rollout: Rollout) -> Float[Tensor, "B C V"]:
    """The logits from which each completion token is drawn, (B, C, V): position t sees the tokens before t."""
    B, C = rollout.completion_ids.shape
    k = completions_a_row(rollout.num_generations, rollout.prompt_ids.size(1), C, model.config.hidden_size)
    with eval_mode(model):
        logits = model(**pack(rollout, k, model.dtype), use_cache=False).logits  # (R, k x C, V)
    return logits.view(B, C, -1)


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
    ids, trie, state = rollout.completion_ids, rollout.constraint, None
    logits, choice = completion_logits(model, rollout), ids
    if trie is not None:
        state = trie.states(ids)  # (B, C)
        choice = ((trie.token_ids[state] == ids[..., None]) & trie.allowed[state]).int().argmax(dim=-1)  # (B, C)
    logits = distribution(logits, rollout.sampling, trie, state, always_keep=choice)  # (B, C, K)
    padding = rollout.completion_mask == 0
    logps = token_logps(logits, choice).masked_fill(padding, 0.0)
    if not with_entropy:
        return logps, None
    with torch.set_grad_enabled(entropy_gradient and torch.is_grad_enabled()):
        entropy = torch.cat([entropy_of(chunk) for chunk in logits.split(chunk_rows(logits))])
    return logps, entropy.masked_fill(padding, 0.0)
