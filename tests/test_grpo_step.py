"""One step of GRPO: what it collects, which settings reach advantages and loss, and where the KL is."""

from dataclasses import replace

import pytest
import torch

from shared.advantages import group_advantages
from shared.constrain import answer_trie
from shared.grpo import GRPOConfig, collect, grpo_step, policy_loss
from shared.kl import k1
from shared.logps import completion_logps
from shared.losses import grpo_loss
from tests.fakes import tiny_llama
from tests.grpo import CONFIG, ROWS, first_letter, longer_is_better, parameters


def test_the_step_shows_its_parts_and_changes_nothing(model, tokenizer):
    before = parameters(model)
    loss, experience, metrics = grpo_step(model, tokenizer, ROWS, first_letter, CONFIG)
    assert experience.advantages.shape == (16,) and experience.rewards_per_func.shape == (16, 1)
    assert loss.requires_grad and metrics["ratio"] == pytest.approx(1, abs=1e-5)
    assert all(map(torch.equal, before, parameters(model)))


def test_columns_stand_beside_their_own_completions(model, tokenizer):
    """Catches answers that are not repeated G times and so meet other prompts' completions."""
    seen = {}

    def spy(prompts, completions, answer, **columns):
        seen.update(prompts=prompts, answer=answer)
        return [0.0] * len(completions)

    collect(model, tokenizer, ROWS, spy, CONFIG)
    truth = {row["prompt"]: row["answer"] for row in ROWS}
    assert [truth[p] for p in seen["prompts"]] == seen["answer"] and len(seen["answer"]) == 16


def test_a_step_that_is_written_out_takes_what_collect_takes(tokenizer):
    model, reference, trie = tiny_llama().eval(), tiny_llama(1).eval(), answer_trie(tokenizer, ["a", "ab", "b"])
    config = replace(CONFIG, beta=0.2)
    options = {"reference": reference, "constraint": trie, "step": 3}
    loss, experience, metrics = grpo_step(model, tokenizer, ROWS, longer_is_better, config, **options)
    alone = collect(model, tokenizer, ROWS, longer_is_better, config, **options)
    assert experience.rollout.completions == alone.rollout.completions
    assert set(alone.rollout.completions) <= {"a", "ab", "b"}
    clipped = {"clip_ratio", "clip_ratio/low_mean", "clip_ratio/high_mean", "clip_ratio/region_mean"}
    assert metrics.keys() == {"loss", "kl", "ratio"} | clipped | alone.metrics.keys()
    assert metrics["loss"] == pytest.approx(loss.item()) and metrics["reward"] == alone.metrics["reward"]
    first = collect(model, tokenizer, ROWS, longer_is_better, config, reference=reference, constraint=trie, step=0)
    by_default = collect(model, tokenizer, ROWS, longer_is_better, config, reference=reference, constraint=trie)
    assert by_default.rollout.completions == first.rollout.completions


def test_a_constraint_is_respected_in_training(tokenizer):
    model = tiny_llama().eval()
    trie = answer_trie(tokenizer, ["a", "ab", "b", "c", "d"])
    experience = collect(model, tokenizer, ROWS, first_letter, CONFIG, constraint=trie)
    assert set(experience.rollout.completions) <= {"a", "ab", "b", "c", "d"}
    _, metrics = policy_loss(model, experience, CONFIG)
    assert metrics["ratio"] == pytest.approx(1, abs=1e-5)


def test_no_reference_is_a_sentence(model, tokenizer):
    with pytest.raises(ValueError, match="frozen_copy"):
        grpo_step(model, tokenizer, ROWS, first_letter, GRPOConfig(beta=0.1, max_new_tokens=3))


def test_the_policy_is_no_reference_of_its_own(tokenizer):
    """In a step that is written out as well, where no algorithm looks at it."""
    model = tiny_llama().eval()
    with pytest.raises(ValueError, match="reference is the policy itself"):
        collect(model, tokenizer, ROWS, first_letter, replace(CONFIG, beta=0.1), reference=model)


