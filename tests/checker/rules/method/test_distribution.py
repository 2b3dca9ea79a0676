"""Sampled from one distribution and scored under another: each way of writing it, and what only looks like it."""

import pytest

from checker.rules.method import distribution
from tests.checker.rules.looking import codes, found

SCORE = "\nlp = F.log_softmax(model(out).logits, -1)"
SAMPLES = [
    ("out = model.generate(x, temperature=0.7)", "temperature=0.7"),
    ("out = model.generate(x, top_k=50)", "top_k=50"),
    ("out = model.generate(x, top_p=0.9)", "top_p=0.9"),
    ("out = model.generate(x, min_p=0.1)", "min_p=0.1"),
    ("out = model.generate(x, do_sample=True, temperature=0.7, top_k=50)", "temperature=0.7 and top_k=50"),
    ("out = model.generate(x, temperature=1.0, top_k=50, top_p=1.0)", "top_k=50"),
    ("T = 0.7\nout = model.generate(x, temperature=T)", "temperature=0.7"),
    ("cfg = GenerationConfig(top_k=9)\nout = model.generate(x, generation_config=cfg)", "top_k=9"),
    ("out = llm.generate(x, sampling_params=SamplingParams(top_k=9))", "top_k=9"),
    ("def draw(x):\n    return model.generate(x, top_k=9)\nout = draw(x)", "top_k=9"),
    (
        "def a(x):\n    return model.generate(x, top_k=9)\ndef b(x):\n"
        "    return a(x)\ndef c(x):\n    return b(x)\nout = c(x)",
        "top_k=9",
    ),
    ("def draw(x, k):\n    return model.generate(x, top_k=k)\nout = draw(x, 9)", "top_k=9"),
    (
        "def draw(x):\n    p = model(x).logits / 0.7\n    return torch.multinomial(p, 1)\nout = draw(x)",
        "temperature=0.7",
    ),
    ("def draw(x):\n    p = model(x).logits\n    p /= 0.7\n    return torch.multinomial(p, 1)\nout = draw(x)", None),
    (
        "def draw(x, top_k=9):\n    p = cut(model(x), top_k)\n    return Categorical(p).sample()\nout = draw(x)",
        "top_k=9",
    ),
    (
        "def draw(x, top_p=0.9):\n    p = cut(model(x), top_p)\n    return torch.multinomial(p, 1)\nout = draw(x)",
        "top_p=0.9",
    ),
    (
        "def draw(x, min_p=0.2):\n    p = cut(model(x), min_p)\n"
        "    return torch.multinomial(p, 1)\nout = draw(x, min_p=0.3)",
        "min_p=0.3",
    ),
]


@pytest.mark.parametrize(("lines", "settings"), SAMPLES)
def test_samples_that_go_into_what_scores_them_are_asserted(lines, settings):
    """Catches one setting, or one way to hand it over, that is not known."""
    if settings is None:
        assert codes(distribution, lines + SCORE) == []
        return
    (finding,) = found(distribution, "x = 1", lines + SCORE)
    assert (finding.code, finding.level, finding.cell) == ("M015", "warning", 1)
    assert f" samples with {settings}, and the log-prob" in finding.found and "top_k=0, top_p=1.0" in finding.advice


@pytest.mark.parametrize(("lines", "settings"), [pair for pair in SAMPLES if pair[1]])
def test_samples_that_are_not_seen_to_be_scored_are_asked_about(lines, settings):
    (finding,) = found(distribution, f"{lines}\nlp = F.log_softmax(model(given).logits, -1)")
    assert finding.level == "question" and f"drawn with {settings}, scored as if drawn without?" in finding.found
    assert "top_k=0, top_p=1.0" in finding.advice


@pytest.mark.parametrize(
    "score",
    [
        "lp = F.cross_entropy(model(out).logits, out)",
        "lp = torch.logsumexp(model(out), -1)",
        "lp = selective_log_softmax(model(out), out)",
        "logps = helpers.score(model, out)",
        "my_log_probs = score(policy, out, mask)",
        "def score(ids):\n    return F.log_softmax(model(ids).logits, -1)\ny = score(out)",
        "def a(ids):\n    return F.log_softmax(model(ids), -1)\ndef b(ids):\n"
        "    return a(ids)\ndef c(ids):\n    return b(ids)\ny = c(out)",
    ],
)
def test_each_way_to_score_is_known(score):
    assert codes(distribution, f"out = model.generate(x, top_k=50)\n{score}") == ["M015"]


@pytest.mark.parametrize(
    "score",
    [
        "y = softmax(model(out))",
        "logps = score(out)",
        "logps = score(data, out)",
        "logps = out",
        "ids = score(model, out)",
        "print(score(model, out))",
        "logps_of = score(model, out)",
    ],
)
def test_what_scores_nothing_is_right(score):
    assert codes(distribution, f"out = model.generate(x, top_k=50)\n{score}") == []


