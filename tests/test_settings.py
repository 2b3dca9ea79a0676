"""The settings of every algorithm: what is taken when nothing is said, and what is refused."""

import math
import re
from dataclasses import asdict

import numpy as np
import pytest

from shared.algorithm import TrainingConfig
from shared.experience import RolloutConfig
from shared.grpo import GRPOConfig
from shared.ppo import PPOConfig
from shared.rloo import RLOOConfig

TRAINING = {
    "steps": 100,
    "prompts_per_step": 16,
    "num_iterations": 1,
    "minibatches": 1,
    "learning_rate": 1e-3,
    "weight_decay": 0.0,
    "warmup_steps": 5,
    "max_grad_norm": 1.0,
    "bf16": None,
    "log_every": 10,
    "eval_every": 0,
    "checkpoint_every": 0,
    "seed": 0,
}
ROLLOUT = TRAINING | {
    "num_generations": 8,
    "max_new_tokens": 16,
    "temperature": 1.0,
    "top_k": 0,
    "top_p": 1.0,
    "beta": 0.0,
    "kl_in": "loss",
    "reward_weights": None,
}
GRPO = ROLLOUT | {
    "kl_estimator": "k3",
    "epsilon": 0.2,
    "epsilon_high": None,
    "importance_sampling_level": "token",
    "loss_type": "grpo",
    "sapo_temperature_pos": 1.0,
    "sapo_temperature_neg": 1.05,
    "scale_rewards": "group",
    "advantage_eps": 1e-4,
    "entropy_coef": 0.0,
    "mask_truncated_completions": False,
    "staleness": 0,
    "sampler_bits": 0,
    "decoupled": True,
    "vllm_importance_sampling_correction": True,
    "vllm_importance_sampling_mode": "sequence_mask",
    "vllm_importance_sampling_clip_max": 3.0,
    "vllm_importance_sampling_clip_min": None,
}
PPO = ROLLOUT | {
    "steps": 40,
    "prompts_per_step": 32,
    "num_generations": 1,
    "max_new_tokens": 32,
    "num_iterations": 2,
    "minibatches": 2,
    "learning_rate": 3e-4,
    "warmup_steps": 0,
    "beta": 0.05,
    "head_learning_rate": 3e-3,
    "lam": 0.95,
    "whiten_advantages": True,
    "epsilon": 0.2,
    "value_epsilon": 0.2,
    "value_coef": 0.5,
    "entropy_coef": 0.0,
    "target_kl": 0.1,
    "policy_coef": 1.0,
}
DEFAULTS = [
    (TrainingConfig, TRAINING),
    (RolloutConfig, ROLLOUT),
    (GRPOConfig, GRPO),
    (RLOOConfig, ROLLOUT | {"baseline": "leave_one_out", "kl_in": "reward"}),
    (PPOConfig, PPO),
]
# The last value that is taken, and one beyond it.
BOUNDS = [
    (TrainingConfig, "steps", 1, 0),
    (TrainingConfig, "prompts_per_step", 1, 0),
    (TrainingConfig, "num_iterations", 1, 0),
    (TrainingConfig, "minibatches", 1, 0),
    (TrainingConfig, "warmup_steps", 0, -1),
    (TrainingConfig, "log_every", 0, -1),
    (TrainingConfig, "eval_every", 0, -1),
    (TrainingConfig, "checkpoint_every", 0, -1),
    (TrainingConfig, "seed", 0, -1),
    (TrainingConfig, "weight_decay", 0.0, -0.1),
    (TrainingConfig, "learning_rate", 1e-9, 0.0),
    (TrainingConfig, "max_grad_norm", 1e-9, 0.0),
    (RolloutConfig, "num_generations", 1, 0),
    (RolloutConfig, "beta", 0.0, -0.1),
    (RolloutConfig, "temperature", 0.1, 0.0),
    (GRPOConfig, "num_generations", 2, 1),
    (GRPOConfig, "entropy_coef", 0.0, -0.1),
    (GRPOConfig, "advantage_eps", 0.0, -0.1),
    (GRPOConfig, "epsilon", 1e-9, 0.0),
    (GRPOConfig, "epsilon_high", 1e-9, 0.0),
    (GRPOConfig, "sapo_temperature_pos", 1e-9, 0.0),
    (GRPOConfig, "sapo_temperature_neg", 1e-9, 0.0),
    (GRPOConfig, "vllm_importance_sampling_clip_max", 1e-9, 0.0),
    (GRPOConfig, "vllm_importance_sampling_clip_min", 1e-9, 0.0),
    (RLOOConfig, "num_generations", 2, 1),
    (PPOConfig, "head_learning_rate", 1e-9, 0.0),
    (PPOConfig, "epsilon", 1e-9, 0.0),
    (PPOConfig, "value_epsilon", 1e-9, 0.0),
    (PPOConfig, "value_coef", 0.0, -0.1),
    (PPOConfig, "entropy_coef", 0.0, -0.1),
    (PPOConfig, "target_kl", 0.0, -0.1),
    (PPOConfig, "policy_coef", 0.0, -0.1),
    (PPOConfig, "lam", 0.0, -0.1),
    (PPOConfig, "lam", 1.0, 1.1),
]
CHOICES = [
    (RolloutConfig, "kl_in", ["loss", "reward"]),
    (PPOConfig, "kl_in", ["loss", "reward"]),
    (GRPOConfig, "kl_in", ["loss", "reward"]),
    (GRPOConfig, "kl_estimator", ["k1", "k2", "k3"]),
    (GRPOConfig, "importance_sampling_level", ["token", "sequence"]),
    (GRPOConfig, "loss_type", ["grpo", "dapo", "dr_grpo", "cispo", "sapo"]),
    (GRPOConfig, "scale_rewards", ["group", "batch", "none", "mean"]),
    (
        GRPOConfig,
        "vllm_importance_sampling_mode",
        ["token_truncate", "token_mask", "sequence_truncate", "sequence_mask"],
    ),
    (RLOOConfig, "baseline", ["leave_one_out", "none"]),
]


