"""A reward that counts: `full_stops(prompts, completions, **columns) -> list of floats`, full stops over 10, at most 1."""

import re

from shared.exercises.arguments import Texts
from shared.exercises.catalogue.common.every_reward import (
    FIRST_COMPLETION_FOR_ALL,
    FIRST_LINE_ALONE,
    RETURNED_TOO_EARLY,
    REWARD_SLIPS,
    SAME_FOR_ALL,
    as_score_calls,
    texts,
)
from shared.exercises.drawing import HOSTILE, Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Floats
from shared.exercises.steps import Steps

STEPS = Steps()


STEPS.step(texts)


@STEPS.step
def counts(texts):
    return [text.count(".") for text in texts]


@STEPS.step
def most():
    """The number of full stops that are paid."""
    return 10


@STEPS.step
def capped(counts, most):
    return [min(count, most) for count in counts]


@STEPS.step
def rewards(capped):
    return [count / 10 for count in capped]


STEPS.add(*REWARD_SLIPS.named("prompt_read_as_well", "prompt_read_instead"))


@STEPS.slip(
    "texts", "You cut as many characters off the completion as the prompt has. The prompt is no part of a completion."
)
def prompt_cut_off(prompts, completions):
    return [completion[len(prompt) :] for prompt, completion in zip(prompts, completions)]


@STEPS.slip(
    "texts", "You take the prompt out of the completion, wherever it occurs: what stands there is the policy's."
)
def prompt_taken_out(prompts, completions):
    return [text.replace(prompt, "") if prompt else text for prompt, text in zip(prompts, completions)]


STEPS.add(FIRST_COMPLETION_FOR_ALL, FIRST_LINE_ALONE)


@STEPS.slip("counts", "You count sentences, the pieces between full stops, which are one more than the full stops.")
def pieces_counted(texts):
    return [len(text.split(".")) for text in texts]


@STEPS.slip("counts", "You count words that end in a full stop: dots in a row, or inside a number, count too.")
def words_counted(texts):
    return [sum(word.endswith(".") for word in text.split()) for text in texts]


@STEPS.slip("counts", "You ask whether there is a full stop, or cap the count at 1. Each one counts, up to ten.")
def any_counted(texts):
    return [int("." in text) for text in texts]


@STEPS.slip("counts", "Exclamation and question marks count in yours. Asked for are full stops only.")
def all_marks_counted(texts):
    return [sum(text.count(mark) for mark in ".!?") for text in texts]


@STEPS.slip(
    "most", "The cap is missing: more than ten full stops earn more than 1, and the policy writes nothing else."
)
def no_cap():
    return float("inf")


@STEPS.slip("rewards", "You divide by the length of the completion. The reward is the count over 10.")
def divided_by_length(capped, texts):
    return [count / max(1, len(text)) for count, text in zip(capped, texts)]


@STEPS.slip("rewards", "The division by 10 is missing: rewards lie between 0 and 1.")
def not_divided(capped):
    return [float(count) for count in capped]


STEPS.add(SAME_FOR_ALL, RETURNED_TOO_EARLY)


SAID = (
    " slept. he sang. it was late.",
    " walked",
    "",
    "." * 40,
    "." * 120,
    " slept... he sang",
    " said 3.5",
    " why? no! yes.",
    "a.b. c",
    " slept.\nhe sang.",
)


@STEPS.slip(
    "counts",
    "You count sentences with words in them: an unfinished end counts, and a bare full stop does not. Count the full stops.",
)
def sentences_counted(texts):
    return [sum(bool(piece.strip()) for piece in text.split(".")) for text in texts]


@STEPS.slip("counts", "Full stops in a row count as one. Each of them counts.")
def rows_counted_once(texts):
    return [len(re.findall(r"\.+", text)) for text in texts]


@STEPS.slip("counts", "You ask whether the completion ends in a full stop. Count those anywhere in it.")
def end_asked_for(texts):
    return [int(text.rstrip().endswith(".")) for text in texts]


@STEPS.slip("capped", "The cap is upside down: `max` in place of `min` pays at least 1.")
def at_least(counts, most):
    return [max(most, count) for count in counts]


@STEPS.slip("rewards", "You divide without a rest, `//`: fewer than ten full stops earn nothing.")
def without_rest(capped):
    return [float(count // 10) for count in capped]


@STEPS.slip("capped", "More than ten full stops earn nothing. They earn 1.")
def nothing_above(counts, most):
    return [count if count <= most else 0 for count in counts]


@STEPS.slip("most", "The cap is 10 for the quotient: `min(count / 10, 10)`. The reward is at most 1.")
def cap_of_ten():
    return 100


@STEPS.slip("counts", "You count letters. Asked for are full stops.")
def letters_counted(texts):
    return [len(text) for text in texts]


@STEPS.slip("counts", "You count words. Asked for are full stops.")
def all_words_counted(texts):
    return [len(text.split()) for text in texts]


@STEPS.slip("most", "The cap is one full stop too low.")
def cap_of_nine():
    return 9


@STEPS.slip("rewards", "You divide by the number of words. The reward is the count over 10.")
def divided_by_words(counts, texts):
    return [min(1.0, count / max(1, len(text.split()))) for count, text in zip(counts, texts)]


def draw(draw: Draw) -> Case:
    B = draw.size()
    said = [draw.choice(HOSTILE) if draw.random() < 0.1 else _text(draw) for _ in range(B)]
    said = said[:1] * B if draw.random() < 0.1 else said
    return {"prompts": draw.some(["the old. sailor.", "the cat", "a.b.c."], B), "completions": said}


def _text(draw: Draw) -> str:
    begun = draw.choice(["", "", " he said that he had seen the old man of the sea"])
    return begun + "".join(draw.some([".", ". ", " word", "...", "!", "?", "3.5", "\n"], draw.choice([1, 3, 8, 20])))


def boundary() -> list[Case]:
    exact = ["." * count for count in (9, 10, 11)]
    return [{"prompts": ["the old. sailor."], "completions": [text]} for text in (*SAID, *exact, *HOSTILE)]


EXERCISE = Exercise(
    name="reward for full stops",
    function="full_stops",
    contract="`f(prompts, completions, **columns) -> list of floats`: full stops over 10, at most 1.",
    steps=STEPS,
    arguments={"prompts": Texts("B", always_shown=False), "completions": Texts("B")},
    result=Floats(),
    draw=draw,
    boundary=boundary,
    call=as_score_calls,
)
