import json
import math
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from trl import GRPOConfig as TRLConfig
from trl import GRPOTrainer

from shared.exercises.catalogue.ratio_weights import held_against
from shared.kl import per_token_kl
from shared.losses import (
    aggregate,
    clipped_surrogate,
    clipped_value_loss,
    grpo_loss,
    log_ratios,
    plain_grpo_loss,
    ratio_weight,
    reinforce_loss,
    sampler_correction,
)

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


def trl_loss(
    tensors: dict,
    loss_type: str,
    beta: float,
    tmp_path,
    level: str = "token",
    epsilon_high: float = 0.2,
    correction: torch.Tensor | None = None,
) -> tuple[torch.Tensor, dict]:
    """TRL's own `_compute_loss` on our tensors, and what it logs; only the model's forward pass is replaced by the given
    logps."""
    args = TRLConfig(output_dir=str(tmp_path), use_bias_correction_kl=False, report_to=[], use_cpu=True, bf16=False)
    trainer = SimpleNamespace(
        args=args,
        loss_type=loss_type,
        beta=beta,
        epsilon_low=0.2,
        epsilon_high=epsilon_high,
        top_entropy_quantile=1.0,
        off_policy_mask_threshold=None,
        importance_sampling_level=level,
        use_vllm=correction is not None,
        vllm_importance_sampling_correction=True,
        aux_loss_enabled=False,
        max_completion_length=MAX_LENGTH,
        _entropy_bonus_enabled=False,
        current_gradient_accumulation_steps=1,
        model=torch.nn.Linear(1, 1).eval(),
        accelerator=SimpleNamespace(num_processes=1, reduce=lambda t, reduction: t, gather=lambda t: t),
    )
    from collections import defaultdict

    trainer._metrics = {"eval": defaultdict(list)}
    logps = tensors["logps"]
    trainer._get_per_token_logps_and_entropies = lambda *args, **kwargs: (logps, torch.zeros_like(logps), None)
    ids = torch.zeros_like(tensors["completion_mask"])
    inputs = {
        "prompt_ids": ids,
        "prompt_mask": ids,
        "completion_ids": ids,
        "completion_mask": tensors["completion_mask"],
        "advantages": tensors["advantages"],
        "old_per_token_logps": tensors["old_logps"],
        "ref_per_token_logps": tensors["ref_logps"],
        "num_items_in_batch": tensors["completion_mask"].sum(),
        "importance_sampling_ratio": correction,
    }
    return GRPOTrainer._compute_loss(trainer, None, inputs), trainer._metrics["eval"]


