"""Log-probabilities of a constrained policy: `constrained_logps(logits, allowed, drawn) -> logps`, (B,).

Logits (B, V) of the next token, which tokens may come (B, V), and the one that came (B,).
"""

import torch

from shared.exercises.arguments import Mask, Numbers, Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def kept(logits, allowed):
    return logits.masked_fill(~allowed, -torch.inf)


@STEPS.step
def log_probabilities(kept):
    return kept.log_softmax(dim=-1)


@STEPS.step
def logps(log_probabilities, drawn):
    return log_probabilities.gather(1, drawn[:, None])[:, 0]


@STEPS.slip(
    "kept",
    "What may not come keeps its share, or is taken away after the softmax: the allowed tokens then have less than 1 "
    "together. Fill its logits with -inf before the softmax.",
)
def nothing_struck_out(logits):
    return logits


@STEPS.slip("kept", "Allowed and forbidden are exchanged: `allowed` is true where a token *may* come.")
def exchanged(logits, allowed):
    return logits.masked_fill(allowed, -torch.inf)


@STEPS.slip("kept", "What may not come gets the logit 0, and exp(0) = 1 is a share like any other. Use -inf.")
def struck_out_with_0(logits, allowed):
    return logits.masked_fill(~allowed, 0.0)


@STEPS.slip("kept", "1 is taken off the logits of what may not come, which still has a share. Use -inf.")
def one_taken_off(logits, allowed):
    return logits - (~allowed).to(logits)


@STEPS.slip("log_probabilities", "The log-softmax is missing: these are logits, whose exponentials do not add up to 1.")
def no_softmax(kept):
    return kept


@STEPS.slip("log_probabilities", "These are probabilities. The loss takes their logarithms: `log_softmax`.")
def no_logarithm(kept):
    return kept.softmax(dim=-1)


@STEPS.slip("log_probabilities", "The softmax runs over the rows of the batch. It runs over the vocabulary, `dim=-1`.")
def over_the_batch(kept):
    return kept.log_softmax(dim=0)


@STEPS.slip("logps", "You take the likeliest token's log-probability. Gather that of the token that was drawn.")
def likeliest(log_probabilities):
    return log_probabilities.max(dim=-1).values


@STEPS.slip("logps", "The sign is flipped: these are losses, as `cross_entropy` returns them.")
def negative(logps):
    return -logps


@STEPS.slip("logps", "You return one number. Return one for each row, (B,): each has an advantage of its own.")
def averaged(logps):
    return logps.mean()


@STEPS.slip("logps", "You keep an axis of length 1, (B, 1), which would be spread against others of shape (B,).")
def axis_kept(logps):
    return logps[:, None]


@STEPS.slip(
    "logits", "The gradient is missing: `.detach()` or `torch.no_grad()` is in the way, and nothing can be learnt."
)
def gradient_missing(logits):
    return logits.detach()


def draw(draw: Draw) -> Case:
    """The drawn token and perhaps others are allowed; now and then no other."""
    B, V = draw.size(), draw.size()
    drawn = torch.tensor(draw.some(range(V), B))
    allowed = draw.numbers(B, V, least=0.0, most=1.0) < draw.choice([0.0, 0.3, 0.6, 1.0])
    return {
        "logits": draw.numbers(B, V, least=-4.0, most=4.0),
        "allowed": allowed.scatter(1, drawn[:, None], True),
        "drawn": drawn,
    }


def boundary() -> list[Case]:
    logits = torch.tensor([[0.6, 0.2, 0.2], [0.1, 0.7, 0.2]]).log()
    allowed = torch.tensor([[True, True, False], [False, True, True]])
    drawn = torch.tensor([0, 2])
    return [
        {"logits": logits[:1], "allowed": allowed[:1], "drawn": drawn[:1]},
        {"logits": logits, "allowed": allowed, "drawn": drawn},
        {"logits": logits, "allowed": torch.ones_like(allowed), "drawn": drawn},
        {"logits": logits - 3, "allowed": allowed, "drawn": torch.tensor([1, 1])},
        {"logits": 30 * logits, "allowed": allowed, "drawn": torch.tensor([1, 2])},
    ]


def valid(case: Case) -> bool:
    """Each drawn token is one of the V and allowed."""
    allowed, drawn = case["allowed"], case["drawn"]
    return bool(drawn.max() < allowed.size(1)) and bool(allowed.gather(1, drawn[:, None]).all())


def smaller(case: Case) -> list[Case]:
    """Token 0 in each row: a vocabulary of few tokens is then enough."""
    return [case | {"drawn": torch.zeros_like(case["drawn"])}] if case["drawn"].any() else []


EXERCISE = Exercise(
    name="constrained policy",
    function="constrained_logps",
    contract="`f(logits (B, V), allowed (B, V), drawn (B,)) -> logps (B,)`, in a policy that says allowed tokens alone.",
    steps=STEPS,
    arguments={"logits": Numbers("B V"), "allowed": Mask("B V"), "drawn": Things("B")},
    result=TensorOf("B"),
    draw=draw,
    boundary=boundary,
    gradient="logits",
    valid=valid,
    smaller=smaller,
)
