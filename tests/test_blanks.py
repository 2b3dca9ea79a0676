"""Notebooks with exercises that are not filled in, or not right."""

import ast
import json
from pathlib import Path

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell

from shared import blanks, check, kl
from shared.blanks import NotFilledIn, filled, or_ours, require
from shared.exercises.catalogue import EXERCISES

EDITIONS = sorted((Path(__file__).parents[1] / "notebooks" / "student").glob("*.ipynb"))


def blank(x):
    """A docstring, and a line that was given, stand above the blank."""
    assert x
    raise NotImplementedError


def completion_logps(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    raise NotImplementedError


def mine(x):
    return [completion_logps(one, x, x, x, x) for one in x]


def works(x):
    return x + 1


ESTIMATOR = kl.k1


def per_token_kl(logps, ref_logps):
    return ESTIMATOR(logps, ref_logps)


def training(logps):
    return per_token_kl(logps, 0 * logps)


SIGN = -1


def grpo_loss(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    ratio, A = torch.exp(logps - old_logps), advantages[:, None]
    surrogate = torch.minimum(ratio * A, ratio.clamp(1 - epsilon, 1 + epsilon) * A)
    per_token = SIGN * surrogate + beta * per_token_kl(logps, ref_logps)
    return ((per_token * completion_mask).sum(dim=1) / completion_mask.sum(dim=1)).mean()


def test_what_is_blank_is_named_wherever_it_is_called():
    """Catches a training that begins, and ends in a traceback of a function two calls further down."""
    with pytest.raises(NotFilledIn, match="^Not filled in yet: blank, completion_logps. This cell needs them[.]$"):
        require(works, blank, mine)
    with pytest.raises(NotFilledIn, match="^Not filled in yet: blank. This cell needs it[.]$"):
        require(blank, blank)
    require(works)


def test_what_its_check_refused_is_named_before_a_cell_goes_on_with_it(capsys, monkeypatch):
    """Catches half a minute of training with a loss that was told to be wrong, and a stop where the check may be wrong."""

    def make_rows(split, n, seed):
        return []

    require(training, make_rows)
    assert capsys.readouterr().out == ""  # nobody has checked it
    assert not check.per_token_kl(per_token_kl) and not check.rows(make_rows)
    capsys.readouterr()
    require(training, make_rows)
    said = "Refused by their checks: per_token_kl, make_rows. This cell goes on with them as they are.\n"
    assert capsys.readouterr().out == said
    assert or_ours(per_token_kl) is per_token_kl
    assert capsys.readouterr().out == "Refused by its check: per_token_kl. What follows goes on with it as it is.\n"
    monkeypatch.setitem(globals(), "ESTIMATOR", kl.k3)  # the function that it calls is mended
    assert check.per_token_kl(per_token_kl)
    capsys.readouterr()
    require(training)
    assert capsys.readouterr().out == ""


def test_a_right_function_is_not_refused_for_what_it_calls(capsys, monkeypatch):
    """Catches a student who looks for a mistake in a right function, since a wrong one that it calls is named beside it."""
    assert not check.per_token_kl(per_token_kl) and not check.grpo_loss(grpo_loss)
    assert "first mend `per_token_kl`" in capsys.readouterr().out
    require(grpo_loss)
    assert capsys.readouterr().out == "Refused by its check: per_token_kl. This cell goes on with it as it is.\n"
    monkeypatch.setitem(globals(), "SIGN", 1)  # wrong itself as well
    assert not check.grpo_loss(grpo_loss)
    capsys.readouterr()
    require(grpo_loss)
    assert capsys.readouterr().out.startswith("Refused by their checks: per_token_kl, grpo_loss.")


def test_a_verdict_on_what_is_no_function_is_shown_all_the_same(capsys):
    """Catches a check that raises, since a list has no hash, and a builtin that is noted for good."""
    assert not check.per_token_kl([]) and not check.per_token_kl(print)
    assert capsys.readouterr().out.count("✗ per-token KL: ") == 2


def test_a_function_that_calls_itself_is_looked_at_once():
    def again(x):
        return again(x - 1) if x else works(x)

    require(again)


def test_jupyter_shows_one_line():
    """Catches a traceback of thirty lines below a blank exercise, which reads like a mistake of one's own."""
    shell = InteractiveShell.instance()
    shown = []
    shell._showtraceback = lambda kind, error, lines: shown.extend(lines)
    shell.user_ns.update(blanks=blanks, blank=blank)
    shell.run_cell("blanks.require(blank)")
    assert shown == ["Not filled in yet: blank. This cell needs it."]


def test_the_courses_own_takes_the_place_of_what_is_blank_and_says_so(capsys):
    """Catches a student's own function that is replaced, and one that is replaced in silence."""
    assert or_ours(works) is works and filled(works)
    assert capsys.readouterr().out == ""
    ours = or_ours(completion_logps)
    assert "completion_logps is beyond the core and not filled in." in capsys.readouterr().out

    class Model:
        def __call__(self, input_ids, attention_mask, position_ids):
            self.logits = torch.zeros(*input_ids.shape, 4)
            return self

    ones = torch.ones(2, 3, dtype=torch.long)
    assert torch.allclose(ours(Model(), ones, ones, ones, ones), torch.full((2, 3), 0.25).log())
    assert not filled(blank)


@pytest.mark.parametrize("path", EDITIONS, ids=lambda path: path.stem)
def test_what_the_courses_own_reads_is_among_the_blanks_arguments(path):
    """Catches a function beyond the core whose place the course's own cannot take, since it asks for something else."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    trees = [ast.parse("".join(cell["source"])) for cell in cells if cell["cell_type"] == "code"]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    blank_ones = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "blanks.or_ours"]
    for name in (call.args[0].id for call in calls):
        steps = next(exercise.steps.steps for exercise in EXERCISES.values() if exercise.function == name)
        asked = {read for part in steps.values() for read in part.reads} - steps.keys()
        assert asked <= {argument.arg for argument in blank_ones[name].args.args}
