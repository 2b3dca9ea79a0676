"""The forward KL token by token: `forward_kl(logits, teacher_logits) -> kl (B, C)`, from (B, C, V) each."""

from shared.exercises.arguments import Numbers
from shared.exercises.catalogue.distillation.reverse_kl import boundary, draw
from shared.exercises.exercise import Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def logps(logits):
    return logits.log_softmax(dim=-1)


@STEPS.step
def teacher_logps(teacher_logits):
    return teacher_logits.log_softmax(dim=-1)


@STEPS.step
def weights(teacher_logps):
    return teacher_logps.exp()


@STEPS.step
def log_ratio(logps, teacher_logps):
    return teacher_logps - logps


@STEPS.step
def kl(weights, log_ratio):
    return (weights * log_ratio).sum(dim=-1)


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


@STEPS.slip("kl", "The sign is flipped: a KL is never negative. The teacher's logarithm comes first.")
def negative(kl):
    return -kl


@STEPS.slip("kl", "You take the mean over the vocabulary. A KL is a sum: each term has its probability already.")
def averaged_over_vocabulary(weights, log_ratio):
    return (weights * log_ratio).mean(dim=-1)


@STEPS.slip("kl", "The probabilities are missing: you sum the log-ratios over the vocabulary, each token alike.")
def unweighted(log_ratio):
    return log_ratio.sum(dim=-1)


@STEPS.slip(
    "log_ratio",
    "You subtract logits. They are log-probabilities only after `log_softmax`: each distribution has a constant of its own.",
)
def difference_of_logits(logits, teacher_logits):
    return teacher_logits - logits


@STEPS.slip("logits", "The gradient is missing: the student learns through its logits. Do not detach them.")
def gradient_missing(logits):
    return logits.detach()


@STEPS.slip(
    "logps", "The softmax runs along the wrong axis: over the tokens of the completion. The vocabulary is the last."
)
def along_tokens(logits):
    return logits.log_softmax(dim=1)


@STEPS.slip("kl", "You return one number. Keep one for each token, (B, C): the mask decides later which ones count.")
def averaged(kl):
    return kl.mean()


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
