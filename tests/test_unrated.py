"""A completion that no reward function rates is as one that was never sampled.

The oracle is the same loss on the same rollout without those completions, each of the others below a prompt of its own.
"""

from dataclasses import replace

import pytest
import torch

from shared import training, updates
from shared.advantages import group_advantages, leave_one_out_advantages, rated_in_groups
from shared.engine.processes import ALONE
from shared.guard import Place, pair_of
from shared.rewards import functions_of
from tests.algorithms import parts_of
from tests.fakes import letter_tokenizer, tiny_llama
from tests.several import in_processes

ROWS = [{"prompt": prompt} for prompt in ("abc", "d", "efg", "hi")]
LOSSES = [
    *(("GRPO", {"loss_type": kind}) for kind in ("grpo", "dapo", "dr_grpo")),
    ("GRPO", {"beta": 0.1, "mask_truncated_completions": True}),
    ("RLOO", {}),
    ("RLOO", {"baseline": "none"}),
    ("PPO", {}),
]


def rates_some(prompts, completions, **columns):
    """The first of each three completions is not rated; of the prompt `d` two are not, of `hi` none is."""
    given = []
    for i, (prompt, text) in enumerate(zip(prompts, completions)):
        left_out = {"d": i % 3 < 2, "hi": True}.get(prompt, i % 3 == 0)
        given.append(None if left_out else len(text) + text.count("a"))
    return given


def algorithm_of(name: str, settings: dict):
    """The algorithm on a tiny model of its own."""
    _, kind, config_class, policy = parts_of(name, tiny_llama().eval())
    if name == "PPO":
        torch.nn.init.normal_(policy.value_head[-1].weight, generator=torch.Generator().manual_seed(0))
    size = {"prompts_per_step": 4, "num_generations": 3, "max_new_tokens": 6, "steps": 1, "log_every": 0}
    config = config_class(**size | {"minibatches": 1, "num_iterations": 1} | settings)
    return kind(policy, letter_tokenizer(), rates_some, config, reference=tiny_llama(5).eval())


def gradient_of(model) -> torch.Tensor:
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


