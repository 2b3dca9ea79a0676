"""The reward of answers given without looking: `constant_answers(reward, rows, labels) -> {label: mean reward}`.

For each label the mean reward of a policy that says it to every row. The reward is called as in training: prompts and
completions, and the rows' other columns by name.
"""

from dataclasses import dataclass

from shared.exercises.arguments import Kind, Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Floats, NotAResult, named
from shared.exercises.steps import Steps

STEPS = Steps()


def right(prompts, completions, answer, **columns):
    """1 for the right label."""
    return [float(said.strip() == label) for said, label in zip(completions, answer, strict=True)]


def weighted(prompts, completions, answer, weight, **columns):
    """The row's weight for the right label."""
    return [paid * float(said.strip() == label) for said, label, paid in zip(completions, answer, weight, strict=True)]


def pointed(prompts, completions, answer, points, **columns):
    """The row's points for the right label."""
    return weighted(prompts, completions, answer, points)


def anywhere(prompts, completions, answer, **columns):
    """1 where the right label stands in the prompt or the completion."""
    return [float(label in prompt + said) for prompt, said, label in zip(prompts, completions, answer, strict=True)]


def behind_a_space(prompts, completions, answer, **columns):
    """1 for a space and the right label, as a tokenizer of words begins them."""
    return [float(said == f" {label}") for said, label in zip(completions, answer, strict=True)]


REWARDS = (right, weighted, pointed, anywhere, behind_a_space)
READS = {weighted: "weight", pointed: "points"}  # the column that a reward reads besides the answer


@STEPS.step
def prompts(rows):
    return [row["prompt"] for row in rows]


@STEPS.step
def columns(rows):
    """Everything but the prompt, a list by name."""
    return {name: [row[name] for row in rows] for name in rows[0] if name != "prompt"}


@STEPS.step
def completions(rows, labels):
    """The completions that say a label to every row, by label."""
    return {label: [f" {label}"] * len(rows) for label in labels}


@STEPS.step
def rewards(reward, prompts, columns, completions):
    return {label: reward(prompts, said, **columns) for label, said in completions.items()}


@STEPS.step
def counts(rows, labels):
    """The divisor of each label's sum."""
    return {label: len(rows) for label in labels}


@STEPS.step
def means(rewards, counts):
    return {label: sum(values) / counts[label] for label, values in rewards.items()}


@STEPS.slip("rows", "Only the first row is asked. A policy that never looks says its label to all of them.")
def first_row_only(rows):
    return rows[:1]


@STEPS.slip(
    "rows",
    "The last row is left out. Look at the end of your loop or slice: every row counts.",
)
def last_row_left_out(rows):
    return rows[:-1] or rows


@STEPS.slip("counts", "These are sums. Divide by the number of rows: data sets of different sizes are compared.")
def summed(labels):
    return dict.fromkeys(labels, 1)


@STEPS.slip("counts", "You divide by the number of labels. The mean is over the rows.")
def divided_by_labels(labels):
    return dict.fromkeys(labels, len(labels))


@STEPS.slip(
    "counts",
    "You divide by how many rows have this label as their answer. The policy says it to the others as well, and earns "
    "nothing there: divide by all rows.",
)
def divided_by_its_own_rows(rows, labels):
    return {label: max(1, sum(row["answer"] == label for row in rows)) for label in labels}


@STEPS.slip(
    "rewards",
    "You count how often the label is the answer. Call the reward, and let it say what it pays: a weight, or a reward "
    "that pays for something else, shows only there.",
)
def answers_counted(rows, labels):
    return {label: [float(row["answer"] == label) for row in rows] for label in labels}


@STEPS.slip(
    "prompts",
    "The reward gets empty prompts. Hand over the rows' own: one that reads the prompt as well looks innocent otherwise.",
)
def prompts_left_out(rows):
    return [""] * len(rows)


@STEPS.slip("prompts", "Every row gets the first row's prompt. Each has its own.")
def first_prompt_for_all(prompts):
    return prompts[:1] * len(prompts)


@STEPS.slip(
    "columns",
    "The reward gets the rows' answers and none of their other columns, so that one that needs the weight cannot be "
    "called. Hand over every column by its name: `**columns`.",
)
def only_the_answers(rows):
    return {"answer": [row["answer"] for row in rows]}


@STEPS.slip(
    "columns",
    "The reward gets the columns `answer` and `weight`, by names that you wrote down. Rows may have others, and a reward "
    "may read them: hand over every column by its name, `**columns`.",
)
def answers_and_weights_alone(rows):
    return {"answer": [row["answer"] for row in rows], "weight": [row.get("weight", 1.0) for row in rows]}


