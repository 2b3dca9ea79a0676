"""The sweep of `notebooks/game.ipynb`: a game of three turns, and whose words a loss is about.

The exact set is the range 1 to 7 with all of its secrets, in training and in the measure. A warm-up teaches the rules from
games played at random, the game's words included; then GRPO with a loss of turns, to which the game's words are added with
a weight of 0 (they are masked) or 1 (they count like the policy's own). What the policy expects to hear is measured on
the way. Then a masked run on ranges, a quarter of which are held out (`shared.tasks.game`).
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor

from benchmarks.sweeps.measuring import rounded
from shared import supervised
from shared.advantages import advantages_of_turns, group_advantages, turn_beginnings
from shared.algorithm import TrainingConfig
from shared.engine.sampling import Sampling
from shared.evaluate import Evaluation, evaluate
from shared.logps import completion_logps
from shared.models import frozen_copy, load_policy
from shared.rollout import Rollout, sample
from shared.tasks import game
from shared.tasks.game import MAX_NEW_TOKENS, FindTheNumber
from shared.tasks.split import Split

LOW, HIGH = 1, 7
EXACT_SET = [game.row_of(LOW, HIGH, secret) for secret in range(LOW, HIGH + 1)]
DRAWS = 64  # games of each secret, measured
MEASURED_AT = (60, 120)
EXPECTED_EVERY = 5  # steps
HELD_OUT_DRAWS = 8


class Deaf(FindTheNumber):
    """The control: it says no more than whether the guess was right."""

    def answer(self, guess: int) -> str:
        return " right\n" if guess == self.secret else " wrong\n"


@dataclass(frozen=True)
class OneRange:
    """A run on the exact set.

    weight: of the game's words in the loss.    make: the game.    max_new_tokens: the room for a game.
    """

    weight: float = 0.0
    learning_rate: float = 2e-4
    make: type[FindTheNumber] = FindTheNumber
    steps: int = 60
    prompts_per_step: int = len(EXACT_SET)
    num_generations: int = 16
    max_new_tokens: int = MAX_NEW_TOKENS

    @property
    def warm_up(self) -> "WarmUp":
        return WarmUp(isinstance(self, Ranges), self.make)

    def backward(self, model, rollout: Rollout) -> tuple[Tensor, Tensor]:
        """Set the gradient of a rollout; its loss and its (B,) rewards."""
        loss, rewards = step_loss(model, rollout, self.weight)
        loss.backward()
        return loss, rewards


@dataclass(frozen=True)
class Ranges(OneRange):
    """A run on the training ranges, measured on held-out ones."""

    learning_rate: float = 5e-4
    steps: int = 150
    prompts_per_step: int = 16
    num_generations: int = 8


CONDITIONS = {
    "masked": OneRange(steps=120),
    "in the loss": OneRange(weight=1.0),
    "deaf game": OneRange(make=Deaf),
    "ranges, masked": Ranges(),
}


@cache
def models() -> tuple:
    base, tokenizer = load_policy()
    return frozen_copy(base), tokenizer


def played_at_random(rows: Sequence[dict], make: type[FindTheNumber], count: int, seed: int) -> list[dict]:
    """So many games of these rows, with guesses at random within the range: documents for supervised training."""
    rng = random.Random(f"warm-up {seed}")
    return [game.played_at_random(rng.choice(rows), rng, make) for _ in range(count)]


@dataclass(frozen=True)
class WarmUp:
    """Games played at random, from which the base model learns the rules, and nothing of how to play well."""

    ranges: bool = False
    make: type[FindTheNumber] = FindTheNumber


@cache
def warmed_up(kind: WarmUp, seed: int):
    """The base model after its warm-up; copies of it are trained."""
    count, steps = (1200, 225) if kind.ranges else (400, 75)
    documents = played_at_random(all_rows("train") if kind.ranges else EXACT_SET, kind.make, count, seed)
    return taught(documents, steps, seed)


def taught(documents: Sequence[dict], steps: int, seed: int):
    """A copy of the base model after supervised training on games, in so many steps."""
    base, tokenizer = models()
    model = frozen_copy(base).requires_grad_(True)
    # Without its mask a document teaches the game's words as well.
    documents = [{"prompt": row["prompt"], "completion": row["completion"]} for row in documents]
    config = TrainingConfig(steps=steps, learning_rate=1e-3, log_every=0, seed=seed)
    supervised.train(model, tokenizer, documents, config, progress=False)
    return frozen_copy(model)


def all_rows(split: Split) -> list[dict]:
    """Every row of a split, in an order drawn once."""
    return game.dataset(split, sum(high - low + 1 for low, high in game.ranges(split)))


def turns_loss(logps: Tensor, mask: Tensor, advantages: Tensor) -> Tensor:
    """-sum of A log pi(y_it) over the (B, C) tokens of a mask, divided by the number of turns: runs of 1 in it.

    advantages: (B, 1), one of each game, or (B, C), each token with that of its turn.
    """
    turns = turn_beginnings(mask).sum().clamp(min=1)
    return -(advantages.to(logps.device) * logps * mask).sum() / turns


def two_losses(
    model, rollout: Rollout, words_of: Sequence[float] = (0.0, 1.0), by_turns: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """The loss of the policy's own turns, that of the game's words in games of these rewards, and the (B,) rewards.

    The game's words are turns of their own, with the advantage of their game.
    """
    rewards = torch.tensor(game.reward(rollout.prompts, rollout.completions, rollout.environments))
    advantages = group_advantages(rewards, rollout.num_generations)[0][:, None]  # (B, 1)
    chosen = torch.isin(rewards, torch.tensor(words_of))[:, None]  # (B, 1)
    logps, _ = completion_logps(model, replace(rollout, policy_mask=None))  # (B, C), of the game's words as well
    own = rollout.policy_mask
    of_words = turns_loss(logps, rollout.completion_mask - own, advantages * chosen)
    of_turns = advantages_of_turns(own, rewards, rollout.num_generations) if by_turns else advantages
    return turns_loss(logps, own, of_turns), of_words, rewards


def step_loss(model, rollout: Rollout, weight: float) -> tuple[Tensor, Tensor]:
    """The loss of a rollout, in which the game's words count by their weight, and its (B,) rewards."""
    own, words, rewards = two_losses(model, rollout)
    return (own + weight * words if weight else own), rewards


