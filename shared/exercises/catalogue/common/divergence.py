"""Steps and slips of a KL over the vocabulary, from logits (B, C, V) of a student and of a teacher.

The two directions differ in whose probabilities weigh the sum and whose logarithm comes first; the rest is alike.
"""

import math

from shared.exercises.steps import Part, Slip

TEMPERATURE = 0.3  # of the teacher in the chapter


def logps(logits):
    return logits.log_softmax(dim=-1)


def teacher_logps(teacher_logits):
    return teacher_logits.log_softmax(dim=-1)


def kl(weights, log_ratio):
    return (weights * log_ratio).sum(dim=-1)


def student_not_normalised(logits):
    return logits


def teacher_not_normalised(teacher_logits):
    return teacher_logits


def negative(kl):
    return -kl


def averaged_over_vocabulary(weights, log_ratio):
    return (weights * log_ratio).mean(dim=-1)


def unweighted(log_ratio):
    return log_ratio.sum(dim=-1)


def along_tokens(logits):
    return logits.log_softmax(dim=1)


def teacher_along_tokens(teacher_logits):
    return teacher_logits.log_softmax(dim=1)


def averaged(kl):
    return kl.mean()


def student_underflows(logits):
    return logits.softmax(dim=-1).log()


def teacher_underflows(teacher_logits):
    return teacher_logits.softmax(dim=-1).log()


def divided_by_temperature(teacher_logits):
    return teacher_logits / TEMPERATURE


def both_directions(logps, teacher_logps):
    return ((logps.exp() - teacher_logps.exp()) * (logps - teacher_logps)).sum(dim=-1)


def jensen_shannon(logps, teacher_logps):
    middle = ((logps.exp() + teacher_logps.exp()) / 2).log()
    student = (logps.exp() * (logps - middle)).sum(dim=-1)
    teacher = (teacher_logps.exp() * (teacher_logps - middle)).sum(dim=-1)
    return (student + teacher) / 2


def absolute(log_ratio):
    return log_ratio.abs()


def in_bits(kl):
    return kl / math.log(2)


def numbers_added(step: str, argument: str) -> list[Slip]:
    """The slips that add a usual small number inside of the logarithm of this step, made from these logits."""
    slips = []
    for number in (1e-6, 1e-8, 1e-9, 1e-10, 1e-12):

        def number_added(logits, number=number):
            return (logits.softmax(dim=-1) + number).log()

        number_added.__name__ = f"{number:.0e}_added"
        slips.append(Slip(step, NUMBER_ADDED, Part(number_added, (argument,))))
    return slips


NUMBER_ADDED = (
    "A small number is added inside of the logarithm: a token of next to no probability then costs less than it should, "
    "18 nats at most with 1e-8. `log_softmax` needs no such number."
)
UNDERFLOW = (
    "The logarithm of a softmax: where a probability is too small for its number it is 0, and its logarithm minus infinity. "
    "`log_softmax` stays finite there."
)
STUDENT_UNDERFLOWS = Slip.of("logps", UNDERFLOW, student_underflows)
TEACHER_UNDERFLOWS = Slip.of("teacher_logps", UNDERFLOW, teacher_underflows)
STUDENT_NOT_NORMALISED = Slip.of(
    "logps", "The student's logits are no log-probabilities yet: take their log-softmax.", student_not_normalised
)
TEACHER_NOT_NORMALISED = Slip.of(
    "teacher_logps",
    "The teacher's logits are no log-probabilities yet: take their log-softmax.",
    teacher_not_normalised,
)
NEGATIVE = Slip.of(
    "kl",
    "The sign is flipped: a KL is never negative. The logarithm of the probabilities that are the weights comes first.",
    negative,
)
AVERAGED_OVER_VOCABULARY = Slip.of(
    "kl",
    "You take the mean over the vocabulary. A KL is a sum: each term has its probability already.",
    averaged_over_vocabulary,
)
UNWEIGHTED = Slip.of(
    "kl", "The probabilities are missing: you sum the log-ratios over the vocabulary, each token alike.", unweighted
)
ALONG_TOKENS = Slip.of(
    "logps",
    "The student's softmax runs along the wrong axis: over the tokens of the completion. The vocabulary is the last.",
    along_tokens,
)
TEACHER_ALONG_TOKENS = Slip.of(
    "teacher_logps",
    "The teacher's softmax runs along the wrong axis: over the tokens of the completion. The vocabulary is the last.",
    teacher_along_tokens,
)
AVERAGED = Slip.of(
    "kl", "You return one number. Keep one for each token, (B, C): the mask decides later which ones count.", averaged
)
BOTH_DIRECTIONS = Slip.of("kl", "You add the KL of both directions. Asked for is one of them.", both_directions)
JENSEN_SHANNON = Slip.of(
    "kl",
    "This is the Jensen-Shannon divergence, with the mean of both distributions in the logarithm. Asked for is a KL.",
    jensen_shannon,
)
ABSOLUTE = Slip.of(
    "log_ratio",
    "You take the size of each log-ratio, without its sign. Terms of a KL may be negative; their sum is not.",
    absolute,
)
DIVIDED_BY_TEMPERATURE = Slip.of(
    "teacher_logits",
    "You divide the teacher's logits by the temperature. They come in divided: asked for is the KL of the logits as they "
    "are.",
    divided_by_temperature,
)
IN_BITS = Slip.of("kl", "This is in bits: a logarithm of base 2. Asked for are nats, the natural logarithm.", in_bits)
SLIPS = (
    STUDENT_UNDERFLOWS,
    TEACHER_UNDERFLOWS,
    STUDENT_NOT_NORMALISED,
    TEACHER_NOT_NORMALISED,
    NEGATIVE,
    AVERAGED_OVER_VOCABULARY,
    UNWEIGHTED,
    ALONG_TOKENS,
    TEACHER_ALONG_TOKENS,
    AVERAGED,
    BOTH_DIRECTIONS,
    JENSEN_SHANNON,
    ABSOLUTE,
    IN_BITS,
    DIVIDED_BY_TEMPERATURE,
)
