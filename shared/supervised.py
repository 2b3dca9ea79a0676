"""Supervised fine-tuning: raise the log-probability of given completions, with no rollout and no reward.

The loss is the mean cross-entropy over the completions' tokens, their EOS among them; prompts are read and not
learned. Rows are TRL's prompt-completion format. A column of our own, `spoken`, says where an environment spoke in a
completion (`shared.environment`): its words are read and not learned either. It is on the same loop as the other algorithms, which shows that the
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
from shared.engine.positions import check_fit
from shared.engine.processes import ALL_ROWS, Share
from shared.engine.recompute import scoring_mode
from shared.losses import masked_mean
from shared.models import eos_token_ids
from shared.rollout_record import longest, padded
from shared.rows import check_rows
from shared.tokens import check_template, completion_ids, ends_of, piece_ids, prompt_ids
from shared.updates import device_of

ROWS_AT_ONCE = 256  # whose documents are looked at together before training


@dataclass(frozen=True)
class Batch:
    """N documents, padded on the right: prompt, completion, EOS.

    ids: (N, L).    learned: (N, L), 1 for the tokens of the completion and its EOS, 0 where an environment spoke.
    row_tokens: (N,), on the CPU, the length of each document; learned_tokens: (N,), how many of them are learned.
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


class Supervised(Algorithm[PreTrainedModel, Batch]):
    """Supervised fine-tuning as the training loop takes it."""

    name = "supervised"
    columns = ("prompt", "completion")

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase):
        self.model = model
        self.tokenizer = tokenizer

    def check(self, rows: Sequence[dict]) -> None:
        check_documents(self.model, self.tokenizer, rows)

    def experience(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> Batch:
        batch = documents_for(self.model, self.tokenizer, rows)
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


def check_documents(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: Sequence[dict]) -> None:
    """ValueError, as `documents_for` has it, if any of these rows does not make a document for the model."""
    for first in range(0, len(rows), ROWS_AT_ONCE):
        documents_for(model, tokenizer, [rows[i] for i in range(first, min(first + ROWS_AT_ONCE, len(rows)))])
    check_template(tokenizer)


def documents_for(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, rows: Sequence[dict]) -> Batch:
    """The rows as the model reads them: each ends in an EOS of the model's.

    Raises ValueError as `encode_documents` does, and for a document that the model has no positions or no tokens for.
    """
    documents = encode_documents(tokenizer, rows, device_of(model), eos_token_ids(model, tokenizer))
    lengths = documents.row_tokens.tolist()
    check_fit(model, tokenizer, [ids[:length] for ids, length in zip(documents.ids.tolist(), lengths)])
    return documents


def encode_documents(
    tokenizer: PreTrainedTokenizerBase, rows: Sequence[dict], device: torch.device, eos: Sequence[int] = ()
) -> Batch:
    """Rows with `prompt`, `completion` and, where an environment spoke, `spoken` as one batch.

    Prompt and completion are tokenised apart, as they are when a completion is sampled. A completion that was sampled is
    read from its `completion_ids` where the row has them: its text would not tell which EOS ended it, nor whether one did.

    eos: every id that ends a completion (`shared.models.eos_token_ids`); default the tokenizer's own.

    Raises ValueError for a row that lacks a text in one of the two, whose prompt has no tokens or whose `spoken` is out
    of place, and for a tokenizer without EOS.
    """
    ends = ends_of(tokenizer, eos or [token for token in [tokenizer.eos_token_id] if token is not None])
    check_rows(rows, "prompt", "completion")
    documents = []
    learned_rows = []
    for row, prompt in zip(rows, prompt_ids(tokenizer, [row["prompt"] for row in rows]), strict=True):
        completion = row.get("completion_ids")
        if completion is None:
            completion, learned = completion_tokens(tokenizer, row["completion"], ends, row.get("spoken", ()))
        else:
            learned = [1] * len(completion)
        documents.append([*prompt, *completion])
        learned_rows.append([0] * len(prompt) + learned)
    learned = padded(learned_rows, 0)
    return Batch(
        ids=padded(documents, tokenizer.pad_token_id or 0).to(device),
        learned=learned.to(device),
        row_tokens=torch.tensor([len(ids) for ids in documents]),
        learned_tokens=learned.sum(dim=1),
        metrics={},
    )


def completion_tokens(
    tokenizer: PreTrainedTokenizerBase, completion: str, ends: Sequence[int], spoken: Sequence[tuple[int, int]] = ()
) -> tuple[list[int], list[int]]:
    """The token ids of a completion, and 1 for each that is learned, 0 for each of an environment's words.

    `spoken` are places of characters: in " 4? low" the environment spoke at (3, 7). The parts are tokenised apart, as
    when they are sampled. One EOS ends it, unless the environment spoke last: then the game was over, and a completion
    that is sampled ends there without one.

    ends: every id that ends a completion, as `shared.tokens.ends_of` orders them.

    Raises ValueError when `spoken` is out of order or beyond the completion.
    """
    ids: list[int] = []
    learned: list[int] = []
    end = 0
    for start, stop in spoken:
        if not end <= start < stop <= len(completion):
            raise ValueError(
                f"spoken is {spoken} in {completion!r}; give (start, stop) of characters, in their order, from 0 to "
                f"{len(completion)}."
            )
        for text, is_own in ((completion[end:start], 1), (completion[start:stop], 0)):
            tokens = piece_ids(tokenizer, text)
            ids += tokens
            learned += [is_own] * len(tokens)
        end = stop
    if end < len(completion) or not spoken:
        tokens = completion_ids(tokenizer, completion[end:], ends)
        ids += tokens
        learned += [1] * len(tokens)
    return ids, learned


def train(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    config: TrainingConfig = TrainingConfig(),
    **options,
) -> list[Metrics]:
    """Train `model` in place on rows with `prompt` and `completion`; `options` are those of `shared.training.train`."""
    return training.train(Supervised(model, tokenizer), rows, config, **options)
