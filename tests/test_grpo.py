"""Training by GRPO: what moves, what it learns, what it holds still, what it refuses."""

import copy
from dataclasses import replace

import pytest
import torch

from shared.engine.rounded import rounded_weights
from shared.grpo import GRPOConfig, collect, correction_of, policy_loss
from shared.logps import plain_logps
from shared.models import add_lora, frozen_copy
from tests.fakes import tiny_llama
from tests.grpo import CONFIG, ROWS, first_letter, longer_is_better, parameters, run, same_for_all


def test_parameters_move_with_a_signal(model, tokenizer):
    before = parameters(model)
    history = run(model, tokenizer, longer_is_better)
    assert any(not torch.equal(a, b) for a, b in zip(before, parameters(model)))
    assert [record["step"] for record in history] == [1, 2, 3]


def test_parameters_stay_bit_equal_without_one(model, tokenizer):
    """Equal rewards give advantages of exactly 0; with beta 0 and no weight decay nothing may move."""
    before = parameters(model)
    history = run(model, tokenizer, same_for_all)
    assert all(map(torch.equal, before, parameters(model)))
    assert history[0]["frac_reward_zero_std"] == 1.0


def test_a_minibatch_whose_completions_were_all_cut_off_leaves_the_kl_of_the_others(model, tokenizer):
    """Catches a run that stops where an update has no token to learn from, and a KL that is lost with it."""
    settings = {"steps": 6, "prompts_per_step": 4, "num_generations": 2, "minibatches": 4, "max_new_tokens": 4}
    config = replace(CONFIG, **settings, beta=0.1, mask_truncated_completions=True)
    history = run(model, tokenizer, longer_is_better, config=config, reference=frozen_copy(model))
    assert all(record["kl"] >= 0 for record in history if record["completions/clipped_ratio"] < 1)
    assert any(0.25 < record["completions/clipped_ratio"] < 1 for record in history)


@pytest.mark.usefixtures("shapes_unchecked")
def test_training_reaches_the_known_optimum(tokenizer):
    """Each prompt has one right letter; the optimum is to say it always. Catches anything that breaks learning."""
    model = tiny_llama(initializer_range=0.02).eval()
    config = GRPOConfig(
        steps=60, prompts_per_step=4, num_generations=16, max_new_tokens=1, learning_rate=1e-2, log_every=0
    )
    history = run(model, tokenizer, config=config)
    assert sum(r["reward"] for r in history[:3]) / 3 < 0.4
    assert sum(r["reward"] for r in history[-10:]) / 10 > 0.95


@pytest.mark.usefixtures("shapes_unchecked")
def test_a_kl_penalty_holds_the_policy_near_the_reference(tokenizer):
    """In the loss and in the reward. Catches a penalty without effect, or with the other sign."""

    def distance(beta: float, kl_in: str) -> float:
        model = tiny_llama().eval()
        config = GRPOConfig(
            steps=12,
            prompts_per_step=4,
            num_generations=8,
            max_new_tokens=3,
            learning_rate=1e-2,
            beta=beta,
            kl_in=kl_in,
            log_every=0,
        )
        history = run(model, tokenizer, config=config, reference=frozen_copy(model))
        return sum(r["kl"] for r in history[-4:]) / 4

    free = distance(1e-6, "loss")
    assert distance(3.0, "loss") < 0.5 * free
    assert distance(3.0, "reward") < 0.5 * free


def test_each_reward_function_has_its_own_mean_in_the_record(tokenizer):
    rewards = [first_letter, longer_is_better]
    record = run(tiny_llama().eval(), tokenizer, rewards, replace(CONFIG, steps=1, reward_weights=(2.0, 0.5)))[0]
    first, second = record["rewards/first_letter/mean"], record["rewards/longer_is_better/mean"]
    assert record["reward"] == pytest.approx(2 * first + 0.5 * second)
    assert record["completions/min_length"] <= record["completions/mean_length"] <= record["completions/max_length"]


