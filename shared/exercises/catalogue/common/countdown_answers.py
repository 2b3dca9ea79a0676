"""Drawn contents of the answer block, for both rewards of countdown."""

from shared.exercises.drawing import HOSTILE, Draw
from shared.tasks.arithmetic import NotAnExpression
from shared.tasks.arithmetic import evaluate as value_of
from shared.tasks.tags import parse, tagged

NUMBERS = [3, 8, 2]
TARGET = 22
EXPRESSIONS = (
    "3 * 8 - 2",
    "(8*3)-2",
    "3 + 8 * 2",
    "22",
    "8 * 3",
    "3 * 8 - 1 - 1",
    "3 * 8 - 2 + 2 - 2",
    "38 - 16",
    "20 + 1 + 1",
    "8 / 3 * 3",
    "3 - 8 - 2",
    "3 * 8 + 2",
    "4 + 1 / 2",
)
NO_EXPRESSIONS = (
    "3 * 8 - 2 = 22",
    "it is 3 * 8 - 2",
    "8 / (3 - 3)",
    "9 ** 9 ** 9 ** 9",
    "99999999999999999999 - 2",
    "(" * 300 + "3 * 8 - 2" + ")" * 300,
    "３ * ８ - ２",
    "open('grades.csv', 'w')",
    "3 * 8 -",
    "3 * 8 - 2\n3 * 8 - 2",
    "3 * 8 - 2\nis 22",
)
KEPT = tagged("so", "3 * 8 - 2")
THOUGHT = (tagged("3 * 8 - 2", "it is 22"), tagged("3 * 8", "3 * 8 - 2"), tagged("3 * 8 - 2", "3 * 8"))
OUTSIDE = (
    "3 * 8 - 2",
    "<answer>\n3 * 8 - 2\n</answer>",
    "<think> so </think> <answer> 3 * 8 - 2 </answer>",
    f"{KEPT}\nI hope this helps.",
    f"Sure! {KEPT}",
    KEPT + KEPT,
    KEPT[:-1],
    KEPT.upper(),
    "",
)


def expression_in(completion: str) -> tuple | None:
    """(value, numbers) of the answer block where it holds an expression alone, else None."""
    blocks = parse(completion)
    return None if blocks is None else expression_of(blocks[1])


def expression_of(text: str) -> tuple | None:
    """(value, numbers) of a text that is an expression, else None."""
    try:
        return value_of(text)
    except NotAnExpression:
        return None


def said() -> list[str]:
    """Every kind of completion."""
    in_blocks = [tagged("so", answer) for answer in (*EXPRESSIONS, *NO_EXPRESSIONS)]
    return [*in_blocks, *THOUGHT, *OUTSIDE, *HOSTILE]


def drawn(draw: Draw) -> str:
    return draw.choice([tagged("so", draw.choice(EXPRESSIONS)), draw.choice(said())])
