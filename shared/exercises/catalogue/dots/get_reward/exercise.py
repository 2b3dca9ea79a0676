"""The exact-match reward: `get_reward(prompts, completions, answer, **columns) -> list of floats`."""

from shared.exercises.arguments import Texts
from shared.exercises.catalogue.common.every_reward import as_score_calls, texts
from shared.exercises.catalogue.dots.get_reward import comparing, paying, reading
from shared.exercises.drawing import HOSTILE, Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Floats
from shared.exercises.steps import Steps

STEPS = Steps()


STEPS.step(texts)


@STEPS.step
def lines(texts):
    return [(text.strip().splitlines() or [""])[0].strip() for text in texts]


@STEPS.step
def wanted(answer):
    return answer


@STEPS.step
def matches(lines, wanted):
    return [line == answer for line, answer in zip(lines, wanted)]


@STEPS.step
def rewards(matches):
    return [float(match) for match in matches]


for idea in (reading, comparing, paying):
    STEPS.add(*idea.SLIPS)


FRAMES = (
    "{a}",
    " {a}",
    "{a}\n",
    "\n{a}",
    "\t\n\t{a}\t\n",
    "{a} \t\nDots: . .\n5",
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
    prompts, completions, answer = map(list, zip(*rows))
    completions = completions[:1] * len(rows) if draw.random() < 0.1 else completions
    return {"prompts": prompts, "completions": completions, "answer": answer}


def _row(draw: Draw) -> tuple[str, str, str]:
    answer = str(draw.choice([0, 0, 1, 2, 3, 5, 7, 9, 10, 12, 21]))
    other = str(draw.choice([1, 2, 4, 8, 10, 11]))
    completion = draw.choice(HOSTILE) if draw.random() < 0.1 else draw.choice(FRAMES).format(a=answer, b=other)
    prompt = draw.choice(["Count the dots: . * .\nDots:", f"{answer}", f"Count the dots: . * . {answer}\nDots:"])
    return prompt, completion, answer


def boundary() -> list[Case]:
    prompt = "Count the dots: . * 3\nDots:"
    completions = [frame.format(a="3", b="4") for frame in FRAMES] + list(HOSTILE)
    single = [{"prompts": [prompt], "completions": [completion], "answer": ["3"]} for completion in completions]
    whole = {"prompts": [prompt] * len(completions), "completions": completions, "answer": ["3"] * len(completions)}
    long = {"prompts": [prompt] * 3, "completions": ["10", "1", "0"], "answer": ["10"] * 3}
    none = {"prompts": [prompt], "completions": ["0"], "answer": ["0"]}
    return [*single, whole, long, none]


EXERCISE = Exercise(
    name="reward",
    function="get_reward",
    contract="`f(prompts, completions, answer, **columns) -> list of floats`: 1.0 for the number alone on the first "
    "line, else 0.0.",
    steps=STEPS,
    arguments={"prompts": Texts("B", always_shown=False), "completions": Texts("B"), "answer": Texts("B")},
    result=Floats(),
    draw=draw,
    boundary=boundary,
    call=as_score_calls,
    valid=lambda case: all(case["answer"]),
)
