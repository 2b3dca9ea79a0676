"""What an algorithm is to the training loop: settings that every one has, and two methods of its own.

A new algorithm is a small file: a `TrainingConfig` with further fields, and an `Algorithm` whose `experience` makes
what there is to learn from and whose `loss` is a formula of `shared/losses.py`. `shared/rloo.py` is the shortest.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from jaxtyping import Float
from torch import Tensor, nn

from shared.engine.processes import ALL_ROWS, Share

Metrics = dict[str, float]


class Experience(Protocol):
    """What one step learns from: N rows that can be taken apart, for minibatches and for pieces of a gradient.

    metrics: what is known of it before any update, already numbers.
    row_tokens: (N,), on the CPU, how long each row is, so that rows of like length can go together.
    num_tokens: how many real tokens the loss is about.    num_places: the same with padding, as a pass computes them.
    """

    metrics: Metrics
    row_tokens: Tensor
    num_tokens: int
    num_places: int

    def __len__(self) -> int: ...

    def take(self, rows: Sequence[int]) -> "Experience": ...


class Algorithm:
    """What the loop asks of an algorithm. The first two methods are its own; the others have a default."""

    name = "training"
    model: nn.Module
    # Which of the step's rows this process has; the loop says so before each `experience`.
    share: Share = ALL_ROWS
    # What `loss` tells beside the loss, which is 0, where no row has a gradient and it is not asked.
    idle_metrics: Metrics = {}

    def experience(self, rows: Sequence[dict], step: int) -> Experience:
        """What there is to learn from in these rows; chance depends on the step (`shared.engine.chance`).

        Where several processes train, the rows are this one's `share`; what depends on all rows is taken of
        `share.whole`, and metrics are those of all rows.
        """
        raise NotImplementedError

    def loss(self, experience: Experience) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
        """A mean over the experience, with gradient, and metrics that are means over its tokens, without."""
        raise NotImplementedError

    def weight(self, experience: Experience) -> float:
        """What the loss is a mean over; losses of pieces are added up in these proportions. Tokens by default."""
        return experience.num_tokens

    def rows_with_gradient(self, experience: Experience) -> Sequence[int]:
        """The rows whose loss has a gradient. The others count in the mean and are not computed. All by default."""
        return range(len(experience))

    def parameter_groups(self, config: "TrainingConfig") -> list[dict]:
        """The parameters to train, as the optimiser takes them, with a learning rate `lr` each."""
        return [{"params": trained_parameters(self.model), "lr": config.learning_rate}]

    @property
    def vocab_size(self) -> int:
        """How many logits a token has: with `num_places` it decides into how many pieces a gradient is cut."""
        return self.model.config.get_text_config().vocab_size

    def enough(self, metrics: Metrics) -> bool:
        """Whether the policy has moved so far that this update and the step's further ones are left out."""
        return False

    def advice(self, history: Sequence[Metrics]) -> str | None:
        """A sentence to print once when the run looks as if it could not learn."""
        return None


@dataclass(frozen=True)
class TrainingConfig:
    """What every algorithm's settings begin with; checked when made. Names are TRL's where TRL has one.

    steps: batches of rows to learn from.
    prompts_per_step: N, rows of the data set in a batch.
    num_iterations: update epochs over one batch.
    minibatches: parts, by rows, into which an epoch is split, with an update after each.
    learning_rate: of AdamW; 1e-4 to 1e-3 for the embedded model, 1e-6 to 1e-5 for all weights of a real one.
    weight_decay: of AdamW; 0 leaves the weights their size.
    warmup_steps: steps over which the learning rate rises to its value; then it stays.
    max_grad_norm: a gradient longer than this is shortened to it.
    bf16: matrix products in bfloat16, the weights stay float32; None does so on a GPU that can.
    log_every: print a line of averages so often; 0 prints nothing.
    eval_every: measure so often on the way, where `train` is told how; 0 never.
    checkpoint_every: save so often, where `train` has a path; 0 never.
    seed: of the order of rows and of sampling.
    """

    steps: int = 100
    prompts_per_step: int = 16
    num_iterations: int = 1
    minibatches: int = 1
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    warmup_steps: int = 5
    max_grad_norm: float = 1.0
    bf16: bool | None = None
    log_every: int = 10
    eval_every: int = 0
    checkpoint_every: int = 0
    seed: int = 0

    def __post_init__(self):
        require_at_least(self, 1, "steps", "prompts_per_step", "num_iterations", "minibatches")
        require_at_least(self, 0, "warmup_steps", "log_every", "eval_every", "checkpoint_every", "seed", "weight_decay")
        require_positive(self, "learning_rate", "max_grad_norm")
        if self.minibatches > self.prompts_per_step:
            raise ValueError(
                f"{self.minibatches} minibatches cannot be cut from {self.prompts_per_step} prompts a step."
            )


def require_at_least(config, least: float, *names: str) -> None:
    """ValueError with the field's name for one that is below `least` or not finite."""
    for name in names:
        if not least <= getattr(config, name) < math.inf:
            raise ValueError(f"{name} is {getattr(config, name)}; it must be at least {least} and finite.")


def require_positive(config, *names: str) -> None:
    """ValueError with the field's name for one that is not positive and finite."""
    for name in names:
        if not 0 < getattr(config, name) < math.inf:
            raise ValueError(f"{name} is {getattr(config, name)}; it must be positive and finite.")


def require_choice(config, **choices: Iterable[str]) -> None:
    """ValueError with the field's name and what may be chosen for one that is none of its choices."""
    for name, allowed in choices.items():
        if getattr(config, name) not in allowed:
            raise ValueError(f"{name} is {getattr(config, name)!r}; choose one of {', '.join(allowed)}.")


def trained_parameters(model: nn.Module) -> list[nn.Parameter]:
    """The parameters that require a gradient."""
    return [p for p in model.parameters() if p.requires_grad]
