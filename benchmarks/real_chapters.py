"""Claims of chapters, tried on a real model: `benchmarks/real_chapters.json`, a condition and a seed a run.

    python -m benchmarks.real_chapters --seed 0     adds the runs of a seed; one that is there already is not made again
    python -m benchmarks.real_model                 writes the page from all of them

The chapters' own tasks are made for the embedded model. Here their claims are tried on the task that the real one can
begin with, the assignment: 48 held-out stories, 12 rollouts of 4 prompts with 8 completions, settings of
`shared/model_classes.py`. What a claim says is written in `CLAIMS`, with its threshold; both stood there before the runs.
"""

import argparse
import datetime
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import torch
from tqdm import tqdm

from benchmarks import assignment
from benchmarks.real_model_tasks import MODEL, record, recorded_runs
from benchmarks.sweeps.__main__ import code_version
from benchmarks.sweeps.measuring import Clock, rounded
from benchmarks.sweeps.real_model import by_lot as lots
from shared import distill, grpo, rejection
from shared.advantages import leave_one_out_advantages
from shared.evaluate import Evaluation, evaluate
from shared.interrupt import put_back, trained_weights
from shared.judges import by_lot
from shared.logps import completion_logps
from shared.losses import reinforce_loss
from shared.model_classes import REAL, examples_for, settings_for
from shared.models import frozen_copy, load_policy
from shared.prompts import max_new_tokens_for, rows_for
from shared.rewards import RewardFunction
from shared.statistics import pass_at_k
from shared.training import rows_of_step

RUNS = Path(__file__).with_name("real_chapters.json")
TRAIN_ROWS, HELD_OUT, G = 300, 48, 8
FAST = 5e-5  # five times the rate of the task, as in off_policy
LAG = 4
JUDGE = (0.2, 0.3)  # its errors, of either kind: J is 0.5
TEACHER_TEMPERATURE = 0.3  # as in distillation
NOISE_DRAWS = 16  # rollouts of the same 4 prompts
UNCLIPPED = 1e6  # a range that no ratio leaves


def draft_reward(prompts, completions: Sequence[str], answer: Sequence[str], **columns) -> list[float]:
    """own_task's draft: 1 where the right pronoun stands anywhere."""
    return [float(right in words_of(text)) for text, right in zip(completions, answer, strict=True)]


def words_of(text: str) -> list[str]:
    return re.findall("[a-z]+", text)


@dataclass(frozen=True)
class Condition:
    """GRPO on the assignment, but for what is changed.

    settings: of the algorithm.    reward: "final", "draft", "lots", which pays by lot, or "judge", which errs by lot.
    examples: worked turns before a question.    way: "GRPO", "own right samples", "teacher", "nothing" or "noise".
    """

    settings: Mapping[str, object] = field(default_factory=dict)
    reward: str = "final"
    examples: int = examples_for("assignment", REAL)
    way: str = "GRPO"


FOUR = {"num_iterations": 4}
AT_FAST = {"learning_rate": FAST}
CONDITIONS = {
    "untrained": Condition(way="nothing"),
    "GRPO": Condition(),
    "draft reward": Condition(reward="draft"),
    "rewards by lot": Condition(reward="lots"),
    "own right samples": Condition(way="own right samples"),
    "judge that errs by lot": Condition(reward="judge"),
    "4 updates": Condition(FOUR),
    "fast, 1 update": Condition(AT_FAST),
    "fast, 4 updates, ratio alone": Condition(FOUR | AT_FAST | {"epsilon": UNCLIPPED}),
    "fast, 4 updates, clipped": Condition(FOUR | AT_FAST),
    "fast, 4 updates, CISPO": Condition(FOUR | AT_FAST | {"loss_type": "cispo", "epsilon_high": 5.0}),
    "fast, lag 4": Condition(AT_FAST | {"staleness": LAG, "vllm_importance_sampling_correction": False}),
    "fast, lag 4, one ratio": Condition(AT_FAST | {"staleness": LAG, "decoupled": False}),
    "untrained, no example": Condition(examples=0, way="nothing"),
    "GRPO, no example": Condition(examples=0),
    "teacher with examples": Condition(examples=0, way="teacher"),
    "noise of the gradient": Condition(way="noise"),
}
# Of a seed, by condition: what was measured.
Measured = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Claim:
    """A chapter's claim as it is tried here. compared: the numbers that it rests on, condition and measure of each."""

    chapter: str
    says: str
    compared: tuple[tuple[str, str], ...]
    holds: Callable[..., bool]


