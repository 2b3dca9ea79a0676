"""Reach a target from given numbers with + - * / and brackets: the task of `notebooks/countdown.ipynb`.

Think in <think> tags, then answer in <answer> tags, each tag on its own line.
Use 3 8 2 once each to make 22.
<think>
3 * 8 = 24
24 - 2 = 22
</think>
<answer>
3 * 8 - 2
</answer>

The reward is the mean of two: for the format, and for a right answer. With other lines between the <answer> tags:

    answer            format   correctness   reward
    3 * 8 - 2         1        1             1
    3 * 8 + 2         1        0             0.5      26 is not the target
    8 + 8 + 8 - 2     1        0             0.5      22, but from numbers that were not given
    3 * 8 - 2 = 22    0.5      0             0.25     more than an expression
    no <answer>       0        0             0
"""

import operator
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import NamedTuple

from shared.tasks import addition
from shared.tasks.addition import SYSTEM_PROMPT
from shared.tasks.arithmetic import NotAnExpression, evaluate, is_expression
from shared.tasks.documents import ANSWER_KEY
from shared.tasks.split import Split, check_request, distinct, endless, split_of
from shared.tasks.tags import parse, tagged

NUMBERS = range(1, 11)
TARGETS = range(1, 61)
COUNTS = {2: 0.6, 3: 0.35, 4: 0.05}  # how many numbers a problem has, and how often
MAX_NEW_TOKENS = 64
# The longest way to a target: found by trying all problems.
LONGEST_ANSWERS = (tagged("10 * 10 = 100\n100 + 10 = 110\n110 / 10 = 11", "(10 * 10 + 10) / 10"),)
CHAT_SYSTEM_PROMPT = (
    f"{SYSTEM_PROMPT} Use each given number exactly once, with + - * / and brackets. The layout:\n"
    + tagged("your working", "the expression alone, without its result")
)
# A number above 10 is in no row.
CHAT_EXAMPLES = (
    ("Use 20 3 4 once each to make 32.", tagged("3 * 4 = 12\n20 + 12 = 32", "20 + 3 * 4")),
    ("Use 5 15 once each to make 10.", tagged("15 - 5 = 10", "15 - 5")),
)
OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv}
PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}
OF_A_NUMBER = 3  # its precedence: it never needs brackets
STEP = re.compile(r"(?P<sum>(?P<a>[0-9]{1,6}) [-+*/] (?P<b>[0-9]{1,6})) = (?P<result>[0-9]{1,6})")


def format_reward(prompts: Sequence[str], completions: Sequence[str], **columns) -> list[float]:
    """1.0 for both blocks with an expression alone in the answer, 0.5 when the answer holds anything else, else 0.0."""
    rewards = []
    for completion in completions:
        blocks = parse(completion)
        if blocks is None:  # a tag is missing or comes twice, or text stands around them
            rewards.append(0.0)
        elif is_expression(blocks[1]):
            rewards.append(1.0)
        else:
            rewards.append(0.5)
    return rewards


def correctness_reward(
    prompts: Sequence[str],
    completions: Sequence[str],
    numbers: Sequence[Sequence[int]],
    target: Sequence[int],
    **columns,
) -> list[float]:
    """1.0 where the format is kept and the expression solves the problem, else 0.0."""
    rewards = []
    for completion, given, goal in zip(completions, numbers, target):
        blocks = parse(completion)  # what stands in <think> and in <answer>
        rewards.append(float(blocks is not None and solves(blocks[1], given, goal)))
    return rewards


def reward(
    prompts: Sequence[str],
    completions: Sequence[str],
    numbers: Sequence[Sequence[int]],
    target: Sequence[int],
    **columns,
) -> list[float]:
    """The mean of format and correctness, from 0 to 1."""
    formats = format_reward(prompts, completions)
    corrects = correctness_reward(prompts, completions, numbers, target)
    return [(f + c) / 2 for f, c in zip(formats, corrects)]


def solves(expression: str, numbers: Sequence[int], target: int) -> bool:
    """The oracle: an expression that uses every given number exactly once, and nothing else, and equals the target."""
    try:
        value, used = evaluate(expression)
    except NotAnExpression:  # words, an equation, or a division by zero
        return False
    if sorted(used) != sorted(numbers):  # one is left out, used twice, or not given
        return False
    return value == target


@dataclass(frozen=True)
class Solution:
    """One way to combine numbers: the steps (a, operation, b, result) and the expression that they make."""

    steps: tuple[tuple[int, str, int, int], ...]
    expression: str

    @property
    def value(self) -> int:
        return self.steps[-1][3]

    @property
    def working(self) -> str:
        return "\n".join(f"{a} {op} {b} = {result}" for a, op, b, result in self.steps)


@dataclass(frozen=True)
class Problem:
    """The numbers in the order shown, the target, and a solution that proves it can be reached."""

    numbers: tuple[int, ...]
    target: int
    solution: Solution

    @property
    def canonical(self) -> str:
        return f"{' '.join(map(str, sorted(self.numbers)))} = {self.target}"

    @property
    def question(self) -> str:
        return f"Use {' '.join(map(str, self.numbers))} once each to make {self.target}."

    @property
    def prompt(self) -> str:
        return f"{SYSTEM_PROMPT}\n{self.question}\n"


class Part(NamedTuple):
    """A number, or an expression made of some, while numbers are combined; `precedence` is that of its last operation."""

    value: int
    text: str
    precedence: int


