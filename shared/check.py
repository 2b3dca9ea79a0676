"""Checks that a student calls on the student's own function, right under the exercise.

    check.group_advantages(group_advantages)

Each shows one verdict and never raises. `shared/exercises/` tells how the verdict comes about, and
`shared/exercises/catalogue/` has a file for each exercise: the reference, how arguments are drawn, the known mistakes.
"""

from collections.abc import Callable

from shared.exercises import catalogue
from shared.exercises.exercise import Exercise
from shared.exercises.process import verdict_on
from shared.exercises.record import show


def run(exercise: Exercise, function: Callable) -> None:
    """Judge a function and show the verdict."""
    show(verdict_on(exercise, function))


def gae(function: Callable) -> None:
    """Check `f(rewards, values, completion_mask, lam) -> advantages`, (B, C) each."""
    run(catalogue.gae.EXERCISE, function)


def value_loss(function: Callable) -> None:
    """Check `f(values, old_values, returns, completion_mask, epsilon) -> loss`, (B, C) each but epsilon."""
    run(catalogue.value_loss.EXERCISE, function)


def group_advantages(function: Callable) -> None:
    """Check `f(rewards (B,), num_generations) -> advantages (B,)`."""
    run(catalogue.advantages.EXERCISE, function)


def kl(function: Callable) -> None:
    """Check `f(logps (B, C), ref_logps (B, C)) -> k3 (B, C)`."""
    run(catalogue.kl.EXERCISE, function)


def loss(function: Callable) -> None:
    """Check `f(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon) -> loss`."""
    run(catalogue.loss.EXERCISE, function)


def completion_logps(function: Callable) -> None:
    """Check `f(model, prompt_ids, prompt_mask, completion_ids, completion_mask) -> logps (B, C)`, ids (B, P), (B, C)."""
    run(catalogue.logps.EXERCISE, function)


def grpo_step(function: Callable) -> None:
    """Check `f(model, reference, rollout, rewards (B,), beta, epsilon) -> loss`, put together from the parts above."""
    run(catalogue.grpo_step.EXERCISE, function)


def reward(function: Callable) -> None:
    """Check `f(prompts, responses, answers) -> list of floats`: 1.0 for the number alone on the first line, else 0.0."""
    run(catalogue.reward.EXERCISE, function)


def first_word(function: Callable) -> None:
    """Check `f(prompts, completions, answers) -> list of floats`: 1.0 where the first word is one of the row's answers."""
    run(catalogue.first_word.EXERCISE, function)


def hand_type(function: Callable) -> None:
    """Check `f(cards) -> type`: five cards such as "T♥" in, one of eight labels or "straight flush" out."""
    run(catalogue.hand_type.EXERCISE, function)


def feature_expectation(function: Callable) -> None:
    """Check `f(features (S, F), trajectories) -> means (F,)` over the states of the trajectories."""
    run(catalogue.irl.features.EXERCISE, function)


def initial_probabilities(function: Callable) -> None:
    """Check `f(n_states, trajectories) -> shares (S,)` of the states in which the trajectories start."""
    run(catalogue.irl.starts.EXERCISE, function)


def walk_reward(function: Callable) -> None:
    """Check `f(reward (S,), trajectory) -> number`, the sum over the trajectory's states."""
    run(catalogue.irl.walk_reward.EXERCISE, function)


def local_action_probabilities(function: Callable) -> None:
    """Check `f(P (S, S, A), terminal, reward (S,)) -> policy (S, A)`, the backward pass."""
    run(catalogue.irl.policy.EXERCISE, function)


def expected_visits(function: Callable) -> None:
    """Check `f(P (S, S, A), p_initial (S,), terminal, reward (S,)) -> visits (S,)`, the forward pass."""
    run(catalogue.irl.visits.EXERCISE, function)


def next_weights(function: Callable) -> None:
    """Check `f(weights (F,), features (S, F), target (F,), visits (S,), rate) -> weights (F,)`."""
    run(catalogue.irl.weights.EXERCISE, function)


def causal_policy(function: Callable) -> None:
    """Check `f(P (S, S, A), terminal, reward (S,), discount, sweeps) -> policy (S, A)`."""
    run(catalogue.irl.causal.EXERCISE, function)
