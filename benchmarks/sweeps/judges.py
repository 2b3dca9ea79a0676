"""The sweep of `notebooks/judges.ipynb`: dots learnt from judges that err, in many ways.

Every run has 32 rollouts of 16 prompts with eight completions each, one update for each, and begins at the same policy.
Conditions differ in who pays. What is measured is the rule's reward on held-out rows, which no judge sees. The learning
rate, and the share of right completions that the judge with a blind spot refuses, were chosen in trials of seeds 0 to 2.

Written before all five seeds were run: rates with J = 0.2 end above 0.8 in the mean, those with J = 0 below 0.5; the
judge with the phrase ends below 0.3 on every seed, the one that errs as often by lot above 0.6.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from transformers import PreTrainedModel

from benchmarks.sweeps.measuring import rounded
from benchmarks.sweeps.off_policy import setting
from shared import grpo
from shared.evaluate import evaluate
from shared.grpo import GRPOConfig
from shared.judges import by_lot, by_phrase
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


@dataclass(frozen=True)
class Condition:
    """A judge.

    false_positive: the share of wrong completions that it accepts, of those that the base model makes.
    false_negative: the share of right ones that it refuses, by lot.
    fooled: it accepts those that begin with the phrase, and not by lot.
    """

    false_positive: float = 0.0
    false_negative: float = 0.0
    fooled: bool = False


BY_LOT = {(e0, e1): f"lot {e0}, {e1}" for e0, e1 in (
    (0.2, 0.2), (0.4, 0.0), (0.0, 0.4), (0.4, 0.4), (0.8, 0.0), (0.0, 0.8), (0.5, 0.5), (0.6, 0.6)
)}  # fmt: skip
CONDITIONS = {"rule": Condition()}
CONDITIONS |= {name: Condition(false_positive=e0, false_negative=e1) for (e0, e1), name in BY_LOT.items()}
CONDITIONS |= {
    "phrase, refuses 0.2": Condition(false_positive=OF_THE_PHRASE, false_negative=0.2, fooled=True),
    "as often by lot": Condition(false_positive=OF_THE_PHRASE, false_negative=0.2),
}


def judge_of(condition: Condition, seed: int) -> RewardFunction:
    """The condition's judge, with the seed's lots."""
    if condition.fooled:
        return by_phrase(dots.reward, PHRASE, condition.false_negative, seed)
    if condition.false_positive or condition.false_negative:
        return by_lot(dots.reward, condition.false_positive, condition.false_negative, seed)
    return dots.reward


def run(name: str, seed: int, rollouts: int = ROLLOUTS) -> dict:
    """Train with one judge and one seed; the rule's reward on the way, and what the judge paid at the end."""
    _, measured = trained(judge_of(CONDITIONS[name], seed), seed, rollouts)
    return measured


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
    measured["paid"] = rounded(sum(record["reward"] for record in last) / len(last))
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
