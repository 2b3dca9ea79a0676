import pytest
import torch

from shared.evaluate import Evaluation, bootstrap_interval, compare, evaluate, one_line
from tests.conftest import tiny_llama

ROWS = [{"prompt": "abc", "answer": "x"}, {"prompt": "d", "answer": "y"}, {"prompt": "efghij", "answer": "z"}]


def made(rewards, name="", prompts=None):
    rewards = torch.tensor(rewards)
    prompts = prompts or [f"prompt {i}" for i in range(len(rewards))]
    return Evaluation(name, prompts, ["out\nput"] * len(rewards), rewards, rewards[:, None])


def test_rows_keep_their_order_and_their_columns(tokenizer):
    """Catches batching by length that returns completions in another order than the rows."""
    seen = {}

    def spy(prompts, completions, answer, **columns):
        seen.update(prompts=prompts, answer=answer)
        return [float(len(p)) for p in prompts]

    result = evaluate(tiny_llama(), tokenizer, ROWS, spy, batch_size=2, max_new_tokens=3)
    assert seen == {"prompts": ["abc", "d", "efghij"], "answer": ["x", "y", "z"]}
    alone = [evaluate(tiny_llama(), tokenizer, [row], spy, max_new_tokens=3).completions[0] for row in ROWS]
    assert result.completions == alone and result.mean == pytest.approx(10 / 3)


def test_sampled_evaluation_counts_equal_groups(tokenizer):
    result = evaluate(
        tiny_llama(), tokenizer, ROWS, lambda prompts, completions, **c: [float(p == "d") * i for i, p in enumerate(prompts)],
        temperature=1.0, num_generations=4, max_new_tokens=2,
    )
    assert len(result.completions) == 12 and result.per_prompt.shape == (3,)
    assert result.frac_reward_zero_std == pytest.approx(2 / 3)


def test_bootstrap_interval_has_the_width_of_theory():
    """For a mean of 400 coin flips the 95 % interval is about 1.96 x 0.5 / 20 to either side."""
    low, high = bootstrap_interval(torch.tensor([0.0, 1.0] * 200))
    assert (high - low) / 2 == pytest.approx(1.96 * 0.5 / 20, rel=0.1) and low < 0.5 < high


def test_compare_prints_both_numbers_and_five_examples(capsys):
    result = compare(made([0.0, 0.5] * 5), made([1.0] * 10))
    printed = capsys.readouterr().out
    assert result["gain"] == 0.75 and result["gain_low"] <= 0.75 <= result["gain_high"]
    assert "baseline reward    0.250" in printed and "fine-tuned reward  1.000" in printed
    assert printed.count("prompt  ") == 5 and "out\\nput" in printed


def test_compare_refuses_different_rows():
    with pytest.raises(ValueError, match="different prompts"):
        compare(made([0.0]), made([0.0], prompts=["another"]))


def test_no_rows_is_a_sentence(tokenizer):
    with pytest.raises(ValueError, match="no rows"):
        evaluate(tiny_llama(), tokenizer, [], lambda **columns: [])


def test_one_line_is_one_line_of_the_width():
    assert one_line("a\nb") == "a\\nb"
    assert len(one_line("x" * 500, 40)) <= 40
