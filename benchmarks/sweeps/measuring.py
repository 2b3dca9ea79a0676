"""Measures that several sweeps take in the same way."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.critic import logits_and_hidden
from shared.engine.chance import EVALUATION
from shared.engine.sampling import Sampling
from shared.kl import completion_kl
from shared.rollout import Rollout, sample


def rounded(value: Tensor | float, digits: int = 5) -> float:
    """To so many significant digits, as the JSON files hold figures."""
    return float(f"{float(value):.{digits}g}")


def told(measured: dict) -> str:
    """A run in a few words: its measures, without curves and lists of them."""
    return ", ".join(f"{name} {value:.3f}" for name, value in measured.items() if isinstance(value, (int, float)))


class Clock:
    """Seconds of the processors since it was made, without those for which it was stopped: of training alone."""

    def __init__(self) -> None:
        self._begun = time.process_time()

    @property
    def seconds(self) -> float:
        return time.process_time() - self._begun

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """A block whose seconds do not count."""
        before = self.seconds
        yield
        self._begun += self.seconds - before


@torch.no_grad()
def sampled_with_kl(
    policy: PreTrainedModel,
    reference: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    prompts: list[str],
    max_new_tokens: int,
) -> tuple[Rollout, Tensor]:
    """One sampled completion of each prompt, the same draws whatever the policy, and its exact KL to the reference, (N,)."""
    rollout = sample(policy, tokenizer, prompts, 1, Sampling(max_new_tokens), seed=0, step=EVALUATION)
    logits, ref_logits = (logits_and_hidden(model, rollout)[0] for model in (policy, reference))
    return rollout, completion_kl(logits, ref_logits, rollout.completion_mask)
