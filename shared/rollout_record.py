"""The record of a rollout: G completions for each of N prompts, and what is known of every token.

`shared.rollout` makes it. It stands in a file of its own because it needs torch alone: a process that only reads
rollouts need not wait for transformers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from shared.constrain import AnswerTrie
from shared.engine.sampling import Sampling


@dataclass(frozen=True)
class Rollout:
    """G completions for each of N prompts; B = N x G rows, those of one prompt next to each other.

    prompts: N texts.                          completions: B texts, without EOS.
    prompt_ids, prompt_mask: (N, P), padded on the left.
    completion_ids: (B, C), padded on the right, C the longest completion.
    completion_mask: (B, C), 1 up to and including the first EOS.
    old_logps: (B, C), log-probabilities under the distribution that was sampled (temperature, top-k, top-p and
        constraint included), 0 where `loss_mask` is.
    prompt_lengths: (N,), and lengths: (B,), how many tokens are real; on the CPU, so that no one waits for a GPU.
    truncated: (B,), True for a completion that max_new_tokens cut before an EOS or the end of its game; on the CPU.
    entropy: (B, C), on the CPU, in nats, of the distribution that each token was drawn from, 0 where `loss_mask` is. None
        when it is not known.
    contexts: (B, C), on the CPU, the number of each token's context, which is its prompt and the tokens before it
        (`shared.engine.contexts`). Tokens with equal numbers were drawn from one distribution. None when it is not
        known; whoever puts other prompts or tokens into a rollout makes it None.
    beginnings: (N, P), on the CPU, a number for each token of a prompt, equal where two prompts are equal up to that
        token; None when it is not known.
    free_lengths: (B,), on the CPU, how many tokens each completion had when a constraint left it one way to end. The
        tokens that follow have log-probability 0. None where it is not known. It counts only beside `contexts`.
    policy_mask: (B, C), 1 for the tokens that the policy drew itself, 0 in the padding and where an environment spoke;
        None when the policy drew all of them. The model reads what `completion_mask` holds and learns from `loss_mask`.
    environments: B games as they stand at the end of their completions (`shared.environment`), for rewards to read; None
        where no `environment_factory` made any.
    sampler_logps: (B, C), the log-probabilities under the sampler that really drew the tokens, where that is not the
        policy: `old_logps` are then the policy's. None where the policy sampled.
    """

    prompts: list[str]
    completions: list[str]
    num_generations: int
    prompt_ids: Int[Tensor, "N P"]
    prompt_mask: Int[Tensor, "N P"]
    completion_ids: Int[Tensor, "B C"]
    completion_mask: Int[Tensor, "B C"]
    old_logps: Float[Tensor, "B C"]
    prompt_lengths: Int[Tensor, "N"]
    lengths: Int[Tensor, "B"]
    truncated: Bool[Tensor, "B"]
    sampling: Sampling
    constraint: AnswerTrie | None = None
    entropy: Float[Tensor, "B C"] | None = None
    contexts: Int[Tensor, "B C"] | None = None
    beginnings: Int[Tensor, "N P"] | None = None
    free_lengths: Int[Tensor, "B"] | None = None
    policy_mask: Int[Tensor, "B C"] | None = None
    environments: list | None = None
    sampler_logps: Float[Tensor, "B C"] | None = None

    def __post_init__(self):
        if self.contexts is not None and self.contexts.shape != self.completion_ids.shape:
            raise ValueError(
                f"contexts is {tuple(self.contexts.shape)} and completion_ids {tuple(self.completion_ids.shape)}: they "
                "must belong to the same tokens. Use `take`, or give contexts=None."
            )

    def __len__(self) -> int:
        return len(self.completion_ids)

    @property
    def loss_mask(self) -> Int[Tensor, "B C"]:
        """1 for the tokens that a loss is about: the policy's own."""
        return self.completion_mask if self.policy_mask is None else self.policy_mask

    @cached_property
    def own_lengths(self) -> Int[Tensor, "B"]:
        """The number of tokens of each completion that the policy drew itself, on the CPU."""
        return self.lengths if self.policy_mask is None else self.policy_mask.sum(dim=1).cpu()

    @property
    def uncertain_lengths(self) -> Int[Tensor, "B"]:
        """The number of tokens of each completion, from its first, whose log-probability must be computed; on the CPU."""
        return self.lengths if self.contexts is None or self.free_lengths is None else self.free_lengths

    @cached_property
    def states(self) -> Int[Tensor, "B C"] | None:
        """The constraint's state in which each token was chosen; None without one."""
        return None if self.constraint is None else self.constraint.states(self.completion_ids)

    @cached_property
    def choices(self) -> Int[Tensor, "B C"]:
        """The index of each token among those that could be chosen: its id, or its column in the constraint's row."""
        if self.constraint is None or self.states is None:
            return self.completion_ids
        return self.constraint.columns(self.completion_ids, self.states)

    def repeated(self, column: Sequence) -> list:
        """A column of the N prompts as a column of the B completions."""
        return [value for value in column for _ in range(self.num_generations)]

    @property
    def ids_of_completions(self) -> list[list[int]]:
        """The ids of each completion, without padding."""
        return [ids[:length] for ids, length in zip(self.completion_ids.tolist(), self.lengths.tolist())]

    @property
    def length_metrics(self) -> dict[str, float]:
        return length_metrics(self.lengths, self.truncated)

    def rows_of(self, prompts: Sequence[int]) -> Int[Tensor, "R"]:
        """The numbers of the rows, of all B, that belong to these prompts."""
        G = self.num_generations
        return (torch.as_tensor(prompts, dtype=torch.long)[:, None] * G + torch.arange(G)).flatten()

    def take(self, prompts: Sequence[int]) -> "Rollout":
        """The part of the rollout that belongs to these prompts, for minibatches; to none, in a process without work."""
        chosen = torch.as_tensor(prompts, dtype=torch.long)
        rows = self.rows_of(prompts)
        longest_prompt = longest(self.prompt_lengths[chosen])
        width = longest(self.lengths[rows])
        return replace(
            self,
            prompts=[self.prompts[i] for i in chosen.tolist()],
            completions=[self.completions[i] for i in rows.tolist()],
            prompt_ids=self.prompt_ids[chosen, -longest_prompt:],
            prompt_mask=self.prompt_mask[chosen, -longest_prompt:],
            completion_ids=self.completion_ids[rows, :width],
            completion_mask=self.completion_mask[rows, :width],
            old_logps=self.old_logps[rows, :width],
            prompt_lengths=self.prompt_lengths[chosen],
            lengths=self.lengths[rows],
            truncated=self.truncated[rows],
            entropy=None if self.entropy is None else self.entropy[rows, :width],
            contexts=None if self.contexts is None else self.contexts[rows, :width],
            beginnings=None if self.beginnings is None else self.beginnings[chosen, -longest_prompt:],
            free_lengths=None if self.free_lengths is None else self.free_lengths[rows],
            policy_mask=None if self.policy_mask is None else self.policy_mask[rows, :width],
            environments=None if self.environments is None else [self.environments[i] for i in rows.tolist()],
            sampler_logps=None if self.sampler_logps is None else self.sampler_logps[rows, :width],
        )


def length_metrics(lengths: Int[Tensor, "B"], truncated: Bool[Tensor, "B"]) -> dict[str, float]:
    """The lengths of completions, of those alone that ended by themselves, and the share that was cut off, for the log."""
    lengths = lengths.float()
    terminated = lengths[~truncated]
    return {
        "completions/mean_length": lengths.mean().item(),
        "completions/min_length": lengths.min().item(),
        "completions/max_length": lengths.max().item(),
        "completions/mean_terminated_length": terminated.mean().item() if len(terminated) else 0.0,
        "completions/clipped_ratio": truncated.float().mean().item(),
    }


def longest(lengths: Int[Tensor, "R"]) -> int:
    """The largest of these lengths; 0 of none."""
    return int(lengths.max()) if len(lengths) else 0


def length_mask(lengths: Int[Tensor, "B"], width: int) -> Int[Tensor, "B C"]:
    """1 for the first `lengths` positions of each row. Masks come from lengths: pad may be the same id as EOS."""
    return (torch.arange(width, device=lengths.device) < lengths[:, None]).long()


def padded(rows: Sequence[Sequence[int]], value: int) -> Int[Tensor, "B C"]:
    """Rows of unequal length as one tensor, filled up with `value` on the right."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in rows])
