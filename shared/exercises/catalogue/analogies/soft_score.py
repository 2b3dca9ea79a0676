"""A soft reward of one completion: `soft_score(completion, accepted, embed) -> number`, from 0 to 1.

(1 + cosine) / 2 of the completion and the nearest accepted answer; 0 for an empty completion.
"""

import torch

from shared.exercises.arguments import Kind, Text, Texts
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Number
from shared.exercises.stand_ins.letters import letters, turned
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def said(completion):
    """The completion as it is embedded: behind one space."""
    return " " + completion.strip()


@STEPS.step
def wanted(accepted):
    return [f" {answer}" for answer in accepted]


@STEPS.step
def cosines(said, wanted, embed):
    text, *others = embed([said, *wanted])
    return [float(text @ other) for other in others]


@STEPS.step
def nearest(cosines):
    return max(cosines)


@STEPS.step
def scaled(nearest):
    return (1 + nearest) / 2


@STEPS.step
def score(scaled, completion):
    return scaled if completion.strip() else 0.0


@STEPS.slip("said", "The completion is embedded as it is. Strip it and put one space before it, as before every text.")
def completion_as_it_is(completion):
    return completion


@STEPS.slip("said", "The space before the completion is missing: each text is embedded behind one space.")
def no_space_before_it(completion):
    return completion.strip()


@STEPS.slip("wanted", "The space before the accepted words is missing: each text is embedded behind one space.")
def no_space_before_words(accepted):
    return accepted


@STEPS.slip("nearest", "Only the first accepted answer counts in yours. Take the nearest of them.")
def first_answer_only(cosines):
    return cosines[0]


@STEPS.slip("nearest", "You take the farthest of the accepted answers. Take the nearest.")
def farthest(cosines):
    return min(cosines)


@STEPS.slip(
    "nearest", "You average over the accepted answers: one that is hit exactly earns less than 1. Take the nearest."
)
def averaged(cosines):
    return sum(cosines) / len(cosines)


@STEPS.slip("scaled", "The cosine is not scaled: it goes from -1 to 1, the reward from 0 to 1.")
def not_scaled(nearest):
    return nearest


@STEPS.slip("scaled", "Negative cosines are cut off. Scale instead: (1 + cosine) / 2 tells far from farther.")
def cut_at_zero(nearest):
    return max(0.0, nearest)


@STEPS.slip("scaled", "The division by 2 is missing: yours goes up to 2.")
def not_halved(nearest):
    return 1 + nearest


@STEPS.slip("scaled", "You take the cosine's size: an answer that points the other way is paid like the right one.")
def absolute(nearest):
    return abs(nearest)


@STEPS.slip("scaled", "The order is reversed: near answers earn little.")
def reversed_order(nearest):
    return (1 - nearest) / 2


@STEPS.slip("score", "An empty completion is paid: it has an embedding like any text. It has to earn 0.")
def empty_is_paid(scaled):
    return scaled


@STEPS.slip("score", "The reward is rounded to 0 or 1: a soft one tells near misses from nonsense.")
def rounded(score):
    return float(round(score))


@STEPS.slip("nearest", "The completion is compared with itself too, and that cosine is 1. Leave it out of the largest.")
def compared_with_itself(cosines):
    return max(1.0, *cosines)


WORDS = ("puppy", "dog", "kitten", "wall", "sad", "unhappy", "large")


@STEPS.slip("score", "An empty completion earns 0.5, as if its cosine were 0. It has to earn 0.")
def half_for_nothing(scaled, completion):
    return scaled if completion else 0.5


@STEPS.slip("scaled", "The 1 is not halved: it is (1 + cosine) / 2, with brackets.")
def brackets_missing(nearest):
    return 1 + nearest / 2


@STEPS.slip("nearest", "The cosines are added up. Take the largest: the nearest answer counts.")
def added_up(cosines):
    return sum(cosines)


@STEPS.slip(
    "nearest",
    "The search for the largest cosine begins at 0: a completion that points away from every answer earns 0.5. Begin with "
    "the first cosine, or take `max`.",
)
def search_from_0(cosines):
    return max(0.0, *cosines)


@STEPS.slip("said", "Only the first line of the completion is embedded. All of it is compared.")
def first_line_embedded(completion):
    return " " + completion.strip().partition("\n")[0].strip()


@STEPS.slip("said", "Only the first word of the completion is embedded. All of it is compared.")
def first_word_embedded(completion):
    return " " + (completion.split() or [""])[0].strip(".,;:!?\"'()").casefold()


@STEPS.slip(
    "nearest",
    "You compare with the mean of the accepted answers' embeddings, which lies between them. Take the nearest answer.",
)
def mean_of_the_answers(said, wanted, embed):
    text, *others = embed([said, *wanted])
    return float(torch.cosine_similarity(text, torch.stack(others).mean(dim=0), dim=0))


def draw(draw: Draw) -> Case:
    said = draw.choice(
        [" {w}", "{w}", " {w}, of course", " not {w}", " not  {w}", " {w}\nor not", " {w}\n", ""]
    ).format(w=draw.choice(WORDS))
    return {"completion": said, "accepted": draw.sample(WORDS, draw.size(3)), "embed": draw.choice([letters, turned])}


def boundary() -> list[Case]:
    said = (" puppy", "puppy", " wall", " unhappy", "", " a wall or a puppy", " puppy ", "well, let me think.")
    return [
        {"completion": text, "accepted": list(words), "embed": letters}
        for text in said
        for words in (["puppy"], WORDS[3:5])
    ]


def says_something_or_nothing(completion: str) -> bool:
    """True but for blanks alone: nobody is told whether they count as "", which earns 0."""
    return not completion or bool(completion.strip())


EXERCISE = Exercise(
    name="soft reward",
    function="soft_score",
    contract="`f(completion, accepted, embed) -> number` from 0 to 1.",
    steps=STEPS,
    arguments={"completion": Text(), "accepted": Texts("B"), "embed": Kind()},
    result=Number(),
    draw=draw,
    boundary=boundary,
    valid=lambda case: all(case["accepted"]) and says_something_or_nothing(case["completion"]),
    shows=("shared.exercises.stand_ins.letters",),
)