def training_steps(model, rows: Sequence[dict], condition: OneRange, seed: int, steps: int) -> Iterator[dict]:
    """Train in place; after each step the average reward and the share of groups with equal rewards."""
    _, tokenizer = models()
    optimizer = torch.optim.AdamW(model.parameters(), lr=condition.learning_rate, weight_decay=0.0)
    order = torch.Generator().manual_seed(seed)
    for step in range(steps):
        picks = sorted(torch.randperm(len(rows), generator=order)[: condition.prompts_per_step].tolist())
        asked = [rows[i] for i in picks]
        rollout = sample(
            model,
            tokenizer,
            [row["prompt"] for row in asked],
            condition.num_generations,
            Sampling(condition.max_new_tokens),
            environment_factory=condition.make,
            rows=asked,
            seed=seed,
            step=step,
        )
        loss, rewards = condition.backward(model, rollout)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        groups = rewards.view(-1, condition.num_generations)
        equal = (groups == groups[:, :1]).all(dim=1).float().mean()
        yield {"reward": rounded(rewards.mean()), "loss": rounded(loss.detach()), "equal": rounded(equal)}


@torch.no_grad()
def expects_right(model) -> float:
    """The probability of the word " right" behind a first guess of the exact set, the mean over its seven guesses."""
    _, tokenizer = models()
    prompt = EXACT_SET[0]["prompt"]
    texts = [f"{prompt} {guess}?" for guess in range(LOW, HIGH + 1)]
    ids = torch.tensor([tokenizer(text)["input_ids"] for text in texts], device=model.device)
    (right,) = tokenizer(" right", add_special_tokens=False)["input_ids"]
    return rounded(model(input_ids=ids).logits[:, -1].float().softmax(dim=-1)[:, right].mean())


