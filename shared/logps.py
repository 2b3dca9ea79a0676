"""Log-probabilities of sampled completion tokens under any model, with gradients.

A token's log-probability is its logit minus the log of the sum of all exponentials, after whatever the sampler did to
the logits: a token must be scored under the distribution that it was drawn from. A vocabulary of three, the logits
(2, 1, 0), and the second token drawn:

    temperature 1         1 - log(e^2 + e^1 + e^0)  =  1 - 2.41  =  -1.41      probability 0.24
    temperature 0.5       2 - log(e^4 + e^2 + e^0)  =  2 - 4.14  =  -2.14      0.12: the first is surer
    top-k with k = 2      1 - log(e^2 + e^1)        =  1 - 2.31  =  -1.31      0.27: the third is out

The logits at a position are of the *next* token. The prompt `a b` and the completion `x .` have P = 2 and C = 2:

    position                0    1    2    3
    token                   a    b    x    .
    its logits are of       b    x    .    a fifth token
    kept, [P - 1 : -1]           x    .

`plain_logps` is the definition: from the model to the log-probabilities in one function. `completion_logps` is what
training calls: the same numbers and gradients (`tests/test_logps.py` holds them to 1e-5) from less work.

Shapes: B completions, P tokens of the longest prompt, C of the longest completion, V words of the vocabulary.
"""

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
    """log pi(y_t | prompt, y_<t) of each completion token y_t, under the distribution that it was drawn from.

    It is 0 where the policy drew nothing: in the padding, and where an environment spoke.
    """
    # 1. Prompt and completion in one row. Prompts are padded on the left, completions on the right.
    G = rollout.num_generations
    prompt_ids = rollout.prompt_ids.repeat_interleave(G, dim=0)  # (B, P), each prompt G times
    prompt_mask = rollout.prompt_mask.repeat_interleave(G, dim=0)  # (B, P)
    ids = torch.cat([prompt_ids, rollout.completion_ids], dim=1)  # (B, P + C)
    mask = torch.cat([prompt_mask, rollout.completion_mask], dim=1)  # (B, P + C)
    # 2. One pass. The first real token has position 0, however much padding is before it.
    with eval_mode(model):
        logits = model(input_ids=ids, attention_mask=mask, position_ids=position_ids(mask)).logits  # (B, P + C, V)
    # 3. The logits that predict the completion's tokens.
    P = prompt_ids.size(1)
    logits = logits[:, P - 1 : -1]  # (B, C, V)
    # 4. What the sampler does: temperature, top-k, top-p, and a constraint where one allows some tokens only. The token
    # that was drawn is always kept, though another policy may rank it below the k-th.
    drawn = rollout.choices  # (B, C), its id, or its number among the tokens that the constraint allows
    logits = sampling_logits(logits, rollout.sampling, rollout.constraint, rollout.states, always_keep=drawn)
    # 5. The log-probability of the token that was drawn.
    logps = logits.log_softmax(dim=-1).gather(-1, drawn[..., None])[..., 0]  # (B, C)
    return logps.masked_fill(rollout.loss_mask == 0, 0.0)


def completion_logps(
    model: PreTrainedModel, rollout: Rollout, *, with_entropy: bool = False
) -> tuple[Float[Tensor, "B C"], Float[Tensor, "B C"] | None]:
    """`plain_logps`, faster: logits that tokens have in common are computed once, and padding not at all.

    A token's *context* is its prompt and the completion's tokens before it. Tokens with equal contexts have equal logits.
    The prompt `a b` with the completions `x .` and `x z .`; the dot is EOS:

        token            x .   x z .
        its place        0 1   3 4 5      counted through the B x C places; place 2 is padding
        its context      0 1   0 1 2      0: `a b`    1: `a b x`    2: `a b x z`
        row of logits    0 1   0 1 2      K = 3 contexts, so 3 rows of logits for L = 5 tokens
        with top-k       0 1   2 3 4      a row for each token, see `distributions`

    Args:
        model: the policy (with gradients, unless under `torch.no_grad()`) or the reference.
        with_entropy: also return the entropy of each token's distribution.

    Returns:
        (B, C) log-probabilities and (B, C) entropies or None; 0 in the padding and where an environment spoke.
    """
    logits, row_of_token, token_places = distributions(model, rollout)  # (R, W), (L,), (L,)
    drawn = rollout.choices.flatten().index_select(0, token_places)  # (L,), the token's number among the W logits
    logps = by_completion(token_logps(logits, drawn, row_of_token), token_places, rollout)
    if not with_entropy:
        return logps, None
    entropy = torch.cat([entropy_of(logits[rows]) for rows in in_chunks(logits)])  # (R,)
    return logps, by_completion(entropy.index_select(0, row_of_token), token_places, rollout)


