"""The split of an item, decided by the item alone.

A stable hash of the canonical item decides, not a shuffle: pretraining, training and evaluation then agree on it
without talking to each other, in every process and for every seed.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

Split = Literal["train", "eval"]
EVAL_FRACTION = 0.2


def split_of(item: str, eval_fraction: float = EVAL_FRACTION) -> Split:
    """ "eval" for so many of all items, by their SHA-256 hash, else "train". `item` is in its canonical form."""
    number = int.from_bytes(hashlib.sha256(item.encode()).digest()[:8], "big")
    return "eval" if number < eval_fraction * 2**64 else "train"


def check_request(split: str, n: int) -> None:
    """Refuse what no `dataset(split, n)` can give: ValueError unless the split exists and n is at least 1."""
    if split not in ("train", "eval"):
        raise ValueError(f'The split {split!r} does not exist; choose "train" or "eval".')
    if n < 1:
        raise ValueError(f"{n} rows were asked for; ask for at least 1.")


def endless(draw: Callable[[], object]) -> Iterator:
    """One draw after another, without end."""
    while True:
        yield draw()


def distinct(draws: Iterable, n: int, key: Callable[..., str], patience: int = 2000) -> list:
    """The first n draws that differ in `key`.

    Raises:
        ValueError: `patience` draws in a row brought nothing new, so there are hardly n different ones.
    """
    found = {}
    idle = 0
    for draw in draws:
        if key(draw) in found:
            idle += 1
            if idle == patience:
                raise ValueError(
                    f"{n} different rows were asked for, and only about {len(found)} exist. Ask for fewer."
                )
            continue
        found[key(draw)] = draw
        idle = 0
        if len(found) == n:
            return list(found.values())
    raise ValueError(f"{n} different rows were asked for, and only {len(found)} exist. Ask for fewer.")
