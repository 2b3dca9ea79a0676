"""A group of one completion: where a setting says so."""

import ast
import re
from collections.abc import Iterator

from checker.reading.syntax.code import Code
from checker.reading.syntax.expressions import called, mentions, number, plain_name
from checker.rules.base import Remark, Submission, rule


@rule(
    "M012",
    "question",
    why=("With one completion the reward equals the group's mean: every advantage is 0 and nothing is learned."),
    wrong="num_generations = 1",
    right="num_generations = 8",
)
def group_of_one(submission: Submission) -> Iterator[Remark]:
    size = re.compile(r"^(num_generations|group_size|G|G_size|completions_per_prompt|samples_per_prompt)$")
    code = submission.code
    for cell, line, name in _ones(code):
        if size.match(name) or (size.match(name.lower()) and name != "g"):
            if name == "G" and _is_a_return(code):
                continue
            yield (
                cell,
                f"line {line}: is one completion for each prompt what you want?",
                "In a group of 1 the reward equals the mean and every advantage is 0; 4 to 16 are usual.",
            )


def _is_a_return(code: Code) -> bool:
    """True if G is the discounted return of a textbook: `G = r + gamma * G`."""
    bindings = [b for (_, name), group in code.bindings.items() if name == "G" for b in group]
    return any(mentions(b.value, "gamma|discount|^G$") for b in bindings)


# Where one completion of a prompt is enough, and where it is not.
ELSEWHERE = re.compile(r"eval|ppo|distil|generat|sampl|test|compare|greedy|rollout", re.IGNORECASE)
TRAINING = re.compile(r"grpo|rloo|^(training_?)?(config|args|arguments)$|^train|step$", re.IGNORECASE)


def _ones(code: Code) -> Iterator[tuple[int, int, str]]:
    """(cell, line, name) of every setting that is 1: assigned, a default, a keyword, an entry of a dict."""
    for (_, name), group in code.bindings.items():
        for binding in group:
            # What a loop or a count makes 1 is no setting.
            if number(binding.value) != 1 or not binding.plain:
                continue
            if not isinstance(binding.statement, (ast.Assign, ast.AnnAssign)):
                continue
            holder = code.within(binding.statement, ast.ClassDef, ast.FunctionDef)
            if holder is None or not ELSEWHERE.search(holder.name):
                tree, line = code.place(binding.statement)
                yield code.trees[tree].cell, line, name
    for cell, call in code.walk(ast.Call):
        if call.keywords and TRAINING.search(called(call)) and not ELSEWHERE.search(called(call)):
            yield from ((cell, call.lineno, k.arg) for k in call.keywords if k.arg and number(k.value) == 1)
    for cell, function in code.walk(ast.FunctionDef):
        if ELSEWHERE.search(function.name):
            continue
        given = [*function.args.posonlyargs, *function.args.args]
        defaults = [*zip(given[len(given) - len(function.args.defaults) :], function.args.defaults)]
        defaults += [pair for pair in zip(function.args.kwonlyargs, function.args.kw_defaults) if pair[1] is not None]
        yield from ((cell, function.lineno, argument.arg) for argument, value in defaults if number(value) == 1)
    for cell, entries in code.walk(ast.Dict):
        if ELSEWHERE.search(_name_of_entries(code, entries)):
            continue
        for key, value in zip(entries.keys, entries.values):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and number(value) == 1:
                yield cell, entries.lineno, key.value


def _name_of_entries(code: Code, entries: ast.Dict) -> str:
    """The name of a dictionary of settings: the key, keyword or name that it is the value of."""
    holder = code.parent(entries)
    if isinstance(holder, ast.Dict):
        keys = [key for key, value in zip(holder.keys, holder.values) if value is entries]
        return str(getattr(keys[0], "value", "")) if keys else ""
    if isinstance(holder, ast.Assign):
        return plain_name(holder.targets[0])
    return (holder.arg or "") if isinstance(holder, ast.keyword) else ""


RULES = [group_of_one]
