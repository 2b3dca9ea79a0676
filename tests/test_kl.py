"""Oracle: over a vocabulary of 7 tokens every expectation can be summed exactly."""

import pytest
import torch

from shared.kl import completion_kl, exact_kl, k1, k2, k3, per_token_kl


def policies(distance: float = 1.0):
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(7, generator=generator, dtype=torch.float64).requires_grad_()
    ref_logits = logits.detach() + distance * torch.randn(7, generator=generator, dtype=torch.float64)
    return logits, ref_logits


def expected_loss_gradient(estimator, logits, ref_logits):
    """Gradient of the estimator as a loss, averaged over tokens from the policy, the sampling itself held fixed."""
    logps, ref_logps = logits.log_softmax(-1), ref_logits.log_softmax(-1)
    expectation = (logps.detach().exp() * estimator(logps, ref_logps)).sum()
    return torch.autograd.grad(expectation, logits)[0]


def test_exact_kl_is_the_textbook_sum_in_the_right_direction():
    """Catches the reversed KL: torch's kl_div(input, target) computes KL(target || input)."""
    logits, ref_logits = policies()
    oracle = torch.distributions.kl_divergence(
        torch.distributions.Categorical(logits=logits), torch.distributions.Categorical(logits=ref_logits)
    )
    torch.testing.assert_close(exact_kl(logits, ref_logits), oracle)
    assert abs(exact_kl(logits, ref_logits) - exact_kl(ref_logits, logits)) > 0.01


def test_exact_kl_ignores_tokens_that_both_forbid():
    logits = torch.tensor([0.0, 1.0, -torch.inf], requires_grad=True)
    kl = exact_kl(logits, torch.tensor([1.0, 0.0, -torch.inf]))
    kl.backward()
    torch.testing.assert_close(kl, exact_kl(logits[:2], torch.tensor([1.0, 0.0])))
    assert logits.grad.isfinite().all()


@pytest.mark.parametrize("estimator", [k1, k3])
def test_k1_and_k3_are_unbiased(estimator):
    """Catches the halved k3 (mean KL / 2) and a flipped sign of log_r (mean of the other KL)."""
    logits, ref_logits = policies()
    logps, ref_logps = logits.log_softmax(-1), ref_logits.log_softmax(-1)
    mean = (logps.exp() * estimator(logps, ref_logps)).sum()
    torch.testing.assert_close(mean, exact_kl(logits, ref_logits))


def test_k1_as_a_loss_has_no_gradient_on_average():
    torch.testing.assert_close(expected_loss_gradient(k1, *policies()), torch.zeros(7, dtype=torch.float64))


@pytest.mark.parametrize(
    "estimator, kl", [(k2, exact_kl), (k3, lambda logits, ref_logits: exact_kl(ref_logits, logits))]
)
def test_k2_and_k3_as_a_loss_have_the_gradient_of_the_reverse_and_of_the_forward_kl(estimator, kl):
    logits, ref_logits = policies()
    oracle = torch.autograd.grad(kl(logits, ref_logits), logits)[0]
    torch.testing.assert_close(expected_loss_gradient(estimator, logits, ref_logits), oracle)


@pytest.mark.parametrize("options, estimator", [({"estimator": "k1"}, k1), ({"estimator": "k2"}, k2), ({}, k3)])
def test_an_estimator_is_called_by_its_name_and_k3_by_none(options, estimator):
    """Catches policy and reference that change places on the way; k3 is the penalty of the GRPO paper."""
    logps, ref_logps = torch.tensor([[-1.0, -2.0]]), torch.tensor([[-3.0, -0.5]])
    assert torch.equal(per_token_kl(logps, ref_logps, **options), estimator(logps, ref_logps))
    with pytest.raises(ValueError, match="k1, k2, k3"):
        per_token_kl(logps, ref_logps, "k4")


def test_the_kl_of_a_completion_is_the_sum_over_its_tokens_alone():
    """Catches padding that counts, its nan included, a mean for the sum, and the two policies in the wrong order."""
    torch.manual_seed(0)
    logits, ref_logits = torch.randn(2, 3, 5, dtype=torch.float64), torch.randn(2, 3, 5, dtype=torch.float64)
    logits[1, 2] = torch.nan
    mask = torch.tensor([[1, 1, 1], [1, 1, 0]])
    policy, reference = (torch.distributions.Categorical(logits=x.nan_to_num()) for x in (logits, ref_logits))
    each = torch.distributions.kl_divergence(policy, reference)  # (B, C)
    expected = torch.stack([each[0].sum(), each[1, :2].sum()])
    torch.testing.assert_close(completion_kl(logits, ref_logits, mask), expected)


