"""The reward before and after, read from an evaluation's output."""

from pathlib import Path

import pytest

from checker.outputs.drift import key_numbers
from checker.outputs.results import cases, examples, log_lines, rewards
from checker.reading.notebook import read


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("baseline reward 0.25\nfine-tuned reward 0.97\n", (0.25, 0.97)),
        ("reward before and after: 0.25 -> 0.97\n", (0.25, 0.97)),
        ("            before   after\ncount        0.25    0.97\n", (0.25, 0.97)),
        ("before after\n0.25 0.97\n", (0.25, 0.97)),
        ("| before | after |\n|---|---|\n| 0.25 | 0.97 |\n", (0.25, 0.97)),
        ("symbols  base                      trained\n4        0.25 (0.10 to 0.40)       0.97\n", (0.25, 0.97)),
        ("symbols    base   trained\n4          0.25      0.97\n12         0.30      0.50\n", (0.25, 0.97)),
        ("baseline reward 0.25, base model alone 0.30\nfine-tuned reward 0.97, final 0.99\n", (0.25, 0.97)),
        ("baseline reward 0.25\nfine-tuned reward 0.97\nbaseline 0.30\nfine-tuned 0.40\n", (0.25, 0.97)),
        ("nothing of the kind\n", (None, None)),
        ("baseline reward 25 %\nfine-tuned reward 97%\n", (0.25, 0.97)),
        ("baseline accuracy 3 of 12\nfine-tuned accuracy 11 of 12\n", (3.0, 11.0)),
        ("baseline reward of 40 prompts: 25 %, fine-tuned reward of 40 prompts: 97 %\n", (0.25, 0.97)),
        ("after 80 steps\nbaseline reward 0.25\nfine-tuned reward 0.97\n", (0.25, 0.97)),
        ("after training, before: 0.97 0.25\n", (0.25, 0.97)),
        ("mean reward     before  after\nthe 40 rows\nall of them       0.25   0.97\n", (0.25, 0.97)),
        ("reward        before    after\n7    0.90     0.25      0.97\n", (0.25, 0.97)),
        ("reward before after\n1\n2\n3\n0.25 0.97\n", (None, None)),
        (f"baseline reward {' ' * 2_000} 0.25\nfine-tuned reward 0.97\n", (None, 0.97)),
        ("baseline reward 1e999\nbaseline reward 0.25\nfine-tuned reward 0.97\n", (0.25, 0.97)),
    ],
)
def test_the_rewards_before_and_after_are_read_as_people_print_them(good, save, printed, expected):
    """Catches the name of a table's row, 4 symbols, that passes for the reward of the base model."""
    good["cells"][7]["outputs"][0]["text"] = printed
    assert rewards(read(save(good))) == expected


def test_what_compare_prints_is_read_as_it_measured(good, save, capsys):
    """Catches an end of an interval, or the reward of an example, that is read for the mean: the last in place of the first."""
    torch = pytest.importorskip("torch")
    from shared.evaluate import Evaluation, compare

    def evaluation(name, right):
        rewards = torch.tensor([1.0] * right + [0.0] * (40 - right))
        return Evaluation(name, ["Dots:"] * 40, [" baseline 0.5"] * 40, rewards, rewards[:, None])

    compare(evaluation("before", 10), evaluation("after", 38))
    good["cells"][7]["outputs"][0]["text"] = capsys.readouterr().out
    assert rewards(read(save(good))) == (0.25, 0.95)


