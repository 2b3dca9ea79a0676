"""A weighted reward: `weighted_reward(prompts, completions, answer, weight, **columns) -> list of floats`.

The row's weight where the first line of the completion, stripped and case-folded, is the answer, else 0.0.
"""

from dataclasses import dataclass

from shared.exercises.arguments import Texts, Things
from shared.exercises.catalogue.common.every_reward import (
    FIRST_COMPLETION_FOR_ALL,
    RETURNED_TOO_EARLY,
    REWARD_SLIPS,
    as_score_calls,
    texts,
)
from shared.exercises.drawing import HOSTILE, Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Floats
from shared.exercises.steps import Steps
from shared.tasks.poker import LABEL_WEIGHTS

STEPS = Steps()


@dataclass(frozen=True)
class Weights(Things):
    """A list of numbers, each of which may be 1."""

    def simpler(self, value):
        if any(number != 1.0 for number in value):
            yield [1.0] * len(value)

    def is_plain(self, value) -> bool:
        return all(number == 1.0 for number in value)


STEPS.step(texts)


@STEPS.step
def lines(texts):
    return [(text.strip().splitlines() or [""])[0].strip() for text in texts]


@STEPS.step
def folded(lines):
    return [line.casefold() for line in lines]


@STEPS.step
def wanted(answer):
    return answer


@STEPS.step
def matches(folded, wanted):
    return [line == label for line, label in zip(folded, wanted)]


@STEPS.step
def paid(weight):
    return weight


@STEPS.step
def rewards(matches, paid):
    return [float(match) * number for match, number in zip(matches, paid)]


STEPS.add(
    *REWARD_SLIPS.named(
        "prompt_read_as_well", "exchanged", "line_not_stripped", "empty_completion_raises", "last_line"
    ),
    FIRST_COMPLETION_FOR_ALL,
)


@STEPS.slip("lines", 'White space matters in yours: " one pair" is right, and sampled text begins with a space.')
def not_stripped(texts):
    return [(text.splitlines() or [""])[0] for text in texts]


@STEPS.slip("folded", 'Capitals matter in yours: "One pair" is right too. Case-fold the line.')
def capitals_matter(lines):
    return lines


@STEPS.slip("folded", "Full stops are taken off. Strip white space only: the label and nothing else.")
def punctuation_stripped(folded):
    return [line.strip(".,;:!?") for line in folded]


@STEPS.slip(
    "matches",
    'The label may stand anywhere in the line: " two pair or one pair" earns every label that it lists. Compare the whole.',
)
def substring(folded, wanted):
    return [label in line for line, label in zip(folded, wanted)]


@STEPS.slip("matches", 'The label may contain the line: " pair" and the empty line are then right. Compare the whole.')
def contained_in_the_label(folded, wanted):
    return [line in label for line, label in zip(folded, wanted)]


@STEPS.slip("matches", "A line that begins with the label is paid. The line has to be the label and nothing else.")
def beginning_is_enough(folded, wanted):
    return [line.startswith(label) for line, label in zip(folded, wanted)]


STEPS.add(*REWARD_SLIPS.named("first_answer_for_all", "whole_completion", "first_word_only"))


@STEPS.slip("paid", "The weight is missing: a right completion earns its row's weight.")
def weight_missing(weight):
    return [1.0] * len(weight)


@STEPS.slip("paid", "Every completion is paid the first row's weight. Each has its own.")
def first_weight_for_all(weight):
    return [weight[0]] * len(weight)


@STEPS.slip("rewards", "Wrong completions are punished with the weight. They earn 0.0.")
def punished(matches, paid):
    return [number if match else -number for match, number in zip(matches, paid)]


@STEPS.slip("rewards", "You divide by the weight where it multiplies.")
def divided_by_weight(matches, paid):
    return [float(match) / number for match, number in zip(matches, paid)]


STEPS.add(RETURNED_TOO_EARLY)


LABELS = ("high card", "one pair", "two pair", "flush", "full house")
FRAMES = (
    " {a}",
    "{a}",
    " {A}",
    "{a}\nHand:",
    "\t{a} \t\nHand:",
    " {a} \n",
    " {a}.",
    " {b} or {a}",
    " {a} or {b}",
    " {b}",
    " {part}",
    "{b}\n{a}",
    " the {a}",
    " {once}",
    " {apart}",
)


@STEPS.slip("rewards", "Wrong completions are paid their weight as well. They earn 0.0.")
def always_paid(paid):
    return list(map(float, paid))


@STEPS.slip("rewards", "1 is added to the weight of a right completion. It earns the weight itself.")
def one_added(matches, paid):
    return [float(match) * (1 + number) for match, number in zip(matches, paid)]


@STEPS.slip("matches", "The end of the line is enough in yours. The line has to be the label and nothing else.")
def end_is_enough(folded, wanted):
    return [line.endswith(label) for line, label in zip(folded, wanted)]


@STEPS.slip("paid", "The weights are divided by their mean. Pay them as they are.")
def weights_normalised(weight):
    return [number / (sum(weight) / len(weight)) for number in weight]


@STEPS.slip(
    "paid",
    "The weight is looked up in the task's table of labels. Take the column `weight`: the rows say what is paid.",
)
def weights_from_the_table(answer):
    return [LABEL_WEIGHTS[label] for label in answer]


def draw(draw: Draw) -> Case:
    rows = [_row(draw) for _ in range(draw.size())]
    prompts, completions, answer, weight = map(list, zip(*rows))
    completions = completions[:1] * len(rows) if draw.random() < 0.1 else completions
    return {"prompts": prompts, "completions": completions, "answer": answer, "weight": weight}


def _row(draw: Draw) -> tuple[str, str, str, float]:
    label, other = draw.sample(LABELS, 2)
    text = draw.choice(HOSTILE) if draw.random() < 0.1 else _filled(draw.choice(FRAMES), label, other)
    prompt = draw.choice(["Hand: A K\nType:", label, f"Types: {', '.join(LABELS)}\nType:"])
    return prompt, text, label, draw.choice([1.0, 1.5, 2.0, 0.5, 3.0])


def _filled(frame: str, label: str, other: str) -> str:
    return frame.format(
        a=label,
        b=other,
        A=label.capitalize(),
        part=label.split()[-1],
        once=label.replace("ll", "l"),
        apart=label.replace(" ", "  "),
    )


def boundary() -> list[Case]:
    cases = []
    for text in (*(_filled(frame, "one pair", "two pair") for frame in FRAMES), *HOSTILE):
        for number in (1.0, 2.0):
            cases.append({"prompts": [""], "completions": [text], "answer": ["one pair"], "weight": [number]})
    return cases


def has_one_first_line(text: str) -> bool:
    """True but for an empty line before the first words: nobody is told whether it is the first line."""
    return (text.strip().splitlines() or [""])[0].strip() == (text.splitlines() or [""])[0].strip()


EXERCISE = Exercise(
    name="weighted reward",
    function="weighted_reward",
    contract="`f(prompts, completions, answer, weight, **columns) -> list of floats`: the weight where the first line is "
    "the answer.",
    steps=STEPS,
    arguments={
        "prompts": Texts("B", always_shown=False),
        "completions": Texts("B"),
        "answer": Texts("B"),
        "weight": Weights("B"),
    },
    result=Floats(),
    draw=draw,
    draws=118,
    boundary=boundary,
    call=as_score_calls,
    valid=lambda case: all(case["answer"]) and all(map(has_one_first_line, case["completions"])),
)
