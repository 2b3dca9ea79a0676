# Written by `python -m shared.exercises.stub` from shared/check.py and shared/exercises/catalogue/: do not edit.
"""Checks that a student calls on the student's own function, right under the exercise.

    check.group_advantages(group_advantages)
    check.group_advantages(group_advantages, hint=True)

The second also says what to write, where the mistake is a known one. Each shows one verdict, never raises, and returns whether the function passed. `shared/exercises/` tells how the verdict
comes about, and `shared/exercises/catalogue/` has a file for each exercise: the reference, how arguments are drawn, the
known mistakes.

The check of an exercise is made from its file when it is asked for; the checks of any task stand below. `check.pyi`
lists all of them for editors: `python -m shared.exercises.stub` writes it.
"""

from collections.abc import Callable, Sequence

from torch import Tensor

from shared.exercises.own_task.rows import SPLITS
from shared.exercises.record import Passed

def clustered_error(function: Callable, hint: bool = False) -> Passed:
    """Check `f(rewards (B,), pairs) -> number`: the standard error of the mean when rows of a pair belong together."""

def soft_score(function: Callable, hint: bool = False) -> Passed:
    """Check `f(completion, accepted, embed) -> number` from 0 to 1."""

def decoupled_objective(function: Callable, hint: bool = False) -> Passed:
    """Check `f(logps, start_logps, sampler_logps (B, C), advantages (B,), epsilon, cap) -> (B, C)`, the objective of each token, to be made large."""

def queue_ages(function: Callable, hint: bool = False) -> Passed:
    """Check `f(rollouts_per_update, updates, bound) -> list`: how many updates old the rollout is that each update takes."""

def seconds_at_once(function: Callable, hint: bool = False) -> Passed:
    """Check `f(sampling, learning, updates) -> seconds` until the last update ends, sampling and learning at the same time."""

def correctness_reward(function: Callable, hint: bool = False) -> Passed:
    """Check `f(prompts, completions, numbers, target, **columns) -> list of floats`: 1.0 for a solved problem."""

def countdown_format_reward(function: Callable, hint: bool = False) -> Passed:
    """Check `f(prompts, completions, **columns) -> list of floats`: 1.0 for both blocks and an expression, 0.5 for the blocks alone."""

def episodes(function: Callable, hint: bool = False) -> Passed:
    """Check `f(model, rows, seed) -> (rollout, rewards (B, 2), advantages (B,))`."""

def distillation_loss(function: Callable, hint: bool = False) -> Passed:
    """Check `f(logits (B, C, V), teacher_logits (B, C, V), completion_mask (B, C)) -> loss`, with a gradient by the student's logits alone."""

def forward_kl(function: Callable, hint: bool = False) -> Passed:
    """Check `f(logits (B, C, V), teacher_logits (B, C, V)) -> KL(teacher || student) (B, C)` in nats."""

def reverse_kl(function: Callable, hint: bool = False) -> Passed:
    """Check `f(logits (B, C, V), teacher_logits (B, C, V)) -> KL(student || teacher) (B, C)` in nats."""

def sampled_kl(function: Callable, hint: bool = False) -> Passed:
    """Check `f(sampler_logps (B, C), other_logps (B, C), completion_mask (B, C)) -> number`, the mean over real tokens."""

def teacher_rows(function: Callable, hint: bool = False) -> Passed:
    """Check `f(rows, header) -> rows`, each with a `teacher_prompt` beside its columns."""

def completion_logps(function: Callable, hint: bool = False) -> Passed:
    """Check `f(model, prompt_ids, prompt_mask, completion_ids, completion_mask) -> logps (B, C)`, ids (B, P), (B, C)."""

def get_reward(function: Callable, hint: bool = False) -> Passed:
    """Check `f(prompts, completions, answer, **columns) -> list of floats`: 1.0 for the number alone on the first line, else 0.0."""

def group_advantages(function: Callable, hint: bool = False) -> Passed:
    """Check `f(rewards (B,), num_generations) -> advantages (B,)`."""

def grpo_loss(function: Callable, hint: bool = False) -> Passed:
    """Check `f(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon) -> loss`."""

def per_token_kl(function: Callable, hint: bool = False) -> Passed:
    """Check `f(logps (B, C), ref_logps (B, C)) -> k3 (B, C)`."""

def step_loss(function: Callable, hint: bool = False) -> Passed:
    """Check `f(model, reference, rollout, rewards (B,), beta, epsilon) -> loss`, put together from the parts above."""