@pytest.mark.parametrize(
    "lines",
    [
        "out = model.generate(x)",
        "out = model.generate(x, temperature=1.0, top_k=0, top_p=1.0)",
        "out = model.generate(x, temperature=1, top_k=-1, top_p=None)",
        "out = model.generate(x, do_sample=False, temperature=0.7)",
        "out = model.generate(x, temperature=unknown)",
        "out = text.generate(x, temperature=0.7)",
        "out = model.sample(x, temperature=0.7)",
        "def evaluate(x):\n    return model.generate(x, top_k=9)\nout = evaluate(x)",
        "eval_out = out = model.generate(x, top_k=9)",
        "out = compare(model.generate(x, top_k=9))",
        *(
            f"{word}_out = model.generate(x, top_k=9)\nout = {word}_out"
            for word in ("test", "demo", "show", "chat", "baseline")
        ),
        *(f"{word}_out = model.generate(x, top_k=9)\nout = {word}_out" for word in ("infer", "accuracy", "valid")),
        "def draw(x, top_k=9):\n    p = model(x).logits\n    return torch.multinomial(p, 1)\nout = draw(x)",
        "def draw(x, top_k=9):\n    return x[top_k]\nout = draw(x)",
    ],
)
def test_the_plain_distribution_or_another_purpose_is_right(lines):
    """Catches a question about greedy decoding, an evaluation, or a setting that changes nothing."""
    assert codes(distribution, lines + SCORE) == []


@pytest.mark.parametrize(
    "score",
    [
        "lp = F.log_softmax(model(out).logits / 0.7, -1)",
        "lp = F.log_softmax(model(out).logits / temperature, -1)",
        "logits = model(out).logits / tau\nlp = F.log_softmax(logits, -1)",
        "scores = model(out) / T\nlp = F.log_softmax(scores, -1)",
        "outputs = model(out)\nlp = F.log_softmax(outputs / 0.7, -1)",
        "logits = model(out).logits\nlogits /= 0.7\nlp = F.log_softmax(logits, -1)",
        "lp = F.log_softmax(model(out).logits.div(0.7), -1)",
        "logits.div_(temp)\nlp = F.log_softmax(logits, -1)",
        "lp = token_logps(model, out, temperature=0.7)\ny = F.log_softmax(x, -1)",
        "lp = get_log_probs(model, out, temperature)\ny = F.log_softmax(x, -1)",
        "lp = sequence_logps(model, out, cfg.temperature)\ny = F.log_softmax(x, -1)",
        "lp = Logprobs(model, out, my_temp)\ny = F.log_softmax(x, -1)",
        "lp = logp(model, out, temperature)\ny = F.log_softmax(x, -1)",
        "def f(p):\n    y = F.log_softmax(p.logits / 0.7, -1)\n"
        "    return torch.multinomial(y, 1)\nlp = F.log_softmax(model(out), -1)",
    ],
)
def test_logits_divided_where_they_are_scored_account_for_the_temperature(score):
    """Catches one way to divide, or to hand the temperature to what scores, that is not known."""
    assert codes(distribution, f"out = model.generate(x, temperature=0.7)\n{score}") == []
    (finding,) = found(distribution, f"out = model.generate(x, temperature=0.7, top_k=50)\n{score}")
    assert "with top_k=50," in finding.found


@pytest.mark.parametrize(
    "score",
    [
        "lp = F.log_softmax(model(out).logits * 0.7, -1)",
        "lp = F.log_softmax(model(out).logits / n, -1)",
        "lp = F.log_softmax(model(out).logits, -1)\nx = weights / 0.7",
        "lp = F.log_softmax(model(out).logits, -1)\nx = weights.div(0.7)",
        "lp = F.log_softmax(model(out).logits, -1)\nx = logits.div()",
        "lp = F.log_softmax(model(out).logits, -1)\nx = score(out, temperature=0.7)",
        "lp = F.log_softmax(model(out).logits, -1)\nx = logps(model, 0.7)",
        "lp = F.log_softmax(model(out).logits, -1)\nx = logps(model, f(temperature))",
        "lp = F.log_softmax(model(out).logits, -1)\ndef draw(p):\n"
        "    q = p.logits / 0.7\n    return torch.multinomial(q, 1)",
    ],
)
def test_another_division_accounts_for_nothing(score):
    (finding,) = found(distribution, f"out = model.generate(x, temperature=0.7)\n{score}")
    assert "temperature=0.7" in finding.found


SAMPLED = "out = model.generate(x, top_k=50)"
LOGPS = "lp = F.log_softmax(model(y).logits, -1)"


@pytest.mark.parametrize(
    "use",
    [
        "print(out)",
        "print(tok.decode(out[0]))",
        "display(tok.batch_decode(out))",
        "text = tok.decode(out)\nprint(text.strip())",
        "a = out\nb = a\nprint(b)",
        "print(tok.decode(out.tolist()), len(out), str(out))",
        "print(', '.join(out.cpu().detach()), words.to_string(out))",
        "print('{}'.format(out.to_string().split()[0].replace('a', 'b')))",
    ],
)
def test_a_look_at_what_the_model_says_is_right(use):
    """Catches a question about a completion that is printed and goes nowhere."""
    assert codes(distribution, f"{SAMPLED}\n{use}\n{LOGPS}") == []