@pytest.mark.parametrize("scale", ["group", "batch", "none"])
def test_the_settings_reach_the_advantages(tokenizer, scale):
    config = replace(CONFIG, scale_rewards=scale, advantage_eps=0.5)
    experience = collect(tiny_llama().eval(), tokenizer, ROWS, longer_is_better, config)
    oracle, metrics = group_advantages(experience.rewards, 4, scale, 0.5)
    assert torch.equal(experience.advantages, oracle) and oracle.any()
    assert metrics.items() <= experience.metrics.items() and "rewards/longer_is_better/mean" in experience.metrics


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 0.05},
        {"epsilon_high": 0.05},
        {"importance_sampling_level": "sequence"},
        {"loss_type": "dapo"},
        {"loss_type": "dr_grpo", "max_new_tokens": 9},
        {"beta": 0.3, "kl_estimator": "k2"},
        {"entropy_coef": 0.7},
    ],
)
def test_the_settings_reach_the_loss(tokenizer, options):
    """Catches a setting that is read and never passed on: the loss would be that of the default."""
    model, reference = tiny_llama().eval(), tiny_llama(1).eval()
    config = replace(CONFIG, **options)
    experience = collect(model, tokenizer, ROWS, longer_is_better, replace(CONFIG, beta=0.1), reference=reference)
    experience.rollout.old_logps[:, ::2] += 0.1  # or nothing would be clipped
    experience.rollout.old_logps[:, 1::2] -= 0.1
    loss, metrics = policy_loss(model, experience, config)
    rollout = experience.rollout
    logps, entropy = completion_logps(model, rollout, with_entropy=True)
    settings = {name: value for name, value in options.items() if name != "max_new_tokens"}
    arguments = (
        logps,
        rollout.old_logps,
        experience.advantages,
        rollout.completion_mask,
        experience.ref_logps if "beta" in options else None,
        entropy if "entropy_coef" in options else None,
    )
    oracle, expected = grpo_loss(*arguments, **settings, max_completion_length=options.get("max_new_tokens"))
    torch.testing.assert_close(loss, oracle)
    assert metrics.keys() == expected.keys() and not torch.isclose(loss, grpo_loss(*arguments)[0])
    parameter = model.lm_head.weight
    ours, theirs = (torch.autograd.grad(value, parameter, retain_graph=True)[0] for value in (loss, oracle))
    torch.testing.assert_close(ours, theirs)


def test_kl_in_the_reward_is_subtracted_before_normalisation(model, tokenizer):
    reference = tiny_llama(seed=1).eval()
    config = GRPOConfig(
        prompts_per_step=4, num_generations=4, max_new_tokens=5, beta=0.5, kl_in="reward", scale_rewards="none"
    )
    experience = collect(model, tokenizer, ROWS, first_letter, config, reference=reference)
    penalty = k1(experience.rollout.old_logps, experience.ref_logps).sum(dim=1)
    returns = (experience.rewards - 0.5 * penalty).view(4, 4)
    torch.testing.assert_close(experience.advantages, (returns - returns.mean(1, keepdim=True)).flatten())
    assert experience.metrics["reward"] == pytest.approx(experience.rewards.mean().item())


def test_kl_in_the_reward_is_not_in_the_loss_too(tokenizer):
    """Catches a KL that is paid twice."""
    model = tiny_llama().eval()
    config = replace(CONFIG, beta=0.5, kl_in="reward")
    experience = collect(model, tokenizer, ROWS, first_letter, config, reference=tiny_llama(1).eval())
    loss, metrics = policy_loss(model, experience, config)
    without, _ = policy_loss(model, replace(experience, ref_logps=None), replace(config, beta=0.0))
    assert torch.equal(loss, without) and "kl" not in metrics and experience.metrics["kl"] > 0


def test_the_kl_in_the_reward_is_logged_a_token(tokenizer):
    """As in the loss: nats a token, not a completion."""
    config = replace(CONFIG, beta=0.5, kl_in="reward")
    experience = collect(tiny_llama().eval(), tokenizer, ROWS, first_letter, config, reference=tiny_llama(1).eval())
    mask = experience.rollout.completion_mask.bool()
    oracle = (experience.rollout.old_logps - experience.ref_logps)[mask].mean().item()
    assert experience.metrics["kl"] == pytest.approx(oracle, rel=1e-5)
    in_loss = collect(
        tiny_llama().eval(),
        tokenizer,
        ROWS,
        first_letter,
        replace(config, kl_in="loss"),
        reference=tiny_llama(1).eval(),
    )
    assert "kl" not in in_loss.metrics, "the loss measures it"