def test_the_reference_under_lora_is_the_model_without_its_adapters(tokenizer):
    """Catches `disable_adapter()` outside `with`: the KL would stay 0 however far the adapters move."""
    model = add_lora(tiny_llama().eval(), r=4)
    config = GRPOConfig(
        steps=8, prompts_per_step=4, num_generations=4, max_new_tokens=4, beta=0.01, learning_rate=2e-2, log_every=0
    )
    history = run(model, tokenizer, config=config)
    assert history[0]["kl"] == pytest.approx(0, abs=1e-6) and history[-1]["kl"] > 1e-3
    base = {n: p for n, p in model.named_parameters() if not p.requires_grad}
    assert all(
        torch.equal(
            p, dict(tiny_llama().named_parameters())[n.split("base_model.model.")[1].replace(".base_layer", "")]
        )
        for n, p in base.items()
    )


def test_several_epochs_move_the_ratio_and_clip(tokenizer):
    model = tiny_llama().eval()
    config = GRPOConfig(
        steps=2,
        prompts_per_step=4,
        num_generations=8,
        max_new_tokens=4,
        num_iterations=6,
        minibatches=2,
        learning_rate=2e-2,
        warmup_steps=0,
        log_every=0,
    )
    assert any(record["clip_ratio"] > 0 for record in run(model, tokenizer, config=config))


def test_a_frozen_copy_never_changes(tokenizer):
    """Catches a reference that shares its weights with the policy: reference equal to policy, KL 0."""
    model = tiny_llama().eval()
    reference = frozen_copy(model)
    before = copy.deepcopy(parameters(reference))
    run(model, tokenizer, reference=reference)
    assert all(map(torch.equal, before, parameters(reference)))


def test_a_sampler_of_few_bits_is_corrected_for(tokenizer):
    """Each number under the model that it is said to be under. Catches old_logps of the sampler, with which the first
    ratio is not 1, a sampler that is not rounded, and a correction that is left out of the loss or upside down."""
    model = tiny_llama().eval()
    config = replace(CONFIG, sampler_bits=2, vllm_importance_sampling_mode="sequence_truncate")
    experience = collect(model, tokenizer, ROWS, longer_is_better, config)
    rollout = experience.rollout
    torch.testing.assert_close(rollout.old_logps, plain_logps(model, rollout))
    with rounded_weights(model, 2):
        torch.testing.assert_close(rollout.sampler_logps, plain_logps(model, rollout))
    apart = (rollout.old_logps - rollout.sampler_logps).abs().sum() / rollout.lengths.sum()
    assert experience.metrics["sampling/sampling_logp_difference/mean"] == pytest.approx(apart.item()) and apart > 0.1

    weights = (rollout.old_logps - rollout.sampler_logps).sum(dim=1).exp().clamp(max=3.0)
    means = -experience.advantages.view(-1) * weights  # every ratio is 1
    loss, metrics = policy_loss(model, experience, config)
    assert loss.item() == pytest.approx(means.mean().item(), abs=1e-5) and metrics["ratio"].item() == pytest.approx(1)
    uncorrected = replace(config, vllm_importance_sampling_correction=False)
    plain, _ = policy_loss(model, experience, uncorrected)
    assert plain.item() == pytest.approx(-experience.advantages.mean().item(), abs=1e-5) != loss.item()


def test_a_policy_that_samples_itself_needs_no_correction(tokenizer):
    """Catches a second score of every rollout, and a weight of importance sampling that is rounding alone."""
    experience = collect(tiny_llama().eval(), tokenizer, ROWS, longer_is_better, CONFIG)
    assert experience.rollout.sampler_logps is None and correction_of(experience.rollout, CONFIG) is None
    assert not any(name.startswith("sampling/") for name in experience.metrics)


@pytest.mark.parametrize("loss_type", ["cispo", "sapo"])
def test_bound_and_gate_train_several_epochs_and_say_what_they_clip(tokenizer, loss_type):
    """Catches an idle step whose metrics have other names, and a bound that is not handed to the loss."""
    options = {"loss_type": loss_type, "epsilon_high": 1.1, "num_iterations": 4, "learning_rate": 2e-2}
    history = run(tiny_llama().eval(), tokenizer, longer_is_better, config=replace(CONFIG, warmup_steps=0, **options))
    idle = run(tiny_llama().eval(), tokenizer, same_for_all, config=replace(CONFIG, **options))
    names = {name for name in history[0] if "clip_ratio" in name}
    assert names == ({"cispo_clip_ratio"} if loss_type == "cispo" else set())
    assert names <= idle[0].keys() and idle[0]["ratio"] == 1
    if names:
        assert history[-1]["cispo_clip_ratio"] > 0 == idle[0]["cispo_clip_ratio"]
