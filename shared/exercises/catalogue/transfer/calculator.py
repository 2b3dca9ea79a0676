"""A calculator as an environment: `calculator(completion) -> text`, what follows "a + b =" at the end, else ""."""

import re

from shared.exercises.arguments import Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Text
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def asked(completion):
    """The two numbers of a sum that ends the text, [] where it does not end so."""
    found = re.search(r"([0-9]+) \+ ([0-9]+) =$", completion)
    return [int(number) for number in found.groups()] if found else []


@STEPS.step
def result(asked):
    return str(sum(asked)) if asked else ""


@STEPS.step
def said(result):
    return f" {result}\n" if result else ""


@STEPS.slip(
    "asked",
    'You answer wherever a sum stands. Only the end of the text is a question: after "2 + 3 = 5" the policy has the word.',
)
def anywhere(completion):
    found = re.findall(r"([0-9]+) \+ ([0-9]+) =", completion)
    return [int(number) for number in found[-1]] if found else []


@STEPS.slip("asked", "You answer the first sum of the text, its first two numbers. The question is the one at its end.")
def first_sum(completion, asked):
    found = re.search(r"([0-9]+) \+ ([0-9]+) =", completion)
    return [int(number) for number in found.groups()] if asked else []


@STEPS.slip(
    "asked", 'You answer before the "=". The policy writes it; the environment waits until it stands at the end.'
)
def too_early(completion):
    found = re.search(r"([0-9]+) \+ ([0-9]+)(?: =)?$", completion)
    return [int(number) for number in found.groups()] if found else []


@STEPS.slip("asked", 'Numbers of one digit only are read: in "17 + 25 =" you add 7 and 2 or 5.')
def single_digits(completion):
    found = re.search(r"([0-9])[0-9]* \+ ([0-9])[0-9]* =$", completion)
    return [int(number) for number in found.groups()] if found else []


@STEPS.slip("result", "The two numbers are written behind each other. Read them as numbers and add.")
def joined(asked):
    return "".join(map(str, asked))


@STEPS.slip("said", "The space before the result is missing: the format of the documents is `17 + 25 = 42`.")
def without_space(result):
    return f"{result}\n" if result else ""


@STEPS.slip("said", "The end of the line is missing: then the policy goes on in the result's line, with more digits.")
def without_line_end(result):
    return f" {result}" if result else ""


@STEPS.slip("said", "You repeat the question. It stands in the completion already: return what comes behind it.")
def with_question(said, completion):
    return completion + said if said else ""


@STEPS.slip(
    "said", "Where there is no question you say something. Return the empty text: then the policy has the word."
)
def never_silent(result):
    return f" {result}\n"


@STEPS.slip(
    "asked",
    "`$` stands for the end of any line under re.MULTILINE: an earlier line is answered. Only the end of the text is a "
    "question.",
)
def end_of_any_line(completion):
    found = re.search(r"([0-9]+) \+ ([0-9]+) =$", completion, re.MULTILINE)
    return [int(number) for number in found.groups()] if found else []


@STEPS.slip("asked", "A `.*` in front takes the digits of the first number but the last: 17 + 25 is read as 7 + 25.")
def first_number_swallowed(completion):
    found = re.search(r"([0-9]) \+ ([0-9]+) =$", completion)
    return [int(number) for number in found.groups()] if found else []


@STEPS.slip("asked", "Blanks behind the `=` are allowed. The question ends in ` =`, at the very end.")
def blanks_behind(completion):
    found = re.search(r"([0-9]+) \+ ([0-9]+) =\s*$", completion)
    return [int(number) for number in found.groups()] if found else []


@STEPS.slip(
    "asked", "Only a text that is the question and nothing else is answered. It stands at the end of what was said."
)
def nothing_before_it(completion):
    found = re.fullmatch(r"([0-9]+) \+ ([0-9]+) =", completion)
    return [int(number) for number in found.groups()] if found else []


@STEPS.slip(
    "asked", "Only a question that begins its line is answered. Words may stand before it: look at the end alone."
)
def line_begins_with_it(completion):
    found = re.fullmatch(r"([0-9]+) \+ ([0-9]+) =", completion.split("\n")[-1])
    return [int(number) for number in found.groups()] if found else []


@STEPS.slip(
    "said", "The `=` is written again. It stands in the completion already: behind it comes a space and the sum."
)
def with_equals_sign(result):
    return f" = {result}\n" if result else ""


@STEPS.slip("result", "The two numbers are multiplied. They are to be added.")
def multiplied(asked):
    return str(asked[0] * asked[1]) if asked else ""


@STEPS.slip("said", "The result stands on a line of its own. Behind the question comes a space.")
def on_a_line_of_its_own(result):
    return f"\n{result}\n" if result else ""


@STEPS.slip(
    "asked",
    "Numbers have at most two digits in yours: of a longer one only the end is read, or nothing. Take any number of digits, "
    "`[0-9]+`.",
)
def two_digits(completion):
    found = re.search(r"([0-9]{1,2}) \+ ([0-9]{1,2}) =$", completion)
    return [int(number) for number in found.groups()] if found else []


@STEPS.slip(
    "asked",
    "The last sum is looked for anywhere, and of the end only the `=` is asked for: an unfinished line of another kind gets "
    "the result of an older sum. The sum itself has to stand at the end.",
)
def any_sum_before_an_equals_sign(completion):
    found = re.findall(r"([0-9]+) \+ ([0-9]+) =", completion)
    return [int(number) for number in found[-1]] if found and completion.endswith(" =") else []


def draw(draw: Draw) -> Case:
    a, b = draw.randrange(1000), draw.randrange(100)
    line = draw.choice(["", f"{a % 10} + {b % 10} = {a % 10 + b % 10}\n"])
    ending = draw.choice([" =", " =", " =", "", " = ", f" = {a + b}", f" = {a + b}\n", " ="])
    operation = draw.choice(["+", "+", "+", "+", "-"])
    return {"completion": f"{draw.choice(['', '', '<think>' + chr(10), 'So '])}{line}{a} {operation} {b}{ending}"}


def boundary() -> list[Case]:
    texts = [
        "2 + 3 =",
        "well, it is 2 + 3 =",
        "17 + 25 =",
        "<think>\n7 + 5 = 12\n17 + 25 =",
        "<think>\n7 + 5 = 12\n",
        "<think>\n7 + 5 = 12\n17 + 25",
        "7 + 5 = 1",
        "7 + 5 =\nwell",
        "0 + 0 =",
        "=",
        "+ 5 =",
        "12 - 5 =",
        "well, the result is 12.",
        "",
    ]
    return [{"completion": text} for text in texts]


EXERCISE = Exercise(
    name="calculator",
    function="calculator",
    contract='`f(completion) -> text`: what comes behind a sum that ends the completion, "" behind anything else.',
    steps=STEPS,
    arguments={"completion": Things()},
    result=Text(),
    draw=draw,
    boundary=boundary,
)
