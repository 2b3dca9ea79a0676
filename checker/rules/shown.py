"""Rules on the output that each section must print."""

import re
from collections.abc import Iterator

from checker.outputs.claims import MEASURES
from checker.outputs.results import cases, examples, log_lines
from checker.rules.base import Remark, Submission, rule

MODEL = re.compile(r"param|layer|ForCausalLM|Model\(|\b\d+(?:\.\d+)?\s*[MBK]\b", re.IGNORECASE)
SHAPE = re.compile(r"\(\s*+\d++\s*+,?\s*+(?:\d++\s*+)?\)|\[\s*\d+\s*(?:,\s*\d+\s*)?\]|shape\D{0,12}\d", re.IGNORECASE)
FIRST_LOSS = re.compile(r"loss\D{0,30}\d|loss\W{0,12}nan", re.IGNORECASE)


def _present(submission: Submission, number: int) -> bool:
    """True if a section exists and was run; structure and execution rules speak of the rest."""
    cells = submission.sections.get(number, [])
    return any(cell.is_code and (cell.count is not None or cell.outputs) for cell in cells)


def _at(submission: Submission, number: int) -> int:
    return submission.sections[number][0].number


@rule(
    "P002",
    "warning",
    why="A reader wants to know which model this is.",
    wrong="Cell 2 prints nothing.",
    right="LlamaForCausalLM: 1,554,560 parameters",
)
def model_not_shown(submission: Submission) -> Iterator[Remark]:
    if _present(submission, 2) and not MODEL.search(submission.output_of(2)):
        yield (
            _at(submission, 2),
            "Cell 2 does not print the architecture or the number of parameters",
            "Print `parameter_summary(model)` or the model.",
        )


@rule(
    "P003",
    "warning",
    why="Three prompts show at a glance what the task is.",
    wrong="Cell 3 prints the size of the data set.",
    right="Cell 3 prints three prompts.",
)
def prompts_not_shown(submission: Submission) -> Iterator[Remark]:
    if _present(submission, 3) and len([line for line in submission.output_of(3).splitlines() if line.strip()]) < 3:
        yield (
            _at(submission, 3),
            "Cell 3 does not print three example prompts",
            "Print the prompts of three rows.",
        )


@rule(
    "P004",
    "warning",
    why=("A reward that was never tried on a good and a bad case pays for something, and nobody knows for what."),
    wrong="Cell 4 only defines the function.",
    right="prompt '...'  response ' 3'  reward 1.0",
)
def rewards_not_tried(submission: Submission) -> Iterator[Remark]:
    if _present(submission, 4):
        if len(cases(submission.output_of(4))) < 2:
            yield (
                _at(submission, 4),
                "Cell 4 does not print hand-made good and bad cases with their rewards",
                "Score a few responses, right, wrong and odd ones, and print prompt, response and reward.",
            )


@rule(
    "P005",
    "warning",
    why=("The shape of the advantages and the first loss show that a step works before minutes go into training."),
    wrong="Cell 5 defines functions and prints nothing.",
    right="advantages (32,), initial loss 0.0012",
)
def step_not_shown(submission: Submission) -> Iterator[Remark]:
    if _present(submission, 5):
        text = submission.output_of(5)
        if not SHAPE.search(text):
            yield (
                _at(submission, 5),
                "Cell 5 does not print the shape of the advantages",
                "Print `tuple(advantages.shape)`.",
            )
        if not FIRST_LOSS.search(text):
            yield (
                _at(submission, 5),
                "Cell 5 does not print the initial loss",
                "Print `loss.item()` of one batch, before any optimiser step.",
            )


@rule(
    "P006",
    "warning",
    why="Average reward and loss over the steps are how a reader sees that training works.",
    wrong="Only the last reward is printed.",
    right="step  10  average reward 0.41  average loss 0.003",
)
def log_not_shown(submission: Submission) -> Iterator[Remark]:
    if _present(submission, 6) and len(log_lines(submission.output_of(6))) < 3:
        yield (
            _at(submission, 6),
            "Cell 6 prints fewer than three log lines with average reward and loss",
            "Print both every N steps.",
        )


@rule(
    "P007",
    "warning",
    why="Whether training helped is a comparison on the same held-out examples.",
    wrong="final reward 0.97",
    right="baseline reward 0.120\nfine-tuned reward 0.970",
)
def comparison_not_shown(submission: Submission) -> Iterator[Remark]:
    if _present(submission, 7) and submission.claim == MEASURES:
        if not submission.shows_its_claim:
            yield (
                _at(submission, 7),
                "Cell 7 does not print a held-out comparison of methods",
                "The header claims that the notebook measures: print a line that says what is measured on held-out "
                "data, and below it a line for each of at least two methods, its name first and then its figures.",
            )
    elif _present(submission, 7):
        baseline, tuned = submission.rewards
        if baseline is None or tuned is None:
            missing = "baseline" if baseline is None else "fine-tuned"
            yield (
                _at(submission, 7),
                f"Cell 7 does not print the {missing} reward",
                "Print `baseline reward ...` and `fine-tuned reward ...` on the held-out set.",
            )


@rule(
    "P008",
    "warning",
    why="Examples show what a number cannot: what the model really says.",
    wrong="Only averages.",
    right="Five times prompt, output and reward.",
)
def examples_not_shown(submission: Submission) -> Iterator[Remark]:
    if _present(submission, 7) and submission.claim != MEASURES:
        if examples(submission.output_of(7)) < 5:
            yield (
                _at(submission, 7),
                "Cell 7 does not print five examples",
                "Print prompt, output and reward of five held-out rows.",
            )


@rule(
    "P009",
    "warning",
    why="The analysis is asked for in three parts.",
    wrong="It worked.",
    right="Success; dynamics and reward hacking; group size.",
)
def analysis_incomplete(submission: Submission) -> Iterator[Remark]:
    cells = submission.sections.get(8)
    if not cells:
        return
    text = "\n".join(cell.source for cell in cells if not cell.is_code).lower()
    topics = {
        "success": r"success|baseline|held.?out|improv|reward (?:rose|rises|went)",
        "dynamics and reward hacking": r"dynamic|hack|curve|entropy|kl\b|plateau",
        "group size": r"group size|\bg\s*=|\bgroups?\b",
    }
    missing = [topic for topic, pattern in topics.items() if not re.search(pattern, text)]
    if missing:
        yield (
            cells[0].number,
            f"the analysis does not speak of: {', '.join(missing)}",
            "Write a paragraph on each, with numbers from the outputs above.",
        )


RULES = [
    model_not_shown,
    prompts_not_shown,
    rewards_not_tried,
    step_not_shown,
    log_not_shown,
    comparison_not_shown,
    examples_not_shown,
    analysis_incomplete,
]
