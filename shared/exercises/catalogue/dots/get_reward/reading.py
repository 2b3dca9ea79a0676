"""Slips of what is read: whose text, and which line of it."""

from shared.exercises.catalogue.common.every_reward import REWARD_SLIPS
from shared.exercises.steps import Slips

SLIPS = Slips()


SLIPS.extend(
    REWARD_SLIPS.named(
        "prompt_read_as_well", "prompt_read_instead", "line_not_stripped", "empty_completion_raises", "last_line"
    )
)


@SLIPS.slip("texts", "Only the first completion is read. Go through all of them: one reward for each.")
def first_completion_for_all(completions):
    return [completions[0]] * len(completions)


@SLIPS.slip(
    "lines",
    'White space matters to your comparison: " 3" and "3\\n" are right answers, and sampled text nearly always starts '
    "with a space. Strip before comparing.",
)
def white_space_matters(texts):
    return [(text.splitlines() or [""])[0] for text in texts]


@SLIPS.slip(
    "lines",
    'A completion that begins with an empty line earns nothing: "\\n3" is right. Strip the completion before you take its '
    "first line.",
)
def empty_first_line_read(texts):
    return [(text.splitlines() or [""])[0].strip() for text in texts]


SLIPS.extend(REWARD_SLIPS.named("whole_completion", "first_word_only"))


@SLIPS.slip(
    "lines",
    "Any line may hold the answer: a completion that lists all numbers, one a line, is paid. Compare the first line.",
)
def any_line(texts, wanted):
    found = []
    for text, answer in zip(texts, wanted):
        stripped = [line.strip() for line in text.strip().splitlines()] or [""]
        found.append(answer if answer in stripped else stripped[0])
    return found


@SLIPS.slip("lines", 'Full stops are taken off: "3." is not the answer and nothing else. Strip white space only.')
def punctuation_stripped(lines):
    return [line.strip(".,;:!?") for line in lines]
