"""Rules on learning: the outputs show that something was learned, or could have been."""

import re
from collections.abc import Iterator

from checker.outputs.claims import MEASURES
from checker.rules.base import Remark, Submission, rule

NUMBER = r"\W{0,4}(\d+(?:\.\d+)?)\s*(%?)"
# What training logs call the share of groups in which all rewards are equal, and the spread within a group.
IDLE = re.compile(
    rf"(?:equal[ _-]groups|idle[ _-]groups|groups? (?:without (?:signal|spread)|with equal rewards)|frac_reward_zero_std)"
    rf"{NUMBER}",
    re.IGNORECASE,
)
SPREAD = re.compile(rf"(?:reward[ _-]std|std[ _-]of[ _-]rewards?|reward[ _-]spread){NUMBER}", re.IGNORECASE)


@rule(
    "N001",
    "warning",
    why="A run after which the held-out reward is no higher is worth telling, as what it is.",
    wrong="baseline reward 0.400\nfine-tuned reward 0.380",
    right="baseline reward 0.400\nfine-tuned reward 0.910",
)
def nothing_gained(submission: Submission) -> Iterator[Remark]:
    baseline, tuned = submission.rewards
    if baseline is None or tuned is None or tuned > baseline or submission.claim == MEASURES:
        return
    cells = submission.sections.get(7) or list(submission.notebook.code_cells)[-1:]
    yield (
        cells[0].number if cells else None,
        f"the fine-tuned reward ({tuned:.3f}) is not above the baseline ({baseline:.3f})",
        "Look for the reason (groups without spread, step size, a reward that is never earned), or say it in Cell 8.",
    )


@rule(
    "N002",
    "warning",
    why=(
        "Advantages are differences within a group. Where all completions of a prompt earn the same, all are 0, and"
        " nothing is learned from it."
    ),
    wrong="step 10  average reward 0.000  equal groups 1.000",
    right="step 10  average reward 0.310  equal groups 0.250",
)
def no_group_has_a_spread(submission: Submission) -> Iterator[Remark]:
    text = submission.output_of(6)
    if not any(word in text.lower() for word in ("group", "std", "spread")):  # much faster than the patterns
        return
    idle = [float(value) / (100 if percent else 1) for value, percent in IDLE.findall(text)]
    spread = [float(value) for value, _ in SPREAD.findall(text)]
    if (idle and min(idle) >= 1) or (not idle and len(spread) > 1 and max(spread) == 0):
        yield (
            submission.sections[6][0].number,
            "in every line of the log, the completions of every group earn the same",
            "Make the task easier, the reward finer or the group larger, until some completions earn more than others.",
        )


RULES = [nothing_gained, no_group_has_a_spread]
