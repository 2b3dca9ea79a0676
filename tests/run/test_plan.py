"""A plan of a run, before anything is loaded."""

from dataclasses import replace

import pytest

from shared.recipes import RECIPES
from shared.run.plan import Plan


@pytest.mark.parametrize(
    ("asked", "trained"),
    [
        ({}, "upper half"),
        ({"lora": True}, "lora"),
        ({"lora": False}, "all"),
        ({"load_in_4bit": True}, "lora"),
        ({"load_in_4bit": True, "lora": False}, "lora"),
    ],
)
def test_what_is_trained_is_what_was_asked_for_and_else_the_recipes(asked, trained):
    """Catches 4-bit weights, which cannot be trained, without adapters."""
    recipe = replace(RECIPES["dots"], trained="upper half")
    assert Plan(recipe, "grpo", {}, **asked).trained == trained
