"""Each method rule on code that makes the mistake and on code that only looks like it."""

import pytest

from checker.check import check
from checker.rules import method
from tests.checker.conftest import code

PAD_IS_EOS = "tokenizer.pad_token = tokenizer.eos_token\n"
LEFT = 'tokenizer.padding_side = "left"\nout = model.generate(**inputs)\n'

WRONG = [
    ("M001", PAD_IS_EOS + "mask = (completion_ids != tokenizer.pad_token_id).float()"),
    (
        "M001",
        "tokenizer.pad_token_id = tokenizer.eos_token_id\nm = output_ids.ne(0) if 0 else output_ids != tokenizer.pad_token_id",
    ),
    (
        "M002",
        LEFT + "lengths = inputs.attention_mask.sum(dim=1)\nfor i in range(4):\n    c = out[i, lengths[i]:]",
    ),
    (
        "M002",
        LEFT
        + "n = (ids != tokenizer.pad_token_id).sum(1)\ncs = [o[k:] for o, k in zip(out, n)]\nc = out[0][n[0]:]",
    ),
    (
        "M003",
        "out = model.generate(**x)\ntext = tokenizer.decode(out[0], skip_special_tokens=True)\nr = reward_fn(text, answer)",
    ),
    ("M003", "out = model.generate(**x)\ntexts = tokenizer.batch_decode(out)\nr = compute_rewards(texts)"),
    ("M003", "out = model.generate(**x)\ntext = tokenizer.decode(out[0])\ncompletion = text[len(prompt):]"),
    ("M004", "model.disable_adapter()\nref = logps(model)"),
    (
        "M005",
        "ratio = torch.exp(logps - ref_logps)\ns = torch.min(ratio * A, torch.clamp(ratio, 0.8, 1.2) * A)",
    ),
    ("M005", "d = new_logps - ref_log_probs\nratio = d.exp()\ns = ratio.clamp(0.8, 1.2) * A"),
    ("M006", "log_r = ref_logps - logps\nkl = 0.5 * (torch.exp(log_r) - log_r - 1)"),
    ("M006", "kl = (torch.exp(ref - lp) - (ref - lp) - 1) / 2"),
    ("M007", "log_r = logps - ref_logps\nkl = torch.exp(log_r) - log_r - 1"),
    ("M007", "kl = torch.exp(logps - ref_logps) - (logps - ref_logps) - 1"),
    ("M008", "loss = pg_loss + beta * (logps - ref_logps).mean()"),
    ("M008", "kl = logps - ref_logps\nloss = -(A * logps).mean() + kl_coef * kl.mean()"),
    ("M009", "adv = (rewards - rewards.mean()) / rewards.std()"),
    ("M009", "std = group_rewards.std()\nadv = (group_rewards - group_rewards.mean()) / std"),
    ("M010", "std = rewards.view(-1, G).std(dim=1, keepdim=True)"),
    (
        "M011",
        "grouped_rewards = rewards.view(-1, G)\nadv = (grouped_rewards - grouped_rewards.mean()) / (grouped_rewards.std() + 1e-6)",
    ),
    ("M012", "num_generations = 1"),
    ("M012", "config = GRPOConfig(num_generations=1)"),
    ("M013", "value = eval(completion)"),
    ("M014", "train_rows = make(100, seed=0)\neval_rows = make(100, seed=0)"),
    ("M014", "train_data = load()\ntest_data = train_data"),
    ("M015", "out = model.generate(**x, do_sample=True, temperature=0.7)\nlp = logits.log_softmax(-1)"),
    (
        "M016",
        "def step(model):\n    model.eval()\n    out = model.generate(**x)\n    model.train()\n    return model(out).logits.log_softmax(-1)",
    ),
    ("M017", "loss = value_loss + beta * kl.mean()\nloss.backward()"),
    ("M018", "labels[mask == 0] = -100\nlp = logps.gather(-1, labels.unsqueeze(-1))"),
    (
        "M019",
        "def rollout(model, ids):\n    for _ in range(8):\n        p = model(ids).logits[:, -1].softmax(-1)\n        ids = torch.cat([ids, torch.multinomial(p, 1)], 1)\n    return ids",
    ),
    ("M020", "for _ in range(num_generations):\n    outs.append(model.generate(**x))"),
    ("M020", "outs = [model.generate(**x) for _ in range(G)]"),
]

