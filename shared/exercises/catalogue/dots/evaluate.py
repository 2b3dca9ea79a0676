"""Evaluation of a model: `evaluate(model, rows, temperature=0.0, num_generations=1) -> (completions, rewards)`.

What is compared is which completion got which reward; the model says what it was told to, greedily and by chance.
"""

import torch

from shared.exercises.arguments import Kind, Scalar, Things
from shared.exercises.catalogue.dots import get_reward
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.stand_ins.scored import Scored
from shared.exercises.stand_ins.speaking import SETTINGS, Speaker, drawn_speaker, standing_in
from shared.exercises.steps import Steps

STEPS = Steps()
SCORED = get_reward.EXERCISE.reference()


@STEPS.step
def prompts(rows):
    return [row["prompt"] for row in rows]


@STEPS.step
def completions(model, prompts, num_generations, temperature):
    return [text for prompt in prompts for text in model.says(prompt, temperature, num_generations)]


@STEPS.step
def asked(prompts, num_generations):
    return [prompt for prompt in prompts for _ in range(num_generations)]


@STEPS.step
def answers(rows, num_generations):
    """The answer that belongs to each completion."""
    return [row["answer"] for row in rows for _ in range(num_generations)]


@STEPS.step
def rewards(asked, completions, answers):
    return torch.tensor(SCORED(asked, completions, answers))


@STEPS.step
def scored(completions, rewards):
    return completions, rewards


@STEPS.slip(
    "answers",
    "Completions and answers do not belong together: the completions of a prompt lie next to each other, p0 p0 p1 p1, and "
    "yours repeat all answers, p0 p1 p0 p1. Use `rollout.repeated`.",
)
def answers_tiled(rows, num_generations):
    return [row["answer"] for row in rows] * num_generations


@STEPS.slip("answers", "Every completion is compared with the first row's answer. Each has its own row's.")
def first_answer_for_all(rows, num_generations):
    return [rows[0]["answer"]] * (len(rows) * num_generations)


@STEPS.slip("answers", "The answers come in reverse.")
def answers_reversed(answers):
    return answers[::-1]


@STEPS.slip("temperature", "The temperature is written down as 0. Use the argument: below, the same function samples.")
def always_greedy():
    return 0.0


@STEPS.slip(
    "temperature",
    "You sample always. Greedy, temperature 0, is the default: the result is then the same each time.",
)
def always_sampled():
    return 1.0


@STEPS.slip("num_generations", "One completion is made for each prompt. Use `num_generations`.")
def always_one():
    return 1


@STEPS.slip("rows", "Only the first row is evaluated.")
def first_row_only(rows):
    return rows[:1]


@STEPS.slip(
    "rows",
    "A prompt that occurs twice is evaluated once: the keys of a dict are all different. Go through the rows themselves.",
)
def repeated_prompts_once(rows):
    return list({row["prompt"]: row for row in rows}.values())


@STEPS.slip("scored", "Completions and rewards are returned in the other order: the completions come first.")
def returned_the_other_way(completions, rewards):
    return list(map(str, rewards.tolist())), rewards * 0


@STEPS.slip("rewards", "All completions get the average reward. Return one reward for each.")
def averaged(rewards):
    return rewards.mean().expand_as(rewards)


@STEPS.slip("rewards", "You return the average reward. Return one for each completion; what follows takes the mean.")
def one_average(rewards):
    return rewards.mean()


@STEPS.slip("rewards", "The best reward of each prompt is kept. Return one for each completion.")
def best_of_each(rewards, num_generations):
    best = rewards.view(-1, num_generations).max(dim=1, keepdim=True).values
    return best.expand(-1, num_generations).flatten()


@STEPS.slip(
    "answers",
    "The answers are not repeated: there is one for each row, and there are `num_generations` completions. `zip` stops "
    "at the shorter list. Use `rollout.repeated`.",
)
def answers_not_repeated(rows):
    return [row["answer"] for row in rows]


def call(function, case: Case):
    """Call with a `sample` that asks the case's model."""
    with standing_in(function):
        return function(
            case["model"], case["rows"], temperature=case["temperature"], num_generations=case["num_generations"]
        )


TEXTS = (" 3", " 4", "3\n", " 5 dots", " 12", " 0", "")


@STEPS.slip(
    "scored",
    "Each prompt is sampled in `num_generations` calls: its completions do not stand next to each other, and with one seed "
    "they are all alike. Let one call of `sample` make them all.",
)
def sampled_again_and_again(model, prompts, rows, temperature, num_generations):
    said = [model.says(prompt, temperature, 1)[0] for prompt in prompts] * num_generations
    return said, torch.tensor(SCORED(said, said, [row["answer"] for row in rows] * num_generations))


@STEPS.slip(
    "completions", "All completions of a prompt are its first one. Let `sample` make `num_generations` of each."
)
def first_one_repeated(model, prompts, num_generations, temperature):
    return [text for prompt in prompts for text in model.says(prompt, temperature, 1) * num_generations]


@STEPS.slip("rewards", "The rewards of each row are averaged. Return one for each completion.")
def averaged_by_row(rewards, num_generations):
    return rewards.view(-1, num_generations).mean(dim=1)


def draw(draw: Draw) -> Case:
    rows = [{"prompt": f"{name}:", "answer": draw.choice(["3", "4", "12", "0"])} for name in "abcd"[: draw.size()]]
    if draw.random() < 0.2:
        rows.append(rows[0])
    return {
        "model": drawn_speaker(draw, [row["prompt"] for row in rows], list(TEXTS)),
        "rows": rows,
        "temperature": draw.choice([0.0, 0.0, 1.0, 0.7]),
        "num_generations": draw.choice([1, 2, 3]),
    }


def boundary() -> list[Case]:
    rows = [{"prompt": "a:", "answer": "3"}, {"prompt": "b:", "answer": "4"}]
    model = Speaker({"a:": " 3", "b:": " 3"}, {"a:": [" 4", " 3"], "b:": [" 4", " 5"]})
    greedy = {"model": model, "rows": rows, "temperature": 0.0, "num_generations": 1}
    sampled = greedy | {"temperature": 1.0, "num_generations": 2}
    return [greedy | {"rows": rows[:1]}, greedy, sampled, greedy | {"rows": rows + rows[:1]}]


EXERCISE = Exercise(
    name="evaluation",
    function="evaluate",
    contract="`f(model, rows, temperature=0.0, num_generations=1) -> (completions, rewards)`.",
    steps=STEPS,
    arguments={
        "model": Kind(),
        "rows": Things("N"),
        "temperature": Scalar(),
        "num_generations": Scalar(usual=1, simple=(1, 2)),
    },
    result=Scored(),
    draw=draw,
    boundary=boundary,
    call=call,
    needs=(get_reward.EXERCISE,),
    draws=60,
    supplies=tuple(SETTINGS),
    shows=("shared.exercises.stand_ins.scored", "shared.exercises.stand_ins.speaking"),
)
