"""The clipped GRPO loss: `grpo_loss(logps, old_logps, advantages, completion_mask, ref_logps, beta, epsilon)`."""

import torch

from shared.exercises.arguments import Mask, Numbers, Scalar
from shared.exercises.catalogue import kl
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def log_ratio(logps, old_logps):
    return logps - old_logps


@STEPS.step
def ratio(log_ratio):
    return torch.exp(log_ratio)


@STEPS.step
def token_advantages(advantages):
    return advantages[:, None]


@STEPS.step
def clipped_ratio(ratio, epsilon):
    return ratio.clamp(1 - epsilon, 1 + epsilon)


@STEPS.step
def free(ratio, token_advantages):
    return ratio * token_advantages


@STEPS.step
def clipped(clipped_ratio, token_advantages):
    return clipped_ratio * token_advantages


@STEPS.step
def surrogate(free, clipped):
    return torch.minimum(free, clipped)


@STEPS.step
def log_r(logps, ref_logps):
    return ref_logps - logps


@STEPS.step
def token_kl(log_r):
    return torch.exp(log_r) - log_r - 1


@STEPS.step
def penalty(token_kl, beta):
    return beta * token_kl


@STEPS.step
def per_token(surrogate, penalty):
    return penalty - surrogate


@STEPS.step
def per_completion(per_token, completion_mask):
    return (per_token * completion_mask).sum(dim=1) / completion_mask.sum(dim=1)


@STEPS.step
def loss(per_completion):
    return per_completion.mean()


# --- the ratio


@STEPS.slip(
    "log_ratio",
    "The ratio is taken against the reference. It corrects for the policy that sampled, `old_logps`; the reference "
    "belongs in the KL term only. With a frozen reference your ratio leaves the clipping range for good.",
)
def ratio_against_the_reference(logps, ref_logps):
    return logps - ref_logps


@STEPS.slip(
    "log_ratio",
    "The ratio is upside down: exp(old_logps - logps). Its gradient has the wrong sign, so training unlearns.",
)
def ratio_upside_down(logps, old_logps):
    return old_logps - logps


@STEPS.slip(
    "log_ratio",
    "The ratio is always 1 because you compare `logps` with its own detached copy. That is right for a single update "
    "and ignores `old_logps` in every later one: clipping can never act.",
)
def own_copy_as_old(logps):
    return logps - logps.detach()


@STEPS.slip(
    "log_ratio",
    "The ratio is that of whole completions: you sum the log-probabilities before `exp`. Ratios of sequences are tiny "
    "or huge and nearly always clipped; GRPO's ratio is per token.",
)
def ratio_of_sequences(logps, old_logps, completion_mask):
    return ((logps - old_logps) * completion_mask).sum(dim=1, keepdim=True).expand_as(logps)


@STEPS.slip(
    "ratio",
    "The log-ratio is used as the ratio: `torch.exp` is missing. Where old and new policy agree your policy term is 0 "
    "and should be minus the advantage.",
)
def exponential_forgotten(log_ratio):
    return log_ratio


@STEPS.slip(
    "ratio",
    "There is no ratio: you weight `logps` with the advantage, as REINFORCE does. Here it is exp(logps - old_logps), "
    "which can be clipped.",
)
def log_probabilities_instead(logps):
    return logps


@STEPS.slip(
    "ratio",
    "The ratio is divided instead of subtracted: logps / old_logps. A ratio of probabilities is the exponential of a "
    "difference of log-probabilities.",
)
def quotient_of_logarithms(logps, old_logps):
    return logps / old_logps


@STEPS.slip(
    "free",
    "The ratio of the free term is detached, so that only the clipped one has a gradient: tokens that should be "
    "brought back are not.",
)
def free_term_detached(free):
    return free.detach()


# --- clipping


@STEPS.slip(
    "surrogate",
    "You take the larger of the free and the clipped term. The objective is the smaller one (a pessimistic bound): "
    "with the larger one, clipping never limits an update.",
)
def maximum_of_the_two(free, clipped):
    return torch.maximum(free, clipped)


@STEPS.slip("surrogate", "There is no clipping: the ratio acts without bound. Take the minimum with the clipped term.")
def not_clipped(free):
    return free


@STEPS.slip(
    "surrogate",
    "You use the clipped term alone, without the minimum. A token that has moved too far in the wrong direction then "
    "gets no gradient to bring it back.",
)
def clipped_without_minimum(clipped):
    return clipped


@STEPS.slip("clipped", "You clip the ratio times the advantage. Clip the ratio alone, then multiply.")
def product_clipped(free, epsilon):
    return free.clamp(1 - epsilon, 1 + epsilon)


@STEPS.slip(
    "clipped_ratio",
    "The ratio is clipped above only: `clamp(max=1 + epsilon)`. Without 1 - epsilon below, a negative advantage pushes "
    "a token down without bound.",
)
def clipped_above_only(ratio, epsilon):
    return ratio.clamp(max=1 + epsilon)


