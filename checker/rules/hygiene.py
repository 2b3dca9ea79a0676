"""Rules against what should not leave your machine, and against what nobody wants to read."""

import ast
import re
from collections.abc import Iterator

from checker.reading.slicing.own_modules import MODULE, names_imported, why_left
from checker.reading.syntax.statements import PROJECT
from checker.rules.base import Remark, Submission, rule

SECRETS = {  # what it is: (letters that it holds, which are found faster, and its whole form)
    "a Hugging Face token": ("hf_", re.compile(r"\bhf_[A-Za-z0-9]{30,}\b")),
    "an OpenAI key": ("sk-", re.compile(r"\bsk-[A-Za-z0-9_-]{20,}\b")),
    "a GitHub token": ("gh", re.compile(r"\bgh[pousr]_[A-Za-z0-9]{30,}\b")),
    "an AWS key": ("AKIA", re.compile(r"\bAKIA[0-9A-Z]{16}\b")),
    "a Google key": ("AIza", re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b")),
    "a private key": ("PRIVATE KEY", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    "a Weights & Biases key": (
        "wandb",
        re.compile(r"wandb\S{0,40}\s{0,4}[=(]\s*(?:key\s*=\s*)?['\"][0-9a-f]{40}['\"]"),
    ),
}
ROOTS = ("/home/", "/Users/", "/root/", ":\\", "/content/drive/")  # one of them is in every such path, and found faster
PATHS = re.compile(r"(?:/home/|/Users/|/root/|[A-Za-z]:\\{1,2}Users\\{1,2})[\w.-]+|/content/drive/[\w./-]+")
REDIRECTION = re.compile(
    r"^[ \t]*[!%][ \t]*(?:python\S*\s+-m\s+)?pip3?\s+install\b[^'\"\n#]*?\s[\w\[\],.-]+>=?\s*[\d.]+",
    re.MULTILINE,
)
PROGRESS = re.compile(r"\r|\d{1,3}%\|[█▉▊▋▌▍▎▏ #-]*\||(?:\d{1,3}%.*){4,}")
LARGE_OUTPUT = 1_000_000


@rule(
    "H001",
    "warning",
    why="A notebook is copied and shown: whoever sees a key can use it.",
    wrong='login(token="hf_...")',
    right="Read the key from the environment, and revoke the one that was shown.",
)
def secret(submission: Submission) -> Iterator[Remark]:
    for cell in submission.notebook.cells:
        texts = (cell.source, cell.text_output)
        for name, (letters, pattern) in SECRETS.items():
            if any(letters in text and pattern.search(text) for text in texts):
                yield (
                    cell.number,
                    f"the cell shows {name}",
                    "Take it out, clear the output, and revoke it where it was made.",
                )


@rule(
    "H002",
    "warning",
    why="A path of your machine works nowhere else and tells your name.",
    wrong="/home/me/model",
    right="models/course-lm",
)
def machine_path(submission: Submission) -> Iterator[Remark]:
    for cell in submission.notebook.cells:
        texts = (cell.source if cell.kind != "raw" else "", cell.text_output)
        suspicious = (text for text in texts if any(root in text for root in ROOTS))
        if match := next(filter(None, map(PATHS.search, suspicious)), None):
            yield (
                cell.number,
                f"the cell shows a path of your machine: {match[0][:60]}",
                "Use a path relative to the notebook.",
            )


@rule(
    "H003",
    "warning",
    why="The shell reads `>` as a redirection: the version is ignored and a file named `=4.40` is made.",
    wrong="!pip install transformers>=4.40",
    right='!pip install "transformers>=4.40"',
)
def unquoted_redirection(submission: Submission) -> Iterator[Remark]:
    for cell in submission.notebook.code_cells:
        if match := REDIRECTION.search(cell.source):
            yield (
                cell.number,
                f"a version is not quoted: {match[0].strip()[:80]}",
                "Put quotes around each requirement that has < or >.",
            )


@rule(
    "H004",
    "warning",
    why="Redrawn progress bars fill pages with nothing.",
    wrong="12%|█▏        | 12/100 [00:03<00:26]",
    right="One line every ten steps.",
)
def progress_debris(submission: Submission) -> Iterator[Remark]:
    for cell in submission.notebook.code_cells:
        if any(output.kind == "stream" and PROGRESS.search(output.text[:20_000]) for output in cell.outputs):
            yield (
                cell.number,
                "the output holds the remains of a progress bar",
                "Use `tqdm.auto`, or print an average every N steps, and clear the output.",
            )


@rule(
    "H005",
    "warning",
    why="Huge outputs make a notebook slow to open, to send and to render.",
    wrong="print(logits.tolist())",
    right="print(logits.shape)",
)
def large_output(submission: Submission) -> Iterator[Remark]:
    for cell in submission.notebook.code_cells:
        if (size := sum(output.size for output in cell.outputs)) > LARGE_OUTPUT:
            yield (
                cell.number,
                f"the outputs of the cell take {size / 1e6:.1f} MB",
                "Print less; save pictures at a lower resolution.",
            )


@rule(
    "H006",
    "warning",
    why="A notebook is graded with the modules (.py) that are handed in beside it, and with no other file of yours.",
    wrong="from my_helpers import reward  # in a notebook that is handed in alone",
    right="def reward(completion):\n    ...",
)
def own_module(submission: Submission) -> Iterator[Remark]:
    if not submission.beside:
        return
    folder = submission.notebook.path.parent
    for cell, node in submission.code.walk(ast.Import, ast.ImportFrom):
        for name in sorted(set(names_imported(node)) - {PROJECT}):
            file = folder / f"{name}{MODULE}"
            found = f"line {node.lineno} imports `{name}`, a file beside the notebook"
            copy = "Copy what the notebook uses of it into a cell."
            if (folder / name / "__init__.py").is_file():
                yield cell, found, f"A folder is not taken along. {copy}"
            elif file.is_file():
                left = why_left(file.name, file.stat().st_size)
                yield cell, found, f"{left} {copy}" if left else f"Hand in {file.name} too, beside the notebook."


RULES = [secret, machine_path, unquoted_redirection, progress_debris, large_output, own_module]
