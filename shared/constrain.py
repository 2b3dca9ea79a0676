"""Decoding restricted to a set of allowed answers.

The well-known shortcut keeps, for each position, the set of tokens that any answer has there; with "two pair" and
"three of a kind" it lets "two of a kind" through. A trie over token ids cannot: what is allowed depends on the
whole answer so far. EOS stands at every place where an answer ends, so an answer may be a prefix of another.

The constrained policy is pi(y | x) renormalised over the allowed tokens at each step. Its log-probabilities are
what belongs into the loss, because they are what was sampled. `notebooks/poker.ipynb` uses it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from shared.tokens import piece_ids

ROOT = 0


@dataclass(frozen=True)
class AnswerTrie:
    """The trie as a table: row s lists what may follow in state s.

    token_ids: (S, K) allowed token ids, rows filled up with 0 where `allowed` is False.
    allowed: (S, K) which entries are real.
    next_state: (S, K) where each token leads; EOS leads back to the root.
    """

    token_ids: Int[Tensor, "S K"]
    allowed: Bool[Tensor, "S K"]
    next_state: Int[Tensor, "S K"]

    def to(self, device) -> "AnswerTrie":
        return AnswerTrie(self.token_ids.to(device), self.allowed.to(device), self.next_state.to(device))

    def ended_by(self, eos: int) -> "AnswerTrie":
        """The same answers, each of which this token ends: of several that end a completion, the model's own.

        Raises ValueError where it stands inside an answer.
        """
        ends = self.allowed & (self.next_state == ROOT)
        if (self.allowed & ~ends & (self.token_ids == eos)).any():
            raise ValueError(
                f"An answer of the constraint holds the token {eos}, which ends a completion of this model."
            )
        return replace(self, token_ids=self.token_ids.masked_fill(ends, eos))

    def branches(self) -> list[dict[int, int]]:
        """For each state, on the host, the allowed tokens and where they lead."""
        rows = zip(self.token_ids.tolist(), self.next_state.tolist(), self.allowed.tolist())
        return [{token: following for token, following, is_allowed in zip(*row) if is_allowed} for row in rows]

    def advance(self, state: Int[Tensor, "R"], token: Int[Tensor, "R"]) -> Int[Tensor, "R"]:
        """The state after `token`, (R,) to (R,). A token that is not allowed leads to the root."""
        matches = (self.token_ids[state] == token[:, None]) & self.allowed[state]  # (R, K)
        return (self.next_state[state] * matches).sum(dim=1)

    def states(self, completion_ids: Int[Tensor, "B C"]) -> Int[Tensor, "B C"]:
        """The state in which each completion token was chosen, (B, C)."""
        state = torch.full_like(completion_ids[:, 0], ROOT)
        visited = []
        for token in completion_ids.unbind(dim=1):
            visited.append(state)
            state = self.advance(state, token)
        return torch.stack(visited, dim=1)

    def columns(self, token: Int[Tensor, "*shape"], state: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """The column of each token in the row of its state, (*); 0 for a token that is not allowed there."""
        matches = (self.token_ids[state] == token[..., None]) & self.allowed[state]  # (*, K)
        return matches.int().argmax(dim=-1)

    def restrict(self, logits: Float[Tensor, "*shape V"], state: Int[Tensor, "*shape"]) -> Float[Tensor, "*shape K"]:
        """The logits of the allowed tokens only, (*, V) to (*, K), with -inf where a row has fewer than K."""
        return logits.gather(-1, self.token_ids[state]).masked_fill(~self.allowed[state], -torch.inf)


class Walk:
    """The states in a trie at which the nodes of sampling stand, and the ends of completions that have no choice left.

    With "two pair" and "three of a kind" everything behind the first token is certain: it needs no forward pass, and
    its log-probability is 0. Everything but `trie` is on the host.

    state: of each node; all begin at the root.
    """

    def __init__(self, trie: AnswerTrie, nodes: int, eos: Collection[int]):
        """eos: every token that ends a completion."""
        self.trie = trie
        self.branches = trie.branches()
        self.only_end = only_ends(self.branches, eos)
        self.state = [ROOT] * nodes

    def end_after(self, node: int, token: int) -> list[int] | None:
        """The tokens that must follow `token` at this node; None where there is a choice among them."""
        return self.only_end[self._after(node, token)]

    def free_length(self, completion_ids: Sequence[int]) -> int | None:
        """The number of a completion's tokens until one way to end is left; None where there always was a choice."""
        state = ROOT
        for length, token in enumerate(completion_ids, start=1):
            state = self.branches[state].get(token, ROOT)
            if state != ROOT and self.only_end[state] is not None:
                return length
        return None

    def step(self, token: Sequence[int], parent: Sequence[int]) -> None:
        """Go on with these nodes: each is a token after one of the present nodes."""
        self.state = [self._after(node, drawn) for drawn, node in zip(token, parent)]

    def _after(self, node: int, token: int) -> int:
        """As `AnswerTrie.advance`: a token that is not allowed, as logits of nan may give one, leads to the root."""
        return self.branches[self.state[node]].get(token, ROOT)


