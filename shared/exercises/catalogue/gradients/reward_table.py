"""The rewards of all completions: `reward_table(rows, completions) -> table`, (N, K), for the rows of poker."""

from dataclasses import dataclass

import torch

from shared.exercises.arguments import Texts, Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps
from shared.tasks import poker

STEPS = Steps()


@STEPS.step
def own_rows(rows):
    return rows


@STEPS.step
def said(completions):
    return completions


@STEPS.step
def table(own_rows, said):
    """poker.reward of every completion, a row of the table for each prompt; it does not read the prompts."""
    scored = [poker.reward(said, said, [row["answer"]] * len(said)) for row in own_rows]
    return torch.tensor(scored, dtype=torch.float64)


@STEPS.slip("table", "The table is transposed: a row of it belongs to a prompt, a column to a completion.")
def transposed(table):
    return table.T


@STEPS.slip(
    "table",
    "You compare the texts yourself. `get_reward` looks at the first line and not at capitals: call it.",
)
def compared_anew(own_rows, said):
    scored = [[float(text.strip() == row["answer"]) for text in said] for row in own_rows]
    return torch.tensor(scored, dtype=torch.float64)


@STEPS.slip("own_rows", "Every row is scored with the first row's answer. Each row of the table has its own.")
def first_row_for_all(rows):
    return [rows[0]] * len(rows)


@STEPS.slip("own_rows", "The rows come in reverse.")
def reversed_rows(rows):
    return rows[::-1]


@STEPS.slip("said", "Only the first completion is scored. A row of the table has K entries.")
def first_completion_only(completions):
    return completions[:1]


@STEPS.slip("said", "The completions come in alphabetical order. Keep theirs: column k belongs to completion k.")
def completions_sorted(completions):
    return sorted(completions)


@STEPS.slip("table", "You return one number for each prompt. Every completion has its reward: (N, K).")
def summed_over_completions(table):
    return table.sum(dim=1)


@STEPS.slip("table", "Right and wrong are exchanged.")
def exchanged(table):
    return 1 - table


@STEPS.slip("table", "The rewards lie in one row. Make a table of them, (N, K).")
def in_one_row(table):
    return table.flatten()


@STEPS.slip(
    "table",
    "Rows and columns are mixed up: scored completion by completion, the flat list is (K, N). Read it so, and transpose.",
)
def read_in_the_other_order(table):
    return table.T.reshape(table.shape)


@dataclass(frozen=True)
class Hands(Things):
    """Rows of poker, told by the one column that a reward reads."""

    def amount(self, value) -> int:
        return len(value)

    def in_words(self, value) -> str:
        return f"with the answers {[row['answer'] for row in value]}"


LABELS = tuple(f" {label}" for label in poker.LABELS)


@STEPS.slip(
    "table",
    "Each row has a single 1, at its first best completion. A prompt without a right completion has none, and one with two "
    "has two: put in what the reward says of each.",
)
def best_alone(table):
    return torch.nn.functional.one_hot(table.argmax(dim=1), table.size(1)).double()


@STEPS.slip(
    "table",
    "Prompts and completions are both repeated as whole lists: most pairs are never scored. Repeat each prompt K times in "
    "turn, and the list of completions N times.",
)
def lists_repeated(own_rows, said):
    answers = [row["answer"] for row in own_rows] * len(said)
    texts = list(said) * len(own_rows)
    return torch.tensor(poker.reward(texts, texts, answers), dtype=torch.float64).view(len(own_rows), len(said))


@STEPS.slip(
    "table", "You look for the answer anywhere in the completion. Ask `get_reward`, which compares the first line."
)
def answer_anywhere(own_rows, said):
    return torch.tensor([[float(row["answer"] in text) for text in said] for row in own_rows], dtype=torch.float64)


def draw(draw: Draw) -> Case:
    rows = draw.sample(poker.dataset("train", 40, seed=0), draw.size())
    others = (" pair", "", " two pair or flush", " Flush", "flush\nHand:")
    return {"rows": rows, "completions": draw.sample([*LABELS, *others], draw.size(5))}


def boundary() -> list[Case]:
    rows = poker.dataset("train", 40, seed=0)[:3]
    return [
        {"rows": rows[:1], "completions": [f" {rows[0]['answer']}"]},
        {"rows": rows[:1], "completions": list(LABELS)},
        {"rows": rows, "completions": list(LABELS)},
    ]


EXERCISE = Exercise(
    name="table of rewards",
    function="reward_table",
    contract="`f(rows, completions) -> rewards (N, K)`, float64: of every completion for every row of poker.",
    steps=STEPS,
    arguments={"rows": Hands("N"), "completions": Texts("B")},
    result=TensorOf("N B", holds="doubles"),
    draw=draw,
    boundary=boundary,
    draws=40,
)
