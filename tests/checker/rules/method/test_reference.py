"""A reference that is trained along, or that is the policy: the names of it, and what makes it one after all."""

import ast

import pytest

from checker.rules.method import reference
from checker.rules.method.reference import _is_reference_model
from tests.checker.rules.looking import codes, found


@pytest.mark.parametrize(
    "name", ["ref_model", "self.ref", "reference_policy", "my_ref", "refmodel", "refpolicy", "REF_MODEL", "a.reference"]
)
def test_names_of_a_reference_model(name):
    assert _is_reference_model(ast.parse(name, mode="eval").body)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "ref_logps",
            "ref_probs",
            "ref_reward",
            "ref_score",
            "ref_ids",
            "ref_kl",
            "ref_text",
            "ref_output",
            "ref_name",
        ),
        *(
            "ref_path",
            "ref_token",
            "reference_answer",
            "ref_loss",
            "model",
            "preference_model",
            "refs",
            "f(ref)",
            "ref[0]",
        ),
    ],
)
def test_names_of_something_else(name):
    """Catches what the reference gave, or an answer to compare with, taken for the model."""
    assert not _is_reference_model(ast.parse(name, mode="eval").body)


BACK = "loss.backward()\n"
SCORES = [
    "ref = ref_model(ids)",
    "ref = ref_model(input_ids=ids).logits",
    "ref = self.reference(ids)",
    "ref = ref_model.forward(ids)",
    "def logps(model, ids):\n    return model(ids).logits\nref = logps(ref_model, ids)",
    "def logps(model, ids):\n    x = f(ids)\n    return model(ids).logits\nref = logps(self.ref_model, ids)",
]


@pytest.mark.parametrize("lines", SCORES)
def test_scoring_with_the_reference_is_asked_about(lines):
    """Catches one way to score that is not known."""
    (finding,) = found(reference, "x = 1", f"{lines}\n{BACK}")
    assert (finding.code, finding.cell) == ("M021", 1)
    assert (
        finding.found.endswith("does scoring with the reference need gradients?")
        and "`with torch.no_grad():`" in finding.advice
    )


def test_each_scoring_is_asked_about_in_its_own_line():
    """Catches a loop that ends at the first call that is right."""
    lines = (
        "with torch.no_grad():\n    a = ref_model(x)\nb = ref_model(x)\n"
        "self.W_ref = nn.Linear(8)\nc = self.W_ref(x)\nd = ref_model(x)\n"
    )
    assert [finding.found[:7] for finding in found(reference, lines + BACK)] == ["line 3:", "line 6:"]


@pytest.mark.parametrize(
    "lines",
    [
        "ref = ref_model()\n" + BACK,
        "ref = ref_model(ids)",
        "with torch.no_grad():\n    ref = ref_model(ids)\n" + BACK,
        "ref = f(ref_model, ids)\n" + BACK,
        "ref = ref_model.eval()\n" + BACK,
        "ref = forward(ref_model)\n" + BACK,
        "def logps(model, ids):\n    with torch.no_grad():\n"
        "        return model(ids).logits\nref = logps(ref_model, ids)\n" + BACK,
        "def logps(model, ids):\n    return score(ids)\nref = logps(ref_model, ids)\n" + BACK,
        *(
            f"def logps(model, ids):\n    return model(ids).{end}()\nref = logps(ref_model, ids)\n" + BACK
            for end in ("item", "detach", "tolist", "numpy")
        ),
        "def logps(model, ids):\n    return model(ids).logits\nlp = logps(model, ids)\n" + BACK,
        "self.W_ref = nn.Linear(8, 8)\nx = self.W_ref(y)\n" + BACK,
        *(f"def {word}_step(x):\n    return ref_model(x)\n" + BACK for word in ("eval", "test", "generate", "sample")),
        "for p in ref_model.parameters():\n    p.requires_grad = False\nref = ref_model(ids)\n" + BACK,
        "for n, p in ref_model.named_parameters():\n    p.requires_grad_(False)\nref = ref_model(ids)\n" + BACK,
        "freeze(ref_model)\nref = ref_model(ids)\n" + BACK,
        "ref_model.freeze()\nref = ref_model(ids)\n" + BACK,
        "ref_model.requires_grad_(False)\nref = ref_model(ids)\n" + BACK,
        "class M:\n    def forward(self, x):\n        with torch.no_grad():\n"
        "            return f(x)\nref = ref_model(ids)\n" + BACK,
        "ref = ref_model(ids).detach()\n" + BACK,
        "ref = ref_model(ids)\nx = ref.detach()\n" + BACK,
        "ref, y = ref_model(ids)\nx = f(ref).item()\n" + BACK,
        "ref = ref_model(ids)\nref.detach_()\n" + BACK,
        "x = f(ref_model(ids)).item()\n" + BACK,
    ],
)
def test_scoring_without_gradients_is_right(lines):
    """Catches a question where gradients are off, or where the result is let go of."""
    assert codes(reference, lines) == []


