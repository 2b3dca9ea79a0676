"""KL divergence between the policy pi and a frozen reference: three estimators and the exact value.

At tokens y that the policy sampled, with log_r = log pi_ref(y) - log pi(y) (Schulman 2020, "Approximating KL Divergence"):

    k1 = -log_r        k2 = log_r^2 / 2        k3 = exp(log_r) - 1 - log_r

With pi 0.6 and 0.4 and pi_ref 0.5 and 0.5 for two tokens, the KL is 0.6 log 1.2 + 0.4 log 0.8 = 0.0201:

    y    pi    log_r     k1        k2       k3
    a    0.6   -0.1823   0.1823    0.0166   0.0157
    b    0.4   0.2231    -0.2231   0.0249   0.0269
    mean over y from pi  0.0201    0.0199   0.0201

An estimator's *value* estimates one thing, and its *gradient* as a loss may follow another (Tang and Munos 2025,
arXiv:2506.09477), so both stand in each docstring, in expectation over y from the policy. All are about the distribution of
one token, given those before it. Their sum over a completion has, by the chain rule, the KL of whole completions as its
mean, but as a loss it gives a part of that KL's gradient alone. With KL_t(s) the KL of token t after the tokens s,

    grad KL = sum_t E[ grad KL_t(s) ]  +  sum_t E[ grad log pi(y_t | s) x (KL_{t+1} + KL_{t+2} + ...) ]

it gives the first sum, in which no token is made rarer for leading to where policy and reference differ. On 30 random pairs of
two-token tables the cosine between the first sum and the whole is 0.56 to 1.00. A k1 inside the rewards, whose returns carry
what a token leads to, gives both. `notebooks/gradients.ipynb` derives the estimators and holds each against the exact gradient.
"""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

KLEstimator = Literal["k1", "k2", "k3"]


def k1(logps: Float[Tensor, "*shape"], ref_logps: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """k1 = -log_r = log pi(y) - log pi_ref(y).

    Value: unbiased for KL(pi || pi_ref) of the token's distribution, high variance, may be negative.
    Gradient as a loss: its mean is zero (it is the mean score, E[grad log pi]), so it penalises nothing. Use k1
    inside the reward, never as a loss.
    """
    return logps - ref_logps


def k2(logps: Float[Tensor, "*shape"], ref_logps: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """k2 = log_r^2 / 2.

    Value: biased, small when the two are close; never negative, low variance.
    Gradient as a loss: unbiased for that of KL(pi || pi_ref) of the token's distribution. Summed over a completion's
    tokens it is unbiased for the first sum of the gradient above, not for the gradient of the whole completion's KL.
    """
    return 0.5 * (ref_logps - logps) ** 2


def k3(logps: Float[Tensor, "*shape"], ref_logps: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """k3 = exp(log_r) - 1 - log_r, the penalty of the GRPO paper (equation 4).

    Value: unbiased for KL(pi || pi_ref) of the token's distribution, never negative, lower variance than k1.
    Gradient as a loss: that of the token's *forward* KL(pi_ref || pi), as in distillation; to first order around
    pi = pi_ref the two agree.
    """
    log_r = ref_logps - logps
    return torch.expm1(log_r) - log_r


ESTIMATORS = {"k1": k1, "k2": k2, "k3": k3}


def per_token_kl(
    logps: Float[Tensor, "B C"], ref_logps: Float[Tensor, "B C"], estimator: KLEstimator = "k3"
) -> Float[Tensor, "B C"]:
    """The named estimator at every completion token, (B, C).

    Raises ValueError for an unknown name.
    """
    if estimator not in ESTIMATORS:
        raise ValueError(f"The KL estimator is {estimator!r}; choose one of {', '.join(ESTIMATORS)}.")
    return ESTIMATORS[estimator](logps, ref_logps)


def exact_kl(logits: Float[Tensor, "*shape V"], ref_logits: Float[Tensor, "*shape V"]) -> Float[Tensor, "*shape"]:
    """KL(pi || pi_ref) summed over the whole vocabulary, from logits (*, V) to (*).

        sum_v pi(v) (log pi(v) - log pi_ref(v))

    Tokens that both distributions forbid (logit -inf) contribute 0. Value and gradient are exact for the distribution
    of one token, at the price of keeping (B, C, V) log-probabilities of two models.
    """
    logps = logits.log_softmax(-1)
    ref_logps = ref_logits.log_softmax(-1)
    forbidden = logps.isneginf()
    difference = (logps - ref_logps).masked_fill(forbidden, 0.0)
    return (logps.exp() * difference).sum(-1)


def completion_kl(
    logits: Float[Tensor, "B C V"], ref_logits: Float[Tensor, "B C V"], completion_mask: Tensor
) -> Float[Tensor, "B"]:
    """The exact KL of each token's distribution, summed over the completion's tokens, (B,), in nats.

    Value: its mean over completions that the policy sampled is KL(pi || pi_ref) of whole completions, by the chain
    rule. The path is drawn, and at each of its tokens the expectation is exact (Rao and Blackwell), so it spreads less
    than the sum of k1 and is never negative.
    Gradient as a loss: the first sum above. What a token does to the KL of later ones is left out.
    """
    return exact_kl(logits, ref_logits).masked_fill(completion_mask == 0, 0.0).sum(dim=1)


def distillation_divergence(
    logits: Float[Tensor, "*shape V"], teacher_logits: Float[Tensor, "*shape V"], alpha: float = 1.0
) -> Float[Tensor, "*shape"]:
    """The distance of a student pi from a teacher p, summed over the whole vocabulary, from logits (*, V) to (*).

        alpha 0        forward KL   KL(p || pi)  =  sum_v p(v) (log p(v) - log pi(v))
        alpha 1        reverse KL   KL(pi || p)
        between them   alpha KL(p || m) + (1 - alpha) KL(pi || m)   with m = alpha p + (1 - alpha) pi

    The last is the generalised Jensen-Shannon divergence of GKD (Agarwal et al. 2023, arXiv:2306.13649), which that paper
    names beta; alpha is TRL's name in its self-distillation. It is defined here from the two KL and held to TRL's loss. Between the ends it is at most the entropy of (alpha, 1 - alpha), and goes to 0
    at either end, so neighbouring alphas are not on one scale with alpha 0 and 1.

    Forward: the gradient by the student's logits is pi - p, and it is the mean of cross-entropies with tokens of the
    teacher. Reverse: pi(v) (log pi(v) - log p(v) - KL), which is 0 for a token that the student never says.
    """
    if alpha == 0:
        return exact_kl(teacher_logits, logits)
    if alpha == 1:
        return exact_kl(logits, teacher_logits)
    mixture = alpha * teacher_logits.softmax(-1) + (1 - alpha) * logits.softmax(-1)  # (*, V)
    # A token that both forbid has probability 0 in the mixture too, where the logarithm has no gradient.
    log_mixture = mixture.clamp(min=torch.finfo(mixture.dtype).tiny).log()
    return alpha * exact_kl(teacher_logits, log_mixture) + (1 - alpha) * exact_kl(logits, log_mixture)
