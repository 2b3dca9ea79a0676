"""The forward KL token by token: `forward_kl(logits, teacher_logits) -> kl (B, C)`, from (B, C, V) each."""

from shared.exercises.arguments import Numbers
from shared.exercises.catalogue.common import divergence
from shared.exercises.catalogue.distillation import reverse_kl
from shared.exercises.catalogue.distillation.reverse_kl import draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()
STEPS.step(divergence.logps)
STEPS.step(divergence.teacher_logps)


@STEPS.step
def weights(teacher_logps):
    return teacher_logps.exp()


@STEPS.step
def log_ratio(logps, teacher_logps):
    return teacher_logps - logps


STEPS.step(divergence.kl)


@STEPS.slip(
    "kl",
    "This is the reverse KL, KL(pi || p): the weights and the first logarithm are the student's. In the forward one both "
    "are the teacher's.",
)
def reverse(logps, teacher_logps):
    return (logps.exp() * (logps - teacher_logps)).sum(dim=-1)


@STEPS.slip(
    "weights",
    "The weights are the student's probabilities, and the log-ratio is the teacher's over the student's: that is minus "
    "the reverse KL. The forward one weights with the teacher's.",
)
def weighted_by_student(logps):
    return logps.exp()


@STEPS.slip(
    "kl",
    "This is the cross-entropy: the entropy of the teacher is still in it. The gradient is the same, but the value does "
    "not become 0 where the two agree.",
)
def cross_entropy(weights, logps):
    return -(weights * logps).sum(dim=-1)


@STEPS.slip(
    "weights", "The weights are the exponentials of the teacher's logits. They are probabilities only after a softmax."
)
def exponentials_of_logits(teacher_logits):
    return teacher_logits.exp()


@STEPS.slip(
    "log_ratio",
    "You subtract logits. They are log-probabilities only after `log_softmax`: each distribution has a constant of its own.",
)
def difference_of_logits(logits, teacher_logits):
    return teacher_logits - logits


@STEPS.slip(
    "log_ratio",
    "In the difference the teacher's logits stand for log-probabilities. They are none yet: take their log-softmax.",
)
def teacher_logits_in_the_difference(logps, teacher_logits):
    return teacher_logits - logps


@STEPS.slip(
    "kl",
    "You subtract one average entropy of all tokens from each cross-entropy. Each token has the teacher's entropy of its "
    "own.",
)
def average_entropy(weights, logps, teacher_logps):
    entropy = -(weights * teacher_logps).sum(dim=-1)
    return -(weights * logps).sum(dim=-1) - entropy.mean()


@STEPS.slip("logits", "The gradient is missing: the student learns through its logits. Do not detach them.")
def gradient_missing(logits):
    return logits.detach()


@STEPS.slip("kl", "Only the teacher's likeliest token counts. The KL is a sum over the whole vocabulary.")
def likeliest_alone(teacher_logps, log_ratio):
    return log_ratio.gather(-1, teacher_logps.argmax(dim=-1, keepdim=True)).squeeze(-1)


@STEPS.slip(
    "kl",
    "The entropy that you take off the cross-entropy is the student's. It is the teacher's, with the teacher's logarithm.",
)
def entropy_of_the_student(weights, logps):
    return ((logps.exp() - weights) * logps).sum(dim=-1)


STEPS.add(*divergence.SLIPS, *divergence.numbers_added("logps", "logits"))


def boundary() -> list[Case]:
    """Those of the other divergence with the two models exchanged, as in the formula."""
    return [{"logits": case["teacher_logits"], "teacher_logits": case["logits"]} for case in reverse_kl.boundary()]


EXERCISE = Exercise(
    name="forward KL of a token",
    function="forward_kl",
    contract="`f(logits (B, C, V), teacher_logits (B, C, V)) -> KL(teacher || student) (B, C)` in nats.",
    steps=STEPS,
    arguments={"logits": Numbers("B C V"), "teacher_logits": Numbers("B C V")},
    result=TensorOf("B C"),
    gradient="logits",
    draw=draw,
    boundary=boundary,
)
