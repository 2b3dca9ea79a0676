"""Checks that a student calls on the student's own function, right under the exercise.

    check.group_advantages(group_advantages)

Each shows one verdict and never raises. `shared/exercises/` tells how the verdict comes about, and
`shared/exercises/catalogue/` has a file for each exercise: the reference, how arguments are drawn, the known mistakes.
"""

from collections.abc import Callable, Sequence
from functools import wraps

from torch import Tensor

from shared.exercises import catalogue
from shared.exercises.exercise import Exercise
from shared.exercises.own_task.cases import verdict_on_cases
from shared.exercises.own_task.learnable import verdict_on_task
from shared.exercises.own_task.reward import verdict_on_reward
from shared.exercises.own_task.rows import SPLITS, verdict_on_rows
from shared.exercises.process import verdict_on
from shared.exercises.record import show

EXERCISES: dict[str, Exercise] = {}  # what each check is about, by the check's name


def run(exercise: Exercise, function: Callable) -> None:
    """Judge a function and show the verdict."""
    show(verdict_on(exercise, function))


def about(exercise: Exercise) -> Callable[[Callable], Callable[[Callable], None]]:
    """Decorator: makes the check of an exercise of what has the check's name and says what its function takes and gives."""

    def check_of(described: Callable) -> Callable[[Callable], None]:
        EXERCISES[described.__name__] = exercise

        @wraps(described)
        def check(function: Callable) -> None:
            run(exercise, function)

        return check

    return check_of


@about(catalogue.gae.EXERCISE)
def gae(function: Callable) -> None:
    """Check `f(rewards, values, completion_mask, lam) -> advantages`, (B, C) each."""


@about(catalogue.value_loss.EXERCISE)
def value_loss(function: Callable) -> None:
    """Check `f(values, old_values, returns, completion_mask, epsilon) -> loss`, (B, C) each but epsilon."""


@about(catalogue.advantages.EXERCISE)
def group_advantages(function: Callable) -> None:
    """Check `f(rewards (B,), num_generations) -> advantages (B,)`."""


@about(catalogue.kl.EXERCISE)
def kl(function: Callable) -> None:
    """Check `f(logps (B, C), ref_logps (B, C)) -> k3 (B, C)`."""


@about(catalogue.loss.EXERCISE)
def loss(function: Callable) -> None:
    """Check `f(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon) -> loss`."""


@about(catalogue.logps.EXERCISE)
def completion_logps(function: Callable) -> None:
    """Check `f(model, prompt_ids, prompt_mask, completion_ids, completion_mask) -> logps (B, C)`, ids (B, P), (B, C)."""


@about(catalogue.grpo_step.EXERCISE)
def grpo_step(function: Callable) -> None:
    """Check `f(model, reference, rollout, rewards (B,), beta, epsilon) -> loss`, put together from the parts above."""


@about(catalogue.reward.EXERCISE)
def reward(function: Callable) -> None:
    """Check `f(prompts, responses, answers) -> list of floats`: 1.0 for the number alone on the first line, else 0.0."""


@about(catalogue.first_word.EXERCISE)
def first_word(function: Callable) -> None:
    """Check `f(prompts, completions, answers) -> list of floats`: 1.0 where the first word is one of the row's answers."""


@about(catalogue.hand_type.EXERCISE)
def hand_type(function: Callable) -> None:
    """Check `f(cards) -> type`: five cards such as "T♥" in, one of eight labels or "straight flush" out."""


@about(catalogue.irl.features.EXERCISE)
def feature_expectation(function: Callable) -> None:
    """Check `f(features (S, F), trajectories) -> means (F,)` over the states of the trajectories."""


@about(catalogue.irl.starts.EXERCISE)
def initial_probabilities(function: Callable) -> None:
    """Check `f(n_states, trajectories) -> shares (S,)` of the states in which the trajectories start."""


@about(catalogue.irl.walk_reward.EXERCISE)
def walk_reward(function: Callable) -> None:
    """Check `f(reward (S,), trajectory) -> number`, the sum over the trajectory's states."""


@about(catalogue.irl.policy.EXERCISE)
def local_action_probabilities(function: Callable) -> None:
    """Check `f(P (S, S, A), terminal, reward (S,)) -> policy (S, A)`, the backward pass."""


@about(catalogue.irl.visits.EXERCISE)
def expected_visits(function: Callable) -> None:
    """Check `f(P (S, S, A), p_initial (S,), terminal, reward (S,)) -> visits (S,)`, the forward pass."""


@about(catalogue.irl.weights.EXERCISE)
def next_weights(function: Callable) -> None:
    """Check `f(weights (F,), features (S, F), target (F,), visits (S,), rate) -> weights (F,)`."""


@about(catalogue.irl.causal.EXERCISE)
def causal_policy(function: Callable) -> None:
    """Check `f(P (S, S, A), terminal, reward (S,), discount, sweeps) -> policy (S, A)`."""


@about(catalogue.irl.shaping.EXERCISE)
def potential_shaping(function: Callable) -> None:
    """Check `f(potential (S,), terminal, discount) -> payments (S, S)` for a step from each state to each."""


