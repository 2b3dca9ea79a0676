import pytest
import torch

from shared import evaluate as module
from shared.constrain import answer_trie
from shared.engine.chance import EVALUATION
from shared.engine.processes import Processes
from shared.engine.sampling import Sampling
from shared.evaluate import Evaluation, compare, evaluate, example_rows, one_line, question_in
from shared.rollout import sample
from shared.statistics import gain_interval, mean_interval
from tests.fakes import tiny_llama

ROWS = [{"prompt": "abc", "answer": "x"}, {"prompt": "d", "answer": "y"}, {"prompt": "efghij", "answer": "z"}]


def made(rewards, name="", prompts=None, G=1):
    rewards = torch.tensor(rewards)
    prompts = prompts or [f"prompt {i}" for i in range(len(rewards))]
    return Evaluation(name, prompts, ["out\nput"] * len(rewards), rewards, rewards[:, None], G)


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


def length(prompts, completions, **columns):
    return [float(len(completion)) for completion in completions]


def count_a(prompts, completions, **columns):
    return [float(completion.count("a")) for completion in completions]


@pytest.mark.parametrize("constrained", [False, True])
def test_an_evaluation_is_the_rows_own_samples_with_their_weighted_rewards(tokenizer, constrained):
    """Catches a seed, weights, a temperature or a constraint that are ignored, and noise that depends on the batches."""
    model = tiny_llama().eval()
    trie = answer_trie(tokenizer, ["a", "aab", "bb", "cca", "d"]) if constrained else None
    prompts = [row["prompt"] for row in ROWS]
    result = evaluate(
        model,
        tokenizer,
        ROWS,
        [length, count_a],
        name="before",
        max_new_tokens=5,
        temperature=1.3,
        num_generations=3,
        constraint=trie,
        reward_weights=[1.0, 0.5],
        batch_size=2,
        seed=7,
    )
    oracle = sample(
        model, tokenizer, prompts, 3, Sampling(5, 1.3), constraint=trie, seed=7, step=EVALUATION, places=[0, 1, 2]
    )
    assert result.completions == oracle.completions
    assert result.prompts == [prompt for prompt in prompts for _ in range(3)]
    assert result.rewards_per_func.tolist() == [[len(c), c.count("a")] for c in result.completions]
    assert result.rewards.tolist() == [len(c) + 0.5 * c.count("a") for c in result.completions]
    assert (result.name, result.num_generations) == ("before", 3)


def test_step_0_draws_what_a_notebook_draws_itself(tokenizer):
    """Catches two figures for one thing: of the same model on the same rows, by other chance."""
    model = tiny_llama()
    own = sample(model, tokenizer, [row["prompt"] for row in ROWS], 4, Sampling(3, 1.0), seed=0).completions
    options = {"max_new_tokens": 3, "temperature": 1.0, "num_generations": 4, "batch_size": 2}
    assert evaluate(model, tokenizer, ROWS, length, step=0, **options).completions == own
    assert evaluate(model, tokenizer, ROWS, length, **options).completions != own


def test_by_default_one_greedy_completion_of_sixteen_tokens_is_taken(tokenizer):
    """Greedy decoding repeats without a seed; sampling by default would make every comparison noisy."""
    model = tiny_llama().eval()
    result = evaluate(model, tokenizer, ROWS, [length, count_a])
    greedy = sample(model, tokenizer, [row["prompt"] for row in ROWS], 1, Sampling(16, 0.0))
    assert result.completions == greedy.completions and result.num_generations == 1 and result.name == ""
    assert result.rewards.tolist() == [len(c) + c.count("a") for c in greedy.completions]
    sampled = evaluate(model, tokenizer, ROWS, length, temperature=1.0)
    assert sampled.completions == evaluate(model, tokenizer, ROWS, length, temperature=1.0, seed=0).completions


def test_columns_are_repeated_for_each_completion(tokenizer):
    seen = {}

    def spy(prompts, completions, answer):
        seen.update(prompts=prompts, answer=answer)
        return [0.0] * len(completions)

    evaluate(tiny_llama(), tokenizer, ROWS, spy, temperature=1.0, num_generations=2, max_new_tokens=2)
    assert seen == {"prompts": ["abc", "abc", "d", "d", "efghij", "efghij"], "answer": ["x", "x", "y", "y", "z", "z"]}