@pytest.mark.parametrize("kind, defaults", DEFAULTS)
def test_what_is_not_said_is_as_it_was(kind, defaults):
    """Catches a default that changes unnoticed: notebooks name few settings, and their recorded results hang on all."""
    assert asdict(kind()) == defaults


@pytest.mark.parametrize("kind, name, last, beyond", BOUNDS)
def test_a_setting_is_taken_up_to_its_bound_and_refused_by_name_beyond(kind, name, last, beyond):
    """Catches a bound that is one off, and a field that is forgotten among those that are checked."""
    assert getattr(kind(**{name: last}), name) == last
    for wrong in (beyond, math.inf, math.nan):
        with pytest.raises(ValueError, match=f"^{name} is {wrong}; it must"):
            kind(**{name: wrong})


@pytest.mark.parametrize("kind, name, choices", CHOICES)
def test_a_choice_is_one_of_those_that_the_error_names(kind, name, choices):
    for choice in choices:
        wanted = {"epsilon_high": 5.0} if choice == "cispo" else {}
        assert getattr(kind(**{name: choice} | wanted), name) == choice
    with pytest.raises(ValueError, match=f"^{name} is 'another'; choose one of {', '.join(choices)}.$"):
        kind(**{name: "another"})


@pytest.mark.parametrize(
    "name, wrong, words",
    [
        ("learning_rate", "1e-4", "a number. In YAML write 1.0e-4"),
        ("num_generations", "8", "a whole number"),
        ("steps", 2.5, "a whole number"),
        ("steps", True, "a whole number"),
        ("beta", True, "a number"),
        ("bf16", "no", "True or False or None"),
        ("epsilon_high", "0.2", "a number or None"),
        ("reward_weights", "1,2", "a list of numbers or None"),
        ("reward_weights", (1.0, "2"), "a list of numbers or None"),
        ("seed", None, "a whole number"),
    ],
)
def test_a_setting_of_another_type_is_refused_by_name(name, wrong, words):
    """Catches YAML's 1e-4, which is a text, and steps that end in a TypeError of `range`."""
    with pytest.raises(ValueError, match=f"^{name} is {re.escape(repr(wrong))}; it must be {words}"):
        GRPOConfig(**{name: wrong})


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"loss_type": "cispo"}, "under cispo it is the bound itself"),
        ({"loss_type": "cispo", "epsilon_high": 0.28}, "epsilon_high is 0.28, but under cispo"),
        ({"scale_rewards": "mean", "beta": 0.1, "kl_in": "reward"}, "a KL penalty in the reward may make negative"),
        ({"sampler_bits": 1}, "sampler_bits is 1; choose 2 to 8, 16 for bfloat16"),
        ({"sampler_bits": 9}, "sampler_bits is 9"),
        ({"reward_weights": (1.0, math.nan)}, "reward_weights has nan"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings, words):
    """Catches a clip-higher of 0.28 that bounds every weight at 0.28, and a divisor that changes its sign."""
    with pytest.raises(ValueError, match=words):
        GRPOConfig(**settings)


def test_whole_numbers_and_numpys_are_numbers():
    assert GRPOConfig(learning_rate=1, steps=np.int64(3), beta=np.float32(0.5), reward_weights=[1, 2]).steps == 3


def test_without_a_ratio_the_kl_has_one_place():
    """Catches an error that offers "loss", which is refused when it is taken."""
    for wrong in ("loss", "other"):
        with pytest.raises(ValueError, match=f"^kl_in is '{wrong}'; choose one of reward.$"):
            RLOOConfig(kl_in=wrong)
    assert RLOOConfig(num_generations=1, baseline="none").num_generations == 1


def test_a_minibatch_holds_at_least_one_prompt():
    assert TrainingConfig(prompts_per_step=4, minibatches=4).minibatches == 4
    with pytest.raises(ValueError, match="5 minibatches cannot be cut from 4 prompts"):
        TrainingConfig(prompts_per_step=4, minibatches=5)


@pytest.mark.parametrize("filter", [{"top_k": 1}, {"top_p": 0.9}])
def test_an_exact_kl_is_refused_where_it_is_infinite_and_only_there(filter):
    """Policy and reference keep different tokens. Not when there is no penalty, and not for k1 in the reward."""
    with pytest.raises(ValueError, match="infinite"):
        PPOConfig(**filter)
    assert PPOConfig(**filter, kl_in="reward").kl_in == "reward"
    assert PPOConfig(**filter, beta=0.0).beta == 0
    assert PPOConfig(beta=0.0).beta == 0


def test_the_settings_of_sampling_reach_it():
    sampling = RolloutConfig(max_new_tokens=3, temperature=0.5, top_k=2, top_p=0.9).sampling
    assert asdict(sampling) == {"max_new_tokens": 3, "temperature": 0.5, "top_k": 2, "top_p": 0.9}
