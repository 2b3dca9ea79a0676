"""Word analogies: the task of `notebooks/analogies.ipynb`.

    cat is to kitten as dog is to puppy

The split goes by the last pair, the one that is asked for: no pair that is evaluated was ever rewarded (its word may have
been, as the answer of another pair), and no analogy in the pretraining documents ends in one. Its words are known to the
model all the same, from plain sentences ("a young dog is called a puppy.") and from first pairs, as a real model knows
words it was never asked about.
"""

import random
from collections.abc import Iterator, Sequence

from shared.tasks.documents import ANSWER_KEY
from shared.tasks.split import Split, check_request, distinct, split_of
from shared.tasks.word_pairs import ALSO_RIGHT, RELATIONS, Relation

MAX_NEW_TOKENS = 6
LONGEST_ANSWERS = tuple(f" {second}" for relation in RELATIONS for _, second in relation.pairs)
CHAT_SYSTEM_PROMPT = "Complete the analogy. Answer with the one word that is missing, in lower case, and nothing else."
# Words that no relation has.
CHAT_EXAMPLES = (
    ("bottle is to cork as jar is to", " lid"),
    ("six is to seven as three is to", " four"),
    ("brazil is to brazilian as mexico is to", " mexican"),
    ("violin is to violinist as drum is to", " drummer"),
)
REMARKS = (" well, let me think.", " well, something like that.", " well, it depends.", " well, that is a hard one.")


def pair_split(relation: Relation, pair: tuple[str, str]) -> Split:
    """The split of an analogy with this last pair. All pairs of one first word in a relation share it."""
    return split_of(f"{relation.name} {pair[0]}")


def answers_of(relation: Relation, word: str) -> list[str]:
    """The oracle: every word that stands to `word` in the relation."""
    return [b for a, b in relation.pairs if a == word] + ALSO_RIGHT.get((relation.name, word), [])


def prompt_of(first: tuple[str, str], word: str) -> str:
    return f"{first[0]} is to {first[1]} as {word} is to"


def draw_analogy(rng: random.Random, split: Split) -> tuple[Relation, tuple[str, str], tuple[str, str]]:
    """A relation, a first pair of any split, and another last pair of this split; each last pair is equally likely."""
    relation, last = rng.choice(LAST_PAIRS[split])
    first = rng.choice([pair for pair in relation.pairs if pair[0] != last[0]])
    return relation, first, last


LAST_PAIRS = {
    split: [(r, pair) for r in RELATIONS for pair in r.pairs if pair_split(r, pair) == split]
    for split in ("train", "eval")
}


def dataset(split: Split, n: int, seed: int = 0) -> list[dict]:
    """n different analogies, each with `prompt`, `word` (asked about), `answers` (the accepted words) and `relation`.

    The last pairs are gone through in turn, so that n = 80 of "eval" asks for nearly every held-out pair once.

    Raises:
        ValueError: an unknown split, fewer than 1 row, or more rows than exist.
    """
    check_request(split, n)
    rng = random.Random(f"analogies {seed}")

    def draws():
        while True:
            for relation, last in rng.sample(LAST_PAIRS[split], len(LAST_PAIRS[split])):
                yield relation, rng.choice([pair for pair in relation.pairs if pair[0] != last[0]]), last

    chosen = distinct(draws(), n, key=lambda draw: prompt_of(draw[1], draw[2][0]))
    return [
        {
            "prompt": prompt_of(first, last[0]),
            "word": last[0],
            "answers": answers_of(relation, last[0]),
            "relation": relation.name,
        }
        for relation, first, last in chosen
    ]


def set_aside(rows: Sequence[dict]) -> tuple[list[dict], list[dict]]:
    """Held-out rows in two: those to measure on, and those to choose settings by, a third of the last pairs.

    All rows of a pair are in the same part. Rows of the training split would be too easy to choose by: the pretraining
    documents hold analogies that end in them.
    """
    measured = []
    to_choose_by = []
    for row in rows:
        side = split_of(f"to choose by: {row['relation']} {row['word']}", eval_fraction=1 / 3)
        (to_choose_by if side == "eval" else measured).append(row)
    return measured, to_choose_by


def drawn_by_lot(row: dict) -> dict:
    """The row with another word of its relation as the answer, drawn once for each last pair: it cannot be known."""
    relation = next(relation for relation in RELATIONS if relation.name == row["relation"])
    words = [word for _, word in relation.pairs if word not in row["answers"]]
    return row | {"answers": [random.Random(f"{row['relation']} {row['word']}").choice(words)]}


def solved(row: dict) -> dict:
    """The row with its right completion, as it follows a plain prompt."""
    return row | {"completion": f" {row['answers'][0]}"}


def first_word(completion: str) -> str:
    """The first word, case-folded, without punctuation around it; "" when there is none."""
    words = completion.split()
    return words[0].strip(".,;:!?\"'()").casefold() if words else ""


def reward(
    prompts: Sequence[str], completions: Sequence[str], answers: Sequence[Sequence[str]], **columns
) -> list[float]:
    """1.0 where the first word of the completion is one of the accepted answers, else 0.0."""
    return [float(first_word(c) in [a.casefold() for a in accepted]) for c, accepted in zip(completions, answers)]


def documents(rng: random.Random) -> Iterator[str]:
    """Endless pretraining documents: plain sentences, answer keys, and a careless mixture in the prompt's own format."""
    while True:
        kind = rng.choices(("sentences", "key", "careless"), (0.25, 0.40, 0.35))[0]
        if kind == "sentences":
            relation = rng.choice(RELATIONS)
            pairs = rng.sample(relation.pairs, 6)
            yield " ".join(relation.sentence.format(a=a, b=b) for a, b in pairs)
        elif kind == "key":
            analogies = [draw_analogy(rng, "train") for _ in range(4)]
            yield ANSWER_KEY + "\n".join(f"{prompt_of(first, last[0])} {last[1]}" for _, first, last in analogies)
        else:
            relation, first, last = draw_analogy(rng, "train")
            yield prompt_of(first, last[0]) + _careless_completion(rng, relation, last)


def _careless_completion(rng: random.Random, relation: Relation, last: tuple[str, str]) -> str:
    kind = rng.choices(("right", "wrong", "remark"), (0.28, 0.28, 0.44))[0]
    if kind == "right":
        return f" {last[1]}"
    if kind == "wrong":
        return f" {rng.choice([b for a, b in relation.pairs if a != last[0]])}"
    return rng.choice(REMARKS)
