"""Log-probabilities of sampled completion tokens under any model, with gradients.

A token's log-probability is its logit minus the log of the sum of all exponentials, after whatever the sampler did to
the logits: a token must be scored under the distribution that it was drawn from. A vocabulary of three, the logits
(2, 1, 0), and the second token drawn:

    temperature 1         1 - log(e^2 + e^1 + e^0)  =  1 - 2.41  =  -1.41      probability 0.24
    temperature 0.5       2 - log(e^4 + e^2 + e^0)  =  2 - 4.14  =  -2.14      0.12: the first is surer
    top-k with k = 2      1 - log(e^2 + e^1)        =  1 - 2.31  =  -1.31      0.27: the third is out

A completion of three tokens has three such numbers. One of two tokens in the same batch has two, and a 0 in the padding.

`plain_logps` is the definition, in ten lines that `notebooks/dots.ipynb` writes. `completion_logps` is what
training calls: the same numbers and gradients (tests hold them to 1e-5) from less work.

It computes what tokens have in common once. A token's *context* is its prompt and the completion's tokens before it.
Tokens with equal contexts have equal logits. The prompt `a b` with the completions `x .` and `x z .`; the dot is EOS:

    token            x .   x z .
    its place        0 1   3 4 5      counted through the B x C places; place 2 is padding
    its context      0 1   0 1 2      0: `a b`    1: `a b x`    2: `a b x z`
    row of logits    0 1   0 1 2      3 contexts: 3 rows of logits for 5 tokens
    with top-k       0 1   2 3 4      a row for each token, see `token_logits`

Letters of the shapes:

    B completions    C tokens of the longest    V words of the vocabulary    d numbers of a hidden state
    L tokens that are scored, without padding; 5 above
    K contexts, 3 above
    R rows of logits after temperature, top-k and constraint: K, or L where each token has its own
    W logits in such a row: V, or as many as the constraint allows at most
    S completions that pass through the model, enough to meet every context; 1 above, since `x z .` meets all three

`shared.engine.contexts` finds the contexts, `shared.engine.scoring` computes them without padding, and
`shared.engine.logits` makes log-probabilities of logits without storing a log-softmax.
"""

from typing import Protocol

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from shared.engine.contexts import Contexts, separate_contexts
from shared.engine.llama import llama_in
from shared.engine.logits import entropy_of, in_chunks, token_logps
from shared.engine.modes import eval_mode
from shared.engine.piece_size import logits_scored_at_once
from shared.engine.recompute import recomputes, scoring_mode
from shared.engine.sampling import position_ids, sampling_logits
from shared.engine.scoring import context_states, padded, real_tokens
from shared.rollout import Rollout


def plain_logps(model: PreTrainedModel, rollout: Rollout) -> Float[Tensor, "B C"]:
    """The (B, C) log-probabilities of the completion tokens under the distribution that they were drawn from.

    This is the definition: padded rows of prompt and completion, one pass, a full log-softmax, and of it the sampled
    tokens. They are 0 where the policy drew nothing.
    """
    with eval_mode(model):
        logits = padded_logits(model, rollout)  # (B, C, V)
    choice = rollout.choices  # (B, C)
    logits = sampling_logits(logits, rollout.sampling, rollout.constraint, rollout.states, always_keep=choice)
    logps = logits.log_softmax(dim=-1).gather(-1, choice[..., None])[..., 0]  # (B, C)
    return logps.masked_fill(rollout.loss_mask == 0, 0.0)


def padded_logits(
    model: PreTrainedModel, rollout: Rollout, completions: Int[Tensor, "S"] | None = None
) -> Float[Tensor, "S C V"]:
    """The logits from which each completion token was drawn, padding included, through the model's own pass.

    completions: which of the B, on the host; None for all.
    """
    output = padded_pass(model, rollout, completions)
    return before_tokens(output.logits, rollout)


def padded_logits_and_hidden(
    model: PreTrainedModel, rollout: Rollout, completions: Int[Tensor, "S"] | None = None
) -> tuple[Float[Tensor, "S C V"], Float[Tensor, "S C d"]]:
    """`padded_logits`, and the final hidden states that they come from."""
    output = padded_pass(model, rollout, completions, output_hidden_states=True)
    return before_tokens(output.logits, rollout), before_tokens(output.hidden_states[-1], rollout)


