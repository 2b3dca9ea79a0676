"""The test for code in which gradients are off."""

import ast
from pathlib import Path

import pytest

from checker.reading.notebook import Cell, Notebook
from checker.reading.syntax.code import read_code
from checker.rules.method.gradients import is_quiet, is_true


def quiet(source: str) -> bool:
    """True if gradients are off at the call of `model` in some code."""
    code = read_code(Notebook(Path("x.ipynb"), (Cell(0, "code", source, 1),)))
    (call,) = (call for _, call in code.calls("model"))
    return is_quiet(code, call)


@pytest.mark.parametrize(
    "source",
    [
        "with torch.no_grad():\n    y = model(x)",
        "with torch.inference_mode():\n    if a:\n        y = model(x)",
        "with lock, torch.no_grad():\n    y = model(x)",
        "with torch.no_grad():\n    with lock:\n        y = model(x)",
        "with torch.set_grad_enabled(False):\n    y = model(x)",
        "@torch.no_grad()\ndef f(x):\n    return model(x)",
        "@cache\n@torch.inference_mode()\ndef f(x):\n    return model(x)",
        "@torch.set_grad_enabled(False)\ndef f(x):\n    return model(x)",
        "y = model(x.detach())",
    ],
)
def test_gradients_are_off(source):
    assert quiet(source)


@pytest.mark.parametrize(
    "source",
    [
        "y = model(x)",
        "with lock:\n    y = model(x)",
        "with torch.no_grad():\n    z = 1\ny = model(x)",
        "with torch.set_grad_enabled(True):\n    y = model(x)",
        "with my_no_grad_too():\n    y = model(x)",
        "@cache\ndef f(x):\n    return model(x)",
        "@torch.set_grad_enabled(True)\ndef f(x):\n    return model(x)",
        "y = model(x).detach()",
    ],
)
def test_gradients_are_on(source):
    """Catches gradients that are taken to be off where only a neighbour, or what comes after, lets go of them."""
    assert not quiet(source)


@pytest.mark.parametrize(("call", "told"), [("f(True)", True), ("f(mode)", True), ("f(False)", False), ("f()", False)])
def test_what_is_switched_on(call, told):
    assert is_true(ast.parse(call, mode="eval").body) is told
