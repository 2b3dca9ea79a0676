"""Recipes: the training and the measurement of each task, shared by notebooks, command line and benchmark of learning.

A recipe (see CONTRIBUTING: house words) names settings and no algorithm's class: `settings_of` gives those that a
configuration has a field for. They suit the embedded model; `shared/model_classes.py` has what another class changes.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import ModuleType
from typing import TYPE_CHECKING

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.constrain import AnswerTrie, answer_trie
from shared.environment import EnvironmentFactory
from shared.model_classes import EMBEDDED, class_of, examples_for, settings_for, warm_up_for
from shared.models import add_lora, train_upper_half
from shared.prompts import answers_for, max_new_tokens_for, rows_for
from shared.rewards import RewardFunction
from shared.tasks import addition, analogies, countdown, dots, game, poker, sentences
from shared.tasks.documents import ANSWER_KEY
from shared.tokens import prompt_ids

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Which weights are trained, by name.
TRAINED: dict[str, Callable[[PreTrainedModel], PreTrainedModel]] = {
    "all": lambda model: model,
    "upper half": train_upper_half,
    "lora": add_lora,
}


@dataclass(frozen=True)
class WarmUp:
    """Supervised training before everything else, for a task that the base model cannot begin.

    documents: `documents(n, seed)`, n rows with `prompt` and `completion`.
    count: how many documents.    settings: of `TrainingConfig`.
    """

    documents: Callable[[int, int], list[dict]]
    count: int
    settings: Mapping[str, object]


@dataclass(frozen=True)
class Recipe:
    """The training and the measurement of a task.

    reward_funcs: what training pays.    measured: the reward that is shown before and after.
    settings: of any algorithm.    own: further settings of one algorithm, by its name.
    algorithm: the one of the task's notebook.
    train_rows, eval_rows: how many rows of the two splits.
    trained: which weights, a key of `TRAINED`.
    constrained: whether completions are restricted to the task's labels.
    samples: how many completions of a held-out prompt are drawn at temperature 1; 0 measures the greedy one.
    environment_factory: makes what answers the policy inside of a completion (`shared.environment`); None for nothing.
    teacher_header: goes before the prompt that a teacher reads (`shared.distill`); None where the embedded model knows
        no header under which it does better.
    warm_up: what the embedded model learns before the measurement and the training; None for nothing.
    """

    task: ModuleType
    reward_funcs: tuple[RewardFunction, ...]
    measured: RewardFunction
    settings: Mapping[str, object]
    train_rows: int
    eval_rows: int
    own: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    algorithm: str = "grpo"
    trained: str = "all"
    constrained: bool = False
    samples: int = 0
    environment_factory: EnvironmentFactory | None = None
    teacher_header: str | None = None
    warm_up: WarmUp | None = None

    @property
    def name(self) -> str:
        return self.task.__name__.rpartition(".")[2]

    def settings_of(
        self, algorithm: str, config_class: "type[DataclassInstance]", kind: str = EMBEDDED
    ) -> dict[str, object]:
        """The settings that a configuration of this class has, the algorithm's own over the others.

        kind: the class of the model, of `shared.model_classes`, whose changes go over all of them.
        """
        known = {field.name for field in fields(config_class)}
        changed = settings_for(self.name, kind)
        common, of_class = ({k: v for k, v in some.items() if k in known} for some in (self.settings, changed))
        return common | dict(self.own.get(algorithm, {})) | of_class

    def warm_up_of(self, kind: str) -> WarmUp | None:
        """The warm-up of a class of model, before the measurement and the training: a real one learns right answers."""
        if kind == EMBEDDED:
            return self.warm_up
        settings = warm_up_for(self.name, kind)
        if not settings:
            return None
        return WarmUp(self.solved, int(settings["steps"] * settings["prompts_per_step"]), settings)

    def solved(self, n: int, seed: int = 0) -> list[dict]:
        """n rows of the training split, each with its right completion."""
        return [self.task.solved(row) for row in self.task.dataset("train", n, seed=seed)]


GROUPS_OF_8 = {"prompts_per_step": 16, "num_generations": 8}
LARGE_BATCH_OF_8 = {"prompts_per_step": 32, "num_generations": 8}

RECIPES = {
    "dots": Recipe(
        task=dots,
        reward_funcs=(dots.reward,),
        measured=dots.reward,
        settings=GROUPS_OF_8 | {"steps": 40, "learning_rate": 1e-4, "beta": 0.02},
        train_rows=512,
        eval_rows=200,
    ),
    "poker": Recipe(
        task=poker,
        reward_funcs=(poker.weighted_reward,),
        measured=poker.reward,
        settings=LARGE_BATCH_OF_8 | {"steps": 60, "learning_rate": 3e-4, "beta": 0.05},
        train_rows=2000,
        eval_rows=400,
        constrained=True,
    ),
    "analogies": Recipe(
        task=analogies,
        reward_funcs=(analogies.reward,),
        measured=analogies.reward,
        settings=LARGE_BATCH_OF_8 | {"steps": 24, "learning_rate": 5e-4},
        train_rows=3000,
        eval_rows=339,
        trained="upper half",
    ),
    "addition": Recipe(
        task=addition,
        reward_funcs=(addition.format_reward,),
        measured=addition.format_reward,
        settings=GROUPS_OF_8 | {"steps": 25, "learning_rate": 1.5e-3, "beta": 0.6},
        train_rows=1000,
        eval_rows=200,
        trained="lora",
    ),
    "countdown": Recipe(
        task=countdown,
        reward_funcs=(countdown.format_reward, countdown.correctness_reward),
        measured=countdown.correctness_reward,
        settings=GROUPS_OF_8 | {"steps": 40, "learning_rate": 3e-4},
        train_rows=1000,
        eval_rows=200,
        own={
            "distill": {
                "prompts_per_step": 32,
                "num_generations": 1,
                "steps": 32,
                "learning_rate": 1e-3,
                "teacher_temperature": 0.3,
            }
        },
        samples=4,
        teacher_header=ANSWER_KEY,
    ),
    "sentences": Recipe(
        task=sentences,
        reward_funcs=(sentences.reward,),
        measured=sentences.count_reward,
        settings={"steps": 8, "learning_rate": 5e-4, "beta": 0.1, "prompts_per_step": 6, "num_generations": 8},
        own={
            "grpo": {"num_iterations": 2, "minibatches": 2},
            "ppo": {"prompts_per_step": 48, "num_generations": 1},
        },
        train_rows=400,
        eval_rows=100,
        algorithm="ppo",
        samples=1,
    ),
    "game": Recipe(
        task=game,
        reward_funcs=(game.reward,),
        measured=game.reward,
        settings=GROUPS_OF_8 | {"steps": 150, "learning_rate": 5e-4},
        train_rows=128,
        eval_rows=54,
        samples=8,
        environment_factory=game.FindTheNumber,
        warm_up=WarmUp(game.random_games, 1200, {"steps": 225, "learning_rate": 1e-3}),
    ),
}


@dataclass(frozen=True)
class Materials:
    """A recipe made ready for the tokenizer at hand.

    train_rows, eval_rows: data sets with prompts as the model wants them.    constraint: None leaves completions free.
    examples: how many worked examples stand before each question.
    """

    train_rows: Sequence[dict]
    eval_rows: Sequence[dict]
    max_new_tokens: int
    constraint: AnswerTrie | None
    examples: int = 0


def prepare(
    recipe: Recipe,
    tokenizer: PreTrainedTokenizerBase,
    *,
    seed: int = 0,
    eval_seed: int = 0,
    positions: int | None = None,
) -> Materials:
    """Rows of both splits, the constraint, and the room for a completion. `seed` draws the training rows alone.

    A real model's questions have worked examples before them (`shared.model_classes`): of both splits as many as fit
    into its `positions` with the longest question and an answer. Fewer than the table says are told with a warning.

    Raises ValueError: more rows are asked for than the task has, or a constraint where it has no labels.
    """
    task = recipe.task
    trie = None
    if recipe.constrained:
        if not hasattr(task, "LABELS"):
            raise ValueError(f"The task {recipe.name} has no set of labels that completions could be restricted to.")
        trie = answer_trie(tokenizer, answers_for(tokenizer, task.LABELS))
    train_rows = task.dataset("train", recipe.train_rows, seed=seed)
    eval_rows = task.dataset("eval", recipe.eval_rows, seed=eval_seed)
    wanted = examples_for(recipe.name, class_of(tokenizer, recipe.trained))
    room = max_new_tokens_for(tokenizer, task)
    for examples in range(wanted, -1, -1):
        asked = [rows_for(tokenizer, rows, task, examples=examples) for rows in (train_rows, eval_rows)]
        if not examples or positions is None or _longest(tokenizer, asked) + room <= positions:
            break
    if examples < wanted:
        warnings.warn(
            f"The model has positions for {positions} tokens: of the {wanted} worked examples that {recipe.name} has for "
            f"it, {examples or 'none'} fit before the longest question. A model with more positions is shown all.",
            stacklevel=2,
        )
    return Materials(*asked, max_new_tokens=room, constraint=trie, examples=examples)


def documents_for(
    recipe: Recipe, rows: Sequence[dict], tokenizer: PreTrainedTokenizerBase, examples: int = 0
) -> list[dict]:
    """Rows with right completions, such as a warm-up's, with prompts and completions as the model wants them."""
    asked = rows_for(tokenizer, rows, recipe.task, examples=examples)
    if not tokenizer.chat_template:
        return asked
    return [row if "spoken" in row else row | {"completion": _in_turn(tokenizer, row["completion"])} for row in asked]


