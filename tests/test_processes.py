"""Several processes make the update of one: gradients, parameters and metrics, for every algorithm.

One process trains first and its rollouts are kept; the others are given their rows of these, for a number within
rounding of a boundary may flip a token and then there is nothing to compare. That processes draw what one would is a
test of its own, in float64.
"""

from dataclasses import replace
from itertools import combinations, product

import pytest
import torch

from shared.algorithm import TrainingConfig
from shared.distill import DistillConfig
from shared.dpo import DPOConfig
from shared.engine.processes import ALONE
from shared.ppo import PPOConfig
from shared.rloo import RLOOConfig
from tests.conftest import few_of
from tests.several import in_processes
from tests.watched import KINDS, SAMPLED, TOLERANCE, Watched, algorithm_of, compare, grpo

SMALL = {
    "grpo in minibatches": (
        grpo(steps=2, minibatches=2, num_iterations=2, scale_rewards="batch", beta=0.1, loss_type="dapo"),
        {},
    ),
    "ppo": (("ppo", PPOConfig(**SAMPLED | {"steps": 2, "prompts_per_step": 7, "beta": 0.05, "target_kl": 0.0})), {}),
}
PENALTIES = {
    "KL in the loss": {"kl_in": "loss", "beta": 0.1},
    "KL in the reward": {"kl_in": "reward", "beta": 0.1},
    "no KL": {"beta": 0.0},
}
CHOICES = (("grpo", "dapo", "dr_grpo"), ("group", "batch", "none"), tuple(PENALTIES), (1, 2))
# Nine of their 54 combinations, in which each two choices meet: a penalty is another in each row and column of losses
# and scales, and there are two parts on the diagonal.
MEETING = [
    (loss_type, scale, CHOICES[2][(row + column) % 3], 2 if row == column else 1)
    for row, loss_type in enumerate(CHOICES[0])
    for column, scale in enumerate(CHOICES[1])
]


def of_grpo(combinations) -> dict:
    """GRPO with each combination of a loss, a scale, a penalty and a number of parts, by its name."""
    return {
        f"grpo {loss_type} {scale} {penalty} {parts}": (
            grpo(
                loss_type=loss_type,
                scale_rewards=scale,
                num_iterations=parts,
                minibatches=parts,
                **PENALTIES[penalty],
            ),
            {},
        )
        for loss_type, scale, penalty, parts in combinations
    }


OTHERS = {
    "grpo entropy": (grpo(entropy_coef=0.01, minibatches=3), {}),
    "grpo constraint": (grpo(minibatches=2, beta=0.1), {"constrained": True}),
    "grpo lora": (grpo(minibatches=2, beta=0.1), {"lora": True}),
    "grpo bf16 off": (grpo(bf16=False), {}),
    "grpo cispo mean": (grpo(loss_type="cispo", epsilon_high=1.1, scale_rewards="mean", num_iterations=2), {}),
    "grpo sapo": (grpo(loss_type="sapo", minibatches=2), {}),
    "grpo few bits": (grpo(sampler_bits=2, vllm_importance_sampling_mode="token_truncate", minibatches=2), {}),
    "grpo stale": (grpo(staleness=1, decoupled=False, minibatches=2), {}),
    "rloo": (("rloo", RLOOConfig(**SAMPLED | {"prompts_per_step": 7, "beta": 0.1})), {}),
    "reinforce": (("rloo", RLOOConfig(**SAMPLED | {"prompts_per_step": 7, "baseline": "none"})), {}),
    "ppo in reward": (("ppo", PPOConfig(**SAMPLED | {"prompts_per_step": 7, "kl_in": "reward", "minibatches": 3})), {}),
    "ppo lora": (("ppo", PPOConfig(**SAMPLED | {"prompts_per_step": 5, "beta": 0.05})), {"lora": True}),
    "distill": (("distill", DistillConfig(**SAMPLED | {"prompts_per_step": 7, "minibatches": 2})), {}),
    "distill lora": (
        ("distill", DistillConfig(**SAMPLED | {"prompts_per_step": 5, "distillation_alpha": 0.3})),
        {"lora": True},
    ),
    "dpo": (("dpo", DPOConfig(steps=3, prompts_per_step=5, minibatches=2, num_iterations=2, log_every=0)), {}),
    "supervised": (
        ("supervised", TrainingConfig(steps=3, prompts_per_step=5, minibatches=2, num_iterations=2, log_every=0)),
        {},
    ),
}
MATRIX = of_grpo(product(*CHOICES)) | OTHERS


@pytest.mark.parametrize("name", SMALL)
def test_two_processes_make_the_update_of_one(name):
    """Seven prompts on two processes: catches a mean of means, a share that is counted twice, a norm of one share."""
    (kind, config), build = SMALL[name]
    compare(kind, config, 2, torch.float64, **build)


def test_a_process_without_a_row_takes_part():
    """Three prompts on four processes, two in a minibatch: catches a process that the others wait for."""
    kind, config = grpo(prompts_per_step=3, minibatches=2, steps=1)
    compare(kind, config, 4, torch.float32)


def test_each_two_choices_meet():
    """Catches a choice of a setting that `make test-all` no longer tries beside each one of another setting."""
    for one, other in combinations(range(len(CHOICES)), 2):
        together = {(combination[one], combination[other]) for combination in MEETING}
        assert together == set(product(CHOICES[one], CHOICES[other]))


@pytest.mark.slow
@pytest.mark.parametrize("name", of_grpo(MEETING) | OTHERS)
def test_every_setting_in_three_processes(name):
    """Shares of three, two and two prompts: none is a power of two, and one is larger.

    The combinations that are left out here are among those of the exhaustive test below.
    """
    (kind, config), build = MATRIX[name]
    compare(kind, config, 3, torch.float64, **build)


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("name", SMALL | MATRIX)
def test_the_whole_matrix(name, count, dtype):
    (kind, config), build = (SMALL | MATRIX)[name]
    compare(kind, config, count, dtype, **build)


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("name", SMALL | MATRIX)
def test_four_processes_and_three_prompts(name):
    (kind, config), build = (SMALL | MATRIX)[name]
    minibatches = min(config.minibatches, 3)
    compare(kind, replace(config, prompts_per_step=3, minibatches=minibatches), 4, torch.float64, **build)


@pytest.mark.parametrize("count", few_of([2, 3, 4], [2]))
@pytest.mark.parametrize("kind", few_of(KINDS, ["grpo"]))
def test_processes_draw_what_one_would(kind, count):
    """The tokens themselves: catches places that are counted within a share, and seeds of a process."""
    config = KINDS[kind][1](**SAMPLED | {"prompts_per_step": 5})

    def train_here(processes):
        algorithm = algorithm_of(kind, config, torch.float64)
        watched = Watched(algorithm, config)
        watched.train(processes)
        return dict(zip(watched.rollouts[0].prompts, _groups(watched.rollouts[0])))

    drawn = in_processes(count, train_here)
    alone = train_here(ALONE)
    assert {prompt: group for groups in drawn for prompt, group in groups.items()} == alone
    assert sum(map(len, drawn)) == len(alone)


def _groups(rollout):
    G = rollout.num_generations
    return [tuple(rollout.completions[i : i + G]) for i in range(0, len(rollout), G)]
