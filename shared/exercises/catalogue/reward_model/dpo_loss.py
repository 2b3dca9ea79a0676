"""DPO's loss: `dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta) -> loss`, log-probabilities (N,) each."""

import torch

from shared.exercises.arguments import Numbers, Scalar
from shared.exercises.catalogue.common.every_loss import LOSS_SLIPS
from shared.exercises.catalogue.common.likelihood import (
    LOGARITHM_MISSING,
    LOGARITHM_OVERFLOWS,
    LOGARITHMS_OF_THE_MEAN,
    MARGIN_ITSELF,
    MARGINS_CLAMPED,
    NOT_AVERAGED,
    NUMBERS_ADDED,
    SIGN_MISSING,
    add_likelihood,
)
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()
EACH_BY_ITSELF = "You take the log-sigmoid of each completion's implicit reward by itself. It is taken of their difference, the margin."


@STEPS.step
def of_chosen(chosen, ref_chosen):
    """The log-ratio to the reference."""
    return chosen - ref_chosen


@STEPS.step
def of_rejected(rejected, ref_rejected):
    return rejected - ref_rejected


@STEPS.step
def margin(of_chosen, of_rejected, beta):
    """The margin of the implicit rewards."""
    return beta * (of_chosen - of_rejected)


add_likelihood(STEPS)


@STEPS.slip("of_chosen", "The chosen completion is not compared with the reference: subtract ref_chosen.")
def chosen_without_reference(chosen):
    return chosen


@STEPS.slip(
    "margin",
    "You go back to probabilities: of a completion with a log-probability of -300 that is 0 to a float, and its logarithm is "
    "lost. Subtract log-probabilities.",
)
def by_probabilities(chosen, rejected, ref_chosen, ref_rejected, beta):
    of_chosen = torch.exp(chosen) / torch.exp(ref_chosen)
    of_rejected = torch.exp(rejected) / torch.exp(ref_rejected)
    return beta * (torch.log(of_chosen) - torch.log(of_rejected))


@STEPS.slip("of_rejected", "The rejected completion is not compared with the reference: subtract ref_rejected.")
def rejected_without_reference(rejected):
    return rejected


@STEPS.slip("of_chosen", "The log-ratio of the chosen is upside down: it is the policy's minus the reference's.")
def chosen_upside_down(chosen, ref_chosen):
    return ref_chosen - chosen


@STEPS.slip("of_rejected", "The log-ratio of the rejected is upside down: it is the policy's minus the reference's.")
def rejected_upside_down(rejected, ref_rejected):
    return ref_rejected - rejected


@STEPS.slip("margin", "beta is missing: the implicit reward is beta times the log-ratio.")
def beta_missing(of_chosen, of_rejected):
    return of_chosen - of_rejected


@STEPS.slip("margin", "You divide by beta. The implicit reward is beta times the log-ratio.")
def beta_divides(of_chosen, of_rejected, beta):
    return (of_chosen - of_rejected) / beta


@STEPS.slip("margin", "The rejected completion does not occur: raising the chosen one alone is supervised training.")
def rejected_forgotten(of_chosen, beta):
    return beta * of_chosen


@STEPS.slip("beta", "beta is written down as 0.1: the argument changes nothing. Use `beta`.")
def beta_hard_coded():
    return 0.1


STEPS.add(
    LOGARITHM_MISSING,
    LOGARITHM_OVERFLOWS,
    *NUMBERS_ADDED,
    MARGIN_ITSELF,
    *LOSS_SLIPS.named("summed"),
    NOT_AVERAGED,
    SIGN_MISSING,
)


@STEPS.slip("chosen", "The chosen log-probabilities are detached: nothing raises them.")
def chosen_detached(chosen):
    return chosen.detach()


@STEPS.slip("rejected", "The rejected log-probabilities are detached: nothing pushes them down.")
def rejected_detached(rejected):
    return rejected.detach()


@STEPS.slip("margin", "beta multiplies the policy alone. It multiplies the log-ratio, the reference included.")
def beta_of_the_policy_alone(chosen, rejected, ref_chosen, ref_rejected, beta):
    return beta * (chosen - rejected) - (ref_chosen - ref_rejected)


@STEPS.slip("loss", "beta multiplies the loss. It multiplies the log-ratios, inside of the sigmoid.")
def beta_outside(of_chosen, of_rejected, beta):
    return -beta * torch.nn.functional.logsigmoid(of_chosen - of_rejected).mean()


@STEPS.slip("margin", "The log-probabilities are divided by the reference's. A log-ratio is their difference.")
def logarithms_divided(chosen, rejected, ref_chosen, ref_rejected, beta):
    return beta * (chosen / ref_chosen - rejected / ref_rejected)


@STEPS.slip(
    "margin",
    "The log-probabilities are divided, and a logarithm is taken, as if they were probabilities. Subtract the reference's.",
)
def logarithms_of_logarithms(chosen, rejected, ref_chosen, ref_rejected, beta):
    return beta * (torch.log(chosen / ref_chosen) - torch.log(rejected / ref_rejected))


