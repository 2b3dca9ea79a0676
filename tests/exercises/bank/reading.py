"""The blocks of the bank: who wrote them, what they are said to be, and in which half they lie."""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

HERE = Path(__file__).parent
LITERAL = HERE.parent / "literal"  # where the right functions of the same readers lie
FIRST = range(1, 11)  # the readers of the first bank
LATER = {
    "second": range(11, 16),
    "third": range(16, 21),
    "fourth": range(21, 23),
    "fifth": range(23, 24),
    "sixth": range(24, 25),
    "seventh": range(25, 33),
    "eighth": range(33, 36),
}  # the readers of each later bank
SEED = "2026-11-23"
HEAD = re.compile(r"^# === (wrong|right) \| ([^|\n]+) \| ([^|\n]+) \| (.+)$", re.MULTILINE)
HALVES = ("mend", "held_out")


@dataclass(frozen=True)
class Block:
    """One function. said: "wrong" or "right". words: the mistake, or the style, in its author's words."""

    said: str
    chapter: str
    check: str
    words: str
    source: str

    @cached_property
    def name(self) -> str:
        """A short name that stays the same whatever else is in the bank."""
        return f"{self.check}-{hashlib.sha256(self.source.encode()).hexdigest()[:6]}"

    @property
    def half(self) -> str:
        """By a draw that two functions share which are equal but for the names in them."""
        drawn = hashlib.sha256(f"{SEED} {without_names(self.source)}".encode()).digest()
        return HALVES[drawn[0] % 2]


def banks() -> dict[str, list[Block]]:
    """The blocks of each half of the first bank and of each later one, but for those that an earlier one has."""
    first = different(folder / f"reader_{number}.txt" for folder in (HERE, LITERAL) for number in FIRST)
    seen = set(map(key, first))
    found = {half: [block for block in first if block.half == half] for half in HALVES}
    for bank, readers in LATER.items():
        paths = (HERE / "later" / f"reader_{number}.txt" for number in readers)
        found[bank] = [block for block in different(paths) if key(block) not in seen]
        seen.update(map(key, found[bank]))
    return found


def different(paths: Iterable[Path]) -> list[Block]:
    """The blocks in these files, of equal ones the first. A reader may have written no wrong ones, or no right ones."""
    found = {}
    for path in filter(Path.exists, paths):
        for block in blocks_of(path):
            found.setdefault(key(block), block)
    return list(found.values())


def key(block: Block) -> tuple[str, str]:
    """Equal for two functions that differ in names alone."""
    return block.check, without_names(block.source)


def blocks_of(path: Path) -> Iterator[Block]:
    text = path.read_text(encoding="utf-8")
    heads = list(HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends):
        said, chapter, check, words = map(str.strip, head.groups())
        yield Block(said, chapter, check, words, text[head.end() : end].strip() + "\n")


@cache
def without_names(source: str) -> str:
    """The tree of a function in which the names that it makes itself are numbered."""
    tree = ast.parse(source)
    numbers: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            numbers.setdefault(node.arg, str(len(numbers)))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            numbers.setdefault(node.id, str(len(numbers)))
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.arg, node.annotation = numbers[node.arg], None
        if isinstance(node, ast.Name):
            node.id = numbers.get(node.id, node.id)
    return ast.dump(tree)