@pytest.mark.parametrize("path", sorted(Path("notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_saved_notebook_is_read_as_its_key_numbers_are(path):
    """Catches dots that would go from 0.00 to 0.19: what is read twice, in two ways, must be the same."""
    notebook = read(path)
    names = {"baseline reward": 0, "fine-tuned reward": 1}
    found = key_numbers(notebook, names)
    assert all(rewards(notebook)[names[name]] == pytest.approx(one.value) for name, one in found.items())


def test_without_a_section_7_the_last_code_cell_is_read(good, save):
    """Catches the first cell, which prints the size of the model, in the place of the last."""
    code = [cell for cell in good["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(code):
        cell["source"] = "x = 1"
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": f"baseline 0.{number + 1}, after 0.9\n"}]
    good["cells"] = code
    assert rewards(read(save(good))) == (round(0.1 * len(code), 1), 0.9)


def test_a_log_has_reward_and_loss():
    """Catches a log of rewards alone that passes, and the head of a table that is counted as a row."""
    assert log_lines("step 1 reward 0.5 loss 0.1\n\nstep 2 reward 0.6 loss 0.2\nreward 0.9\n") == [
        "step 1 reward 0.5 loss 0.1",
        "step 2 reward 0.6 loss 0.2",
    ]
    assert log_lines("step reward loss\n1 0.5 0.1\nthe end\n2 0.6 0.2\n") == ["1 0.5 0.1", "2 0.6 0.2"]
    assert log_lines("reward 0.5\nreward 0.6\nloss 0.1\n") == ["loss 0.1"]
    assert log_lines("reward 0.5\nreward 0.6\n") == []


def test_a_table_of_a_log_has_rows_of_two_numbers():
    """Catches a log without a column of steps that has no rows, and text below a table counted as a row of it."""
    assert log_lines("0.9 0.8\nreward loss\n0.5 0.1\n0.6 0.2\n7 epochs\n") == ["0.5 0.1", "0.6 0.2"]
    assert log_lines("loss 0.1\nloss 0.2\nreward 0.5\n") == ["reward 0.5"]
    assert log_lines("the reward rose\nreward 0.5\nno loss here\n") == []


def test_cases_of_one_reward_show_nothing_however_they_are_printed():
    """Catches two cases with the same reward taken for two that differ, by a capital or a line break."""
    assert cases("Reward 1.0 of a1\nREWARD: 1 of b2\n") == []
    assert cases("case 1: reward\n1.0\ncase 2: reward\n1.0\n") == []
    assert cases("rewards 1.0 of a1\nrewards 0.5 of b2\n") == ["rewards 1.0 of a1", "rewards 0.5 of b2"]
    assert cases("reward -1 of a1\nreward 1 of b2\n") == ["reward -1 of a1", "reward 1 of b2"]


def test_what_a_check_says_is_no_case():
    """Catches a notebook without a case of its own that passes by the lines of its checks."""
    check = "✓ exact reward: right in all 125 cases.\n"
    assert cases(check + check.replace("125", "90")) == []
    own = "prompt 'a' response 'b' reward 1.0\nprompt 'a' response 'c' reward 0.0\n"
    assert cases(check + own + "7 lines\n") == own.splitlines()
    assert cases("reward 1.0\nreward 1.0\n") == [] and cases("a 1\nb 2\n") == ["a 1", "b 2"]


def test_examples_are_counted_by_their_prompts():
    text = "baseline reward 0.25, fine-tuned reward 0.97\nbaseline reward 0.25\n"
    assert examples(text + "prompt: a\nb\nprompt: c\n") == 2
    assert examples(text + "a -> b\n\nc -> d\nprompt: e\n") == 3


def test_one_prompt_is_no_list_of_examples():
    """Catches "1 example" of five, since one of them asks about a prompt; and capitals that hide two."""
    assert examples("prompt: a\nb -> c\nd -> e\n") == 3
    assert examples("Prompt: a\nb\nPROMPT: c\nd\n") == 2
    assert examples("2 prompts\nprompt\n") == 2


def test_a_line_that_says_before_or_after_may_be_an_example():
    """Catches an example that is left out since its text says "final", or has a number in it."""
    assert examples("3 + 4 -> 7\nthe final word -> after\nthe base of 5 -> 25\nmy score -> 12\n") == 4
    assert examples("before -> after\nfine-tuned accuracy 0.5\nmean reward, base: 0.25\n") == 0
