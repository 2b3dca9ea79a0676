"""A detector's two rates: `alarm_rates(calm, honest, hacked, allowed) -> (hit, false alarm)`.

The threshold is set on `calm`, runs that nobody hacked: so many of them as are allowed lie above it. The rates are the
shares of other runs above it: of those that were hacked, and of those that were not.
"""

import torch

from shared.exercises.arguments import Scalar, Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import NotAResult, TensorOf, as_numbers, named
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def threshold(calm, allowed):
    return sorted(calm, reverse=True)[allowed]


@STEPS.step
def hit(hacked, threshold):
    return sum(value > threshold for value in hacked) / len(hacked)


@STEPS.step
def false_alarm(honest, threshold):
    return sum(value > threshold for value in honest) / len(honest)


@STEPS.step
def rates(hit, false_alarm):
    return hit, false_alarm


@STEPS.slip(
    "threshold", "The largest value of the calm runs is your threshold: some of them are allowed to lie above it."
)
def largest(calm):
    return max(calm)


@STEPS.slip("threshold", "One calm run too many lies above your threshold.")
def one_too_many(calm, allowed):
    return sorted(calm, reverse=True)[min(allowed + 1, len(calm) - 1)]


@STEPS.slip("threshold", "One calm run less than allowed lies above your threshold.")
def one_less(calm, allowed):
    return sorted(calm, reverse=True)[max(allowed - 1, 0)]


@STEPS.slip("threshold", "The calm runs are in rising order in yours: nearly all of them lie above the threshold.")
def from_below(calm, allowed):
    return sorted(calm)[allowed]


@STEPS.slip("threshold", "The mean of the calm runs is your threshold. Half of them would raise an alarm.")
def mean(calm):
    return sum(calm) / len(calm)


@STEPS.slip("threshold", "The threshold is set on the runs on which it is scored: set it on `calm`.")
def on_the_scored(honest, allowed):
    return sorted(honest, reverse=True)[min(allowed, len(honest) - 1)]


@STEPS.slip("threshold", "The order in which the calm runs came is taken for the order of their values: sort them.")
def not_sorted(calm, allowed):
    return calm[allowed]


@STEPS.slip("hit", "A hacked run just at the threshold raises an alarm in yours. An alarm lies above.")
def hit_at_the_threshold(hacked, threshold):
    return sum(value >= threshold for value in hacked) / len(hacked)


@STEPS.slip("hit", "You count the hacked runs below the threshold. These are missed.")
def missed(hacked, threshold):
    return sum(value <= threshold for value in hacked) / len(hacked)


@STEPS.slip("hit", "The hits are counted. A rate is a share of the hacked runs.")
def hits_counted(hacked, threshold):
    return float(sum(value > threshold for value in hacked))


@STEPS.slip("hit", "The hits are divided by all runs that are scored. The rate is of those that were hacked.")
def hits_of_all(hacked, honest, threshold):
    return sum(value > threshold for value in hacked) / (len(hacked) + len(honest))


@STEPS.slip("false_alarm", "An honest run just at the threshold raises an alarm in yours. An alarm lies above.")
def alarm_at_the_threshold(honest, threshold):
    return sum(value >= threshold for value in honest) / len(honest)


@STEPS.slip("false_alarm", "You count the honest runs without an alarm. Those with one are asked for.")
def rightly_silent(honest, threshold):
    return sum(value <= threshold for value in honest) / len(honest)


@STEPS.slip("false_alarm", "The false alarms are counted. A rate is a share of the honest runs.")
def alarms_counted(honest, threshold):
    return float(sum(value > threshold for value in honest))


@STEPS.slip(
    "false_alarm", "False alarms are taken on the runs that set the threshold: there it is right by construction."
)
def on_the_calm(calm, threshold):
    return sum(value > threshold for value in calm) / len(calm)


@STEPS.slip(
    "false_alarm", "You give the share of alarms that are false. Asked is the share of honest runs with an alarm."
)
def of_the_alarms(honest, hacked, threshold):
    alarms = [sum(value > threshold for value in runs) for runs in (honest, hacked)]
    return alarms[0] / max(1, sum(alarms))


@STEPS.slip("rates", "The two rates are exchanged: hits come first.")
def exchanged(hit, false_alarm):
    return false_alarm, hit


def call(function, case: Case) -> torch.Tensor:
    """The two rates as a tensor. Raises NotAResult for what is no pair."""
    rates = function(*case.values())
    if not isinstance(rates, tuple | list) or len(rates) != 2:
        raise NotAResult(f"it returns {named(rates)}; return two numbers, `hit, false_alarm`.")
    return torch.stack([as_numbers(rate).double().reshape(()) for rate in rates])


def draw(draw: Draw) -> Case:
    """Values on a coarse grid, so that some lie just at the threshold."""
    unit = draw.choice([0.1, 0.25, 1.0, 5.0])

    def values(least: int, most: int, count: int) -> list[float]:
        return [draw.randint(least, most) * unit for _ in range(count)]

    calm = values(-4, 6, draw.size(6))
    return {
        "calm": calm,
        "honest": values(-4, 8, draw.size(5)),
        "hacked": values(-2, 12, draw.size(5)),
        "allowed": draw.randint(0, len(calm) - 1),
    }


def boundary() -> list[Case]:
    calm = [0.2, 0.5, 0.1, 0.9, 0.3]
    found = []
    for allowed in (0, 1, 2, 4):
        found.append({"calm": calm, "honest": [0.5, 0.6, 0.2, 0.1], "hacked": [0.5, 0.95, 0.7], "allowed": allowed})
    return [*found, {"calm": [0.5, 0.5, 0.1], "honest": [0.5], "hacked": [0.5, 1.0], "allowed": 1}]


def valid(case: Case) -> bool:
    """True where each list has a run, and fewer are allowed above the threshold than there are."""
    return all(case[name] for name in ("calm", "honest", "hacked")) and 0 <= case["allowed"] < len(case["calm"])


EXERCISE = Exercise(
    name="a detector's rates",
    function="alarm_rates",
    contract="`f(calm, honest, hacked, allowed) -> (hit, false_alarm)`: the shares of hacked and of honest runs above the "
    "threshold, above which `allowed` of the calm runs lie.",
    steps=STEPS,
    arguments={
        "calm": Things("K"),
        "honest": Things("L"),
        "hacked": Things("M"),
        "allowed": Scalar(usual=1, simple=(0, 1)),
    },
    result=TensorOf(""),
    call=call,
    draw=draw,
    boundary=boundary,
    valid=valid,
)
