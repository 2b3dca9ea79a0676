"""The algorithms that the command line knows, by name. A new one is a line here."""

from collections.abc import Callable
from dataclasses import dataclass

from transformers import PreTrainedModel

from shared.critic import ActorCritic
from shared.distill import Distillation
from shared.experience import RolloutAlgorithm, RolloutConfig
from shared.grpo import GRPO
from shared.ppo import PPO
from shared.rloo import RLOO


@dataclass(frozen=True)
class Kind:
    """An algorithm, and what it trains of a language model: the model itself, or one with a critic."""

    algorithm: type[RolloutAlgorithm]
    trained: Callable[[PreTrainedModel], object] = lambda model: model

    @property
    def config(self) -> type[RolloutConfig]:
        """The class of its settings."""
        return self.algorithm.config_class


ALGORITHMS = {
    "grpo": Kind(GRPO),
    "rloo": Kind(RLOO),
    "distill": Kind(Distillation),
    "ppo": Kind(PPO, ActorCritic),
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
