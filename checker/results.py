"""What a notebook's outputs say about its results: baseline and fine-tuned reward."""

import re

from checker.convert import plain
from checker.layout import sections
from checker.notebook import Notebook

NUMBER = r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\s*(%?)"
GAP = r"[^\d\n+-]{0,40}?"
BASELINE = re.compile(
    rf"\b(?:baseline|base model|base|before|untrained|pretrained)\b{GAP}{NUMBER}", re.IGNORECASE
)
TUNED = re.compile(rf"\b(?:fine-?\s?tuned|tuned|after|trained)\b{GAP}{NUMBER}", re.IGNORECASE)


def rewards(notebook: Notebook) -> tuple[float | None, float | None]:
    """Baseline and fine-tuned reward as the outputs of Cell 7 print them, None for what is not found."""
    cells = sections(notebook).get(7) or list(notebook.code_cells)[-1:]
    text = plain("\n".join(cell.text_output for cell in cells))
    return _first(BASELINE, text), _first(TUNED, text)


def _first(pattern: re.Pattern, text: str) -> float | None:
    match = pattern.search(text)
    if match is None:
        return None
    return float(match[1]) / (100 if match[2] else 1)
