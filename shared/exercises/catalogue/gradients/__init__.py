"""The exercises about estimators of the policy gradient, on tables of a few prompts and completions."""

from shared.exercises.catalogue.gradients import (
    drawn_token,
    exact_weights,
    leave_one_out,
    optimal_baseline,
    reward_table,
    slopes,
    trie_logps,
)

__all__ = [
    "drawn_token",
    "exact_weights",
    "leave_one_out",
    "optimal_baseline",
    "reward_table",
    "slopes",
    "trie_logps",
]
