"""One group of a real run as a picture: sampled, scored, compared, learned from. Drawn from `watch.json`.

    python -m benchmarks.group_picture    draws benchmarks/group.svg again

The picture needs no library and no font of its own, and is the same, byte for byte, whoever draws it.
"""

import json
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
TOP = 108
ROW = 30
WIDTH = 770
HEIGHT = 410
MIXED = (2, 4)  # right completions of the group that is shown: enough of both kinds to compare
GOOD = "#0b6b46"
BAD = "#a5331c"
SOFT = "#55606b"
BLUE = "#0b5cad"
STYLE = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;font-size:15px;fill:#1c2024}"
    ".m{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}"
    ".h{font-weight:600;font-size:17px}.s{fill:#55606b;font-size:13px}.b{font-weight:600}"
)


def chosen(record: dict) -> tuple[dict, int]:
    """The first prompt whose group before training has right and wrong completions, and that look's number."""
    for prompt in record["prompts"]:
        if MIXED[0] <= sum(prompt["groups"][0]["rewards"]) <= MIXED[1]:
            return prompt, 0
    raise ValueError(f"No group before training has {MIXED[0]} to {MIXED[1]} right completions: run with another seed.")


def picture(record: dict) -> str:
    """The SVG."""
    prompt, look = chosen(record)
    group = prompt["groups"][look]
    question = prompt["prompt"].partition("\n")[0]
    described = (
        f"A prompt, {question}, and eight completions that the model sampled. Those that say {prompt['answer']} get "
        "reward 1 and an advantage above 0, the others reward 0 and one below 0. The probability of the right answer "
        f"rises from {prompt['probabilities'][0]:.2f} to {prompt['probabilities'][-1]:.2f} over training."
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>One group of a real run</title><desc>{escape(described)}</desc><style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="#ffffff"/>',
        *_headings(question),
    ]
    for number in range(len(group["rewards"])):
        row = (group["completions"][number], group["rewards"][number], group["advantages"][number])
        parts += _row(number, *row)
    parts += [*_learning(record, prompt), "</svg>"]
    return "\n".join(parts) + "\n"


def _text(x: float, y: float, said: str, kind: str = "", **options: str) -> str:
    given = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in options.items())
    return f'<text x="{x}" y="{y}" class="{kind}"{given}>{escape(said)}</text>'


def _headings(question: str) -> list[str]:
    """The prompt, and what happens in each column."""
    columns = [
        (24, "1  sample", "eight answers to one question"),
        (250, "2  score", "a rule: 1 or 0"),
        (355, "3  compare", "better than the group?"),
        (535, "4  learn", "make the better ones likelier"),
    ]
    parts = [_text(24, 34, question, "m b")]
    for x, title, below in columns:
        parts += [_text(x, 68, title, "h"), _text(x, 88, below, "s")]
    return parts


def _row(number: int, completion: str, reward: int, advantage: float) -> list[str]:
    """One completion: what it says, its reward, its advantage as a bar from the middle."""
    y = TOP + ROW * number
    colour = GOOD if reward else BAD
    middle = 395
    length = 24 * abs(advantage)
    left = middle if advantage >= 0 else middle - length
    said = completion.strip().replace("\n", " / ") or "(nothing)"
    return [
        f'<rect x="24" y="{y}" width="205" height="24" rx="6" fill="#f1f4f7"/>',
        _text(34, y + 17, said[:21], "m"),
        f'<circle cx="270" cy="{y + 12}" r="11" fill="{colour}"/>',
        _text(270, y + 17, str(reward), "b", text_anchor="middle", style="fill:#ffffff"),
        f'<rect x="{left:.1f}" y="{y + 4}" width="{max(length, 1):.1f}" height="16" fill="{colour}"/>',
        _text(middle + 58, y + 17, f"{advantage:+.2f}".replace("-", "\u2212"), "m"),
    ]


def _learning(record: dict, prompt: dict) -> list[str]:
    """The probability of the right answer to this prompt over the steps of training."""
    left = 555
    right = 745
    top = TOP + 8
    bottom = TOP + 8 * ROW - 34
    last = record["steps"][-1]
    points = []
    for step, probability in zip(record["steps"], prompt["probabilities"], strict=True):
        x = left + (right - left) * step / last
        y = bottom - (bottom - top) * probability
        points.append((x, y))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    first = prompt["probabilities"][0]
    final = prompt["probabilities"][-1]
    return [
        f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="{SOFT}"/>',
        f'<polyline points="{line}" fill="none" stroke="{BLUE}" stroke-width="3" stroke-linejoin="round"/>',
        _text(left - 8, top + 5, "1", "s", text_anchor="end"),
        _text(left - 8, bottom + 4, "0", "s", text_anchor="end"),
        _text(points[0][0] + 8, points[0][1] + 20, f"{first:.2f}", "b"),
        _text(right, points[-1][1] - 8 if final < 0.9 else points[-1][1] + 24, f"{final:.2f}", "b", text_anchor="end"),
        _text(left, bottom + 20, "0", "s"),
        _text(right, bottom + 20, f"{last} steps", "s", text_anchor="end"),
        _text(535, bottom + 46, f"Probability of the right answer, {prompt['answer']},", "s"),
        _text(535, bottom + 64, "to this question, which training", "s"),
        _text(535, bottom + 82, "never saw.", "s"),
    ]


def main() -> None:
    record = json.loads((HERE / "watch.json").read_text(encoding="utf-8"))
    (HERE / "group.svg").write_text(picture(record), encoding="utf-8")


if __name__ == "__main__":
    main()