@pytest.mark.parametrize(
    "lines",
    [
        "for p in model.parameters():\n    p.requires_grad = False\nref = ref_model(ids)\n" + BACK,
        "for p in ref_model.parameters():\n    p.data = x\nref = ref_model(ids)\n" + BACK,
        "freeze(model)\nref = ref_model(ids)\n" + BACK,
        "class M:\n    def forward(self, x):\n        return f(x)\nref = ref_model(ids)\n" + BACK,
        "class M:\n    def backward(self, x):\n        with torch.no_grad():\n"
        "            return f(x)\nref = ref_model(ids)\n" + BACK,
        "ref = ref_model(ids)\nx = other.detach()\n" + BACK,
        "ref = ref_model(ids)\ndef f(ref):\n    return ref.detach()\n" + BACK,
        "f(ref_model(ids))\nx = y.detach()\n" + BACK,
        "self.W_ref = f(8, 8)\nx = self.W_ref(y)\n" + BACK,
        "self.W = nn.Linear(8, 8)\nx = self.W_ref(y)\n" + BACK,
    ],
)
def test_what_lets_go_of_something_else_does_not_help(lines):
    assert codes(reference, lines) == ["M021"]


def test_a_cell_that_trains_nothing_tries_the_reference_out():
    """Catches a question about a look at the reference in a cell of its own."""
    assert codes(reference, "ref = ref_model(ids)", BACK) == []
    assert codes(reference, "def f(ids):\n    return ref_model(ids)", BACK) == ["M021"]


SAME = [
    "ref_model = model",
    "self.ref_model = self.policy",
    "reference = actor",
    "a = ref_policy = policy",
    "train(model=net, ref_model=net)",
    "train(policy=llm, reference_model=llm)",
    "train(policy_model=a_model, ref_policy=a_model)",
    "def train(x, model, ref_model):\n    return x\ntrain(3, net, net)",
    "optimizer = AdamW(model.parameters())\nref_model = model",
    "a = Adam(model.parameters())\nb = Adam(critic.parameters())\nref_model = model",
    "opt = torch.optim.SGD([*model.parameters()])\nref_model = model",
    "ref_model = my_lm",
]


@pytest.mark.parametrize("lines", SAME)
@pytest.mark.parametrize("trains", [BACK, "trainer.train()\n"])
def test_the_policy_under_a_second_name_is_asked_about(lines, trains):
    """Catches one way to hand the policy over as its own reference that is not known."""
    (finding,) = [f for f in found(reference, "x = 1", f"{lines}\n{trains}") if f.code == "M022"]
    assert finding.cell == 1 and "is the reference the policy itself (" in finding.found
    assert f"line {len(lines.splitlines())}: " in finding.found and "`copy.deepcopy(model).eval()`" in finding.advice


@pytest.mark.parametrize(
    "lines",
    [
        "ref_model = model",
        "ref_model = copy.deepcopy(model)\n" + BACK,
        "ref_model = model_copy\n" + BACK,
        "ref_model = old_model\n" + BACK,
        "ref_model = model_name\n" + BACK,
        "ref_model = base_model\n" + BACK,
        "ref_model = weights\n" + BACK,
        "ref_model = model\nwith model.disable_adapter():\n    x = 1\n" + BACK,
        "ref_logps = model\n" + BACK,
        "other = model\n" + BACK,
        "optimizer = Adam(student.parameters())\nref_model = model\n" + BACK,
        "train(model=net, ref_model=other_net)\n" + BACK,
        "train(model=net)\n" + BACK,
        "train(ref_model=net)\n" + BACK,
        "train(net, ref_model=net)\n" + BACK,
        "train(model=make_model(), ref_model=make_model())\n" + BACK,
        "train(model=self.model, ref_model=self.model.x)\n" + BACK,
    ],
)
def test_another_model_is_a_reference(lines):
    assert codes(reference, lines) == []


@pytest.mark.parametrize("maker", ["Adam", "AdamW", "SGD", "RMSprop", "MyOptim", "Adafactor", "Lion"])
def test_only_what_is_trained_is_the_policy(maker):
    """Catches one optimiser that is not known, and every model taken for one that is trained."""
    assert codes(reference, f"opt = {maker}(student.parameters())\nref_model = model\n{BACK}") == []
    assert codes(reference, f"opt = {maker}(model.parameters())\nref_model = model\n{BACK}") == ["M022"]
    assert codes(reference, f"n = count(student.parameters())\nref_model = model\n{BACK}") == ["M022"]
    assert codes(reference, f"opt = {maker}(self.student.parameters())\nself.ref_model = self.model\n{BACK}") == []


def test_each_that_is_the_policy_is_asked_about():
    """Catches a search that ends at the first model that is another one."""
    lines = "ref_model = other\nref_model = model\nref_model = policy\ntrain(ref_model=copied)\ntrain(model=net, ref_model=net)\n"
    assert [finding.found[:7] for finding in found(reference, lines + BACK)] == ["line 2:", "line 3:", "line 5:"]


def test_a_long_name_is_cut_where_it_is_quoted():
    (finding,) = found(reference, f"ref_model = {'x' * 60}_model\n{BACK}")
    assert f"({'x' * 40})" in finding.found
