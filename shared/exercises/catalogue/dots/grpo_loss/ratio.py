"""The ratio, and its slips: between which policies it is, and of what. The losses of PPO and GSPO take both from here."""

import torch

from shared.exercises.steps import Slips

SLIPS = Slips()


def log_ratio(logps, old_logps):
    return logps - old_logps


def ratio(log_ratio):
    return torch.exp(log_ratio)


@SLIPS.slip(
    "log_ratio",
    "The ratio is taken against the reference. It corrects for the policy that sampled, `old_logps`; the reference "
    "belongs in the KL term only. With a frozen reference your ratio leaves the clipping range for good.",
)
def ratio_against_the_reference(logps, ref_logps):
    return logps - ref_logps


@SLIPS.slip(
    "log_ratio",
    "The ratio is upside down: exp(old_logps - logps). Its gradient has the wrong sign, so training unlearns.",
)
def ratio_upside_down(logps, old_logps):
    return old_logps - logps


@SLIPS.slip(
    "log_ratio",
    "The ratio is always 1 because you compare `logps` with its own detached copy. That is right for a single update "
    "and ignores `old_logps` in every later one: clipping can never act.",
)
def own_copy_as_old(logps):
    return logps - logps.detach()


@SLIPS.slip(
    "log_ratio",
    "The ratio is that of whole completions: you sum the log-probabilities before `exp`. Ratios of sequences are tiny "
    "or huge and nearly always clipped; GRPO's ratio is per token.",
)
def ratio_of_sequences(logps, old_logps, completion_mask):
    return ((logps - old_logps) * completion_mask).sum(dim=1, keepdim=True).expand_as(logps)


@SLIPS.slip(
    "ratio",
    "The log-ratio is used as the ratio: `torch.exp` is missing. Where old and new policy agree your policy term is 0 "
    "and should be minus the advantage.",
)
def exponential_forgotten(log_ratio):
    return log_ratio


@SLIPS.slip(
    "ratio",
    "The ratio is divided instead of subtracted: logps / old_logps. A ratio of probabilities is the exponential of a "
    "difference of log-probabilities.",
)
def quotient_of_logarithms(logps, old_logps):
    return logps / old_logps