def distributions(
    model: PreTrainedModel, rollout: Rollout
) -> tuple[Float[Tensor, "R W"], Int[Tensor, "L"], Int[Tensor, "L"]]:
    """The distributions that a model has where a rollout's L tokens were drawn. Tokens of one context share a row.

    With top-k or top-p each token has a row of its own: there the token itself is never cut off, and it may be one that is
    cut off for the other tokens of its context.

    Returns:
        R rows of W logits, after temperature, top-k, top-p and constraint (W is V, or what the constraint allows at most);
        for each token its row; and its place among the B x C. The tokens are those that were not certain beforehand.
    """
    C = rollout.completion_ids.size(1)
    device = rollout.completion_ids.device
    # Where the constraint allows a single token, its probability is 1 whatever the model says: it is not computed.
    token_places = real_tokens(rollout.uncertain_lengths, C).to(device)  # (L,), among B x C
    contexts = contexts_of(rollout, rollout.uncertain_lengths)
    logits = context_logits(model, rollout, contexts)  # (K, V)
    row_of_token = contexts.of_token.to(logits.device)  # (L,)
    place_of_row = (contexts.completion * C + contexts.depth).to(logits.device)  # (K,), among B x C
    always_keep = None
    if rollout.sampling.cuts_tokens:
        logits = logits.index_select(0, row_of_token)  # (L, V)
        row_of_token = torch.arange(len(row_of_token), device=logits.device)
        place_of_row = token_places
        always_keep = rollout.choices.flatten().index_select(0, token_places)  # (L,)
    state = None if rollout.states is None else rollout.states.flatten().index_select(0, place_of_row)
    logits = sampling_logits(logits, rollout.sampling, rollout.constraint, state, always_keep)  # (R, W)
    return logits, row_of_token, token_places


def by_completion(values: Float[Tensor, "L"], token_places: Int[Tensor, "L"], rollout: Rollout) -> Float[Tensor, "B C"]:
    """A value for each token, laid out by completion; 0 and no gradient in the padding and where an environment spoke.

    Tokens of the environment are no actions of the policy.
    """
    B, C = rollout.completion_ids.shape
    values = padded(values, token_places, B, C)
    return values if rollout.policy_mask is None else values.masked_fill(rollout.policy_mask == 0, 0.0)


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


def padded_logits(
    model: PreTrainedModel, rollout: Rollout, completions: Int[Tensor, "S"] | None = None
) -> Float[Tensor, "S C V"]:
    """The logits from which each token of S completions was drawn, padding included, through the model's own pass.

    completions: which of the B, on the host; None for all.
    """
    return padded_pass(model, rollout, completions)[0]


def padded_pass(
    model: PreTrainedModel, rollout: Rollout, completions: Int[Tensor, "S"] | None, with_hidden: bool = False
) -> tuple[Float[Tensor, "S C V"], Float[Tensor, "S C d"]]:
    """`padded_logits`, and the final hidden states that they come from, of d numbers; else the logits again."""
    if completions is None:
        completions = torch.arange(len(rollout))
    device = rollout.prompt_ids.device
    prompts = (completions // rollout.num_generations).to(device)  # (S,)
    completions = completions.to(device)
    mask = torch.cat([rollout.prompt_mask[prompts], rollout.completion_mask[completions]], dim=1)  # (S, P + C)
    ids = torch.cat([rollout.prompt_ids[prompts], rollout.completion_ids[completions]], dim=1)
    C = rollout.completion_ids.size(1)
    output = model(
        input_ids=ids,
        attention_mask=mask,
        position_ids=position_ids(mask),  # left padding must not shift positions
        logits_to_keep=C + 1,  # some models take no notice and give all
        output_hidden_states=with_hidden,
        use_cache=False,
    )
    logits = output.logits[:, -C - 1 : -1]
    return logits, output.hidden_states[-1][:, -C - 1 : -1] if with_hidden else logits


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
        logits, hidden = padded_pass(model, rollout, contexts.paths, with_hidden=True)
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