def assert_same(loss, tensors: dict, other_loss, other_tensors: dict) -> None:
    """Value and gradient of two losses, each of tensors of its own."""
    loss.backward()
    other_loss.backward()
    torch.testing.assert_close(loss, other_loss, rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(tensors["logps"].grad, other_tensors["logps"].grad, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("level", ["token", "sequence"])
@pytest.mark.parametrize("loss_type", ["grpo", "dapo", "dr_grpo"])
@pytest.mark.parametrize("beta", [0.0, 0.04])
def test_loss_and_gradient_are_trls(loss_type, beta, level, tmp_path):
    """Outside oracle for both ratios, clipping, KL, masking and all three aggregations, gradient included."""
    ours, theirs = batch(), batch()
    for tensors in (ours, theirs):
        tensors["old_logps"][:3] -= 0.5 * tensors["advantages"][:3, None].sign()  # some sequences leave 1 +- 0.2 too
    settings = {"loss_type": loss_type, "max_completion_length": MAX_LENGTH, "importance_sampling_level": level}
    loss, metrics = grpo_loss(**ours, beta=beta, **settings)
    assert 0 < metrics["clip_ratio"] < 1
    oracle, _ = trl_loss(theirs, loss_type, beta, tmp_path, level)
    assert_same(loss, ours, oracle, theirs)


@pytest.mark.parametrize("level", ["token", "sequence"])
@pytest.mark.parametrize("loss_type, epsilon_high", [("cispo", 1.3), ("sapo", None)])
@pytest.mark.parametrize("beta", [0.0, 0.04])
def test_bound_and_gate_are_trls(loss_type, epsilon_high, beta, level, tmp_path):
    """Outside oracle, gradient included. Catches a bound of 1 + epsilon_high, a gradient through it, one temperature for
    both signs, a slope of the gate that is not 1, and the other's aggregation."""
    ours, theirs = batch(1), batch(1)
    for tensors in (ours, theirs):  # whole sequences go beyond the bound too
        tensors["old_logps"] -= 0.5 * (tensors["advantages"] > 0)[:, None]
    settings = {"loss_type": loss_type, "epsilon_high": epsilon_high, "importance_sampling_level": level}
    loss, metrics = grpo_loss(**ours, beta=beta, **settings)
    oracle, logged = trl_loss(theirs, loss_type, beta, tmp_path, level, epsilon_high or 0.2)
    assert_same(loss, ours, oracle, theirs)
    if loss_type == "cispo":
        assert 0 < metrics["cispo_clip_ratio"] < 1
        assert metrics["cispo_clip_ratio"].item() == pytest.approx(logged["cispo_clip_ratio"][0])
    assert not any(name.startswith("clip_ratio") for name in metrics)


@pytest.mark.parametrize("loss_type", ["grpo", "cispo", "sapo"])
@pytest.mark.parametrize("mode", ["token_truncate", "sequence_mask"])
def test_the_correction_multiplies_what_trls_does(loss_type, mode, tmp_path):
    """Catches a correction that acts on the penalty too, or whose gradient reaches the policy that is scored."""
    ours, theirs = batch(2), batch(2)
    sampler_logps = ours["old_logps"] + 0.7 * torch.randn(4, 5, generator=torch.Generator().manual_seed(3))
    correction = sampler_correction(ours["old_logps"], sampler_logps, ours["completion_mask"], mode, 1.5)
    loss, _ = grpo_loss(**ours, beta=0.1, loss_type=loss_type, epsilon_high=1.3, correction=correction)
    oracle, _ = trl_loss(theirs, loss_type, 0.1, tmp_path, "token", 1.3, correction)
    assert_same(loss, ours, oracle, theirs)


@pytest.mark.parametrize(
    "mode, expected",
    [
        ("token_truncate", [[2.0, 0.5], [0.25, 1.0]]),
        ("token_mask", [[0.0, 0.5], [0.0, 1.0]]),
        ("sequence_truncate", [[2.0], [0.25]]),
        ("sequence_mask", [[2.0], [0.0]]),
    ],
)
def test_a_hand_worked_correction(mode, expected):
    """Ratios 4 and 0.5, product 2, and 0.125 with padding behind, between 0.25 and 2. Catches sampler over policy, a
    truncation before the product, a mean in the place of the product, and padding that counts."""
    old_logps = torch.tensor([[0.8, 0.2], [0.1, 0.9]]).log()
    sampler_logps = torch.tensor([[0.2, 0.4], [0.8, 0.1]]).log()
    mask = torch.tensor([[1, 1], [1, 0]])
    correction = sampler_correction(old_logps, sampler_logps, mask, mode, clip_max=2.0, clip_min=0.25)
    torch.testing.assert_close(correction, torch.tensor(expected))


def test_an_unbounded_correction_of_sequences_makes_the_samplers_mean_the_policys():
    """An enumeration: two tokens of two, the second's chances hang on the first. Catches bounds where None was given,
    and ratios of tokens in the place of the completion's."""
    policy, sampler = torch.rand(2, 3, 2, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)
    texts = [(a, b) for a in (0, 1) for b in (0, 1)]

    def logps_under(p):  # (4, 2): of the first token, and of the second behind it
        return torch.tensor([[p[0, a], p[1 + a, b]] for a, b in texts]).log()

    values = torch.tensor([3.0, -1.0, 10.0, 0.5])
    all_of_it = {"completion_mask": torch.ones(4, 2), "clip_max": None}
    weights = sampler_correction(logps_under(policy), logps_under(sampler), mode="sequence_truncate", **all_of_it)
    drawn = (logps_under(sampler).sum(dim=1).exp() * weights[:, 0] * values).sum()
    torch.testing.assert_close(drawn, (logps_under(policy).sum(dim=1).exp() * values).sum())


def test_the_correction_reads_no_padding_and_has_no_gradient():
    """Catches a mask after the sum: nan there is nan everywhere; and a policy that is trained through its correction."""
    logps = torch.tensor([[-1.0, float("nan")]], requires_grad=True)
    for mode in ("token_mask", "sequence_truncate"):
        correction = sampler_correction(logps, torch.tensor([[-1.5, float("inf")]]), torch.tensor([[1, 0]]), mode)
        assert correction.isfinite().all() and not correction.requires_grad
    with pytest.raises(ValueError, match="the mode is 'token'; choose one of token_truncate"):
        sampler_correction(logps, logps, torch.tensor([[1, 0]]), "token")


@pytest.mark.parametrize("loss_type, epsilon_high", [("grpo", 0.3), ("dapo", None), ("cispo", 1.3), ("sapo", None)])
def test_the_ratio_weight_is_what_the_loss_multiplies_the_gradient_with(loss_type, epsilon_high):
    """Catches a weight that is the value and not the slope, and a range on one sign of the advantage only."""
    tensors = batch(4)
    ratios = torch.linspace(0.2, 3.0, 20).view(4, 5)  # both sides of every range, with both signs
    tensors["old_logps"] = tensors["logps"].detach() - ratios.log()
    tensors["advantages"] = torch.tensor([1.0, -0.5, 2.0, -1.0]).repeat(5, 1).T * torch.tensor([1.0, -1, 1, -1, 1])
    mask = torch.ones(4, 5)
    loss, _ = grpo_loss(**tensors | {"completion_mask": mask}, loss_type=loss_type, epsilon_high=epsilon_high)
    (gradient,) = torch.autograd.grad(loss, tensors["logps"])
    weight = ratio_weight(ratios.log(), tensors["advantages"], loss_type, epsilon_high=epsilon_high)
    torch.testing.assert_close(gradient, -weight * tensors["advantages"] / mask.sum())


def test_every_ratio_weight_is_one_where_nothing_has_moved():
    """Catches a gate of another height: all methods are the same policy gradient on policy."""
    for loss_type, bound in (("grpo", None), ("cispo", 5.0), ("sapo", None)):
        weight = ratio_weight(torch.zeros(2), torch.tensor([1.0, -1.0]), loss_type, epsilon_high=bound)
        torch.testing.assert_close(weight, torch.ones(2))
    with pytest.raises(ValueError, match="loss_type is 'ppo'; choose one of grpo, dapo"):
        ratio_weight(torch.zeros(2), torch.ones(2), "ppo")


@pytest.mark.parametrize("epsilon_high", [None, 0.2])
def test_a_bound_below_1_is_refused(epsilon_high):
    """Catches a distance from 1 that is handed to cispo: every token would weigh a fifth."""
    tensors = batch()
    with pytest.raises(ValueError, match="under cispo it is the bound itself"):
        grpo_loss(**tensors, loss_type="cispo", epsilon_high=epsilon_high)


def test_the_handouts_sequence_level_number_and_the_example():
    """Catches numbers of a docstring that nobody computed, and an epsilon that is not passed on."""
    new, ref = (torch.tensor([p]).log().T for p in ([0.6, 0.4, 0.7, 0.3], [0.5, 0.5, 0.6, 0.4]))  # (4, 1)
    advantages = torch.tensor([1.2, -0.4, 0.5, -1.0])
    loss = plain_grpo_loss(new, ref, advantages, torch.ones(4, 1), ref, 0.1)
    assert loss.item() == pytest.approx(-0.2233469, abs=1e-7)
    parts = zip(*(x.split(1) for x in (new, ref, advantages, torch.ones(4, 1), ref)))
    losses = [plain_grpo_loss(*part, beta=0.1).item() for part in parts]
    assert losses == pytest.approx([-1.438, 0.323, -0.582, 0.805], abs=5e-4)
    free = plain_grpo_loss(new[:1], ref[:1] - 1, advantages[:1], torch.ones(1, 1), ref[:1], 0.0, epsilon=9.0)
    assert free.item() == pytest.approx(-1.2 * 1.2 * math.e)


def test_the_definition_is_the_loss_without_options():
    """Catches a definition that averages, clips or masks in another way; its padding holds inf."""
    ours, plain = batch(), batch()
    plain["old_logps"] = plain["old_logps"].masked_fill(plain["completion_mask"] == 0, torch.inf)
    loss, _ = grpo_loss(**ours, beta=0.04)
    definition = plain_grpo_loss(**plain, beta=0.04)
    assert_same(loss, ours, definition, plain)


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
        tensors["loss"], _ = grpo_loss(**dict(tensors), beta=0.1)
        tensors["loss"].backward()
    assert clean["loss"] == dirty["loss"]
    assert torch.equal(clean["logps"].grad, dirty["logps"].grad)


def test_epsilon_high_widens_the_upper_side_only():
    loss, _ = clipped_surrogate(torch.tensor([1.35, 0.5]).log(), torch.zeros(2), torch.tensor([1.0, -1.0]), 0.2, 0.4)
    torch.testing.assert_close(loss, torch.tensor([-1.35, 0.8]))


def test_the_settings_of_the_loss_reach_its_terms():
    """Catches an upper range that is not passed on, and k3 whatever estimator was asked for."""
    logps, old_logps = torch.tensor([[1.35]]).log(), torch.zeros(1, 1)
    arguments = (logps, old_logps, torch.ones(1), torch.ones(1, 1))
    assert grpo_loss(*arguments, epsilon_high=0.3)[0].item() == pytest.approx(-1.3)
    ref_logps = torch.tensor([[-1.0]])
    for estimator in ("k1", "k2", "k3"):
        loss, metrics = grpo_loss(*arguments, ref_logps, beta=0.5, kl_estimator=estimator)
        kl = per_token_kl(logps, ref_logps, estimator).item()
        assert loss.item() == pytest.approx(-1.2 + 0.5 * kl) and metrics["kl"].item() == pytest.approx(kl)


def test_a_sequence_has_the_geometric_mean_of_its_tokens_ratios():
    """Catches a ratio of whole completions (0.5 x 2 x 4 = 4), an arithmetic mean (2.17), and padding that counts."""
    logps = torch.tensor([[0.5, 2.0, 4.0, 9.0]]).log()
    mask = torch.tensor([[1, 1, 1, 0]])
    ratio = log_ratios(logps, torch.zeros(1, 4), mask, "sequence").exp()
    torch.testing.assert_close(ratio, torch.full((1, 4), 4 ** (1 / 3)))
    assert torch.equal(log_ratios(logps, torch.zeros(1, 4), mask), logps)
    with pytest.raises(ValueError, match="importance_sampling_level is 'completion'; choose"):
        log_ratios(logps, logps, mask, "completion")


def test_all_tokens_of_a_sequence_are_clipped_or_none():
    """Catches clipping token by token under the sequence's ratio: 3 and 0.5 have the mean 1.22."""
    logps = torch.tensor([[3.0, 0.5]]).log().requires_grad_()
    arguments = (logps, torch.zeros(1, 2), torch.ones(1), torch.ones(1, 2))
    for epsilon, clipped in ((0.2, 1.0), (0.25, 0.0)):
        loss, metrics = grpo_loss(*arguments, epsilon=epsilon, importance_sampling_level="sequence")
        assert metrics["clip_ratio"] == clipped and metrics["ratio"].item() == pytest.approx(1.5**0.5)
        (gradient,) = torch.autograd.grad(loss, logps)
        torch.testing.assert_close(gradient, torch.full((1, 2), -(1.5**0.5) / 2 * (1 - clipped)))


def test_advantages_may_differ_from_token_to_token():
    """Catches (B, C) advantages that are given a third dimension, or taken for one a completion."""
    tensors = batch()
    one_each, _ = grpo_loss(**tensors)
    repeated = tensors["advantages"][:, None].repeat(1, 5)
    torch.testing.assert_close(grpo_loss(**tensors | {"advantages": repeated})[0], one_each)
    repeated[0, 3] += 1
    assert not torch.isclose(grpo_loss(**tensors | {"advantages": repeated})[0], one_each)


def test_the_gradient_flows_through_the_current_policy_alone():
    """Catches a dropped detach: the targets, advantages, returns and old values, would move to where the policy is.
    old_logps come from sampling without a gradient; the mistake of giving logps twice is the exercise's to name."""
    for shape in ((4,), (4, 5)):
        tensors = batch()
        tensors["advantages"] = torch.ones(shape).requires_grad_()
        grpo_loss(**tensors)[0].backward()
        assert tensors["advantages"].grad is None
        assert tensors["logps"].grad is not None
    tensors = batch()
    advantages = tensors["advantages"].requires_grad_()
    reinforce_loss(tensors["logps"], advantages, tensors["completion_mask"])[0].backward()
    assert advantages.grad is None
    values, old_values, returns = torch.rand(3, 2, 2).requires_grad_().unbind()
    loss, _ = clipped_value_loss(values, old_values, returns, torch.ones(2, 2))
    gradients = torch.autograd.grad(loss, [values, old_values, returns], allow_unused=True)
    assert gradients[0] is not None and gradients[1] is None and gradients[2] is None


def test_metrics_are_means_over_real_tokens_without_a_gradient():
    """Catches a metric under another name, over the padding, or one that keeps the graph of every step alive."""
    tensors = batch()
    entropy = torch.rand(4, 5).requires_grad_()
    loss, metrics = grpo_loss(**tensors, entropy=entropy)
    real = tensors["completion_mask"].bool()
    ratio = (tensors["logps"] - tensors["old_logps"]).exp()[real]
    advantages = tensors["advantages"][:, None].repeat(1, 5)[real]
    clipped = (ratio > 1.2) & (advantages > 0) | (ratio < 0.8) & (advantages < 0)
    expected = {
        "loss": loss,
        "ratio": ratio.mean(),
        "clip_ratio": clipped.float().mean(),
        "clip_ratio/low_mean": ((ratio < 0.8) & (advantages < 0)).float().mean(),
        "clip_ratio/high_mean": ((ratio > 1.2) & (advantages > 0)).float().mean(),
        "clip_ratio/region_mean": clipped.float().mean(),
        "kl": per_token_kl(tensors["logps"], tensors["ref_logps"])[real].mean(),
        "entropy": entropy[real].mean(),
    }
    assert 0 < expected["clip_ratio"] < 1
    assert {k: v.item() for k, v in metrics.items()} == pytest.approx({k: v.item() for k, v in expected.items()})
    assert not any(value.requires_grad for value in metrics.values())
    loss, metrics = reinforce_loss(tensors["logps"], tensors["advantages"], tensors["completion_mask"])
    assert metrics == {"loss": loss} and not metrics["loss"].requires_grad


def test_an_empty_completion_counts_zero_and_is_not_nan():
    loss = aggregate(torch.ones(2, 3), torch.tensor([[1, 1, 1], [0, 0, 0]]))
    assert loss.item() == 0.5
    assert aggregate(torch.ones(2, 3), torch.zeros(2, 3), "dapo").item() == 0
    assert aggregate(torch.ones(1, 3), torch.tensor([[1, 0, 0]]), "dapo").item() == 1


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


@pytest.mark.parametrize(
    "options, words",
    [
        ({"beta": 0.1}, "ref_logps"),
        ({"entropy_coef": 0.1}, "entropy"),
        ({"loss_type": "ppo"}, "loss_type"),
        ({"loss_type": "dr_grpo"}, "max_"),
    ],
)
def test_missing_terms_are_refused_with_a_sentence(options, words):
    tensors = batch()
    del tensors["ref_logps"]
    with pytest.raises(ValueError, match=words):
        grpo_loss(**tensors, **options)


def test_the_value_loss_is_the_worse_of_free_and_clipped():
    values, old, returns = torch.tensor([[1.0, 0.1]]), torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.0]])
    loss, metrics = clipped_value_loss(values, old, returns, torch.ones(1, 2), epsilon=0.2)
    assert loss.item() == pytest.approx(((0.2 - 1) ** 2 + 0.1**2) / 2 / 2)
    assert metrics == {"value_loss": loss, "value_clip_ratio": 0.5}
    fallen, _ = clipped_value_loss(torch.zeros(1, 1), torch.ones(1, 1), torch.zeros(1, 1), torch.ones(1, 1))
    assert fallen.item() == pytest.approx(0.8**2 / 2), "a value that falls is held back as well"
    poisoned = clipped_value_loss(torch.tensor([[1.0, 1e9]]), old, returns, torch.tensor([[1, 0]]))[0]
    assert poisoned.item() == pytest.approx(0.32)


