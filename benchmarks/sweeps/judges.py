"""The sweep of `notebooks/judges.ipynb`: dots learnt from judges that err, in many ways.

Every run has 32 rollouts of 16 prompts with eight completions each, one update for each, and begins at the same policy.
Conditions differ in who pays. What is measured is the rule's reward on held-out rows, which no judge sees. The learning
rate, and the share of right completions that the judge with a blind spot refuses, were chosen in trials of seeds 0 to 2.

Written before all five seeds were run: rates with J = 0.2 end above 0.8 in the mean, those with J = 0 below 0.5; the
judge with the phrase ends below 0.3 on every seed, the one that errs as often by lot above 0.6; a policy is hacked where
its judge pays at least 0.2 more than the rule does. The judge that orders the completions of a group was added later, after
trials of seeds 5 and 6: it ends above 0.9 on every seed.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from transformers import PreTrainedModel

from benchmarks.sweeps.measuring import rounded, sampled_with_kl
from benchmarks.sweeps.off_policy import setting
from shared import grpo
from shared.evaluate import evaluate
from shared.grpo import GRPOConfig
from shared.judges import begins_with, by_lot, by_phrase, by_rank
from shared.models import frozen_copy
from shared.rewards import RewardFunction
from shared.tasks import dots
from shared.tasks.matching import first_line

SEEDS = 5
ROLLOUTS, PROMPTS, G = 32, 16, 8
MEASURED_AT = (8, ROLLOUTS)
RATE = 2e-4
PHRASE = "well"
OF_THE_PHRASE = 0.62  # of the base model's wrong completions so many begin with the phrase
LAST = 8  # rollouts whose completions say how a run ended
DRAWS = 4


def any_number(prompts: Sequence[str], completions: Sequence[str], **columns) -> list[float]:
    """1.0 for a number of dots, right or wrong: a format, which knows nothing of the row."""
    return [float(first_line(text).isdigit()) for text in completions]


def rubric(
    prompts: Sequence[str], completions: Sequence[str], weights: Sequence[float], required: bool, **columns
) -> list[float]:
    """The sum of three items with weights: the right number, any number, a friendly "well"; 0 for what is not right
    where that is `required`."""
    right = dots.reward(prompts, completions, **columns)
    number = any_number(prompts, completions)
    friendly = [float(begins_with(PHRASE, text)) for text in completions]
    sums = [sum(w * item for w, item in zip(weights, items)) for items in zip(right, number, friendly)]
    return [0.0 if required and not is_right else total for total, is_right in zip(sums, right)]


@dataclass(frozen=True)
class Condition:
    """A judge.

    rule: what it would pay without an error.
    false_positive: the share of wrong completions that it accepts, of those that the base model makes.
    false_negative: the share of right ones that it refuses, by lot.
    fooled: it accepts those that begin with the phrase, and not by lot.
    dealt_anew: the rewards of each group are dealt to its completions by lot.
    ranked: it pays the places of a group's completions, equal ones in an order drawn by lot.
    """

    rule: RewardFunction = dots.reward
    false_positive: float = 0.0
    false_negative: float = 0.0
    fooled: bool = False
    dealt_anew: bool = False
    ranked: bool = False


BY_LOT = {(e0, e1): f"lot {e0}, {e1}" for e0, e1 in (
    (0.2, 0.2), (0.4, 0.0), (0.0, 0.4), (0.4, 0.4), (0.8, 0.0), (0.0, 0.8), (0.5, 0.5), (0.6, 0.6)
)}  # fmt: skip
CONDITIONS = {"rule": Condition()}
CONDITIONS |= {name: Condition(false_positive=e0, false_negative=e1) for (e0, e1), name in BY_LOT.items()}
CONDITIONS |= {
    "rule, dealt anew": Condition(dealt_anew=True),
    "any number": Condition(any_number),
    "phrase": Condition(false_positive=OF_THE_PHRASE, fooled=True),
    "phrase, refuses 0.2": Condition(false_positive=OF_THE_PHRASE, false_negative=0.2, fooled=True),
    "as often by lot": Condition(false_positive=OF_THE_PHRASE, false_negative=0.2),
    "ranked": Condition(ranked=True),
    "rubric 0.3, 0.1, 0.6": Condition(partial(rubric, weights=(0.3, 0.1, 0.6), required=False)),
    "rubric 0.3, 0.1, 0.6, right required": Condition(partial(rubric, weights=(0.3, 0.1, 0.6), required=True)),
}


def judge_of(condition: Condition, seed: int) -> RewardFunction:
    """The condition's judge; of another seed it has the same habits and draws other lots."""
    rule = condition.rule
    if condition.fooled:
        return by_phrase(rule, PHRASE, condition.false_negative, seed)
    if condition.false_positive or condition.false_negative:
        return by_lot(rule, condition.false_positive, condition.false_negative, seed)
    if condition.ranked:
        return by_rank(rule, G, seed)
    return dealt_anew(rule, seed) if condition.dealt_anew else rule


