"""Our settings as TRL's: what has the same name, what has another, and what TRL has no counterpart for.

What a reader would trip over:

| | here | in TRL 1.16 |
|---|---|---|
| a batch | `prompts_per_step` prompts, each with G completions | counts completions: `per_device_train_batch_size` x processes x accumulation |
| a step | one rollout, with `num_iterations` x `minibatches` updates | `max_steps` counts updates |
| aggregation | `loss_type` "grpo" unless said otherwise | "dapo" |
| scaling | population standard deviation (divide by G) | sample standard deviation (divide by G - 1) |
| KL penalty | as published | times the ratio, unless `use_bias_correction_kl=False` |
| learning rate | constant after the warm-up, first step at 1 / warmup_steps of it | falls to 0 linearly, first step at 0 |
| `learning_rate` | 1e-3 | 1e-6 |
| rows | a seeded order from one counter-based generator | TRL's own order and samples: equal seeds give other runs |
| precision on the CPU | float32 | bfloat16, and a GPU is looked for: it needs `use_cpu=True, bf16=False` |

The scaling differs by sqrt(G / (G - 1)), 7 % at G = 8, a change of the learning rate; all other rows are set here so
that both do the same. TRL's RLOO has a ratio, which is 1 in the one update of a rollout that ours makes; its gradient is ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import trl
from transformers import HfArgumentParser

from shared.experience import RolloutConfig
from shared.grpo import GRPOConfig
from shared.rloo import RLOOConfig

TRL_ADVANTAGE_EPS = 1e-4  # written into its trainer


@dataclass(frozen=True)
class Counterpart:
    """TRL's trainer of an algorithm, and the class of its settings."""

    trainer: type
    settings: type[trl.GRPOConfig] | type[trl.RLOOConfig]

    @property
    def names(self) -> set[str]:
        """The names of its settings."""
        return {field.name for field in fields(self.settings) if field.init}


COUNTERPARTS: dict[type[RolloutConfig], Counterpart] = {
    GRPOConfig: Counterpart(trl.GRPOTrainer, trl.GRPOConfig),
    RLOOConfig: Counterpart(trl.RLOOTrainer, trl.RLOOConfig),
}
# What makes TRL compute what is computed here.
AS_HERE = {
    "lr_scheduler_type": "constant_with_warmup",
    "use_bias_correction_kl": False,
    "disable_dropout": True,
    "remove_unused_columns": False,
}


def same_name(config: RolloutConfig) -> set[str]:
    """The settings that TRL has under the same name."""
    return {field.name for field in fields(config)} & COUNTERPARTS[type(config)].names


def without_counterpart(config: RolloutConfig) -> list[str]:
    """A sentence for each setting that TRL cannot be given; none is dropped in silence."""
    said = of_grpo_alone(config) if isinstance(config, GRPOConfig) else []
    if isinstance(config, RLOOConfig) and config.baseline == "none":
        said.append("TRL's RLOO always takes the mean of the others off: leave --baseline none out.")
    if config.eval_every:
        said.append("TRL measures held-out rows before and after, not on the way: leave --eval-every out.")
    if config.prompts_per_step % config.minibatches:
        said.append(
            f"TRL cuts a batch into equal parts, and {config.minibatches} minibatches cannot share "
            f"{config.prompts_per_step} prompts: choose --minibatches among the divisors of --prompts-per-step."
        )
    return said


