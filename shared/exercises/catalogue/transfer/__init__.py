"""The exercises about what carries over: accuracy by length, an environment, and which tokens a loss is about."""

from shared.exercises.catalogue.transfer import by_length, calculator, own_loss, own_tokens

__all__ = ["by_length", "calculator", "own_loss", "own_tokens"]
