"""Drawings for ideas that words carry badly, in the page's own colours: what is drawn is computed from the formulas.

Each is 400 units wide, so that its words can be read on a phone. `group`: rewards and advantages; `clipping`: the six
cases; `masks`: one row of tokens and all that is said about it; `tree`: the first tokens that completions share.
"""

from collections.abc import Callable
from html import escape
from pathlib import Path
from statistics import fmean, pstdev

from checker.pages.templates import style, template

WIDTH = 400
EPSILON = 0.2
REWARDS = (1, 0, 0, 1, 0, 0, 0, 0)
# One row of a batch: (token, who it is from). The calculator's words are read and not learnt from.
TOKENS = (
    ("pad", "padding"), ("7", "prompt"), ("+", "prompt"), ("5", "prompt"), ("=", "prompt"),
    ("so", "policy"), ("=", "policy"), ("12", "environment"), ("end", "policy"), ("pad", "padding"),
)  # fmt: skip
FIRST_OF_COMPLETION = 5
# Completions of one prompt as (first token, the rest, how many, reward).
BRANCHES = (("3", "end", 2, 1), ("3", "dots", 2, 0), ("I", "see", 3, 0), ("4", "end", 1, 0))


def maker(name: str) -> Callable[[Path, list[Path]], str]:
    """The function that makes a drawing's HTML, wherever the project lies and whatever its pages are."""

    def made(project: Path, sources: list[Path]) -> str:
        drawn, height, told, caption = DRAWINGS[name]()
        return template("drawing.html.j2").render(
            name=name, drawn=drawn, width=WIDTH, height=height, told=told, caption=caption, css=style("drawing.css")
        )

    return made


def group() -> tuple[str, int, str, str]:
    """Rewards of eight completions against their mean, and the advantages that come of them."""
    mean, deviation = fmean(REWARDS), pstdev(REWARDS)
    advantages = [(reward - mean) / deviation for reward in REWARDS]
    zero, unit, step = 150, 45, WIDTH / len(REWARDS)
    pieces = [_line(0, zero, WIDTH, zero, "axis"), _text(0, 18, "reward"), _text(0, 66, "advantage")]
    for number, (reward, advantage) in enumerate(zip(REWARDS, advantages)):
        x = number * step
        kind = "up" if advantage > 0 else "down"
        pieces.append(_text(x + step / 2, 42, str(reward), f"middle {kind}"))
        top = zero - max(advantage, 0) * unit
        pieces.append(_box(x + 8, top, step - 16, abs(advantage) * unit, kind))
        pieces.append(
            _text(x + step / 2, zero + 18 if advantage > 0 else top + 45, f"{advantage:+.2f}", "middle small")
        )
    pieces.append(_text(WIDTH, 18, f"mean {mean:.2f}, deviation {deviation:.2f}", "end"))
    told = f"Two rewards of 1 and six of 0. Their advantages are {max(advantages):+.2f} and {min(advantages):+.2f}."
    return (
        "".join(pieces),
        215,
        told,
        "A group: what is above its mean is pushed up, what is below is pushed down; the advantages add up to 0.",
    )


def clipping() -> tuple[str, int, str, str]:
    """min(ratio A, clip(ratio) A) over the ratio, for both signs of A; where the line is flat nothing is learnt."""
    low, high = 1 - EPSILON, 1 + EPSILON
    pieces = []
    for number, (sign, said) in enumerate(((1, "A > 0: make likelier"), (-1, "A < 0: make rarer"))):
        left, top, side = number * 205, 30, 190
        places = {ratio: left + (ratio - 0.4) / 1.2 * side for ratio in (0.4, low, 1.0, high, 1.6)}
        heights = {
            ratio: top + 75 - 55 * (min(ratio * sign, min(max(ratio, low), high) * sign) - sign) / 0.6
            for ratio in places
        }
        points = [f"{places[ratio]:.0f},{heights[ratio]:.0f}" for ratio in places]
        flat = points[3:] if sign > 0 else points[:2]
        pieces.append(_text(left, 16, said))
        pieces += [_line(places[ratio], top, places[ratio], 160, "grid") for ratio in (low, high)]
        pieces += [_text(places[ratio], 176, f"{ratio:g}", "middle small") for ratio in (low, 1.0, high)]
        pieces.append(f'<polyline class="curve" points="{" ".join(points)}"/>')
        pieces.append(f'<polyline class="flat" points="{" ".join(flat)}"/>')
        pieces.append(
            _text(
                places[high] + 4 if sign > 0 else left,
                heights[1.6] - 9 if sign > 0 else heights[0.4] - 9,
                "no pull",
                "small",
            )
        )
    pieces.append(_text(WIDTH / 2, 194, "ratio of the policy to the one that sampled", "middle small"))
    told = (
        "Two curves over the ratio. With a positive advantage the objective rises and is flat above 1.2. With a negative "
        "one it is flat below 0.8 and falls; above 1.2 it keeps falling."
    )
    return (
        "".join(pieces),
        200,
        told,
        "Six cases of clipping: below, within and above the range, for both signs of A. Only two of them have no pull.",
    )


