"""Settings by task and class of model, in one place.

The recipes (`shared/recipes.py`) hold what suits the embedded model. A real one, with a vocabulary of tens of thousands,
wants a learning rate a hundred times smaller, and most tasks cannot begin on it: what is never sampled is never
reinforced. So it is shown worked examples before each question, or, where these do not bring a right answer about, it
learns from a few right answers first. What a class changes for a task stands here; what came of it on SmolLM2, of those
that were tried, stands in `benchmarks/real_model.md`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from transformers import PreTrainedTokenizerBase

# The embedded model's tokenizer has hundreds of tokens, any real one's thousands.
SMALLEST_REAL_VOCABULARY = 5000
EMBEDDED, REAL, REAL_LORA = "embedded", "real", "real with LoRA"

LORA_RATE = 3e-4
# Settings of the algorithm, over the recipe's. Of any task: a rate to begin with, and no copy of the model beside it, since
# a few steps at this rate do not go far.
OF_A_CLASS: Mapping[str, Mapping[str, object]] = {
    EMBEDDED: {},
    REAL: {"learning_rate": 1e-5, "beta": 0.0},
    REAL_LORA: {"learning_rate": LORA_RATE, "beta": 0.0},
}


@dataclass(frozen=True)
class Changes:
    """The changes of a class of model for a task.

    examples: how many worked examples stand before each question.
    warm_up: settings of supervised training on right answers, before everything else; {} for none.
    settings: of the algorithm, over those of the class.
    """

    examples: int = 0
    warm_up: Mapping[str, float] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)


# Of a warm-up, which is to bring a format about in a minute.
SHORT = {"prompts_per_step": 8, "learning_rate": 5e-5}
IN_GROUPS_OF_8 = {"prompts_per_step": 8, "num_generations": 8}
REAL_MODEL: Mapping[str, Changes] = {
    "addition": Changes(examples=1, settings={"steps": 5, "prompts_per_step": 4}),
    "assignment": Changes(examples=3, settings={"steps": 12, "prompts_per_step": 4}),
    "analogies": Changes(examples=4, settings=IN_GROUPS_OF_8 | {"steps": 16}),
    "countdown": Changes(
        examples=2, warm_up=SHORT | {"steps": 12, "prompts_per_step": 4}, settings={"steps": 4, "prompts_per_step": 4}
    ),
    "dots": Changes(warm_up=SHORT | {"steps": 30}, settings=IN_GROUPS_OF_8 | {"steps": 60}),
    "game": Changes(examples=2, settings=IN_GROUPS_OF_8 | {"steps": 14}),
    "poker": Changes(warm_up=SHORT | {"steps": 24}, settings=IN_GROUPS_OF_8 | {"steps": 12}),
    "sentences": Changes(examples=1, settings={"steps": 5, "beta": 0.1}),
}
# Where adapters want something else; the other tasks have what all weights have, at the adapters' rate.
WITH_LORA: Mapping[str, Changes] = {
    "addition": Changes(examples=1, settings={"steps": 6, "prompts_per_step": 3}),
}
OF_A_TASK: Mapping[str, Mapping[str, Changes]] = {
    EMBEDDED: {},
    REAL: REAL_MODEL,
    REAL_LORA: {**REAL_MODEL, **WITH_LORA},
}


def class_of(tokenizer: PreTrainedTokenizerBase, trained: str) -> str:
    """The class of the model of this tokenizer, of which these weights are trained, a key of `recipes.TRAINED`."""
    if len(tokenizer) < SMALLEST_REAL_VOCABULARY:
        return EMBEDDED
    return REAL_LORA if trained == "lora" else REAL


def changes_for(task: str, kind: str) -> Changes:
    """The changes of a class for a task; none where the table does not name it."""
    return OF_A_TASK[kind].get(task, Changes())


def settings_for(task: str, kind: str) -> dict[str, object]:
    """The settings that a class changes for a task: those of any task, and the task's own over them."""
    return {**OF_A_CLASS[kind], **changes_for(task, kind).settings}


def examples_for(task: str, kind: str) -> int:
    """The number of worked examples that stand before each question of a task."""
    return changes_for(task, kind).examples


def warm_up_for(task: str, kind: str) -> dict[str, float]:
    """The settings of the warm-up on right answers; {} where there is none. Adapters learn at the rate of their class."""
    changed = dict(changes_for(task, kind).warm_up)
    if changed and kind == REAL_LORA:
        changed["learning_rate"] = LORA_RATE
    return changed