def test_prompts_of_like_length_share_a_batch_and_the_bar_counts_batches(tokenizer, monkeypatch):
    batches, bars = [], []
    real = module.sample

    def watched(model, tokenizer, prompts, *arguments, **options):
        batches.append(prompts)
        return real(model, tokenizer, prompts, *arguments, **options)

    def bar(steps, **options):
        bars.append(options)
        return steps

    monkeypatch.setattr(module, "sample", watched)
    monkeypatch.setattr(module, "tqdm", bar)
    evaluate(tiny_llama(), tokenizer, ROWS, length, batch_size=2, max_new_tokens=2, name="after", progress=True)
    evaluate(tiny_llama(), tokenizer, ROWS * 22, length, max_new_tokens=1)
    assert batches[:2] == [["d", "abc"], ["efghij"]] and [len(batch) for batch in batches[2:]] == [64, 2]
    assert bars == [{"desc": "evaluate after", "disable": False}, {"desc": "evaluate", "disable": True}]


def test_sampled_evaluation_counts_equal_groups(tokenizer):
    result = evaluate(
        tiny_llama(),
        tokenizer,
        ROWS,
        lambda prompts, completions, **c: [float(p == "d") * i for i, p in enumerate(prompts)],
        temperature=1.0,
        num_generations=4,
        max_new_tokens=2,
    )
    assert len(result.completions) == 12 and result.per_prompt.shape == (3,)
    assert result.frac_reward_zero_std == pytest.approx(2 / 3)


def test_the_comparison_word_for_word(capsys):
    """Every notebook shows this text. Two completions a prompt: means and examples are of prompts."""
    before, after = made([0.0, 1.0, 0.0, 0.0, 1.0, 1.0], G=2), made([1.0, 1.0, 0.5, 0.5, 1.0, 1.0], G=2)
    result = compare(before, after, examples=2)
    means = [torch.tensor(values) for values in ([0.5, 0.0, 1.0], [1.0, 0.5, 1.0])]
    low, high = mean_interval(means[0])
    fine_low, fine_high = mean_interval(means[1])
    gain_low, gain_high = gain_interval(*means)
    assert capsys.readouterr().out == (
        "baseline reward    0.500\n"
        "fine-tuned reward  0.833\n"
        "measured           reward   95 % interval\n"
        f"baseline reward     0.500  {low:.3f} to {high:.3f}\n"
        f"fine-tuned reward   0.833  {fine_low:.3f} to {fine_high:.3f}\n"
        f"gain                0.333  {gain_low:.3f} to {gain_high:.3f}\n"
        "prompt    before    after     reward before  reward after\n"
        "prompt 0  out\\nput  out\\nput           0.00          1.00\n"
        "prompt 2  out\\nput  out\\nput           0.00          0.50\n"
    )
    expected = {
        "baseline": 0.5,
        "fine-tuned": 5 / 6,
        "gain": 1 / 3,
        "gain_low": gain_low,
        "gain_high": gain_high,
    }
    assert result == pytest.approx(expected)
    assert compare(before, after, show=False) == result and capsys.readouterr().out == ""


def test_the_comparison_counts_clusters_as_one_piece_of_evidence(capsys):
    """Catches an interval by cluster of one of the two models alone, or of the gain alone."""
    before, after = made([0.0, 0.0, 1.0, 0.0]), made([1.0, 1.0, 1.0, 0.0])
    names = ["a", "a", "b", "b"]
    result = compare(before, after, examples=1, clusters=names)
    low, high = after.interval(clusters=names)
    assert (low, high) == mean_interval(after.rewards, 0.95, names) != after.interval()
    assert f"fine-tuned reward   0.750  {low:.3f} to {high:.3f}\n" in capsys.readouterr().out
    expected = gain_interval(before.rewards, after.rewards, clusters=names)
    assert (result["gain_low"], result["gain_high"]) == expected


