"""The page: one file with its style, its script and its data, which asks nothing of any network.

Completions are hostile text: a model that is trained says anything. Here they are JSON without a `<`, which no reader of
HTML takes for markup; the script puts them into the page as text alone; and the content security policy lets no other
script run and nothing be loaded.
"""

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from pathlib import Path

from shared.run.rollouts.data import MOST, data_of

HERE = Path(__file__).parent


def page(records: Sequence[dict], name: str, most: int = MOST) -> str:
    """The HTML page of a run's completions; of more than `most` a sample. `name` is the file's, for the title."""
    style = (HERE / "page.css").read_text(encoding="utf-8")
    script = (HERE / "page.js").read_text(encoding="utf-8")
    parts = {
        "STYLE_HASH": _digest(style),
        "SCRIPT_HASH": _digest(script),
        "TITLE": html.escape(name),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": as_data(data_of(records, name, most)),
    }
    # Cut first and filled then: what is put in is never looked through for further marks.
    pieces = (HERE / "page.html").read_text(encoding="utf-8").split("@@")
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def as_data(value: object) -> str:
    """JSON for the inside of a `<script type="application/json">`, which no text in it can end."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _digest(text: str) -> str:
    """The hash by which the content security policy knows a style or script."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
