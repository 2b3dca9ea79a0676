"""The common parts of exercises on rewards: the call of a reward, and the slips that are made in any of them.

The slips change the steps `texts`, the completions as they are read, and `rewards`, the result, or those between.
"""

from collections.abc import Callable

from shared.exercises.exercise import Case
from shared.exercises.steps import Slip, Slips


def as_score_calls(function: Callable, case: Case):
    """Call a reward as `shared.rewards.score` and TRL do: by name, with a column more than it reads."""
    return function(**case, another_column=[None] * len(case["completions"]))


def texts(completions):
    return completions


def first_completion_for_all(completions):
    return [completions[0]] * len(completions)


def first_line_alone(completions):
    return [text.partition("\n")[0] for text in completions]


def returned_too_early(rewards):
    return rewards[:1]


def same_for_all(rewards):
    return [sum(rewards) / len(rewards)] * len(rewards)


FIRST_COMPLETION_FOR_ALL = Slip.of(
    "texts", "Only the first completion is read. Go through all of them: one reward for each.", first_completion_for_all
)
FIRST_LINE_ALONE = Slip.of(
    "texts",
    "Only the first line of each completion is read. All of it counts, what stands behind a line break too.",
    first_line_alone,
)
RETURNED_TOO_EARLY = Slip.of(
    "rewards",
    "You return inside the loop: the list ends with the first completion. Take `return` out of it.",
    returned_too_early,
)
SAME_FOR_ALL = Slip.of("rewards", "All completions share one average reward. Return one number for each.", same_for_all)

REWARD_SLIPS = Slips([SAME_FOR_ALL])


@REWARD_SLIPS.slip("texts", "Your reward reads the prompt as well, which can earn it. Look at the completion only.")
def prompt_read_as_well(prompts, completions):
    return [prompt + completion for prompt, completion in zip(prompts, completions)]


@REWARD_SLIPS.slip("texts", "Your reward reads the prompt instead of the completion.")
def prompt_read_instead(prompts):
    return prompts


@REWARD_SLIPS.slip("matches", "Right and wrong are exchanged: right completions get 0 and wrong ones 1.")
def exchanged(matches):
    return [not match for match in matches]


@REWARD_SLIPS.slip("goals", "Every completion is compared with the first row's target. Each has its own.")
def first_target_for_all(target):
    return [target[0]] * len(target)


@REWARD_SLIPS.slip("lines", "The line itself is not stripped: a space behind the answer makes a right one wrong.")
def line_not_stripped(texts):
    return [(text.strip().splitlines() or [""])[0] for text in texts]


@REWARD_SLIPS.slip(
    "lines", "An empty completion raises IndexError: its list of lines is empty. Look whether it has one."
)
def empty_completion_raises(texts):
    return [text.strip().splitlines()[0].strip() for text in texts]


@REWARD_SLIPS.slip("lines", "The last line is compared. Compare the first: what follows may be chatter.")
def last_line(texts):
    return [(text.strip().splitlines() or [""])[-1].strip() for text in texts]


@REWARD_SLIPS.slip("wanted", "Every completion is compared with the first row's answer. Each has its own: use `zip`.")
def first_answer_for_all(answer):
    return [answer[0]] * len(answer)


@REWARD_SLIPS.slip("lines", "The whole completion has to be the answer. What follows the first line does not count.")
def whole_completion(texts):
    return [text.strip() for text in texts]


@REWARD_SLIPS.slip("lines", "Only the first word is compared. The whole first line has to be the answer.")
def first_word_only(texts):
    return [(text.split() or [""])[0] for text in texts]
