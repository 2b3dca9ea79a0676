"""Entropy of the next token: `token_entropy(logits) -> entropy (B, C)`, in nats, from (B, C, V)."""

import math

import torch

from shared.exercises.arguments import Numbers
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def logps(logits):
    return logits.log_softmax(dim=-1)


@STEPS.step
def probs(logps):
    return logps.exp()


@STEPS.step
def summed(probs, logps):
    return (probs * logps).sum(dim=-1)


@STEPS.step
def entropy(summed):
    return -summed


@STEPS.slip("entropy", "The minus is missing: log-probabilities are negative, an entropy is not.")
def minus_forgotten(summed):
    return summed


@STEPS.slip("entropy", "This is in bits: you take the logarithm to base 2. Nats are asked for, the natural logarithm.")
def in_bits(summed):
    return -summed / math.log(2)


@STEPS.slip(
    "entropy", "You divide by the logarithm of the vocabulary's size. Asked for is the entropy itself, in nats."
)
def relative(summed, logits):
    return -summed / math.log(max(2, logits.size(-1)))


@STEPS.slip(
    "summed", "You take the mean over the vocabulary. The entropy is a sum: each term has its probability already."
)
def averaged_over_vocabulary(probs, logps):
    return (probs * logps).mean(dim=-1)


@STEPS.slip("summed", "The probabilities are missing: you sum the log-probabilities alone.")
def probabilities_forgotten(logps):
    return logps.sum(dim=-1)


@STEPS.slip("summed", "You multiply the probabilities with the logits. Log-probabilities are asked for.")
def logits_for_logps(probs, logits):
    return (probs * logits).sum(dim=-1)


@STEPS.slip(
    "summed",
    "You take the logarithm of the softmax: a probability that is rounded to 0 makes 0 x -inf, which is nan. Take "
    "`log_softmax`.",
)
def logarithm_of_softmax(logits):
    probs = logits.softmax(dim=-1)
    return (probs * probs.log()).sum(dim=-1)


@STEPS.slip("summed", "This is the largest probability's logarithm, not the mean over the whole distribution.")
def likeliest_only(logps):
    return logps.max(dim=-1).values


@STEPS.slip(
    "logps", "The softmax runs along the wrong axis: over the tokens of the completion. The vocabulary is the last."
)
def along_tokens(logits):
    return logits.log_softmax(dim=1)


@STEPS.slip("logits", "The gradient is missing: a bonus for entropy works through it. Do not detach the logits.")
def gradient_missing(logits):
    return logits.detach()


@STEPS.slip(
    "entropy", "You return one number. Keep one for each token, (B, C): the mask decides later which ones count."
)
def averaged(entropy):
    return entropy.mean()


@STEPS.slip(
    "summed",
    "You average the log-probabilities over the vocabulary, each token alike. Weight each with its own probability.",
)
def plain_mean(logps):
    return logps.mean(dim=-1)


@STEPS.slip(
    "summed",
    "The nan is replaced behind the sum: a token with one probability that rounds to 0 then has no entropy at all. Take "
    "`log_softmax`.",
)
def nan_replaced_behind_the_sum(logits):
    probs = logits.softmax(dim=-1)
    return (probs * probs.log()).sum(dim=-1).nan_to_num(nan=0.0)


@STEPS.slip("entropy", "This is the entropy's exponential, the perplexity. Asked for is the entropy itself.")
def perplexity(summed):
    return torch.exp(-summed)


@STEPS.slip(
    "entropy", "This is 1 minus the sum of the squared probabilities. Asked for is the entropy, with a logarithm."
)
def gini(probs):
    return 1 - (probs**2).sum(dim=-1)


@STEPS.slip("probs", "Each log-probability is weighted with itself. Weight it with its probability, its exponential.")
def weighted_with_itself(logps):
    return logps


@STEPS.slip(
    "summed",
    "Probabilities below 0.001 are left out. Many small ones together may hold most of the entropy: take `log_softmax`, "
    "with which nothing has to be left out.",
)
def small_ones_left_out(probs, logps):
    return torch.where(probs > 1e-3, probs * logps, 0.0).sum(dim=-1)


@STEPS.slip(
    "summed",
    "The value is right, and the gradient is nan where a probability rounds to 0: one such token is the end of a training. "
    "`log_softmax` has a gradient there.",
)
def gradient_is_nan(logits):
    return -torch.special.entr(logits.softmax(dim=-1)).sum(dim=-1)


def draw(draw: Draw) -> Case:
    far = draw.choice([0.5, 2.0, 6.0])
    return {"logits": draw.numbers(draw.size(3), draw.size(3), draw.size(5), least=-far, most=far)}


def boundary() -> list[Case]:
    return [
        {"logits": torch.zeros(1, 1, 1)},
        {"logits": torch.zeros(1, 1, 4)},
        {"logits": torch.tensor([[[-200.0, 0.0, 0.0]]])},
        {"logits": torch.tensor([[[200.0, -200.0, 0.0], [1.0, 2.0, 4.0]]])},
        {"logits": torch.tensor([[[1.0, 0.0], [0.5, 2.0]], [[3.0, 3.0], [0.0, 1.0]]])},
    ]


EXERCISE = Exercise(
    name="entropy of the next token",
    function="token_entropy",
    contract="`f(logits (B, C, V)) -> entropy (B, C)` in nats.",
    steps=STEPS,
    arguments={"logits": Numbers("B C V")},
    result=TensorOf("B C"),
    gradient="logits",
    draw=draw,
    boundary=boundary,
)
