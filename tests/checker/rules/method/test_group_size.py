"""A group of one: each place where a setting says so, and the ones that mean something else."""

import pytest

from checker.rules.method import group_size
from tests.checker.rules.looking import codes, found

ONES = [
    "num_generations = 8\nnum_generations = 1",
    "x = {name: {'num_generations': 1}}",
    "num_generations = 1",
    "group_size: int = 1",
    "G = 1",
    "G_size = 1",
    "COMPLETIONS_PER_PROMPT = 1",
    "samples_per_prompt = 1",
    "@dataclass\nclass Config:\n    num_generations: int = 1",
    "def train():\n    num_generations = 1",
    "config = GRPOConfig(num_generations=1)",
    "x = RLOOTrainer(a, num_generations=1, lr=2)",
    "x = Config(group_size=1)",
    "x = TrainingArguments(group_size=1)",
    "x = training_config(group_size=1)",
    "x = Args(group_size=1)",
    "x = train_all(group_size=1)",
    "x = take_step(group_size=1)",
    "def step(model, G=1):\n    pass",
    "def step(model, x, /, y=3, num_generations=1):\n    pass",
    "def step(model, *, x, num_generations=1):\n    pass",
    "def step(group_size=1, /, *rest):\n    pass",
    "cfg = {'lr': 3, 'num_generations': 1}",
    "cfg = {'grpo': {'num_generations': 1}}",
    "f(settings={'num_generations': 1})",
    "f({'num_generations': 1})",
    "self.cfg = {'num_generations': 1}",
    "f(**{'num_generations': 1})",
    "x = {**base, 'num_generations': 1}",
]


@pytest.mark.parametrize("lines", ONES)
def test_a_group_of_one_is_asked_about(lines):
    """Catches one place where the size can be set that is not looked at."""
    (finding,) = found(group_size, "x = 1", lines)
    line = next(n for n, text in enumerate(lines.splitlines(), 1) if "1" in text)
    assert (finding.code, finding.cell) == ("M012", 1)
    assert (
        finding.found == f"line {line}: is one completion for each prompt what you want?"
        and "every advantage is 0" in finding.advice
    )


@pytest.mark.parametrize(
    "lines",
    [
        "num_generations = 2",
        "num_generations = 1.5",
        "num_generations = True",
        "my_num_generations = 1",
        "num_generations_seen = 1",
        "g = 1",
        "num_generations += 1",
        "for num_generations in 1, 2:\n    pass",
        "if (num_generations := 1):\n    pass",
        "G = 1\nG = r + gamma * G",
        "G = 1\nG = discount * x",
        *(
            f"def {word}(x):\n    num_generations = 1"
            for word in ("evaluate", "ppo", "distil", "generate", "sample", "run_tests", "compare")
        ),
        *(f"def {word}(x, num_generations=1):\n    pass" for word in ("greedy", "rollout", "Evaluate")),
        "class PPOConfig:\n    num_generations: int = 1",
        "x = GRPOEval(num_generations=1)",
        "x = f(num_generations=1)",
        "x = GRPOConfig(num_generations=8)",
        "x = Config(lr=1)",
        "x = Config(1)",
        "x = MyConfigs(num_generations=1)",
        "x = pretrain(num_generations=1)",
        "x = steps(num_generations=1)",
        "def step(num_generations, lr=1):\n    pass",
        "def step(*, num_generations, lr=1):\n    pass",
        "def step(num_generations=None, *, group_size=None):\n    pass",
        "eval_cfg = {'num_generations': 1}",
        "cfg = {'ppo': {'num_generations': 1}}",
        "cfg = {'grpo': {'num_generations': 2}, 'test': {'num_generations': 1}}",
        "f(eval_args={'num_generations': 1})",
        "cfg = {name: 1}",
        "cfg = {3: 1}",
        "cfg = {'num_generations': 2, 'lr': 1}",
    ],
)
def test_another_one_is_right(lines):
    """Catches a question about an evaluation, about a return called G, or about another setting that is 1."""
    assert codes(group_size, lines) == []


def test_each_setting_is_asked_about():
    lines = "G = 1\nnum_generations = 1\nx = Config(group_size=1, num_generations=1)\ncfg = {'group_size': 1, 'G': 1}"
    assert [finding.found[:7] for finding in found(group_size, lines)] == [
        "line 1:",
        "line 2:",
        "line 3:",
        "line 3:",
        "line 4:",
        "line 4:",
    ]


def test_a_return_called_g_hides_no_other_setting():
    assert len(found(group_size, "G = 1\nG = r + gamma * G\nnum_generations = 1")) == 1


@pytest.mark.parametrize(
    "lines",
    [
        "def evaluate(G=1):\n    pass\ndef step(G=1):\n    pass",
        "eval_cfg = {'G': 1}\n\ncfg = {'G': 1}",
        "x = evaluate(G=1)\n\nx = train(G=1)",
    ],
)
def test_what_is_right_hides_nothing_below_it(lines):
    """Catches a search that ends at the first setting of an evaluation."""
    (finding,) = found(group_size, lines)
    assert finding.found.startswith("line 3:")
