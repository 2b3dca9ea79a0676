"""Sampling inside the graph, and one call for each completion: ways of writing both, and what only looks like it."""

import pytest

from checker.rules.method import sampling
from tests.checker.rules.looking import codes, found

GROWS = """def draw(model, ids):
    for _ in range(8):
        probs = model(ids).logits[:, -1].softmax(-1)
        ids = torch.cat([ids, torch.multinomial(probs, 1)], dim=1)
    return ids
"""
DRAW = "torch.multinomial(probs, 1)"


@pytest.mark.parametrize(
    "source",
    [
        GROWS,
        GROWS.replace("for _ in range(8)", "while True"),
        GROWS.replace(DRAW, "Categorical(probs).sample()"),
        GROWS.replace(DRAW, "torch.distributions.Categorical(probs).sample()"),
        GROWS.replace("torch.cat", "torch.concat"),
        GROWS.replace("torch.cat", "np.concatenate"),
        GROWS.replace("torch.cat", "torch.hstack"),
        *(
            GROWS.replace("model(", f"{name}(")
            for name in ("policy", "actor", "my_lm", "llm", "net", "peft", "student", "Model")
        ),
        f"{GROWS}ids = draw(model, x)\nwith torch.no_grad():\n    ids = draw(model, x)",
        f"torch.set_grad_enabled(True)\n{GROWS}",
        f"torch.set_grad_enabled(mode)\n{GROWS}",
        f"with torch.set_grad_enabled(False):\n    x = 1\n{GROWS}",
        f"@jit\n{GROWS}",
        f"@torch.set_grad_enabled(True)\n{GROWS}",
        GROWS.replace("    for", "    with lock:\n        x = 1\n    for"),
    ],
)
def test_tokens_drawn_with_gradients_on_are_asked_about(source):
    """Catches one way to draw, to lengthen or to call a model that is not known."""
    (finding,) = found(sampling, source)
    line = next(n for n, text in enumerate(source.splitlines(), 1) if "multinomial" in text or "Categorical" in text)
    assert finding.code == "M019" and finding.found == f"line {line}: do these samples need gradients?"
    assert "`torch.no_grad()`" in finding.advice


@pytest.mark.parametrize(
    "source",
    [
        f"torch.set_grad_enabled(False)\n{GROWS}",
        f"@torch.no_grad()\n{GROWS}",
        f"@torch.inference_mode()\n{GROWS}",
        f"@torch.set_grad_enabled(False)\n{GROWS}",
        GROWS.replace("    for _ in range(8):", "    with torch.no_grad():\n     for _ in range(8):"),
        GROWS.replace("    for _ in range(8):", "    with a, torch.inference_mode():\n     for _ in range(8):"),
        GROWS.replace("model(ids)", "model(ids).detach()").replace(DRAW, "torch.multinomial(probs.detach(), 1)"),
        GROWS.replace("model(ids)", "model(ids.detach())"),
        GROWS.replace("for _ in range(8)", "if True"),
        GROWS.replace("torch.cat", "torch.stack"),
        GROWS.replace("model(", "self.model("),
        GROWS.replace("model(", "f("),
        GROWS.replace("model(", "model_config("),
        GROWS.replace("model(", "model_name("),
        GROWS.replace(DRAW, "dist.sample()"),
        GROWS.replace(DRAW, "Normal(probs).sample()"),
        GROWS.replace(DRAW, "sample()"),
        GROWS.replace(DRAW, "probs.argmax()"),
        GROWS.replace("    return", "    env.step(ids)\n    return"),
        GROWS.replace("    return", "    lp = probs.log_softmax(-1)\n    return"),
        GROWS.replace("    return", "    lp = Categorical(probs).log_prob(ids)\n    return"),
        f"{GROWS}with torch.no_grad():\n    ids = draw(model, x)",
        GROWS.replace("def draw(model, ids):\n", "").replace("    return ids\n", "").replace("    ", " "),
    ],
)
def test_tokens_drawn_without_gradients_or_for_another_purpose_are_right(source):
    """Catches a question about an agent's actions, about samples that are scored, or where gradients are off."""
    assert "M019" not in codes(sampling, source)


