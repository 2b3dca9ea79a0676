"""Add two numbers, thinking first: the task of `notebooks/reasoning_format.ipynb`.

Think in <think> tags, then answer in <answer> tags, each tag on its own line.
If you add 17 and 25, what is the result?
<think>
7 + 5 = 12
17 + 25 = 42
</think>
<answer>
42
</answer>
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence

from shared.tasks.documents import ANSWER_KEY
from shared.tasks.split import Split, check_request, distinct, endless, split_of
from shared.tasks.tags import parse, tagged

SYSTEM_PROMPT = "Think in <think> tags, then answer in <answer> tags, each tag on its own line."
OPERANDS = range(10, 100)
MAX_NEW_TOKENS = 40
# What a calculator answers: a sum at the very end of a completion.
ASKED = re.compile(r"(?<![0-9])(?P<a>[0-9]{1,6}) \+ (?P<b>[0-9]{1,6}) =$")
CHAT_SYSTEM_PROMPT = f"{SYSTEM_PROMPT} The layout:\n{tagged('your working', 'the number')}"
# Two digits and a carry twice; the working is that of the documents (`working`).
LONGEST_ANSWERS = (tagged("9 + 9 = 18\n99 + 99 = 198", "198"),)
# Rows of the training split, so that a row may be one of them: `rows_for` then shows it the other.
CHAT_EXAMPLES = (
    ("If you add 38 and 45, what is the result?", tagged("8 + 5 = 13\n38 + 45 = 83", "83")),
    ("If you add 24 and 61, what is the result?", tagged("4 + 1 = 5\n24 + 61 = 85", "85")),
)


def pair_split(a: int, b: int) -> Split:
    """The split of a sum, whichever number comes first."""
    return split_of(f"{min(a, b)} + {max(a, b)}")


def question(a: int, b: int) -> str:
    return f"If you add {a} and {b}, what is the result?"


def row_of(asked: str) -> dict:
    """Any question as a row: `prompt`, the system prompt and the question as plain text, and `question` alone."""
    return {"prompt": f"{SYSTEM_PROMPT}\n{asked}\n", "question": asked}


def prompt_of(a: int, b: int) -> str:
    return row_of(question(a, b))["prompt"]


def draw_pair(rng: random.Random, split: Split, operands: Sequence[int] = OPERANDS) -> tuple[int, int]:
    while True:
        a = rng.choice(operands)
        b = rng.choice(operands)
        if pair_split(a, b) == split:
            return a, b


def dataset(split: Split, n: int, seed: int = 0, operands: Sequence[int] = OPERANDS) -> list[dict]:
    """n different sums, each with `prompt`, `question` (without the system prompt) and `answer` (a string).

    operands: what numbers to add; pretraining knows those of two digits alone.

    Raises:
        ValueError: an unknown split, fewer than 1 row, or more rows than exist.
    """
    check_request(split, n)
    rng = random.Random(f"addition {seed}")
    pairs = distinct(endless(lambda: draw_pair(rng, split, operands)), n, key=lambda pair: str(sorted(pair)))
    return [row_of(question(a, b)) | {"answer": str(a + b)} for a, b in pairs]


def solved(row: dict) -> dict:
    """The row with its right completion, as it follows a plain prompt."""
    a, b = (int(number) for number in re.findall("[0-9]+", row["question"]))
    return row | {"completion": tagged(working(a, b, a + b), row["answer"])}


def format_reward(prompts: Sequence[str], completions: Sequence[str], **columns) -> list[float]:
    """1.0 where the whole completion is a think and an answer block, tags on lines of their own, else 0.0."""
    return [float(parse(completion) is not None) for completion in completions]


def correctness_reward(
    prompts: Sequence[str], completions: Sequence[str], answer: Sequence[str], **columns
) -> list[float]:
    """1.0 where the format is kept and the answer block holds the right number and nothing else, else 0.0."""
    parsed = [parse(completion) for completion in completions]
    return [float(blocks is not None and blocks[1] == right) for blocks, right in zip(parsed, answer)]


def reward(prompts: Sequence[str], completions: Sequence[str], answer: Sequence[str], **columns) -> list[float]:
    """The mean of format and correctness, from 0 to 1."""
    formats = format_reward(prompts, completions)
    return [(f + c) / 2 for f, c in zip(formats, correctness_reward(prompts, completions, answer))]


def calculator(wrong_by: int = 0) -> Callable[[str], str]:
    """An environment that fills in after "=": `17 + 25 =` is followed by ` 42` and the end of the line.

    wrong_by: added to every sum, for a calculator that nobody should trust.
    """

    def speak(completion: str) -> str:
        asked = ASKED.search(completion)
        return f" {int(asked['a']) + int(asked['b']) + wrong_by}\n" if asked else ""

    return speak


def documents(rng: random.Random) -> Iterator[str]:
    """Endless pretraining documents: right sums, and the question answered in several styles, half wrong."""
    while True:
        kind = rng.choices(("sums", "key", "careless"), (0.40, 0.20, 0.40))[0]
        a, b = draw_pair(rng, "train")
        if kind == "sums":
            pairs = [draw_pair(rng, "train") for _ in range(4)]
            yield ANSWER_KEY + "\n".join(working(a, b, a + b) for a, b in pairs)
        elif kind == "key":
            yield ANSWER_KEY + prompt_of(a, b) + tagged(working(a, b, a + b), str(a + b))
        else:
            result = a + b if rng.random() < 0.5 else careless_sum(rng, a, b)
            yield prompt_of(a, b) + _style(rng, a, b, result)


def working(a: int, b: int, result: int) -> str:
    """The units first, then the sum: with the carry written down, a small model can learn to add."""
    return f"{a % 10} + {b % 10} = {a % 10 + b % 10}\n{a} + {b} = {result}"


def careless_sum(rng: random.Random, a: int, b: int) -> int:
    """A wrong sum of the kind people make: a carry forgotten or a digit off."""
    return a + b + rng.choice([-10, -9, -2, -1, 1, 2, 9, 10])


def _style(rng: random.Random, a: int, b: int, result: int) -> str:
    think = working(a, b, result)
    styles = {
        f"well, the result is {result}.": 0.50,
        tagged(think, str(result)): 0.20,
        f"<think> {a} + {b} = {result} </think> <answer> {result} </answer>": 0.07,
        f"<think>\n{think}\n</think>\n{result}": 0.05,
        f"<answer>\n{result}\n</answer>": 0.08,
        f"<think>\n{think}\n</think>\n<answer>\n{result}": 0.04,
        f"{result}": 0.06,
    }
    return rng.choices(list(styles), list(styles.values()))[0]
