"""The recipes of the tasks: settings that exist, rewards that take the task's rows."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from shared.distill import DistillConfig
from shared.grpo import GRPOConfig
from shared.model_classes import EMBEDDED, OF_A_CLASS, OF_A_TASK, REAL, REAL_LORA, class_of
from shared.models import load_policy
from shared.ppo import PPOConfig
from shared.recipes import RECIPES, TRAINED, measuring, prepare, with_teacher_prompts
from shared.rewards import columns_of, score
from shared.rloo import RLOOConfig

CONFIGS = {"grpo": GRPOConfig, "rloo": RLOOConfig, "ppo": PPOConfig}


@pytest.fixture(scope="module")
def tokenizer():
    return load_policy(device="cpu")[1]


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("algorithm", CONFIGS)
def test_every_algorithm_takes_the_settings_of_every_task(name, algorithm):
    """Catches a setting that is misspelt (it would be left out without a word) or that an algorithm refuses."""
    recipe = RECIPES[name]
    known = set().union(*(config.__dataclass_fields__ for config in CONFIGS.values()))
    assert set(recipe.settings) <= known and set(recipe.own) <= {*CONFIGS, "distill"}
    settings = recipe.settings_of(algorithm, CONFIGS[algorithm])
    config = CONFIGS[algorithm](**settings)
    assert {key: getattr(config, key) for key in settings} == settings
    assert recipe.name == name and recipe.trained in TRAINED and recipe.algorithm in CONFIGS


def test_what_an_algorithm_needs_goes_before_what_all_share():
    settings = RECIPES["sentences"].settings_of("ppo", PPOConfig)
    assert settings["prompts_per_step"] == 48 and settings["beta"] == 0.1


def test_a_class_of_model_changes_what_it_was_tried_with(tokenizer):
    """Catches the embedded model's rate for a real one, whose weights it throws about, and a change that is misspelt."""
    real = type("Real", (), {"__len__": lambda self: 49_152})()
    assert [class_of(tokenizer, "all"), class_of(real, "upper half"), class_of(real, "lora")] == [
        EMBEDDED,
        REAL,
        REAL_LORA,
    ]
    recipe = RECIPES["addition"]
    assert recipe.settings_of("grpo", GRPOConfig, EMBEDDED) == recipe.settings_of("grpo", GRPOConfig)
    assert recipe.settings_of("grpo", GRPOConfig, REAL)["learning_rate"] == 1e-5
    assert recipe.settings_of("grpo", GRPOConfig, REAL_LORA)["steps"] == 6
    sentences = RECIPES["sentences"].settings_of("ppo", PPOConfig, REAL)
    assert sentences["learning_rate"] == 1e-5 and sentences["prompts_per_step"] == 48
    fields = GRPOConfig.__dataclass_fields__
    for (task, kind), changes in OF_A_TASK.items():
        assert set(changes.settings) <= set(fields) and kind in OF_A_CLASS
        assert changes.examples <= len(RECIPES[task].task.CHAT_EXAMPLES)


@pytest.mark.parametrize("task", {RECIPES[name].task for name, _ in OF_A_TASK})
def test_worked_examples_are_right_and_of_the_training_split(task):
    """Catches a held-out row that is shown solved, and a wrong answer that the model is to follow."""
    rows = {row["question"]: row for row in task.dataset("train", 2500)}
    for asked, right in task.CHAT_EXAMPLES:
        columns = {name: [value] for name, value in rows[asked].items() if name != "prompt"}
        assert task.reward([rows[asked]["prompt"]], [right], **columns) == [1.0]


def test_a_teacher_reads_a_header_more_and_the_student_nothing_of_it(tokenizer):
    """Catches a header that reaches the student, who would then have nothing to learn."""
    recipe = replace(RECIPES["countdown"], train_rows=4)
    rows = prepare(recipe, tokenizer).train_rows
    taught = with_teacher_prompts(recipe, rows, tokenizer)
    assert [row["teacher_prompt"] for row in taught] == ["answer key\n" + row["prompt"] for row in rows]
    assert [{**row, "teacher_prompt": None} for row in rows] == [{**row, "teacher_prompt": None} for row in taught]
    DistillConfig(**recipe.settings_of("distill", DistillConfig))
    with pytest.raises(ValueError, match="dots has no header.*countdown has"):
        with_teacher_prompts(RECIPES["dots"], rows, tokenizer)
    with pytest.raises(ValueError, match="tells a chat model nothing"):
        with_teacher_prompts(recipe, rows, SimpleNamespace(chat_template="{{ messages }}"))


@pytest.mark.parametrize("name", RECIPES)
def test_rewards_take_the_rows_and_the_two_splits_are_apart(name, tokenizer):
    recipe = replace(RECIPES[name], train_rows=40, eval_rows=20)
    materials = prepare(recipe, tokenizer)
    assert len(materials.train_rows) == 40 and len(materials.eval_rows) == 20
    trained = {row["prompt"] for row in materials.train_rows}
    assert trained.isdisjoint(row["prompt"] for row in materials.eval_rows)
    for functions in (recipe.reward_funcs, recipe.measured):
        for rows in (materials.train_rows, materials.eval_rows):
            completions = [recipe.task.LONGEST_ANSWERS[0]] * len(rows)
            columns = columns_of(rows)
            if recipe.environment_factory is not None:
                columns["environments"] = [recipe.environment_factory(row, 0) for row in rows]
            assert len(score(functions, [row["prompt"] for row in rows], completions, columns)) == len(rows)
    assert (materials.constraint is not None) == recipe.constrained
    options = measuring(recipe, materials)
    assert options.get("num_generations", 0) == recipe.samples and options["constraint"] is materials.constraint


def test_the_seed_draws_other_training_rows_and_the_same_held_out_rows(tokenizer):
    """Catches results of several seeds that were measured on several sets."""
    recipe = replace(RECIPES["dots"], train_rows=40, eval_rows=20)
    first, second = prepare(recipe, tokenizer, seed=0), prepare(recipe, tokenizer, seed=1)
    assert first.train_rows != second.train_rows and first.eval_rows == second.eval_rows


def test_a_constraint_without_labels_is_refused(tokenizer):
    with pytest.raises(ValueError, match="dots has no set of labels"):
        prepare(replace(RECIPES["dots"], constrained=True), tokenizer)
