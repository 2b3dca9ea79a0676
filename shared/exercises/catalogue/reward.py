"""The exact-match reward: `get_reward(prompts, responses, answers) -> list of floats`."""

import re

from shared.exercises.arguments import Texts
from shared.exercises.drawing import HOSTILE, Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Floats
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def texts(responses):
    return responses


@STEPS.step
def lines(texts):
    return [(text.strip().splitlines() or [""])[0].strip() for text in texts]


@STEPS.step
def wanted(answers):
    return answers


@STEPS.step
def matches(lines, wanted):
    return [line == answer for line, answer in zip(lines, wanted)]


@STEPS.step
def rewards(matches):
    return [float(match) for match in matches]


# --- what is read


@STEPS.slip(
    "texts",
    "Your reward reads the prompt as well: what the user wrote can earn it, whatever the model says. Look at the "
    "response only.",
)
def prompt_read_as_well(prompts, responses):
    return [prompt + response for prompt, response in zip(prompts, responses)]


@STEPS.slip("texts", "Your reward reads the prompt instead of the response: every response to a prompt earns the same.")
def prompt_read_instead(prompts):
    return prompts


@STEPS.slip("texts", "Only the first response is read. Go through all of them: one reward for each.")
def first_response_for_all(responses):
    return [responses[0]] * len(responses)


@STEPS.slip(
    "lines",
    'White space matters to your comparison: " 3" and "3\\n" are right answers, and sampled text nearly always starts '
    "with a space. Strip before comparing.",
)
def white_space_matters(texts):
    return [(text.splitlines() or [""])[0] for text in texts]


@STEPS.slip(
    "lines",
    "The line itself is not stripped: a space behind the number, before the line ends, makes a right answer wrong.",
)
def line_not_stripped(texts):
    return [(text.strip().splitlines() or [""])[0] for text in texts]


@STEPS.slip(
    "lines",
    'A response that begins with an empty line earns nothing: "\\n3" is right. Strip the response before you take its '
    "first line.",
)
def empty_first_line_read(texts):
    return [(text.splitlines() or [""])[0].strip() for text in texts]


@STEPS.slip(
    "lines",
    "The whole response has to be the answer, and a model that goes on after the line with the right number gets "
    "nothing. Compare the first line only.",
)
def whole_response(texts):
    return [text.strip() for text in texts]


@STEPS.slip("lines", "The last line is compared. Compare the first: what follows may be chatter.")
def last_line(texts):
    return [(text.strip().splitlines() or [""])[-1].strip() for text in texts]


@STEPS.slip(
    "lines",
    "Any line may hold the answer: a response that lists all numbers, one a line, is paid. Compare the first line.",
)
def any_line(texts, wanted):
    found = []
    for text, answer in zip(texts, wanted):
        stripped = [line.strip() for line in text.strip().splitlines()] or [""]
        found.append(answer if answer in stripped else stripped[0])
    return found


@STEPS.slip(
    "lines",
    'Only the first word is compared: "3 or 4" and "3 dots" pass. The whole first line has to be the answer.',
)
def first_word_only(texts):
    return [(text.split() or [""])[0] for text in texts]


@STEPS.slip("lines", 'Full stops are taken off: "3." is not the answer and nothing else. Strip white space only.')
def punctuation_stripped(lines):
    return [line.strip(".,;:!?") for line in lines]


@STEPS.slip(
    "lines", "An empty response raises IndexError: its list of lines is empty. Look whether there is a first line."
)
def empty_response_raises(texts):
    return [text.strip().splitlines()[0].strip() for text in texts]


# --- the comparison


@STEPS.slip(
    "matches",
    "A response is accepted when the answer occurs anywhere in it: 13 and 30 pass for 3, and so does a list of all "
    "numbers. Compare the whole stripped first line.",
)
def substring(texts, wanted):
    return [answer in text for text, answer in zip(texts, wanted)]


@STEPS.slip(
    "matches",
    "The first line passes when the answer occurs anywhere in it: 13 and 30 pass for 3. The line has to be equal to it.",
)
def substring_of_the_line(lines, wanted):
    return [answer in line for line, answer in zip(lines, wanted)]


@STEPS.slip("matches", 'Any response that begins with the answer passes: "30" and "3 or 4" for 3.')
def beginning_is_enough(lines, wanted):
    return [line.startswith(answer) for line, answer in zip(lines, wanted)]


@STEPS.slip("matches", 'Any line that ends with the answer passes: "13" and "it is 3" for 3.')
def end_is_enough(lines, wanted):
    return [line.endswith(answer) for line, answer in zip(lines, wanted)]


@STEPS.slip(
    "matches",
    "The test is the wrong way round: you ask whether the response is contained in the answer. The empty response is "
    "contained in everything.",
)
def contained_in_the_answer(lines, wanted):
    return [line in answer for line, answer in zip(lines, wanted)]


