"""Supervised fine-tuning: raise the log-probability of given completions, with no rollout and no reward.

The loss is the mean cross-entropy over the completions' tokens, their EOS among them; prompts are read and not
learned. Rows are TRL's prompt-completion format. It is on the same loop as the other algorithms, which shows that the
loop knows nothing of rollouts, and it is what rejection sampling trains with.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared import training
from shared.algorithm import Algorithm, Metrics, TrainingConfig
from shared.engine.logits import entropy_of, token_logps
from shared.engine.processes import ALL_ROWS, Share
from shared.engine.recompute import scoring_mode
from shared.losses import masked_mean
from shared.rollout_record import longest


@dataclass(frozen=True)
class Batch:
    """N documents, padded on the right: prompt, completion, EOS.

    ids: (N, L).    learned: (N, L), 1 for the tokens of the completion and its EOS.
    row_tokens: (N,), on the CPU, the length of each document; learned_tokens: (N,), of its completion.
    """

    ids: Int[Tensor, "N L"]
    learned: Int[Tensor, "N L"]
    row_tokens: Int[Tensor, "N"]
    learned_tokens: Int[Tensor, "N"]
    metrics: Metrics

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def num_tokens(self) -> int:
        return int(self.learned_tokens.sum())

    @property
    def num_places(self) -> int:
        return self.ids.numel()

    def take(self, rows: Sequence[int]) -> "Batch":
        """The part that belongs to these documents."""
        chosen = torch.as_tensor(rows, dtype=torch.long)
        width = longest(self.row_tokens[chosen])
        return Batch(
            ids=self.ids[chosen, :width],
            learned=self.learned[chosen, :width],
            row_tokens=self.row_tokens[chosen],
            learned_tokens=self.learned_tokens[chosen],
            metrics=self.metrics,
        )


class Supervised(Algorithm):
    """Supervised fine-tuning as the training loop takes it."""

    name = "supervised"

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase):
        self.model = model
        self.tokenizer = tokenizer

    def experience(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> Batch:
        batch = encode_documents(self.tokenizer, rows, training.device_of(self.model))
        lengths = share.whole(batch.learned_tokens)
        return replace(batch, metrics={"completions/mean_length": lengths.float().mean().item()})

    def loss(self, experience: Batch) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
        """-mean over the learned tokens of log pi(token). Padding stands behind what sees it, so it needs no mask."""
        logits = document_logits(self.model, experience)
        learned = experience.learned[:, 1:]
        loss = -masked_mean(token_logps(logits, experience.ids[:, 1:]), learned)
        with torch.no_grad():
            entropy = masked_mean(entropy_of(logits), learned)
        return loss, {"loss": loss.detach(), "entropy": entropy}


def document_logits(model: PreTrainedModel, documents: Batch) -> Float[Tensor, "N T V"]:
    """The logits of a batch of documents, in single precision at least; T = L - 1, and place t predicts token t + 1."""
    with scoring_mode(model):
        logits = model(documents.ids, use_cache=False).logits[:, :-1]
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def encode_documents(tokenizer: PreTrainedTokenizerBase, rows: Sequence[dict], device: torch.device) -> Batch:
    """Rows with `prompt` and `completion` as one batch.

    Prompt and completion are tokenised apart, as they are when a completion is sampled. Raises ValueError for a row
    that lacks one of the two or whose prompt has no tokens, and for a tokenizer without EOS.
    """
    if tokenizer.eos_token_id is None:
        raise ValueError("The tokenizer has no EOS token, so the model could not learn where a completion ends.")
    documents = []
    learned_tokens = []
    for i, row in enumerate(rows):
        if missing := {"prompt", "completion"} - row.keys():
            raise ValueError(f"Row {i} has no {sorted(missing)[0]!r}; supervised training needs prompt and completion.")
        prompt = tokenizer(row["prompt"])["input_ids"]
        if not prompt:
            raise ValueError(f"The prompt {row['prompt']!r} has no tokens: a completion needs something to follow.")
        completion = tokenizer(row["completion"], add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
        documents.append(prompt + completion)
        learned_tokens.append(len(completion))
    lengths = torch.tensor([len(ids) for ids in documents])
    learned_lengths = torch.tensor(learned_tokens)
    place = torch.arange(int(lengths.max()))
    learned = (place < lengths[:, None]) & (place >= (lengths - learned_lengths)[:, None])
    pad = tokenizer.pad_token_id or 0
    ids = torch.tensor([row + [pad] * (len(place) - len(row)) for row in documents])
    return Batch(
        ids=ids.to(device),
        learned=learned.long().to(device),
        row_tokens=lengths,
        learned_tokens=learned_lengths,
        metrics={},
    )


def train(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    config: TrainingConfig = TrainingConfig(),
    **options,
) -> list[Metrics]:
    """Train `model` in place on rows with `prompt` and `completion`; `options` are those of `shared.training.train`."""
    return training.train(Supervised(model, tokenizer), rows, config, **options)
