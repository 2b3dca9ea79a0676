"""The reward before and after, read from an evaluation's output."""

import pytest

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
        ("nothing of the kind\n", (None, None)),
    ],
)
def test_the_rewards_before_and_after_are_read_as_people_print_them(good, save, printed, expected):
    """Catches the name of a table's row, 4 symbols, that passes for the reward of the base model."""
    good["cells"][7]["outputs"][0]["text"] = printed
    assert rewards(read(save(good))) == expected
