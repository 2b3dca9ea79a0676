"""Executing what a model says: the names of it, and what comes with the task."""

import pytest

from checker.rules.method import data
from tests.checker.rules.looking import codes, found


@pytest.mark.parametrize(
    "lines",
    [
        *(
            f"x = eval({name})"
            for name in ("completion", "response_text", "my_output", "generated", "pred", "answer", "decoded", "text")
        ),
        *(
            f"exec({name})"
            for name in ("reply", "gen", "my_out", "resp", "Completion", "row.completion", "f(answer)", "texts[0]")
        ),
        "x = completion\nvalue = eval(x)",
        "def get_reward(a):\n    return eval(a)",
        *(
            f"def {name}(a):\n    return eval(a)"
            for name in ("score", "Verify", "check", "grade", "extract", "parse", "evaluate_all")
        ),
        *(
            f"out = model.generate(**x)\ndef run({name}):\n    exec({name})"
            for name in ("code", "program", "solution", "script")
        ),
        *(
            f"out = model.generate(**x)\ndef run({name}):\n    exec({name})"
            for name in ("my_code", "code_text", "Program", "a_script")
        ),
        "x = eval(3)\ny = eval(completion)",
        "def exec(x):\n    return x\nexec(completion)\ny = eval(completion)",
    ],
)
def test_what_a_model_says_that_is_executed_is_asked_about(lines):
    """Catches one name of a model's text, or of a function that judges it, that is not known."""
    (finding,) = found(data, "x = 1", lines)
    assert (finding.code, finding.cell) == ("M013", 1) and "reach this `e" in finding.found
    assert finding.advice.startswith("It would run, with your files") and "small parser" in finding.advice


@pytest.mark.parametrize(
    "lines",
    [
        "x = eval()",
        "x = eval('1 + 2')",
        "x = eval(expression)",
        "x = model.eval(completion)",
        "x = literal_eval(completion)",
        "def eval(x):\n    return x\ny = eval(completion)",
        *(f"x = eval({call}(completion))" for call in ("literal_eval", "ast.literal_eval", "len", "float", "int")),
        "def build(a):\n    return eval(a)",
        "def get_reward(a):\n    return len(a)\nx = eval(a)",
        *(
            f"def get_reward({name}):\n    return eval({name})"
            for name in ("prompt", "questions", "schema", "setup", "test", "tests")
        ),
        *(
            f"def get_reward({name}):\n    return eval({name})"
            for name in ("test_list", "assertion", "example", "targets", "ground_truth", "gold_code")
        ),
        "def get_reward(prompt):\n    a = prompt.split()\n    return eval(a)",
        "def get_reward(row):\n    a = row['tests'][0]\n    return eval(a)",
        "def get_reward(row):\n    for a in row.Tests:\n        exec(a)",
        "def run(code):\n    exec(code)",
        "out = model.generate(**x)\ndef run(encoded):\n    exec(encoded)",
        "out = model.generate(**x)\ndef run(codec):\n    exec(codec)",
        "out = model.generate(**x)\nexec(code)",
        "out = model.generate(**x)\ndef run(x):\n    exec(code)",
        "out = text.generate(x)\ndef run(code):\n    exec(code)",
        "out = model.generate(**x)\ndef run(x):\n    exec(code + x)",
    ],
)
def test_what_somebody_wrote_is_no_models_text(lines):
    """Catches a question about the task's own tests, about numbers, and about functions that execute nothing."""
    assert codes(data, lines) == []


@pytest.mark.parametrize("pattern", [r"^[\d+\-*/(). ]+$", "[0-9+*/() -]+"])
def test_what_may_hold_only_numbers_runs_no_file_and_may_have_no_end(pattern):
    """Catches a reason that is untrue: digits and operators reach neither files nor the network."""
    lines = f"def reward(completion):\n    if re.fullmatch({pattern!r}, completion):\n        return eval(completion)"
    (finding,) = found(data, lines)
    assert "9**9**9" in finding.advice and "network" not in finding.advice
