"""The blocks of the bank: who wrote them, what they are said to be, and in which half they lie."""

import ast
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

HERE = Path(__file__).parent
LITERAL = HERE.parent / "literal"  # where the right functions of the same readers lie
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


def blocks(half: str | None = None) -> list[Block]:
    """The blocks of one half, or all of them; of equal ones the first."""
    found = {}
    for path in sorted([*HERE.glob("reader_*.txt"), *LITERAL.glob("reader_*.txt")]):
        for block in blocks_of(path):
            found.setdefault((block.check, without_names(block.source)), block)
    return [block for block in found.values() if half in (None, block.half)]


def blocks_of(path: Path) -> Iterator[Block]:
    text = path.read_text(encoding="utf-8")
    heads = list(HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends):
        said, chapter, check, words = map(str.strip, head.groups())
        yield Block(said, chapter, check, words, text[head.end() : end].strip() + "\n")


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
