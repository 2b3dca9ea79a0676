"""Slips of the comparison: with what, and when a line counts as the answer."""

import re

from shared.exercises.catalogue.common.every_reward import REWARD_SLIPS
from shared.exercises.steps import Slips

SLIPS = Slips()


@SLIPS.slip(
    "matches",
    "A completion is accepted when the answer occurs anywhere in it: 13 and 30 pass for 3, and so does a list of all "
    "numbers. Compare the whole stripped first line.",
)
def substring(texts, wanted):
    return [answer in text for text, answer in zip(texts, wanted)]


@SLIPS.slip(
    "matches",
    "The first line passes when the answer occurs anywhere in it: 13 and 30 pass for 3. The line has to be equal to it.",
)
def substring_of_the_line(lines, wanted):
    return [answer in line for line, answer in zip(lines, wanted)]


@SLIPS.slip("matches", 'Any completion that begins with the answer passes: "30" and "3 or 4" for 3.')
def beginning_is_enough(lines, wanted):
    return [line.startswith(answer) for line, answer in zip(lines, wanted)]


@SLIPS.slip("matches", 'Any line that ends with the answer passes: "13" and "it is 3" for 3.')
def end_is_enough(lines, wanted):
    return [line.endswith(answer) for line, answer in zip(lines, wanted)]


@SLIPS.slip(
    "matches",
    "The test is the wrong way round: you ask whether the completion is contained in the answer. The empty completion is "
    "contained in everything.",
)
def contained_in_the_answer(lines, wanted):
    return [line in answer for line, answer in zip(lines, wanted)]


@SLIPS.slip(
    "matches",
    "You take the first number found anywhere in the text. A completion that talks around the number is not the format "
    "asked for, and the model learns to chat before it answers.",
)
def first_number_anywhere(texts, wanted):
    numbers = [re.findall(r"\d+", text) for text in texts]
    return [bool(found) and found[0] == answer for found, answer in zip(numbers, wanted)]


@SLIPS.slip(
    "matches",
    "You take the last number found anywhere in the text: a completion that lists many numbers and ends well is paid.",
)
def last_number_anywhere(texts, wanted):
    numbers = [re.findall(r"\d+", text) for text in texts]
    return [bool(found) and found[-1] == answer for found, answer in zip(numbers, wanted)]


@SLIPS.slip("matches", "Any number earns the reward. It must be the right one: compare with the answer.")
def any_number(lines):
    return [line.isdigit() for line in lines]


@SLIPS.slip(
    "matches",
    'Numbers are compared instead of texts, so that "03", "+3" and "3.0" are paid as well. The line has to be the answer '
    "itself.",
)
def numbers_compared(lines, wanted):
    return [_number(line) is not None and _number(line) == _number(answer) for line, answer in zip(lines, wanted)]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@SLIPS.slip(
    "matches",
    'Whole numbers are compared instead of texts: `int` reads "03", "+3" and digits of other scripts, such as "٣", as 3. The '
    "line has to be the answer itself.",
)
def whole_numbers_compared(lines, wanted):
    return [
        _whole_number(line) is not None and _whole_number(line) == int(answer) for line, answer in zip(lines, wanted)
    ]


def _whole_number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


@SLIPS.slip(
    "matches",
    'What consists of digits is compared as a number: "03" and digits of other scripts, such as "٣", pass for 3. The line '
    "has to be the answer itself.",
)
def digits_as_numbers(lines, wanted):
    return [line.isdecimal() and int(line) == int(answer) for line, answer in zip(lines, wanted)]


@SLIPS.slip(
    "matches",
    'Only the first character is compared: "13" passes for 1 and "10" never does.',
)
def first_character(lines, wanted):
    return [line[:1] == answer for line, answer in zip(lines, wanted)]


SLIPS.extend(REWARD_SLIPS.named("first_answer_for_all"))


@SLIPS.slip(
    "matches",
    'Only the digits of the line are compared: "3 dots" and "it is 3" pass. The line has to be the answer and nothing else.',
)
def digits_compared(lines, wanted):
    return ["".join(sign for sign in line if sign.isdigit()) == answer for line, answer in zip(lines, wanted)]
