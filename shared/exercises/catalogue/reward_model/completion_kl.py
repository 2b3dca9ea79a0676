"""The KL of completions: `completion_kl(logits, ref_logits, completion_mask) -> (B,)`, logits (B, C, V) each."""

import torch

from shared.exercises.arguments import Mask, Numbers
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def logps(logits):
    return logits.log_softmax(dim=-1)


@STEPS.step
def ref_logps(ref_logits):
    return ref_logits.log_softmax(dim=-1)


@STEPS.step
def weights(logps):
    return logps.exp()


@STEPS.step
def difference(logps, ref_logps):
    return logps - ref_logps


@STEPS.step
def per_token(weights, difference):
    return (weights * difference).sum(dim=-1)


@STEPS.step
def kept(per_token, completion_mask):
    return per_token * completion_mask


@STEPS.step
def per_completion(kept):
    return kept.sum(dim=1)


@STEPS.slip("logps", "The policy's logits are no log-probabilities yet: take their log-softmax.")
def policy_not_normalised(logits):
    return logits


@STEPS.slip("ref_logps", "The reference's logits are no log-probabilities yet: take their log-softmax.")
def reference_not_normalised(ref_logits):
    return ref_logits


@STEPS.slip(
    "weights",
    "The sum is weighted with the reference's probabilities: that is minus the other divergence. Completions come from "
    "the policy, and so do the weights.",
)
def weighted_by_the_reference(ref_logps):
    return ref_logps.exp()


@STEPS.slip("weights", "You weight all tokens of the vocabulary alike. Weight each with the policy's probability.")
def not_weighted(logps):
    return torch.ones_like(logps)


@STEPS.slip("difference", "The difference is upside down, the reference's minus the policy's: a KL is never negative.")
def upside_down(logps, ref_logps):
    return ref_logps - logps


@STEPS.slip("difference", "The reference does not occur: this is minus the entropy.")
def reference_missing(logps):
    return logps


@STEPS.slip("per_token", "You average over the vocabulary. The KL is the sum over it.")
def averaged_over_the_vocabulary(weights, difference):
    return (weights * difference).mean(dim=-1)


@STEPS.slip("kept", "The padding counts in yours: multiply by the mask.")
def padding_counted(per_token):
    return per_token


@STEPS.slip(
    "per_completion", "You average over the tokens. The KL of a whole completion is the sum: log-probabilities add up."
)
def averaged_over_tokens(kept, completion_mask):
    return kept.sum(dim=1) / completion_mask.sum(dim=1)


@STEPS.slip("per_completion", "You return one number for the batch. One for each completion is asked for, (B,).")
def averaged_over_completions(kept):
    return kept.sum(dim=1).mean()


@STEPS.slip("per_completion", "The sum over the tokens is missing: you return (B, C), and (B,) is asked for.")
def not_summed(kept):
    return kept


@STEPS.slip(
    "difference",
    "In the difference the policy's logits stand for log-probabilities. They are none yet: take their log-softmax.",
)
def logits_in_the_difference(logits, ref_logps):
    return logits - ref_logps


@STEPS.slip(
    "difference",
    "The difference is one of logits. They are no log-probabilities yet: take the log-softmax of both.",
)
def difference_of_logits(logits, ref_logits):
    return logits - ref_logits


@STEPS.slip(
    "per_token",
    "This is the other divergence, KL(reference || policy): the weights are the reference's, and so is the first "
    "logarithm. `kl_div` wants its arguments the other way round.",
)
def other_divergence(logps, ref_logps):
    return (ref_logps.exp() * (ref_logps - logps)).sum(dim=-1)


@STEPS.slip("per_token", "The softmax runs over the tokens of the completion, dim=1. The vocabulary is the last axis.")
def along_tokens(logits, ref_logits):
    logps, ref_logps = logits.log_softmax(dim=1), ref_logits.log_softmax(dim=1)
    return (logps.exp() * (logps - ref_logps)).sum(dim=-1)


@STEPS.slip("difference", "You take the size of each difference. A KL has both signs in its sum.")
def absolute(logps, ref_logps):
    return (logps - ref_logps).abs()


@STEPS.slip("weights", "The policy's logits stand for its probabilities as weights. Take the softmax.")
def weighted_by_logits(logits):
    return logits


@STEPS.slip("weights", "The log-probabilities stand for the probabilities as weights: take their exponential.")
def weighted_by_logarithms(logps):
    return logps


@STEPS.slip("per_completion", "You average over the width, padding included. The KL of a completion is a sum.")
def averaged_over_the_width(kept):
    return kept.mean(dim=1)


@STEPS.slip(
    "per_token",
    "Only the likeliest token of the vocabulary is looked at. The KL is a sum over all of it, weighted by the policy.",
)
def likeliest_alone(logps, difference):
    return difference.gather(-1, logps.argmax(dim=-1, keepdim=True))[..., 0]


SHIFTED_AGAIN = (
    "You shift by one, and a token of each completion is left out. `logits` are those that its tokens were drawn from: no "
    "shift is left to do."
)


@STEPS.slip("per_completion", SHIFTED_AGAIN)
def shifted_again(per_token, completion_mask):
    return (per_token[:, :-1] * completion_mask[:, 1:]).sum(dim=1)


@STEPS.slip("per_completion", SHIFTED_AGAIN)
def first_left_out(kept):
    return kept[:, 1:].sum(dim=1)


@STEPS.slip(
    "difference",
    "A small number is added inside of the logarithms: a word that the reference hardly ever says then costs less than it "
    "should. `log_softmax` needs no such number.",
)
def small_number_added(logits, ref_logits):
    p, q = logits.softmax(dim=-1), ref_logits.softmax(dim=-1)
    return (p + 1e-4).log() - (q + 1e-4).log()


def draw(draw: Draw) -> Case:
    B = draw.size(3)
    C = draw.size(3)
    V = draw.size(4, least=2)
    return {
        "logits": draw.numbers(B, C, V),
        "ref_logits": draw.numbers(B, C, V),
        "completion_mask": draw.mask(B, C),
    }


def boundary() -> list[Case]:
    one = torch.tensor([[[1.0, 0.0, -1.0]]])
    two = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]])
    return [
        {"logits": one, "ref_logits": one.clone(), "completion_mask": torch.ones(1, 1, dtype=torch.long)},
        {"logits": one, "ref_logits": 30 * one.flip(2), "completion_mask": torch.ones(1, 1, dtype=torch.long)},
        {"logits": two, "ref_logits": 0 * two, "completion_mask": torch.tensor([[1, 1]])},
        {"logits": 30 * two, "ref_logits": 0 * two, "completion_mask": torch.tensor([[1, 0]])},
    ]


EXERCISE = Exercise(
    name="KL of completions",
    function="completion_kl",
    contract="`f(logits (B, C, V), ref_logits (B, C, V), completion_mask (B, C)) -> (B,)`.",
    steps=STEPS,
    arguments={"logits": Numbers("B C V"), "ref_logits": Numbers("B C V"), "completion_mask": Mask("B C")},
    result=TensorOf("B"),
    draw=draw,
    boundary=boundary,
    valid=lambda case: case["logits"].size(2) > 1 and bool((case["completion_mask"].sum(dim=1) > 0).all()),
)
