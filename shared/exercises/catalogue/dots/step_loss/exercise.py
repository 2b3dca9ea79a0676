"""One step: `step_loss(model, reference, rollout, rewards, beta, epsilon) -> loss`, put together from right parts."""

from shared.exercises.arguments import Kind, Numbers, Scalar
from shared.exercises.catalogue import advantages, kl, logps, loss
from shared.exercises.catalogue.grpo_step import into_the_loss, scoring
from shared.exercises.catalogue.grpo_step.cases import boundary, draw, smaller, valid
from shared.exercises.catalogue.grpo_step.steps import STEPS
from shared.exercises.exercise import Exercise
from shared.exercises.results import TensorOf

for idea in (scoring, into_the_loss):
    STEPS.add(*idea.SLIPS)


EXERCISE = Exercise(
    name="GRPO step",
    function="step_loss",
    steps=STEPS,
    arguments={
        "model": Kind(),
        "reference": Kind(),
        "rollout": Kind(),
        "rewards": Numbers(),
        "beta": Scalar(usual=0.02),
        "epsilon": Scalar(usual=0.2, simple=(0.5,)),
    },
    result=TensorOf(""),
    draw=draw,
    boundary=boundary,
    gradient="model",
    smaller=smaller,
    valid=valid,
    needs=(kl.EXERCISE, logps.EXERCISE, advantages.EXERCISE, loss.EXERCISE),
    tolerance=2e-3,
    draws=12,
)