@STEPS.slip(
    "clipped_ratio",
    "The ratio is clipped below only: `clamp(min=1 - epsilon)`. Without 1 + epsilon above, a positive advantage pushes "
    "a token up without bound.",
)
def clipped_below_only(ratio, epsilon):
    return ratio.clamp(min=1 - epsilon)


@STEPS.slip(
    "clipped_ratio",
    "The ratio is clipped to epsilon around 0. It is a quotient of probabilities, 1 where the policies agree: clip it "
    "to 1 - epsilon and 1 + epsilon.",
)
def clipped_around_zero(ratio, epsilon):
    return ratio.clamp(-epsilon, epsilon)


@STEPS.slip(
    "clipped_ratio",
    "The log-ratio is clipped to plus or minus epsilon before `exp`. The range is 1 - epsilon to 1 + epsilon for the "
    "ratio itself.",
)
def logarithm_clipped(log_ratio, epsilon):
    return torch.exp(log_ratio.clamp(-epsilon, epsilon))


@STEPS.slip(
    "epsilon",
    "epsilon is written as 0.2 in your function: the argument changes nothing. Use the name `epsilon`.",
)
def epsilon_hard_coded():
    return 0.2


# --- the advantages


@STEPS.slip(
    "surrogate",
    "The sign of the policy term is flipped: an optimiser minimises, so the loss is minus the surrogate. As it stands, "
    "training makes bad completions more likely.",
)
def maximised_instead(surrogate):
    return -surrogate


@STEPS.slip(
    "token_advantages",
    "The advantages run along the tokens: (B,) against (B, C) lines up with the columns when B equals C. "
    "Write `advantages[:, None]`.",
)
def advantages_along_tokens(advantages):
    return advantages[None, :]


@STEPS.slip("token_advantages", "The advantages are not used: every completion counts as if its advantage were 1.")
def advantages_forgotten(logps):
    return torch.ones_like(logps)


@STEPS.slip(
    "advantages",
    "You normalise the advantages again, over the batch. They come in as they are to be used.",
)
def advantages_normalised(advantages):
    return (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)


@STEPS.slip("advantages", "The sign of an advantage is lost: you take its absolute value.")
def advantages_absolute(advantages):
    return advantages.abs()


# --- the KL term


@STEPS.slip(
    "penalty", "The sign of the KL term is flipped: `+ beta * kl` in a loss keeps the policy near the reference."
)
def kl_rewarded(penalty):
    return -penalty


@STEPS.slip(
    "penalty", "There is no KL term: beta changes nothing. Add `beta * per_token_kl(logps, ref_logps)` to every token."
)
def kl_forgotten(logps):
    return torch.zeros_like(logps)


@STEPS.slip("beta", "The KL term is not multiplied by beta: it counts as if beta were 1.")
def beta_forgotten():
    return 1.0


@STEPS.slip("beta", "beta is written as 0.04 in your function: the argument changes nothing. Use the name `beta`.")
def beta_hard_coded():
    return 0.04


@STEPS.slip(
    "token_kl",
    "The KL term is k1 = logps - ref_logps. Its gradient as a penalty has mean 0; use k3 = exp(log_r) - log_r - 1.",
)
def k1_instead(log_r):
    return -log_r


@STEPS.slip("token_kl", "The KL term is k2 = log_r² / 2. Asked for is k3 = exp(log_r) - log_r - 1.")
def k2_instead(log_r):
    return log_r**2 / 2


@STEPS.slip("log_r", "The KL term is upside down: log_r is ref_logps - logps.")
def kl_upside_down(logps, ref_logps):
    return logps - ref_logps


@STEPS.slip(
    "log_r",
    "The KL is taken against `old_logps`, the policy that sampled. It is against the frozen reference, `ref_logps`.",
)
def kl_against_the_sampling_policy(logps, old_logps):
    return old_logps - logps


@STEPS.slip(
    "penalty",
    "The KL term is multiplied by the advantage. It stands beside the surrogate, not inside it.",
)
def kl_times_advantage(penalty, token_advantages):
    return penalty * token_advantages


@STEPS.slip(
    "token_kl",
    "The KL term has no gradient: it is detached, or stands inside `torch.no_grad()`. It then shows in the loss and "
    "holds nothing back.",
)
def kl_detached(token_kl):
    return token_kl.detach()


@STEPS.slip("penalty", "The KL term is averaged over all positions, padding included. Mask it like the policy term.")
def kl_of_padding(penalty):
    return penalty.mean()


# --- mask and mean


@STEPS.slip(
    "completion_mask",
    "The mask is not used: padding counts as tokens. Multiply by `completion_mask` and divide by its sum.",
)
def mask_ignored(completion_mask):
    return torch.ones_like(completion_mask)


@STEPS.slip(
    "per_completion",
    "You mask, but then divide by all positions, padding included: short completions count for less. Divide by each "
    "completion's own number of tokens, `completion_mask.sum(dim=1)`.",
)
def divided_by_all_positions(per_token, completion_mask):
    return (per_token * completion_mask).mean(dim=1)


