"""The interface of an algorithm to the training loop: the settings that every algorithm has, and the members of one.

A new algorithm is a small file: a `TrainingConfig` with further fields, and an `Algorithm` with a `model`, an
`experience` that collects a batch to learn from, and a `loss`, such as a formula of `shared/losses.py`. The other
members have a default. `shared/rloo.py` is the shortest.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Generic, Literal, Protocol, TypeVar, get_args, get_origin, get_type_hints

from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from shared.engine.processes import ALL_ROWS, Share
from shared.reference import OWN_ADAPTERS, Reference, starting_policy

Metrics = dict[str, float]
NUMBERS = {int: Integral, float: Real}  # numpy's numbers are among them
IN_WORDS = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    tuple: "a list of numbers",
    NoneType: "None",
}


class TrainingBatch(Protocol):
    """The rows that one step learns from: N of them, to be taken apart for minibatches and for pieces of a gradient.

    metrics: measured before any update, already numbers.
    row_tokens: (N,), on the CPU, the length of each row, so that rows of like length can go together.
    num_tokens: the number of real tokens that the loss is about.
    num_places: the number of places that a pass computes: the tokens, with padding.
    """

    @property
    def metrics(self) -> Metrics: ...

    @property
    def row_tokens(self) -> Tensor: ...

    @property
    def num_tokens(self) -> int: ...

    @property
    def num_places(self) -> int: ...

    def __len__(self) -> int: ...

    def take(self, rows: Sequence[int], /) -> "TrainingBatch": ...


Model = TypeVar("Model", bound=nn.Module)
Learned = TypeVar("Learned", bound=TrainingBatch)


class Algorithm(Generic[Model, Learned]):
    """An algorithm, as the loop uses it. Each one sets `model` and writes the first two methods; the rest has a default."""

    name = "training"
    model: Model
    # The class of its settings; None for TrainingConfig.
    config_class: "type[TrainingConfig] | None" = None
    # The columns in which every row must have a text.
    columns: tuple[str, ...] = ()
    # The metrics of an update in which no row has a gradient: the loss is 0 then, and `loss` is not called.
    idle_metrics = {}
    # Bytes that the loop has measured, on a GPU, for each logit of a piece (`shared.engine.piece_size`).
    bytes_per_logit: float = 0.0
    # True where the loss needs a frozen model beside the policy.
    needs_reference = False
    # That model: as it was given, or as `begin` takes it.
    reference: Reference | None = None
    # The trained weights of earlier steps, by step, where the algorithm samples with them: a checkpoint has them too.
    past: dict[int, dict[str, Tensor]] | None = None
    # True where `begin` took it, so that it is the policy itself before the first update.
    starts_at_reference = False

    @property
    def policy(self) -> PreTrainedModel:
        """The language model that samples or is scored."""
        return self.model  # ty: ignore[invalid-explicit-return]  (of another model it is overridden)

    def begin(self) -> str:
        """Take the policy as it is now as the reference, where one is needed and none was given; a remark on it or ""."""
        if self.reference is not None or not self.needs_reference:
            return ""
        self.reference = starting_policy(self.policy)
        self.starts_at_reference = True
        return OWN_ADAPTERS if self.reference.adapters else ""

    def check(self, rows: Sequence[dict]) -> None:
        """ValueError, before training, for rows that cannot be learned from. By default all can."""

    def experience(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> Learned:
        """A batch to learn from, made of these rows; chance depends on the step (`shared.engine.chance`).

        Where several processes train, the rows are this one's `share` of the step's. A number that depends on all rows
        is computed from `share.whole`, and metrics are those of all rows.
        """
        raise NotImplementedError

    def loss(self, experience: Learned) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
        """A mean over the experience, with gradient, and metrics that are means over its tokens, without."""
        raise NotImplementedError

    def weight(self, experience: Learned) -> float:
        """The number of things that the loss is a mean over, by default tokens. Losses of pieces are weighted with it."""
        return experience.num_tokens

    def counts(self, experience: Learned) -> dict[str, float]:
        """The number of things that a metric of the loss is a mean over, by name, where rows without gradient count too.

        They count with 0. A metric that is not named is a mean over the tokens of the rows with a gradient.
        """
        return {}

    def rows_with_gradient(self, experience: Learned) -> Sequence[int]:
        """The rows whose loss has a gradient. The others count in the mean and are not computed. All by default."""
        return range(len(experience))

    def parameter_groups(self, config: "TrainingConfig") -> list[dict]:
        """The parameters to train, as the optimiser takes them, with a learning rate `lr` each."""
        return [{"params": trained_parameters(self.model), "lr": config.learning_rate}]

    @property
    def numbers_per_place(self) -> int:
        """The numbers that a pass makes for each of the experience's `num_places`: the logits of a token.

        Together they decide into how many pieces a gradient is cut.
        """
        return self.policy.config.get_text_config().vocab_size

    def enough(self, metrics: Metrics) -> bool:
        """True when the policy has moved so far that this update and the further ones of the step are left out."""
        return False

    def completion_records(self, experience: Learned, rows: Sequence[dict]) -> list[list[dict]]:
        """For each of the rows, which the experience was made of, a record of each sampled completion.

        Raises ValueError where nothing is sampled.
        """
        raise ValueError(f"The algorithm {self.name} samples no completions: leave on_rollout out.")

    def advice(self, history: Sequence[Metrics]) -> str | None:
        """A sentence to print once when the run looks as if it could not learn."""
        return None


@dataclass(frozen=True)
class TrainingConfig:
    """The settings that all algorithms have, checked when made.

    Most settings have the name that they have in `trl.GRPOConfig`; `docs/cluster.qmd` has a table of the others. A step here
    is a rollout with all updates on it; TRL counts updates. `shared/run/trl_settings.py` translates.

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
        require_types(self)
        require_at_least(self, 1, "steps", "prompts_per_step", "num_iterations", "minibatches")
        require_at_least(self, 0, "warmup_steps", "log_every", "eval_every", "checkpoint_every", "seed", "weight_decay")
        require_positive(self, "learning_rate", "max_grad_norm")
        if self.minibatches > self.prompts_per_step:
            raise ValueError(
                f"{self.minibatches} minibatches cannot be cut from {self.prompts_per_step} prompts a step."
            )


