"""Formulas as browsers show them: names at their distance, letters of other alphabets, a font that stretches."""

import re

import pytest

from checker.pages.formulas import mathml, unbroken

DISPLAY = "\\displaystyle"
SPACE = '<mspace width="0.167em" />'


def shown(tex: str) -> str:
    """The inside of a formula's MathML."""
    return re.fullmatch(r"<math [^>]*>(.*)</math>", mathml(tex, False))[1]


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"\log p", f"<mrow><mi>log</mi>{SPACE}<mi>p</mi></mrow>"),
        (r"2\log p", f"<mrow><mn>2</mn>{SPACE}<mi>log</mi>{SPACE}<mi>p</mi></mrow>"),
        (r"\log(p)", '<mrow><mi>log</mi><mo stretchy="false">(</mo><mi>p</mi><mo stretchy="false">)</mo></mrow>'),
        (r"\operatorname{std}r", f"<mrow><mi>std</mi>{SPACE}<mi>r</mi></mrow>"),
        (r"-\log p", f"<mrow><mo>−</mo><mi>log</mi>{SPACE}<mi>p</mi></mrow>"),
        (r"\max_a Q", f"<mrow><msub><mi>max</mi><mi>a</mi></msub>{SPACE}<mi>Q</mi></mrow>"),
        (r"\log^2 p", f"<mrow><msup><mi>log</mi><mn>2</mn></msup>{SPACE}<mi>p</mi></mrow>"),
        (r"\max\limits_a Q", f"<mrow><munder><mi>max</mi><mi>a</mi></munder>{SPACE}<mi>Q</mi></mrow>"),
        (r"\max\limits^b Q", f"<mrow><mover><mi>max</mi><mi>b</mi></mover>{SPACE}<mi>Q</mi></mrow>"),
        (
            r"\max\limits_a^b Q",
            f"<mrow><munderover><mi>max</mi><mi>a</mi><mi>b</mi></munderover>{SPACE}<mi>Q</mi></mrow>",
        ),
        (r"\log_2^3 p", f"<mrow><msubsup><mi>log</mi><mn>2</mn><mn>3</mn></msubsup>{SPACE}<mi>p</mi></mrow>"),
        (r"\log {pq}", f"<mrow><mi>log</mi>{SPACE}<mrow><mi>p</mi><mi>q</mi></mrow></mrow>"),
        ("ab", "<mrow><mi>a</mi><mi>b</mi></mrow>"),
    ],
)
def test_the_name_of_a_function_keeps_its_distance(tex, expected):
    """Catches "logp" as one word, a space before a bracket or a sign, and wide ones around a name read as an operator."""
    assert shown(tex) == expected


def test_a_bracket_that_grows_keeps_no_distance_from_the_name_before_it():
    """Catches a space in front of a bracket that is written with `\\left`, which is a row of its own."""
    assert "mspace" not in shown(r"\log\left(\frac{p}{q}\right)")


@pytest.mark.parametrize(
    "tex", ["\\max_a Q", "\\operatorname*{argmin}_x f", "\\lim^b a", "\\sup_a^b c", "\\displaystyle\\max_a Q"]
)
def test_limits_stand_below_where_there_is_room(tex):
    """Catches a maximum over a whose a stands beside it in a formula of its own, and below it in a fraction."""
    below = re.compile("<(munder|mover|munderover)>")
    assert below.search(mathml(tex, True)) and not below.search(
        mathml(f"\\frac{{{tex.removeprefix(DISPLAY)}}}{{2}}", True)
    )
    assert bool(below.search(mathml(tex, False))) == tex.startswith(DISPLAY)


@pytest.mark.parametrize(
    ("tex", "letter"),
    [(r"\mathbb{E}", "𝔼"), (r"\mathbb E", "𝔼"), (r"\mathbb R", "ℝ"), (r"\mathbb{1}", "𝟙"), (r"\mathcal L", "ℒ"), (r"\mathbf x", "𝐱")],
)  # fmt: skip
def test_letters_of_other_alphabets_are_characters(tex, letter):
    """Catches an expectation in italics: browsers know no `mathvariant` but one."""
    assert re.sub("<[^>]*>", "", shown(tex)) == letter


@pytest.mark.parametrize(
    ("tex", "forms"),
    [
        (r"\frac{1}{B|o_i|}", [["prefix"], ["postfix"]]),
        ("1 + |v - f(t)| + |x|", [["prefix"], ["postfix"]] * 2),
        (r"\pi(y|x) + \pi(a|b)", [[], []]),
        ("p(y|x)", [[]]),
    ],
)
def test_bars_of_an_absolute_value_are_brackets(tex, forms):
    """Catches the wide spaces of a condition inside |v|, and two conditions that are taken for one pair."""
    bars = re.findall(r"<mo([^>]*)>\|</mo>", shown(tex))
    assert [re.findall('form="(.*?)"', bar) for bar in bars] == forms


def test_a_full_stop_stays_at_its_formula():
    """Catches a line that begins with a full stop or ends in a bracket, and formulas that are changed without need."""
    made = [mathml("x", display) for display in (False, True)]
    page = f"<p>Where ({made[0]}), {made[0]} and {made[0]}. {made[1]}.</p>"
    whole = unbroken(page)
    together = re.findall('<span class="unbroken">(.*?)</span>', whole)
    assert together == [f"({made[0]}),", f"{made[0]}."]
    assert re.sub("</?span[^>]*>", "", whole) == page
