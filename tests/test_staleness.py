"""A sampler that is some steps behind: which weights draw, under which each number is, and what a checkpoint keeps."""

import pytest
import torch

from shared.engine.past_weights import copy_of_weights, keep_weights, past_weights
from shared.grpo import GRPO, GRPOConfig, collect, policy_loss
from shared.logps import plain_logps
from shared.losses import grpo_loss
from tests.algorithms import TEXTS, longer_is_better, start
from tests.fakes import tiny_llama
from tests.line import parameters

SETTINGS = {"num_generations": 4, "max_new_tokens": 4, "log_every": 0, "beta": 0.0}


def test_a_step_is_sampled_by_the_weights_of_so_many_steps_ago():
    """Catches a lag that is one off, weights that share their memory with the policy, and a ring that only grows."""
    model, past = torch.nn.Linear(1, 1, bias=False), {}
    drawn_by = []
    for step in range(5):
        torch.nn.init.constant_(model.weight, step)
        drawn_by.append(keep_weights(past, model, step, 2)["weight"].item())
    assert drawn_by == [0, 0, 0, 1, 2] and list(past) == [2, 3, 4]


def test_each_number_is_that_of_its_policy(tokenizer):
    """Catches old_logps of the sampler that is behind, and a policy that is left with its weights."""
    model, behind = tiny_llama().eval(), copy_of_weights(tiny_llama(5))
    own = parameters(model)
    rollout = collect(model, tokenizer, TEXTS, longer_is_better, GRPOConfig(**SETTINGS), sampler_weights=behind).rollout
    torch.testing.assert_close(rollout.old_logps, plain_logps(model, rollout))
    with past_weights(model, behind):
        torch.testing.assert_close(rollout.sampler_logps, plain_logps(model, rollout))
    assert all(map(torch.equal, own, parameters(model)))
    assert (rollout.old_logps - rollout.sampler_logps).abs().max() > 0.1


def test_one_ratio_is_the_policy_over_the_sampler(tokenizer):
    """Catches a ratio that is 1 where another drew, which nothing clips, and one that is corrected a second time."""
    model, behind = tiny_llama().eval(), copy_of_weights(tiny_llama(5))
    config = GRPOConfig(decoupled=False, **SETTINGS)
    experience = collect(model, tokenizer, TEXTS, longer_is_better, config, sampler_weights=behind)
    rollout = experience.rollout
    loss, metrics = policy_loss(model, experience, config)
    expected, _ = grpo_loss(
        rollout.old_logps, rollout.sampler_logps, experience.advantages, rollout.completion_mask, epsilon=config.epsilon
    )
    assert loss.item() == pytest.approx(expected.item(), abs=1e-5) and metrics["clip_ratio"] > 0


def test_a_run_that_is_behind_goes_on_with_the_weights_of_before(tokenizer, tmp_path):
    """Catches a resumed run whose sampler has caught up."""
    settings = {"checkpoint_every": 2, "staleness": 2, "beta": 0.0}
    whole, run_whole = start("GRPO")
    uninterrupted = run_whole(tokenizer, settings=settings | {"steps": 6})
    first, run_first = start("GRPO")
    run_first(tokenizer, settings=settings | {"steps": 3}, checkpoint_path=tmp_path / "run.pt")
    resumed, run_rest = start("GRPO", seed=5)
    continued = run_rest(tokenizer, settings=settings | {"steps": 6}, checkpoint_path=tmp_path / "run.pt")
    assert [record["reward"] for record in continued] == [record["reward"] for record in uninterrupted]
    assert all(map(torch.equal, parameters(whole), parameters(resumed)))


def test_a_queue_says_how_old_each_step_is(tokenizer):
    """Catches a rule of a queue that the sampler does not follow."""

    class Queue(GRPO):
        def lag(self, step):
            return step // 2

    model = tiny_llama().eval()
    algorithm = Queue(model, tokenizer, longer_is_better, GRPOConfig(staleness=9, **SETTINGS))
    algorithm.begin()
    for step in range(5):
        torch.nn.init.constant_(model.lm_head.bias if model.lm_head.bias is not None else model.model.norm.weight, step)
        algorithm.collect(TEXTS, step)
    assert list(algorithm.past) == [2, 3, 4]
