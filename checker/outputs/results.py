"""The results in a notebook's outputs: rewards before and after, log lines, hand-made cases, examples.

People print these in many ways. Everything here is lenient: it says that something is missing only when no
usual way of printing it is there.
"""

import math
import re

from checker.reading.convert import plain
from checker.reading.layout import sections
from checker.reading.notebook import Notebook

NUMBER = re.compile(
    r"(?<![\w.\-–])[-+]?\d++(?:\.\d++)?+(?:e[-+]?\d++)?+(?![\w.]*\w)\s*%?|(?<![\w.\-–])[-+]?\d++\.(?!\d)",
    re.IGNORECASE,
)
BASELINE = re.compile(r"\b(?:baseline|base|before|untrained|initial|pre-?trained|pre-training)\b", re.IGNORECASE)
TUNED = re.compile(
    r"\b(?:fine[- ]?tuned|finetuned|tuned|after|(?<!pre-)(?<!pre)trained|post-training|grpo|final)\b",
    re.IGNORECASE,
)
MEASURE = re.compile(r"reward|accura|score|success|correct|mean|average", re.IGNORECASE)
REWARD = re.compile(r"(?:reward|\brew\b|mean_r)", re.IGNORECASE)
LOSS = re.compile(r"loss", re.IGNORECASE)
REWARDED = re.compile(r"(?:reward|score)\w*\W{0,12}?-?\d", re.IGNORECASE)
VERDICT = re.compile(r"[ \t]*[✓✗○]")  # a check's line
LINE = 1_000  # characters of a line that are read
DIGIT = re.compile(r"\d")


def rewards(notebook: Notebook) -> tuple[float | None, float | None]:
    """Baseline and fine-tuned reward as the outputs of Cell 7 print them, None for what is not found.

    Read are `baseline reward 0.25` (also `before`, `base model`, ...) and `fine-tuned reward 0.97` (also
    `after`, `trained`, ...), on two lines or one, `0.25 -> 0.97` after both words, and a table with both
    words in its head.
    """
    cells = sections(notebook).get(7) or list(notebook.code_cells)[-1:]
    lines = [line[:LINE] for line in plain("\n".join(cell.text_output for cell in cells)).splitlines()]
    found: dict[str, float] = {}
    for position, line in enumerate(lines):
        if not BASELINE.search(line) and not TUNED.search(line):
            continue
        for which, value in _in_line(line, lines[position + 1 : position + 4]).items():
            if math.isfinite(value):
                found.setdefault(which, value)
    return found.get("baseline"), found.get("tuned")


def _in_line(line: str, following: list[str]) -> dict[str, float]:
    """The values that one line gives, under "baseline" and "tuned"."""
    marks = sorted(
        [(m.start(), "baseline") for m in BASELINE.finditer(line)]
        + [(m.start(), "tuned") for m in TUNED.finditer(line)]
    )
    kinds = list(dict.fromkeys(which for _, which in marks))
    ends = [start for start, _ in marks[1:]] + [len(line)]
    parts = {}
    for (start, which), end in zip(marks, ends):
        value = _value(line[start:end], bool(MEASURE.search(line)))
        if value is not None:
            parts.setdefault(which, value)
    if len(kinds) == 1 or len(parts) == 2:
        return parts
    behind = _numbers(line[marks[-1][0] :])
    if len(behind) >= 2:
        return dict(zip(kinds, behind, strict=False))
    for row in () if NUMBER.search(line) else following:
        values = _below(line, kinds, row)
        if values:
            return values
    return parts


def _below(head: str, kinds: list[str], row: str) -> dict[str, float]:
    """The number in a table's row below the first word of each kind; the first numbers in order where that is
    unclear.

    A row may begin with a number that names it. Its columns tell: a number belongs to the word that it stands under.
    """
    numbers = list(NUMBER.finditer(row))
    if len(numbers) < 2:
        return {}
    words = [(BASELINE if kind == "baseline" else TUNED).search(head) for kind in kinds]
    nearest = [min(numbers, key=lambda number: _distance(number, word)) for word in words]
    if len(set(nearest)) < len(nearest):
        nearest = numbers
    return {kind: _numbers(number[0])[0] for kind, number in zip(kinds, nearest, strict=False)}


def _distance(one: re.Match, other: re.Match) -> int:
    """The distance in places between a number of one line and a word of another; 0 where one stands over the other."""
    one_ends = one.start() + len(one[0].rstrip())
    return max(0, one.start() - other.end(), other.start() - one_ends)


def _numbers(text: str) -> list[float]:
    return [float(m[0].rstrip("% \t")) / (100 if "%" in m[0] else 1) for m in NUMBER.finditer(text)]


def _value(text: str, is_measure: bool) -> float | None:
    """The first number with a point, else the first percentage, else a measure's first whole number."""
    matches = [m[0] for m in NUMBER.finditer(text)]
    chosen = next((m for m in matches if "." in m), None) or next((m for m in matches if "%" in m), None)
    chosen = chosen or (matches[0] if matches and is_measure else None)
    return _numbers(chosen)[0] if chosen else None


def log_lines(text: str) -> list[str]:
    """The lines of a training log: those with reward, loss and numbers, or the rows of such a table."""
    lines = [line for line in text.splitlines() if line.strip()]
    both = [line for line in lines if REWARD.search(line) and LOSS.search(line)]
    logged = [line for line in both if DIGIT.search(line)]
    if logged:
        return logged
    if both:
        return [line for line in lines[lines.index(both[0]) + 1 :] if len(_numbers(line)) >= 2]
    of_reward = [line for line in lines if REWARD.search(line) and DIGIT.search(line)]
    of_loss = [line for line in lines if LOSS.search(line) and DIGIT.search(line)]
    return min(of_reward, of_loss, key=len)


def cases(text: str) -> list[str]:
    """The lines of hand-made cases, one a case: those that show a reward, else those with a number.

    What a check says is no case; cases that all have one value show nothing.
    """
    lines = [line for line in text.splitlines() if DIGIT.search(line) and not VERDICT.match(line)]
    kept = "\n".join(lines)
    named = re.findall(r"rewards?\W{0,12}?(-?\d+(?:\.\d+)?)", kept, re.IGNORECASE)
    alike = len(named) >= 2 and len(set(map(float, named))) == 1
    if alike or len(set(re.findall(r"-?\d+(?:\.\d+)?", kept))) < 2:
        return []
    rewarded = [line for line in lines if REWARDED.search(line)]
    return rewarded if len(rewarded) >= 2 else lines


def examples(text: str) -> int:
    """The number of examples an evaluation prints: by the word prompt, else by the lines beside the comparison."""
    lines = [line for line in text.splitlines() if re.search(r"\w", line)]
    labelled = re.findall(r"\bprompt\b(?=\W*\S)", text, re.IGNORECASE)
    if len(labelled) > 1:
        return len(labelled)
    return sum(not (BASELINE.search(line) and TUNED.search(line)) and not _is_comparison(line) for line in lines)


def _is_comparison(line: str) -> bool:
    return bool((BASELINE.search(line) or TUNED.search(line)) and MEASURE.search(line) and NUMBER.search(line))
