"""The algorithms that the command line knows, by name. A new one is a line here."""

from collections.abc import Callable
from dataclasses import dataclass

from transformers import PreTrainedModel

from shared.critic import ActorCritic
from shared.distill import Distillation, DistillConfig
from shared.experience import RolloutAlgorithm, RolloutConfig
from shared.grpo import GRPO, GRPOConfig
from shared.ppo import PPO, PPOConfig
from shared.rloo import RLOO, RLOOConfig


@dataclass(frozen=True)
class Kind:
    """An algorithm, its settings, and what it trains of a language model: the model itself, or one with a critic."""

    algorithm: type[RolloutAlgorithm]
    config: type[RolloutConfig]
    trained: Callable[[PreTrainedModel], object] = lambda model: model


ALGORITHMS = {
    "grpo": Kind(GRPO, GRPOConfig),
    "rloo": Kind(RLOO, RLOOConfig),
    "distill": Kind(Distillation, DistillConfig),
    "ppo": Kind(PPO, PPOConfig, ActorCritic),
}


def config_for(algorithm: str, settings: dict[str, object]) -> RolloutConfig:
    """The algorithm's configuration with these settings.

    Raises ValueError: it has no setting of that name, or the configuration refuses the value.
    """
    config_class = ALGORITHMS[algorithm].config
    for name in settings:
        if name not in config_class.__dataclass_fields__:
            having = [other for other, kind in ALGORITHMS.items() if name in kind.config.__dataclass_fields__]
            raise ValueError(
                f"{algorithm} has no setting {name}; {' and '.join(having)} has. Leave --{flag(name)} out."
            )
    return config_class(**settings)


def flag(name: str) -> str:
    """A setting as the command line writes it: `learning-rate`."""
    return name.replace("_", "-")
