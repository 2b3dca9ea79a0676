"""Settings by task and class of model, in one place.

The recipes (`shared/recipes.py`) hold what suits the embedded model. A real one, with a vocabulary of tens of thousands,
wants a learning rate a hundred times smaller, and most tasks cannot begin on it: what is never sampled is never
reinforced. What a class changes for a task stands here. Of the tasks only addition was trained on one, SmolLM2, with
three seeds and controls (`benchmarks/real_model.md`). The other tasks have as many examples as bring the format about in
six greedy answers to training questions; whether the task is learned then was not tried.
"""

from collections.abc import Mapping

from transformers import PreTrainedTokenizerBase

# The embedded model's tokenizer has hundreds of tokens, any real one's thousands.
SMALLEST_REAL_VOCABULARY = 5000
EMBEDDED, REAL, REAL_LORA = "embedded", "real", "real with LoRA"

# Settings of the algorithm, over the recipe's. Of any task: rates to begin with.
OF_A_CLASS: Mapping[str, Mapping[str, object]] = {
    EMBEDDED: {},
    REAL: {"learning_rate": 1e-5},
    REAL_LORA: {"learning_rate": 3e-4},
}
OF_A_TASK: Mapping[tuple[str, str], Mapping[str, object]] = {
    ("addition", REAL): {"steps": 5, "prompts_per_step": 4, "beta": 0.0},
    ("addition", REAL_LORA): {"steps": 6, "prompts_per_step": 3, "beta": 0.0},
}
# Worked examples before each question.
FOR_A_REAL_ONE = {"addition": 1, "analogies": 4, "countdown": 2, "dots": 3, "game": 2, "poker": 3, "sentences": 1}
EXAMPLES: Mapping[str, Mapping[str, int]] = {EMBEDDED: {}, REAL: FOR_A_REAL_ONE, REAL_LORA: FOR_A_REAL_ONE}


def class_of(tokenizer: PreTrainedTokenizerBase, trained: str) -> str:
    """The class of the model of this tokenizer, of which these weights are trained, a key of `recipes.TRAINED`."""
    if len(tokenizer) < SMALLEST_REAL_VOCABULARY:
        return EMBEDDED
    return REAL_LORA if trained == "lora" else REAL


def settings_for(task: str, kind: str) -> dict[str, object]:
    """The settings that a class changes for a task: those of any task, and the task's own over them."""
    return {**OF_A_CLASS[kind], **OF_A_TASK.get((task, kind), {})}


def examples_for(task: str, kind: str) -> int:
    """The number of worked examples that stand before each question of a task."""
    return EXAMPLES[kind].get(task, 0)