def of_grpo_alone(config: GRPOConfig) -> list[str]:
    """The sentences on settings that only GRPO has."""
    said = []
    if config.beta and config.kl_in == "reward":
        said.append("TRL penalises the KL in the loss alone: leave --kl-in reward out, or set --beta 0.")
    if config.beta and config.kl_estimator != "k3":
        said.append(f"TRL penalises k3 alone: leave --kl-estimator {config.kl_estimator} out, or set --beta 0.")
    if config.advantage_eps != TRL_ADVANTAGE_EPS:
        said.append(f"TRL adds {TRL_ADVANTAGE_EPS:g} to the standard deviation: leave --advantage-eps out.")
    if config.scale_rewards == "mean":
        said.append("TRL does not divide by the mean reward: leave --scale-rewards mean out.")
    if config.staleness or not config.decoupled:
        said.append("TRL's GRPO samples with the policy of now: leave --staleness and --no-decoupled out.")
    if config.sampler_bits:
        said.append("TRL samples with the policy, or with vLLM in its own precision: leave --sampler-bits out.")
    return said


def trl_settings(config: RolloutConfig, *, on_cpu: bool, processes: int = 1) -> dict[str, object]:
    """The arguments of TRL's configuration for one of ours; the whole of a minibatch is one pass.

    Raises ValueError for what TRL has no counterpart for, and for completions that the processes cannot share.
    """
    for sentence in without_counterpart(config):
        raise ValueError(sentence)
    updates_per_step = config.num_iterations * config.minibatches
    settings = {name: getattr(config, name) for name in same_name(config)}
    settings |= {
        "max_steps": config.steps * updates_per_step,
        "max_completion_length": config.max_new_tokens,
        "reward_weights": None if config.reward_weights is None else list(config.reward_weights),
        "logging_steps": max(1, config.log_every * updates_per_step),
        "save_strategy": "steps" if config.checkpoint_every else "no",
        "save_steps": max(1, config.checkpoint_every * updates_per_step),
        "use_cpu": on_cpu,
        "bf16": not on_cpu if config.bf16 is None else config.bf16,
    }
    names = COUNTERPARTS[type(config)].names
    return settings | {k: v for k, v in AS_HERE.items() if k in names} | shares_of(config, processes)


def shares_of(config: RolloutConfig, processes: int, per_device: int | None = None) -> dict[str, int]:
    """The shares of a step's completions: TRL counts completions of one process in one pass.

    per_device: completions in one pass of one process; None puts a minibatch into one pass of each.

    Raises ValueError when it does not come out even.
    """
    completions = config.prompts_per_step * config.num_generations // config.minibatches
    at_once = processes * (per_device or max(1, completions // processes))
    if completions % at_once:
        raise ValueError(
            f"{completions} completions a minibatch (prompts-per-step x num-generations / minibatches) cannot be shared "
            f"evenly by {processes} processes in passes of {at_once // processes}: TRL needs that."
        )
    passes = completions // at_once
    return {
        "per_device_train_batch_size": at_once // processes,
        "gradient_accumulation_steps": passes,
        "steps_per_generation": passes * config.minibatches,
    }


def with_extra(
    settings: dict[str, object], extra: Sequence[str], config: RolloutConfig, processes: int
) -> trl.GRPOConfig | trl.RLOOConfig:
    """TRL's configuration from settings, and over them options as TRL's own scripts take them ("--use_vllm", "true").

    With another `per_device_train_batch_size` the number of passes is worked out anew.

    Raises ValueError: TRL knows no such option, or refuses its value.
    """
    counterpart = COUNTERPARTS[type(config)]
    parser = _Parser(counterpart.settings)
    parser.set_defaults(**settings)
    chosen = vars(parser.parse_args(list(extra)))
    given = {option.split("=")[0].lstrip("-").replace("-", "_") for option in extra if option.startswith("--")}
    if "per_device_train_batch_size" in given and given.isdisjoint(
        {"gradient_accumulation_steps", "steps_per_generation"}
    ):
        chosen |= shares_of(config, processes, chosen["per_device_train_batch_size"])
    return counterpart.settings(**{name: value for name, value in chosen.items() if name in counterpart.names})


class _Parser(HfArgumentParser):
    """Says what is wrong instead of ending the program behind a hundred lines of usage."""

    def error(self, message: str):
        (settings,) = self.dataclass_types
        raise ValueError(f"trl.{settings.__name__} does not take the options behind --: {message}.")
