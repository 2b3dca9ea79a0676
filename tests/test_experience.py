"""The steps that every algorithm with a rollout takes before its own formula."""

from types import SimpleNamespace

import pytest
import torch

from shared import experience as module
from shared.constrain import answer_trie
from shared.engine.processes import ALL_ROWS, Share
from shared.engine.sampling import Sampling
from shared.experience import (
    STEPS_WITHOUT_SIGNAL,
    Experience,
    RolloutAlgorithm,
    RolloutConfig,
    reference_logps,
    rewarded_rollout,
)
from shared.logps import completion_logps
from shared.rollout import sample
from tests.fakes import tiny_llama

ROWS = [{"prompt": p, "answer": a} for p, a in [("abc", "a"), ("d", "b"), ("efg", "c"), ("hi", "d")]]
CONFIG = RolloutConfig(num_generations=3, max_new_tokens=6, reward_weights=(1.0, 0.5), seed=3)


def length(prompts, completions, **columns):
    return [float(len(completion)) for completion in completions]


def count_a(prompts, completions, **columns):
    return [float(completion.count("a")) for completion in completions]


def test_a_rewarded_rollout_is_the_step_of_its_seed_with_its_rewards(tokenizer):
    """Catches the same noise at every step, a constraint or places that are lost, and rewards without their weights."""
    model = tiny_llama().eval()
    trie = answer_trie(tokenizer, ["a", "ab", "b", "ccc", "aaaa"])
    prompts = [row["prompt"] for row in ROWS]
    for constraint in (None, trie):
        for step, places in ((0, None), (4, None), (4, [7, 1, 0, 2])):
            rollout, per_func, rewards, _ = rewarded_rollout(
                model,
                tokenizer,
                ROWS,
                [length, count_a],
                CONFIG,
                step,
                ALL_ROWS if places is None else Share(places),
                constraint=constraint,
            )
            alone = sample(
                model, tokenizer, prompts, 3, Sampling(6), constraint=constraint, seed=3, step=step, places=places
            )
            assert rollout.completions == alone.completions and not rollout.old_logps.requires_grad
            assert per_func.tolist() == [[len(c), c.count("a")] for c in rollout.completions]
            assert rewards.tolist() == [len(c) + 0.5 * c.count("a") for c in rollout.completions]
    by_default, *_ = rewarded_rollout(model, tokenizer, ROWS, [length, count_a], CONFIG)
    assert by_default.completions == sample(model, tokenizer, prompts, 3, Sampling(6), seed=3, step=0).completions


def test_metrics_have_the_mean_and_the_population_spread_of_each_function(tokenizer):
    rollout, per_func, rewards, metrics = rewarded_rollout(
        tiny_llama().eval(), tokenizer, ROWS, [length, count_a], CONFIG
    )
    expected = rollout.length_metrics | {
        "reward": rewards.mean().item(),
        "rewards/unrated": 0,
        "num_tokens": int(3 * rollout.prompt_lengths.sum() + rollout.lengths.sum()),
        "entropy": rollout.entropy[rollout.completion_mask == 1].mean().item(),
        "rewards/length/mean": per_func[:, 0].mean().item(),
        "rewards/length/std": per_func[:, 0].var(correction=0).sqrt().item(),
        "rewards/count_a/mean": per_func[:, 1].mean().item(),
        "rewards/count_a/std": per_func[:, 1].var(correction=0).sqrt().item(),
    }
    assert metrics == pytest.approx(expected) and min(expected.values()) >= 0 and expected["rewards/length/std"] > 0


def test_what_is_taken_belongs_to_its_prompts(tokenizer):
    """Catches rewards, advantages or log-probabilities that stay those of other prompts, or as wide as the whole."""
    rollout = sample(tiny_llama().eval(), tokenizer, [row["prompt"] for row in ROWS], 3, Sampling(9), seed=11)
    B, C = rollout.completion_ids.shape
    per_func = torch.arange(2.0 * B).view(B, 2)
    per_token = torch.arange(1.0 * B * C).view(B, C)
    whole = Experience(rollout, per_func, per_func[:, 0], per_func[:, 1], per_token, {"reward": 1.0})
    shortest = rollout.lengths.view(4, 3).amax(dim=1).argmin().item()
    rows = [3 * shortest, 3 * shortest + 1, 3 * shortest + 2]
    part = whole.take([shortest])
    width = int(rollout.lengths[rows].max())
    assert width < C and part.rollout.completions == rollout.completions[3 * shortest : 3 * shortest + 3]
    assert torch.equal(part.rewards_per_func, per_func[rows]) and torch.equal(part.rewards, per_func[rows, 0])
    assert torch.equal(part.advantages, per_func[rows, 1]) and torch.equal(part.ref_logps, per_token[rows, :width])
    assert part.metrics == {"reward": 1.0} and len(whole) == 4 and len(part) == 1
    assert part.num_tokens == rollout.lengths[rows].sum() and part.num_places == 3 * width
    assert torch.equal(whole.row_tokens, rollout.prompt_lengths)
    learned = torch.arange(B) % 3 != 1  # the second completion of each prompt was cut off, say
    piece = Experience(rollout, per_func, per_func[:, 0], per_func[:, 1], None, {}, learned=learned).take([shortest])
    assert piece.learned.tolist() == [True, False, True] and not piece.loss_mask[1].any()
    assert piece.num_tokens == rollout.lengths[rows[::2]].sum()
    without = Experience(rollout, per_func, per_func[:, 0], per_token, None, {}).take([shortest])
    assert without.ref_logps is None and torch.equal(without.advantages, per_token[rows, :width])


