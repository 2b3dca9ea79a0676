"""The sweep of `notebooks/what_rl_adds.ipynb`: ways to spend 5,120 samples on countdown.

All conditions draw 8 completions for each of 640 problems, 40 steps of 16 or 4 rounds of 160, the same problems of a
seed. What is measured is on held-out problems: what is solved, whether it was known before (by the base model under the
header "answer key"), what is left of that, how varied the answers are, and how far the policy has moved. No setting was
chosen by these figures.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import torch

from benchmarks.sweeps.measuring import rounded, sampled_with_kl
from shared import rejection, training
from shared.engine.chance import EVALUATION
from shared.engine.sampling import Sampling
from shared.evaluate import Evaluation, evaluate
from shared.grpo import GRPO, GRPOConfig
from shared.models import frozen_copy, load_policy
from shared.rejection import RejectionConfig
from shared.rewards import RewardFunction, score_rollout
from shared.rollout import sample
from shared.statistics import pass_at_k
from shared.supervised import Supervised, encode_documents
from shared.tasks import countdown
from shared.tasks.documents import ANSWER_KEY

HELD_OUT = 200
PASS_ROWS = 100  # the first of them: the others would cost more seconds than they narrow
DRAWN = 16
K = (1, 2, 4, 8)
REPORT_EVERY = 10  # steps of GRPO: as many samples as a round
REWARDS = (countdown.format_reward, countdown.correctness_reward)
SOLVED = 1  # the place of correctness among them
AT_3E_4 = GRPOConfig(
    steps=40,
    prompts_per_step=16,
    num_generations=8,
    max_new_tokens=countdown.MAX_NEW_TOKENS,
    learning_rate=3e-4,
    log_every=0,
)
REJECTION = RejectionConfig(max_new_tokens=countdown.MAX_NEW_TOKENS)


@dataclass(frozen=True)
class Setting:
    """The parts that all runs share: the base model, and the held-out problems it knows, with its right completions."""

    base: torch.nn.Module
    tokenizer: object
    train_rows: list[dict]
    held_out: list[dict]
    known: torch.Tensor  # (N,), booleans
    known_completions: list[str]


@cache
def setting() -> Setting:
    base, tokenizer = load_policy()
    base = frozen_copy(base)
    held_out = countdown.dataset("eval", HELD_OUT, seed=0)
    told = greedy(base, tokenizer, under_the_key(held_out))
    known = told.rewards_per_func[:, SOLVED] == 1
    return Setting(
        base=base,
        tokenizer=tokenizer,
        train_rows=countdown.dataset("train", 1000, seed=0),
        held_out=held_out,
        known=known,
        known_completions=[text for text, knows in zip(told.completions, known) if knows],
    )


def under_the_key(rows: Sequence[dict]) -> list[dict]:
    return [row | {"prompt": ANSWER_KEY + row["prompt"]} for row in rows]


def greedy(model, tokenizer, rows: Sequence[dict]) -> Evaluation:
    return evaluate(model, tokenizer, rows, REWARDS, max_new_tokens=countdown.MAX_NEW_TOKENS)


def untrained(model, seed: int) -> list[dict]:
    return []


def by_rejection(model, seed: int, config: RejectionConfig = REJECTION) -> list[dict]:
    shared = setting()
    return rejection.train(
        model, shared.tokenizer, shared.train_rows, countdown.correctness_reward, replace(config, seed=seed)
    )


def by_grpo(
    model,
    seed: int,
    config: GRPOConfig = AT_3E_4,
    algorithm: type[GRPO] = GRPO,
    rewards: Sequence[RewardFunction] = REWARDS,
) -> list[dict]:
    """One record for each REPORT_EVERY steps, as rejection sampling has one for each round."""
    shared = setting()
    config = replace(config, seed=seed)
    made = algorithm(model, shared.tokenizer, list(rewards), config)
    history = training.train(made, shared.train_rows, config, progress=False)
    samples = config.prompts_per_step * config.num_generations
    windows = [history[end - REPORT_EVERY : end] for end in range(REPORT_EVERY, len(history) + 1, REPORT_EVERY)]
    return [
        {
            "samples": window[-1]["step"] * samples,
            "right": mean_of(window, f"rewards/{rewards[SOLVED].__name__}/mean"),
            "entropy": mean_of(window, "entropy"),
        }
        for window in windows
    ]


def mean_of(window: Sequence[dict], name: str) -> float:
    return sum(record[name] for record in window) / len(window)


CONDITIONS: dict[str, Callable] = {
    "base model": untrained,
    "GRPO, 3e-4": by_grpo,
    "GRPO, 1e-4": partial(by_grpo, config=replace(AT_3E_4, learning_rate=1e-4)),
    "rejection sampling": by_rejection,
}


def run(name: str, seed: int) -> dict:
    """Train one condition with one seed; what it can do on held-out problems, and the share right on the way."""
    model = frozen_copy(setting().base).requires_grad_(True)
    curve = [{key: rounded(value) for key, value in record.items()} for record in CONDITIONS[name](model, seed)]
    return measure(model, seed) | {"curve": curve}


def measure(model, seed: int) -> dict[str, float]:
    shared = setting()
    plain, keyed = without_and_with_key(model)
    solved = plain.rewards_per_func[:, SOLVED]  # (N,)
    found = {
        "solved of known": solved[shared.known].mean(),
        "solved of unknown": solved[~shared.known].mean(),
    }
    found |= what_is_left(model, plain, keyed)
    found |= tries(model, shared.held_out[:PASS_ROWS], seed)
    return {name: rounded(value) for name, value in found.items()}


def tries(model, rows: list[dict], seed: int) -> dict[str, float]:
    """pass@k of problems by `DRAWN` answers to each, for every k of `K`, and their entropy in nats per token."""
    prompts = [row["prompt"] for row in rows]
    sampling = Sampling(countdown.MAX_NEW_TOKENS)
    drawn = sample(model, setting().tokenizer, prompts, DRAWN, sampling, seed=seed, step=EVALUATION)
    right = score_rollout(countdown.correctness_reward, drawn, rows).view(-1, DRAWN).sum(dim=1).int().tolist()
    rates = {f"pass@{k}": sum(pass_at_k(DRAWN, c, k) for c in right) / len(right) for k in K}
    return rates | {"entropy": (drawn.entropy.sum() / drawn.own_lengths.sum()).item()}


def without_and_with_key(model) -> tuple[Evaluation, Evaluation]:
    """The greedy answers to the held-out problems as they are asked, and below the answer key's header."""
    shared = setting()
    asked = (shared.held_out, under_the_key(shared.held_out))
    return tuple(greedy(model, shared.tokenizer, rows) for rows in asked)


