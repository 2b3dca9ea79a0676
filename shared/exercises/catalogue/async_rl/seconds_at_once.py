"""The bill of two machines that work at the same time: `seconds_at_once(sampling, learning, updates) -> seconds`."""

from shared.exercises.arguments import Scalar
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Number
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def beat(sampling, learning):
    """The seconds between two updates: the slower machine sets them."""
    return max(sampling, learning)


@STEPS.step
def beats(updates):
    return updates - 1


@STEPS.step
def ends(sampling, learning):
    """The first rollout, for which the learner waits, and the last update."""
    return sampling + learning


@STEPS.step
def seconds(beat, beats, ends):
    return ends + beats * beat


@STEPS.slip(
    "beat", "Between two updates you count both, as if one machine waited for the other. The slower one decides."
)
def in_turn(sampling, learning):
    return sampling + learning


@STEPS.slip("beat", "The faster machine sets your beat. It has to wait for the slower one.")
def faster_decides(sampling, learning):
    return min(sampling, learning)


@STEPS.slip(
    "beat", "Your beat is the learner's, also where sampling takes longer: then the learner waits for a rollout."
)
def learner_decides(learning):
    return learning


@STEPS.slip("beat", "Your beat is the sampler's, also where learning takes longer: then rollouts wait in the queue.")
def sampler_decides(sampling):
    return sampling


@STEPS.slip("beats", "One beat too many: between so many updates there is one gap less than there are updates.")
def one_beat_more(updates):
    return updates


@STEPS.slip("ends", "The first rollout is missing: nothing can be learnt before it is there.")
def first_rollout_forgotten(learning):
    return learning


@STEPS.slip("ends", "The last update is missing: the beats count up to its beginning.")
def last_update_forgotten(sampling):
    return sampling


@STEPS.slip("ends", "The first rollout and the last update are missing: during these one machine works alone.")
def no_ends():
    return 0.0


def draw(draw: Draw) -> Case:
    return {
        "sampling": draw.number(0.1, 5.0),
        "learning": draw.number(0.1, 5.0),
        "updates": draw.size(40),
    }


def boundary() -> list[Case]:
    triples = [(1.0, 2.0, 1), (2.0, 1.0, 1), (1.0, 2.0, 3), (2.0, 1.0, 3), (1.0, 1.0, 4)]
    return [dict(zip(("sampling", "learning", "updates"), triple)) for triple in triples]


EXERCISE = Exercise(
    name="seconds of two machines",
    function="seconds_at_once",
    contract="`f(sampling, learning, updates) -> seconds` until the last update ends, sampling and learning at the same time.",
    steps=STEPS,
    arguments={
        "sampling": Scalar(usual=1.0, simple=(1.0, 2.0)),
        "learning": Scalar(usual=2.0, simple=(1.0, 2.0)),
        "updates": Scalar(usual=48, simple=(1, 2, 3)),
    },
    result=Number(),
    draw=draw,
    boundary=boundary,
    valid=lambda case: case["sampling"] > 0 and case["learning"] > 0 and case["updates"] >= 1,
)
