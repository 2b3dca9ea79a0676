"""A reward model: a linear head on a language model's frozen states, fitted to preferences (Ouyang et al. 2022).

    reward(prompt, completion) = w . h          h: the final hidden state at the EOS, which has read prompt and completion
    P(chosen over rejected)    = sigmoid(reward of the chosen - reward of the rejected)      (Bradley and Terry 1952)
    loss                       = -mean over pairs of log P

Rewards of 2 and 0.5 have a margin of 1.5: P = 0.818, and the loss is 0.201. Equal rewards give P = 0.5 and 0.693; rewards
of -1 and 1, in the wrong order, P = 0.119 and 2.127.

The loss comes first, then the model, then a plain fit, then the same fit as the training loop takes it. What differs from
the paper: it trains all weights, and several rankings of one prompt at once. Here the transformer stays as it is, so the
states are computed once for each batch and the updates on them cost next to nothing: give `num_iterations` many. Rows are
TRL's preference format.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import logsigmoid
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared import training
from shared.algorithm import Algorithm, Metrics, TrainingConfig
from shared.dpo import PREFERENCE, both_of, in_pairs, margin_metrics
from shared.engine.processes import ALL_ROWS, Share
from shared.models import frozen_copy
from shared.supervised import check_documents, documents_for
from shared.updates import device_of

DOCUMENTS_AT_ONCE = 64


def preference_loss(
    chosen: Float[Tensor, "N"], rejected: Float[Tensor, "N"]
) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
    """-mean log sigmoid(chosen - rejected), of the rewards of N pairs (arXiv:2203.02155, equation 1).

    A constant added to every reward changes nothing. Metrics: `shared.dpo.margin_metrics`.
    """
    margin = chosen - rejected  # (N,)
    loss = -logsigmoid(margin).mean()
    return loss, margin_metrics(loss, margin)


class RewardModel(nn.Module):
    """One number for a prompt with its completion.

    The head has no bias, which would cancel in every pair, and starts at 0: all rewards are equal before training.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase):
        """The states are those of a frozen copy of `model`, so that training the policy does not move its judge."""
        super().__init__()
        self.model = frozen_copy(model)
        self.tokenizer = tokenizer
        self.head = nn.Linear(model.config.get_text_config().hidden_size, 1, bias=False)
        nn.init.zeros_(self.head.weight)
        self.head.to(device_of(model))

    def forward(self, states: Float[Tensor, "*shape D"]) -> Float[Tensor, "*shape"]:
        """The rewards of states."""
        return self.head(states)[..., 0]

    @torch.no_grad()
    def states(self, rows: Sequence[dict]) -> Float[Tensor, "N D"]:
        """The final hidden state at the EOS of each row with `prompt` and `completion`."""
        found = []
        for first in range(0, len(rows), DOCUMENTS_AT_ONCE):
            documents = documents_for(self.model, self.tokenizer, rows[first : first + DOCUMENTS_AT_ONCE])
            out = self.model(documents.ids, output_hidden_states=True, logits_to_keep=1, use_cache=False)
            found.append(state_at_last_token(out.hidden_states[-1], documents.row_tokens))
        return torch.cat(found).float()

    @torch.no_grad()
    def reward(self, prompts: Sequence[str], completions: Sequence[str], **columns) -> list[float]:
        """A reward function as every training takes it. Unlike a rule's, it reads the prompt too."""
        rows = [{"prompt": prompt, "completion": text} for prompt, text in zip(prompts, completions, strict=True)]
        return self(self.states(rows)).tolist()


def state_at_last_token(states: Float[Tensor, "N L D"], lengths: Int[Tensor, "N"]) -> Float[Tensor, "N D"]:
    """The state of each document's last token. Padding stands behind it, on the right, and reaches no state before it."""
    last = (lengths - 1).to(states.device)
    return states[torch.arange(len(states), device=states.device), last]


def plain_fit(model: RewardModel, rows: Sequence[dict], updates: int, learning_rate: float) -> None:
    """The fit in a few lines, each update on all rows; tests hold `train` to it."""
    states = model.states(both_of(rows))  # (2N, D)
    optimizer = torch.optim.AdamW(model.head.parameters(), lr=learning_rate, weight_decay=0.0)
    for _ in range(updates):
        chosen, rejected = in_pairs(model(states))  # (N,) each
        loss, _ = preference_loss(chosen, rejected)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def accuracy(model: RewardModel, rows: Sequence[dict]) -> float:
    """The share of preferences that the model orders as the row says; two equal rewards are in no order."""
    chosen, rejected = in_pairs(model(model.states(both_of(rows))))
    return (chosen > rejected).float().mean().item()


@dataclass(frozen=True)
class PairStates:
    """N pairs as states (N, 2, D), the chosen completion's first; `shared.algorithm.TrainingBatch` asks for the rest."""

    states: Float[Tensor, "N 2 D"]
    metrics: Metrics

    def __len__(self) -> int:
        return len(self.states)

    @property
    def row_tokens(self) -> Tensor:
        """A state stands for the whole of its document, so every row has two."""
        return torch.full((len(self),), 2)

    @property
    def num_tokens(self) -> int:
        """Loss and metrics are means over pairs."""
        return len(self)

    @property
    def num_places(self) -> int:
        return self.states.numel()

    def take(self, rows: Sequence[int]) -> "PairStates":
        """The part that belongs to these pairs."""
        return replace(self, states=self.states[list(rows)])


class RewardModelling(Algorithm[RewardModel, PairStates]):
    """The fit of a reward model as the training loop takes it."""

    name = "reward model"
    columns = PREFERENCE
    numbers_per_place = 1  # a batch's places are the numbers in its states: the transformer's pass was made before

    def __init__(self, model: RewardModel):
        self.model = model

    def check(self, rows: Sequence[dict]) -> None:
        check_documents(self.model.model, self.model.tokenizer, both_of(rows))

    def experience(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> PairStates:
        states = self.model.states(both_of(rows))  # (2N, D)
        return PairStates(states.view(len(rows), 2, -1), {})

    def loss(self, experience: PairStates) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
        chosen, rejected = self.model(experience.states).unbind(dim=1)  # (N,) each
        return preference_loss(chosen, rejected)


def train(model: RewardModel, rows: Sequence[dict], config: TrainingConfig, **options) -> list[Metrics]:
    """Fit the head in place on rows with `prompt`, `chosen` and `rejected`; a record of metrics for each step.

    `prompts_per_step` counts pairs. `options` are those of `shared.training.train`.
    """
    return training.train(RewardModelling(model), rows, config, **options)