CLAIMS = (
    Claim(
        "own_task",
        "the draft, a pronoun anywhere, lifts the first word by at most 0.05; the final reward by 0.2 and more",
        (("untrained", "drawn"), ("draft reward", "drawn"), ("GRPO", "drawn")),
        lambda base, draft, final: draft - base <= 0.05 and final - base >= 0.2,
    ),
    Claim(
        "what_rl_adds",
        "rewards by lot move the share right by less than 0.1, the rule's by more",
        (("untrained", "drawn"), ("rewards by lot", "drawn"), ("GRPO", "drawn")),
        lambda base, lots, rule: abs(lots - base) < 0.1 < rule - base,
    ),
    Claim(
        "what_rl_adds",
        "GRPO solves no more in 8 tries than the untrained policy, by 0.05",
        (("untrained", "pass@8"), ("GRPO", "pass@8")),
        lambda base, trained: trained - base <= 0.05,
    ),
    Claim(
        "what_rl_adds",
        "training on own right samples is within 0.1 of GRPO, at equal samples",
        (("own right samples", "drawn"), ("GRPO", "drawn")),
        lambda own, trained: abs(own - trained) <= 0.1,
    ),
    Claim(
        "more_samples",
        "a vote of 8 of the untrained policy is at most 0.05 behind the trained one, drawn",
        (("untrained", "vote of 8"), ("GRPO", "drawn")),
        lambda vote, trained: trained - vote <= 0.05,
    ),
    Claim(
        "judges",
        "a judge that errs by lot, with J = 0.5, teaches at least half of what the rule does",
        (("untrained", "drawn"), ("judge that errs by lot", "drawn"), ("GRPO", "drawn")),
        lambda base, judge, rule: judge - base >= (rule - base) / 2 > 0,
    ),
    Claim(
        "off_policy",
        "slow, four updates a rollout are ahead of one after 4 rollouts, by 0.05",
        (("GRPO", "after 4"), ("4 updates", "after 4")),
        lambda one, four: four - one >= 0.05,
    ),
    Claim(
        "off_policy",
        "fast, four updates without a clip are behind one in the reward over the run",
        (("fast, 1 update", "over the run"), ("fast, 4 updates, ratio alone", "over the run")),
        lambda one, four: four < one,
    ),
    Claim(
        "off_policy",
        "fast, the clip lifts that reward by 0.05",
        (("fast, 4 updates, ratio alone", "over the run"), ("fast, 4 updates, clipped", "over the run")),
        lambda ratio, clipped: clipped - ratio >= 0.05,
    ),
    Claim(
        "ratio_weights",
        "trained, the clip and CISPO end within 0.1 of each other, drawn",
        (("fast, 4 updates, clipped", "drawn"), ("fast, 4 updates, CISPO", "drawn")),
        lambda clipped, bounded: abs(clipped - bounded) <= 0.1,
    ),
    Claim(
        "async_rl",
        "fast, rollouts that are four updates old end 0.1 and more below fresh ones",
        (("fast, 1 update", "drawn"), ("fast, lag 4", "drawn")),
        lambda fresh, stale: fresh - stale >= 0.1,
    ),
    Claim(
        "async_rl",
        "with one clipped ratio that gap is at most half as large",
        (("fast, 1 update", "drawn"), ("fast, lag 4", "drawn"), ("fast, lag 4, one ratio", "drawn")),
        lambda fresh, stale, clipped: fresh - clipped <= (fresh - stale) / 2,
    ),
    Claim(
        "distillation",
        "taught by itself below three examples, the policy is ahead of GRPO at equal samples, by 0.05",
        (("GRPO, no example", "drawn"), ("teacher with examples", "drawn")),
        lambda trained, taught: taught - trained >= 0.05,
    ),
    Claim(
        "distillation",
        "no student passes its teacher, by 0.05",
        (("untrained", "surely drawn"), ("teacher with examples", "drawn")),
        lambda teacher, taught: taught - teacher <= 0.05,
    ),
    Claim(
        "gradients",
        "the mean of the others, taken off, has less than half of the plain reward's variance",
        (("noise of the gradient", "plain"), ("noise of the gradient", "leave one out")),
        lambda plain, off: off < plain / 2,
    ),
)


