"""Settings by task and class of model, in one place.

The recipes (`shared/recipes.py`) hold what suits the embedded model. A real one, with a vocabulary of tens of thousands,
wants a learning rate a hundred times smaller, and most tasks cannot begin on it: what is never sampled is never
reinforced. What a class changes for a task stands here. Of the tasks only addition was tried, with all weights of SmolLM2
(135 million), one seed and 32 held-out rows: in the format before 0.12 sampled and 0.03 greedy, after five steps, 102 CPU
seconds, 0.81 and 1.00. Neither other seeds nor the supervised control were run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from transformers import PreTrainedTokenizerBase

# The embedded model's tokenizer has hundreds of tokens, any real one's thousands.
SMALLEST_REAL_VOCABULARY = 5000
EMBEDDED, REAL, REAL_LORA = "embedded", "real", "real with LoRA"


@dataclass(frozen=True)
class Changes:
    """Changes that a class of model makes to a task's recipe.

    settings: of the algorithm, over the recipe's.    examples: how many worked ones stand before each question.
    """

    settings: Mapping[str, object] = field(default_factory=dict)
    examples: int = 0


# Of any task: rates to begin with.
OF_A_CLASS = {
    EMBEDDED: Changes(),
    REAL: Changes({"learning_rate": 1e-5}),
    REAL_LORA: Changes({"learning_rate": 3e-4}),
}
OF_A_TASK = {
    ("addition", REAL): Changes({"steps": 5, "prompts_per_step": 4, "beta": 0.0}, examples=1),
    ("addition", REAL_LORA): Changes({"steps": 6, "prompts_per_step": 3, "beta": 0.0}, examples=1),
}


def class_of(tokenizer: PreTrainedTokenizerBase, trained: str) -> str:
    """The class of the model of this tokenizer, of which these weights are trained, a key of `recipes.TRAINED`."""
    if len(tokenizer) < SMALLEST_REAL_VOCABULARY:
        return EMBEDDED
    return REAL_LORA if trained == "lora" else REAL


def changes_for(task: str, kind: str) -> Changes:
    """The changes of a class for a task: those of any task, and the task's own over them."""
    own = OF_A_TASK.get((task, kind), Changes())
    return Changes({**OF_A_CLASS[kind].settings, **own.settings}, own.examples)
