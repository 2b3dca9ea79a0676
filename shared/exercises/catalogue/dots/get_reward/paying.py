"""Slips of what is paid: how much, and how many numbers come back."""

from shared.exercises.catalogue.common.every_reward import REWARD_SLIPS
from shared.exercises.steps import Slips

SLIPS = Slips(REWARD_SLIPS.named("exchanged", "same_for_all"))


@SLIPS.slip("rewards", "You return one number. Return a list with one for each completion: GRPO compares them.")
def one_number(rewards):
    return sum(rewards)


@SLIPS.slip("rewards", "Wrong completions get -1. The exercise asks for 0.0, so that an average reward is a share.")
def punished(rewards):
    return [2 * reward - 1 for reward in rewards]


@SLIPS.slip("rewards", "You return inside the loop: the list ends with the first completion. Take `return` out of it.")
def returned_too_early(rewards):
    return rewards[:1]


@SLIPS.slip(
    "rewards", "Wrong completions are left out of the list. It needs one number for each completion, 0.0 as well."
)
def only_the_right_ones(rewards):
    return [reward for reward in rewards if reward]