@pytest.mark.parametrize(
    "use",
    [
        "print(f(out))",
        "print(out)\ny = f(out)",
        "y = out",
        "print(len(x))",
        "x.out = out",
        "if out:\n    print(1)",
        "y = [o for o in out]",
        "a = out\nb = a\nc = b\nd = c\nprint(d)",
    ],
)
def test_what_goes_on_to_something_else_is_asked_about(use):
    assert codes(distribution, f"{SAMPLED}\n{use}\n{LOGPS}") == ["M015"]


def test_what_goes_into_a_call_that_scores_nothing_is_only_asked_about():
    """Catches a claim about samples that go into another call than the one that scores."""
    (finding,) = found(distribution, f"{SAMPLED}\nprint(f(out))\n{LOGPS}")
    assert finding.level == "question"


def test_a_sample_that_is_put_into_a_list_is_no_look():
    assert codes(distribution, f"outs[0] = model.generate(x, top_k=50)\nprint(outs)\n{LOGPS}") == ["M015"]


def test_settings_that_are_handed_over_unseen_are_told_where_they_are_made():
    lines = f"params = SamplingParams(top_k=9)\nout = llm.generate(x, params){SCORE}"
    (finding,) = found(distribution, lines)
    assert finding.found.startswith("line 1 samples with top_k=9")
    assert codes(distribution, f"config = GenerationConfig(top_k=9)\nout = model.generate(x){SCORE}") == ["M015"]


def test_a_cell_that_only_samples_is_right():
    """Catches a demonstration told because another cell, or another function, scores."""
    assert codes(distribution, SAMPLED, f"y = given\n{LOGPS}") == []
    assert (
        codes(distribution, f"def f(x):\n    {SAMPLED}\n    return out", f"def g(y):\n    {LOGPS}\n    return lp") == []
    )


def test_samples_that_a_later_cell_scores_are_asserted():
    later = "lp = F.log_softmax(model(out).logits, -1)"
    (finding,) = found(distribution, "x = 1", SAMPLED, later)
    assert (finding.cell, finding.level) == (1, "warning")
    assert codes(distribution, later, SAMPLED) == []
    assert codes(distribution, SAMPLED, "text = tok.decode(out)\nlp = F.log_softmax(model(tok(text)), -1)") == []
    assert codes(distribution, SAMPLED, "text = tok.batch_decode(out)\nlp = F.log_softmax(model(tok(text)), -1)") == []


def test_a_step_in_a_function_is_told_in_its_cell_and_once():
    """Catches a mistake that is told again at each call of the function that makes it."""
    step = f"def step(x):\n    {SAMPLED}\n    return F.log_softmax(model(out).logits, -1)"
    (finding,) = found(
        distribution,
        "x = 1",
        step,
        "def train(x):\n    return step(x) + F.log_softmax(x, -1)\na = train(x)\nb = step(x)",
    )
    assert finding.cell == 1 and finding.found.startswith("line 2 samples")


def test_an_evaluation_may_score_what_it_samples():
    assert (
        codes(distribution, f"def evaluate(x):\n    {SAMPLED}\n    return F.log_softmax(model(out).logits, -1)") == []
    )


PARTS = ["# Cell 4: Reward\nx = 1", "# Cell 5: Step\nx = 1", "# Cell 6: Training\nx = 1"]


@pytest.mark.parametrize(
    ("number", "is_aside"), [(2, True), (3, True), (4, False), (5, False), (6, False), (7, True), (8, True)]
)
def test_in_a_notebook_of_the_course_only_three_cells_train(number, is_aside):
    """Catches a question about the course's own evaluation, and none about its step."""
    cells = {int(cell[7]): cell for cell in PARTS}
    cells[number] = f"# Cell {number}: So\n{SAMPLED}{SCORE}"
    assert (codes(distribution, *dict(sorted(cells.items())).values()) == []) is is_aside
    assert codes(distribution, cells[number]) == ["M015"]
    del cells[6 if number != 6 else 4]
    assert codes(distribution, *dict(sorted(cells.items())).values()) == ["M015"]


def test_each_call_of_one_function_is_told_with_its_own_settings():
    """Catches an argument that is taken from all calls of a function, and so from none."""
    draw = "def draw(x, k):\n    return model.generate(x, top_k=k)\n"
    findings = found(distribution, f"{draw}out = draw(x, 9)\nother = draw(x, 20){SCORE}")
    assert [(finding.level, finding.found.split("top_k=")[1][:2]) for finding in findings] == [
        ("warning", "9,"),
        ("question", "20"),
    ]


def test_functions_that_call_each_other_have_an_end():
    """Catches a search that follows two functions round and round."""
    turns = f"def a(x):\n    b(x)\n    {SAMPLED}\n    return out\ndef b(x):\n    a(x)\n"
    assert codes(distribution, f"{turns}out = a(x){SCORE}") == ["M015"]


def test_settings_that_another_engine_gets_are_told():
    assert codes(distribution, f"out = engine.run(x, SamplingParams(top_k=9)){SCORE}") == ["M015"]
