"""A control of `notebooks/judges.ipynb`: a language model is the judge, and errs in its own way.

SmolLM2 (`make smollm2`) reads a prompt of dots with a completion, behind six worked verdicts, two of them on each row. Its
verdict is yes where the logit of "yes" less that of "no" lies above a threshold. Beside it stand two judges that draw their
errors by lot, as often as it errs on the base model's completions. Training is that of `judges`.

Four designs were tried on four completions of each of 100 training rows that no run trains on, and the one with the
largest J was kept, with the threshold that is best there. As plain text, without a remark among the worked verdicts,
"Is this right?" and "Correct:" had J = 0.00 and 0.01; with a remark among them "Is this right?" had 0.33; the chat
below, which has one as well, 0.49. In each a wrong number was accepted about as often as a right one.

Written before any run and before a held-out row was read: the judge that errs as often by lot ends above 0.8 on every
seed; SmolLM2 and the judge with its rates for each kind of completion end below 0.8 on every seed.
"""

import copy
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from benchmarks.sweeps.judges import LAST, G, any_number, trained
from benchmarks.sweeps.measuring import rounded
from benchmarks.sweeps.off_policy import setting
from shared.advantages import group_advantages
from shared.evaluate import evaluate
from shared.judges import by_lot
from shared.models import load_policy
from shared.rewards import RewardFunction
from shared.tasks import dots
from shared.tasks.matching import first_line

JUDGE = "smollm2"
SYSTEM = "You check answers. Is the number of dots (.) right? Say yes or no."
ONE, FIVE, NONE = (prompt for prompt, _ in dots.CHAT_EXAMPLES)  # rows of two dots, of five, of none
WORKED = (
    (ONE, " 2", "yes"),
    (FIVE, " well, a few dots.", "no"),
    (NONE, " 2", "no"),
    (FIVE, " 5", "yes"),
    (ONE, " 1", "no"),
    (NONE, " 0", "yes"),
)
THRESHOLD = -0.6
AT_ONCE = 32
# Of each kind of the base model's completions the share that it accepted on the training rows set aside.
KINDS = ("right number", "wrong number", "no number")
ACCEPTED = dict(zip(KINDS, (0.86, 0.90, 0.04)))
HELD_OUT = 40  # rows of each seed, no two of which have one in common


@dataclass(frozen=True)
class Condition:
    """A judge with these rates on the base model's completions.

    errs_by: what its verdict depends on: the "text", which SmolLM2 reads, a lot for each "kind" of completion, or a lot
        for "right or wrong".
    """

    errs_by: str
    false_positive: float = 0.37
    false_negative: float = 0.14


CONDITIONS = {
    "SmolLM2": Condition("text"),
    "as often by kind": Condition("kind"),
    "as often by lot": Condition("right or wrong"),
}


@cache
def conversation() -> dict:
    """The judge, what stands before a completion that it reads and behind it, and the keys and values of what stands
    before."""
    model, tokenizer = load_policy(JUDGE)
    said = [{"role": "system", "content": SYSTEM}]
    for prompt, completion, verdict in WORKED:
        said += [{"role": "user", "content": prompt + completion}, {"role": "assistant", "content": verdict}]
    said.append({"role": "user", "content": "@"})
    before, after = tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True).rsplit("@", 1)
    ids = torch.tensor([tokenizer(before)["input_ids"]])
    with torch.no_grad():
        cache_of_before = model(ids, use_cache=True).past_key_values
    words = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in ("yes", "no")]
    assert [len(word) for word in words] == [1, 1], "a word of several tokens has no single logit"
    return {
        "model": model,
        "tokenizer": tokenizer,
        "length": ids.shape[1],
        "cache": cache_of_before,
        "after": after,
        "words": [word[0] for word in words],
    }


@torch.no_grad()
def margins(texts: Sequence[str]) -> Tensor:
    """The logit of "yes" less that of "no" after each text, a prompt with its completion, (B,)."""
    talk = conversation()
    ids = [torch.tensor(talk["tokenizer"](text + talk["after"])["input_ids"]) for text in texts]
    lengths = torch.tensor([len(one) for one in ids])  # (B,)
    padded = torch.nn.utils.rnn.pad_sequence(ids, batch_first=True)  # (B, T), the padding behind, where nobody looks
    before = copy.deepcopy(talk["cache"])
    before.batch_repeat_interleave(len(texts))
    hidden = talk["model"].model(padded, past_key_values=before).last_hidden_state  # (B, T, H)
    logits = talk["model"].lm_head(hidden[torch.arange(len(texts)), lengths - 1])  # (B, V)
    yes, no = talk["words"]
    return logits[:, yes] - logits[:, no]


READ: dict[str, bool] = {}  # verdicts by the text that was read


