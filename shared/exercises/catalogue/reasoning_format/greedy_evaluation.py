"""Evaluation by two rewards: `greedy_evaluation(rows) -> (completions, format rewards, correctness rewards)`, greedy.

The function finds its model, as `policy`, and `sample` in its notebook. While it is judged, stand-ins take their places
and say what they were told to.
"""

import torch

from shared.exercises.arguments import Kind, Things
from shared.exercises.catalogue.reasoning_format import format_reward
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise, is_reference
from shared.exercises.stand_ins.scored import Scored
from shared.exercises.stand_ins.speaking import SETTINGS, Speaker, drawn_speaker, names, standing_in
from shared.exercises.steps import Steps
from shared.tasks.addition import correctness_reward
from shared.tasks.tags import tagged

STEPS = Steps()
IN_FORMAT = format_reward.EXERCISE.reference()


@STEPS.step
def prompts(rows):
    return [row["prompt"] for row in rows]


@STEPS.step
def temperature():
    return 0.0


@STEPS.step
def completions(model, prompts, temperature):
    return [text for prompt in prompts for text in model.says(prompt, temperature, 1)]


@STEPS.step
def answers(rows):
    return [row["answer"] for row in rows]


@STEPS.step
def formatted(prompts, completions):
    return torch.tensor(IN_FORMAT(prompts, completions))


@STEPS.step
def correct(prompts, completions, answers):
    return torch.tensor(correctness_reward(prompts, completions, answers))


@STEPS.step
def scored(completions, formatted, correct):
    return completions, formatted, correct


@STEPS.slip("temperature", "You sample. An evaluation is greedy, temperature 0: evaluated twice, it gives the same.")
def sampled():
    return 1.0


@STEPS.slip("answers", "Every completion is compared with the first row's answer. Each has its own row's.")
def first_answer_for_all(answers):
    return answers[:1] * len(answers)


@STEPS.slip("answers", "The answers come in reverse.")
def answers_reversed(answers):
    return answers[::-1]


@STEPS.slip("rows", "Only the first row is evaluated.")
def first_row_only(rows):
    return rows[:1]


@STEPS.slip(
    "rows",
    "A prompt that occurs twice is evaluated once: the keys of a dict are all different. Go through the rows themselves.",
)
def repeated_prompts_once(rows):
    return list({row["prompt"]: row for row in rows}.values())


@STEPS.slip("scored", "The two rewards are exchanged: format comes first, then correctness.")
def rewards_exchanged(completions, formatted, correct):
    return completions, correct, formatted


@STEPS.slip("correct", "You return the format reward twice. The second is `addition.correctness_reward`.")
def format_twice(formatted):
    return formatted


@STEPS.slip("scored", "The two rewards are added up. Return them apart: completions, format, correctness.")
def added_up(completions, formatted, correct):
    return completions, formatted + correct


@STEPS.slip("formatted", "All completions get the average format reward. Return one for each.")
def averaged(formatted):
    return formatted.mean().expand_as(formatted)


@STEPS.slip("scored", "The two rewards are averaged over the rows. Return one of each for each completion.")
def means_returned(completions, formatted, correct):
    return completions, formatted.mean(), correct.mean()


def call(function, case: Case):
    """Call with a `sample` and a `policy` that say what the case's model says."""
    with standing_in(function, policy=case["model"]):
        return function(*case.values()) if is_reference(function) else function(case["rows"])


TEXTS = (tagged("17 + 25 = 42", "42"), tagged("so", "43"), tagged("so", "0"), "42", "<answer>\n42\n</answer>", "")


@STEPS.slip("correct", "All completions get the average correctness. Return one for each.")
def correctness_averaged(correct):
    return correct.mean().expand_as(correct)


@STEPS.slip("formatted", "You return the correctness reward twice. The first is `format_reward`.")
def correctness_twice(correct):
    return correct


@STEPS.slip("correct", "The second tensor is the sum of both rewards. Return correctness alone.")
def sum_for_correctness(formatted, correct):
    return formatted + correct


@STEPS.slip("scored", "The third tensor is missing: return completions, format and correctness.")
def correctness_left_out(completions, formatted):
    return completions, formatted


@STEPS.slip(
    "scored", "The table (N, 2) of the two rewards is taken apart by rows. A reward is a column, `rewards[:, 0]`."
)
def taken_apart_by_rows(completions, formatted, correct):
    table = torch.stack([formatted, correct], dim=1)
    return completions, table[0], table[1]


@STEPS.slip(
    "completions",
    "Several completions are sampled for each prompt, and the first N of the list are kept: these belong to the first "
    "prompts alone. Sample one of each.",
)
def first_of_the_list(completions):
    return completions[:1] * len(completions)


def draw(draw: Draw) -> Case:
    rows = [{"prompt": f"{name}:", "answer": draw.choice(["42", "43", "0"])} for name in names(draw.size())]
    if draw.random() < 0.2:
        rows.append(rows[0])
    return {"rows": rows, "model": drawn_speaker(draw, [row["prompt"] for row in rows], list(TEXTS))}


def boundary() -> list[Case]:
    rows = [{"prompt": "a:", "answer": "42"}, {"prompt": "b:", "answer": "43"}]
    right, wrong = TEXTS[0], TEXTS[3]
    model = Speaker({"a:": right, "b:": right}, {"a:": [wrong], "b:": [right]})
    return [{"rows": part, "model": model} for part in (rows[:1], rows, rows + rows[:1])]


EXERCISE = Exercise(
    name="evaluation",
    function="greedy_evaluation",
    contract="`f(rows) -> (completions, format rewards, correctness rewards)`, greedy.",
    steps=STEPS,
    arguments={"rows": Things("N"), "model": Kind()},
    result=Scored(),
    draw=draw,
    boundary=boundary,
    call=call,
    needs=(format_reward.EXERCISE,),
    draws=60,
    supplies=(*SETTINGS, "policy"),
    shows=("shared.exercises.stand_ins.scored", "shared.exercises.stand_ins.speaking"),
)
