"""Log-probabilities of sampled completion tokens under any model, with gradients.

`plain_logps` is the definition, in ten lines that `notebooks/dots.ipynb` derives. `completion_logps` is what
training calls: the same numbers and gradients (tests hold them to 1e-5) from less work. What makes it fast is
optional reading: `shared.engine.scoring` computes a prompt once for all its completions and no padding,
`shared.engine.logits` never stores a log-softmax.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from shared.engine.llama import llama_in
from shared.engine.logits import entropy_of, in_chunks, token_logps
from shared.engine.sampling import distribution, position_ids
from shared.engine.scoring import completion_states, real_tokens
from shared.models import eval_mode, recomputes, scoring_mode
from shared.rollout import Rollout


def plain_logps(model: PreTrainedModel, rollout: Rollout) -> Float[Tensor, "B C"]:
    """The definition: B padded rows of prompt and completion, one pass, a full log-softmax, the sampled tokens' share.

    Returns (B, C) log-probabilities under the distribution that was sampled, 0 in the padding.
    """
    with eval_mode(model):
        logits = padded_logits(model, rollout)  # (B, C, V)
    choice = rollout.choices  # (B, C)
    logits = distribution(logits, rollout.sampling, rollout.constraint, rollout.states, always_keep=choice)
    logps = logits.log_softmax(dim=-1).gather(-1, choice[..., None])[..., 0]  # (B, C)
    return logps.masked_fill(rollout.completion_mask == 0, 0.0)


def padded_logits(model: PreTrainedModel, rollout: Rollout) -> Float[Tensor, "B C V"]:
    """The logits from which each completion token was drawn, padding included, through the model's own pass."""
    G = rollout.num_generations
    mask = torch.cat([rollout.prompt_mask.repeat_interleave(G, dim=0), rollout.completion_mask], dim=1)  # (B, P + C)
    ids = torch.cat([rollout.prompt_ids.repeat_interleave(G, dim=0), rollout.completion_ids], dim=1)
    C = rollout.completion_ids.size(1)
    # Left padding must not shift positions. The prompt's logits are not needed, but for its last.
    out = model(
        input_ids=ids, attention_mask=mask, position_ids=position_ids(mask), logits_to_keep=C + 1, use_cache=False
    )
    return out.logits[:, :-1]  # position t predicts token t + 1


def completion_logps(
    model: PreTrainedModel, rollout: Rollout, *, with_entropy: bool = False, entropy_gradient: bool = True
) -> tuple[Float[Tensor, "B C"], Float[Tensor, "B C"] | None]:
    """`plain_logps`, faster: score a rollout's tokens, with the same temperature, top-k, top-p and constraint.

    Args:
        model: the policy (with gradients, unless under `torch.no_grad()`) or the reference.
        with_entropy: also return the entropy of each token's distribution.
        entropy_gradient: whether that entropy is part of a loss; False is faster where it is only logged.

    Returns:
        (B, C) log-probabilities, 0 in the padding, and (B, C) entropies or None.
    """
    B, C = rollout.completion_ids.shape
    real = real_tokens(rollout.lengths, C).to(rollout.completion_ids.device)  # (L,), among B x C
    choice = rollout.choices.flatten().index_select(0, real)  # (L,)
    state = rollout.states
    if state is not None:
        state = state.flatten().index_select(0, real)
    logits = completion_logits(model, rollout, real)  # (L, V)
    logits = distribution(logits, rollout.sampling, rollout.constraint, state, always_keep=choice)  # (L, K)

    def padded(values: Float[Tensor, "L"]) -> Float[Tensor, "B C"]:
        return values.new_zeros(B * C).index_copy(0, real, values).view(B, C)

    logps = padded(token_logps(logits, choice))
    if not with_entropy:
        return logps, None
    with torch.set_grad_enabled(entropy_gradient and torch.is_grad_enabled()):
        entropy = torch.cat([entropy_of(logits[rows]) for rows in in_chunks(logits)])  # (L,)
        return logps, padded(entropy)


def completion_logits(model: PreTrainedModel, rollout: Rollout, real: Int[Tensor, "L"]) -> Float[Tensor, "L V"]:
    """The logits from which each real completion token was drawn; `real` are their places among B x C.

    A model that recomputes its blocks on the way back (gradient checkpointing) takes its own pass, which does that.
    """
    llama = None if recomputes(model) else llama_in(model)
    with scoring_mode(model):
        if llama is None:
            return padded_logits(model, rollout).flatten(0, 1).index_select(0, real)
        states = completion_states(
            llama, rollout.prompt_ids, rollout.completion_ids, rollout.prompt_lengths, rollout.lengths
        )
        return llama.lm_head(states)
