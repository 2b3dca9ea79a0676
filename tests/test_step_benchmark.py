"""The step benchmark: that its contestants compute the same, and that ratios are taken within a round."""

import pytest
import torch

from benchmarks import contestants
from benchmarks.contestants import (
    WORKLOADS,
    Workload,
    letters,
    make_problem,
    ours,
    plain_logps,
    plain_loop,
    plain_loop_in_one_call,
    plain_objective,
    prompts_of,
    readings_of,
)
from benchmarks.step import ratios, table
from shared.grpo import collect, policy_loss
from shared.models import frozen_copy, load_policy
from tests.conftest import few_of


@pytest.fixture(scope="module")
def problem(tmp_path_factory):
    return make_problem("embedded", Workload((12, 40, 20), 4, 8), tmp_path_factory.mktemp("model"))


def test_our_step_is_the_plain_one_in_loss_and_gradients(problem):
    """Catches a fast path that is fast because it computes something else, in float32 to 1e-5."""
    model, tokenizer = load_policy(problem.folder, device="cpu")
    reference = frozen_copy(model)
    with torch.no_grad():  # a policy that has moved away, so that the KL term has a gradient
        for parameter in model.parameters():
            parameter.mul_(1.02)
    experience = collect(
        model,
        tokenizer,
        problem.rows,
        letters,
        problem.config,
        reference=reference,
    )
    rollout = experience.rollout
    G, start = rollout.num_generations, rollout.prompt_ids.size(1)
    ids = torch.cat([rollout.prompt_ids.repeat_interleave(G, dim=0), rollout.completion_ids], dim=1)
    mask = torch.cat([rollout.prompt_mask.repeat_interleave(G, dim=0), rollout.completion_mask], dim=1)

    fast, _ = policy_loss(model, experience, problem.config)
    with torch.no_grad():
        frozen = plain_logps(reference, ids, mask, start)
    plain = plain_objective(
        plain_logps(model, ids, mask, start),
        rollout.old_logps,
        frozen,
        experience.advantages,
        rollout.completion_mask,
        problem.config.beta,
    )
    parameters = list(model.parameters())
    torch.testing.assert_close(fast, plain, rtol=0, atol=1e-5)
    torch.testing.assert_close(
        torch.autograd.grad(fast, parameters), torch.autograd.grad(plain, parameters), rtol=0, atol=1e-5
    )


@pytest.mark.parametrize("contestant", few_of([ours, plain_loop, plain_loop_in_one_call], [ours]))
def test_a_contestant_tells_of_each_step_and_trains(contestant, problem, monkeypatch):
    moved = []
    real = torch.optim.AdamW.step
    monkeypatch.setattr(torch.optim.AdamW, "step", lambda self, *args: (moved.append(1), real(self, *args))[1])
    readings = readings_of(contestant, problem, 2)
    assert len(readings) == 3 and len(moved) == 2 and readings[0].wall < readings[1].wall


def test_what_was_loaded_is_put_aside_before_the_first_step_of_whoever_it_is(problem, monkeypatch):
    """Catches a collection of a quarter of a second among one contestant's steps."""
    put_aside = []
    monkeypatch.setattr(contestants, "put_aside_what_was_loaded", lambda: put_aside.append(True))
    readings_of(lambda problem, on_step: [on_step(None) for _ in range(3)], problem, 2)
    assert len(put_aside) == 1


def test_prompts_have_the_lengths_asked_for_and_differ():
    lengths = WORKLOADS["W1"].prompt_lengths
    assert len(set(prompts_of(lengths))) == len(lengths) == 8 and min(lengths) == 12 and max(lengths) == 40


def test_nothing_ends_early_where_lengths_are_given(problem):
    model, tokenizer = load_policy(problem.folder, device="cpu")
    experience = collect(model, tokenizer, problem.rows, letters, problem.config, reference=frozen_copy(model))
    assert experience.rollout.truncated.all()


def test_ratios_are_taken_within_a_round():
    """A machine twice as slow in the second round must not show; nor may a rival without ours beside it."""
    blocks = [
        {
            "shape": "embedded",
            "name": "W1",
            "round": r,
            "contestant": who,
            "wall": [s],
            "cpu": [s],
            "peak_mb": 1.0,
        }
        for r, who, s in [
            (0, "ours", 1.0),
            (0, "TRL", 3.0),
            (1, "ours", 2.0),
            (1, "TRL", 6.0),
            (2, "TRL", 90.0),
        ]
    ]
    assert ratios(blocks, "TRL") == [3.0, 3.0]
    assert "| embedded W1 | TRL | 6.000 | 3.00 (3.00 to 3.00) | 3.00 | 2 | 1 |" in table(blocks)