def require_config(config: object, kind: type[TrainingConfig]) -> None:
    """ValueError for a dict in the place of settings, a class, or the settings of another algorithm."""
    if not isinstance(config, kind):
        raise ValueError(
            f"The settings are of the type {type(config).__name__}; give those of this algorithm, such as"
            f" {kind.__name__}(steps=100)."
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


def require_types(config) -> None:
    """ValueError with the field's name for one that is not of its type, or is none of its choices.

    A text is no number: YAML reads 1e-4 as one. And a number is not cut off to a whole one.
    """
    hints = get_type_hints(type(config))
    for field in fields(config):
        value = getattr(config, field.name)
        hint = hints[field.name]
        kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
        if any(_is_a(value, kind) for kind in kinds):
            continue
        if get_origin(hint) is Literal:
            raise ValueError(f"{field.name} is {value!r}; choose one of {', '.join(get_args(hint))}.")
        wanted = " or ".join(IN_WORDS[get_origin(kind) or kind] for kind in kinds)
        in_yaml = " In YAML write 1.0e-4: 1e-4 is a text there." if float in kinds and isinstance(value, str) else ""
        raise ValueError(f"{field.name} is {value!r}; it must be {wanted}.{in_yaml}")


def _is_a(value: object, kind: type) -> bool:
    """True if a setting's value is of a kind: a class, None, a `Literal` of texts, or a tuple of numbers."""
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if get_origin(kind) is tuple:
        return isinstance(value, tuple | list) and all(_is_a(part, float) for part in value)
    if kind in NUMBERS:
        return isinstance(value, NUMBERS[kind]) and not isinstance(value, bool)
    return isinstance(value, kind)


def trained_parameters(model: nn.Module) -> list[nn.Parameter]:
    """The parameters that require a gradient."""
    return [p for p in model.parameters() if p.requires_grad]
