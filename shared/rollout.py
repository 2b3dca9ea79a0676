"""Sample G completions for each prompt into one `Rollout` record.

`model.generate` would do, but gives neither the log-probabilities of the distribution that was sampled nor
exact masks, and prefills every prompt G times. Here each distinct prompt is prefilled once, its cache repeated, and
rows that have ended are dropped from the batch (`shared.engine.decoding`). What is left out: beams, repetition penalties,
streaming.
`notebooks/dots.ipynb` writes the simple version.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.constrain import ROOT, AnswerTrie
from shared.engine.decoding import start
from shared.engine.sampling import Sampling, distribution, draw
from shared.models import eos_token_ids, eval_mode

# Dropping ended rows copies the cache of the others; it pays once about a quarter of the rows have ended.
COMPACT_BELOW = 0.75


@dataclass(frozen=True)
class Rollout:
    """G completions for each of N prompts; B = N x G rows, those of one prompt next to each other.

    prompts: N texts.                          completions: B texts, without EOS.
    prompt_ids, prompt_mask: (N, P), padded on the left.
    completion_ids: (B, C), padded on the right, C the longest completion.
    completion_mask: (B, C), 1 up to and including the first EOS.
    old_logps: (B, C), log-probabilities under the distribution that was sampled (temperature, top-k, top-p and
        constraint included), 0 in the padding.
    truncated: (B,), which completions were cut by max_new_tokens before an EOS.
    """

    prompts: list[str]
    completions: list[str]
    num_generations: int
    prompt_ids: Int[Tensor, "N P"]
    prompt_mask: Int[Tensor, "N P"]
    completion_ids: Int[Tensor, "B C"]
    completion_mask: Int[Tensor, "B C"]
    old_logps: Float[Tensor, "B C"]
    truncated: Bool[Tensor, "B"]
    sampling: Sampling
    constraint: AnswerTrie | None = None

    def __len__(self) -> int:
        return len(self.completion_ids)

    @property
    def lengths(self) -> Int[Tensor, "B"]:
        return self.completion_mask.sum(dim=1)

    def repeated(self, column: Sequence) -> list:
        """A column of the N prompts as a column of the B completions."""
        return [value for value in column for _ in range(self.num_generations)]

    @property
    def length_metrics(self) -> dict[str, float]:
        """How long the completions are on average, and which share was cut off."""
        return {
            "completions/mean_length": self.lengths.float().mean().item(),
            "completions/clipped_ratio": self.truncated.float().mean().item(),
        }

    def rows_of(self, prompts: Sequence[int]) -> Int[Tensor, "R"]:
        """Which of the B rows belong to these prompts."""
        G = self.num_generations
        return (torch.as_tensor(prompts, dtype=torch.long)[:, None] * G + torch.arange(G)).flatten()

    def take(self, prompts: Sequence[int]) -> "Rollout":
        """The part of the rollout that belongs to these prompts, for minibatches."""
        chosen, rows = torch.as_tensor(prompts, dtype=torch.long), self.rows_of(prompts)
        width = int(self.lengths[rows].max())
        longest = int(self.prompt_mask[chosen].sum(dim=1).max())
        return replace(
            self,
            prompts=[self.prompts[i] for i in chosen.tolist()],
            completions=[self.completions[i] for i in rows.tolist()],
            prompt_ids=self.prompt_ids[chosen, -longest:],
            prompt_mask=self.prompt_mask[chosen, -longest:],
            completion_ids=self.completion_ids[rows, :width],
            completion_mask=self.completion_mask[rows, :width],
            old_logps=self.old_logps[rows, :width],
            truncated=self.truncated[rows],
        )


def length_mask(lengths: Int[Tensor, "B"], width: int) -> Int[Tensor, "B C"]:
    """1 for the first `lengths` positions of each row. Masks come from lengths: pad may be the same id as EOS."""
    return (torch.arange(width, device=lengths.device) < lengths[:, None]).long()


def encode_prompts(tokenizer: PreTrainedTokenizerBase, prompts: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Token ids and mask of the prompts, (N, P) each, padded on the left whatever the tokenizer's own setting.

    Raises ValueError for no prompts or one without tokens.
    """
    if not len(prompts):
        raise ValueError("There are no prompts to sample from.")
    rows = tokenizer(list(prompts))["input_ids"]
    for prompt, ids in zip(prompts, rows):
        if not ids:
            raise ValueError(f"The prompt {prompt!r} has no tokens: a completion needs something to follow.")
    width = max(map(len, rows))
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    ids = torch.tensor([[pad or 0] * (width - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
    return ids, mask


@torch.no_grad()
def sample(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[str],
    num_generations: int,
    sampling: Sampling = Sampling(),
    *,
    constraint: AnswerTrie | None = None,
    generator: torch.Generator | None = None,
) -> Rollout:
    """Sample `num_generations` completions for each prompt.

    Args:
        model: any causal language model; dropout is off while it samples.
        prompts: N texts, duplicates welcome.
        constraint: restrict every completion to the answers of a trie.
        generator: on the model's device; makes the draw repeatable.

    Raises:
        ValueError: no prompts, an empty prompt, or `num_generations` < 1.
    """
    if num_generations < 1:
        raise ValueError(f"num_generations is {num_generations}; at least one completion is needed for each prompt.")
    device = next(model.parameters()).device
    prompt_ids, prompt_mask = (t.to(device) for t in encode_prompts(tokenizer, prompts))
    constraint = constraint.to(device) if constraint is not None else None
    eos = torch.tensor(eos_token_ids(model, tokenizer), device=device)

    B, C = len(prompts) * num_generations, sampling.max_new_tokens
    completion_ids = torch.full((B, C), tokenizer.pad_token_id or 0, device=device)
    old_logps = torch.zeros(B, C, device=device)
    ended_at = torch.full((B,), C, device=device)
    truncated = torch.ones(B, dtype=torch.bool, device=device)

    with eval_mode(model):
        distinct, numbers = _distinct(prompts)
        rows = torch.tensor(numbers, device=device).repeat_interleave(num_generations)  # (B,), among the distinct
        prompt_lengths = prompt_mask[distinct].sum(dim=1).cpu()
        decoder = start(
            model, prompt_ids[distinct], prompt_mask[distinct], rows, num_generations, C, prompt_lengths
        )
        alive = torch.arange(B, device=device)  # (R,), the completions still in the batch
        state = torch.full((B,), ROOT, device=device)
        for t in range(C):
            token, logp = _draw(decoder.logits, sampling, constraint, state, generator)  # (R,), (R,)
            completion_ids[alive, t] = token
            old_logps[alive, t] = logp.float()
            just_ended = alive[torch.isin(token, eos) & truncated[alive]]
            ended_at[just_ended] = t + 1
            truncated[just_ended] = False
            running = truncated[alive].nonzero().flatten()
            if t + 1 == C or len(running) == 0:
                break
            if constraint is not None:
                state = constraint.advance(state, token)
            if len(running) < COMPACT_BELOW * len(alive):
                decoder.keep(running.tolist())
                alive, token, state = alive[running], token[running], state[running]
            decoder.step(token)

    width = int(ended_at.max())
    completion_mask = length_mask(ended_at, width)
    completion_ids = completion_ids[:, :width].masked_fill(completion_mask == 0, tokenizer.pad_token_id or 0)
    kept = [row[:n] for row, n in zip(completion_ids.tolist(), ended_at.tolist())]
    return Rollout(
        prompts=list(prompts),
        completions=tokenizer.batch_decode(kept, skip_special_tokens=True),
        num_generations=num_generations,
        prompt_ids=prompt_ids,
        prompt_mask=prompt_mask,
        completion_ids=completion_ids,
        completion_mask=completion_mask,
        old_logps=old_logps[:, :width] * completion_mask,
        truncated=truncated,
        sampling=sampling,
        constraint=constraint,
    )


def _draw(logits, sampling, constraint, state, generator) -> tuple[Tensor, Tensor]:
    """One token for each row and its log-probability under the sampled distribution, (R,) each."""
    probs = distribution(logits, sampling, constraint, state).softmax(dim=-1)  # (R, K)
    choice = probs.argmax(dim=-1, keepdim=True) if sampling.greedy else draw(probs, generator)  # (R, 1)
    token = choice if constraint is None else constraint.token_ids[state].gather(-1, choice)
    return token[:, 0], probs.gather(-1, choice)[:, 0].log()


def _distinct(prompts: Sequence[str]) -> tuple[list[int], list[int]]:
    """The rows at which the distinct prompts first stand, and for each prompt which of the distinct ones it is."""
    first: dict[str, int] = {}
    for row, prompt in enumerate(prompts):
        first.setdefault(prompt, row)
    number = {prompt: i for i, prompt in enumerate(first)}
    return list(first.values()), [number[prompt] for prompt in prompts]
