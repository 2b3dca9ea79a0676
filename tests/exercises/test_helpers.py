"""A right function is not blamed for the wrong helper that it calls."""

from types import FunctionType

import pytest

from shared.exercises.catalogue.dots import grpo_loss, step_loss
from shared.exercises.helpers import helpers_of, with_references
from shared.exercises.judging import judge

pytestmark = pytest.mark.usefixtures("patient_judge", "few_draws", "shapes_unchecked")
NOTEBOOK = """
import torch

def per_token_kl(logps, ref_logps):
    log_r = ref_logps - logps
    return torch.exp(log_r) - log_r{KL}

def grpo_loss(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon):
    ratio = torch.exp(logps - old_logps)
    A = advantages[:, None]
    surrogate = torch.minimum(ratio * A, ratio.clamp(1 - epsilon, 1 + epsilon) * A)
    per_token = {SIGN}surrogate + beta * per_token_kl(logps, ref_logps)
    return ((per_token * completion_mask).sum(dim=1) / completion_mask.sum(dim=1)).mean()

def group_advantages(rewards, num_generations):
    groups = rewards.view(-1, num_generations)
    std = groups.std(dim=1, correction=0, keepdim=True)
    return ((groups - groups.mean(dim=1, keepdim=True)) / (std + 1e-4)).view(-1)

def completion_logps(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    mask = torch.cat([prompt_mask, completion_mask], dim=1)
    positions = (mask.cumsum(dim=1) - 1).clamp(min=0)
    logits = model(input_ids=torch.cat([prompt_ids, completion_ids], dim=1), attention_mask=mask, position_ids=positions)
    logps = logits.logits[:, prompt_ids.size(1) - 1 : -1].log_softmax(dim=-1)
    return logps.gather(-1, completion_ids[..., None])[..., 0] * completion_mask

def step_loss(model, reference, rollout, rewards, beta, epsilon):
    G = rollout.num_generations
    batch = (rollout.prompt_ids.repeat_interleave(G, dim=0), rollout.prompt_mask.repeat_interleave(G, dim=0),
             rollout.completion_ids, rollout.completion_mask)
    logps = completion_logps(model, *batch)
    with torch.no_grad():
        ref_logps = completion_logps(reference, *batch)
    advantages = group_advantages(rewards, G)
    return grpo_loss(logps, rollout.old_logps, advantages, rollout.completion_mask, ref_logps, beta, epsilon)
"""


def notebook(kl: str = " - 1", sign: str = "-") -> dict[str, FunctionType]:
    variables = {"__name__": "__main__"}
    exec(NOTEBOOK.replace("{KL}", kl).replace("{SIGN}", sign), variables)
    return variables


def test_right_functions_pass_together():
    cells = notebook()
    assert judge(grpo_loss.EXERCISE, cells["grpo_loss"]).passed
    assert judge(step_loss.EXERCISE, cells["step_loss"]).passed


def test_a_helper_of_a_helper_is_named_alone():
    """Catches `grpo_loss` being blamed for `per_token_kl`, which it calls."""
    verdict = judge(step_loss.EXERCISE, notebook(kl="")["step_loss"])
    assert verdict.first == ("per_token_kl",)


def made(source: str) -> dict:
    """The variables of a notebook."""
    scope: dict = {}
    exec(source, scope)
    return scope


class Needed:
    """Stands for an exercise that another one needs: its name, and a reference."""

    def __init__(self, function: str):
        self.function = function

    def reference(self):
        return lambda: f"the right {self.function}"


A, B = Needed("a"), Needed("b")


class Needs:
    needs = (A, B)


def test_helpers_are_the_notebooks_own_functions_that_are_called():
    """Catches an imported function that is judged as the student's, and one that is called by way of another, or within."""
    own = "def a():\n    return 1\n\ndef b():\n    return a()\n\n"
    notebook = made(own + "def f():\n    return b()")
    assert helpers_of(Needs, notebook["f"]) == [(A, notebook["a"]), (B, notebook["b"])]
    notebook = made(own + "def f():\n    return [(lambda: a())() for _ in range(2)]")
    assert helpers_of(Needs, notebook["f"]) == [(A, notebook["a"])]
    notebook["a"] = made(own)["a"]
    assert helpers_of(Needs, notebook["f"]) == [], "imported from elsewhere"
    notebook["a"] = 3
    assert helpers_of(Needs, notebook["f"]) == [] and helpers_of(Needs, len) == []
    calls_itself = made("def a():\n    return f()\n\ndef f():\n    return a()")
    assert helpers_of(Needs, calls_itself["f"]) == [(A, calls_itself["a"])]
    imported = made("def a():\n    return 1")
    notebook = made(own + "def f():\n    return other()") | {}
    notebook["f"].__globals__["other"] = made("def other():\n    return a()")["other"]
    assert imported and helpers_of(Needs, notebook["f"]) == [], "what an imported function calls is not the notebook's"


def test_the_students_helpers_come_back_after_an_error_too():
    """Catches a notebook that keeps the reference in the place of the student's function."""
    notebook = made("def a():\n    return 'own'\n\ndef f():\n    return a()")
    with pytest.raises(KeyError), with_references(notebook["f"], [A]):
        assert notebook["f"]() == "the right a"
        raise KeyError
    assert notebook["f"]() == "own"