def only_ends(branches: Sequence[dict[int, int]], eos: Collection[int]) -> list[list[int] | None]:
    """For each state the tokens from there to the end, EOS included, where there is one way; else None."""
    ends: list[list[int] | None] = [None] * len(branches)
    for state in reversed(range(len(branches))):  # what follows a state stands behind it
        if len(branches[state]) > 1:
            continue
        [(token, following)] = branches[state].items()
        if token in eos:
            ends[state] = [token]
        elif (end := ends[following]) is not None:
            ends[state] = [token, *end]
    return ends


def answer_trie(tokenizer, answers: Sequence[str]) -> AnswerTrie:
    """Build the trie of `answers`, each exactly as it follows the prompt (usually with a leading space).

    The tokenizer's EOS ends each of them; `shared.rollout.sample` puts the one that the model ends with into its place.

    Raises:
        ValueError: no answers or one text in their place, an empty answer, two answers with the same tokens, an answer that contains the
            EOS token or that no tokens say, or a tokenizer without EOS.
    """
    eos = tokenizer.eos_token_id
    if eos is None:
        raise ValueError("The tokenizer has no EOS token, so an answer could never end: set tokenizer.eos_token.")
    if isinstance(answers, str):
        raise ValueError(f"The answers are one text, {answers!r}, whose letters are not meant: give a list.")
    if not answers:
        raise ValueError("answers is empty: at least one allowed answer is needed.")
    children: list[dict[int, int]] = [{}]
    for answer in answers:
        ids = piece_ids(tokenizer, answer)
        if not ids:
            raise ValueError(f"The answer {answer!r} has no tokens.")
        if eos in ids:
            raise ValueError(f"The answer {answer!r} contains the EOS token.")
        state = ROOT
        for token in ids:
            if token not in children[state]:
                children[state][token] = len(children)
                children.append({})
            state = children[state][token]
        if eos in children[state]:
            raise ValueError(f"The answer {answer!r} is given twice (or two answers have the same tokens).")
        # Nothing is read behind EOS; the root is a state that every trie has.
        children[state][eos] = ROOT

    width = max(len(branch) for branch in children)
    token_ids = torch.zeros(len(children), width, dtype=torch.long)
    next_state = torch.zeros(len(children), width, dtype=torch.long)
    allowed = torch.zeros(len(children), width, dtype=torch.bool)
    for state, branch in enumerate(children):
        token_ids[state, : len(branch)] = torch.tensor(list(branch))
        next_state[state, : len(branch)] = torch.tensor(list(branch.values()))
        allowed[state, : len(branch)] = True
    return AnswerTrie(token_ids, allowed, next_state)
