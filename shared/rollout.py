"""G completions for each prompt, sampled into one `Rollout` record.

`plain_sample` is the definition: the model reads the prompt and the tokens so far, its logits become probabilities, and a
token is drawn, until it is EOS. `sample` draws the same tokens with the same random numbers u and computes less:

- Each distinct prompt is read once, and its keys and values are kept (a KV cache, `shared.engine.decoding`).
- Completions share prefixes: those with the same prompt and the same tokens so far stand at one *node*, computed once.
- A completion that has ended costs nothing more.

Prompts `ab` and `c`, two completions each, at most three tokens. Each letter is a token, and the dot is EOS. A token is
drawn where its u falls when the probabilities are laid side by side: u = 0.90 is behind the 0.8 of EOS, so it draws d.

    t   node       probabilities    completion   u      drawn
    0   0: ab      d 0.6   e 0.4    0            0.31   d
                                    1            0.05   d
        1: c       . 0.8   d 0.2    2            0.40   .       ends
                                    3            0.90   d
    1   0: ab d    e 0.5   f 0.5    0            0.20   e
                                    1            0.70   f       parts from completion 0
        1: c d     . 1              3            0.44   .       ends
    2   0: ab de   . 0.75  g 0.25   0            0.62   .       ends
        1: ab df   . 0.75  g 0.25   1            0.80   g       is cut off

    completion_ids   old_logps                      lengths   truncated
    d e .            log 0.6   log 0.5   log 0.75   3         no
    d f g            log 0.6   log 0.5   log 0.25   3         yes
    .                log 0.8                        1         no
    d .              log 0.2   log 1                2         no

`tests/test_sampled_record.py` computes the drawing; `tests/engine/test_tree.py` holds `sample` to `plain_sample`.

`model.generate` would do, but gives neither the log-probabilities of the distribution that was sampled nor exact masks,
and reads every prompt G times. What is left out here: beams, repetition penalties, streaming.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.constrain import AnswerTrie
from shared.engine.chance import fresh_seed, uniforms
from shared.engine.completions import (
    Completion,
    EncodedPrompts,
    Request,
    complete_as_trees,
    complete_in_lockstep,
    environment_step,
)
from shared.engine.contexts import number_contexts, prompt_beginnings
from shared.engine.llama import llama_in
from shared.engine.merged import merged_adapters
from shared.engine.modes import eval_mode
from shared.engine.positions import check_fit
from shared.engine.sampling import Sampling, draw, refuse_nan, sampling_logits
from shared.environment import Environment, EnvironmentFactory, Game, make_games
from shared.models import eos_token_ids, require_model
from shared.rollout_record import Rollout, length_mask, padded
from shared.tokens import ends_of, prompt_ids, text_of


@torch.no_grad()
def plain_sample(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[str],
    num_generations: int,
    sampling: Sampling,
    u: Float[Tensor, "B C"],
) -> list[tuple[list[int], list[float]]]:
    """The definition: B completions one by one, for which the model reads all tokens anew at every token.

    Args:
        model: in evaluation mode, on the device of u.
        u: a random number in [0, 1) for each token (`shared.engine.chance`).

    Returns the token ids of each completion, up to and including the first EOS, and their log-probabilities.
    """
    eos = eos_token_ids(model, tokenizer)
    prompt_of_row = [ids for ids in prompt_ids(tokenizer, prompts) for _ in range(num_generations)]
    completions = []
    for row, prompt in enumerate(prompt_of_row):
        tokens: list[int] = []
        logps: list[float] = []
        for t in range(sampling.max_new_tokens):
            logits = model(input_ids=torch.tensor([prompt + tokens], device=u.device)).logits[:, -1]  # (1, V)
            probs = sampling_logits(logits, sampling).softmax(dim=-1)  # (1, V), after temperature, top-k and top-p
            token = int(draw(probs, u[row, t : t + 1]))
            tokens.append(token)
            logps.append(float(probs[0, token].log()))
            if token in eos:
                break
        completions.append((tokens, logps))
    return completions


@torch.no_grad()
def sample(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[str],
    num_generations: int,
    sampling: Sampling = Sampling(),
    *,
    constraint: AnswerTrie | None = None,
    environment: Environment | None = None,
    environment_factory: EnvironmentFactory | None = None,
    rows: Sequence[dict] | None = None,
    seed: int | None = None,
    step: int = 0,
    places: Sequence[int] | None = None,
) -> Rollout:
    """Sample `num_generations` completions for each prompt.

    Args:
        model: any causal language model; dropout is off while it samples.
        prompts: N texts, duplicates welcome.
        constraint: restrict every completion to the answers of a trie.
        environment: puts tokens of its own into a completion (`shared.environment`); they count in
            `max_new_tokens`, and only the policy ends a completion.
        environment_factory: makes such an environment for each completion, with a state of its own, which may end the
            completion too.
        rows: what the factory makes them of, N rows of a data set; by default each has its prompt alone.
        seed, step, places: the random numbers depend on these alone (`shared.engine.chance`). A training loop gives
            its step, or every step would draw with the same numbers. No seed takes one from torch's generator.
            `places` are the prompts' places among the step's rows, 0 to N - 1 unless given.

    Raises:
        ValueError: no prompts, an empty prompt, one that leaves no room for `max_new_tokens` or holds tokens that the model
            does not know, `num_generations` < 1, a model whose logits are not finite, an environment beside a
            constraint or beside a factory, or a game that breaks its contract (`shared.environment`).
    """
    require_one_voice(constraint, environment, environment_factory)
    if num_generations < 1:
        raise ValueError(f"num_generations is {num_generations}; at least one completion is needed for each prompt.")
    require_model(model)
    eos = set(eos_token_ids(model, tokenizer))
    encoded = read_prompts(tokenizer, prompts)
    check_fit(model, tokenizer, encoded.rows, sampling.max_new_tokens)
    device = next(model.parameters()).device

    # All chance of the call
    if seed is None and (environment_factory is not None or not sampling.greedy):
        seed = fresh_seed()
    chance = 0 if seed is None else seed  # nothing is drawn without one
    places = range(len(prompts)) if places is None else places
    u = None
    if not sampling.greedy:
        u = uniforms(chance, step, places, num_generations, sampling.max_new_tokens).to(device)  # (B, C)

    # What else may write or forbid a token
    rows = [{"prompt": prompt} for prompt in prompts] if rows is None else rows
    games = None
    if environment_factory is not None:
        games = make_games(environment_factory, rows, num_generations, chance, step, places)
    answer = environment_step(environment, games or [], rows, tokenizer, eos, sampling.max_new_tokens)
    if constraint is not None:
        constraint = constraint.ended_by(ends_of(tokenizer, sorted(eos))[0]).to(device)

    request = Request(encoded, num_generations, sampling, eos, constraint, u, answer)
    with eval_mode(model), merged_adapters(model):
        complete = complete_in_lockstep if answer is None and takes_lockstep(model) else complete_as_trees
        completions, draws = complete(model, request)
    return as_rollout(request, completions, draws, tokenizer, games)


def encode_prompts(tokenizer: PreTrainedTokenizerBase, prompts: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Token ids and mask of the prompts, (N, P) each, padded on the left whatever the tokenizer's own setting.

    Raises ValueError for no prompts, for what is no list of texts, and for a prompt without tokens.
    """
    if not len(prompts):
        raise ValueError("There are no prompts to sample from.")
    if isinstance(prompts, str) or not all(isinstance(prompt, str) for prompt in prompts):
        raise ValueError("The prompts are no list of texts: one prompt is given as [prompt].")
    rows = prompt_ids(tokenizer, prompts)
    width = max(map(len, rows))
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    ids = torch.tensor([[pad or 0] * (width - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
    return ids, mask


def read_prompts(tokenizer: PreTrainedTokenizerBase, prompts: Sequence[str]) -> EncodedPrompts:
    """The prompts as token ids. Raises ValueError as `encode_prompts` does."""
    ids, mask = encode_prompts(tokenizer, prompts)
    return EncodedPrompts(list(prompts), ids, mask, mask.sum(dim=1), prompt_beginnings(ids, mask))


def require_one_voice(
    constraint: AnswerTrie | None, environment: Environment | None, environment_factory: EnvironmentFactory | None
) -> None:
    """ValueError for an environment beside a constraint or beside a factory, and for a constraint that is no trie."""
    if constraint is not None and (environment is not None or environment_factory is not None):
        raise ValueError(
            "A constraint allows only its own answers, so an environment cannot speak: give one of the two."
        )
    if environment is not None and environment_factory is not None:
        raise ValueError("environment and environment_factory would both answer the policy: give one of the two.")
    if constraint is not None and not isinstance(constraint, AnswerTrie):
        raise ValueError(
            f"The constraint is of the type {type(constraint).__name__}; answer_trie(tokenizer, answers) of"
            " shared.constrain makes one."
        )


def takes_lockstep(model: PreTrainedModel) -> bool:
    """True where completions are drawn by `shared.engine.lockstep`: not on the CPU, and where the fast pass is ours."""
    return next(model.parameters()).device.type != "cpu" and llama_in(model) is not None


def as_rollout(
    request: Request,
    completions: Sequence[Completion],
    draws: Float[Tensor, "2 B C"],
    tokenizer: PreTrainedTokenizerBase,
    games: list[Game] | None,
) -> Rollout:
    """The record: B completions of unequal length become tensors, padded on the right.

    Raises ValueError when a log-probability is not a number.
    """
    prompts = request.prompts
    device = draws.device
    completion_ids = [completion.tokens for completion in completions]
    lengths = torch.tensor([len(ids) for ids in completion_ids])
    width = int(lengths.max())
    logps_and_entropy = draws.cpu()  # in one transfer
    refuse_nan(logps_and_entropy[0], lengths, prompts.texts, request.num_generations)
    completion_mask = length_mask(lengths, width)
    policy_mask = None
    if request.answer is not None:  # not all tokens are the policy's
        policy_mask = padded([completion.by_policy for completion in completions], 0)
    not_drawn = (completion_mask if policy_mask is None else policy_mask) == 0
    return Rollout(
        prompts=prompts.texts,
        completions=[text_of(tokenizer, ids) for ids in completion_ids],
        num_generations=request.num_generations,
        prompt_ids=prompts.ids.to(device),
        prompt_mask=prompts.mask.to(device),
        completion_ids=padded(completion_ids, tokenizer.pad_token_id or 0).to(device),
        completion_mask=completion_mask.to(device),
        old_logps=draws[0, :, :width].masked_fill(not_drawn.to(device), 0.0),
        prompt_lengths=prompts.lengths,
        lengths=lengths,
        truncated=torch.tensor([c.tokens[-1] not in request.eos and not c.ended_by_game for c in completions]),
        sampling=request.sampling,
        constraint=request.constraint,
        entropy=logps_and_entropy[1, :, :width].masked_fill(not_drawn, 0.0),
        contexts=padded(number_contexts([completion.prompt for completion in completions], completion_ids), 0),
        beginnings=prompts.beginnings,
        free_lengths=torch.tensor([completion.free_length or len(completion.tokens) for completion in completions]),
        policy_mask=None if policy_mask is None else policy_mask.to(device),
        environments=games,
    )
