"""The loss of a step: `distillation_loss(logits, teacher_logits, completion_mask) -> loss`, the mean reverse KL of a token."""

import torch

from shared.exercises.arguments import Mask, Numbers
from shared.exercises.catalogue.common.token_mean import SLIPS, add_mean
from shared.exercises.catalogue.distillation import reverse_kl as of_a_token
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def fixed(teacher_logits):
    return teacher_logits.detach()


@STEPS.step
def per_token(logits, fixed):
    logps = logits.log_softmax(dim=-1)
    return (logps.exp() * (logps - fixed.log_softmax(dim=-1))).sum(dim=-1)


add_mean(STEPS)


@STEPS.slip(
    "fixed",
    "The gradient reaches the teacher's logits. The teacher is fixed: detach them, or where teacher and student share "
    "weights the teacher is drawn to the student as well.",
)
def teacher_learns(teacher_logits):
    return teacher_logits


@STEPS.slip("per_token", "This is the forward KL. On the student's own samples the loss is the reverse one.")
def forward(logits, fixed):
    teacher_logps = fixed.log_softmax(dim=-1)
    return (teacher_logps.exp() * (teacher_logps - logits.log_softmax(dim=-1))).sum(dim=-1)


STEPS.add(*SLIPS)


@STEPS.slip("mean", "The sign is flipped: the loss is the divergence itself, and it is made small.")
def negative(mean):
    return -mean


@STEPS.slip(
    "tokens",
    "You divide by the number of completions times the length of the longest. Divide by the number of real tokens.",
)
def by_the_longest(completion_mask):
    return len(completion_mask) * completion_mask.sum(dim=1).max()


@STEPS.slip("logits", "The gradient is missing: the student learns through its logits. Do not detach them.")
def gradient_missing(logits):
    return logits.detach()


@STEPS.slip(
    "per_token",
    "This is a cross-entropy: the student's own entropy is missing, and it does not become 0 where the two agree.",
)
def cross_entropy(logits, fixed):
    return -(logits.softmax(dim=-1) * fixed.log_softmax(dim=-1)).sum(dim=-1)


@STEPS.slip(
    "per_token", "This is the squared distance of the logits. Asked for is the reverse KL of the distributions."
)
def squared_distance(logits, fixed):
    return ((logits - fixed) ** 2).mean(dim=-1)


def draw(draw: Draw) -> Case:
    B, C, V = draw.size(3), draw.size(3), draw.size(4, least=2)
    far = draw.choice([0.5, 2.0, 4.0])
    return {
        "logits": draw.numbers(B, C, V, least=-far, most=far),
        "teacher_logits": draw.numbers(B, C, V, least=-far, most=far),
        "completion_mask": draw.mask(B, C) * draw.choice([1, 1, 1.0]),
    }


def boundary() -> list[Case]:
    logits = torch.tensor([[[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]], [[1.0, 0.0], [0.5, 0.0], [3.0, 0.0]]])
    teacher = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [5.0, 0.0]], [[0.0, 2.0], [0.0, 4.0], [0.0, 1.0]]])
    masks = [[[1, 1, 1], [1, 1, 1]], [[1, 1, 0], [1, 0, 0]], [[1, 0, 0], [1, 1, 1]]]
    cases = [(logits[:1, :1], teacher[:1, :1], [[1]]), (logits[:1, :1], logits[:1, :1], [[1]])]
    cases += [(logits, teacher, mask) for mask in masks]
    return [
        {"logits": one.clone(), "teacher_logits": other.clone(), "completion_mask": torch.tensor(mask)}
        for one, other, mask in cases
    ]


EXERCISE = Exercise(
    name="loss of a distillation",
    function="distillation_loss",
    contract="`f(logits (B, C, V), teacher_logits (B, C, V), completion_mask (B, C)) -> loss`, with a gradient by the "
    "student's logits alone.",
    steps=STEPS,
    arguments={"logits": Numbers("B C V"), "teacher_logits": Numbers("B C V"), "completion_mask": Mask("B C")},
    result=TensorOf(""),
    gradient="logits teacher_logits",
    relevant="completion_mask",
    needs=(of_a_token.EXERCISE,),
    draw=draw,
    long=40,
    boundary=boundary,
    valid=lambda case: bool((case["completion_mask"].sum(dim=1) > 0).all()),
)
