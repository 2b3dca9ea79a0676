"""Formulas in a line of Markdown: those that Pandoc or Jupyter reads, and prices, which are none."""

import pytest

from checker.reading.prose.spans import outside, spans


def found(text: str) -> list[str]:
    return [span.tex for span in spans(text) if span.tex is not None]


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("$a\n+ b$", ["a\n+ b"]),
        ("the $k$th, $x$s", ["k", "x"]),
        ("2$^{nd}$ of 10$\\times$", ["^{nd}", "\\times"]),
        ("28$\\times$28", ["\\times"]),
        ("$ \\alpha $ and $ n $ and $x = 1 $", [" \\alpha ", " n ", "x = 1 "]),
        ("$f$$g$", ["f", "g"]),
        ("$\\text{if $x$ is}$ and $y$", ["\\text{if $x$ is}", "y"]),
        ("$$a$$ b $$c$$", ["a", "c"]),
        ("\\\\(a\\\\) and \\\\[b\\\\]", ["a", "b"]),
        ("\\begin{align}a\\end{align}", ["\\begin{align}a\\end{align}"]),
        ("\\begin{cases}\\begin{cases}a\\end{cases}\\end{cases} $b$", ["\\begin{cases}\\begin{cases}a\\end{cases}\\end{cases}", "b"]),
        ("$5 and $6", []),
        ("$5-$6", []),
        ("US$5 to $10 for x_1", []),
        ("\\$a$ b", []),
        ("$a \\$ b$", ["a \\$ b"]),
        ("`$a$` $b$ ``x`$c$``", ["b"]),
        ("$a\n\nb$", []),
        ("$$a\n\nb$$", []),
        ("$$$$", []),
        ("\\begin{itemize}a\\end{itemize}", []),
        ("\\begin{align}a", []),
    ],
)  # fmt: skip
def test_formulas_are_found_and_prices_are_none(text, formulas):
    """Catches a form of published notebooks that is not known, and money, code and open ends taken for formulas."""
    assert found(text) == formulas


def test_what_is_outside_of_code_and_formulas_is_kept():
    assert outside("a `b` c $d$ e \\begin{x} f") == "a  c  e \\begin{x} f"