def play(function: Callable, hint: bool = False) -> Passed:
    """Check `f(draw, listen, max_new_tokens) -> (ids, mask)`: 1 where the policy drew the token, 0 where it was heard."""

def say(function: Callable, hint: bool = False) -> Passed:
    """Check `f(game, text) -> answer`: behind a whole guess low, high or right, else ""; keeps `game.guesses` and `game.done`."""

def turns_loss(function: Callable, hint: bool = False) -> Passed:
    """Check `f(logps (B, C), advantages (B,), mask (B, C)) -> loss`, -A x log-probability of a turn, a mean over all turns."""

def win_reward(function: Callable, hint: bool = False) -> Passed:
    """Check `f(prompts, completions, environments, **columns) -> floats`: 1.0 where the last guess is the secret."""

def exact_weights(function: Callable, hint: bool = False) -> Passed:
    """Check `f(p (N, K), R (N, K)) -> weights (N, K)` of the exact gradient."""

def rloo_advantages(function: Callable, hint: bool = False) -> Passed:
    """Check `f(rewards (..., G)) -> advantages (..., G)`, each reward minus the mean of the others."""

def slopes(function: Callable, hint: bool = False) -> Passed:
    """Check `f(log_r) -> {"k1": ..., "k2": ..., "k3": ...}`, the derivatives in log pi."""

def accepted_wrong(function: Callable, hint: bool = False) -> Passed:
    """Check `f(paid (T,), right (T,), false_negative) -> (T,)`: the share of the wrong answers that the judge paid."""

def expected_advantages(function: Callable, hint: bool = False) -> Passed:
    """Check `f(rewards (N, G), false_positive, false_negative) -> (N, G)`: the mean pay of each completion less its group's mean."""

def causal_policy(function: Callable, hint: bool = False) -> Passed:
    """Check `f(P (S, S, A), terminal, reward (S,), discount, sweeps) -> policy (S, A)`."""

def compute_expected_svf(function: Callable, hint: bool = False) -> Passed:
    """Check `f(P (S, S, A), p_initial (S,), terminal, reward (S,)) -> visits (S,)`, the forward pass."""

def local_action_probabilities(function: Callable, hint: bool = False) -> Passed:
    """Check `f(P (S, S, A), terminal, reward (S,)) -> policy (S, A)`, the backward pass."""

def next_weights(function: Callable, hint: bool = False) -> Passed:
    """Check `f(weights (F,), features (S, F), target (F,), visits (S,), rate) -> weights (F,)`."""

def best_of_n(function: Callable, hint: bool = False) -> Passed:
    """Check `f(scores, rewards, n) -> number`: the mean reward of the highest score, over all choices of n samples."""

def break_even(function: Callable, hint: bool = False) -> Passed:
    """Check `f(before, after, target, training) -> number` of questions from which on training pays; inf for never."""

def vote(function: Callable, hint: bool = False) -> Passed:
    """Check `f(answers) -> answer`: the most frequent text, of a tie the one that came first; "" abstains."""

def promise(function: Callable, hint: bool = False) -> Passed:
    """Check `f(logps (B, C), old_logps (B, C), completion_mask (B, C), rewards (B,))` -> the mean over all completions of ratio times reward, one number."""

def pull(function: Callable, hint: bool = False) -> Passed:
    """Check `f(logps (B, C), old_logps (B, C), advantages (B,), epsilon) -> (B, C)`, what multiplies each token's gradient: ratio times advantage, 0 where it rests."""

def constrained_logps(function: Callable, hint: bool = False) -> Passed:
    """Check `f(logits (B, V), allowed (B, V), drawn (B,)) -> logps (B,)`, in a policy that says allowed tokens alone."""

def weighted_reward(function: Callable, hint: bool = False) -> Passed:
    """Check `f(prompts, completions, answer, weight, **columns) -> list of floats`: the weight where the first line is the answer."""

def advantages_of(function: Callable, hint: bool = False) -> Passed:
    """Check `f(rewards, values, completion_mask, lam) -> advantages`, (B, C) each."""

def full_stops(function: Callable, hint: bool = False) -> Passed:
    """Check `f(prompts, completions, **columns) -> list of floats`: full stops over 10, at most 1."""

def ppo_loss(function: Callable, hint: bool = False) -> Passed:
    """Check `f(logps, old_logps, advantages, completion_mask, critic_loss, entropy, kl, epsilon, value_coef, entropy_coef, beta) -> loss`; the critic's loss is a number, the first four and entropy and KL are (B, C)."""

def value_loss(function: Callable, hint: bool = False) -> Passed:
    """Check `f(values, old_values, returns, completion_mask, epsilon) -> loss`, (B, C) each but epsilon."""