def reads(prompts: Sequence[str], completions: Sequence[str], **columns) -> list[float]:
    """SmolLM2's verdicts, 1.0 for yes."""
    texts = [prompt + completion.rstrip() for prompt, completion in zip(prompts, completions, strict=True)]
    new = sorted({text for text in texts if text not in READ}, key=lambda text: (len(text), text))
    for first in range(0, len(new), AT_ONCE):
        part = new[first : first + AT_ONCE]
        READ.update(zip(part, (margins(part) > THRESHOLD).tolist(), strict=True))
    return [float(READ[text]) for text in texts]


def kinds_of(prompts: Sequence[str], completions: Sequence[str], **columns) -> list[str]:
    """The kind of each completion, one of KINDS."""
    right = dots.reward(prompts, completions, **columns)
    numbers = any_number(prompts, completions)
    return [KINDS[0] if r else KINDS[1] if number else KINDS[2] for r, number in zip(right, numbers, strict=True)]


def judge_of(condition: Condition, seed: int) -> RewardFunction:
    """The condition's judge."""
    if condition.errs_by == "text":
        return reads
    if condition.errs_by == "right or wrong":
        return by_lot(dots.reward, condition.false_positive, condition.false_negative, seed)
    lots = random.Random(seed)

    def judge(prompts, completions, **columns) -> list[float]:
        kinds = kinds_of(prompts, completions, **columns)
        return [float(lots.random() < ACCEPTED[kind]) for kind in kinds]

    return judge


def run(name: str, seed: int, rollouts: int = 32) -> dict:
    """Train with one judge and one seed; its rates on the base model's completions, and on those of the last rollouts,
    of which the commonest is told as well."""
    judge = judge_of(CONDITIONS[name], seed)
    before = of_the_base(judge, seed)
    heard = []  # of each rollout the rule's verdicts, the judge's, and what was said

    def listening(prompts, completions, **columns) -> list[float]:
        paid = judge(prompts, completions, **columns)
        heard.append((dots.reward(prompts, completions, **columns), paid, list(map(first_line, completions))))
        return paid

    _, measured = trained(listening, seed, rollouts)
    right, paid, said = (sum(each, []) for each in zip(*heard[-LAST:]))
    at_end = {f"{name} at the end": value for name, value in rates_of(right, paid).items()}
    (commonest, times), *_ = Counter(said).most_common(1)
    at_end |= {"commonest": commonest, "share of it": rounded(times / len(said))}
    kept = ("reward at 8", "reward at 32", "paid")
    return {key: measured[key] for key in kept if key in measured} | at_end | before


def rates_of(right: Sequence[float], paid: Sequence[float]) -> dict[str, float]:
    """The shares of wrong completions that are paid and of right ones that are not, and what both leave of 1; of none, 0."""
    of_wrong = [verdict for verdict, good in zip(paid, right, strict=True) if not good]
    of_right = [verdict for verdict, good in zip(paid, right, strict=True) if good]
    e0 = sum(of_wrong) / max(1, len(of_wrong))
    e1 = 1 - sum(of_right) / len(of_right) if of_right else 0.0
    return {"e0": rounded(e0), "e1": rounded(e1), "J": rounded(1 - e0 - e1)}


def of_the_base(judge: RewardFunction, seed: int) -> dict:
    """The judge's verdicts on eight completions of the base model for each of the seed's held-out rows: its rates, by
    kind of completion what it accepts and the mean advantages, undivided, and what it accepts of each number."""
    shared = setting("dots")
    rows = shared["materials"].eval_rows[seed * HELD_OUT : (seed + 1) * HELD_OUT]
    found = evaluate(
        shared["base"],
        shared["tokenizer"],
        rows,
        dots.reward,
        max_new_tokens=dots.MAX_NEW_TOKENS,
        temperature=1.0,
        num_generations=G,
    )
    answers = {"answer": [row["answer"] for row in rows for _ in range(G)]}
    right = found.rewards.tolist()
    paid = judge(found.prompts, found.completions, **answers)
    kinds = kinds_of(found.prompts, found.completions, **answers)
    measured = rates_of(right, paid) | {
        "accepted": means_by(kinds, paid),
        "rule's advantage": means_by(kinds, advantages(right)),
        "advantage": means_by(kinds, advantages(paid)),
    }
    if judge is reads:
        numbers = [text for text, kind in zip(map(first_line, found.completions), kinds) if kind != KINDS[2]]
        verdicts = [verdict for verdict, kind in zip(paid, kinds) if kind != KINDS[2]]
        measured["accepted of a number"] = means_by(numbers, verdicts)
    return measured


def advantages(rewards: Sequence[float]) -> list[float]:
    """Rewards less the mean of their group of G, not divided."""
    return group_advantages(torch.tensor(rewards), G, scale_rewards="none")[0].tolist()


def means_by(names: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    """The mean of the values that have the same name, by name."""
    named = {
        name: [value for one, value in zip(names, values, strict=True) if one == name] for name in sorted(set(names))
    }
    return {name: rounded(sum(those) / len(those), 4) for name, those in named.items()}