@pytest.mark.parametrize(("name", "settings"), LOSSES)
def test_the_loss_is_that_of_the_rated_completions(name, settings, monkeypatch):
    """Catches a reward of 0 for what nobody rated, its tokens or its row in a denominator, and pieces that count it."""
    algorithm = algorithm_of(name, settings)
    experience = algorithm.collect(ROWS, step=0)
    rollout = experience.rollout
    compared = name == "GRPO" or (name == "RLOO" and not settings)  # these want two of a group
    kept = [1, 2, 7, 8] if compared else [1, 2, 5, 7, 8]
    assert experience.rated.nonzero().flatten().tolist() == kept
    assert experience.metrics["rewards/unrated"] == 7
    given = experience.rewards[~experience.rewards.isnan()]
    assert len(given) == 5 and experience.metrics["reward"] == pytest.approx(given.mean().item())

    places = [Place(row // 3, row, int(rollout.prompt_lengths[row // 3])) for row in kept]
    alone = pair_of(rollout, *places)
    width = alone.completion_ids.size(1)
    of_rows = {}
    for field in (
        "rewards_per_func",
        "rewards",
        "advantages",
        "ref_logps",
        "learned",
        "returns",
        "old_values",
        "ref_logits",
    ):
        values = getattr(experience, field, None)
        if values is not None:
            of_rows[field] = values[kept] if values.ndim == 1 or field == "rewards_per_func" else values[kept, :width]
    if name != "PPO" and compared:
        rewards = experience.rewards[kept]
        formula = group_advantages if name == "GRPO" else leave_one_out_advantages
        torch.testing.assert_close(of_rows["advantages"], formula(rewards, 2)[0])
    if name == "PPO":
        own = of_rows["advantages"][alone.completion_mask.bool()]
        torch.testing.assert_close(own.mean(), torch.tensor(0.0), atol=1e-5, rtol=0)
        torch.testing.assert_close(own.std(correction=0), torch.tensor(1.0), atol=1e-4, rtol=0)
    loss, _ = algorithm.loss(replace(experience, rollout=alone, rated=None, **of_rows))
    algorithm.model.zero_grad()
    loss.backward()
    expected = gradient_of(algorithm.model)

    monkeypatch.setattr(updates, "logits_at_once", lambda *room: 1)  # each prompt is a piece of its own
    algorithm.model.zero_grad()
    metrics = updates.add_up_gradient(algorithm, experience, algorithm.config, ALONE)
    torch.testing.assert_close(metrics["loss"], loss.detach(), atol=1e-6, rtol=1e-4)
    size = expected.abs().max().item()
    torch.testing.assert_close(gradient_of(algorithm.model), expected, atol=1e-5 * size, rtol=1e-4)


@pytest.mark.parametrize("name", ["GRPO", "RLOO", "PPO"])
def test_two_processes_do_what_one_does(name):
    """Catches a count of what is rated that each process makes of its own rows."""

    def trained(processes):
        algorithm = algorithm_of(name, {})
        (record,) = training.train(algorithm, ROWS, algorithm.config, progress=False, processes=processes)
        return record["rewards/unrated"], torch.cat([p.detach().flatten() for p in algorithm.model.parameters()])

    alone = trained(ALONE)
    for unrated, weights in in_processes(2, trained):
        assert unrated == alone[0] == 7
        torch.testing.assert_close(weights, alone[1], atol=1e-5, rtol=1e-4)


def test_a_step_in_which_nothing_is_rated_changes_nothing():
    """Catches a division by zero completions."""
    for name in ("GRPO", "RLOO", "PPO"):
        algorithm = algorithm_of(name, {})
        before = [p.clone() for p in algorithm.model.parameters()]
        algorithm.reward_funcs = lambda prompts, completions, **columns: [None] * len(completions)
        (record,) = training.train(algorithm, ROWS, algorithm.config, progress=False)
        assert record["rewards/unrated"] == 12 and record["loss"] == 0 and not record["skipped"]
        assert all(map(torch.equal, before, algorithm.model.parameters()))


def test_mean_and_deviation_are_of_the_rated_by_hand():
    """A group of 1, 3 and one that is not rated; one of 5 alone; one of three."""
    nan = float("nan")
    rewards = torch.tensor([1.0, nan, 3.0, nan, 5.0, nan, 0.0, 0.0, 3.0])
    rated = rated_in_groups(rewards, 3)
    assert rated.tolist() == [True, False, True, False, False, False, True, True, True]
    advantages, metrics = group_advantages(rewards, 3, advantage_eps=0.0, rated=rated)
    root = 2**0.5
    expected = [-1, 0, 1, 0, 0, 0, -1 / root, -1 / root, root]
    torch.testing.assert_close(advantages, torch.tensor(expected))
    assert metrics == pytest.approx({"reward": 7 / 5, "reward_std": (1 + root) / 2, "frac_reward_zero_std": 1 / 3})
    left_out, _ = leave_one_out_advantages(rewards, 3, rated)
    assert left_out.tolist() == [-2, 0, 2, 0, 0, 0, -1.5, -1.5, 3]
    by_batch, _ = group_advantages(rewards, 3, "batch", 0.0, rated)
    spread = torch.tensor([1.0, 3.0, 0.0, 0.0, 3.0]).std(correction=0)
    torch.testing.assert_close(by_batch, torch.tensor([-1.0, 0, 1, 0, 0, 0, -1, -1, 2]) / spread)


def test_an_async_reward_is_named_as_one():
    async def asks_a_server(prompts, completions, **columns):
        return [1.0] * len(completions)

    class Asks:
        __call__ = staticmethod(asks_a_server)

    for reward in (asks_a_server, Asks()):
        with pytest.raises(ValueError, match=" is an `async def`"):
            functions_of(reward)