@pytest.mark.parametrize(
    ("row", "weight"),
    [
        ("$\\rho$: exact", lambda ratio, A: ratio),
        ("1, no ratio", lambda ratio, A: torch.ones_like(ratio)),
        ("clip", lambda ratio, A: ratio_weight(ratio.log(), A, "grpo")),
        ("$\\rho$, at most 2", lambda ratio, A: ratio_weight(ratio.log(), A, "cispo", epsilon_high=2.0)),
    ],
)
def test_the_three_labels_of_ratio_weights_have_what_its_table_says(row, weight):
    """Catches a row that was typed from memory. Twenty equal draws are the old policy: 1, 1 and 18 of its labels."""
    drawn = torch.tensor([0, 1] + [2] * 18)
    now = torch.tensor([0.15, 0.15, 0.70], dtype=torch.float64)
    ratio = (now / torch.tensor([0.05, 0.05, 0.90]))[drawn]
    A = torch.tensor([0.95, -0.05, -0.05], dtype=torch.float64)[drawn]
    scores = torch.eye(3) - now  # (3, 3): a row for each label, its slopes in the logits
    draws = (weight(ratio, A) * A)[:, None] * scores[drawn]
    found = held_against.EXERCISE.reference()(draws, 0.15 * scores[0])
    noise = found["noise"] / 64**0.5
    error = (found["bias"] ** 2 + noise**2).sqrt()

    page = json.loads((Path(__file__).parents[1] / "notebooks" / "ratio_weights.ipynb").read_text(encoding="utf-8"))
    lines = [line for cell in page["cells"] if cell["cell_type"] == "markdown" for line in cell["source"]]
    table = next(line for line in lines if line.startswith(f"| {row} | ") and line.count("|") == 7)
    said = [float(number) for number in re.findall(r"[-+]?\d[.\d]*", table.removeprefix(f"| {row} |"))]
    assert said[:3] == pytest.approx(draws.mean(dim=0).tolist(), abs=0.00051)
    right = torch.stack([found["bias"], noise, error, found["cosine"]]).tolist()
    assert said[3:] == pytest.approx(right, abs=0.0051)
