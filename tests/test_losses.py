from types import SimpleNamespace

import pytest
import torch
from trl import GRPOConfig as TRLConfig
from trl import GRPOTrainer

from shared.losses import aggregate, clipped_surrogate, grpo_loss, reinforce_loss, sequence_loss

LENGTHS = (5, 2, 1, 4)
MAX_LENGTH = 6


def batch(seed: int = 0) -> dict:
    generator = torch.Generator().manual_seed(seed)
    shape = (4, 5)
    logps = -torch.rand(shape, generator=generator) * 3
    mask = (torch.arange(5) < torch.tensor(LENGTHS)[:, None]).long()
    return {
        "logps": logps.requires_grad_(),
        "old_logps": (logps + 0.4 * torch.randn(shape, generator=generator)).detach(),
        "ref_logps": (logps + 0.5 * torch.randn(shape, generator=generator)).detach(),
        "advantages": torch.randn(4, generator=generator),
        "completion_mask": mask,
    }


def trl_loss(tensors: dict, loss_type: str, beta: float, tmp_path) -> torch.Tensor:
    """TRL's own `_compute_loss` on our tensors; only the model's forward pass is replaced by the given logps."""
    args = TRLConfig(output_dir=str(tmp_path), use_bias_correction_kl=False, report_to=[], use_cpu=True, bf16=False)
    trainer = SimpleNamespace(
        args=args, loss_type=loss_type, beta=beta, epsilon_low=0.2, epsilon_high=0.2, top_entropy_quantile=1.0,
        off_policy_mask_threshold=None, importance_sampling_level="token", use_vllm=False, aux_loss_enabled=False,
        max_completion_length=MAX_LENGTH, _entropy_bonus_enabled=False, current_gradient_accumulation_steps=1,
        model=torch.nn.Linear(1, 1).eval(),
        accelerator=SimpleNamespace(num_processes=1, reduce=lambda t, reduction: t, gather=lambda t: t),
    )
    from collections import defaultdict

    trainer._metrics = {"eval": defaultdict(list)}
    logps = tensors["logps"]
    trainer._get_per_token_logps_and_entropies = lambda *args, **kwargs: (logps, torch.zeros_like(logps), None)
    ids = torch.zeros_like(tensors["completion_mask"])
    inputs = {
        "prompt_ids": ids, "prompt_mask": ids, "completion_ids": ids, "completion_mask": tensors["completion_mask"],
        "advantages": tensors["advantages"], "old_per_token_logps": tensors["old_logps"],
        "ref_per_token_logps": tensors["ref_logps"], "num_items_in_batch": tensors["completion_mask"].sum(),
    }
    return GRPOTrainer._compute_loss(trainer, None, inputs)


