"""Dropout off while sampling and on while scoring: the order of the switches, and what makes it harmless."""

import pytest

from checker.rules.method import modes
from tests.checker.rules.looking import codes, found

SAMPLE = "out = model.generate(**x)\n"
SCORE = "lp = model(out).logits.log_softmax(-1)\n"
WRONG = f"model.eval()\n{SAMPLE}model.train()\n{SCORE}"


@pytest.mark.parametrize(
    "source",
    [
        WRONG,
        WRONG.replace("model.", "policy."),
        WRONG.replace("model.eval()", "model.train(False)"),
        WRONG.replace("model.train()", "model.train(True)"),
        WRONG.replace("model.train()", "model.train(mode)"),
        WRONG.replace("logits.log_softmax(-1)", "loss\nl = F.cross_entropy(a, b)"),
        WRONG.replace("log_softmax", "logsumexp"),
        WRONG.replace("model(out).logits.log_softmax(-1)", "selective_log_softmax(a, b)"),
        f"model.train()\nmodel.eval()\n{SAMPLE}{SAMPLE}model.train()\n{SCORE}",
        f"config = Config(attention_dropout=0.1, hidden_dropout=0)\n{WRONG}",
        f"nn.Dropout(0.1)\nname = 'qwen'\n{WRONG}",
        f"F.dropout(x)\nname = 'qwen'\n{WRONG}",
        f"name = 'gpt2'\n{WRONG}",
    ],
)
def test_a_switch_between_sampling_and_scoring_is_asked_about(source):
    """Catches one way to switch, or to score, that is not known."""
    (finding,) = found(modes, source)
    line = next(
        n for n, text in enumerate(source.splitlines(), 1) if ".train(" in text and "False" not in text and n > 1
    )
    assert finding.code == "M016" and finding.found.startswith(f"line {line}: is dropout off while sampling")
    assert "gradients need no `train()`" in finding.advice


@pytest.mark.parametrize(
    "source",
    [
        f"model.eval()\n{SAMPLE}{SCORE}model.train()\n",
        f"model.train()\n{SAMPLE}{SCORE}",
        f"model.train()\nmodel.eval()\n{SAMPLE}{SCORE}",
        f"model.eval()\n{SAMPLE}model.train()\nmodel.eval()\n{SCORE}",
        f"{SAMPLE}model.eval()\nmodel.train()\n{SCORE}",
        f"model.eval()\n{SAMPLE}model.train()\nmodel.train(False)\n{SCORE}",
        WRONG.replace("model.eval()", "reward_model.eval()"),
        WRONG.replace("model.train()", "value_model.train()"),
        WRONG.replace("model.train()", "critic_model.train()"),
        WRONG.replace("model.train()", "ref_model.train()"),
        WRONG.replace("model.train()", "old_policy.train()"),
        WRONG.replace("model.train()", "base_model.train()"),
        WRONG.replace("model.train()", "trainer.train()"),
        WRONG.replace("model.train()", "train()"),
        WRONG.replace("model.eval()", "eval('model')"),
        WRONG.replace("model.generate", "text.generate"),
        WRONG.replace("log_softmax", "softmax"),
        WRONG.replace(SCORE, f"with torch.no_grad():\n    {SCORE}"),
        f"teacher = load()\n{WRONG}",
        f"def teacher_logps():\n    return 1\n{WRONG}",
        f"config = Config(attention_dropout=0.0, hidden_dropout=0)\n{WRONG}",
        f"config = Config(attn_pdrop=0.0)\n{WRONG}",
        *(f"name = 'org/{name}-1b'\n{WRONG}" for name in ("Qwen", "llama", "mistral", "gemma", "SmolLM", "deepseek")),
        *(f"name = 'org/{name}-1b'\n{WRONG}" for name in ("olmo", "phi-3", "phi4", "pythia", "course-lm")),
    ],
)
def test_one_mode_for_both_or_a_model_without_dropout_is_right(source):
    """Catches a question about another model's mode, and one about a model that drops nothing out."""
    assert codes(modes, source) == []


STEP = "def sample(x):\n    model.eval()\n    return model.generate(**x)\n"
SCORED = "def score(out):\n    return model(out).logits.log_softmax(-1)\n"


@pytest.mark.parametrize(
    "cells",
    [
        [STEP + SCORED + "out = sample(x)\nmodel.train()\nlp = score(out)"],
        [STEP, SCORED, "def step(x):\n    out = sample(x)\n    model.train()\n    return score(out)"],
        [
            STEP,
            SCORED + "def both(x):\n    return sample(x)\ndef again(out):\n    return score(out)",
            "out = both(x)\nmodel.train()\nlp = again(out)",
        ],
    ],
)
def test_switches_in_functions_count_where_they_are_called(cells):
    """Catches a switch in a function of one's own that is not followed, and one that is told at each call."""
    (finding,) = found(modes, *cells)
    assert finding.cell == len(cells) - 1 and finding.found.startswith("line ")


@pytest.mark.parametrize(
    "cells",
    [
        ["model.train()", STEP + SCORED + "def step(x):\n    lp = score(x)\n    return sample(x)"],
        ["model.eval()\nout = model.generate(**x)", "model.train()\nlp = model(out).logits.log_softmax(-1)"],
        ["def f(x):\n    model.eval()\n    f(x)\n    model.generate(**x)\n    f(x)\n", "model.train()"],
    ],
)
def test_what_is_not_run_one_after_the_other_is_right(cells):
    assert codes(modes, *cells) == []


def test_a_switch_that_is_met_on_two_ways_is_told_once():
    cells = (
        STEP,
        SCORED,
        "def turn():\n    model.train()\ndef step(x):\n    out = sample(x)\n"
        "    turn()\n    return score(out)\nstep(a)\nstep(b)",
    )
    assert codes(modes, *cells) == ["M016"]


def test_functions_that_call_each_other_have_an_end():
    """Catches a search that follows two functions round and round."""
    turns = "def a(x):\n    model.train()\n    b(x)\ndef b(x):\n    a(x)\n"
    assert codes(modes, f"{turns}{STEP}out = sample(x)\na(x)\n{SCORE}") == ["M016"]