def cispo_objective(function: Callable, hint: bool = False) -> Passed:
    """Check `f(logps (B, C), old_logps (B, C), advantages (B,), bound) -> (B, C)`, log-probabilities with a bounded ratio as their fixed weight."""

def held_against(function: Callable, hint: bool = False) -> Passed:
    """Check `f(draws (D, K), exact (K,)) -> {"bias": ..., "noise": ..., "cosine": ...}`, the first two over the exact gradient's length."""

def own_weight(function: Callable, hint: bool = False) -> Passed:
    """Check `f(ratio (B, C), advantages (B, C)) -> (B, C)`: 1 at a ratio of 1, never negative, bounded, each token's own."""

def sapo_weight(function: Callable, hint: bool = False) -> Passed:
    """Check `f(ratio (B, C), advantages (B, C), tau_pos, tau_neg) -> (B, C)`, the slope of the gated objective in log pi."""

def format_reward(function: Callable, hint: bool = False) -> Passed:
    """Check `f(prompts, completions, **columns) -> list of floats`: 1.0 for a think and an answer block and nothing else."""

def gspo_loss(function: Callable, hint: bool = False) -> Passed:
    """Check `f(logps (B,), old_logps (B,), advantages (B,), ref_logps (B,), beta, epsilon) -> loss`, one number."""

def bradley_terry_loss(function: Callable, hint: bool = False) -> Passed:
    """Check `f(chosen (N,), rejected (N,)) -> loss` of rewards."""

def completion_kl(function: Callable, hint: bool = False) -> Passed:
    """Check `f(logits (B, C, V), ref_logits (B, C, V), completion_mask (B, C)) -> (B,)`."""

def dpo_loss(function: Callable, hint: bool = False) -> Passed:
    """Check `f(chosen, rejected, ref_chosen, ref_rejected, beta) -> loss`, log-probabilities (N,) each."""

def gold_reward(function: Callable, hint: bool = False) -> Passed:
    """Check `f(prompts, completions, **columns) -> list of floats`, minus the distance of words per sentence from six."""

def prefers_first(function: Callable, hint: bool = False) -> Passed:
    """Check `f(first, second, noise, uniform) -> (N,)` booleans, (N,) each but noise."""

def accuracy_by_length(function: Callable, hint: bool = False) -> Passed:
    """Check `f(lengths, rewards (B,), z) -> {length: (share, low, high)}`, Wilson's interval of each length's rows."""

def own_loss(function: Callable, hint: bool = False) -> Passed:
    """Check `f(logps (B, C), advantages (B,), policy_mask (B, C)) -> loss`, a mean over each completion's own tokens."""

def own_tokens(function: Callable, hint: bool = False) -> Passed:
    """Check `f(lengths, spoken, width) -> mask (B, C)`: 1 for the policy's tokens, 0 for the environment's and padding."""

def keep_right(function: Callable, hint: bool = False) -> Passed:
    """Check `f(prompts, completions, rewards, most) -> documents` of the right completions, `most` of each prompt."""

def pass_at_k(function: Callable, hint: bool = False) -> Passed:
    """Check `f(count, right, k) -> number`: the unbiased estimate of pass@k."""

def rejection_sampling(function: Callable, hint: bool = False) -> Passed:
    """Check `f(model, rows, rounds) -> history`, a triple for each round: average reward, documents, loss."""

def rows(function: Callable, splits: Sequence[str] = SPLITS) -> Passed:
    """Check `f(split, n, seed) -> rows`, a data set of one's own: n dicts with a `prompt`, the same columns in all.

    splits: the first is "train"; nothing of it is in the others.
    """

def cases(function: Callable) -> Passed:
    """Check `f() -> [(row, completion, reward), ...]`, good and bad cases of a task of one's own."""

def reward_function(function: Callable, cases: Sequence[tuple[dict, str, float]] | Callable) -> Passed:
    """Check `f(prompts, completions, **columns) -> list of floats`, a reward of one's own.

    cases: (row, completion, reward) that one is sure of, good ones and bad ones, or the function that lists them; the row
        is one of the data set.
    """

def task(
    train_rows: Sequence[dict], eval_rows: Sequence[dict], base_rewards: Tensor, validation_rows: Sequence[dict] = ()
) -> Passed:
    """Check `train_rows` and `eval_rows` of a task of one's own, before training.

    base_rewards: (N, G), what G completions of each of N training prompts earn before training.
    validation_rows: on which settings are chosen.
    """