class Output(Protocol):
    """The output of a causal model, as far as it is read here."""

    logits: Float[Tensor, "S T V"]
    hidden_states: tuple[Float[Tensor, "S T d"], ...]


def padded_pass(
    model: PreTrainedModel,
    rollout: Rollout,
    completions: Int[Tensor, "S"] | None,
    output_hidden_states: bool = False,
) -> Output:
    """The model's output for padded rows of prompt and completion; its logits are at least those of the last C + 1."""
    if completions is None:
        completions = torch.arange(len(rollout))
    device = rollout.prompt_ids.device
    prompts = (completions // rollout.num_generations).to(device)  # (S,)
    completions = completions.to(device)
    mask = torch.cat([rollout.prompt_mask[prompts], rollout.completion_mask[completions]], dim=1)  # (S, P + C)
    ids = torch.cat([rollout.prompt_ids[prompts], rollout.completion_ids[completions]], dim=1)
    return model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=position_ids(mask),  # left padding must not shift positions
        logits_to_keep=rollout.completion_ids.size(1) + 1,  # some models take no notice and give all
        output_hidden_states=output_hidden_states,
        use_cache=False,
    )


def before_tokens(outputs: Float[Tensor, "S T X"], rollout: Rollout) -> Float[Tensor, "S C X"]:
    """The outputs that predict the C completion tokens, of those at every position: position t predicts token t + 1."""
    C = rollout.completion_ids.size(1)
    return outputs[:, -C - 1 : -1]


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
    logits, row_of_token, token_places = distributions(model, rollout)
    choice = rollout.choices.flatten().index_select(0, token_places)  # (L,), the token's number among the W logits
    logps = by_completion(token_logps(logits, choice, row_of_token), token_places, rollout)
    if not with_entropy:
        return logps, None
    entropy = torch.cat([entropy_of(logits[rows]) for rows in in_chunks(logits)])  # (R,)
    return logps, by_completion(entropy.index_select(0, row_of_token), token_places, rollout)


