"""The sweep of `notebooks/more_samples.ipynb`: what n samples are worth, by a vote, a checker and a judge.

Each task is measured before and after GRPO on held-out rows: greedy, by a vote of n, by the best of n as the task's rule
sees it, and as a reward model does that was fitted to pairs of the base model's own samples. Steps and rates are those of
the trial that this chapter began with, of the recipes else; the reward model's are those of `reward_model`. None was
chosen by these figures.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from benchmarks.sweeps.measuring import rounded
from shared import grpo, reward_model
from shared.algorithm import TrainingConfig
from shared.evaluate import Evaluation, evaluate
from shared.grpo import GRPOConfig
from shared.models import frozen_copy, load_policy
from shared.recipes import RECIPES
from shared.reward_model import RewardModel
from shared.rewards import RewardFunction
from shared.selection import best_of_n, vote
from shared.tasks import dots, poker
from shared.tasks.matching import first_line

NS = (1, 2, 4, 8, 16, 32)
G = 8  # completions of a prompt in training
NUMBERS = tuple(str(number) for number in range(10))
PAIRS, PAIR_DRAWS, PAIR_ROWS = 200, 8, 400
JUDGE = TrainingConfig(
    steps=1,
    prompts_per_step=PAIRS,
    num_iterations=150,
    learning_rate=0.03,
    weight_decay=0.03,
    warmup_steps=0,
    log_every=0,
)


@dataclass(frozen=True)
class Task:
    """A task as this chapter takes it.

    right: pays 1 for a right completion.    paid: what GRPO pays for.    settings: of GRPO.
    answers: what a completion can say.    drawn: samples of a held-out row.
    """

    module: ModuleType
    right: RewardFunction
    paid: tuple[RewardFunction, ...]
    settings: dict
    train_rows: int
    eval_rows: int
    answers: Sequence[str]
    drawn: int = 64

    def answer_of(self, completion: str) -> str:
        """The answer that a completion gives; "" where it gives none."""
        said = first_line(completion)
        return said if said in self.answers else ""


CONDITIONS = {
    "dots": Task(
        module=dots,
        right=dots.reward,
        paid=(dots.reward,),
        settings={"steps": 8, "prompts_per_step": 16, "learning_rate": RECIPES["dots"].settings["learning_rate"]},
        train_rows=512,
        eval_rows=200,
        answers=NUMBERS,
    ),
    "poker": Task(
        module=poker,
        right=poker.reward,
        paid=(poker.reward,),
        settings={"steps": 40, "prompts_per_step": 32, "learning_rate": RECIPES["poker"].settings["learning_rate"]},
        train_rows=2000,
        eval_rows=200,
        answers=poker.LABELS,
    ),
}


@cache
def models() -> tuple:
    base, tokenizer = load_policy()
    return frozen_copy(base), tokenizer


@cache
def rows_of(name: str) -> tuple[list[dict], list[dict]]:
    task = CONDITIONS[name]
    return task.module.dataset("train", task.train_rows, seed=0), task.module.dataset("eval", task.eval_rows, seed=0)


def drawn_of(model, name: str, rows: Sequence[dict], num_generations: int, seed: int) -> Evaluation:
    task = CONDITIONS[name]
    return evaluate(
        model,
        models()[1],
        rows,
        task.right,
        max_new_tokens=task.module.MAX_NEW_TOKENS,
        temperature=1.0,
        num_generations=num_generations,
        seed=seed,
    )


def run(name: str, seed: int) -> dict:
    """Fit the judge, train one task with one seed; what n samples are worth before and after."""
    task = CONDITIONS[name]
    judge, accuracy = fitted(name, seed)
    return {
        "before": measure(models()[0], name, seed, judge),
        "after": measure(trained(name, seed), name, seed, judge),
        "training": {"samples": task.settings["steps"] * task.settings["prompts_per_step"] * G},
        "judge": rounded(accuracy),
    }


def trained(name: str, seed: int):
    """A copy of the base model after the GRPO of a task."""
    base, tokenizer = models()
    task = CONDITIONS[name]
    config = GRPOConfig(
        num_generations=G,
        max_new_tokens=task.module.MAX_NEW_TOKENS,
        warmup_steps=0,
        log_every=0,
        seed=seed,
        **task.settings,
    )
    model = frozen_copy(base).requires_grad_(True)
    grpo.train(model, tokenizer, rows_of(name)[0], list(task.paid), config, progress=False)
    return model


def measure(model, name: str, seed: int, judge: RewardModel) -> dict:
    """The held-out reward, greedy and for each of NS by every way to choose."""
    task = CONDITIONS[name]
    _, rows = rows_of(name)
    room = {"max_new_tokens": task.module.MAX_NEW_TOKENS}
    found = {"greedy": rounded(evaluate(model, models()[1], rows, task.right, **room).mean)}
    drawn = drawn_of(model, name, rows, task.drawn, seed)
    rewards = groups(drawn.rewards.tolist(), task.drawn)
    found["vote"] = by_votes(task, rows, drawn.completions)
    found["checker"] = by_scores(rewards, rewards)
    found["judge"] = by_scores(groups(scores_of(judge, drawn), task.drawn), rewards)
    return found


def groups(values: Sequence, size: int) -> list[Sequence]:
    return [values[first : first + size] for first in range(0, len(values), size)]


def by_votes(task: Task, rows: Sequence[dict], completions: Sequence[str], ns: Sequence[int] = NS) -> list[float]:
    """The reward of the vote of n for each of these n: the mean over the rows, and over as many votes of n as were drawn."""
    said = [[task.answer_of(text) for text in texts] for texts in groups(completions, task.drawn)]
    texts = {}
    for row, completions_of_row in enumerate(groups(completions, task.drawn)):
        texts |= {(row, answer): text for answer, text in zip(said[row], completions_of_row) if answer}
    found = []
    for n in ns:
        winners = [(row, vote(ballots)) for row, answers in enumerate(said) for ballots in groups(answers, n)]
        columns = {key: [rows[row][key] for row, _ in winners] for key in rows[0] if key != "prompt"}
        chosen = [texts.get(winner, "") for winner in winners]
        earned = task.right([rows[row]["prompt"] for row, _ in winners], chosen, **columns)
        found.append(rounded(sum(earned) / len(earned)))
    return found


def by_scores(scores: Sequence[Sequence[float]], rewards: Sequence[Sequence[float]]) -> list[float]:
    """The reward of the best of n for each of NS, the mean over the rows."""
    return [rounded(sum(best_of_n(s, r, n) for s, r in zip(scores, rewards)) / len(rewards)) for n in NS]


def fitted(name: str, seed: int) -> tuple[RewardModel, float]:
    """A reward model of PAIRS pairs of the base model's samples, and the share of the other pairs that it orders right."""
    base, tokenizer = models()
    train_rows, _ = rows_of(name)
    pairs = pairs_of(drawn_of(base, name, train_rows[:PAIR_ROWS], PAIR_DRAWS, seed + 100))  # draws of their own
    judge = RewardModel(base, tokenizer)
    reward_model.train(judge, pairs[:PAIRS], JUDGE, progress=False)
    return judge, reward_model.accuracy(judge, pairs[PAIRS:])


