"""The slips that are made in several losses, objectives and weights."""

import torch

from shared.exercises.steps import Slips


def column(advantages):
    return advantages[:, None]


LOSS_SLIPS = Slips()


@LOSS_SLIPS.slip("logps", "The gradient is missing: `logps` is detached, or it all stands inside `torch.no_grad()`.")
def gradient_missing(logps):
    return logps.detach()


@LOSS_SLIPS.slip("objective", "The sign is flipped: this is the loss. Asked for is the objective, larger for better.")
def negative(objective):
    return -objective


@LOSS_SLIPS.slip("objective", "You return one number. Keep one for each token, (B, C): the weights come after.")
def averaged(objective):
    return objective.mean()


@LOSS_SLIPS.slip(
    "completion_mask", "The mean runs over the padding as well. Multiply by the mask and divide by its sum."
)
def mask_ignored(completion_mask):
    return torch.ones_like(completion_mask)


@LOSS_SLIPS.slip(
    "advantages", "You normalise the advantages again, over the batch. They come in as they are to be used."
)
def advantages_normalised(advantages):
    return (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)


@LOSS_SLIPS.slip("epsilon", "epsilon is written down as 0.2: the argument changes nothing. Use the name `epsilon`.")
def epsilon_hard_coded():
    return 0.2


@LOSS_SLIPS.slip("beta", "The KL term is not multiplied by beta: it counts as if beta were 1.")
def beta_forgotten():
    return 1.0


@LOSS_SLIPS.slip("penalty", "The sign of the KL term is flipped: `+ beta * kl` in a loss holds the policy.")
def kl_rewarded(penalty):
    return -penalty


@LOSS_SLIPS.slip("loss", "You return one number for each completion. The loss is their mean, one number.")
def not_averaged(per_completion):
    return per_completion


@LOSS_SLIPS.slip("real", "Padding counts in the sum: take the differences of real tokens alone, by the mask.")
def with_padding(difference):
    return difference


@LOSS_SLIPS.slip("ratio", "You add up the tokens' ratios. A completion's ratio is their product: add up logarithms.")
def ratios_added(difference, completion_mask):
    return torch.where(completion_mask == 1, difference.exp(), 0.0).sum(dim=1)


@LOSS_SLIPS.slip("weight", "The advantage is in the weight. It stands beside it: the gradient is weight x A x score.")
def times_advantage(weight, advantages):
    return weight * advantages


@LOSS_SLIPS.slip("log_ratio", "The ratio is upside down: it falls when the policy likes the completion more.")
def upside_down(logps, old_logps):
    return old_logps - logps


@LOSS_SLIPS.slip("counted", "The padding counts: multiply the log-ratios by the mask before you sum.")
def padding_counts(log_ratio):
    return log_ratio


@LOSS_SLIPS.slip("log_ratio", "You divide the log-probabilities. Subtract them: a ratio's logarithm is a difference.")
def logarithms_divided(logps, old_logps):
    return logps / old_logps


@LOSS_SLIPS.slip("weight", "There is no bound: it goes on growing with the ratio, and one may outweigh all others.")
def no_bound(ratio):
    return ratio


@LOSS_SLIPS.slip("averaged", "You sum over the pairs: a step then depends on how many there are. Take the mean.")
def summed(log_probability):
    return log_probability.sum()


@LOSS_SLIPS.slip("advantages", "The sign is flipped: what is better than the others has to come out positive.")
def sign_flipped(advantages):
    return -advantages