@about(catalogue.gradients.reward_table.EXERCISE)
def reward_table(function: Callable) -> None:
    """Check `f(rows, completions) -> rewards (N, K)`, float64: of every completion for every row of poker."""


@about(catalogue.gradients.trie_logps.EXERCISE)
def constrained_logps(function: Callable) -> None:
    """Check `f(logits (K, P + C, V), completion_ids (K, C), allowed (K, C, V)) -> logps (K,)` of whole completions."""


@about(catalogue.gradients.drawn_token.EXERCISE)
def draw_token(function: Callable) -> None:
    """Check `f(logits (n, V), allowed (n, V), generator) -> tokens (n,)`, by how often each one comes."""


@about(catalogue.gradients.exact_weights.EXERCISE)
def exact_weights(function: Callable) -> None:
    """Check `f(p (N, K), R (N, K)) -> weights (N, K)` of the exact gradient."""


@about(catalogue.gradients.leave_one_out.EXERCISE)
def rloo_advantages(function: Callable) -> None:
    """Check `f(rewards (..., G)) -> advantages (..., G)`, each reward minus the mean of the others."""


@about(catalogue.gradients.optimal_baseline.EXERCISE)
def optimal_baseline(function: Callable) -> None:
    """Check `f(p (N, K), R (N, K), score_norms (N, K)) -> baseline (N, 1)`."""


@about(catalogue.gradients.slopes.EXERCISE)
def slopes(function: Callable) -> None:
    """Check `f(log_r) -> {"k1": ..., "k2": ..., "k3": ...}`, the derivatives in log pi."""


@about(catalogue.off_policy.surrogate.EXERCISE)
def surrogate(function: Callable) -> None:
    """Check `f(ratio (B, C), advantages (B,), epsilon, epsilon_high) -> (B, C)`, clipped at 1 - epsilon and 1 + epsilon_high."""


@about(catalogue.off_policy.sequence_ratio.EXERCISE)
def sequence_ratio(function: Callable) -> None:
    """Check `f(logps (B, C), old_logps (B, C), completion_mask (B, C)) -> ratio (B,)` of whole completions, as in GSPO."""


@about(catalogue.off_policy.token_weights.EXERCISE)
def token_weights(function: Callable) -> None:
    """Check `f(completion_mask (B, C), max_length) -> {"grpo": (B, C), "dapo": (B, C), "dr_grpo": (B, C)}`."""


@about(catalogue.off_policy.token_entropy.EXERCISE)
def token_entropy(function: Callable) -> None:
    """Check `f(logits (B, C, V)) -> entropy (B, C)` in nats."""


@about(catalogue.transfer.by_length.EXERCISE)
def accuracy_by_length(function: Callable) -> None:
    """Check `f(lengths, rewards (B,), z) -> {length: (share, low, high)}`, Wilson's interval of each length's rows."""


@about(catalogue.transfer.calculator.EXERCISE)
def calculator(function: Callable) -> None:
    """Check `f(completion) -> text`: what comes behind a sum that ends the completion, "" behind anything else."""


@about(catalogue.transfer.own_tokens.EXERCISE)
def own_tokens(function: Callable) -> None:
    """Check `f(lengths, spoken, width) -> mask (B, C)`: 1 for the policy's tokens, 0 for the environment's and padding."""


@about(catalogue.transfer.own_loss.EXERCISE)
def own_loss(function: Callable) -> None:
    """Check `f(logps (B, C), advantages (B,), policy_mask (B, C)) -> loss`, a mean over each completion's own tokens."""


@about(catalogue.what_rl_adds.pass_at_k.EXERCISE)
def pass_at_k(function: Callable) -> None:
    """Check `f(count, right, k) -> number`: the unbiased estimate of pass@k."""


@about(catalogue.what_rl_adds.kept.EXERCISE)
def keep_right(function: Callable) -> None:
    """Check `f(prompts, completions, rewards, most) -> documents` of the right completions, `most` of each prompt."""


@about(catalogue.what_rl_adds.near_miss.EXERCISE)
def near_miss(function: Callable) -> None:
    """Check `f(prompts, completions, target) -> list of floats`: 1 / (1 + distance) from the target."""


@about(catalogue.full_stops.EXERCISE)
def full_stops(function: Callable) -> None:
    """Check `f(prompts, completions) -> list of floats`: full stops over 10, at most 1."""


@about(catalogue.weighted.EXERCISE)
def weighted_reward(function: Callable) -> None:
    """Check `f(prompts, completions, answer, weight) -> list of floats`: the weight where the first line is the answer."""


@about(catalogue.constant.EXERCISE)
def constant_answers(function: Callable) -> None:
    """Check `f(reward, rows, labels) -> {label: mean reward}` of a policy that says one label to every row."""


@about(catalogue.blocks.EXERCISE)
def format_reward(function: Callable) -> None:
    """Check `f(prompts, completions) -> list of floats`: 1.0 for a think and an answer block and nothing else."""


