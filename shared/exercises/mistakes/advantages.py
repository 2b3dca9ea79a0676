"""Wrong group advantages: `f(rewards, num_generations) -> advantages`, (B,) to (B,)."""

from shared.exercises.mistakes import Mistakes

MISTAKES = Mistakes()
EPS = 1e-4


def _groups(rewards, num_generations):
    return rewards.view(-1, num_generations)


def _scaled(groups, std):
    return ((groups - groups.mean(dim=1, keepdim=True)) / (std + EPS)).view(-1)


@MISTAKES.known(
    "Your advantages use the sample standard deviation (divide by G - 1), which is what `torch.std` does unless told "
    "otherwise: with G = 2 every advantage is 0.71 of what it should be. Pass `correction=0`."
)
def sample_standard_deviation(rewards, num_generations):
    groups = _groups(rewards, num_generations)
    return _scaled(groups, groups.std(dim=1, keepdim=True)).where(
        groups.std(dim=1, keepdim=True).expand_as(groups).reshape(-1) > 0, 0.0
    )


@MISTAKES.known(
    "You take mean and standard deviation over the whole batch. An easy prompt then pushes up everything that was "
    "sampled for it. Compare completions of the same prompt only: view the rewards as (prompts, G) first."
)
def normalised_over_the_batch(rewards, num_generations):
    return (rewards - rewards.mean()) / (rewards.std(correction=0) + EPS)


@MISTAKES.known(
    "The mean is the group's, but the standard deviation is the whole batch's. That is a variant with a name "
    '(`scale_rewards="batch"`), not the one asked for here: take both over dim=1 of the (prompts, G) view.'
)
def scaled_by_the_batch(rewards, num_generations):
    return _scaled(_groups(rewards, num_generations), rewards.std(correction=0))


@MISTAKES.known(
    "You subtract the group's mean but do not divide by its standard deviation. That is Dr. GRPO "
    '(`scale_rewards="none"`); GRPO as asked for here divides as well.'
)
def not_scaled(rewards, num_generations):
    groups = _groups(rewards, num_generations)
    return (groups - groups.mean(dim=1, keepdim=True)).view(-1)


@MISTAKES.known(
    "You divide by the standard deviation but do not subtract the group's mean. Without the baseline every completion "
    "with a positive reward is made more likely, the worst of a group too."
)
def not_centred(rewards, num_generations):
    groups = _groups(rewards, num_generations)
    return (groups / (groups.std(dim=1, correction=0, keepdim=True) + EPS)).view(-1)


@MISTAKES.known(
    "The sign is the wrong way round: completions better than their group get a negative advantage. It is "
    "reward minus mean."
)
def sign_flipped(rewards, num_generations):
    groups = _groups(rewards, num_generations)
    return -_scaled(groups, groups.std(dim=1, correction=0, keepdim=True))


@MISTAKES.known(
    "You put every N-th completion into one group. The G completions of a prompt stand next to each other, so the view "
    "is (N, G) and the mean is over dim=1."
)
def groups_across_prompts(rewards, num_generations):
    groups = rewards.view(num_generations, -1)
    centred = groups - groups.mean(dim=0, keepdim=True)
    return (centred / (groups.std(dim=0, correction=0, keepdim=True) + EPS)).view(-1)


@MISTAKES.known(
    "You divide by the variance, not by its square root: the advantages then change with the scale of the rewards."
)
def divided_by_the_variance(rewards, num_generations):
    groups = _groups(rewards, num_generations)
    return _scaled(groups, groups.var(dim=1, correction=0, keepdim=True))


@MISTAKES.known(
    "A group whose rewards are all equal gives nan: 0 divided by a standard deviation of 0. One such group turns the "
    "whole loss into nan. Add a small number to the denominator."
)
def nan_for_equal_rewards(rewards, num_generations):
    groups = _groups(rewards, num_generations)
    return ((groups - groups.mean(dim=1, keepdim=True)) / groups.std(dim=1, correction=0, keepdim=True)).view(-1)


@MISTAKES.known(
    "You compare each completion with the mean of the others (leave-one-out, as RLOO does), unscaled. GRPO subtracts "
    "the mean of the whole group and divides by its standard deviation."
)
def leave_one_out(rewards, num_generations):
    groups = _groups(rewards, num_generations)
    others = (groups.sum(dim=1, keepdim=True) - groups) / (num_generations - 1)
    return (groups - others).view(-1)
