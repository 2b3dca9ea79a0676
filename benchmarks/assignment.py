"""The worked example of the assignment (`notebooks/own_task.ipynb`) as a task for a real model: he, she or it?

    the old queen slept. | she was tired.

Only the final reward is paid: the right pronoun first. `docs/start.qmd` has the same turns for the notebook.
"""

import random
import re
import sys
from collections.abc import Sequence

from shared.recipes import Recipe
from shared.tasks import sentences
from shared.tasks.split import Split, check_request, split_of

NOUNS = {"he": ("king", "boy", "man"), "she": ("queen", "girl", "woman"), "it": ("dog", "cat", "horse")}
MAX_NEW_TOKENS = 6
LONGEST_ANSWERS = (" she was hungry.",)
CHAT_SYSTEM_PROMPT = "Continue the user's story with one more short sentence."
# Those of docs/start.qmd. Rows are about other people; no row is big, and in none does somebody run.
CHAT_EXAMPLES = (
    ("the young uncle worked.", " he was hungry."),
    ("the kind aunt sang.", " she was happy."),
    ("the big horse ran.", " it was fast."),
)


def dataset(split: Split, n: int, seed: int = 0) -> list[dict]:
    """n stories of a split, each with the right pronoun as `answer`; no adjective and doing is in both splits."""
    check_request(split, n)
    stories = [(how, doing) for how in sentences.ADJECTIVES for doing in sentences.DOINGS]
    rows = [
        {"prompt": f"the {how} {noun} {doing}.", "answer": pronoun}
        for pronoun, nouns in NOUNS.items()
        for noun in nouns
        for how, doing in stories
        if split_of(f"{how} {doing}") == split
    ]
    random.Random(f"assignment {seed}").shuffle(rows)
    return rows[:n]


def solved(row: dict) -> dict:
    """A row with a right completion."""
    return row | {"completion": f" {row['answer']} was tired."}


def reward(prompts: Sequence[str], completions: Sequence[str], answer: Sequence[str], **columns) -> list[float]:
    """1 where the first word is the right pronoun."""
    return [float(re.findall(r"[a-z]+", text)[:1] == [right]) for text, right in zip(completions, answer, strict=True)]


RECIPE = Recipe(
    task=sys.modules[__name__],
    reward_funcs=(reward,),
    measured=reward,
    settings={"num_generations": 8},
    train_rows=300,
    eval_rows=100,
)
