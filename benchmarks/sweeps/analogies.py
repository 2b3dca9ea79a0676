"""The sweep of `notebooks/analogies.ipynb`: rewards, and what is trained on what.

Every condition spends 24 steps of 256 completions (of 160 where there are twenty analogies only). Of the held-out last
pairs a third is set aside: by `validation`, the share right of those, a setting is chosen; `held out` is the share right
of the others. All answers are greedy. Where training has answers drawn by lot, the
held-out rows keep their own: if the soft reward taught to bluff, the policy is right on few of them; if any word of the
right relation brings out what is known, on most.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

from transformers import PreTrainedModel

from benchmarks.sweeps.measuring import rounded
from shared import grpo
from shared.evaluate import Evaluation, evaluate
from shared.grpo import GRPOConfig
from shared.models import frozen_copy, load_policy, train_upper_half
from shared.recipes import RECIPES
from shared.rewards import semantic_similarity, text_embedder
from shared.tasks import analogies

STEPS = 24
EARLY = 8
HELD_OUT = 339  # rows: 113 pairs, each asked behind three first pairs
SOME = 200  # of the rows that were trained on
COMMON = GRPOConfig(
    steps=STEPS,
    prompts_per_step=32,
    num_generations=8,
    max_new_tokens=analogies.MAX_NEW_TOKENS,
    learning_rate=RECIPES["analogies"].settings["learning_rate"],
    log_every=0,
)


def all_weights(model: PreTrainedModel) -> PreTrainedModel:
    """The model as it is: every weight is trained."""
    return model


@dataclass(frozen=True)
class Condition:
    """Settings, what is rewarded, which weights are trained, and on how many rows, with answers that can be known or not."""

    config: GRPOConfig = COMMON
    soft: bool = False
    prepare: Callable[[PreTrainedModel], PreTrainedModel] = train_upper_half
    rows: int | None = None
    by_lot: bool = False


CONDITIONS = {
    "exact": Condition(),
    "soft": Condition(soft=True),
    "twenty analogies": Condition(replace(COMMON, prompts_per_step=20), prepare=all_weights, rows=20),
    "by lot, exact": Condition(by_lot=True),
    "by lot, soft": Condition(soft=True, by_lot=True),
}


@cache
def setting() -> dict:
    """The parts that all runs share: the base model, its tokenizer, the soft reward, and the three sets of rows."""
    base, tokenizer = load_policy()
    base = frozen_copy(base)
    held_out, choosing = analogies.set_aside(analogies.dataset("eval", HELD_OUT, seed=0))
    return {
        "base": base,
        "tokenizer": tokenizer,
        "similarity": semantic_similarity(text_embedder(base, tokenizer)),
        "trained": analogies.dataset("train", 3000, seed=0),
        "choosing": choosing,
        "held out": held_out,
    }


def rows_of(condition: Condition) -> dict[str, list[dict]]:
    """The rows to train on, with their answers or with words drawn by lot, and those to choose by, with their answers."""
    trained = setting()["trained"][: condition.rows]
    if condition.by_lot:
        trained = [analogies.drawn_by_lot(row) for row in trained]
    return {"trained": trained, "choosing": setting()["choosing"]}


def trained(condition: Condition, seed: int, steps: int = STEPS, after: Callable = lambda model, record: None) -> tuple:
    """The policy after a training, and its log; `after` is called with both after each step."""
    shared = setting()
    model = condition.prepare(frozen_copy(shared["base"]).requires_grad_(True))
    history = grpo.train(
        model,
        shared["tokenizer"],
        rows_of(condition)["trained"],
        shared["similarity"] if condition.soft else analogies.reward,
        replace(condition.config, seed=seed, steps=steps),
        reference=shared["base"],
        on_step=partial(after, model),
        progress=False,
    )
    return model, history


def run(name: str, seed: int, steps: int = STEPS) -> dict:
    """Train one condition with one seed and measure it."""
    condition = CONDITIONS[name]
    rows = rows_of(condition)
    early = []

    def after_step(model: PreTrainedModel, record: dict) -> None:
        if record["step"] == EARLY:
            early.append(answered(model, rows["choosing"]).mean)

    model, history = trained(condition, seed, steps, after_step)
    idle = [record["frac_reward_zero_std"] for record in history[:EARLY]]
    return {
        "idle": rounded(sum(idle) / len(idle)),
        "validation at 8": rounded(*early) if early else None,
        "validation": rounded(answered(model, rows["choosing"]).mean),
        "trained": rounded(answered(model, rows["trained"][:SOME]).mean),
    } | of_held_out(model)


def answered(model: PreTrainedModel, rows: list[dict]) -> Evaluation:
    """Greedy answers to some rows."""
    tokenizer = setting()["tokenizer"]
    return evaluate(model, tokenizer, rows, analogies.reward, max_new_tokens=analogies.MAX_NEW_TOKENS)


def of_held_out(model: PreTrainedModel) -> dict:
    """Shares of the held-out rows: right, similar to their answers and to words drawn by lot, chatter; of the pairs, how
    many were never right, right behind some of their first pairs, and behind all."""
    shared = setting()
    rows = shared["held out"]
    done = answered(model, rows)
    answers = {"soft": rows, "soft by the lot": [analogies.drawn_by_lot(row) for row in rows]}
    similar = {
        name: shared["similarity"](done.prompts, done.completions, [row["answers"] for row in part])
        for name, part in answers.items()
    }
    of_pair: dict[tuple[str, str], set[float]] = {}
    for row, reward in zip(rows, done.rewards.tolist()):
        of_pair.setdefault((row["relation"], row["word"]), set()).add(reward)
    return {
        "held out": rounded(done.mean),
        **{name: rounded(sum(rewards) / len(rewards)) for name, rewards in similar.items()},
        "chatter": rounded(sum(text.startswith(" well,") for text in done.completions) / len(rows)),
        "pairs": [list(of_pair.values()).count(rewards) for rewards in ({0.0}, {0.0, 1.0}, {1.0})],
    }


def told(measured: dict) -> str:
    """A run in a few words."""
    names = ("validation", "held out", "soft", "idle")
    return ", ".join(f"{name} {measured[name]:.3f}" for name in names)
