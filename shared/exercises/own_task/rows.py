"""A check of rows as a data set, and of the function that makes them for training and for evaluation."""

import json
from collections.abc import Callable, Iterator, Sequence

from shared.exercises.calling import not_filled_in
from shared.exercises.judging import Verdict
from shared.exercises.own_task.flaws import Flaw, quoted, raised, verdict

NAME = "rows"
LEAST_DIFFERENT = 0.9  # share of the prompts of a split: nobody asks for none twice, and chance draws a few
LEAST_EVALUATION = 30  # rows: with fewer the 95 % interval of a rate of one half is wider than 0.36
ASKED = {"train": 100}  # rows of a split that are asked for; of every other one LEAST_EVALUATION
SEEDS = (0, 1, 2)
TRAIN = "train"
SPLITS = (TRAIN, "eval", "new")  # of the assignment; "new" is of a kind that training lacks


def verdict_on_rows(function: Callable, splits: Sequence[str]) -> Verdict:
    """The verdict on `f(split, n, seed) -> rows`. Never raises."""
    calls = _calls(splits)
    return verdict(NAME, lambda begun: judge_rows(function, splits, begun), lambda number: _in_words(*calls[number]))


def judge_rows(function: Callable, splits: Sequence[str], begun: Callable[[int], None]) -> tuple[str, list[str]]:
    """The text of a right one. Raises Flaw."""
    made = {}
    for number, call in enumerate(_calls(splits)):
        begun(number)
        made[call] = _made(function, *call)
    begun(0)
    for call in (_calls(splits)[0], _calls(splits)[-1]):
        if _made(function, *call) != made[call]:
            raise Flaw(
                f"it gives other rows when it is called again with {_in_words(*call)}. Draw from `random.Random(seed)` of "
                "your own, and loop over lists, not over sets: a run that cannot be repeated shows nothing."
            )
    first, second = (made[call] for call in _calls(splits)[:2])
    if first == second:
        raise Flaw("the seed changes nothing: seeds 0 and 1 give the same rows. Shuffle or draw with it.")
    columns = first[0].keys()
    for call, rows in made.items():
        if rows[0].keys() != columns:
            raise Flaw(f"split {call[0]!r} has the columns {sorted(rows[0])}, and 'train' has {sorted(columns)}.")
    trained_on = {row["prompt"] for call, rows in made.items() if call[0] == TRAIN for row in rows}
    for call, rows in made.items():
        if call[0] != TRAIN:
            require_disjoint(trained_on, rows)
    doubles = sum(len(rows) - len({row["prompt"] for row in rows}) for rows in made.values())
    also = f" {doubles} prompts come twice, which is no more evidence." if doubles else ""
    as_they_are = f"{len(made)} data sets of {len(splits)} splits, as they should be; none is trained on and held out."
    return as_they_are + also, ["doubles"] if doubles else []


def require_disjoint(trained_on: set[str], held_out: Sequence[dict]) -> None:
    """Raises Flaw where a prompt is in both."""
    both = trained_on & {row["prompt"] for row in held_out}
    if both:
        raise Flaw(
            f"{len(both)} prompts are trained on and held out, such as {quoted(min(both))}: what is measured on them may be "
            "remembered. Split by what a prompt asks, for instance by a hash of it."
        )


def flaws_of_form(name: str, rows: object) -> Iterator[str]:
    """The flaws of a list of rows as such: its type, its prompts, its columns."""
    if not isinstance(rows, (list, tuple)):
        yield f"{name} rows are no list. Is the `return` missing?"
        return
    for number, row in enumerate(rows):
        if not isinstance(row, dict) or not isinstance(row.get("prompt"), str) or not row["prompt"]:
            yield f"{name} row {number} has no text under 'prompt'."
            return
        if row.keys() != rows[0].keys():
            yield f"{name} row {number} has the columns {sorted(row)}, and row 0 has {sorted(rows[0])}."
            return
        if {"prompts", "completions"} & row.keys():
            yield f"{name} row {number} has a column 'prompts' or 'completions', which the reward gets already."
            return
        if not _is_plain(row):
            yield (
                f"{name} row {number} holds something besides texts, numbers and lists of them: a data set cannot keep it."
            )
            return


def _is_plain(row: dict) -> bool:
    try:
        return json.loads(json.dumps(row)) == row
    except (TypeError, ValueError, RecursionError):
        return False


def _calls(splits: Sequence[str]) -> list[tuple[str, int, int]]:
    """Split, number of rows and seed of every call; the first two differ in the seed alone."""
    return [(split, ASKED.get(split, LEAST_EVALUATION), seed) for split in splits for seed in SEEDS]


def _in_words(split: str, n: int, seed: int) -> str:
    return f'split "{split}", n {n}, seed {seed}'


def _made(function: Callable, split: str, n: int, seed: int) -> list[dict]:
    """The rows of one call. Raises Flaw."""
    where = _in_words(split, n, seed)
    try:
        rows = function(split, n, seed)
    except NotImplementedError as error:
        raise Flaw(f"{not_filled_in(error)}.") from error
    except Exception as error:
        raise Flaw(f"it raised {raised(error)} for {where}.") from error
    for flaw in flaws_of_form(split, rows):
        raise Flaw(f"{flaw} This happens for {where}.")
    if len(rows) != n:
        raise Flaw(f"it gives {len(rows)} rows for {where}.")
    different = len({row["prompt"] for row in rows})
    if different < LEAST_DIFFERENT * n:
        raise Flaw(
            f"only {different} of {n} prompts are different for {where}. The same prompt twice is no more evidence: draw "
            "until they differ, or make more of them."
        )
    return list(rows)
