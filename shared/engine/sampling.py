"""The distribution that tokens are drawn from: temperature, top-k, top-p and constraint, in one place.

Sampling and scoring both take it from here, so that they cannot disagree about what was sampled.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from shared.constrain import AnswerTrie
from shared.engine.logits import entropy_of


@dataclass(frozen=True)
class Sampling:
    """The rule by which the next token is drawn. The same settings must be used when the tokens are scored.

    max_new_tokens: a completion is cut after so many tokens.
    temperature: divides the logits; 0 means greedy (the log-probabilities are then those at temperature 1).
    top_k: keep the k most likely tokens; 0 keeps all.
    top_p: keep the smallest set of most likely tokens whose probability reaches p; 1.0 keeps all.
    """

    max_new_tokens: int = 16
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self):
        if self.max_new_tokens < 1:
            raise ValueError(f"max_new_tokens is {self.max_new_tokens}; at least one token must be sampled.")
        if not 0 <= self.temperature < float("inf"):
            raise ValueError(f"temperature is {self.temperature}; it must be 0 (greedy) or positive.")
        if self.top_k < 0:
            raise ValueError(f"top_k is {self.top_k}; give 0 to keep all tokens, or a positive number.")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p is {self.top_p}; it must lie in (0, 1].")

    @property
    def greedy(self) -> bool:
        return self.temperature == 0

    @property
    def cuts_tokens(self) -> bool:
        return self.top_k > 0 or self.top_p < 1


def sampling_logits(
    logits: Float[Tensor, "*shape V"],
    sampling: Sampling,
    constraint: AnswerTrie | None = None,
    state: Int[Tensor, "*shape"] | None = None,
    always_keep: Int[Tensor, "*shape"] | None = None,
) -> Float[Tensor, "*shape K"]:
    """The logits that a token is drawn from: the model's after constraint, temperature, top-k and top-p, in this order.

    K is V, or the trie's width under a constraint. `always_keep` (an index into K) is never cut by top-k or top-p:
    a token that was sampled must keep a finite log-probability when a later policy scores it.
    """
    logits = logits if constraint is None else constraint.restrict(logits, state)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))  # half precision is too coarse for a ratio
    if sampling.temperature not in (0, 1):
        logits = logits / sampling.temperature
    if sampling.cuts_tokens:
        keep = keep_likely(logits.detach(), sampling.top_k, sampling.top_p)
        if always_keep is not None:
            keep = keep.scatter(-1, always_keep[..., None], True)
        logits = logits.masked_fill(~keep, -torch.inf)
    return logits


def keep_likely(logits: Float[Tensor, "*shape V"], top_k: int, top_p: float) -> Bool[Tensor, "*shape V"]:
    """True for the tokens that top-k and then top-p leave, (*, V). At least the most likely one is left.

    Probabilities 0.15, 0.5, 0.05 and 0.3 with top_p = 0.9:

        most likely first        0.5   0.3   0.15   0.05
        sum of those before      0     0.5   0.8    0.95
        kept: that sum < 0.9     yes   yes   yes    no
    """
    keep = torch.ones_like(logits, dtype=torch.bool)
    if 0 < top_k < logits.size(-1):
        keep &= logits >= logits.topk(top_k, dim=-1).values[..., -1:]
    if top_p < 1:
        ordered, order = logits.masked_fill(~keep, -torch.inf).sort(dim=-1, descending=True)
        probs = ordered.softmax(dim=-1)
        before = probs.cumsum(dim=-1) - probs
        keep &= torch.zeros_like(keep).scatter(-1, order, before < top_p)
    return keep


def draw(probs: Float[Tensor, "R K"], u: Float[Tensor, "D"], row: Int[Tensor, "D"] | None = None) -> Int[Tensor, "D"]:
    """One index for each u, drawn with its probability: the first whose cumulative probability exceeds u.

    Probabilities 0.5, 0.3 and 0.2 add up to 0.5, 0.8 and 1. So u = 0.31 draws index 0, and u = 0.62 index 1.

    u: uniform numbers in [0, 1), see `shared.engine.chance`.
    row: the row of `probs` that each u draws from; None when each has its own, in order.
    """
    cumulative = probs.cumsum(dim=-1)
    if row is not None:
        cumulative = cumulative.index_select(0, row)  # (D, K)
    # Scaled by the last sum, which rounding leaves near 1: u stays below it, so no index of probability 0 is drawn.
    threshold = u.to(probs.dtype)[:, None] * cumulative[:, -1:]
    index = torch.searchsorted(cumulative, threshold, right=True)[:, 0]
    return index.clamp(max=probs.size(-1) - 1)  # only rows of nan reach beyond the end


def next_token(
    logits: Float[Tensor, "R V"],
    node: Int[Tensor, "M"],
    sampling: Sampling,
    constraint: AnswerTrie | None,
    state: Int[Tensor, "R"] | None,
    u: Float[Tensor, "M"] | None,
) -> tuple[Int[Tensor, "M"], Float[Tensor, "M"], Float[Tensor, "M"]]:
    """One token for each of M completions, drawn from the logits of the node at which the completion stands.

    Args:
        logits: of the R nodes.
        node: of each completion.
        state: of each node in the constraint; None without one.
        u: a random number for each completion; None when sampling is greedy.

    Returns:
        the tokens, their log-probabilities, and the entropies of the distributions that they were drawn from.
    """
    scores = sampling_logits(logits, sampling, constraint, state)  # (R, K)
    probs = scores.softmax(dim=-1)
    choice = probs.argmax(dim=-1)[node] if sampling.greedy else draw(probs, u, node)  # (M,)
    logp = probs[node, choice].log()
    token = choice if constraint is None else constraint.token_ids[state[node], choice]
    return token, logp, entropy_of(scores)[node]


def position_ids(attention_mask: Int[Tensor, "N P"]) -> Int[Tensor, "N P"]:
    """Positions that start at the first real token, so that left padding moves nothing (learned positions too)."""
    return (attention_mask.cumsum(dim=1) - 1).clamp(min=0)


def refuse_nan(
    old_logps: Float[Tensor, "B C"], lengths: Int[Tensor, "B"], prompts: Sequence[str], num_generations: int
) -> None:
    """Raise ValueError when a sampled token's log-probability is not finite: then the model's logits were not.

    Called once, after the last token: a question asked of the device at every token would hold up the next.

    prompts: N texts, each with `num_generations` of the B rows.
    """
    real = torch.arange(old_logps.size(1), device=old_logps.device) < lengths.to(old_logps.device)[:, None]
    bad = real & ~old_logps.isfinite()
    if not bad.any():
        return
    row, token = bad.nonzero()[0].tolist()
    raise ValueError(
        f"The model's logits are not finite: first at token {token + 1} of a completion of the prompt "
        f"{prompts[row // num_generations]!r}, in {int(bad.any(dim=1).sum())} of {len(bad)} completions. Either its "
        "weights hold nan or inf (load the model again; if training made them so, lower the learning rate), or its "
        "activations are too large for its dtype (float16: take bfloat16 or float32)."
    )
