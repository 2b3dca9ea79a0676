"""Log-probabilities of sampled completion tokens under any model, with gradients.

`plain_logps` is the definition, in ten lines that `notebooks/dots.ipynb` writes. `completion_logps` is what
training calls: the same numbers and gradients (tests hold them to 1e-5) from less work. What makes it fast is
optional reading: `shared.engine.contexts` finds what completions have in common, `shared.engine.scoring` computes it
once, without padding, and `shared.engine.logits` never stores a log-softmax.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from shared.engine.contexts import Contexts, separate_contexts
from shared.engine.llama import llama_in
from shared.engine.logits import entropy_of, in_chunks, token_logps
from shared.engine.recompute import recomputes, scoring_mode
from shared.engine.sampling import distribution, position_ids
from shared.engine.scoring import context_states, in_padding, real_tokens
from shared.models import eval_mode
from shared.rollout import Rollout


def plain_logps(model: PreTrainedModel, rollout: Rollout) -> Float[Tensor, "B C"]:
    """The definition: B padded rows of prompt and completion, one pass, a full log-softmax, the sampled tokens' share.

    Returns (B, C) log-probabilities under the distribution that was sampled, 0 where the policy drew nothing.
    """
    with eval_mode(model):
        logits = padded_logits(model, rollout)  # (B, C, V)
    choice = rollout.choices  # (B, C)
    logits = distribution(logits, rollout.sampling, rollout.constraint, rollout.states, always_keep=choice)
    logps = logits.log_softmax(dim=-1).gather(-1, choice[..., None])[..., 0]  # (B, C)
    return logps.masked_fill(rollout.loss_mask == 0, 0.0)


def padded_logits(
    model: PreTrainedModel,
    rollout: Rollout,
    completions: Int[Tensor, "S"] | None = None,
    with_hidden: bool = False,
) -> Float[Tensor, "S C V"] | tuple[Float[Tensor, "S C V"], Float[Tensor, "S C d"]]:
    """The logits from which each completion token was drawn, padding included, through the model's own pass.

    completions: which of the B, on the host; None for all.
    with_hidden: also return the final hidden states that the logits come from.
    """
    if completions is None:
        completions = torch.arange(len(rollout))
    device = rollout.prompt_ids.device
    prompts = (completions // rollout.num_generations).to(device)  # (S,)
    completions = completions.to(device)
    mask = torch.cat([rollout.prompt_mask[prompts], rollout.completion_mask[completions]], dim=1)  # (S, P + C)
    ids = torch.cat([rollout.prompt_ids[prompts], rollout.completion_ids[completions]], dim=1)
    C = rollout.completion_ids.size(1)
    # Left padding must not shift positions. Of the prompt only the last logits are needed; some models give all.
    out = model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=position_ids(mask),
        logits_to_keep=C + 1,
        output_hidden_states=with_hidden,
        use_cache=False,
    )
    logits = out.logits[:, -C - 1 : -1]  # position t predicts token t + 1
    return (logits, out.hidden_states[-1][:, -C - 1 : -1]) if with_hidden else logits


def completion_logps(
    model: PreTrainedModel, rollout: Rollout, *, with_entropy: bool = False
) -> tuple[Float[Tensor, "B C"], Float[Tensor, "B C"] | None]:
    """`plain_logps`, faster: score a rollout's tokens, with the same temperature, top-k, top-p and constraint.

    Args:
        model: the policy (with gradients, unless under `torch.no_grad()`) or the reference.
        with_entropy: also return the entropy of each token's distribution.

    Returns:
        (B, C) log-probabilities and (B, C) entropies or None; 0 in the padding and where an environment spoke.
    """
    B, C = rollout.completion_ids.shape
    device = rollout.completion_ids.device
    # A constraint may leave one way to end: those tokens have log-probability 0 and no gradient, as the padding has.
    real = real_tokens(rollout.uncertain_lengths, C).to(device)  # (L,), among B x C
    choice = rollout.choices.flatten().index_select(0, real)  # (L,)
    logits, row = distributions(model, rollout, real, choice)  # (R, K), (L,)

    logps = own_tokens(in_padding(token_logps(logits, choice, row), real, B, C), rollout)
    if not with_entropy:
        return logps, None
    entropy = torch.cat([entropy_of(logits[rows]) for rows in in_chunks(logits)])  # (R,)
    return logps, own_tokens(in_padding(entropy.index_select(0, row), real, B, C), rollout)


def own_tokens(values: Float[Tensor, "B C"], rollout: Rollout) -> Float[Tensor, "B C"]:
    """The values with 0 where an environment spoke, and no gradient there: what it said is no action of the policy."""
    return values if rollout.policy_mask is None else values.masked_fill(rollout.policy_mask == 0, 0.0)


def distributions(
    model: PreTrainedModel, rollout: Rollout, real: Int[Tensor, "L"], choice: Int[Tensor, "L"]
) -> tuple[Float[Tensor, "R K"], Int[Tensor, "L"]]:
    """The distributions (as logits) that the L tokens were drawn from, and for each token which of them is its own.

    Tokens of one context share a row. With top-k or top-p each has its own: a sampled token is never cut off when it
    is scored, another token of the same context may be.
    """
    C = rollout.completion_ids.size(1)
    contexts = contexts_of(rollout, rollout.uncertain_lengths)
    logits = context_logits(model, rollout, contexts)  # (contexts, V)
    row = contexts.of_token.to(logits.device)  # (L,)
    place = (contexts.completion * C + contexts.depth).to(logits.device)  # of each context, among B x C
    always_keep = None
    if rollout.sampling.cuts_tokens:
        logits = logits.index_select(0, row)  # (L, V)
        row = torch.arange(len(row), device=logits.device)
        place = real
        always_keep = choice
    state = None if rollout.constraint is None else rollout.states.flatten().index_select(0, place)
    return distribution(logits, rollout.sampling, rollout.constraint, state, always_keep), row


def contexts_of(rollout: Rollout, lengths: Int[Tensor, "B"]) -> Contexts:
    """The contexts of so many tokens of each completion, from its first, one at least; `lengths` on the host.

    Where they are not known, the completions share their prompt and nothing else.
    """
    numbers = rollout.contexts
    if numbers is None:
        numbers = separate_contexts(len(rollout.prompts), rollout.num_generations, rollout.completion_ids.size(1))
    return Contexts.of(numbers, lengths)


def context_logits(model: PreTrainedModel, rollout: Rollout, contexts: Contexts) -> Float[Tensor, "K V"]:
    """The logits of each context, of which several completions' tokens may have been drawn."""
    llama = fast_pass_of(model)
    with scoring_mode(model):
        if llama is not None:
            return llama.lm_head(llama_states(llama, rollout, contexts))
        return on_paths(padded_logits(model, rollout, contexts.paths), contexts)


