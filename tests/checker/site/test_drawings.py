"""Drawings say what the formulas say, and every one of them stands on a page."""

import re
from html import unescape
from pathlib import Path

import pytest

from checker.pages.templates import style
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


def elements(name: str, kind: str) -> list[dict[str, str]]:
    """The attributes of a drawing's elements of one kind, those of a text with what it says."""
    drawn = drawings.DRAWINGS[name]()[0]
    found = re.findall(rf"<{kind} ([^>]*?)/?>([^<]*)", drawn)
    return [dict(re.findall(r'([\w-]+)="([^"]*)"', attributes)) | {"said": said} for attributes, said in found]


def box(one: dict[str, str]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a box."""
    x, y, width, height = (int(one[name]) for name in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


@pytest.mark.parametrize("name", NAMES)
def test_every_element_has_a_style_and_every_word_stands_in_one(name):
    """Catches a class that the style sheet lacks, so that nothing is told apart by it, and words between elements."""
    drawn, _, told, caption = drawings.DRAWINGS[name]()
    sheet = style("drawing.css")
    kinds = {kind for kinds in re.findall(r'class="([^"]*)"', drawn) for kind in kinds.split()}
    assert all(re.search(rf"\.{kind}\b", sheet) for kind in kinds - {"curve", "prompt"}), (
        kinds
    )  # as any other line and box
    assert re.fullmatch(r"(<\w+ [^<>]*/>|<text [^<>]*>[^<>]*</text>)+", drawn)
    assert not set(words(name)) & {"small", "middle", *kinds} - {"prompt", "end"}
    for sentence in (told, caption):
        assert re.match(r"[A-Z][a-z]* ", sentence) and sentence.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_words_stand_in_the_middle_of_their_boxes(name):
    """Catches a word that runs out of its box, or lies beside it."""
    boxes = [box(one) for one in elements(name, "rect")]
    for text in elements(name, "text"):
        x, y = int(text["x"]), int(text["y"])
        for left, top, right, bottom in boxes:
            if left <= x <= right and top <= y <= bottom:
                assert "middle" in text["class"] and abs(x - (left + right) / 2) <= 1, text
                assert 0 <= y - (top + bottom) / 2 <= 8 and 7 * len(unescape(text["said"])) <= right - left, text


def test_the_bars_of_a_group_are_as_long_as_their_advantages():
    """Catches a bar on the wrong side of the line or of another's length, and one that is called another's name."""
    (axis,) = [int(line["y1"]) for line in elements("drawing-group", "line")]
    bars = elements("drawing-group", "rect")
    texts = elements("drawing-group", "text")
    advantages = [float(text["said"]) for text in texts if text["said"][0] in "+-"]
    rewards = [text for text in texts if text["said"] in "01"]
    unit = max(int(bar["height"]) for bar in bars) / max(advantages)
    for bar, reward, advantage in zip(bars, rewards, advantages, strict=True):
        left, top, right, bottom = box(bar)
        assert abs(bottom - top - unit * abs(advantage)) <= 1 and (bottom if advantage > 0 else top) == axis
        kind = "up" if advantage > 0 else "down"
        assert bar["class"] == kind and reward["class"] == f"middle {kind}" and int(reward["x"]) == (left + right) // 2
    told = drawings.DRAWINGS["drawing-group"]()[2]
    assert ("Two rewards of 1 and six of 0" in told) and sorted(drawings.REWARDS) == [0] * 6 + [1] * 2


def test_the_flat_parts_of_clipping_are_those_without_a_gradient():
    """Catches a flat line on the side that keeps its pull, and words beside the other one."""
    low, high = 1 - drawings.EPSILON, 1 + drawings.EPSILON
    drawn = drawings.DRAWINGS["drawing-clipping"]()[0]
    curves = {kind: re.findall(rf'class="{kind}" points="([^"]*)"', drawn) for kind in ("curve", "flat")}
    pulls = [text for text in elements("drawing-clipping", "text") if text["said"] == "no pull"]
    assert len(pulls) == 2 and words("drawing-clipping").count("1") == 2
    assert words("drawing-clipping").count(f"{low:g}") == words("drawing-clipping").count(f"{high:g}") == 2
    for sign, curve, flat, pull in zip((1, -1), curves["curve"], curves["flat"], pulls, strict=True):
        points = [tuple(map(int, point.split(","))) for point in curve.split()]
        still = [tuple(map(int, point.split(","))) for point in flat.split()]
        assert still == (points[3:] if sign > 0 else points[:2]) and still[0][1] == still[1][1]
        moving = points[:4] if sign > 0 else points[1:]
        slopes = {(to[1] - at[1]) / (to[0] - at[0]) for at, to in zip(moving, moving[1:])}
        assert all(slope * sign < 0 for slope in slopes) and max(slopes) - min(slopes) < 0.1
        assert still[0][0] - 1 <= int(pull["x"]) <= still[1][0] and 0 < still[0][1] - int(pull["y"]) < 15


def test_the_tokens_of_a_row_are_called_what_they_are():
    """Catches a token without its box, and one in the colour of another's author."""
    boxes = elements("drawing-masks", "rect")
    assert [one["class"] for one in boxes] == [who for _, who in drawings.TOKENS]
    tokens = [text["said"] for text in elements("drawing-masks", "text") if text["y"] == "42"]
    assert tokens == [token for token, _ in drawings.TOKENS]
    said = " ".join(words("drawing-masks"))
    assert all(part in said for part in ("attention_mask", "positions", "learnt from", "logits"))


def test_the_branches_of_a_tree_are_as_high_as_they_are_common():
    """Catches a branch of another height than its share, and a mean over branches in place of completions."""
    prompt, *boxes = map(box, elements("drawing-tree", "rect"))
    kinds = [one["class"] for one in elements("drawing-tree", "rect")][1:]
    counts = [count for *_, count, _ in drawings.BRANCHES]
    total = sum(counts)
    assert total == 8 and "Eight completions" in drawings.DRAWINGS["drawing-tree"]()[2]
    mean = sum(count * reward for *_, count, reward in drawings.BRANCHES) / total
    firsts = sorted((one for one in boxes if one[0] == min(left for left, *_ in boxes)), key=lambda one: one[1])
    leaves = sorted((one for one in boxes if one not in firsts), key=lambda one: one[1])
    for column, shares in ((firsts, [4, 3, 1]), (leaves, counts)):
        assert prompt[1] <= column[0][1] and column[-1][3] <= prompt[3] and len({left for left, *_ in column}) == 1
        assert all(above[3] <= below[1] for above, below in zip(column, column[1:]))
        for (_, top, _, bottom), share in zip(column, shares, strict=True):
            assert abs(bottom - top - share / total * (prompt[3] - prompt[1])) <= 4
    said = words("drawing-tree")
    assert [word for word in said if "×" in word] == [f"{rest} ×{count}" for _, rest, count, _ in drawings.BRANCHES]
    assert [word for word in said if re.match(r"[01] \(", word)] == [
        f"{reward} ({reward - mean:+.2f})" for *_, reward in drawings.BRANCHES
    ]
    assert [word for word in said if re.match(r"(3|I|4) \(", word)] == ["3 (+0.25)", "I (-0.25)", "4 (-0.25)"]
    up = {kind == "up" for kind in kinds}
    assert up == {True, False} and kinds.count("up") == 2
    heads = [text["class"] for text in elements("drawing-tree", "text") if int(text["y"]) < prompt[1]]
    assert heads == ["small"] * 3
