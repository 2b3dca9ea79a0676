"""The reward before and after, read from an evaluation's output."""

from pathlib import Path

import pytest

from checker.outputs.drift import key_numbers
from checker.outputs.results import rewards
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