def dealt_anew(rule: RewardFunction, seed: int) -> RewardFunction:
    """The rewards of each group of G in an order drawn by lot."""
    lots = random.Random(seed)

    def judge(prompts, completions, **columns) -> list[float]:
        rewards = rule(prompts, completions, **columns)
        groups = [rewards[first : first + G] for first in range(0, len(rewards), G)]
        return [reward for group in groups for reward in lots.sample(group, len(group))]

    return judge


def run(name: str, seed: int, rollouts: int = ROLLOUTS) -> dict:
    """Train with one judge and one seed; the rule's reward on the way, and what can be seen of a run at its end."""
    condition = CONDITIONS[name]
    model, measured = trained(judge_of(condition, seed), seed, rollouts)
    return measured | watched(model, setting("dots"), condition, seed)


def trained(judge: RewardFunction, seed: int, rollouts: int = ROLLOUTS) -> tuple[PreTrainedModel, dict]:
    """The policy that a judge's rewards make of the base model, and what is measured of the run."""
    shared = setting("dots")
    model = frozen_copy(shared["base"]).requires_grad_(True)
    config = GRPOConfig(
        steps=rollouts,
        prompts_per_step=PROMPTS,
        num_generations=G,
        max_new_tokens=dots.MAX_NEW_TOKENS,
        learning_rate=RATE,
        warmup_steps=0,
        log_every=0,
        seed=seed,
    )
    rows = shared["materials"].train_rows
    measured = {}

    def after_step(record: dict) -> None:
        if record["step"] in MEASURED_AT:
            measured[f"reward at {record['step']}"] = rounded(drawn(model, shared).mean)

    history = grpo.train(model, shared["tokenizer"], rows, judge, config, on_step=after_step, progress=False)
    last = history[-LAST:]
    seen = {"paid": "reward", "length": "completions/mean_length", "entropy": "entropy"}
    measured |= {key: rounded(sum(record[metric] for record in last) / len(last)) for key, metric in seen.items()}
    return model, measured


def drawn(model, shared: dict):
    """Completions of the held-out rows, rewarded by the rule."""
    return evaluate(
        model,
        shared["tokenizer"],
        shared["materials"].eval_rows,
        dots.reward,
        max_new_tokens=dots.MAX_NEW_TOKENS,
        temperature=1.0,
        num_generations=DRAWS,
    )


def watched(model, shared: dict, condition: Condition, seed: int) -> dict[str, float]:
    """The share of numbers among held-out completions, the KL to the base model in nats, and how often the judge agrees
    with another, which errs in one of ten by lot, and with one of its own kind."""
    found = drawn(model, shared)
    rows = shared["materials"].eval_rows
    answer = [row["answer"] for row in rows for _ in range(DRAWS)]
    others = {"agrees": by_lot(dots.reward, 0.1, 0.1, seed), "agrees with its kind": judge_of(condition, seed + SEEDS)}
    verdicts = judge_of(condition, seed)(found.prompts, found.completions, answer=answer)
    measured = {"numbers": rounded(sum(any_number(found.prompts, found.completions)) / len(answer))}
    for key, other in others.items():
        theirs = other(found.prompts, found.completions, answer=answer)
        measured[key] = rounded(sum(map(float.__eq__, verdicts, theirs)) / len(answer))
    prompts = [row["prompt"] for row in rows]
    _, kl = sampled_with_kl(model, shared["base"], shared["tokenizer"], prompts, dots.MAX_NEW_TOKENS)
    return measured | {"KL": rounded(kl.mean())}