# --- the reference


def test_the_reference_scores_the_rollout_without_a_gradient(tokenizer):
    model, reference = tiny_llama().eval(), tiny_llama(1).eval()
    rollout = sample(model, tokenizer, ["ab", "c"], 2, Sampling(4), seed=0)
    logps = reference_logps(model, reference, rollout)
    torch.testing.assert_close(logps, completion_logps(reference, rollout)[0])
    assert not logps.requires_grad and not torch.allclose(logps, rollout.old_logps, atol=0.1)


# --- the look at the model, and advice


class Counting(RolloutAlgorithm):
    """Says how often it collected, with which reference on which path."""

    collected = 0

    def collect(self, rows, step, share):
        self.collected += 1
        self.last = (rows, step)
        return SimpleNamespace(rollout=f"rollout {self.collected}")


def looked_at(monkeypatch, verdicts, reference=None):
    """A `Counting` whose looks come out like the verdicts (True: the model fell back), and what was looked at."""
    looks, slowed = [], []

    def verify(model, rollout):
        looks.append((model, rollout))
        return SimpleNamespace(fell_back=verdicts[len(looks) - 1])

    monkeypatch.setattr(module, "verify", verify)
    monkeypatch.setattr(module, "take_general_path", slowed.append)
    algorithm = Counting(tiny_llama(), None, length, CONFIG, reference=reference)
    return algorithm, looks, slowed


def test_a_model_that_is_trusted_is_looked_at_once(monkeypatch):
    algorithm, looks, slowed = looked_at(monkeypatch, [False])
    assert algorithm.experience(ROWS, 2).rollout == "rollout 1" and algorithm.last == (ROWS, 2)
    assert algorithm.experience(ROWS, 3).rollout == "rollout 2" and algorithm.last == (ROWS, 3)
    assert looks == [(algorithm.model, "rollout 1")] and slowed == []


def test_after_a_fall_back_the_step_is_sampled_again_and_looked_at_again(monkeypatch):
    """Catches learning from a rollout of the fast pass with log-probabilities of the slow one."""
    reference = tiny_llama(1)
    algorithm, looks, slowed = looked_at(monkeypatch, [True, False], reference)
    assert algorithm.experience(ROWS, 5).rollout == "rollout 2" and algorithm.last == (ROWS, 5)
    assert [rollout for _, rollout in looks] == ["rollout 1", "rollout 2"] and slowed == [reference]
    algorithm, _, slowed = looked_at(monkeypatch, [True, False])
    assert algorithm.experience(ROWS, 0).rollout == "rollout 2" and slowed == []


def test_an_algorithm_keeps_what_it_is_given(tokenizer):
    model, reference, trie = tiny_llama(), tiny_llama(1), answer_trie(tokenizer, ["a"])
    algorithm = Counting(model, tokenizer, length, CONFIG, reference=reference, constraint=trie)
    kept = (algorithm.model, algorithm.policy, algorithm.tokenizer, algorithm.reward_funcs, algorithm.config)
    assert all(a is b for a, b in zip(kept, (model, model, tokenizer, length, CONFIG)))
    assert algorithm.reference is reference and algorithm.sampled_with["constraint"] is trie
    with pytest.raises(ValueError, match="reference is the policy itself"):
        Counting(model, tokenizer, length, CONFIG, reference=model)


def test_advice_comes_after_ten_steps_that_taught_nothing():
    """Catches advice that is given a step early, for a good step among them, or for what lies long ago."""
    algorithm = Counting(tiny_llama(), None, length, CONFIG)
    assert STEPS_WITHOUT_SIGNAL == 10
    nothing = [{"reward": 0.125 * i, "frac_reward_zero_std": 1.0} for i in range(10)]
    little = {"reward": 0.0, "frac_reward_zero_std": 0.9}
    advice = algorithm.advice([little, *nothing])
    assert advice.startswith("In the last 10 steps") and "(average 1.125)" in advice
    assert "nothing to learn from" in advice and "larger num_generations" in advice
    assert algorithm.advice(nothing[1:]) is None
    assert algorithm.advice([*nothing, little]) is None and algorithm.advice([*nothing[1:], little]) is None