@cache
def setting() -> dict:
    """The common start of all runs: the policy, its weights as they were, and a copy that stays as it is."""
    torch.manual_seed(0)
    policy, tokenizer = load_policy(MODEL)
    return {
        "policy": policy,
        "tokenizer": tokenizer,
        "untrained": trained_weights(policy),
        "base": frozen_copy(policy),
        "room": max_new_tokens_for(tokenizer, assignment),
    }


@cache
def rows(split: str, examples: int) -> list[dict]:
    """Rows of a split; a teacher reads them below the task's worked turns."""
    plain = assignment.dataset(split, TRAIN_ROWS if split == "train" else HELD_OUT)
    asked, told = (
        rows_for(setting()["tokenizer"], plain, assignment, examples=count)
        for count in (examples, CONDITIONS["GRPO"].examples)
    )
    return [row | {distill.TEACHER_PROMPT: taught["prompt"]} for row, taught in zip(asked, told, strict=True)]


def run(name: str, seed: int, steps: int | None = None) -> dict[str, float]:
    """One condition with one seed: the policy on held-out stories, and the reward over the run."""
    condition = CONDITIONS[name]
    made = setting()
    policy, tokenizer = made["policy"], made["tokenizer"]
    put_back(policy, made["untrained"])
    common = settings_for("assignment", REAL) | {"max_new_tokens": made["room"], "seed": seed}
    settings = common | {"log_every": 0, "num_generations": G} | dict(condition.settings)
    settings |= {"steps": steps} if steps else {}
    train_rows = rows("train", condition.examples)
    clock = Clock()
    if condition.way == "noise":
        return noise(grpo.GRPOConfig(**settings), train_rows)
    found, history = {}, []
    if condition.way == "own right samples":
        samples = settings["steps"] * settings["prompts_per_step"]
        config = rejection.RejectionConfig(
            rounds=3,
            prompts_per_round=samples // 3,
            max_new_tokens=made["room"],
            batch_size=8,
            learning_rate=settings["learning_rate"],
            seed=seed,
        )
        rejection.train(policy, tokenizer, train_rows, assignment.reward, config)
    elif condition.way == "teacher":
        alone = {"num_generations": 1, "prompts_per_step": settings["prompts_per_step"] * G}
        config = distill.DistillConfig(**settings | alone, teacher_temperature=TEACHER_TEMPERATURE)
        distill.train(policy, tokenizer, train_rows, assignment.reward, config, teacher=made["base"], progress=False)
    elif condition.way == "GRPO":

        def after_step(record: dict) -> None:
            if record["step"] == 4 and name in ("GRPO", "4 updates"):
                with clock.stopped():
                    found["after 4"] = rounded(drawn(condition.examples).mean, 4)

        paid = reward_of(condition.reward, seed)
        config = grpo.GRPOConfig(**settings)
        history = grpo.train(policy, tokenizer, train_rows, paid, config, on_step=after_step, progress=False)
        found["over the run"] = rounded(sum(record["reward"] for record in history) / len(history), 4)
    if condition.way != "nothing":
        found["seconds"] = rounded(clock.seconds, 3)
    return found | measure(condition)


def reward_of(name: str, seed: int) -> RewardFunction:
    return {
        "final": assignment.reward,
        "draft": draft_reward,
        "judge": by_lot(assignment.reward, *JUDGE, seed),
        "lots": lots(seed),
    }[name]


