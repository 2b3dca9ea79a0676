"""B completions that grow together: as trees on the CPU, in batches of one shape on a GPU.

Both draw the tokens that `plain_sample` of `shared.rollout` draws, and compute less. There a drawing shows how a tree grows.
A *node* is a prefix that several completions have in common: a prompt and the tokens drawn so far. Here is also what else
than the policy may write a token, or forbid one: a constraint and an environment.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.constrain import AnswerTrie, Walk
from shared.engine.decoding import start_decoding
from shared.engine.llama import PackedPrompts, llama_in
from shared.engine.lockstep import LockstepDecoder, draw_in_lockstep
from shared.engine.sampling import Sampling, next_token
from shared.environment import Environment, Game, answer_tokens, game_tokens


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


def complete_as_trees(model: PreTrainedModel, request: Request) -> tuple[list[Completion], Float[Tensor, "2 B C"]]:
    """Draw all completions, and compute what they have in common once, as the drawing in `shared.rollout` shows it.

    Returns them, and the log-probability of each token that the policy drew beside the entropy of its distribution.
    """
    # The beginning: the model has read the prompts, and nothing is drawn yet.
    prompts = request.prompts
    distinct, prompt_of = distinct_prompts(prompts.texts, request.num_generations)
    device = next(model.parameters()).device
    decoder, nodes = start_decoding(
        model,
        prompts.ids[distinct].to(device),
        prompts.mask[distinct].to(device),
        prompts.lengths[distinct],
        prompt_of,
        room=request.sampling.max_new_tokens,
        beginnings=prompts.beginnings[distinct],
    )
    completions = [Completion(row, prompt, node) for row, (prompt, node) in enumerate(zip(prompt_of, nodes))]
    dtype = torch.promote_types(decoder.logits.dtype, torch.float32)
    draws = decoder.logits.new_zeros(2, len(completions), request.sampling.max_new_tokens, dtype=dtype)
    walk = None if request.constraint is None else Walk(request.constraint, len(decoder.logits), request.eos)
    # A token after the other, in five steps.
    running = completions
    for t in range(request.sampling.max_new_tokens):
        # 1. Draw a token for each running completion, all at once.
        drawn = draw_tokens(decoder.logits, running, t, request, walk, draws)
        # 2. Go on with it, or with a token that the environment has forced into its place.
        for completion, token in zip(running, drawn):
            completion.append(token, request.eos)
        # 3. Write down the end of a completion that a constraint has left no choice.
        if walk is not None:
            write_certain_ends(running, walk, request.sampling.max_new_tokens)
        # 4. Let the environment answer what the policy said, or end the completion.
        if request.answer is not None:
            request.answer(running)
        running = [completion for completion in running if not completion.finished]
        if t + 1 == request.sampling.max_new_tokens or not running:
            break
        # 5. Let the model read the new tokens, once for all completions that have the same tokens so far.
        tokens, parents = next_nodes(running)
        if walk is not None:
            walk.step(tokens, parents)
        decoder.step(tokens, parents)
    return completions, draws


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


def draw_tokens(
    logits: Float[Tensor, "R V"],
    completions: Sequence[Completion],
    t: int,
    request: Request,
    walk: Walk | None,
    draws: Float[Tensor, "2 B C"],
) -> list[int]:
    """Step 1: token number t of each completion, drawn from the logits of its node with its own random number.

    Log-probabilities and entropies are written into `draws`. Only the tokens are brought to the host.
    """
    device = draws.device
    row = torch.tensor([completion.row for completion in completions], device=device)
    node = torch.tensor([completion.node for completion in completions], device=device)
    u = None if request.u is None else request.u[row, t]
    state = None if walk is None else torch.tensor(walk.state, device=device)
    token, logp, entropy = next_token(logits, node, request.sampling, request.constraint, state, u)
    draws[:, row, t] = torch.stack([logp, entropy]).to(draws.dtype)
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


def environment_step(
    environment: Environment | None,
    games: Sequence[Game],
    rows: Sequence[dict],
    tokenizer: PreTrainedTokenizerBase,
    eos: Collection[int],
    max_new_tokens: int,
) -> Callable[[Sequence[Completion]], None] | None:
    """Step 4, for an environment, or for the games of the B completions, which have a state each; None without either.

    After each token of the policy's the environment is asked, never after one of its own. Its answer is forced into the
    places that follow; when a game is over it is the completion's end. Completions at one node may have games that
    answer differently; they part with the first forced token.
    """
    num_generations = len(games) // len(rows)

    def answer(completions: Sequence[Completion]) -> None:
        for completion in completions:
            if not completion.by_policy[-1] or completion.finished:
                continue
            if environment is not None:
                completion.forced = answer_tokens(environment, tokenizer, completion.tokens, eos)
                continue
            game = games[completion.row]
            row = rows[completion.row // num_generations]
            words = game_tokens(game, row, tokenizer, completion.tokens, eos)
            if game.done:
                completion.end_with(words, max_new_tokens)
            else:
                completion.forced = words

    return answer if environment is not None or games else None


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


def complete_in_lockstep(model: PreTrainedModel, request: Request) -> tuple[list[Completion], Float[Tensor, "2 B C"]]:
    """Draw all completions on the device, which the host sees when they are done."""
    prompts = request.prompts
    constraint = request.constraint
    device = next(model.parameters()).device
    distinct, prompt_of = distinct_prompts(prompts.texts, request.num_generations)
    lengths = prompts.lengths[distinct]
    packed = PackedPrompts.of(prompts.ids[distinct].to(device), lengths, prompts.beginnings[distinct])
    llama = cast(PreTrainedModel, llama_in(model))  # `takes_lockstep` found it
    decoder = LockstepDecoder(llama, packed, lengths, prompt_of, request.sampling.max_new_tokens)
    ids, logps, entropy = draw_in_lockstep(decoder, request.sampling, request.eos, constraint, request.u)
    walk = None if constraint is None else Walk(constraint, 1, request.eos)
    completions = []
    for row, (prompt, tokens) in enumerate(zip(prompt_of, ids.tolist())):
        end = next((t + 1 for t, token in enumerate(tokens) if token in request.eos), len(tokens))
        free = None if walk is None else walk.free_length(tokens[:end])
        completions.append(Completion(row, prompt, node=row, tokens=tokens[:end], finished=True, free_length=free))
    return completions, torch.stack([logps, entropy])