def masks() -> tuple[str, int, str, str]:
    """A row of tokens, who they are from, and what each mask says of them."""
    side = WIDTH / len(TOKENS)
    read = [who != "padding" for _, who in TOKENS]
    positions = [sum(read[:place]) if is_read else "" for place, is_read in enumerate(read)]
    learnt = [int(who == "policy") for _, who in TOKENS[FIRST_OF_COMPLETION:]]
    pieces = []
    for place, (token, who) in enumerate(TOKENS):
        pieces.append(_box(place * side + 1, 22, side - 2, 30, who))
        pieces.append(_text(place * side + side / 2, 42, token, "middle"))
        pieces.append(_text(place * side + side / 2, 91, str(int(read[place])), "middle"))
        pieces.append(_text(place * side + side / 2, 131, str(positions[place]), "middle"))
        if place >= FIRST_OF_COMPLETION:
            own = learnt[place - FIRST_OF_COMPLETION]
            pieces.append(_text(place * side + side / 2, 171, str(own), "middle up" if own else "middle"))
            if own:
                start, stop = (place - 0.5) * side, (place + 0.5) * side
                pieces.append(
                    f'<path class="arrow" d="M{start:.0f} 205 Q{(start + stop) / 2:.0f} 190 {stop:.0f} 205"/>'
                )
    for y, said in (
        (14, "tokens: prompt, completion, calculator"),
        (70, "attention_mask: what is read"),
        (110, "positions"),
    ):
        pieces.append(_text(0, y, said, "small"))
    pieces.append(_text(FIRST_OF_COMPLETION * side, 150, "learnt from", "small"))
    pieces.append(_text(0, 205, "logits one place before", "small"))
    told = (
        "Ten places: one of padding, four of the prompt, then the completion: two tokens of the policy, one of a calculator, "
        "the end of the text, and padding. All but padding is read. Positions count from 0 at the first real token. The "
        "policy's three tokens are learnt from, each from the logits one place before it."
    )
    return (
        "".join(pieces),
        215,
        told,
        "One row of a batch. What is read and what is learnt from are two masks, and logits speak of the next place.",
    )


def tree() -> tuple[str, int, str, str]:
    """The first tokens of a group as a tree; a token's advantage in the mean is that of the leaves behind it."""
    total = sum(count for *_, count, _ in BRANCHES)
    mean = sum(count * reward for *_, count, reward in BRANCHES) / total
    unit = 175 / total
    firsts: dict[str, list[tuple[str, int, int]]] = {}
    for first, rest, count, reward in BRANCHES:
        firsts.setdefault(first, []).append((rest, count, reward))
    pieces = [_box(0, 20, 70, 175, "prompt"), _text(35, 112, "prompt", "middle")]
    pieces += [
        _text(105, 14, "first token", "small"),
        _text(215, 14, "next", "small"),
        _text(300, 14, "less the mean", "small"),
    ]
    y = 20.0
    for first, leaves in firsts.items():
        count = sum(some for _, some, _ in leaves)
        share = sum(some * reward for _, some, reward in leaves) / count - mean
        pieces.append(_link(70, y, 105, y, count * unit))
        pieces.append(_box(105, y + 1, 80, count * unit - 2, "up" if share > 0 else "down"))
        pieces.append(_text(145, y + count * unit / 2 + 5, f"{first} ({share:+.2f})", "middle"))
        for rest, some, reward in leaves:
            pieces.append(_link(185, y, 215, y, some * unit))
            pieces.append(_box(215, y + 1, 65, some * unit - 2, "up" if reward > mean else "down"))
            pieces.append(_text(247, y + some * unit / 2 + 5, f"{rest} ×{some}", "middle"))
            pieces.append(_text(300, y + some * unit / 2 + 5, f"{reward} ({reward - mean:+.2f})"))
            y += some * unit
    told = (
        "Eight completions of one prompt. Four begin with 3, and two of these end there and earn 1. Three begin with I and one "
        f"with 4, and earn 0. The mean is {mean:.2f}; behind a first token 3 it is 0.50."
    )
    return (
        "".join(pieces),
        205,
        told,
        "The tree of a group: a shared first token gets the mean of what lies behind it, though no completion was judged token by token.",
    )


DRAWINGS = {"drawing-group": group, "drawing-clipping": clipping, "drawing-masks": masks, "drawing-tree": tree}


def _text(x: float, y: float, said: str, kind: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{kind}">{escape(said)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float, kind: str) -> str:
    return f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{to_x:.0f}" y2="{to_y:.0f}" class="{kind}"/>'


def _box(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="3" class="{kind}"/>'


def _link(x: float, y: float, to_x: float, to_y: float, height: float) -> str:
    return f'<path class="link" d="M{x:.0f} {y:.0f} L{to_x:.0f} {to_y:.0f} V{to_y + height:.0f} L{x:.0f} {y + height:.0f} Z"/>'
