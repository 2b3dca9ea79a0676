"""GRPO as a recipe tells it, watched: what the benchmark of learning and the run that the site shows have in common."""

from collections.abc import Callable

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.grpo import GRPOConfig, train
from shared.recipes import Materials, Recipe


def train_as_told(
    recipe: Recipe,
    materials: Materials,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    *,
    reference: PreTrainedModel,
    evaluate: Callable[[PreTrainedModel], float] | None = None,
    **settings,
) -> list[dict]:
    """Train the model in place and return the history. `settings` are of `GRPOConfig`, over those of the recipe."""
    told = recipe.settings_of("grpo", GRPOConfig) | {"max_new_tokens": materials.max_new_tokens, "log_every": 0}
    return train(
        model,
        tokenizer,
        materials.train_rows,
        recipe.reward_funcs,
        GRPOConfig(**told | settings),
        reference=reference,
        constraint=materials.constraint,
        evaluate=evaluate,
        progress=False,
    )
