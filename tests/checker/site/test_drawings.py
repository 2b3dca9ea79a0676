"""Drawings say what the formulas say, and every one of them stands on a page."""

import re
from html import unescape
from pathlib import Path

import pytest

from checker.site.pieces import drawings

PROJECT = Path(__file__).parents[3]
NAMES = sorted(drawings.DRAWINGS)


def words(name: str) -> list[str]:
    """The words within a drawing."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawings.DRAWINGS[name]()[0])


def test_every_drawing_stands_on_a_page():
    """Catches a drawing that is made and shown nowhere, and a page that asks for one that there is not."""
    asked = [
        name for page in PROJECT.glob("docs/*.qmd") for name in re.findall(r"\{#(drawing-\w+)\}", page.read_text())
    ]
    assert sorted(asked) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_a_drawing_lies_outside_and_it_has_words(name):
    """Catches words that are cut at the edge, and a picture that says nothing to those who cannot see it."""
    drawn, height, told, caption = drawings.DRAWINGS[name]()
    html = unescape(drawings.maker(name)(PROJECT, []))
    assert f'viewBox="0 0 {drawings.WIDTH} {height}"' in html and told in html and len(told.split()) > 12
    assert caption in html
    for x, y, kind, text in re.findall(r'<text x="(\d+)" y="(\d+)" class="([^"]*)">([^<]*)<', drawn):
        width = (6.2 if "small" in kind else 7) * len(text)
        left = int(x) - (width if "end" in kind else width / 2 if "middle" in kind else 0)
        assert -4 <= left and left + width <= drawings.WIDTH + 4 and 0 < int(y) < height, text


def test_the_advantages_are_those_of_the_library():
    """Catches a sample's standard deviation for the population's."""
    torch = pytest.importorskip("torch")
    from shared.advantages import group_advantages

    rewards = torch.tensor(drawings.REWARDS, dtype=torch.float32)
    found = group_advantages(rewards, len(drawings.REWARDS))
    advantages = found[0] if isinstance(found, tuple) else found
    assert [word for word in words("drawing-group") if word[0] in "+-"] == [
        f"{one:+.2f}" for one in advantages.tolist()
    ]


def test_the_masks_are_those_of_the_text():
    """Catches a calculator's word that is learnt from, and positions that count the padding."""
    drawn = drawings.DRAWINGS["drawing-masks"]()[0]
    rows = {y: re.findall(rf'y="{y}" class="middle[^"]*">([^<]*)<', drawn) for y in (91, 131, 171)}
    assert "".join(rows[91]) == "0111111110" and "".join(rows[131]) == "01234567" and "".join(rows[171]) == "11010"
    assert drawn.count('class="arrow"') == 3