@STEPS.slip(
    "per_completion",
    "You divide by the number of tokens but do not mask what you add up: the padding is in the sum.",
)
def padding_in_the_sum(per_token, completion_mask):
    return per_token.sum(dim=1) / completion_mask.sum(dim=1)


@STEPS.slip(
    "loss",
    "You average over all tokens of the batch at once, so long completions count for more. That is DAPO's choice "
    '(`loss_type="dapo"`); GRPO takes the mean of each completion first, then the mean over completions.',
)
def one_mean_over_tokens(per_token, completion_mask):
    return (per_token * completion_mask).sum() / completion_mask.sum()


@STEPS.slip(
    "per_completion", "You sum over the tokens of a completion where a mean is asked for: long completions dominate."
)
def summed_over_tokens(per_token, completion_mask):
    return (per_token * completion_mask).sum(dim=1)


@STEPS.slip("loss", "You sum over completions where the mean is asked for: the step then grows with the batch.")
def summed_over_completions(per_completion):
    return per_completion.sum()


@STEPS.slip(
    "loss", "You return one number for each completion. The loss is their mean, one number, of which `backward` goes."
)
def not_averaged(per_completion):
    return per_completion


@STEPS.slip(
    "per_completion",
    "The axes are exchanged: you average each token's column over the completions (dim=0) before you average the "
    "columns. Average each completion's tokens (dim=1) first.",
)
def averaged_over_columns(per_token, completion_mask):
    return (per_token * completion_mask).sum(dim=0) / completion_mask.sum(dim=0)


@STEPS.slip(
    "completion_mask",
    "The last token of each completion is left out, so that the decision to stop is never trained. The mask is 1 up to "
    "and including the end.",
)
def last_token_left_out(completion_mask):
    following = torch.cat([completion_mask[:, 1:], torch.zeros_like(completion_mask[:, :1])], dim=1)
    return torch.where(completion_mask.sum(dim=1, keepdim=True) > 1, following, completion_mask)


@STEPS.slip(
    "logps",
    "The gradient is missing: `logps` is detached, or the loss is computed inside `torch.no_grad()`. Nothing is "
    "learned.",
)
def gradient_missing(logps):
    return logps.detach()


# --- the cases


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size()
    mask = draw.mask(B, C)
    old_logps = draw.numbers(B, C, least=-3.0, most=-0.05)
    moved = draw.choice([0.0, 0.1, 0.5, 1.0]) * draw.numbers(B, C, least=-1.5, most=1.5)
    away = draw.choice([0.0, 0.5, 1.0]) * draw.numbers(B, C, least=-1.5, most=1.5)
    return {
        "logps": draw.garbage(old_logps + moved, mask),
        "old_logps": draw.garbage(old_logps, mask),
        "advantages": draw.choice([draw.numbers(B), torch.zeros(B)] if draw.random() < 0.2 else [draw.numbers(B)]),
        "completion_mask": mask,
        "ref_logps": draw.garbage(old_logps + away, mask),
        "beta": draw.choice([0.0, 0.04, 0.1, 0.5, 1.5]),
        "epsilon": draw.choice([0.1, 0.15, 0.2, 0.3, 0.5]),
    }


def boundary() -> list[Case]:
    """One token with a ratio below, inside and above the range, for each sign; then a KL term alone."""
    cases = []
    for advantage in (1.0, -1.0):
        for log_ratio in (-0.7, 0.0, 0.7):
            cases.append(_one_token(log_ratio, advantage, 0.0, beta=0.0))
    cases.append(_one_token(0.0, 0.0, 0.6, beta=0.5))
    cases.append(_one_token(0.0, 0.0, -0.6, beta=0.04))
    return cases


def _one_token(log_ratio: float, advantage: float, away: float, beta: float, epsilon: float = 0.3) -> Case:
    return {
        "logps": torch.tensor([[-1.0 + log_ratio]]),
        "old_logps": torch.tensor([[-1.0]]),
        "advantages": torch.tensor([advantage]),
        "completion_mask": torch.ones(1, 1, dtype=torch.long),
        "ref_logps": torch.tensor([[-1.0 + log_ratio + away]]),
        "beta": beta,
        "epsilon": epsilon,
    }


def valid(case: Case) -> bool:
    return bool((case["completion_mask"].sum(dim=1) > 0).all())


EXERCISE = Exercise(
    name="GRPO loss",
    function="grpo_loss",
    steps=STEPS,
    arguments={
        "logps": Numbers("B C"),
        "old_logps": Numbers("B C"),
        "advantages": Numbers("B"),
        "completion_mask": Mask("B C"),
        "ref_logps": Numbers("B C"),
        "beta": Scalar(usual=0.04),
        "epsilon": Scalar(usual=0.2, simple=(0.5,)),
    },
    result=TensorOf(""),
    draw=draw,
    boundary=boundary,
    gradient="logps",
    valid=valid,
    needs=(kl.EXERCISE,),
)
