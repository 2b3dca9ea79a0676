"""The rows of the teacher: `teacher_rows(rows, header) -> rows`, each with a further column `teacher_prompt`."""

import copy

from shared.exercises.arguments import Text as TextArgument
from shared.exercises.arguments import Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import NotAResult, Text
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def asked(rows):
    return [row["prompt"] for row in rows]


@STEPS.step
def told(rows, header):
    return [header + row["prompt"] for row in rows]


@STEPS.step
def others(rows):
    return [{name: value for name, value in row.items() if name != "prompt"} for row in rows]


@STEPS.step
def result(asked, told, others):
    return [other | {"prompt": p, "teacher_prompt": t} for p, t, other in zip(asked, told, others)]


@STEPS.slip(
    "asked",
    "The header stands in the student's prompt too. Then both read the same, the divergence is 0, and nothing is learnt "
    "that lasts without the header.",
)
def leaked(rows, header):
    return [header + row["prompt"] for row in rows]


@STEPS.slip(
    "told", "The teacher reads the student's prompt, without the header: then it knows no more than the student."
)
def without_header(rows):
    return [row["prompt"] for row in rows]


@STEPS.slip("told", "A `teacher_prompt` that the row has already stays as it was. The new header's takes its place.")
def old_one_stays(rows, header):
    return [row.get("teacher_prompt", header + row["prompt"]) for row in rows]


@STEPS.slip("told", "The teacher reads the header alone, without the problem.")
def header_alone(rows, header):
    return [header for _ in rows]


@STEPS.slip("told", "The header stands behind the prompt. Put it in front: there the base has read it.")
def header_behind(rows, header):
    return [row["prompt"] + header for row in rows]


@STEPS.slip(
    "told",
    "The solution stands in the teacher's prompt. Asked for is the header alone: a teacher that copies a solution is "
    "another experiment.",
)
def with_the_solution(rows, header):
    return [header + row["prompt"] + row["answer"] for row in rows]


@STEPS.slip("others", "The other columns are lost. The reward reads them: keep all of the row.")
def columns_lost(rows):
    return [{} for _ in rows]


@STEPS.slip(
    "result",
    "You change the rows that you were given. Whoever measures with them afterwards measures something else: make new "
    "dicts, `{**row, ...}` or `row | {...}`.",
)
def changed_in_place(rows, result):
    for row, new in zip(rows, result):
        row.update(new)
    return rows


@STEPS.slip(
    "told",
    "The prompt is stripped on the way: the teacher's loses the line break at its end. Put the header before the prompt "
    "as it is.",
)
def stripped(rows, header):
    return [header + row["prompt"].strip() for row in rows]


@STEPS.slip(
    "result", "All rows of your result are one and the same dict, that of the last one. Make a new dict for each row."
)
def one_dict(result):
    return result[-1:] * len(result)


NUMBERS = ((3, 8, 2), (5, 3), (10, 6, 1), (2, 2))
SOLUTIONS = {(3, 8, 2): ("3 * 8 - 2", 22), (5, 3): ("5 + 3", 8), (10, 6, 1): ("(10 + 6) * 1", 16), (2, 2): ("2 + 2", 4)}


def row_of(numbers: tuple[int, ...], opening: str = "Use") -> dict:
    answer, target = SOLUTIONS[numbers]
    listed = " ".join(map(str, numbers))
    prompt = f"{opening} {listed} to make {target}.\n"
    return {"prompt": prompt, "answer": answer, "target": target, "kept": [-0.5, 0, 12, " aAA"]}


@STEPS.slip(
    "told", "A line break stands between header and prompt. The header has its own: put the two together as they are."
)
def line_break_between(rows, header):
    return [f"{header}\n{row['prompt']}" for row in rows]


@STEPS.slip("told", "A space stands between header and prompt. Put the two together as they are.")
def space_between(rows, header):
    return [f"{header} {row['prompt']}" for row in rows]


@STEPS.slip("told", "The header loses its line break at the end: it is stripped. Put it in front as it is.")
def header_stripped(rows, header):
    return [header.strip() + row["prompt"] for row in rows]


@STEPS.slip("told", "The header stands there twice.")
def header_twice(rows, header):
    return [header + header + row["prompt"] for row in rows]


@STEPS.slip("told", "Every teacher's prompt has the first row's problem. Each has its own row's.")
def first_prompt(rows, header):
    return [header + rows[0]["prompt"] for _ in rows]


@STEPS.slip("told", "The solution stands in the teacher's prompt, behind the header. Asked for is the header alone.")
def solution_behind_the_header(rows, header):
    return [f"{header}{row['answer']}\n{row['prompt']}" for row in rows]


@STEPS.slip("result", "The column `prompt` is lost: the student reads it. Keep all of the row, and add one column.")
def prompt_lost(result):
    return [{name: value for name, value in row.items() if name != "prompt"} for row in result]


@STEPS.slip("result", "Only the first row comes back: the `return` stands inside of the loop.")
def first_row_alone(result):
    return result[:1]


@STEPS.slip("result", "The new column has another name. It is called `teacher_prompt`.")
def named_teacher(result):
    return [{"teacher" if name == "teacher_prompt" else name: value for name, value in row.items()} for row in result]


def draw(draw: Draw) -> Case:
    rows = [row_of(draw.choice(NUMBERS), draw.choice(["Use", "Take"])) for _ in range(draw.size())]
    if draw.random() < 0.2:
        rows = [row | {"teacher_prompt": f"key\n{row['prompt']}"} for row in rows]  # told before, under another header
    return {"rows": rows, "header": draw.choice(["answer key\n", "solutions:\n", "key\n\n"])}


def boundary() -> list[Case]:
    return [
        {"rows": [row_of((5, 3))], "header": "answer key\n"},
        {"rows": [row_of((5, 3)), row_of((5, 3))], "header": "answer key\n"},
        {"rows": [row_of((5, 3)), row_of((3, 8, 2))], "header": "key\n"},
    ]


def in_words(function, case: Case) -> str:
    """The rows that come back, a line each, and whether those that were given are as they were."""
    rows = copy.deepcopy(case["rows"])
    found = function(rows, case["header"])
    if not isinstance(found, (list, tuple)):
        raise NotAResult("it returns no list; return a list of rows, one for each row that was given.")
    if not all(isinstance(row, dict) for row in found):
        raise NotAResult("it returns a list of something else than rows; a row is a dict.")
    lines = [", ".join(f"{name}: {row[name]!r}" for name in sorted(row, key=str)) for row in found]
    if rows != case["rows"]:
        lines.append("and the rows that were given are changed")
    return "\n".join(lines)


EXERCISE = Exercise(
    name="rows for a teacher",
    function="teacher_rows",
    contract="`f(rows, header) -> rows`, each with a `teacher_prompt` beside its columns.",
    steps=STEPS,
    arguments={"rows": Things("B"), "header": TextArgument()},
    result=Text(),
    draw=draw,
    boundary=boundary,
    call=in_words,
    valid=lambda case: case["header"] != "",
)
