"""Log-probabilities of all completions: `constrained_logps(logits, completion_ids, allowed) -> logps`, (K,).

Logits (K, P + C, V) of prompt and completion, completions (K, C), and which tokens may come at each place, (K, C, V).
"""

import torch

from shared.exercises.arguments import Mask, Numbers, Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def predicting(logits, completion_ids):
    """(K, C, V): position t predicts token t + 1."""
    return logits[:, -completion_ids.size(1) - 1 : -1]


@STEPS.step
def open_to(predicting, allowed):
    return predicting.masked_fill(~allowed, -torch.inf)


@STEPS.step
def log_probabilities(open_to):
    return open_to.log_softmax(dim=-1)


@STEPS.step
def chosen(log_probabilities, completion_ids):
    return log_probabilities.gather(-1, completion_ids[..., None])[..., 0]


@STEPS.step
def logps(chosen):
    return chosen.sum(dim=1)


@STEPS.slip(
    "predicting",
    "The logits are off by one: those at a token's own place predict the next one. Take the C places before the last.",
)
def off_by_one(logits, completion_ids):
    return logits[:, -completion_ids.size(1) :]


@STEPS.slip(
    "predicting",
    "You take the first C places: those are of the prompt. The completion is predicted by the places at the end.",
)
def first_places(logits, completion_ids):
    return logits[:, : completion_ids.size(1)]


@STEPS.slip(
    "open_to",
    "What is not allowed keeps its share, or is taken away after the softmax: fill its logits with -inf before it, else "
    "the K probabilities do not sum to 1.",
)
def nothing_forbidden(predicting):
    return predicting


@STEPS.slip("open_to", "Allowed and forbidden are exchanged: the mask says what *may* come.")
def allowed_forbidden(predicting, allowed):
    return predicting.masked_fill(allowed, -torch.inf)


@STEPS.slip("open_to", "What is not allowed gets the logit 0, which is a share like any other. Use -inf.")
def forbidden_with_zero(predicting, allowed):
    return predicting.masked_fill(~allowed, 0.0)


@STEPS.slip("log_probabilities", "The log-softmax is missing: these are sums of logits.")
def no_softmax(open_to):
    return open_to


@STEPS.slip("log_probabilities", "The logarithm is missing: probabilities of tokens are multiplied, not added up.")
def no_logarithm(open_to):
    return open_to.softmax(dim=-1)


@STEPS.slip("chosen", "You take the likeliest token's log-probability. Gather that of the completion's own token.")
def likeliest(log_probabilities):
    return log_probabilities.max(dim=-1).values


@STEPS.slip("logps", "You average over the tokens. A completion's log-probability is the sum of its tokens'.")
def averaged(chosen):
    return chosen.mean(dim=1)


@STEPS.slip("logps", "You keep one number for each token. Add them up: one for each completion, (K,).")
def not_summed(chosen):
    return chosen


@STEPS.slip("logps", "You return probabilities. Their logarithms are asked for.")
def exponentiated(logps):
    return logps.exp()


@STEPS.slip(
    "logits", "The gradient is missing: `.detach()` or `torch.no_grad()` is in the way, and nothing can be learnt."
)
def gradient_missing(logits):
    return logits.detach()


VOCABULARY = 5


def draw(draw: Draw) -> Case:
    """At each place the completion's token and perhaps others are allowed; at the last one now and then nothing else."""
    K, P, C = draw.size(3), draw.size(3), draw.size(3)
    ids = torch.tensor(draw.some(range(VOCABULARY), K * C)).view(K, C)
    allowed = draw.numbers(K, C, VOCABULARY, least=0.0, most=1.0) < 0.5
    allowed[:, -1] &= draw.random() < 0.5
    allowed.scatter_(-1, ids[..., None], True)
    return {"logits": draw.numbers(K, P + C, VOCABULARY), "completion_ids": ids, "allowed": allowed}


def boundary() -> list[Case]:
    ids = torch.tensor([[1, 0], [1, 2]])
    allowed = torch.zeros(2, 2, 3, dtype=torch.bool)
    allowed[:, 0, 1] = True
    allowed[:, 1, [0, 2]] = True
    chance = Draw("boundary")
    return [
        {"logits": chance.numbers(2, 4, 3), "completion_ids": ids, "allowed": allowed},
        {"logits": chance.numbers(1, 2, 3), "completion_ids": ids[:1, :1], "allowed": torch.ones(1, 1, 3).bool()},
    ]


def valid(case: Case) -> bool:
    """There is a prompt, and each token of a completion is one of the V and allowed."""
    logits, ids, allowed = case["logits"], case["completion_ids"], case["allowed"]
    if logits.size(1) <= ids.size(1) or ids.max() >= logits.size(2):
        return False
    return bool(allowed.gather(-1, ids[..., None]).all())


def smaller(case: Case) -> list[Case]:
    """Token 0 at every place: a vocabulary of few tokens is then enough."""
    ids = case["completion_ids"]
    return [case | {"completion_ids": torch.zeros_like(ids)}] if ids.any() else []


EXERCISE = Exercise(
    name="log-probabilities of all completions",
    function="constrained_logps",
    steps=STEPS,
    arguments={"logits": Numbers("B L V"), "completion_ids": Things("B C"), "allowed": Mask("B C V")},
    result=TensorOf("B"),
    draw=draw,
    boundary=boundary,
    gradient="logits",
    valid=valid,
    smaller=smaller,
    draws=24,
)
