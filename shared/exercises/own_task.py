"""Checks that fit any task: whether a reward of one's own is one, and whether a task can be learnt at all.

There is no reference to compare with. What is asked for is what holds for every reward and every task, and what somebody
who designs one is told best before training: a reward that reads the prompt, or one that no completion ever earns.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from math import isfinite

import torch
from torch import Tensor

from shared.exercises.calling import Unfinished
from shared.exercises.drawing import HOSTILE
from shared.exercises.interrupting import interrupted_after
from shared.exercises.judging import Verdict
from shared.exercises.results import Floats, NotAResult, clipped
from shared.exercises.state import kept
from shared.rewards import columns_of

NEVER_ENDS = 8.0  # seconds for all calls of a reward function
NEAR = 1e-6
LEAST_EVALUATION = 30  # rows: with fewer the 95 % interval of a rate of one half is wider than 0.36
RARE = 0.01  # a base reward this near to its lowest value has nothing to build on
FULL = 0.95  # of the highest reward: not much is left to learn
BUSY = 0.1  # the least share of groups with a spread

Case = tuple[dict, str, float]


class Flaw(Exception):
    """What is wrong, as a sentence."""


# --- a reward


def verdict_on_reward(function: Callable, cases: Sequence[Case]) -> Verdict:
    """The verdict on a reward function and the cases that its author is sure of. Never raises."""
    calls = [0]
    try:
        with kept(), interrupted_after(NEVER_ENDS):
            for test in (_good_and_bad, _agrees, _total, _batched, _reads_the_completion_only):
                test(Counted(function, calls), cases)
    except Flaw as flaw:
        return Verdict("reward function", False, str(flaw), calls[0])
    except TimeoutError:
        text = f"it does not return within {NEVER_ENDS:.0f} seconds for what a model may say."
        return Verdict("reward function", False, text, calls[0])
    text = f"right in your {len(cases)} cases, and it bears {len(HOSTILE)} hostile texts."
    return Verdict("reward function", True, text, calls[0])


class Counted:
    """A reward function that is called with copies, whose result is read, and whose calls are counted."""

    def __init__(self, function: Callable, calls: list[int]):
        self.function = function
        self.calls = calls

    def __call__(
        self, rows: Sequence[dict], completions: Sequence[str], prompts: Sequence[str] | None = None
    ) -> Tensor:
        """(B,) rewards of one completion for each row. Raises Flaw."""
        self.calls[0] += 1
        given = {"prompts": list(prompts or [row["prompt"] for row in rows]), "completions": list(completions)}
        given |= columns_of(rows)
        own = copy.deepcopy(given)
        where = (
            f"for completion {clipped(repr(completions[0]), 80)}" if len(rows) == 1 else f"for {len(rows)} completions"
        )
        try:
            result = self.function(**own)
            rewards, complaint = Floats().read(result)
        except Unfinished:
            raise
        except NotAResult as problem:
            raise Flaw(f"{problem} ({where})") from problem
        except BaseException as error:
            message = clipped(f"{type(error).__name__}: {error}", 160)
            raise Flaw(f"it raised {message} {where}. Whatever a model says has to earn a number.") from error
        if complaint:
            raise Flaw(complaint)
        if rewards.shape != (len(rows),):
            raise Flaw(f"it returns {rewards.numel()} rewards {where}; return a list with one for each completion.")
        if not all(isfinite(reward) for reward in rewards.tolist()):
            raise Flaw(f"it returns {rewards.tolist()[0]:g} {where}: one such number spoils the whole step.")
        if own != given:
            raise Flaw(
                f"it changes its arguments ({where}). Work on copies: what is trained on afterwards is another text."
            )
        return rewards


def _good_and_bad(reward: Counted, cases: Sequence[Case]) -> None:
    """The cases are of the right form, and not all alike."""
    for number, case in enumerate(cases, start=1):
        if not (isinstance(case, tuple) and len(case) == 3 and isinstance(case[0], dict) and isinstance(case[1], str)):
            raise Flaw(f"case {number} is not of the form (row, completion, reward).")
        if "prompt" not in case[0]:
            raise Flaw(f"the row of case {number} has no 'prompt'. Take a row of your data set.")
    if len({wanted for _, _, wanted in cases}) < 2:
        raise Flaw("your cases are all alike. Give good completions and bad ones, with different rewards.")


def _agrees(reward: Counted, cases: Sequence[Case]) -> None:
    for row, completion, wanted in cases:
        found = reward([row], [completion]).item()
        if abs(found - wanted) > NEAR:
            raise Flaw(
                f"it disagrees with you: for prompt {clipped(repr(row['prompt']), 80)}, completion "
                f"{clipped(repr(completion), 80)} it gives {found:g}, and you expect {wanted:g}."
            )


def _total(reward: Counted, cases: Sequence[Case]) -> None:
    """It gives a number to whatever a model may say."""
    row = cases[0][0]
    for text in HOSTILE:
        reward([row], [text])


def _batched(reward: Counted, cases: Sequence[Case]) -> None:
    """Each completion earns the same alone, in a batch, and asked again."""
    rows = [row for row, _, _ in cases]
    completions = [completion for _, completion, _ in cases]
    alone = torch.stack([reward([row], [text])[0] for row, text in zip(rows, completions)])
    for name, order in (("in a batch", range(len(cases))), ("in a batch in another order", range(len(cases))[::-1])):
        together = reward([rows[n] for n in order], [completions[n] for n in order])
        for place, n in enumerate(order):
            if abs(together[place] - alone[n]) > NEAR:
                raise Flaw(
                    f"completion {clipped(repr(completions[n]), 80)} earns {alone[n]:g} alone and {together[place]:g} "
                    f"{name}. A reward depends on its own completion and row, not on others and not on chance."
                )


def _reads_the_completion_only(reward: Counted, cases: Sequence[Case]) -> None:
    """Another prompt, even one that holds a completion that is paid, changes nothing."""
    best = max(cases, key=lambda case: case[2])[1]
    for row, completion, _ in cases:
        before = reward([row], [completion]).item()
        for prompt in ("", best):
            after = reward([row], [completion], prompts=[prompt]).item()
            if abs(after - before) > NEAR:
                raise Flaw(
                    f"it reads the prompt: completion {clipped(repr(completion), 80)} earns {before:g}, and {after:g} after "
                    f"prompt {clipped(repr(prompt), 60)}. What the user wrote must not earn it; what a reward needs to "
                    "know of the problem is a column of the data set."
                )


# --- a task


def verdict_on_task(train_rows: Sequence[dict], eval_rows: Sequence[dict], base_rewards: Tensor) -> Verdict:
    """The verdict on a task: its rows, and what the model earns before training, (N, G)."""
    flaws = list(_flaws_of_rows(train_rows, eval_rows)) or list(_flaws_of_rewards(base_rewards))
    if flaws:
        return Verdict("task", False, "\n".join(flaws), 1)
    groups = base_rewards.double()
    text = (
        f"{len(train_rows)} training and {len(eval_rows)} held-out rows; the model earns {groups.mean():.3f} before "
        f"training, and {_busy(groups):.2f} of the groups have a spread."
    )
    return Verdict("task", True, text, 1)


def _flaws_of_rows(train_rows: Sequence[dict], eval_rows: Sequence[dict]) -> Iterator[str]:
    for name, rows in (("training", train_rows), ("held-out", eval_rows)):
        for number, row in enumerate(rows):
            if not isinstance(row, dict) or not isinstance(row.get("prompt"), str) or not row["prompt"]:
                yield f"{name} row {number} has no text under 'prompt'."
                return
            if row.keys() != rows[0].keys():
                yield f"{name} row {number} has the columns {sorted(row)}, and row 0 has {sorted(rows[0])}."
                return
    if not train_rows or not eval_rows:
        yield "training or held-out rows are missing."
        return
    if train_rows[0].keys() != eval_rows[0].keys():
        yield f"training rows have the columns {sorted(train_rows[0])}, held-out ones {sorted(eval_rows[0])}."
    both = {row["prompt"] for row in train_rows} & {row["prompt"] for row in eval_rows}
    if both:
        yield (
            f"{len(both)} prompts are trained on and held out, such as {clipped(repr(min(both)), 80)}: what is measured "
            "on them may be remembered. Split by what a prompt asks, for instance by a hash of it."
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
    if not bool(groups.isfinite().all()):
        yield "the base rewards hold a number that is not finite."
        return
    mean = groups.mean().item()
    if mean <= RARE and groups.min() >= 0:
        yield (
            f"the model earns {mean:.3f} before training: what is never sampled is never rewarded, and nothing is learnt. "
            "Make the task easier, show the format in the prompt, or pay for parts of an answer."
        )
    elif 0 <= groups.min() and groups.max() <= 1 and mean >= FULL:
        yield f"the model earns {mean:.3f} before training: there is nothing left to learn. Make the task harder."
    elif _busy(groups) < BUSY:
        yield (
            f"only {_busy(groups):.2f} of the groups have a spread: in all others every advantage is 0. Use larger groups, "
            "a reward with more steps, or prompts of which the model solves some."
        )


def _busy(groups: Tensor) -> float:
    """The share of groups in which not all rewards are equal."""
    return (groups != groups[:, :1]).any(dim=1).double().mean().item()
