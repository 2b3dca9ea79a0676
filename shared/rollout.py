"""G completions for each prompt, sampled into one `Rollout` record.

The definition is `plain_completion`, a loop of three lines: the model reads the prompt and the tokens so far, its logits
become probabilities, and a token is drawn, until it is EOS. `sample` draws the same tokens with the same random numbers
u, for all completions at once, and computes less:

- Each distinct prompt is read once, and what the model computed for it is kept (`shared.engine.decoding`).
- Completions that have the same prompt and the same tokens so far stand at one *node*. The model computes a node once.
- A completion that has ended costs nothing more.

That is the way on the CPU. On a GPU, where the host is what takes long, `shared.engine.lockstep` draws the same tokens
in batches of one shape.

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

That the drawing is right and `sample` equals the definition is tested in `tests/test_sampled_record.py`.

`model.generate` would do, but gives neither the log-probabilities of the distribution that was sampled nor exact masks,
and reads every prompt G times. What is left out here: beams, repetition penalties, streaming.
`shared/plain.py` writes a simple version.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.constrain import AnswerTrie, Walk
from shared.engine.cached import CachedDecoder
from shared.engine.chance import fresh_seed, uniforms
from shared.engine.contexts import number_contexts, prompt_beginnings
from shared.engine.decoding import LlamaDecoder, start_decoding
from shared.engine.llama import PackedPrompts, llama_in
from shared.engine.lockstep import LockstepDecoder, draw_in_lockstep
from shared.engine.merged import merged_adapters
from shared.engine.modes import eval_mode
from shared.engine.positions import check_fit
from shared.engine.sampling import Sampling, draw, next_token, refuse_nan, sampling_logits
from shared.environment import Environment, EnvironmentFactory, Game, answer_tokens, game_tokens, make_games
from shared.models import eos_token_ids, require_model
from shared.rollout_record import Rollout, length_mask, padded
from shared.tokens import ends_of, prompt_ids, text_of


@torch.no_grad()
def plain_completion(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    prompt: str,
    sampling: Sampling,
    u: Float[Tensor, "C"],
) -> list[int]:
    """The definition: one completion, for which the model reads the prompt and all tokens so far at every token.

    Args:
        sampling: with a temperature above 0.
        u: a random number in [0, 1) for each token (`shared.engine.chance`), on the model's device.

    Returns:
        the token ids, up to and including the first EOS.
    """
    (ids_of_prompt,) = prompt_ids(tokenizer, [prompt])
    eos = eos_token_ids(model, tokenizer)
    tokens: list[int] = []
    with eval_mode(model):
        for t in range(sampling.max_new_tokens):
            logits = model(input_ids=torch.tensor([ids_of_prompt + tokens], device=u.device)).logits[:, -1]  # (1, V)
            probs = sampling_logits(logits, sampling).softmax(dim=-1)
            tokens.append(int(draw(probs, u[t : t + 1])))
            if tokens[-1] in eos:
                break
    return tokens


@dataclass(frozen=True)
class EncodedPrompts:
    """N prompts as token ids, padded on the left, on the CPU.

    beginnings: (N, P), equal numbers where two prompts are equal up to that token (`shared.engine.contexts`).
    """

    texts: list[str]
    ids: Int[Tensor, "N P"]
    mask: Int[Tensor, "N P"]
    lengths: Int[Tensor, "N"]
    beginnings: Int[Tensor, "N P"]

    @property
    def rows(self) -> list[list[int]]:
        """The ids of each prompt, without padding."""
        return [ids[-length:] for ids, length in zip(self.ids.tolist(), self.lengths.tolist())]


@dataclass(slots=True)
class Completion:
    """One of the B completions, while it grows.

    row: its number among the B.
    prompt: the number of its prompt among the distinct ones.
    node: the decoder's node at which it stands.
    tokens: its token ids so far.
    by_policy: for each of them 1 where the policy drew it, 0 where the environment put it there. An environment alone
        needs it, so what a constraint makes certain is not written there.
    forced: tokens of the environment's that come next, whatever the policy draws.
    finished: nothing more is drawn: it has ended, or the constraint left one way to end.
    ended_by_game: it has ended because its game is over, with the game's last words and without an EOS.
    free_length: how many tokens it had when the constraint left one way to end; None while there is a choice.
    """

    row: int
    prompt: int
    node: int
    tokens: list[int] = field(default_factory=list)
    by_policy: list[int] = field(default_factory=list)
    forced: list[int] = field(default_factory=list)
    finished: bool = False
    ended_by_game: bool = False
    free_length: int | None = None

    def append(self, drawn: int, eos: Collection[int]) -> None:
        """Go on with the token that the policy drew, or with a forced one in its place."""
        self.by_policy.append(0 if self.forced else 1)
        token = self.forced.pop(0) if self.forced else drawn
        self.tokens.append(token)
        self.finished = token in eos

    def end_with(self, words: list[int], max_new_tokens: int) -> None:
        """End with the last words of a game that is over; it is cut off where they do not fit."""
        room = max_new_tokens - len(self.tokens)
        self.tokens += words[:room]
        self.by_policy += [0] * len(words[:room])
        self.finished = True
        self.ended_by_game = len(words) <= room


@dataclass(frozen=True)
class Request:
    """B completions that are asked for: with the model this decides every token of them.

    num_generations: completions of each of the N prompts, so that B = N x num_generations.
    eos: the tokens that end a completion.
    constraint: the trie of the answers that are allowed; None for all tokens.
    u: (B, C), a random number in [0, 1) for each token; None when sampling is greedy.
    answer: what an environment does after each token; None where there is none.
    """

    prompts: EncodedPrompts
    num_generations: int
    sampling: Sampling
    eos: Collection[int]
    constraint: AnswerTrie | None
    u: Float[Tensor, "B C"] | None
    answer: Callable[[Sequence[Completion]], None] | None

    @property
    def max_new_tokens(self) -> int:
        return self.sampling.max_new_tokens


@dataclass(frozen=True)
class Draws:
    """The measurements of every draw, on the model's device until the last token.

    logps: (B, C), the log-probability of each token that the policy drew.
    entropy: (B, C), the entropy of the distribution that it was drawn from.
    """

    logps: Float[Tensor, "B C"]
    entropy: Float[Tensor, "B C"]


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
    games = None
    answer = None
    if environment is not None:
        answer = partial(ask_environment, environment=environment, tokenizer=tokenizer, eos=eos)
    if environment_factory is not None:
        rows = [{"prompt": prompt} for prompt in prompts] if rows is None else rows
        games = make_games(environment_factory, rows, num_generations, chance, step, places)
        room = sampling.max_new_tokens
        answer = partial(ask_games, games=games, rows=rows, tokenizer=tokenizer, eos=eos, max_new_tokens=room)
    if constraint is not None:
        constraint = constraint.ended_by(ends_of(tokenizer, sorted(eos))[0]).to(device)

    request = Request(encoded, num_generations, sampling, eos, constraint, u, answer)
    with eval_mode(model), merged_adapters(model):
        complete = complete_in_lockstep if answer is None and takes_lockstep(model) else complete_as_trees
        completions, draws = complete(model, request)
    return as_rollout(request, completions, draws, tokenizer, games)


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


def complete_in_lockstep(model: PreTrainedModel, request: Request) -> tuple[list[Completion], Draws]:
    """Draw all completions on the device, which the host sees when they are done."""
    prompts = request.prompts
    constraint = request.constraint
    device = next(model.parameters()).device
    distinct, prompt_of = distinct_prompts(prompts.texts, request.num_generations)
    lengths = prompts.lengths[distinct]
    packed = PackedPrompts.of(prompts.ids[distinct].to(device), lengths, prompts.beginnings[distinct])
    llama = cast(PreTrainedModel, llama_in(model))  # `takes_lockstep` found it
    decoder = LockstepDecoder(llama, packed, lengths, prompt_of, request.max_new_tokens)
    ids, logps, entropy = draw_in_lockstep(decoder, request.sampling, request.eos, constraint, request.u)
    walk = None if constraint is None else Walk(constraint, 1, request.eos)
    completions = []
    for row, (prompt, tokens) in enumerate(zip(prompt_of, ids.tolist())):
        end = next((t + 1 for t, token in enumerate(tokens) if token in request.eos), len(tokens))
        free = None if walk is None else walk.free_length(tokens[:end])
        completions.append(Completion(row, prompt, node=row, tokens=tokens[:end], finished=True, free_length=free))
    return completions, Draws(logps, entropy)


def complete_as_trees(model: PreTrainedModel, request: Request) -> tuple[list[Completion], Draws]:
    """Draw all completions, and compute what they have in common once, as the drawing above shows it."""
    # The beginning: the model has read the prompts, and nothing is drawn yet.
    decoder, completions = begin_completions(model, request)
    draws = begin_draws(decoder.logits, len(completions), request.max_new_tokens)
    walk = None if request.constraint is None else Walk(request.constraint, len(decoder.logits), request.eos)
    # A token after the other, in five steps.
    running = completions
    for t in range(request.max_new_tokens):
        # 1. Draw a token for each running completion, all at once.
        drawn = draw_tokens(decoder.logits, running, t, request, walk, draws)
        # 2. Go on with it, or with a token that the environment has forced into its place.
        for completion, token in zip(running, drawn):
            completion.append(token, request.eos)
        # 3. Write down the end of a completion that a constraint has left no choice.
        if walk is not None:
            write_certain_ends(running, walk, request.max_new_tokens)
        # 4. Let the environment answer what the policy said, or end the completion.
        if request.answer is not None:
            request.answer(running)
        running = [completion for completion in running if not completion.finished]
        if t + 1 == request.max_new_tokens or not running:
            break
        # 5. Let the model read the new tokens, once for all completions that have the same tokens so far.
        tokens, parents = next_nodes(running)
        if walk is not None:
            walk.step(tokens, parents)
        decoder.step(tokens, parents)
    return completions, draws


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


def distinct_prompts(prompts: Sequence[str], num_generations: int) -> tuple[list[int], list[int]]:
    """Number the distinct prompts. `ab`, `c`, `ab` with one completion each: [0, 1] and [0, 1, 0].

    Returns:
        the place at which each distinct prompt first stands, and for each of the B completions its prompt's number.
    """
    first: dict[str, int] = {}
    for place, prompt in enumerate(prompts):
        first.setdefault(prompt, place)
    number = {prompt: i for i, prompt in enumerate(first)}
    return list(first.values()), [number[prompt] for prompt in prompts for _ in range(num_generations)]


def begin_completions(
    model: PreTrainedModel, request: Request
) -> tuple[LlamaDecoder | CachedDecoder, list[Completion]]:
    """Let the model read each distinct prompt once; the decoder, and B empty completions at the nodes of their prompts."""
    prompts = request.prompts
    device = next(model.parameters()).device
    distinct, prompt_of = distinct_prompts(prompts.texts, request.num_generations)
    decoder, nodes = start_decoding(
        model,
        prompts.ids[distinct].to(device),
        prompts.mask[distinct].to(device),
        prompts.lengths[distinct],
        prompt_of,
        room=request.max_new_tokens,
        beginnings=prompts.beginnings[distinct],
    )
    return decoder, [Completion(row, prompt, node) for row, (prompt, node) in enumerate(zip(prompt_of, nodes))]


def begin_draws(logits: Float[Tensor, "R V"], num_completions: int, max_new_tokens: int) -> Draws:
    """Room for what will be measured of each draw of every completion."""
    dtype = torch.promote_types(logits.dtype, torch.float32)
    logps = torch.zeros(num_completions, max_new_tokens, device=logits.device, dtype=dtype)
    return Draws(logps, torch.zeros_like(logps))


def draw_tokens(
    logits: Float[Tensor, "R V"],
    completions: Sequence[Completion],
    t: int,
    request: Request,
    walk: Walk | None,
    draws: Draws,
) -> list[int]:
    """Step 1: token number t of each completion, drawn from the logits of its node with its own random number.

    Log-probabilities and entropies are written into `draws`. Only the tokens are brought to the host.
    """
    device = draws.logps.device
    row = torch.tensor([completion.row for completion in completions], device=device)
    node = torch.tensor([completion.node for completion in completions], device=device)
    u = None if request.u is None else request.u[row, t]
    state = None if walk is None else torch.tensor(walk.state, device=device)
    token, logp, entropy = next_token(logits, node, request.sampling, request.constraint, state, u)
    draws.logps[row, t] = logp.to(draws.logps.dtype)
    draws.entropy[row, t] = entropy.to(draws.entropy.dtype)
    return token.tolist()  # the one transfer to the host for each token


def write_certain_ends(completions: Sequence[Completion], walk: Walk, max_new_tokens: int) -> None:
    """Step 3: where a constraint leaves one way to end, write it down to the end, or as far as there is room.

    With answers "two pair" and "three of a kind", "two" leaves " pair" and EOS. These tokens have log-probability 0 and
    need no pass of the model.
    """
    for completion in completions:
        if completion.finished:
            continue
        end = walk.end_after(completion.node, completion.tokens[-1])
        if end is None:
            continue
        completion.free_length = len(completion.tokens)
        completion.tokens += end[: max_new_tokens - len(completion.tokens)]
        completion.finished = True


def ask_environment(
    completions: Sequence[Completion],
    environment: Environment,
    tokenizer: PreTrainedTokenizerBase,
    eos: Collection[int],
) -> None:
    """Step 4: after each token of the policy's, ask the environment. Its answer is forced into the places that follow.

    It is not asked after a token of its own, and never before the policy has said something.
    """
    for completion in completions:
        if completion.by_policy[-1] and not completion.finished:
            completion.forced = answer_tokens(environment, tokenizer, completion.tokens, eos)


def ask_games(
    completions: Sequence[Completion],
    games: Sequence[Game],
    rows: Sequence[dict],
    tokenizer: PreTrainedTokenizerBase,
    eos: Collection[int],
    max_new_tokens: int,
) -> None:
    """Step 4 with a game for each of the B completions: its answer is forced, or is the end when the game is over.

    Completions that stand at one node may have games that answer differently; they part with the first forced token.
    """
    num_generations = len(games) // len(rows)
    for completion in completions:
        if not completion.by_policy[-1] or completion.finished:
            continue
        game = games[completion.row]
        words = game_tokens(game, rows[completion.row // num_generations], tokenizer, completion.tokens, eos)
        if game.done:
            completion.end_with(words, max_new_tokens)
        else:
            completion.forced = words


def next_nodes(completions: Sequence[Completion]) -> tuple[list[int], list[int]]:
    """Step 5: put each completion at the node of its last token. A node is a token and the node that it follows.

    Completions 0, 1 and 3 at nodes 0, 0 and 1 go on with d, d and d: the new nodes are d after 0 and d after 1, so
    the tokens are [d, d] and the parents [0, 1]. The completions then stand at 0, 0 and 1.

    Returns:
        the token of each new node, and its parent, the number of the old node that it follows.
    """
    number: dict[tuple[int, int], int] = {}  # of each new node, by token and parent
    for completion in completions:
        node = (completion.tokens[-1], completion.node)
        completion.node = number.setdefault(node, len(number))
    return [token for token, _ in number], [parent for _, parent in number]


def as_rollout(
    request: Request,
    completions: Sequence[Completion],
    draws: Draws,
    tokenizer: PreTrainedTokenizerBase,
    games: list[Game] | None,
) -> Rollout:
    """The record: B completions of unequal length become tensors, padded on the right.

    Raises ValueError when a log-probability is not a number.
    """
    prompts = request.prompts
    device = draws.logps.device
    completion_ids = [completion.tokens for completion in completions]
    lengths = torch.tensor([len(ids) for ids in completion_ids])
    width = int(lengths.max())
    logps_and_entropy = torch.stack([draws.logps, draws.entropy]).cpu()  # in one transfer
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
        old_logps=draws.logps[:, :width].masked_fill(not_drawn.to(device), 0.0),
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