def combine(numbers: Sequence[int], rng: random.Random) -> Solution:
    """Combine all numbers in a random order with random operations, keeping every value a whole number above 0."""
    parts = [Part(number, str(number), OF_A_NUMBER) for number in rng.sample(list(numbers), len(numbers))]
    steps = []
    while len(parts) > 1:
        a = parts.pop(rng.randrange(len(parts)))
        b = parts.pop(rng.randrange(len(parts)))
        if a.value < b.value:
            a, b = b, a
        allowed = ["+", "*"]
        if a.value > b.value:
            allowed.append("-")
        if a.value % b.value == 0 and b.value > 1:
            allowed.append("/")
        op = rng.choice(allowed)
        value = OPERATIONS[op](a.value, b.value)
        steps.append((a.value, op, b.value, value))
        parts.append(Part(value, _join(a, op, b), PRECEDENCE[op]))
    return Solution(tuple(steps), parts[0].text)


def _join(a: Part, op: str, b: Part) -> str:
    """The expression `a op b`, with brackets only where the value needs them."""
    level = PRECEDENCE[op]
    left = f"({a.text})" if a.precedence < level else a.text
    right = f"({b.text})" if b.precedence < level or (b.precedence == level and op in "-/") else b.text
    return f"{left} {op} {right}"


def guess(numbers: Sequence[int], rng: random.Random) -> str:
    """A completion in the format that combines the numbers at random and never looks at the target."""
    solution = combine(numbers, rng)
    return tagged(solution.working, solution.expression)


def draw_problem(rng: random.Random, split: Split) -> Problem:
    """A problem of the split, with a solution by construction."""
    while True:
        count = rng.choices(list(COUNTS), list(COUNTS.values()))[0]
        numbers = tuple(rng.choices(NUMBERS, k=count))
        solution = combine(numbers, rng)
        problem = Problem(numbers, solution.value, solution)
        if problem.target in TARGETS and split_of(problem.canonical) == split:
            return problem


def dataset(split: Split, n: int, seed: int = 0) -> list[dict]:
    """n different problems, each with `prompt`, `question`, `numbers`, `target` and one solution as `answer`.

    Raises:
        ValueError: an unknown split, fewer than 1 row, or more rows than exist.
    """
    check_request(split, n)
    rng = random.Random(f"countdown {seed}")
    problems = distinct(endless(lambda: draw_problem(rng, split)), n, key=lambda p: p.canonical)
    return [
        {
            "prompt": p.prompt,
            "question": p.question,
            "numbers": list(p.numbers),
            "target": p.target,
            "answer": p.solution.expression,
        }
        for p in problems
    ]


def solved(row: dict) -> dict:
    """The row with a right completion, whose working is one line."""
    working = f"{row['answer']} = {row['target']}"
    return row | {"completion": tagged(working, row["answer"])}


def reachable(numbers: Sequence[int | Fraction], target: int) -> bool:
    """True if some expression that uses every number exactly once equals the target: all of them are tried."""
    if len(numbers) == 1:
        return numbers[0] == target
    for i, j in permutations(range(len(numbers)), 2):
        a = Fraction(numbers[i])
        b = Fraction(numbers[j])
        rest = [number for k, number in enumerate(numbers) if k not in (i, j)]
        results = [a + b, a - b, a * b] + ([a / b] if b else [])
        if any(reachable([*rest, result], target) for result in results):
            return True
    return False


def sound_lines(completion: str, numbers: Sequence[int], target: int) -> int:
    """The number of lines of the working before its first mistake; 0 for a completion without the format.

    A line `a + b = c` is sound when the equation holds, a and b are still unused, and the target can still be reached
    from c and what is left.
    """
    blocks = parse(completion)
    lines = [] if blocks is None else blocks[0].splitlines()
    left = [Fraction(number) for number in numbers]
    for count, line in enumerate(lines):
        step = STEP.fullmatch(line.strip())
        if step is None:
            return count
        a, b, result = (Fraction(int(step[name])) for name in ("a", "b", "result"))
        if not Counter([a, b]) <= Counter(left) or not solves(step["sum"], [int(a), int(b)], int(result)):
            return count
        left.remove(a)
        left.remove(b)
        left.append(result)
        if not reachable(left, target):
            return count
    return len(lines)


def documents(rng: random.Random) -> Iterator[str]:
    """Endless pretraining documents: solutions that are right, and attempts in several styles, most of them wrong."""
    while True:
        problem = draw_problem(rng, "train")
        if rng.random() < 0.6:
            attempt = problem.solution
            style = tagged
            header = ANSWER_KEY
        else:
            attempt = problem.solution if rng.random() < 0.25 else combine(problem.numbers, rng)
            style = rng.choices([style for style, _ in STYLES], [weight for _, weight in STYLES])[0]
            header = ""
        if not _adds_held_out_numbers(attempt):
            yield header + problem.prompt + style(attempt.working, attempt.expression)


# Ways to write an attempt down, from (working, expression), and how often a careless writer uses each.
STYLES = (
    (lambda working, expression: f"well, it is {expression}.", 0.52),
    (tagged, 0.19),
    (lambda working, expression: tagged(working, f"it is {expression}"), 0.09),
    (
        lambda working, expression: f"<think> {working} </think> <answer> {expression} </answer>".replace("\n", " "),
        0.06,
    ),
    (lambda working, expression: f"<think>\n{working}\n</think>\n{expression}", 0.05),
    (lambda working, expression: f"<answer>\n{expression}\n</answer>", 0.09),
)


def _adds_held_out_numbers(solution: Solution) -> bool:
    """True if a step is a sum that the addition task holds out for evaluation."""
    return any(
        op == "+" and min(a, b) in addition.OPERANDS and addition.pair_split(a, b) == "eval"
        for a, op, b, _ in solution.steps
    )
