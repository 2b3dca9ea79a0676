"""The reverse KL token by token: `reverse_kl(logits, teacher_logits) -> kl (B, C)`, from (B, C, V) each."""

import torch

from shared.exercises.arguments import Numbers
from shared.exercises.catalogue.common import divergence
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()
STEPS.step(divergence.logps)
STEPS.step(divergence.teacher_logps)


@STEPS.step
def weights(logps):
    return logps.exp()


@STEPS.step
def log_ratio(logps, teacher_logps):
    return logps - teacher_logps


STEPS.step(divergence.kl)


@STEPS.slip(
    "kl",
    "This is the forward KL, KL(p || pi): the weights and the first logarithm are the teacher's. In the reverse one both "
    "are the student's.",
)
def forward(logps, teacher_logps):
    return (teacher_logps.exp() * (teacher_logps - logps)).sum(dim=-1)


@STEPS.slip(
    "weights",
    "The weights are the teacher's probabilities, and the log-ratio is the student's over the teacher's: that is minus "
    "the forward KL. The reverse one weights with the student's.",
)
def weighted_by_teacher(teacher_logps):
    return teacher_logps.exp()


@STEPS.slip(
    "weights", "The weights are the exponentials of the student's logits. They are probabilities only after a softmax."
)
def exponentials_of_logits(logits):
    return logits.exp()


@STEPS.slip(
    "log_ratio",
    "You subtract logits. They are log-probabilities only after `log_softmax`: each distribution has a constant of its own.",
)
def difference_of_logits(logits, teacher_logits):
    return logits - teacher_logits


@STEPS.slip(
    "logits",
    "The gradient is missing: the logits are detached, or only the weights. With detached weights what is left is the mean "
    "of the score, which is 0: let the gradient go through the probabilities too.",
)
def gradient_missing(logits):
    return logits.detach()


@STEPS.slip("kl", "This is the entropy of the student with its sign flipped: the teacher does not occur.")
def teacher_forgotten(weights, logps):
    return (weights * logps).sum(dim=-1)


STEPS.add(*divergence.SLIPS, *divergence.numbers_added("teacher_logps", "teacher_logits"))


def draw(draw: Draw) -> Case:
    far = draw.choice([0.5, 2.0, 5.0])
    shape = (draw.size(3), draw.size(3), draw.size(5, least=2))
    return {
        "logits": draw.numbers(*shape, least=-far, most=far),
        "teacher_logits": draw.numbers(*shape, least=-far, most=far),
    }


def boundary() -> list[Case]:
    pairs = [
        ([[[0.0, 0.0]]], [[[0.0, 0.0]]]),
        ([[[0.0, 0.0]]], [[[0.0, 1.0]]]),
        ([[[0.0, 0.0]]], [[[0.0, -40.0]]]),
        ([[[0.0, -40.0]]], [[[0.0, 0.0]]]),
        ([[[0.0, -120.0]]], [[[0.0, 0.0]]]),
        ([[[0.0, -120.0]]], [[[0.0, -120.0]]]),
        ([[[1.0, 2.0, 4.0]]], [[[1.0, 2.0, 4.0]]]),
        ([[[20.0, -20.0, 0.0], [1.0, 2.0, 4.0]]], [[[0.0, 10.0, 0.0], [4.0, 2.0, 1.0]]]),
        ([[[1.0, 0.0], [0.5, 2.0]], [[3.0, 3.0], [0.0, 1.0]]], [[[0.0, 2.0], [2.0, 0.5]], [[3.0, 0.0], [5.0, 1.0]]]),
    ]
    return [{"logits": torch.tensor(one), "teacher_logits": torch.tensor(other)} for one, other in pairs]


EXERCISE = Exercise(
    name="reverse KL of a token",
    function="reverse_kl",
    contract="`f(logits (B, C, V), teacher_logits (B, C, V)) -> KL(student || teacher) (B, C)` in nats.",
    steps=STEPS,
    arguments={"logits": Numbers("B C V"), "teacher_logits": Numbers("B C V")},
    result=TensorOf("B C"),
    gradient="logits",
    draw=draw,
    boundary=boundary,
)
