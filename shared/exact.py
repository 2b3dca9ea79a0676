"""Exact expectations and exact gradients, by enumeration: what an estimator is held against.

A policy that can say only K things has an expected reward that is a sum of K terms, and so has its gradient:

    E[r] = sum_k p_k r_k,    grad E[r] = sum_k p_k r_k s_k,    s_k = grad log p_k, the score

Whatever a policy-gradient estimator draws, its gradient is a sum of the same scores with other weights. So the scores
are computed once, only their inner products are kept (the Gram matrix), and the direction and size of any estimator,
or of thousands of draws of it, cost a product of small matrices.
`notebooks/gradients.ipynb` derives all of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.algorithm import trained_parameters
from shared.constrain import AnswerTrie
from shared.engine.sampling import Sampling
from shared.logps import completion_logps
from shared.prompts import answers_for
from shared.rollout import Rollout, encode_prompts, length_mask
from shared.tokens import completion_ids

COLUMNS_AT_ONCE = 2**16  # parameters


@dataclass(frozen=True)
class Enumeration:
    """K completions for each of N prompts: how likely each is, and how their scores stand to each other.

    logps: (N, K), the log-probability of each whole completion.
    gram: (N, K, N, K), the inner product of each score with each other, both over all trained parameters.

    A gradient is given by its weights, (N, K): it is the sum of weight times score. Leading dimensions are draws.
    """

    logps: Float[Tensor, "N K"]
    gram: Float[Tensor, "N K N K"]

    @property
    def probs(self) -> Float[Tensor, "N K"]:
        return self.logps.exp()

    @property
    def score_norms(self) -> Float[Tensor, "N K"]:
        """The squared length of each score."""
        flat = self.gram.flatten(2).flatten(0, 1)  # (N K, N K)
        return flat.diagonal().view_as(self.logps)

    def mean(self, values: Float[Tensor, "N K"]) -> Float[Tensor, "N"]:
        """E[v] for each prompt, of a number v for each completion, when one is sampled."""
        return (self.probs * values).sum(dim=1)

    def spread(self, values: Float[Tensor, "N K"]) -> Float[Tensor, "N"]:
        """Its standard deviation, over samples of each prompt."""
        centred = values - self.mean(values)[:, None]
        return self.mean(centred**2).sqrt()

    def inner(self, weights: Float[Tensor, "*draws N K"], others: Float[Tensor, "*draws N K"]) -> Tensor:
        """The inner product of two gradients, (*draws)."""
        flat = self.gram.flatten(2).flatten(0, 1)
        return ((weights.double().flatten(-2) @ flat) * others.double().flatten(-2)).sum(dim=-1)

    def norm(self, weights: Float[Tensor, "*draws N K"]) -> Tensor:
        """The length of a gradient, (*draws)."""
        return self.inner(weights, weights).clamp(min=0).sqrt()  # rounding may leave a little less than 0

    def cosine(self, weights: Float[Tensor, "*draws N K"], others: Float[Tensor, "*draws N K"]) -> Tensor:
        """The cosine of the angle between two gradients, (*draws); nan where one of them is 0."""
        return self.inner(weights, others) / (self.norm(weights) * self.norm(others))

    def variance(self, advantages: Float[Tensor, "N K"]) -> Float[Tensor, "N"]:
        """The variance of the gradient that one sampled completion of each prompt gives: E[A^2 |s|^2] - |E[A s]|^2."""
        weights = self.probs * advantages
        own = torch.einsum("nk,nknl,nl->n", weights, self.gram, weights)  # inner products within each prompt
        return (weights * advantages * self.score_norms).sum(dim=1) - own


def every_completion(
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[str],
    completions: Sequence[str],
    constraint: AnswerTrie | None = None,
    device: torch.device | str = "cpu",
) -> Rollout:
    """A rollout in which each prompt has every completion once, ended by EOS, as if it had been sampled.

    Raises ValueError for no completions; what `encode_prompts` refuses.
    """
    if not completions:
        raise ValueError("There are no completions to enumerate: give every text that may follow a prompt.")
    ids = [completion_ids(tokenizer, text, [tokenizer.eos_token_id]) for text in completions]
    width = max(map(len, ids))
    pad = tokenizer.pad_token_id or 0
    prompt_ids, prompt_mask = encode_prompts(tokenizer, prompts)
    padded_ids = torch.tensor([row + [pad] * (width - len(row)) for row in ids]).repeat(len(prompts), 1)
    lengths = torch.tensor([len(row) for row in ids]).repeat(len(prompts))
    return Rollout(
        prompts=list(prompts),
        completions=list(completions) * len(prompts),
        num_generations=len(completions),
        prompt_ids=prompt_ids.to(device),
        prompt_mask=prompt_mask.to(device),
        completion_ids=padded_ids.to(device),
        completion_mask=length_mask(lengths, width).to(device),
        old_logps=torch.zeros(padded_ids.shape, device=device),
        prompt_lengths=prompt_mask.sum(dim=1),
        lengths=lengths,
        truncated=torch.zeros(len(lengths), dtype=torch.bool),
        sampling=Sampling(max_new_tokens=width),
        constraint=None if constraint is None else constraint.to(device),
    )


def enumerated_logps(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[str],
    completions: Sequence[str],
    constraint: AnswerTrie | None = None,
) -> Float[Tensor, "N K"]:
    """The log-probability of each completion after each prompt, (N, K), with gradient unless under `no_grad`."""
    device = next(model.parameters()).device
    rollout = every_completion(tokenizer, prompts, completions, constraint, device)
    logps, _ = completion_logps(model, rollout)  # (N K, C), 0 in the padding
    return logps.sum(dim=1).view(len(prompts), len(completions))


@torch.no_grad()
def kinds_of_answers(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: Sequence[dict], answers: Sequence[str]
) -> dict[str, float]:
    """The mean probability of a right answer, a wrong one and neither, and the share of rows whose likeliest answer is right.

    Args:
        rows: with "prompt" and "answer", one of the answers.
        answers: such as "3", without the space before it.
    """
    texts = answers_for(tokenizer, answers)
    p = enumerated_logps(model, tokenizer, [row["prompt"] for row in rows], texts).exp().cpu()  # (N, K)
    right = torch.tensor([answers.index(row["answer"]) for row in rows])  # (N,)
    of_right = p[range(len(rows)), right].mean().item()
    of_any = p.sum(dim=1).mean().item()
    likeliest = (p.argmax(dim=1) == right).float().mean().item()
    return {"right": of_right, "wrong": of_any - of_right, "neither": 1 - of_any, "likeliest right": likeliest}


def enumerate_policy(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[str],
    completions: Sequence[str],
    constraint: AnswerTrie | None = None,
) -> Enumeration:
    """Log-probabilities and scores of every completion after each prompt.

    Keeps N x K gradients of the whole model until their inner products are known: 8 prompts of 8 completions of the
    embedded model take 0.4 GB. Raises ValueError when the model has no parameter that is trained.
    """
    parameters = trained_parameters(model)
    if not parameters:
        raise ValueError("No parameter of the model requires a gradient, so it has no scores: give a copy that does.")
    device = parameters[0].device
    shape = (len(prompts), len(completions))
    scores = torch.empty(*shape, sum(p.numel() for p in parameters), device=device)  # (N, K, D)
    logps = torch.empty(*shape, device=device)
    for n, prompt in enumerate(prompts):
        of_prompt = enumerated_logps(model, tokenizer, [prompt], completions, constraint)[0]  # (K,)
        logps[n] = of_prompt.detach()
        for k, logp in enumerate(of_prompt):
            gradient = torch.autograd.grad(logp, parameters, retain_graph=k + 1 < len(completions))
            torch.cat([part.flatten() for part in gradient], out=scores[n, k])
    return Enumeration(logps.cpu().double(), _gram(scores.flatten(0, 1)).view(*shape, *shape))


def _gram(scores: Float[Tensor, "K D"]) -> Float[Tensor, "K K"]:
    """The inner products of scores, added up in double precision: in weighted sums of them large terms cancel."""
    gram = torch.zeros(len(scores), len(scores), dtype=torch.double)
    for columns in scores.split(COLUMNS_AT_ONCE, dim=1):  # a copy of all scores in double would take the memory thrice
        columns = columns.cpu().double()
        gram += columns @ columns.T
    return gram