@STEPS.slip(
    "matches",
    "You take the first number found anywhere in the text. A response that talks around the number is not the format "
    "asked for, and the model learns to chat before it answers.",
)
def first_number_anywhere(texts, wanted):
    numbers = [re.findall(r"\d+", text) for text in texts]
    return [bool(found) and found[0] == answer for found, answer in zip(numbers, wanted)]


@STEPS.slip(
    "matches",
    "You take the last number found anywhere in the text: a response that lists many numbers and ends well is paid.",
)
def last_number_anywhere(texts, wanted):
    numbers = [re.findall(r"\d+", text) for text in texts]
    return [bool(found) and found[-1] == answer for found, answer in zip(numbers, wanted)]


@STEPS.slip("matches", "Any number earns the reward. It must be the right one: compare with the answer.")
def any_number(lines):
    return [line.isdigit() for line in lines]


@STEPS.slip(
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


@STEPS.slip(
    "matches",
    'Only the first character is compared: "13" passes for 1 and "10" never does.',
)
def first_character(lines, wanted):
    return [line[:1] == answer for line, answer in zip(lines, wanted)]


@STEPS.slip(
    "wanted",
    "Every response is compared with the first answer. Each has its own: go through responses and answers together "
    "with `zip`.",
)
def first_answer_for_all(answers):
    return [answers[0]] * len(answers)


# --- what is paid


@STEPS.slip("matches", "Right and wrong are exchanged: right responses get 0 and wrong ones 1.")
def exchanged(matches):
    return [not match for match in matches]


@STEPS.slip(
    "rewards", "All responses share one average reward. Return one number for each response: GRPO compares them."
)
def same_for_all(rewards):
    return [sum(rewards) / len(rewards)] * len(rewards)


@STEPS.slip("rewards", "You return one number. Return a list with one for each response: GRPO compares them.")
def one_number(rewards):
    return sum(rewards)


@STEPS.slip("rewards", "Wrong responses get -1. The exercise asks for 0.0, so that an average reward is a share.")
def punished(rewards):
    return [2 * reward - 1 for reward in rewards]


@STEPS.slip("rewards", "You return inside the loop: the list ends with the first response. Take `return` out of it.")
def returned_too_early(rewards):
    return rewards[:1]


@STEPS.slip("rewards", "Wrong responses are left out of the list. It needs one number for each response, 0.0 as well.")
def only_the_right_ones(rewards):
    return [reward for reward in rewards if reward]


# --- the cases

FRAMES = (
    "{a}",
    " {a}",
    "{a}\n",
    "\n{a}",
    " \n {a} \n",
    "{a} \nDots: . .\n5",
    " {a}\nNext",
    "{b}\n{a}",
    "{b}",
    " {b}\n",
    "1{a}",
    "{a}0",
    "{a}{a}",
    "{a} or {b}",
    "{b} or {a}",
    "{b} {a}",
    "{a} dots",
    "it is {a}",
    "it is {a}\n{b}",
    "not {b} but {a}",
    "{a}.",
    "{a}.0",
    "0{a}",
    "+{a}",
    "-{a}",
    '"{a}"',
    "three",
    "well, let me see.",
)


def draw(draw: Draw) -> Case:
    rows = [_row(draw) for _ in range(draw.size(5))]
    prompts, responses, answers = map(list, zip(*rows))
    return {"prompts": prompts, "responses": responses, "answers": answers}


def _row(draw: Draw) -> tuple[str, str, str]:
    answer = str(draw.choice([1, 2, 3, 5, 7, 9, 10, 12, 21]))
    other = str(draw.choice([1, 2, 4, 8, 10, 11]))
    response = draw.choice(HOSTILE) if draw.random() < 0.1 else draw.choice(FRAMES).format(a=answer, b=other)
    prompt = draw.choice(["Count the dots: . * .\nDots:", f"{answer}", f"Count the dots: . * . {answer}\nDots:"])
    return prompt, response, answer


def boundary() -> list[Case]:
    prompt = "Count the dots: . * 3\nDots:"
    responses = [frame.format(a="3", b="4") for frame in FRAMES] + list(HOSTILE)
    single = [{"prompts": [prompt], "responses": [response], "answers": ["3"]} for response in responses]
    whole = {"prompts": [prompt] * len(responses), "responses": responses, "answers": ["3"] * len(responses)}
    long = {"prompts": [prompt] * 3, "responses": ["10", "1", "0"], "answers": ["10"] * 3}
    return [*single, whole, long]


EXERCISE = Exercise(
    name="reward",
    function="get_reward",
    steps=STEPS,
    arguments={"prompts": Texts("B", always_shown=False), "responses": Texts("B"), "answers": Texts("B")},
    result=Floats(),
    draw=draw,
    boundary=boundary,
    valid=lambda case: all(case["answers"]),
)
