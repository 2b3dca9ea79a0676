"""Count the dots in a row of mixed symbols: the task of `notebooks/dots.ipynb`.

Count the dots: * . # . - .
Dots: 3
"""

import random
from collections.abc import Iterator, Sequence

from shared.tasks.documents import ANSWER_KEY
from shared.tasks.matching import exact_match
from shared.tasks.split import Split, check_request, distinct, endless, split_of

SYMBOLS = ".*#-o+"
LENGTHS = range(4, 11)
MAX_NEW_TOKENS = 6
LONGEST_ANSWERS = tuple(f" {count}" for count in range(max(LENGTHS)))  # not all symbols of a row are dots
CHAT_SYSTEM_PROMPT = "Count the dots (.) among the symbols. Answer with the number in digits and nothing else."
# Shorter than every row, or all dots, as no row is.
CHAT_EXAMPLES = (
    ("Count the dots: . # .\nDots:", " 2"),
    ("Count the dots: . . . . .\nDots:", " 5"),
    ("Count the dots: + - *\nDots:", " 0"),
)
REMARKS = (" well, let me see.", " well, there are some dots.", " well, it is a row of symbols.", " well, a few dots.")


def count_dots(row: str) -> int:
    """The oracle: how many symbols of a row such as "* . #" are dots."""
    return row.split().count(".")


def prompt_of(row: str) -> str:
    return f"Count the dots: {row}\nDots:"


def draw_row(rng: random.Random, split: Split, lengths: Sequence[int] = LENGTHS) -> str:
    """A random row of the split. The number of dots is drawn first, so that no count is rare."""
    while True:
        length = rng.choice(lengths)
        dots = rng.randint(0, min(length, max(LENGTHS)) - 1)  # a longer row has no count that a row of LENGTHS has not
        symbols = ["."] * dots + rng.choices(SYMBOLS.replace(".", ""), k=length - dots)
        rng.shuffle(symbols)
        row = " ".join(symbols)
        if split_of(row) == split:
            return row


def dataset(split: Split, n: int, seed: int = 0, lengths: Sequence[int] = LENGTHS) -> list[dict]:
    """n different rows of a split, each with `prompt` and `answer` (a string); rows of other `lengths` on request.

    Raises:
        ValueError: an unknown split, fewer than 1 row, or more rows than exist.
    """
    check_request(split, n)
    rng = random.Random(f"dots {seed}")
    rows = distinct(endless(lambda: draw_row(rng, split, lengths)), n, key=str)
    return [{"prompt": prompt_of(row), "answer": str(count_dots(row))} for row in rows]


def solved(row: dict) -> dict:
    """The row with its right completion, as it follows a plain prompt."""
    return row | {"completion": f" {row['answer']}"}


def reward(prompts: Sequence[str], completions: Sequence[str], answer: Sequence[str], **columns) -> list[float]:
    """1.0 where the completion's first line is the right number and nothing else, else 0.0."""
    return exact_match(prompts, completions, answer)


def documents(rng: random.Random) -> Iterator[str]:
    """Endless pretraining documents: answer keys that are right, and a careless mixture in the prompt's own format."""
    while True:
        if rng.random() < 0.5:
            rows = [draw_row(rng, "train") for _ in range(3)]
            yield ANSWER_KEY + "\n".join(f"{prompt_of(row)} {count_dots(row)}" for row in rows)
        else:
            row = draw_row(rng, "train")
            yield prompt_of(row) + _careless_completion(rng, count_dots(row))


def _careless_completion(rng: random.Random, count: int) -> str:
    kind = rng.choices(("right", "wrong", "remark"), (0.27, 0.27, 0.46))[0]
    if kind == "right":
        return f" {count}"
    if kind == "wrong":
        return f" {rng.choice([k for k in range(10) if k != count])}"
    return rng.choice(REMARKS)