def drawn(examples: int, temperature: float = 1.0) -> Evaluation:
    """Completions of the held-out stories, greedy ones at temperature 0, by the final reward."""
    made = setting()
    return evaluate(
        made["policy"],
        made["tokenizer"],
        rows("eval", examples),
        assignment.reward,
        max_new_tokens=made["room"],
        temperature=temperature,
        num_generations=G if temperature else 1,
    )


def measure(condition: Condition) -> dict[str, float]:
    """The shares of held-out stories with the right first word: drawn, in 8 tries, by a vote of 8, greedy; and drawn at
    the temperature of a teacher, where nothing was trained."""
    found = drawn(condition.examples)
    right = found.rewards.view(-1, G).sum(dim=1).int().tolist()
    measured = {
        "drawn": found.mean,
        "pass@8": sum(pass_at_k(G, one, G) for one in right) / len(right),
        "vote of 8": by_vote(found, condition.examples),
        "greedy": drawn(condition.examples, 0.0).mean,
    }
    if condition.way == "nothing":
        measured["surely drawn"] = drawn(condition.examples, TEACHER_TEMPERATURE).mean
    return {name: rounded(value, 4) for name, value in measured.items()}


def by_vote(found: Evaluation, examples: int) -> float:
    """The share of stories of which the commonest first word is right; the first one drawn where two are as common."""
    right = 0
    for place, row in enumerate(rows("eval", examples)):
        first = ["".join(words_of(text)[:1]) for text in found.completions[place * G : (place + 1) * G]]
        right += Counter(first).most_common(1)[0][0] == row["answer"]
    return right / HELD_OUT


def noise(config: grpo.GRPOConfig, train_rows: list[dict], draws: int = NOISE_DRAWS) -> dict[str, float]:
    """The variance of the gradient of one prompt batch over its rollouts, for two weights whose mean is the same, in
    units of what the plain reward has."""
    made = setting()
    policy = made["policy"]
    weights = {
        "plain": lambda rewards: rewards,
        "leave one out": lambda rewards: leave_one_out_advantages(rewards, G)[0],
    }
    parameters = [one for one in policy.parameters() if one.requires_grad]
    mean = {name: [torch.zeros_like(one) for one in parameters] for name in weights}
    squares = dict.fromkeys(weights, 0.0)
    batch = rows_of_step(train_rows, config.prompts_per_step, 0, config.seed)
    for draw in range(draws):
        experience = grpo.collect(policy, made["tokenizer"], batch, assignment.reward, config, step=draw)
        logps, _ = completion_logps(policy, experience.rollout)
        mask = experience.rollout.completion_mask
        for name, weight in weights.items():
            loss, _ = reinforce_loss(logps, weight(experience.rewards), mask)
            gradient = torch.autograd.grad(loss, parameters, retain_graph=True)
            squares[name] += sum(float(one.square().sum()) for one in gradient) / draws
            for total, one in zip(mean[name], gradient):
                total += one / draws
    spread = {name: squares[name] - sum(float(one.square().sum()) for one in mean[name]) for name in weights}
    return {name: rounded(value / spread["plain"], 3) for name, value in spread.items()}


def by_seed(runs: Sequence[dict]) -> dict[int, Measured]:
    """Return what was measured, by seed and condition."""
    found: dict[int, dict] = {}
    for one in runs:
        found.setdefault(one["seed"], {})[one["condition"]] = one["measured"]
    return found


def judged(claim: Claim, measured: Measured) -> tuple[list[float], bool]:
    """The numbers of a seed that a claim rests on, and whether it holds."""
    numbers = [measured[condition][name] for condition, name in claim.compared]
    return numbers, bool(claim.holds(*numbers))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_chapters", description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args(arguments).seed
    code = code_version()
    there = by_seed(recorded_runs(RUNS)).get(seed, {})
    for name in tqdm([name for name in CONDITIONS if name not in there], unit="condition"):
        made = {"condition": name, "seed": seed, "measured": run(name, seed), "code": code}
        made |= {"date": datetime.date.today().isoformat()}
        record(made, RUNS, lambda one: (one["seed"], list(CONDITIONS).index(one["condition"])))
        tqdm.write(f"{name} seed {seed}: {made['measured']}")


if __name__ == "__main__":
    main()
