"""The numbers of a run for a program, and what is kept of it."""

import pytest
import torch

from shared.evaluate import Evaluation
from shared.grpo import GRPOConfig
from shared.models import load_policy
from shared.recipes import RECIPES
from shared.run.outcome import keep, measured_of
from shared.run.plan import Plan


def evaluation(name: str, rewards: list[float]) -> Evaluation:
    prompts = [f"{n} =" for n in range(len(rewards))]
    return Evaluation(name, prompts, ["1"] * len(rewards), torch.tensor(rewards), torch.tensor(rewards)[:, None])


def test_each_measurement_has_an_interval_of_its_own():
    """Catches the baseline's interval beside the tuned reward."""
    before, after = evaluation("before", [0.0, 1, 0, 0]), evaluation("after", [1.0, 1, 1, 1])
    measured = measured_of(before, after, show=False)
    for name, its in (("baseline", before), ("fine-tuned", after)):
        assert (measured[f"{name}_low"], measured[f"{name}_high"]) == its.interval()
    assert measured["baseline_low"] < 0.1 < 0.5 < measured["fine-tuned_low"]
    assert (measured["baseline"], measured["fine-tuned"], measured["held_out_prompts"]) == (0.25, 1.0, 4)


@pytest.mark.parametrize("whole", [True, False])
def test_the_weights_that_are_given_are_saved(whole, tmp_path):
    """Catches a model of many GPUs of which one GPU's part is saved."""
    model, tokenizer = load_policy(device="cpu")
    weights = {name: value + 1 for name, value in model.state_dict().items()} if whole else None
    plan = Plan(RECIPES["dots"], "grpo", {}, save=tmp_path / "tuned")
    keep(plan, model, tokenizer, GRPOConfig(), {"measured": {}}, weights)
    saved, _ = load_policy(tmp_path / "tuned", device="cpu")
    name = "model.norm.weight"
    assert torch.equal(saved.state_dict()[name], model.state_dict()[name] + whole)
