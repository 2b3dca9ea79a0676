"""The share of rewards seen before: `share_already_rewarded(train_rows, eval_rows) -> number`, by relation and word asked about."""

from dataclasses import dataclass

from shared.exercises.arguments import Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Number
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def rewarded(train_rows):
    """The last pairs that training asks about."""
    return {(row["relation"], row["word"]) for row in train_rows}


@STEPS.step
def asked(eval_rows):
    return [(row["relation"], row["word"]) for row in eval_rows]


@STEPS.step
def known(rewarded, asked):
    return [pair in rewarded for pair in asked]


@STEPS.step
def count(asked):
    return len(asked)


@STEPS.step
def share(known, count):
    return sum(known) / count


@STEPS.slip("known", "Only the word is compared. The same word in another relation has another answer: use both.")
def words_only(rewarded, asked):
    words = {word for _, word in rewarded}
    return [word in words for _, word in asked]


@STEPS.slip("known", "Whole prompts are compared: the same last pair behind another first one is not recognised.")
def prompts_compared(train_rows, eval_rows):
    prompts = {row["prompt"] for row in train_rows}
    return [row["prompt"] in prompts for row in eval_rows]


@STEPS.slip(
    "known",
    "It is the wrong way round: you count training rows that are evaluated. Count evaluation rows that are rewarded.",
)
def wrong_way_round(train_rows, asked):
    return [(row["relation"], row["word"]) in asked for row in train_rows]


@STEPS.slip("known", "You count what is *not* rewarded in training.")
def exchanged(rewarded, asked):
    return [pair not in rewarded for pair in asked]


@STEPS.slip("asked", "Each pair counts once. Every evaluation row counts, also those with the same last pair.")
def distinct_pairs(eval_rows):
    return sorted({(row["relation"], row["word"]) for row in eval_rows})


@STEPS.slip("count", "You divide by the number of training rows. The share is of the evaluation rows.")
def divided_by_training_rows(train_rows):
    return len(train_rows)


@STEPS.slip("count", "You return how many there are. Divide by the number of evaluation rows.")
def counted():
    return 1


@STEPS.slip("share", "Training and evaluation are exchanged: this is the share of *training* rows that are evaluated.")
def of_the_training_rows(train_rows, asked):
    return sum((row["relation"], row["word"]) in asked for row in train_rows) / len(train_rows)


@STEPS.slip("share", "You ask whether any row is known. Their share is asked for.")
def any_known(known):
    return float(any(known))


@dataclass(frozen=True)
class Analogies(Things):
    """Rows of analogies, told by relation and prompt, whose last pair begins with the word."""

    def amount(self, value) -> int:
        return 2 * len(value)

    def in_words(self, value) -> str:
        rows = ", ".join(f"{row['relation']}: {row['prompt']!r}" for row in value)
        return f"[{rows}]"


@STEPS.slip(
    "known",
    "Relation and word are looked for apart: a row counts whose relation and whose word were trained, but never together.",
)
def looked_for_apart(rewarded, asked):
    relations, words = ({pair[place] for pair in rewarded} for place in (0, 1))
    return [relation in relations and word in words for relation, word in asked]


@STEPS.slip("known", "Common pairs are counted once and divided by the number of rows: count every evaluation row.")
def common_pairs_once(rewarded, asked):
    return [pair in rewarded for pair in dict.fromkeys(asked)]


@STEPS.slip("share", "You ask whether all rows are known. Their share is asked for.")
def all_known(known):
    return float(all(known))


@STEPS.slip(
    "share",
    "You divide the common pairs by all different pairs of both sets. Asked for is the share of evaluation rows.",
)
def of_both_sets(rewarded, asked):
    return len(rewarded & set(asked)) / len(rewarded | set(asked))


@STEPS.slip("known", "Only the relation is compared. A pair is relation and word.")
def relations_only(rewarded, asked):
    relations = {relation for relation, _ in rewarded}
    return [relation in relations for relation, _ in asked]


@STEPS.slip(
    "known",
    "`<` asks for a proper subset: where training asks about one last pair alone, nothing counts as rewarded. Take `<=`, "
    "or `in`.",
)
def proper_subset(rewarded, asked):
    return [pair in rewarded and len(rewarded) > 1 for pair in asked]


def draw(draw: Draw) -> Case:
    return {name: [_row(draw) for _ in range(draw.size())] for name in ("train_rows", "eval_rows")}


def _row(draw: Draw) -> dict:
    relation, word = draw.choice(["young of", "capital of", "colour of"]), draw.choice(["dog", "dogg", "sky"])
    prompt = f"{draw.choice(['a is to b', 'c is to d'])} as {word} is to"
    return {"prompt": prompt, "word": word, "answers": [f"{relation} {word}"], "relation": relation}


def boundary() -> list[Case]:
    dog = {"prompt": "cat is to kitten as dog is to", "word": "dog", "answers": ["puppy"], "relation": "young of"}
    other_prompt = dog | {"prompt": "cow is to calf as dog is to"}
    other_relation = dog | {"answers": ["bark"], "relation": "sound of"}
    return [
        {"train_rows": [dog], "eval_rows": [dog]},
        {"train_rows": [dog], "eval_rows": [other_prompt]},
        {"train_rows": [dog], "eval_rows": [other_relation]},
        {"train_rows": [dog, other_relation | {"word": "cow"}], "eval_rows": [other_relation]},
        {"train_rows": [dog, dog, other_relation], "eval_rows": [other_prompt, dog, dog | {"word": "cow"}]},
    ]


EXERCISE = Exercise(
    name="share already rewarded",
    function="share_already_rewarded",
    contract="`f(train_rows, eval_rows) -> number`, by relation and word asked about.",
    steps=STEPS,
    arguments={"train_rows": Analogies("N"), "eval_rows": Analogies("L")},
    result=Number(),
    draw=draw,
    boundary=boundary,
)
