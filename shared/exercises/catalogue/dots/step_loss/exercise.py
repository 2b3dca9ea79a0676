"""One step: `step_loss(model, reference, rollout, rewards, beta, epsilon) -> loss`, put together from right parts."""

from shared.exercises.arguments import Kind, Numbers, Scalar
from shared.exercises.catalogue.dots import completion_logps, group_advantages, grpo_loss, per_token_kl
from shared.exercises.catalogue.dots.step_loss import into_the_loss, scoring
from shared.exercises.catalogue.dots.step_loss.cases import boundary, call, draw, smaller, valid
from shared.exercises.catalogue.dots.step_loss.steps import STEPS
from shared.exercises.exercise import Exercise
from shared.exercises.results import TensorOf

for idea in (scoring, into_the_loss):
    STEPS.add(*idea.SLIPS)


EXERCISE = Exercise(
    name="GRPO step",
    function="step_loss",
    contract="`f(model, reference, rollout, rewards (B,), beta, epsilon) -> loss`, put together from the parts above.",
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
    call=call,
    needs=(per_token_kl.EXERCISE, completion_logps.EXERCISE, group_advantages.EXERCISE, grpo_loss.EXERCISE),
    tolerance=2e-3,
    draws=12,
    long=40,
    shows=("shared.exercises.stand_ins.tiny_model", "shared.rollout_record"),
)