def pairs_of(drawn: Evaluation) -> list[dict]:
    """The first right and the first wrong completion of each prompt that has both."""
    pairs = []
    size = drawn.num_generations
    for first in range(0, len(drawn.completions), size):
        of_prompt = dict(
            zip(drawn.rewards[first : first + size].tolist()[::-1], drawn.completions[first : first + size][::-1])
        )
        if len(of_prompt) == 2:
            pairs.append({"prompt": drawn.prompts[first], "chosen": of_prompt[1.0], "rejected": of_prompt[0.0]})
    return pairs


def scores_of(judge: RewardModel, drawn: Evaluation) -> list[float]:
    """The judge's number for each completion; the same text of a prompt is read once."""
    asked = list(zip(drawn.prompts, drawn.completions))
    different = list(dict.fromkeys(asked))
    prompts, completions = zip(*different)
    scores = dict(zip(different, judge.reward(prompts, completions)))
    return [scores[one] for one in asked]


def told(measured: dict) -> str:
    """A run in a few words: vote and checker at 1, 8 and 32, before and after."""
    said = []
    for when in ("before", "after"):
        at = [f"{measured[when]['vote'][i]:.2f}/{measured[when]['checker'][i]:.2f}" for i in (0, 3, 5)]
        said.append(f"{when} {' '.join(at)}")
    return ", ".join(said)