ONE_BY_ONE = [
    "for _ in range(num_generations):\n    out = model.generate(**x)",
    "for i in range(G):\n    outs[0] = model.generate(**x)",
    "outs = [model.generate(**x) for _ in range(group_size)]",
    "outs = [model.generate(**x) for p in prompts for _ in range(K)]",
    "outs = {model.generate(**x) for _ in range(n_samples)}",
    "outs = list(model.generate(**x) for _ in range(num_rollouts))",
    "def ask(x):\n    return model.generate(**x)\nfor _ in range(G):\n    out = ask(x)",
    *(
        f"for {name} in {name}s:\n    for _ in range(4):\n        out = model.generate(**x)"
        for name in ("prompt", "batch", "row")
    ),
    *(
        f"for a in {name}s:\n    for _ in range({n}):\n        out = llm.generate(x)"
        for name, n in [("question", 2), ("example", 64)]
    ),
    "SIZE = 8\nfor a in prompts:\n    for _ in range(SIZE):\n        out = model.generate(**x)",
    "for _ in range(n):\n    outs.append(model.generate(**x))",
    "for _ in range(n):\n    out = model.generate(x, max_new_tokens=9)\n    outs.extend(out)",
    "for _ in range(n):\n    out = model.generate(input_ids=x)\n    outs.append(out)",
]


@pytest.mark.parametrize("source", ONE_BY_ONE)
def test_one_call_for_each_completion_is_asked_about(source):
    """Catches one kind of loop, or one name of a group's size, that is not known."""
    (finding,) = found(sampling, source)
    assert finding.code == "M020" and "one call of `generate`" in finding.found
    assert "`num_return_sequences=G`" in finding.advice


@pytest.mark.parametrize(
    "source",
    [
        "for i in range(G):\n    out = model.generate(x[i])",
        "for _ in range(0, G):\n    out = model.generate(**x)",
        "for _ in numbers(G):\n    out = model.generate(**x)",
        "for _ in range(G):\n    for y in ys:\n        out = model.generate(**y)",
        "for _ in range(G):\n    out = f(x)",
        "for _ in range(3):\n    out = model.generate(**x)",
        "for a in letters:\n    for _ in range(4):\n        out = model.generate(**x)",
        "for a in prompts:\n    for _ in range(1):\n        out = model.generate(**x)",
        "for a in prompts:\n    for _ in range(65):\n        out = model.generate(**x)",
        "for a in prompts:\n    for _ in range(some):\n        out = model.generate(**x)",
        "while i < G:\n    out = model.generate(**x)",
        "outs = [model.generate(**p) for _ in range(G) for p in ps]",
        "def ask(x):\n    return text.generate(x)\nfor _ in range(G):\n    out = ask(x)",
        "for _ in range(n):\n    out = model.generate(**x)\n    print(out)",
        "for _ in range(n):\n    out = text.generate(x)\n    outs.append(out)",
        *(
            f"for _ in range({name}):\n    outs.append(model.generate(**x))"
            for name in ("steps", "epochs", "iters", "turns", "rounds")
        ),
        *(
            f"for _ in range(n):\n    outs.append(model.generate(**x))\n    {call}"
            for call in ("opt.step()", "loss.backward()")
        ),
        *(
            f"for _ in range(n):\n    outs.append(model.generate(**x))\n    {call}"
            for call in ("input()", "cuda.synchronize()")
        ),
        "for _ in range(n):\n    outs.append(model.generate(3))",
        "for _ in range(n):\n    x = f(x)\n    outs.append(model.generate(x))",
        "for _ in range(n):\n    outs.append(model.generate(ids=x))\n    x += 1",
        "for _ in range(n):\n    for x in xs:\n        y = 1\n    outs.append(model.generate(x))",
        *(
            f"for _ in range(n):\n    x.{name}(1)\n    outs.append(model.generate(x))"
            for name in ("append", "extend", "add")
        ),
        *(
            f"for _ in range(n):\n    x.{name}(1)\n    outs.append(model.generate(x))"
            for name in ("update", "insert", "pop", "put")
        ),
    ],
)
def test_calls_that_differ_or_that_are_measured_are_right(source):
    """Catches a question about a conversation, a measurement or a training, where each call is another one."""
    assert codes(sampling, source) == []