def what_is_left(model, plain: Evaluation, keyed: Evaluation) -> dict[str, torch.Tensor]:
    """The share solved, the remains of what the base model knew, and the distance that the policy has moved."""
    shared = setting()
    return {
        "solved": plain.rewards_per_func[:, SOLVED].mean(),
        "key of known": keyed.rewards_per_func[shared.known, SOLVED].mean(),
        "logp with key": known_logp(model, under_the_key(shared.held_out)),
        "KL": moved(model),
    }


def moved(model) -> torch.Tensor:
    """The exact KL of a held-out completion to the base model, in nats, the mean over one sample of each problem."""
    shared = setting()
    prompts = [row["prompt"] for row in shared.held_out[:PASS_ROWS]]
    return sampled_with_kl(model, shared.base, shared.tokenizer, prompts, countdown.MAX_NEW_TOKENS)[1].mean()


@torch.no_grad()
def known_logp(model, rows: Sequence[dict]) -> torch.Tensor:
    """The mean log-probability of a completion that the base model knew, in nats; `rows` are the held-out ones."""
    shared = setting()
    prompts = [row["prompt"] for row, knows in zip(rows, shared.known) if knows]
    documents = [{"prompt": p, "completion": c} for p, c in zip(prompts, shared.known_completions, strict=True)]
    batch = encode_documents(shared.tokenizer, documents, model.device)
    per_token = -Supervised(model, shared.tokenizer).loss(batch)[0]
    return per_token * batch.num_tokens / len(batch)


def told(measured: dict) -> str:
    """A run in a few words."""
    return ", ".join(f"{name} {measured[name]:.3f}" for name in ("solved", "key of known", "pass@1", "pass@8", "KL"))