def test_examples_are_spread_evenly_and_no_more_than_there_are():
    rows = example_rows(made([0.0] * 10), made([0.0] * 10))
    assert [row["prompt"].split()[-1] for row in rows] == ["0", "2", "4", "6", "8"]
    assert len(example_rows(made([0.0] * 3), made([0.0] * 3))) == 3
    before, after = made([0.25] * 3), made([0.75] * 3)
    assert [(row["reward before"], row["reward after"]) for row in example_rows(before, after, 1)] == [(0.25, 0.75)]
    long = made([0.0], prompts=["p" * 91])
    assert example_rows(long, long)[0]["prompt"] == f"{'p' * 42} ... {'p' * 42}"


def test_compare_prints_both_numbers_and_five_examples(capsys):
    result = compare(made([0.0, 0.5] * 5), made([1.0] * 10))
    printed = capsys.readouterr().out
    assert result["gain"] == 0.75 and result["gain_low"] <= 0.75 <= result["gain_high"]
    assert "baseline reward    0.250" in printed and "fine-tuned reward  1.000" in printed
    assert printed.count("out\\nput") == 10


def test_one_completion_a_prompt_is_the_rule():
    rewards = torch.tensor([0.0, 1.0, 1.0])
    evaluation = Evaluation("", ["p", "q", "r"], ["x"] * 3, rewards, rewards[:, None])
    assert torch.equal(evaluation.per_prompt, rewards) and evaluation.frac_reward_zero_std == 1.0


def test_compare_refuses_different_rows():
    with pytest.raises(ValueError, match="different prompts"):
        compare(made([0.0]), made([0.0], prompts=["another"]))


def test_what_other_processes_completed_is_put_beside_ones_own(tokenizer):
    """Catches the rows of the last process alone, and one's own rows in the place of another's."""

    class Two(Processes):
        def gather(self, own):
            return [{i: ["of another"] for i in range(len(ROWS)) if i not in own}, own]

    alone = evaluate(tiny_llama(), tokenizer, ROWS, length)
    shared = [evaluate(tiny_llama(), tokenizer, ROWS, length, processes=Two(rank, 2)).completions for rank in (0, 1)]
    for own, others in (shared, shared[::-1]):
        places = [i for i in range(len(ROWS)) if own[i] != "of another"]
        assert 0 < len(places) < len(ROWS)
        assert all(own[i] == alone.completions[i] and others[i] == "of another" for i in places)


def test_no_rows_is_a_sentence(tokenizer):
    with pytest.raises(ValueError, match="no rows"):
        evaluate(tiny_llama(), tokenizer, [], lambda **columns: [])


def test_one_line_is_one_line_of_the_width():
    assert one_line("a\nb") == "a\\nb"
    assert len(one_line("x" * 500, 40)) <= 40
    assert one_line("a" * 29 + "b" * 29) == "a" * 29 + "b" * 29
    assert one_line("a" * 40 + "b" * 40, 59) == "a" * 27 + " ... " + "b" * 27
    assert one_line("a" * 29 + "b" * 30) == "a" * 26 + " ... " + "b" * 26


def test_a_question_is_shown_without_the_template_around_it():
    """Catches examples of which every row reads alike: the question cut away between a system prompt and a turn's end."""
    template = (
        "<|im_start|>system\nAnswer with a number, "
        + "and nothing else. " * 5
        + "<|im_end|>\n<|im_start|>user\n{}<|im_end|>\n"
    )
    prompts = [
        template.format(f"If you add {n} and 16, what is the result?") + "<|im_start|>assistant\n" for n in (12, 34)
    ]
    evaluation = Evaluation("", prompts, ["28", "50"], torch.ones(2), torch.ones(2, 1))
    shown = [row["prompt"] for row in example_rows(evaluation, evaluation)]
    assert shown == [f"If you add {n} and 16, what is the result?<|im_end|>" for n in (12, 34)]
    assert question_in("Count the dots:\n. .", (1, 0), 90) == "Count the dots:\\n. ."
    alone = Evaluation("", prompts[:1], ["28"], torch.ones(1), torch.ones(1, 1))
    assert example_rows(alone, alone)[0]["prompt"].startswith("<|im_start|>system")
