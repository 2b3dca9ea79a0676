"""The numbers that a notebook's analysis claims.

Claimed is every decimal, every percentage and every whole number of two or more digits, each with its sign. Not claims
are: what stands in code, in formulas or in a link (a number with a link comes from elsewhere, and the link says from
where), years of publications, the numbers of cells, and numbers written as words. Where a sentence names a cell, what
it claims is claimed of that cell.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?"
SIGN = r"(?:(?<![\w.])[-+−])?"  # the hyphen of "3-4" is none
NUMBER = re.compile(rf"(?<![\w.,^])({SIGN}{DIGITS})(\s*%)?(?!\w|[.,]\d)")
CELLS = re.compile(r"\b[Cc]ells? (\d(?:(?:, | and | to )\d)*)")
SENTENCE_ENDS = re.compile(r"[.!?][\"')\]*]*\s+(?=[A-Z0-9\"'(*$\[`<])|\n\s*\n")
NO_CLAIM = re.compile(
    r"<!--.*?-->"  # the markers of answers
    r"|```.*?```|`[^`\n]*`"  # code
    r"|\$\$.*?\$\$|\$[^$\n]+\$"  # formulas
    r"|!?\[[^\]]*\]\([^)]*\)|<https?:[^>]*>|arXiv:\S+"  # from elsewhere, and it says from where
    r"|\b(?:et al\.|[A-Z]\w+),? \(?(?:19|20)\d\d\b"  # Schulman 2020
    rf"|{CELLS.pattern}",
    re.DOTALL,
)


@dataclass(frozen=True)
class Claim:
    """A number of an analysis: as it is `written`, where it `starts` in the text, what it says and how exactly.

    All of them begin with the sign where there is one.
    """

    written: str
    starts: int
    value: float
    decimals: int  # of the number itself: 2 for 0.85, 4 for 3.0e-3
    percent: bool

    def agrees_with(self, printed: str) -> bool:
        """Is this the printed number, rounded to the claim's decimals? In per cent, a printed share counts too."""
        value, decimals = value_of(printed)
        if self._rounds(value, decimals):
            return True
        return self.percent and self._rounds(100 * value, decimals - 2)

    def _rounds(self, value: float, decimals: int) -> bool:
        half = 0.5 * 10.0**-self.decimals * (1 + 1e-9)
        return decimals >= self.decimals and abs(value - self.value) <= half


def claims(analysis: str) -> list[Claim]:
    """All claims of an analysis (the Markdown of Cell 8), in order."""
    plain = NO_CLAIM.sub(lambda match: " " * len(match.group()), analysis)
    found = [claim_of(match) for match in NUMBER.finditer(plain)]
    return [claim for claim in found if claim.decimals > 0 or claim.percent or abs(claim.value) >= 10]


def claim_of(match: re.Match) -> Claim:
    value, decimals = value_of(match.group(1))
    return Claim(match.group(1), match.start(1), value, decimals, match.group(2) is not None)


def value_of(written: str) -> tuple[float, int]:
    """A number, and to how many decimals it is known: ("-1,200.50") gives -1200.5 and 2."""
    plain = written.replace(",", "").replace("−", "-")
    mantissa, _, exponent = plain.partition("e")
    decimals = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return float(plain), decimals


def cells_named(analysis: str, place: int) -> tuple[int, ...]:
    """The numbers of the cells that are named in the sentence at a place of the text; () for none."""
    ends = _ends_of_sentences(analysis)
    after = bisect_right(ends, place)
    named = CELLS.findall(analysis[ends[after - 1] : ends[after]])
    return tuple(sorted({number for cells in named for number in _numbers_of(cells)}))


@lru_cache(maxsize=4)
def _ends_of_sentences(analysis: str) -> tuple[int, ...]:
    """The places where one sentence ends and the next begins, and the beginning and the end of the text."""
    return (0, *(match.end() for match in SENTENCE_ENDS.finditer(analysis)), len(analysis) + 1)


def _numbers_of(cells: str) -> list[int]:
    """ "4, 6 and 7" is 4, 6 and 7; "4 to 7" is all from 4 to 7."""
    numbers = [int(digit) for digit in re.findall(r"\d", cells)]
    return list(range(numbers[0], numbers[-1] + 1)) if " to " in cells else numbers
