"""Wrong per-token KL penalties: `f(logps, ref_logps) -> kl`, (B, C) each. Asked for is k3."""

import torch

from shared.exercises.mistakes import Mistakes

MISTAKES = Mistakes()


@MISTAKES.known(
    "This is k1 = logps - ref_logps. Its mean is the KL, but single tokens are negative and its gradient as a penalty "
    "has mean 0: it does not hold the policy back. k3 adds exp(log_r) - 1 and is never negative."
)
def k1_instead(logps, ref_logps):
    return logps - ref_logps


@MISTAKES.known("This is k2 = log_r² / 2: never negative, but biased. Asked for is k3 = exp(log_r) - log_r - 1.")
def k2_instead(logps, ref_logps):
    return (ref_logps - logps) ** 2 / 2


@MISTAKES.known(
    "The ratio is upside down: you take log_r = logps - ref_logps. Samples come from the policy, so k3 needs "
    "log_r = ref_logps - logps; yours estimates another quantity, with huge variance."
)
def ratio_upside_down(logps, ref_logps):
    return torch.exp(logps - ref_logps) - (logps - ref_logps) - 1


@MISTAKES.known("The -1 is missing: with equal log-probabilities your penalty is 1, and it should be 0.")
def without_minus_one(logps, ref_logps):
    return torch.exp(ref_logps - logps) - (ref_logps - logps)


@MISTAKES.known(
    "The -log_r is missing: exp(log_r) - 1 alone has mean 0 whatever the two policies are, so it measures nothing."
)
def without_log_ratio(logps, ref_logps):
    return torch.exp(ref_logps - logps) - 1


@MISTAKES.known("You add log_r where k3 subtracts it: exp(log_r) - log_r - 1.")
def log_ratio_added(logps, ref_logps):
    return torch.exp(ref_logps - logps) + (ref_logps - logps) - 1


@MISTAKES.known("The sign of the whole is flipped: a KL penalty is never negative, and yours pays for drifting away.")
def negative(logps, ref_logps):
    return -(torch.exp(ref_logps - logps) - (ref_logps - logps) - 1)


@MISTAKES.known("You take the absolute difference of the log-probabilities. It is 0 at the right place, but not k3.")
def absolute_difference(logps, ref_logps):
    return (logps - ref_logps).abs()


@MISTAKES.known(
    "The value is right and the gradient is missing: `logps` is detached, or the computation stands inside "
    "`torch.no_grad()`. The penalty then shows in the log and holds nothing back."
)
def gradient_missing(logps, ref_logps):
    return torch.exp(ref_logps - logps.detach()) - (ref_logps - logps.detach()) - 1 + 0 * logps


@MISTAKES.known(
    "You return one number. Keep one value for each token, (B, C): the mask decides later which ones count."
)
def already_averaged(logps, ref_logps):
    return (torch.exp(ref_logps - logps) - (ref_logps - logps) - 1).mean()