def two_token_gradients(first, second, ref_first, ref_second):
    """Of completions of two tokens: the gradient of their KL, and that of `completion_kl` as a loss, in expectation.

    Tables of logits, (V,) of the first token and (V, V) of the second, a row for each first token. All V x V completions
    are enumerated, so both gradients are exact.
    """
    first.requires_grad_()
    second.requires_grad_()
    V = len(first)

    def joint(first, second):
        return (first.log_softmax(-1)[:, None] + second.log_softmax(-1)).flatten()  # (V x V,)

    logps = joint(first, second)
    whole = (logps.exp() * (logps - joint(ref_first, ref_second))).sum()

    def logits(first, second):  # of both tokens of each completion, (V x V, 2, V)
        return torch.stack([first.expand(V * V, V), second.repeat_interleave(V, dim=0)], dim=1)

    kl = completion_kl(logits(first, second), logits(ref_first, ref_second), torch.ones(V * V, 2))
    as_a_loss = (logps.detach().exp() * kl).sum()
    torch.testing.assert_close(as_a_loss, whole)  # the values are one
    gradients = [torch.autograd.grad(value, (first, second)) for value in (whole, as_a_loss)]
    return [torch.cat([part.flatten() for part in gradient]) for gradient in gradients]


def random_tables(seed, V=4):
    generator = torch.Generator().manual_seed(seed)
    return [
        torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((V,), (V, V), (V,), (V, V))
    ]  # policy's first and second token, reference's first and second token


def cosine(one, other):
    return torch.nn.functional.cosine_similarity(one, other, dim=0).item()


def test_the_summed_kl_as_a_loss_leaves_out_what_a_token_does_to_later_ones():
    """Catches the claim that the sum has the gradient of the whole completion's KL: only its value is the same."""
    cosines = []
    for seed in range(30):
        true, found = two_token_gradients(*random_tables(seed))
        cosines.append(cosine(true, found))
        torch.testing.assert_close(found[4:], true[4:])  # the second token's: nothing comes after it
    assert max(cosines) < 1 - 1e-6
    assert min(cosines) == pytest.approx(0.56, abs=0.005)  # the module quotes it


@pytest.mark.parametrize("seed", range(5))
def test_the_summed_kl_has_the_whole_gradient_where_no_token_changes_later_ones(seed):
    """Catches a loss that is off for another reason than the effect on later states."""
    first, second, ref_first, ref_second = random_tables(seed)
    second = second[:1].repeat(4, 1)  # the same row whatever the first token is
    ref_second = ref_second[:1].repeat(4, 1)
    true, found = two_token_gradients(first, second, ref_first, ref_second)
    torch.testing.assert_close(found, true)
    assert cosine(true, found) == pytest.approx(1.0)


def test_k2_summed_over_tokens_has_the_gradient_of_the_summed_kl():
    """The docstring of `k2`: unbiased for the first part of the gradient, on all completions of two tokens."""
    first, second, ref_first, ref_second = random_tables(0)
    _, expected = two_token_gradients(first, second, ref_first, ref_second)
    logps = first.log_softmax(-1)[:, None].expand(4, 4), second.log_softmax(-1)
    ref_logps = ref_first.log_softmax(-1)[:, None].expand(4, 4), ref_second.log_softmax(-1)
    probabilities = (logps[0] + logps[1]).detach().exp()
    loss = sum((probabilities * per_token_kl(ours, ref, "k2")).sum() for ours, ref in zip(logps, ref_logps))
    gradient = torch.autograd.grad(loss, (first, second))
    torch.testing.assert_close(torch.cat([part.flatten() for part in gradient]), expected)


def test_exact_kl_is_infinite_where_the_reference_alone_forbids():
    """Catches a policy that says what the reference never would, at no price; what the policy forbids has none."""
    free, forbidding = torch.tensor([0.0, 1.0, 0.5]), torch.tensor([0.0, 1.0, -torch.inf])
    assert exact_kl(free, forbidding).item() == torch.inf
    torch.testing.assert_close(
        exact_kl(forbidding, free), (forbidding.softmax(-1)[:2] * (free.logsumexp(-1) - free[:2].logsumexp(-1))).sum()
    )