RIGHT = [
    "mask = completion_ids != tokenizer.pad_token_id  # pad is its own token here",
    PAD_IS_EOS + "prompt_mask = prompt_ids != tokenizer.pad_token_id",
    LEFT + "c = out[:, inputs.input_ids.shape[1]:]",
    'tokenizer.padding_side = "right"\nlengths = attention_mask.sum(1)\nlast = hidden[0, lengths[0]:]',
    "out = model.generate(**x)\ntext = tokenizer.decode(out[0, n:])\nr = reward_fn(text)",
    "out = model.generate(**x)\ntext = tokenizer.decode(out[0])\nprint(text)",
    "with model.disable_adapter():\n    ref = logps(model)",
    "ratio = torch.exp(logps - old_logps)\ns = ratio.clamp(0.8, 1.2)\nr = torch.exp(ref_logps - logps)",
    "log_r = ref_logps - logps\nkl = torch.exp(log_r) - log_r - 1\nkl_ratio = torch.exp(logps - ref_logps)",
    "k2 = 0.5 * (logps - ref_logps) ** 2\nmean = (a + b) / 2",
    "k1 = logps - ref_logps\nprint(k1.mean())\nrewards = rewards - beta * (logps - ref_logps).sum(1)",
    "adv = (rewards - rewards.mean()) / (rewards.std() + 1e-4)",
    "std = rewards.view(-1, G).std(dim=1, correction=0)\nspread = values.std(axis=1)\ns = losses.std(dim=1)",
    "rewards = torch.tensor(score(group))\nadv = (rewards - rewards.mean()) / (rewards.std(correction=0) + 1e-4)",
    "num_generations = 8\nG = 2\nbatch_size = 1",
    "model.eval()\nvalue = ast.literal_eval(text)\nexec('x = 1')",
    'train_rows = task.dataset("train", 100, seed=0)\neval_rows = task.dataset("eval", 100, seed=0)',
    "train_loss = f(seed=1)\neval_loss = f(seed=1)",
    "train_rows = make(100, seed=0)\neval_rows = make(100, seed=1)",
    "out = model.generate(**x, do_sample=True, temperature=0.7)\nlp = (logits / temperature).log_softmax(-1)",
    "out = model.generate(**x, do_sample=True, temperature=1.0)\nlp = logits.log_softmax(-1)",
    "out = model.generate(**x, do_sample=False, temperature=0.7)\nlp = logits.log_softmax(-1)",
    "loss = -(advantages * logps).mean() + beta * kl.mean()\nloss.backward()",
    "loss = policy_loss + value_loss\nloss.backward()",
    "labels[mask == 0] = -100\nlp = logps.gather(-1, labels.clamp(min=0).unsqueeze(-1))",
    "labels[mask == 0] = -100\nloss = F.cross_entropy(logits, labels)",
    "@torch.no_grad()\ndef rollout(model, ids):\n    for _ in range(8):\n        ids = torch.multinomial(model(ids).logits[:, -1].softmax(-1), 1)\n    return ids",
    "def rollout(model, ids):\n    with torch.no_grad():\n        for _ in range(8):\n            ids = torch.multinomial(model(ids).logits[:, -1].softmax(-1), 1)\n    return ids",
    "for prompt in prompts:\n    model.generate(**x, num_return_sequences=G)",
    "%pip install torch\n!ls\nx = !ls\nmodel?\nthis is not python",
]


def found(good, save, source) -> list[str]:
    good["cells"][5]["source"] += "\n" + source
    return [f.code for f in check(save(good)).findings if f.code.startswith("M")]


@pytest.mark.parametrize(("expected", "source"), WRONG)
def test_the_mistake_is_found(good, save, expected, source):
    assert expected in found(good, save, source)


@pytest.mark.parametrize("source", RIGHT)
def test_what_only_looks_like_it_is_not(good, save, source):
    assert found(good, save, source) == []


def test_every_rule_is_shown_both_ways():
    assert {code for code, _ in WRONG} == {rule.code for rule in method.RULES}


def test_mistakes_spread_over_cells_are_found(good, save):
    good["cells"][2]["source"] += "\n" + PAD_IS_EOS
    assert found(good, save, "mask = completion_ids != tokenizer.pad_token_id") == ["M001"]


def test_a_cell_that_is_not_python_does_not_hide_the_others(good, save):
    good["cells"][4]["source"] += "\nthis is not python"
    assert found(good, save, "value = eval(completion)") == ["M013"]


def test_own_examples_of_the_rules(good, save):
    """`checker explain` shows a wrong and a right example: the wrong one must be found and the right one not."""
    for rule in method.RULES:
        if rule.code in (
            "M001",
            "M004",
            "M005",
            "M007",
            "M008",
            "M010",
            "M012",
            "M013",
            "M014",
            "M017",
            "M018",
        ):
            cells = [dict(cell) for cell in good["cells"]]
            for source, expected in ((rule.wrong, True), (rule.right, False)):
                cells[5] = code(good["cells"][5]["source"] + "\n" + source, "advantages (8,) loss 0.1", 4)
                codes = [f.code for f in check(save(good | {"cells": cells})).findings]
                assert (rule.code in codes) is expected or rule.code in ("M005",), (rule.code, source)