def _in_turn(tokenizer: PreTrainedTokenizerBase, completion: str) -> str:
    """A completion as it begins a chat model's turn."""
    return answers_for(tokenizer, [completion])[0]


def _longest(tokenizer: PreTrainedTokenizerBase, splits: Sequence[Sequence[dict]]) -> int:
    """The tokens of the longest prompt of these rows."""
    return max(len(ids) for rows in splits for ids in prompt_ids(tokenizer, [row["prompt"] for row in rows]))


def measuring(recipe: Recipe, materials: Materials) -> dict[str, object]:
    """The measurement of the held-out rows: options of `shared.evaluate.evaluate`."""
    sampled = {"temperature": 1.0, "num_generations": recipe.samples} if recipe.samples else {}
    answered = {"constraint": materials.constraint, "environment_factory": recipe.environment_factory}
    return {"max_new_tokens": materials.max_new_tokens} | answered | sampled


def with_teacher_prompts(recipe: Recipe, rows: Sequence[dict], tokenizer: PreTrainedTokenizerBase) -> list[dict]:
    """The rows with what a teacher reads, `teacher_prompt`: the student's prompt below the recipe's header.

    Raises ValueError where there is none, and for a chat model, which has never read such headers.
    """
    header = teacher_header_of(recipe)
    if tokenizer.chat_template:
        raise ValueError(
            f"{header.strip()!r} is a header of the embedded model's and tells a chat model nothing: call "
            "shared.distill.train with rows whose teacher_prompt tells it more than the prompt does."
        )
    return [row | {"teacher_prompt": header + row["prompt"]} for row in rows]


def teacher_header_of(recipe: Recipe) -> str:
    """The header of the teacher's prompts. ValueError for a recipe without one."""
    if recipe.teacher_header is None:
        having = ", ".join(name for name, other in RECIPES.items() if other.teacher_header is not None)
        raise ValueError(
            f"{recipe.name} has no header under which a teacher does better; {having} has. Or call "
            "shared.distill.train with rows that have a teacher_prompt."
        )
    return recipe.teacher_header
