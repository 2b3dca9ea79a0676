"""DPO: a policy fitted to preferences, without a reward model and without sampling (Rafailov et al. 2023, arXiv:2305.18290).

The policy that is best for a reward r under a KL penalty is pi_ref exp(r / beta) / Z. Solved for the reward, every
policy is the best one for its own *implicit reward* beta log(pi / pi_ref), up to a constant of the prompt that cancels
in a pair; and that reward is fitted to the pairs like any other. One pair, with beta = 0.1:

                log pi    log pi_ref    implicit reward
    chosen       -10         -12         0.1 x  2 =  0.2
    rejected     -11          -8         0.1 x -3 = -0.3      margin 0.5, loss -log sigmoid(0.5) = 0.474

The formula comes first (`dpo_loss`), then where its log-probabilities come from, then DPO as the training loop takes it.
Rows are TRL's preference format: `prompt`, `chosen`, `rejected`. Left out of TRL's DPOTrainer: its other losses and label
smoothing. `notebooks/reward_model.ipynb` derives it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import logsigmoid
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared import training
from shared.algorithm import Algorithm, Metrics, TrainingConfig, require_positive
from shared.engine.logits import token_logps
from shared.engine.positions import check_same_vocabulary
from shared.engine.processes import ALL_ROWS, Share
from shared.guard import FEW, Gap, refuse_another_start
from shared.reference import Reference, reference_model, refuse_the_policy_as_reference
from shared.rows import check_rows
from shared.supervised import Batch, check_documents, document_logits, documents_for

PREFERENCE = ("prompt", "chosen", "rejected")  # the columns of a row


def dpo_loss(
    chosen_logps: Float[Tensor, "N"],
    rejected_logps: Float[Tensor, "N"],
    ref_chosen_logps: Float[Tensor, "N"],
    ref_rejected_logps: Float[Tensor, "N"],
    beta: float,
) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
    """-mean over N pairs of log sigmoid(margin): equation 7 of the paper, and `margin_metrics`.

    A log-probability is that of a whole completion, the sum over its tokens. Those of the policy carry the gradient.
    """
    chosen_reward = beta * (chosen_logps - ref_chosen_logps)  # (N,)
    rejected_reward = beta * (rejected_logps - ref_rejected_logps)  # (N,)
    margin = chosen_reward - rejected_reward  # (N,)
    loss = -logsigmoid(margin).mean()
    return loss, margin_metrics(loss, margin)


@torch.no_grad()
def margin_metrics(loss: Float[Tensor, ""], margin: Float[Tensor, "N"]) -> dict[str, Tensor]:
    """Under TRL's names the loss, the share of pairs in the right order, and the mean margin; without gradient."""
    return {"loss": loss.detach(), "accuracy": (margin > 0).float().mean(), "margin": margin.mean()}


def both_of(rows: Sequence[dict]) -> list[dict]:
    """Preference rows as prompt-completion rows, each chosen completion followed by its rejected one.

    Raises ValueError for a row that lacks a text in one of the three columns.
    """
    check_rows(rows, *PREFERENCE)
    return [{"prompt": row["prompt"], "completion": row[which]} for row in rows for which in ("chosen", "rejected")]


def in_pairs(values: Float[Tensor, "M"]) -> tuple[Float[Tensor, "N"], Float[Tensor, "N"]]:
    """Of M = 2N values in the order of `both_of`, the N of the chosen completions and the N of the rejected ones."""
    chosen, rejected = values.view(-1, 2).unbind(dim=1)
    return chosen, rejected


def document_logps(model: PreTrainedModel, documents: Batch) -> Float[Tensor, "N"]:
    """The log-probability of each document's completion and EOS: the sum over its tokens."""
    logps = token_logps(document_logits(model, documents), documents.ids[:, 1:])
    return (logps * documents.learned[:, 1:]).sum(dim=1)


@dataclass(frozen=True)
class DPOConfig(TrainingConfig):
    """Settings of a DPO run: those of `TrainingConfig`, and this; `prompts_per_step` counts pairs.

    beta: the KL coefficient of the problem that is solved; the smaller, the further the policy may go.
    """

    beta: float = 0.1

    def __post_init__(self):
        super().__post_init__()
        require_positive(self, "beta")


@dataclass(frozen=True)
class Pairs:
    """N pairs: 2N documents in the order of `both_of`, and what `shared.algorithm.TrainingBatch` asks of a batch.

    ref_logps: (2N,), the log-probability of each document's completion under the reference.
    """

    documents: Batch
    ref_logps: Float[Tensor, "M"]
    metrics: Metrics

    def __len__(self) -> int:
        return len(self.documents) // 2

    @property
    def row_tokens(self) -> Tensor:
        return self.documents.row_tokens.view(-1, 2).amax(dim=1)

    @property
    def num_tokens(self) -> int:
        """Loss and metrics are means over pairs: whatever its length, a pair counts once."""
        return len(self)

    @property
    def num_places(self) -> int:
        return self.documents.num_places

    def take(self, rows: Sequence[int]) -> "Pairs":
        """The part that belongs to these pairs."""
        both = [document for row in rows for document in (2 * row, 2 * row + 1)]
        return replace(self, documents=self.documents.take(both), ref_logps=self.ref_logps[both])


class DPO(Algorithm[PreTrainedModel, Pairs]):
    """DPO as the training loop takes it."""

    name = "DPO"
    config_class = DPOConfig
    columns = PREFERENCE
    needs_reference = True

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        config: DPOConfig,
        *,
        reference: Reference | None = None,
    ):
        """Raises ValueError when the reference is the policy itself."""
        refuse_the_policy_as_reference(model, reference)
        self.model = model
        self.tokenizer = tokenizer
        self.config = config
        self.reference = reference

    def check(self, rows: Sequence[dict]) -> None:
        if isinstance(self.reference, nn.Module):
            check_same_vocabulary(self.model, self.reference, "reference")
        check_documents(self.model, self.tokenizer, both_of(rows))

    def experience(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> Pairs:
        documents = documents_for(self.model, self.tokenizer, both_of(rows))
        with torch.no_grad(), reference_model(self.model, self.reference) as frozen:
            ref_logps = document_logps(frozen, documents)
        if step == 0 and self.starts_at_reference:
            self.verify_start(documents.take(range(min(FEW, len(documents)))), ref_logps[:FEW])
        lengths = share.whole(documents.learned_tokens)
        return Pairs(documents, ref_logps, {"completions/mean_length": lengths.float().mean().item()})

    def loss(self, experience: Pairs) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
        logps = document_logps(self.model, experience.documents)  # (2N,)
        return dpo_loss(*in_pairs(logps), *in_pairs(experience.ref_logps), self.config.beta)

    @torch.no_grad()
    def verify_start(self, documents: Batch, ref_logps: Float[Tensor, "M"]) -> None:
        """Raises UntrustedModel where the margins are not 0 before the first update, but for rounding."""
        log_ratios = document_logps(self.model, documents) - ref_logps
        refuse_another_start(self.model, Gap.of(log_ratios / documents.learned_tokens.to(ref_logps.device)))


def train(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    config: DPOConfig = DPOConfig(),
    *,
    reference: Reference | None = None,
    **options,
) -> list[Metrics]:
    """Train `model` in place on rows with `prompt`, `chosen` and `rejected`; a record of metrics for each step.

    reference: the frozen reference; None with LoRA adapters, for the policy as it is now. `options` are those of `shared.training.train`.
    """
    return training.train(DPO(model, tokenizer, config, reference=reference), rows, config, **options)
