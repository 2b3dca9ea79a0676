"""Per-token KL: `per_token_kl(logps, ref_logps) -> k3`, (B, C) each."""

import torch

from shared.exercises.arguments import Numbers
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def log_ratio(logps, ref_logps):
    return ref_logps - logps


@STEPS.step
def ratio(log_ratio):
    return torch.exp(log_ratio)


@STEPS.step
def subtracted(log_ratio):
    return log_ratio


@STEPS.step
def kl(ratio, subtracted):
    return ratio - subtracted - 1


@STEPS.slip(
    "log_ratio",
    "x has the wrong sign: you take logps - ref_logps. Samples come from the policy, so the reference stands first, "
    "x = ref_logps - logps; yours estimates another quantity, with huge variance.",
)
def ratio_upside_down(logps, ref_logps):
    return logps - ref_logps


@STEPS.slip(
    "kl",
    "This is k1 = logps - ref_logps. Its mean is the KL, but single tokens are negative and its gradient as a penalty "
    "has mean 0: it does not hold the policy back. k3 adds exp(x) - 1 and is never negative.",
)
def k1_instead(log_ratio):
    return -log_ratio


@STEPS.slip("kl", "This is k2 = log_r² / 2: never negative, but biased. Asked for is k3 = exp(x) - x - 1.")
def k2_instead(log_ratio):
    return log_ratio**2 / 2


@STEPS.slip("kl", "You take the absolute difference of the log-probabilities. It is 0 at the right place, but not k3.")
def absolute_difference(log_ratio):
    return log_ratio.abs()


@STEPS.slip(
    "kl",
    "This is the square of the difference. Asked for is k3 = exp(x) - x - 1, which only begins like half of it.",
)
def square_instead(log_ratio):
    return log_ratio**2


@STEPS.slip("kl", "The -1 is missing: with equal log-probabilities your penalty is 1, and it should be 0.")
def without_minus_one(kl):
    return kl + 1


@STEPS.slip(
    "subtracted",
    "The -x is missing: exp(x) - 1 alone has mean 0 whatever the two policies are, so it measures nothing.",
)
def without_log_ratio(log_ratio):
    return 0 * log_ratio


@STEPS.slip("subtracted", "You add x where k3 subtracts it: exp(x) - x - 1.")
def log_ratio_added(log_ratio):
    return -log_ratio


@STEPS.slip("kl", "The sign of the whole is flipped: a KL penalty is never negative, and yours pays for drifting away.")
def negative(kl):
    return -kl


@STEPS.slip("kl", "You halve the result. The half belongs to k2; k3 = exp(x) - x - 1 has none.")
def halved(kl):
    return kl / 2


STEPS.add(*LOSS_SLIPS.named("gradient_missing"))


@STEPS.slip(
    "ratio",
    "The ratio is detached: `.detach()` or `torch.no_grad()` around `exp` leaves the gradient of k1, which has mean 0.",
)
def ratio_detached(ratio):
    return ratio.detach()


@STEPS.slip(
    "kl", "You return one number. Keep one value for each token, (B, C): the mask decides later which ones count."
)
def already_averaged(kl):
    return kl.mean()


@STEPS.slip("kl", "You return one number for each completion. Keep one for each token, (B, C).")
def averaged_over_tokens(kl):
    return kl.mean(dim=1)


@STEPS.slip(
    "kl",
    "This is what `kl_div` gives: a term of the sum over a whole vocabulary, weighted with a probability. Here is one "
    "sampled token: k3 = exp(x) - x - 1.",
)
def kl_div_instead(log_ratio, ref_logps):
    return torch.exp(ref_logps) * log_ratio


@STEPS.slip("kl", "The 1 is taken off twice: `expm1` has taken it off already.")
def one_taken_off_twice(kl):
    return kl - 1


@STEPS.slip(
    "log_ratio", "x is the ratio itself in yours. It is its logarithm, the difference of the log-probabilities."
)
def ratio_for_its_logarithm(logps, ref_logps):
    return torch.exp(ref_logps - logps)


@STEPS.slip(
    "log_ratio", "x is the difference of the probabilities. It is that of the log-probabilities: without `exp`."
)
def difference_of_probabilities(logps, ref_logps):
    return torch.exp(ref_logps) - torch.exp(logps)


@STEPS.slip("kl", "x is squared in the middle: k3 = exp(x) - x - 1.")
def squared_inside(ratio, log_ratio):
    return ratio - log_ratio**2 - 1


@STEPS.slip("log_ratio", "You divide the log-probabilities. x is their difference, the logarithm of the ratio.")
def quotient_of_logarithms(logps, ref_logps):
    return ref_logps / logps


@STEPS.slip(
    "kl",
    "This estimates the other direction, KL(reference || policy): its terms are weighted with the ratio. Asked for is "
    "exp(x) - x - 1.",
)
def other_direction(ratio, subtracted):
    return ratio * subtracted - ratio + 1


@STEPS.slip(
    "kl",
    "The 1 is added: a minus before a bracket turns the signs in it. Where the two agree k3 is 0, exp(0) - 0 - 1.",
)
def one_added(ratio, subtracted):
    return ratio - subtracted + 1


@STEPS.slip(
    "log_ratio",
    "The log-ratio is cut off at 0: tokens that the policy made likelier cost nothing. k3 is never negative by itself.",
)
def cut_off_at_0(log_ratio):
    return log_ratio.clamp(min=0)


@STEPS.slip(
    "log_ratio",
    "x is taken without its sign. k3 is never negative by itself: take x as it is, below 0 where the policy made a token "
    "likelier.",
)
def without_its_sign(log_ratio):
    return log_ratio.abs()


@STEPS.slip(
    "kl",
    "This is one term of the exact KL, weighted with the token's probability. The token was drawn with that probability "
    "already: k3 = exp(x) - x - 1 has no weight.",
)
def term_of_the_exact_kl(logps, log_ratio):
    return torch.exp(logps) * -log_ratio


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size()
    logps = draw.numbers(B, C, least=-4, most=0)
    far = draw.choice([0.0, 0.3, 1.0, 3.0, 9.0])
    return {"logps": logps, "ref_logps": (logps + far * draw.numbers(B, C, least=-1, most=1)).clamp(max=0)}


def boundary() -> list[Case]:
    one = torch.tensor([[-1.0]])
    both = torch.tensor([[-1.0, -2.0, -0.5], [-0.1, -3.0, -1.5]])
    return [
        {"logps": one, "ref_logps": one.clone()},
        {"logps": one, "ref_logps": one + 0.9},
        {"logps": one, "ref_logps": one - 1},
        {"logps": both, "ref_logps": both.flip(0)},
        {"logps": both[:, :2], "ref_logps": both[:, 1:]},
    ]


EXERCISE = Exercise(
    name="per-token KL",
    function="per_token_kl",
    contract="`f(logps (B, C), ref_logps (B, C)) -> k3 (B, C)`.",
    steps=STEPS,
    arguments={"logps": Numbers("B C", most=0.0), "ref_logps": Numbers("B C", most=0.0)},
    result=TensorOf("B C"),
    draw=draw,
    boundary=boundary,
    gradient="logps",
)