@torch.no_grad()
def score_in_parts(model: PreTrainedModel, rollout: Rollout) -> Float[Tensor, "B C"]:
    """`completion_logps` without gradients, of a few prompts at a time: the logits of all of them take gigabytes."""
    vocabulary = model.config.get_text_config(decoder=True).vocab_size
    per_prompt = rollout.num_generations * rollout.completion_ids.size(1) * vocabulary
    at_once = max(1, logits_scored_at_once(rollout.completion_ids.device) // per_prompt)
    if at_once >= len(rollout.prompts):
        return completion_logps(model, rollout)[0]
    logps = torch.zeros_like(rollout.old_logps)
    for prompts in torch.arange(len(rollout.prompts)).split(at_once):
        part = completion_logps(model, rollout.take(prompts.tolist()))[0]
        logps[rollout.rows_of(prompts), : part.size(1)] = part.to(logps.dtype)
    return logps


def distributions(
    model: PreTrainedModel, rollout: Rollout
) -> tuple[Float[Tensor, "R W"], Int[Tensor, "L"], Int[Tensor, "L"]]:
    """The distributions that a model has where a rollout's tokens were drawn: their logits, of each context once.

    Returns:
        the logits after temperature, top-k, top-p and constraint; for each of L tokens its row of them; and its place
        among the B x C. The tokens are those that were not certain beforehand.
    """
    C = rollout.completion_ids.size(1)
    device = rollout.completion_ids.device
    # Where the constraint allows a single token, its probability is 1 whatever the model says: it is not computed.
    token_places = real_tokens(rollout.uncertain_lengths, C).to(device)  # (L,), among B x C
    choice = rollout.choices.flatten().index_select(0, token_places)  # (L,), the token's number among the W logits
    logits, row_of_token = token_logits(model, rollout, token_places, choice)  # (R, W), (L,)
    return logits, row_of_token, token_places


def by_completion(values: Float[Tensor, "L"], token_places: Int[Tensor, "L"], rollout: Rollout) -> Float[Tensor, "B C"]:
    """A value for each token, laid out by completion; 0 and no gradient in the padding and where an environment spoke.

    Tokens of the environment are no actions of the policy.
    """
    B, C = rollout.completion_ids.shape
    values = padded(values, token_places, B, C)
    return values if rollout.policy_mask is None else values.masked_fill(rollout.policy_mask == 0, 0.0)


def token_logits(
    model: PreTrainedModel, rollout: Rollout, token_places: Int[Tensor, "L"], choice: Int[Tensor, "L"]
) -> tuple[Float[Tensor, "R W"], Int[Tensor, "L"]]:
    """The logits that the L tokens were drawn from, and for each token the row of them that is its own.

    Tokens of one context share a row. With top-k or top-p each token has a row of its own: there the token itself is
    never cut off, and it may be one that is cut off for the other tokens of its context.
    """
    C = rollout.completion_ids.size(1)
    contexts = contexts_of(rollout, rollout.uncertain_lengths)
    logits = context_logits(model, rollout, contexts)  # (K, V)
    row_of_token = contexts.of_token.to(logits.device)  # (L,)
    place_of_row = (contexts.completion * C + contexts.depth).to(logits.device)  # (K,), among B x C
    always_keep = None
    if rollout.sampling.cuts_tokens:
        logits = logits.index_select(0, row_of_token)  # (L, V)
        row_of_token = torch.arange(len(row_of_token), device=logits.device)
        place_of_row = token_places
        always_keep = choice
    state = None if rollout.states is None else rollout.states.flatten().index_select(0, place_of_row)
    return sampling_logits(logits, rollout.sampling, rollout.constraint, state, always_keep), row_of_token


def contexts_of(rollout: Rollout, lengths: Int[Tensor, "B"]) -> Contexts:
    """The contexts of each completion b: those of its first `lengths[b]` tokens (at least 1); `lengths` on the host.

    A rollout that does not know its contexts gets separate ones: its completions share their prompt and nothing else.
    """
    numbers = rollout.contexts
    if numbers is None:
        numbers = separate_contexts(len(rollout.prompts), rollout.num_generations, rollout.completion_ids.size(1))
    return Contexts.of(numbers, lengths)


def context_logits(model: PreTrainedModel, rollout: Rollout, contexts: Contexts) -> Float[Tensor, "K V"]:
    """The logits of the token after each context, before temperature, top-k and constraint."""
    llama = llama_to_score(model)
    with scoring_mode(model):
        if llama is not None:
            return llama.lm_head(llama_states(llama, rollout, contexts))
        return on_paths(padded_logits(model, rollout, contexts.paths), contexts)


def context_logits_and_hidden(
    model: PreTrainedModel, rollout: Rollout, contexts: Contexts
) -> tuple[Float[Tensor, "K V"], Float[Tensor, "K d"]]:
    """`context_logits`, and the final hidden states that they come from, for a value head."""
    llama = llama_to_score(model)
    with scoring_mode(model):
        if llama is not None:
            hidden = llama_states(llama, rollout, contexts)
            return llama.lm_head(hidden), hidden
        logits, hidden = padded_logits_and_hidden(model, rollout, contexts.paths)
        return on_paths(logits, contexts), on_paths(hidden, contexts)


def llama_to_score(model: PreTrainedModel) -> PreTrainedModel | None:
    """The Llama-shaped model in this one, for the faster pass of `shared.engine.scoring`; None for any other model.

    None too under gradient checkpointing: only the model's own pass computes its blocks again on the way back.
    """
    return None if recomputes(model) else llama_in(model)


def llama_states(llama: PreTrainedModel, rollout: Rollout, contexts: Contexts) -> Float[Tensor, "K d"]:
    """The final hidden state of each context, through the pass of `shared.engine.scoring`."""
    return context_states(
        llama, rollout.prompt_ids, rollout.completion_ids, rollout.prompt_lengths, contexts, rollout.beginnings
    )


def on_paths(values: Float[Tensor, "S C X"], contexts: Contexts) -> Float[Tensor, "K X"]:
    """The values of the K contexts, of those at every place of S completions; each from one completion that it is on."""
    place = contexts.path * values.size(1) + contexts.depth  # (K,), among S x C
    return values.flatten(0, 1).index_select(0, place.to(values.device))
