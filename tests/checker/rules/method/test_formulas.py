"""Formulas recognised as people write them, and near misses that are none."""

import ast
from pathlib import Path

import pytest

from checker.reading.notebook import Cell, Notebook
from checker.reading.syntax.code import read_code
from checker.rules.method.formulas import averaged, k3, quotient, unclipped


def read(source: str):
    """The code, and the value of its last line."""
    code = read_code(Notebook(Path("x.ipynb"), (Cell(0, "code", source, 1),)))
    return code, code.trees[0].module.body[-1].value


def expression(source: str) -> ast.expr:
    return read(source)[1]


def written(pair) -> tuple[str, str] | None:
    return None if pair is None else tuple(map(ast.unparse, pair))


@pytest.mark.parametrize(
    ("source", "pair"),
    [
        ("a / b", ("a", "b")),
        ("r = a / b\nr", ("a", "b")),
        ("torch.exp(a - b)", ("a", "b")),
        ("(a - b).exp()", ("a", "b")),
        ("d = a - b\ntorch.exp(d)", ("a", "b")),
        ("torch.exp((a - b).clamp(-9, 9))", ("a", "b")),
        ("d = a - b\ntorch.exp(torch.clip(d, 1).detach().float().contiguous())", ("a", "b")),
        ("torch.exp(d)", None),
        ("torch.exp(a + b)", None),
        ("torch.expm1(a - b)", None),
        ("a * b", None),
        ("a - b", None),
        ("a", None),
    ],
)
def test_a_ratio_of_probabilities(source, pair):
    code, node = read(source)
    assert written(quotient(code, node)) == pair


@pytest.mark.parametrize(
    ("source", "bare"),
    [
        ("x.clamp(1)", "x"),
        ("torch.clip(x, 1).float()", "x"),
        ("x.detach().contiguous()", "x"),
        ("x.abs()", "x.abs()"),
        ("clamp()", "clamp()"),
        ("x", "x"),
    ],
)
def test_what_keeps_a_value_is_taken_off(source, bare):
    assert ast.unparse(unclipped(expression(source))) == bare


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("x.mean()", "x"),
        ("torch.sum(x, -1)", "x"),
        ("masked_mean(x, mask)", "x"),
        ("masked_sum(x, mask)", "x"),
        ("torch.nanmean(x)", "x"),
        ("(x * mask).sum() / mask.sum()", "x"),
        ("x.sum() / n", "x"),
        ("x / mask.sum()", "x"),
        ("x / len(rows)", "x"),
        ("x / length", "x"),
        ("x / n_tokens", "x"),
        ("x / token_count", "x"),
        ("x / num", "x"),
        ("(x * completion_mask).sum(1).mean().mean()", "x"),
        ("x * y", "x * y"),
        ("mask * x", "mask * x"),
        ("x + mask", "x + mask"),
        ("x / y", "x / y"),
        ("x * n", "x * n"),
        ("mean()", "mean()"),
        ("x.max()", "x.max()"),
        ("x.mean().mean().mean().mean().mean().mean()", "x"),
        ("x.mean().mean().mean().mean().mean().mean().mean()", "x.mean()"),
    ],
)
def test_what_an_average_is_of(source, value):
    assert ast.unparse(averaged(expression(source))) == value


@pytest.mark.parametrize(
    ("source", "log_r"),
    [
        ("torch.exp(a - b) - (a - b) - 1", ("a", "b")),
        ("torch.exp(a - b) - a + b - 1", ("a", "b")),
        ("(a - b).exp() - 1 - (a - b)", ("a", "b")),
        ("torch.exp(a - b) + b - a - 1", ("a", "b")),
        ("d = a - b\ntorch.exp(d) - d - 1", ("a", "b")),
        ("d = a - b\ntorch.exp(d) - (a - b) - 1", ("a", "b")),
        ("d = a - b\ntorch.exp(a - b) - d - 1", ("a", "b")),
        ("d = a - b\ntorch.exp(d) - 1 - d", ("a", "b")),
        ("d = a - b\n(torch.exp(d) - d) - 1", ("a", "b")),
        ("d = a - b\nr = torch.exp(d)\nr - d - 1", ("a", "b")),
        ("torch.exp((a - b).clamp(-9, 9)) - (a - b).clamp(-9, 9) - 1", ("a", "b")),
        ("r = a / b\nr - torch.log(r) - 1", ("a", "b")),
        ("r = torch.exp(a - b)\nr - r.log() - 1", ("a", "b")),
        ("r = a / b\nl = torch.log(r)\nr - l - 1", ("a", "b")),
        ("d = a - b\ntorch.expm1(d) - d", ("a", "b")),
        ("torch.expm1(a - b) - (a - b)", ("a", "b")),
        ("torch.exp(d) - d - 1", None),
        ("r - torch.log(r) - 1", None),
        ("torch.expm1(d) - d", None),
        ("torch.exp(d) - (d + 1)", None),
        ("torch.exp(a - b) - (1 + (a - b))", ("a", "b")),
    ],
)
def test_k3_and_what_its_logarithm_is_the_difference_of(source, log_r):
    """Catches one order of its terms, or one way to write its logarithm, that is not known."""
    code, node = read(source)
    found = k3(code, node)
    assert found is not None and written(found.log_r) == log_r


@pytest.mark.parametrize(
    "source",
    [
        "torch.exp(d) - d + 1",
        "torch.exp(d) + d - 1",
        "torch.exp(d) - e - 1",
        "torch.exp(d) - d - 2",
        "torch.exp(d) - d",
        "torch.exp(d) - 1",
        "d - torch.exp(d) - 1",
        "torch.exp(d) - d - 1 - x - y",
        "torch.exp(a - b) - (b - a) - 1",
        "torch.exp(a - b) + a - b - 1",
        "r - torch.log(s) - 1",
        "r - torch.log2(r) - 1",
        "r + torch.log(r) - 1",
        "torch.expm1(d) - e",
        "torch.expm1(d) + d",
        "d - torch.expm1(d)",
        "torch.exp2(d) - d - 1",
        "torch.exp(d) * d - 1",
        "x * 3",
        "x",
        "-x - y - 1",
        "torch.exp(d) - a - b - 1",
        "torch.exp(d) + a + b - 1",
    ],
)
def test_near_misses_are_not_k3(source):
    code, node = read(source)
    assert k3(code, node) is None