@STEPS.slip("margin", "The reference does not occur: the implicit reward is beta times log pi minus log pi_ref.")
def reference_forgotten(chosen, rejected, beta):
    return beta * (chosen - rejected)


@STEPS.slip("margin", "The margin is upside down: chosen minus rejected, and in each the policy minus the reference.")
def margin_upside_down(of_chosen, of_rejected, beta):
    return beta * (of_rejected - of_chosen)


@STEPS.slip("margin", "beta multiplies the chosen completion's log-ratio alone. It multiplies both.")
def beta_of_the_chosen_alone(of_chosen, of_rejected, beta):
    return beta * of_chosen - of_rejected


@STEPS.slip("margin", "This is the loss of the mean margin. Asked for is the mean of the losses, one for each pair.")
def mean_margin(of_chosen, of_rejected, beta):
    return beta * (of_chosen - of_rejected).mean()


STEPS.add(*LOGARITHMS_OF_THE_MEAN, *MARGINS_CLAMPED)


@STEPS.slip("log_probability", EACH_BY_ITSELF)
def each_by_itself(of_chosen, of_rejected, beta):
    return sides(of_chosen, of_rejected, beta) / 2


@STEPS.slip("log_probability", EACH_BY_ITSELF)
def each_by_itself_added_up(of_chosen, of_rejected, beta):
    return sides(of_chosen, of_rejected, beta)


def sides(of_chosen, of_rejected, beta):
    """The log-sigmoids of the chosen completion's implicit reward and of minus the rejected one's, added up."""
    return torch.nn.functional.logsigmoid(beta * of_chosen) + torch.nn.functional.logsigmoid(-beta * of_rejected)


@STEPS.slip(
    "of_chosen",
    "The chosen completion's implicit reward is kept from falling below 0. Only the difference of the two counts: let it "
    "fall.",
)
def chosen_kept_above_0(chosen, ref_chosen):
    return (chosen - ref_chosen).clamp(min=0)


@STEPS.slip("margin", "The implicit rewards are ratios of probabilities: the logarithm is missing. Leave `exp` out.")
def ratios_of_probabilities(of_chosen, of_rejected, beta):
    return beta * (of_chosen.exp() - of_rejected.exp())


@STEPS.slip("margin", "The reference's margin is added to the policy's. It is taken off.")
def reference_added(chosen, rejected, ref_chosen, ref_rejected, beta):
    return beta * (chosen - rejected + ref_chosen - ref_rejected)


@STEPS.slip(
    "loss",
    "You add a fine where the chosen completion has become less likely than under the reference. DPO's loss has none: the "
    "difference of the two is all that counts.",
)
def fine_for_falling(averaged, of_chosen, beta):
    return torch.relu(-beta * of_chosen).mean() - averaged


def draw(draw: Draw) -> Case:
    N, far = draw.size(), draw.choice([6, 60])  # a text of many tokens is far less likely than a short one
    ref_chosen = draw.numbers(N, least=-far, most=-1)
    ref_rejected = draw.numbers(N, least=-far, most=-1)
    return {
        "chosen": ref_chosen + draw.numbers(N, least=-1, most=1),
        "rejected": ref_rejected + draw.numbers(N, least=-1, most=1),
        "ref_chosen": ref_chosen,
        "ref_rejected": ref_rejected,
        "beta": draw.choice([0.05, 0.1, 0.2, 0.5, 2.0]),
    }


def boundary() -> list[Case]:
    """A policy that is the reference, one that has moved either way, and a margin whose sigmoid is 0."""
    cases = []
    for chosen, rejected in [(-2.0, -3.0), (-0.5, -3.5), (-3.0, -2.0), (-300.0, -1.0)]:
        cases.append(
            {
                "chosen": torch.tensor([chosen]),
                "rejected": torch.tensor([rejected]),
                "ref_chosen": torch.tensor([-2.0]),
                "ref_rejected": torch.tensor([-3.0]),
                "beta": 0.5,
            }
        )
    alike = {name: torch.cat([value] * 2) for name, value in cases[1].items() if name != "beta"}
    return [*cases, alike | {"beta": 0.5}]


EXERCISE = Exercise(
    name="DPO loss",
    function="dpo_loss",
    contract="`f(chosen, rejected, ref_chosen, ref_rejected, beta) -> loss`, log-probabilities (N,) each.",
    steps=STEPS,
    arguments={
        "chosen": Numbers("N", most=0.0),
        "rejected": Numbers("N", most=0.0),
        "ref_chosen": Numbers("N", most=0.0),
        "ref_rejected": Numbers("N", most=0.0),
        "beta": Scalar(usual=0.1, simple=(0.5, 1.0)),
    },
    result=TensorOf(""),
    draw=draw,
    boundary=boundary,
    gradient="chosen rejected",
)