@STEPS.slip("columns", "Every row gets the first row's columns. Each has its own answer and weight.")
def first_columns_for_all(columns):
    return {name: values[:1] * len(values) for name, values in columns.items()}


@STEPS.slip(
    "completions",
    "The completions are the rows' right answers: this is what a policy earns that is always right. One that never "
    "looks says the same label to all.",
)
def right_answers_said(rows, labels):
    return {label: [f" {row['answer']}" for row in rows] for label in labels}


@STEPS.slip("completions", "All labels are said at once in yours. The policy says one, again and again.")
def all_labels_said(rows, labels):
    return {label: [" " + ", ".join(labels)] * len(rows) for label in labels}


@STEPS.slip("means", "You take the largest reward of all rows. What a policy earns is the mean over them.")
def largest(rewards):
    return {label: max(values) for label, values in rewards.items()}


@dataclass(frozen=True)
class Reward(Kind):
    """A reward function, told by what it pays for."""

    def is_plain(self, value) -> bool:
        return False

    def in_words(self, value) -> str:
        return f"that pays {value.__doc__[0].lower()}{value.__doc__[1:].rstrip('.')}"


@dataclass(frozen=True)
class Hands(Things):
    """Rows, of which a verdict shows all columns."""

    def amount(self, value) -> int:
        return sum(map(len, value))


def call(function, case: Case):
    """(L,): the number of each label, in the order of the labels."""
    labels = case["labels"]
    found = function(*case.values())
    if not isinstance(found, dict):
        raise NotAResult(f"it returns {named(found)}; return a dict from each label to a number.")
    if set(found) != set(labels):
        raise NotAResult(
            f"its dict has the keys {sorted(map(str, found))[:4]}; each of the labels is one, also where no row has it "
            "as its answer."
        )
    return [found[label] for label in labels]


LABELS = ("high card", "one pair", "flush", "straight")
PROMPTS = ("Hand: A♠\nType:", "Types: high card, flush\nHand: 7♦\nType:", "one pair or a straight?")


@STEPS.slip("completions", "The space before the label is missing: the completion is a space and the label.")
def space_missing(rows, labels):
    return {label: [label] * len(rows) for label in labels}


@STEPS.slip("completions", "The completion begins with the prompt. It is what the policy says: a space and the label.")
def prompt_in_the_completion(prompts, labels):
    return {label: [f"{prompt} {label}" for prompt in prompts] for label in labels}


@STEPS.slip(
    "means",
    "You average over the rows that paid something. The policy says its label to all of them: a row that pays nothing "
    "counts too.",
)
def mean_of_the_paid(rewards):
    paid = {label: [value for value in values if value > 0] for label, values in rewards.items()}
    return {label: sum(values) / len(values) if values else 0.0 for label, values in paid.items()}


def draw(draw: Draw) -> Case:
    known = draw.sample(LABELS, draw.size(3, least=2))
    reward = draw.choice(REWARDS)
    rows = [{"prompt": draw.choice(PROMPTS), "answer": draw.choice(known)} for _ in range(draw.size(5))]
    column = READS.get(reward) or draw.choice(["", "weight", "points"])
    for row in rows if column else ():
        row[column] = draw.choice([1.0, 2.0, 3.0, 1.5] if column == "weight" else [-1.0, 0.0, 1.5, 2.0])
    return {"reward": reward, "rows": rows, "labels": draw.sample(LABELS, draw.size(4))}


def boundary() -> list[Case]:
    """One row; a label that no row has; a prompt that holds the answer; weights; every label as often."""
    plain = {"prompt": "Hand: A♠\nType:", "answer": "flush"}
    other = plain | {"answer": "one pair"}
    told = plain | {"prompt": "Types: flush, one pair\nType:"}
    sets = [[plain], [plain, other], [plain, plain, other], [told, plain], [plain, told, other, other]]
    cases = [
        {"reward": reward, "rows": [row | paid_by(reward, row) for row in rows], "labels": ["flush", "one pair"]}
        for reward in REWARDS
        for rows in sets
    ]
    return [*cases, {"reward": right, "rows": [plain, other, other], "labels": ["straight"]}]


def paid_by(reward, row: dict) -> dict:
    """The column that the reward reads: 2 for a flush, 1 for anything else."""
    return {READS[reward]: 2.0 if row["answer"] == "flush" else 1.0} if reward in READS else {}


EXERCISE = Exercise(
    name="reward of a constant answer",
    function="constant_answers",
    contract="`f(reward, rows, labels) -> {label: mean reward}` of a policy that says one label to every row.",
    steps=STEPS,
    arguments={"reward": Reward(), "rows": Hands("N"), "labels": Things("L")},
    result=Floats("L"),
    draw=draw,
    boundary=boundary,
    call=call,
)
