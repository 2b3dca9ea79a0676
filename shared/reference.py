"""The frozen reference of a run: the policy as it was before the run's first update.

Without adapters it is a copy of the model, `frozen_copy(model)`, made before training. With LoRA the matrices below the
adapters are frozen, so that no second copy of them is needed:

    the adapters began at 0       the reference is the model with its adapters switched off
    they began otherwise          it is the model with its adapters as they were, of which a frozen copy is kept

Adapters begin otherwise where they were trained before, and where a scheme such as PiSSA or OLoRA takes a part out of the
matrices below: switched off they leave another model then. `train` takes the reference of its own run. Who wants two runs
to have one makes it first and hands it to both:

    start = starting_policy(model)
    grpo.train(model, tokenizer, easy, reward, config, reference=start)
    grpo.train(model, tokenizer, hard, reward, config, reference=start)
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from shared.engine.modes import eval_mode
from shared.models import adapters_are_zero, adapters_began_at_zero, require_model

NONE = "There is no reference: give frozen_copy(model) made before training, or train with LoRA."
UNKNOWN = (
    "What these adapters began as is not known: they are not 0 now. Give reference=starting_policy(model) of "
    "shared.reference, made before training."
)
OWN_ADAPTERS = (
    "The reference of this run is the policy as it is now, with adapters that are not 0. For another one give reference=, "
    "such as starting_policy(model) of shared.reference, made before an earlier run."
)


@dataclass
class StartingPolicy:
    """A policy with adapters as it was: the trained weights of that time by name, {} for adapters that were 0."""

    adapters: dict[str, Tensor] = field(default_factory=dict)


Reference = PreTrainedModel | StartingPolicy


def starting_policy(model: PreTrainedModel) -> StartingPolicy:
    """The policy as it is now, frozen, without a copy of what lies below its adapters.

    Raises ValueError for a model without adapters.
    """
    _require_adapters(model)
    if adapters_are_zero(model):
        return StartingPolicy()
    return StartingPolicy({name: p.detach().clone() for name, p in model.named_parameters() if p.requires_grad})


@contextmanager
def reference_model(model: PreTrainedModel, reference: Reference | None) -> Iterator[PreTrainedModel]:
    """`with reference_model(policy, reference) as frozen:` gives the model to score the reference with, no gradient.

    That is `reference` itself or, for a `StartingPolicy`, the policy with its adapters as they were, while the block runs.
    None stands for adapters that are switched off, where they began at 0. `disable_adapter()` outside of `with` only makes
    a context manager and throws it away: the adapters stay on and the KL is 0 for ever.

    Raises ValueError when there is no reference, or when adapters are not 0 and nobody knows what they began as.
    """
    if reference is None:
        reference = _switched_off(model)
    if not isinstance(reference, StartingPolicy):
        yield reference
        return
    with torch.no_grad(), eval_mode(model):
        with _with_weights(model, reference.adapters) if reference.adapters else model.disable_adapter():  # ty: ignore[not-callable]
            yield model


def _switched_off(model: PreTrainedModel) -> StartingPolicy:
    """The policy without its adapters, where they began at 0."""
    _require_adapters(model)
    if not adapters_began_at_zero(model):
        raise ValueError(UNKNOWN)
    return StartingPolicy()


def _require_adapters(model: PreTrainedModel) -> None:
    require_model(model)
    if not hasattr(model, "disable_adapter"):
        raise ValueError(NONE)


@contextmanager
def _with_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> Iterator[None]:
    """Other weights in the place of the trained ones while the block runs; a gradient that waits does not see them."""
    parameters = dict(model.named_parameters())
    own = {name: parameters[name].data for name in weights}
    try:
        for name, tensor in weights.items():
            parameters[name].data = tensor
        yield
    finally:
        for name, tensor in own.items():
            parameters[name].data = tensor


def refuse_the_policy_as_reference(model: nn.Module, reference: Reference | None) -> None:
    """ValueError when the reference shares a trained parameter with the policy: the KL would be 0 for ever."""
    require_model(model)
    if reference is None or isinstance(reference, StartingPolicy):
        return
    require_model(reference, "reference")
    trained = {id(p) for p in model.parameters() if p.requires_grad}
    if any(id(p) in trained for p in reference.parameters()):
        raise ValueError(
            "The reference is the policy itself: the KL between the two is 0 for ever and penalises nothing. "
            "Give reference=frozen_copy(model), made before training."
        )
