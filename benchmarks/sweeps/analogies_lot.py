"""Controls of `notebooks/analogies.ipynb`: what a policy says that was trained on answers drawn by lot.

The rows that it is asked keep their own answers here. If the soft reward taught it to bluff, it is right on few of them;
if any word of the right relation brings out what is known, on most. The base model is asked below its header, untrained.
"""

from dataclasses import dataclass

from benchmarks.sweeps import analogies as chapter
from benchmarks.sweeps.analogies import Condition, answered, rows_of, setting, trained
from benchmarks.sweeps.measuring import rounded
from shared.models import frozen_copy
from shared.tasks.analogies import first_word
from shared.tasks.documents import ANSWER_KEY


@dataclass(frozen=True)
class Untrained:
    """The base model below a header."""

    header: str = ANSWER_KEY


CONDITIONS = {
    "soft": chapter.CONDITIONS["soft"],
    "by lot, soft": chapter.CONDITIONS["by lot, soft"],
    "base below the header": Untrained(),
}


def run(name: str, seed: int) -> dict[str, float]:
    """The share right of held-out rows with their own answers, and the soft reward by the words that the lot gave them."""
    condition = CONDITIONS[name]
    shared = setting()
    rows = rows_of(Condition())["held out"]
    if isinstance(condition, Untrained):
        asked = [row | {"prompt": condition.header + row["prompt"]} for row in rows]
        return {"right": rounded(answered(frozen_copy(shared["base"]), asked).mean)}
    done = answered(trained(condition, seed)[0], rows)
    drawn = [row["answers"] for row in rows_of(Condition(by_lot=True))["held out"]]
    soft = shared["similarity"](done.prompts, done.completions, drawn)
    return {
        "right": rounded(done.mean),
        "soft by the lot": rounded(sum(soft) / len(soft)),
        "first words": [first_word(text) for text in done.completions],
    }


def told(measured: dict) -> str:
    return f"right {measured['right']:.3f}"