def measured(model, rows: Sequence[dict], condition: OneRange, draws: int) -> Evaluation:
    """So many sampled games of each row."""
    _, tokenizer = models()
    options = {"max_new_tokens": condition.max_new_tokens, "temperature": 1.0, "num_generations": draws}
    return evaluate(model, tokenizer, rows, game.reward, environment_factory=condition.make, **options)


def agreeing_share(found: Evaluation) -> float:
    """Of all guesses, the share that agrees with the answers before."""
    agree = [one for played in found.environments for one in game.agreeing(played)]
    return rounded(sum(agree) / len(agree)) if agree else 0.0


def run(name: str, seed: int, steps: int | None = None) -> dict:
    """Warm up, train and measure one condition with one seed."""
    condition = CONDITIONS[name]
    return (run_ranges if isinstance(condition, Ranges) else run_exact_set)(condition, seed, steps or condition.steps)


def run_exact_set(condition: OneRange, seed: int, steps: int) -> dict:
    """`wins at`, `agree at` 0 and MEASURED_AT; `rewards` and `equal` of each step; `expects right` every
    EXPECTED_EVERY steps; `by secret` at the end."""
    model = frozen_copy(warmed_up(condition.warm_up, seed)).requires_grad_(True)
    found = measured(model, EXACT_SET, condition, DRAWS)
    taken = {"wins at 0": rounded(found.mean), "agree at 0": agreeing_share(found)}
    expected = [expects_right(model)]
    records = []
    for record in training_steps(model, EXACT_SET, condition, seed, steps):
        records.append(record)
        if len(records) % EXPECTED_EVERY == 0:
            expected.append(expects_right(model))
        if len(records) in MEASURED_AT:
            found = measured(model, EXACT_SET, condition, DRAWS)
            taken |= {f"wins at {len(records)}": rounded(found.mean), f"agree at {len(records)}": agreeing_share(found)}
    curves = {"rewards": "reward", "equal": "equal"}
    return (
        taken
        | {"by secret": [rounded(share) for share in found.per_prompt], "expects right": expected}
        | {name: [record[key] for record in records] for name, key in curves.items()}
    )


def run_ranges(condition: Ranges, seed: int, steps: int) -> dict:
    """The share of games won of each held-out row, `before` and `after` the training, and `agree before`, `agree after`."""
    model = frozen_copy(warmed_up(condition.warm_up, seed)).requires_grad_(True)
    return before_and_after(model, all_rows("train"), all_rows("eval"), condition, seed, steps)


def before_and_after(
    model, rows: Sequence[dict], held_out: Sequence[dict], condition: OneRange, seed: int, steps: int
) -> dict:
    """Train in place on rows; the share of games won of each held-out row and the share of guesses that agree."""
    taken = {}
    for when in ("before", "after"):
        if when == "after":
            for _ in training_steps(model, rows, condition, seed, steps):
                pass
        found = measured(model, held_out, condition, HELD_OUT_DRAWS)
        taken |= {when: [rounded(share) for share in found.per_prompt], f"agree {when}": agreeing_share(found)}
    return taken


def told(measured: dict) -> str:
    """A run in a few words."""
    if "after" in measured:
        before, after = (sum(measured[when]) / len(measured[when]) for when in ("before", "after"))
        return f"held out {before:.3f} before, {after:.3f} after"
    wins = ", ".join(f"{share:.3f}" for name, share in measured.items() if name.startswith("wins at"))
    return f"wins {wins}; expects right {measured['expects right'][0]:.3f}, {measured['expects right'][-1]:.3f}"
