"""Wrong rewards for counting: `f(prompts, responses, answers) -> list of floats`. Right is 1.0 for the number alone."""

import re

from shared.exercises.mistakes import Mistakes

MISTAKES = Mistakes()


@MISTAKES.known(
    "A response is accepted when the answer occurs anywhere in it: 13 and 30 pass for 3, and so does a list of all "
    "numbers. Compare the whole stripped first line."
)
def substring(prompts, responses, answers):
    return [float(a in r) for r, a in zip(responses, answers)]


@MISTAKES.known(
    "Your reward reads the prompt as well: what the user wrote can earn it, whatever the model says. Look at the "
    "response only."
)
def prompt_read_as_well(prompts, responses, answers):
    return [float(a in p + r) for p, r, a in zip(prompts, responses, answers)]


@MISTAKES.known(
    'White space matters to your comparison: " 3" and "3\\n" are right answers, and sampled text nearly always starts '
    "with a space. Strip before comparing."
)
def white_space_matters(prompts, responses, answers):
    return [float(r == a) for r, a in zip(responses, answers)]


@MISTAKES.known('Any response that begins with the answer passes: "30" and "3 or 4" for 3.')
def beginning_is_enough(prompts, responses, answers):
    return [float(r.strip().startswith(a)) for r, a in zip(responses, answers)]


@MISTAKES.known(
    "The test is the wrong way round: you ask whether the response is contained in the answer. The empty response is "
    "contained in everything."
)
def contained_in_the_answer(prompts, responses, answers):
    return [float(r.strip() in a) for r, a in zip(responses, answers)]


@MISTAKES.known(
    "You take the first number found anywhere in the text. A response that talks around the number is not the format "
    "asked for, and the model learns to chat before it answers."
)
def first_number_anywhere(prompts, responses, answers):
    numbers = [re.findall(r"\d+", r) for r in responses]
    return [float(bool(n) and n[0] == a) for n, a in zip(numbers, answers)]


@MISTAKES.known(
    "You take the last number found anywhere in the text: a response that lists many numbers and ends well is paid."
)
def last_number_anywhere(prompts, responses, answers):
    numbers = [re.findall(r"\d+", r) for r in responses]
    return [float(bool(n) and n[-1] == a) for n, a in zip(numbers, answers)]


@MISTAKES.known("Any number earns the reward. It must be the right one: compare with the answer.")
def any_number(prompts, responses, answers):
    return [float(r.strip().isdigit()) for r in responses]


@MISTAKES.known("Right and wrong are exchanged: right responses get 0 and wrong ones 1.")
def exchanged(prompts, responses, answers):
    return [float((r.strip().splitlines() or [""])[0].strip() != a) for r, a in zip(responses, answers)]


@MISTAKES.known(
    "Every response is compared with the first answer. Each has its own: go through responses and answers together "
    "with `zip`."
)
def first_answer_for_all(prompts, responses, answers):
    return [float((r.strip().splitlines() or [""])[0].strip() == answers[0]) for r in responses]


@MISTAKES.known("All responses share one average reward. Return one number for each response: GRPO compares them.")
def same_for_all(prompts, responses, answers):
    rewards = [float((r.strip().splitlines() or [""])[0].strip() == a) for r, a in zip(responses, answers)]
    return [sum(rewards) / len(rewards)] * len(rewards)
