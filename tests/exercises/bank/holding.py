"""Hold functions of the bank against the checks.

python -m tests.exercises.bank.holding mend              what is said to each of this half
python -m tests.exercises.bank.holding mend CHECK ...    of these checks
python -m tests.exercises.bank.holding third CHECK ...   the same of a later bank
"""

import argparse
import ast
import linecache
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import yaml

from shared.check import EXERCISES
from shared.exercises.judging import Verdict
from shared.exercises.process import verdict_on
from tests.exercises.bank.reading import HALVES, HERE, LATER, Block, banks
from tests.exercises.test_notebooks import NOTEBOOKS, is_check, is_needed, statements_of

OUTCOMES = ("named by a slip", "named by a fact", "unnamed", "accepted")
FACTS = ("the value is right", "it gives the shape", "it gives nan", "whatever it gets", "in place", "at a ratio of")


@dataclass(frozen=True)
class Held:
    """A block with its verdict and the seconds that it took."""

    block: Block
    verdict: Verdict
    seconds: float

    @property
    def outcome(self) -> str:
        """One of OUTCOMES: a slip, a fact such as an error or a wrong shape, two numbers alone, or nothing."""
        if self.verdict.passed:
            return "accepted"
        if self.verdict.slips:
            return "named by a slip"
        text = self.verdict.text
        bare = text.startswith(("For ", "It gives", "At ")) and not any(fact in text for fact in FACTS)
        return "unnamed" if bare else "named by a fact"


@cache
def statements(chapter: str) -> list:
    """The compiled definitions of a worked notebook: what a function of it finds beside itself."""
    path = next(path for path in NOTEBOOKS if path.stem == chapter)
    needed = [statement for statement in statements_of(path) if is_needed(statement) and not is_check(statement)]
    return [compile(ast.Module([statement], []), path.name, "exec") for statement in needed]


def function_of(block: Block) -> Callable:
    """The function of a block, among the names of its notebook; its source is at hand, as that of a cell is."""
    variables = {"__name__": "__main__"}
    for code in statements(block.chapter):
        with suppress(NameError):
            exec(code, variables)
    linecache.cache[block.name] = (len(block.source), None, block.source.splitlines(True), block.name)
    exec(compile(block.source, block.name, "exec"), variables)
    return variables[EXERCISES[block.check].function]


def held(block: Block) -> Held:
    """The verdict on a block."""
    function = function_of(block)
    start = time.monotonic()
    return Held(block, verdict_on(EXERCISES[block.check], function), time.monotonic() - start)


def corrections() -> dict[str, str]:
    """By the block's name the reason why it is not what its author said."""
    return yaml.safe_load((HERE / "corrections.yml").read_text(encoding="utf-8")) or {}


def unnamed() -> dict[str, str]:
    """By the block's name the mistake that no slip names and no fact."""
    return yaml.safe_load((HERE / "unnamed.yml").read_text(encoding="utf-8")) or {}


def told(one: Held) -> str:
    """A block, the mistake that its author names and what the check says."""
    block = one.block
    return f"[{block.name}] {block.said}: {block.words}\n    {one.outcome}: {one.verdict.line}"


def tally(found: list[Held]) -> dict:
    """Counts of how the wrong ones ended, the names of right ones refused and wrong ones accepted, and the time."""
    corrected = corrections()
    as_said = [one for one in found if one.block.name not in corrected]
    wrong = [one for one in as_said if one.block.said == "wrong"]
    right = [one for one in as_said if one.block.said == "right"]
    seconds = sorted(one.seconds for one in found)
    return {
        "wrong": len(wrong),
        **{outcome: sum(one.outcome == outcome for one in wrong) for outcome in OUTCOMES},
        "right": len(right),
        "without a name": [one.block.name for one in wrong if one.outcome == "unnamed"],
        "refused": [one.block.name for one in right if not one.verdict.passed],
        "passing": [one.block.name for one in wrong if one.verdict.passed],
        "corrected": len(found) - len(as_said),
        "median": round(seconds[len(seconds) // 2], 2),
        "slowest": round(seconds[-1], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bank", choices=[*HALVES, *LATER], help="a half of the first bank, or a later one")
    parser.add_argument("checks", nargs="*", help="these alone; all of them if none is named")
    options = parser.parse_args()
    found = []
    for block in banks()[options.bank]:
        if not options.checks or block.check in options.checks:
            found.append(held(block))
            print(told(found[-1]), flush=True)
    print(tally(found))


if __name__ == "__main__":
    main()