def context_logits_and_hidden(
    model: PreTrainedModel, rollout: Rollout, contexts: Contexts
) -> tuple[Float[Tensor, "K V"], Float[Tensor, "K d"]]:
    """`context_logits`, and the final hidden states that they come from, for a value head."""
    llama = fast_pass_of(model)
    with scoring_mode(model):
        if llama is not None:
            hidden = llama_states(llama, rollout, contexts)
            return llama.lm_head(hidden), hidden
        logits, hidden = padded_logits(model, rollout, contexts.paths, with_hidden=True)
        return on_paths(logits, contexts), on_paths(hidden, contexts)


def fast_pass_of(model: PreTrainedModel) -> PreTrainedModel | None:
    """The Llama-shaped model whose pass is written out here, else None.

    A model that recomputes its blocks on the way back (gradient checkpointing) takes its own pass, which does that.
    """
    return None if recomputes(model) else llama_in(model)


def llama_states(llama: PreTrainedModel, rollout: Rollout, contexts: Contexts) -> Float[Tensor, "K d"]:
    """The final hidden state of each context, through the pass of `shared.engine.scoring`."""
    return context_states(
        llama, rollout.prompt_ids, rollout.completion_ids, rollout.prompt_lengths, contexts, rollout.beginnings
    )


def on_paths(values: Float[Tensor, "S C X"], contexts: Contexts) -> Float[Tensor, "K X"]:
    """Of values at every place of the contexts' paths, those of the contexts."""
    place = contexts.path * values.size(1) + contexts.depth  # (K,), among S x C
    return values.flatten(0, 1).index_select(0, place.to(values.device))
