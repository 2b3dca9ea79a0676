"""A check, before training, that a task can be learnt and the result measured: by its rows and first rewards."""

from collections.abc import Iterator, Sequence

from torch import Tensor

from shared.exercises.judging import Verdict
from shared.exercises.own_task.flaws import Flaw
from shared.exercises.own_task.rows import LEAST_EVALUATION, flaws_of_form, require_disjoint

NAME = "task"
RARE = 0.01  # of the groups: where fewer hold a completion that is paid, there is nothing to build on
FULL = 0.95  # of the highest reward: not much is left to learn
BUSY = 0.1  # the least share of groups with a spread


def verdict_on_task(
    train_rows: Sequence[dict], eval_rows: Sequence[dict], base_rewards: Tensor, validation_rows: Sequence[dict] = ()
) -> Verdict:
    """The verdict on a task: its rows, and what the model earns before training, (N, G). Never raises."""
    flaws = list(_flaws_of_rows(train_rows, eval_rows, validation_rows)) or list(_flaws_of_rewards(base_rewards))
    if flaws:
        return Verdict(NAME, False, "\n".join(flaws), 1)
    groups = base_rewards.double()
    text = (
        f"{len(train_rows)} training and {len(eval_rows)} held-out rows; base reward {groups.mean():.3f}, "
        f"a spread in {_busy(groups):.2f} of the groups."
    )
    return Verdict(NAME, True, text, 1)


def _flaws_of_rows(
    train_rows: Sequence[dict], eval_rows: Sequence[dict], validation_rows: Sequence[dict]
) -> Iterator[str]:
    for name, rows in (("training", train_rows), ("held-out", eval_rows), ("validation", validation_rows)):
        found = list(flaws_of_form(name, rows))
        yield from found
        if found:
            return
    if not train_rows or not eval_rows:
        yield "training or held-out rows are missing."
        return
    if train_rows[0].keys() != eval_rows[0].keys():
        yield f"training rows have the columns {sorted(train_rows[0])}, held-out ones {sorted(eval_rows[0])}."
    try:
        require_disjoint({row["prompt"] for row in train_rows}, eval_rows)
    except Flaw as flaw:
        yield str(flaw)
    chosen_on = {row["prompt"] for row in validation_rows}
    if chosen_on & {row["prompt"] for row in [*train_rows, *eval_rows]}:
        yield (
            "validation rows are trained on or held out as well. Settings are chosen on a third set: on training rows "
            "what is remembered wins, and on held-out ones the result flatters itself."
        )
    different = len({row["prompt"] for row in eval_rows})
    if different < LEAST_EVALUATION:
        yield (
            f"only {different} different prompts are held out: a rate measured on them is uncertain by a fifth and more to "
            f"each side. Hold out at least {LEAST_EVALUATION}."
        )


def _flaws_of_rewards(base_rewards: Tensor) -> Iterator[str]:
    if not isinstance(base_rewards, Tensor) or base_rewards.dim() != 2 or base_rewards.size(1) < 2:
        yield "base_rewards is no tensor (N, G): the rewards of G completions, at least 2, of each of N prompts."
        return
    groups = base_rewards.double()
    if not groups.numel() or not bool(groups.isfinite().all()):
        yield "the base rewards are none, or hold a number that is not finite."
        return
    mean = groups.mean().item()
    lowest = groups.min().item()
    highest = groups.max().item()
    if lowest == highest and highest <= 0:
        yield (
            f"all completions earn {mean:.3f} before training: what is never sampled is never rewarded, and nothing is "
            "learnt. Make the task easier, show the format in the prompt, or pay for parts of an answer."
        )
    elif 0 <= lowest and highest <= 1 and mean >= FULL:
        yield f"the model earns {mean:.3f} before training: there is nothing left to learn. Make the task harder."
    elif 0 <= lowest and (groups > 0).any(dim=1).double().mean() < RARE:
        yield (
            f"the model earns {mean:.3f} before training: hardly a group holds a completion that is paid. Make the task "
            "easier, show the format in the prompt, or pay for parts of an answer."
        )
    elif _busy(groups) < BUSY:
        yield (
            f"only {_busy(groups):.2f} of the groups have a spread: in all others every advantage is 0. Use larger groups, "
            "a reward with more steps, or prompts of which the model solves some."
        )


def _busy(groups: Tensor) -> float:
    """The share of groups in which not all rewards are equal."""
    return (groups != groups[:, :1]).any(dim=1).double().mean().item()