@pytest.mark.parametrize("loss_type", ["grpo", "dapo", "dr_grpo"])
@pytest.mark.parametrize("beta", [0.0, 0.04])
def test_loss_and_gradient_are_trls(loss_type, beta, tmp_path):
    """Outside oracle for clipping, KL, masking and all three aggregations, gradient included."""
    ours, theirs = batch(), batch()
    loss, _ = grpo_loss(**ours, beta=beta, loss_type=loss_type, max_completion_length=MAX_LENGTH)
    oracle = trl_loss(theirs, loss_type, beta, tmp_path)
    loss.backward()
    oracle.backward()
    torch.testing.assert_close(loss, oracle, rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(ours["logps"].grad, theirs["logps"].grad, rtol=1e-6, atol=1e-7)


def test_the_handouts_sequence_level_number():
    new, ref = torch.tensor([0.6, 0.4, 0.7, 0.3]).log(), torch.tensor([0.5, 0.5, 0.6, 0.4]).log()
    loss, _ = sequence_loss(new, ref, torch.tensor([1.2, -0.4, 0.5, -1.0]), ref, beta=0.1, epsilon=0.2)
    assert loss.item() == pytest.approx(-0.2233469, abs=1e-7)


@pytest.mark.parametrize("poison", [1e30, float("inf"), float("-inf"), float("nan")])
def test_poisoned_padding_changes_nothing(poison):
    """Catches a mask applied after exp, or to the numerator only: 0 x inf is nan."""
    clean, dirty = batch(), batch()
    padding = clean["completion_mask"] == 0
    dirty = {
        name: t.detach().masked_fill(padding, poison) if t.shape == padding.shape and t.is_floating_point() else t
        for name, t in dirty.items()
    }
    dirty["logps"].requires_grad_()
    for tensors in (clean, dirty):
        tensors["loss"], _ = grpo_loss(**{k: v for k, v in tensors.items()}, beta=0.1)
        tensors["loss"].backward()
    assert clean["loss"] == dirty["loss"]
    assert torch.equal(clean["logps"].grad, dirty["logps"].grad)


def test_a_positive_advantage_raises_the_probability_and_a_negative_one_lowers_it():
    """Catches a flipped sign of the whole loss."""
    logps = torch.zeros(2, 1, requires_grad=True)
    loss, _ = grpo_loss(logps, torch.zeros(2, 1), torch.tensor([1.0, -1.0]), torch.ones(2, 1))
    loss.backward()
    assert logps.grad[0] < 0 < logps.grad[1]


@pytest.mark.parametrize(
    "ratio, advantage, gradient_flows",
    [(1.5, 1.0, False), (1.5, -1.0, True), (0.5, 1.0, True), (0.5, -1.0, False), (1.1, 1.0, True), (0.9, -1.0, True)],
)
def test_clipping_stops_only_the_side_that_would_overshoot(ratio, advantage, gradient_flows):
    """Catches max for min, and clamping without the minimum: both clip the wrong side."""
    logps = torch.tensor([ratio]).log().requires_grad_()
    loss, was_clipped = clipped_surrogate(logps, torch.zeros(1), torch.tensor([advantage]))
    loss.sum().backward()
    assert (logps.grad != 0).item() == gradient_flows
    assert was_clipped.item() == (not gradient_flows)


def test_epsilon_high_widens_the_upper_side_only():
    loss, _ = clipped_surrogate(torch.tensor([1.35, 0.5]).log(), torch.zeros(2), torch.tensor([1.0, -1.0]), 0.2, 0.4)
    torch.testing.assert_close(loss, torch.tensor([-1.35, 0.8]))


def test_aggregations_differ_as_documented():
    losses = torch.tensor([[1.0, 1.0, 1.0, 1.0], [4.0, 9.0, 9.0, 9.0]])
    mask = torch.tensor([[1, 1, 1, 1], [1, 0, 0, 0]])
    assert aggregate(losses, mask, "grpo").item() == 2.5
    assert aggregate(losses, mask, "dapo").item() == pytest.approx(8 / 5)
    assert aggregate(losses, mask, "dr_grpo", max_completion_length=8).item() == 0.5


def test_an_empty_completion_counts_zero_and_is_not_nan():
    loss = aggregate(torch.ones(2, 3), torch.tensor([[1, 1, 1], [0, 0, 0]]))
    assert loss.item() == 0.5


def test_reinforce_equals_the_surrogate_before_the_first_update():
    """At ratio 1 the clipped surrogate and REINFORCE have the same gradient, though not the same value."""
    plain, clipped = batch(), batch()
    clipped["old_logps"] = clipped["logps"].detach()
    reinforce_loss(plain["logps"], plain["advantages"], plain["completion_mask"])[0].backward()
    grpo_loss(**clipped)[0].backward()
    torch.testing.assert_close(plain["logps"].grad, clipped["logps"].grad)


def test_the_entropy_bonus_rewards_entropy():
    tensors = batch()
    entropy = torch.rand(4, 5, requires_grad=True)
    loss, metrics = grpo_loss(**tensors, entropy=entropy, entropy_coef=0.1)
    loss.backward()
    real = tensors["completion_mask"].bool()
    assert (entropy.grad[real] < 0).all() and (entropy.grad[~real] == 0).all()
    assert metrics["entropy"] == pytest.approx(entropy[real].mean().item())


def test_finite_differences():
    """The gradient of the whole objective, tested numerically in float64."""
    tensors = {k: v.detach().double() if v.is_floating_point() else v for k, v in batch().items()}
    logps = tensors.pop("logps").requires_grad_()
    assert torch.autograd.gradcheck(lambda x: grpo_loss(x, **tensors, beta=0.1)[0], logps)


@pytest.mark.parametrize("options, words", [({"beta": 0.1}, "ref_logps"), ({"entropy_coef": 0.1}, "entropy"),
                                            ({"loss_type": "ppo"}, "loss_type"), ({"loss_type": "dr_grpo"}, "max_")])
def test_missing_terms_are_refused_with_a_sentence(options, words):
    tensors = batch()
    del tensors["ref_logps"]
    with pytest.raises(ValueError, match=words):
        grpo_loss(**tensors, **options)