@about(catalogue.countdown.in_format.EXERCISE)
def countdown_format(function: Callable) -> None:
    """Check `f(prompts, completions) -> list of floats`: 1.0 for both blocks and an expression, 0.5 for the blocks alone."""


@about(catalogue.countdown.correctness.EXERCISE)
def countdown_correctness(function: Callable) -> None:
    """Check `f(prompts, completions, numbers, target) -> list of floats`: 1.0 for a solved problem."""


@about(catalogue.countdown.episodes.EXERCISE)
def episodes(function: Callable) -> None:
    """Check `f(model, rows, seed) -> (rollout, rewards (B, 2), advantages (B,))`."""


@about(catalogue.flat.EXERCISE)
def flat(function: Callable) -> None:
    """Check `f(advantages (B,), completion_mask (B, C)) -> (B, C)`."""


@about(catalogue.silent.EXERCISE)
def silent(function: Callable) -> None:
    """Check `f(rewards (N, G)) -> (N,)` booleans: groups in which all rewards are equal."""


@about(catalogue.clustered.EXERCISE)
def clustered_error(function: Callable) -> None:
    """Check `f(rewards (B,), pairs) -> number`: the standard error of the mean when rows of a pair belong together."""


@about(catalogue.idle.EXERCISE)
def idle_groups(function: Callable) -> None:
    """Check `f(rewards (B,), num_generations) -> number`: the share of groups in which all rewards are equal."""


@about(catalogue.leakage.EXERCISE)
def share_already_rewarded(function: Callable) -> None:
    """Check `f(train_rows, eval_rows) -> number`, by relation and word asked about."""


@about(catalogue.soft_score.EXERCISE)
def soft_score(function: Callable) -> None:
    """Check `f(completion, accepted, embed) -> number` from 0 to 1."""


@about(catalogue.training_step.EXERCISE)
def training_step(function: Callable) -> None:
    """Check `f(model, optimizer, loss, max_grad_norm)`, one update of the model's parameters."""


@about(catalogue.preferences.sentence_length.EXERCISE)
def gold_reward(function: Callable) -> None:
    """Check `f(prompts, completions) -> list of floats`, minus the distance of words per sentence from six."""


@about(catalogue.preferences.choices.EXERCISE)
def prefers_first(function: Callable) -> None:
    """Check `f(first, second, noise, uniform) -> (N,)` booleans, (N,) each but noise."""


@about(catalogue.preferences.bradley_terry.EXERCISE)
def bradley_terry_loss(function: Callable) -> None:
    """Check `f(chosen (N,), rejected (N,)) -> loss` of rewards."""


@about(catalogue.preferences.completion_kl.EXERCISE)
def completion_kl(function: Callable) -> None:
    """Check `f(logits (B, C, V), ref_logits (B, C, V), completion_mask (B, C)) -> (B,)`."""


@about(catalogue.preferences.dpo.EXERCISE)
def dpo_loss(function: Callable) -> None:
    """Check `f(chosen, rejected, ref_chosen, ref_rejected, beta) -> loss`, log-probabilities (N,) each."""


@about(catalogue.accumulation.EXERCISE)
def accumulate(function: Callable) -> None:
    """Check `f(rollout, advantages, parts) -> (loss, penalty)`, with the gradient added to `.grad`."""


@about(catalogue.evaluation.EXERCISE)
def evaluate(function: Callable) -> None:
    """Check `f(model, rows, temperature=0.0, num_generations=1) -> (completions, rewards)`."""


@about(catalogue.greedy_evaluation.EXERCISE)
def greedy_evaluation(function: Callable) -> None:
    """Check `f(rows) -> (completions, format rewards, correctness rewards)`, greedy."""


def rows(function: Callable, splits: Sequence[str] = SPLITS) -> None:
    """Check `f(split, n, seed) -> rows`, a data set of one's own: n dicts with a `prompt`, the same columns in all.

    splits: the first is "train"; nothing of it is in the others.
    """
    show(verdict_on_rows(function, splits))


def cases(function: Callable) -> None:
    """Check `f() -> [(row, completion, reward), ...]`, good and bad cases of a task of one's own."""
    show(verdict_on_cases(function))


def reward_function(function: Callable, cases: Sequence[tuple[dict, str, float]] | Callable) -> None:
    """Check `f(prompts, completions, **columns) -> list of floats`, a reward of one's own.

    cases: (row, completion, reward) that one is sure of, good ones and bad ones, or the function that lists them; the row
        is one of the data set.
    """
    show(verdict_on_reward(function, cases))


def task(
    train_rows: Sequence[dict], eval_rows: Sequence[dict], base_rewards: Tensor, validation_rows: Sequence[dict] = ()
) -> None:
    """Check `train_rows` and `eval_rows` of a task of one's own, before training.

    base_rewards: (N, G), what G completions of each of N training prompts earn before training.
    validation_rows: on which settings are chosen.
    """
    show(verdict_on_task(train_rows, eval_rows, base_rewards, validation_rows))
