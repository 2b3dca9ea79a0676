"""Enumerated policies: what every estimator of a gradient is held against must itself be right."""

import pytest
import torch

from shared.algorithm import trained_parameters
from shared.constrain import answer_trie
from shared.exact import enumerate_policy, enumerated_logps, every_completion, kinds_of_answers
from shared.models import frozen_copy
from tests.fakes import tiny_llama

PROMPTS = ["abc", "d"]
COMPLETIONS = ["a", "ab", "cd", "h"]  # one is the beginning of another
REWARDS = torch.tensor([[0.0, 1.0, 0.2, 0.0], [2.0, 0.0, 0.0, -1.0]], dtype=torch.float64)


@pytest.fixture
def policy(tokenizer):
    return tiny_llama().eval(), tokenizer, PROMPTS, COMPLETIONS, answer_trie(tokenizer, COMPLETIONS)


def gradient_of(value, model):
    return torch.cat([g.flatten() for g in torch.autograd.grad(value, trained_parameters(model))]).double()


def test_all_that_may_be_said_has_probability_one(policy):
    """Catches an EOS that is left out: "a" would then hold what belongs to "ab"."""
    enumeration = enumerate_policy(*policy)
    torch.testing.assert_close(enumeration.probs.sum(dim=1), torch.ones(2).double(), rtol=0, atol=1e-6)
    assert enumeration.norm(enumeration.probs) < 1e-4 < enumeration.norm(REWARDS)  # the mean score is 0


def test_without_a_constraint_they_are_the_models_own_probabilities(policy):
    """Oracle: each row alone through the model's plain pass. Catches padding that is scored."""
    model, tokenizer, prompts, completions, _ = policy
    logps = enumerated_logps(model, tokenizer, prompts, completions)
    for n, prompt in enumerate(prompts):
        for k, completion in enumerate(completions):
            ids = torch.tensor([tokenizer(prompt)["input_ids"] + tokenizer(completion)["input_ids"] + [1]])
            of_row = model(input_ids=ids).logits[0, :-1].log_softmax(dim=-1)
            oracle = of_row.gather(-1, ids[0, 1:, None])[len(prompt) - 1 :].sum()
            torch.testing.assert_close(logps[n, k], oracle, rtol=0, atol=1e-5)


def test_kinds_of_answers_are_sums_of_their_probabilities(policy, monkeypatch):
    """Catches a row that is asked for another row's answer, and sums in the place of means over rows."""
    p = torch.tensor([[0.5, 0.2], [0.1, 0.3]])
    monkeypatch.setattr("shared.exact.enumerated_logps", lambda *_: p.log())
    rows = [{"prompt": "a", "answer": "x"}, {"prompt": "b", "answer": "x"}]
    found = kinds_of_answers(*policy[:2], rows, ["x", "y"])
    assert found == pytest.approx({"right": 0.3, "wrong": 0.25, "neither": 0.45, "likeliest right": 0.5})


def test_weights_stand_for_the_gradient_that_backward_gives(policy):
    """Catches scores of another order than the weights, and a Gram matrix of one prompt alone."""
    model = policy[0]
    enumeration = enumerate_policy(*policy)
    expected_reward = (enumerated_logps(*policy).exp() * REWARDS).sum()
    exact = gradient_of(expected_reward, model)
    other_weights = torch.arange(8.0).view(2, 4)
    other = gradient_of((enumerated_logps(*policy) * other_weights).sum(), model)
    weights = enumeration.probs * REWARDS
    torch.testing.assert_close(enumeration.norm(weights), exact.norm(), rtol=1e-4, atol=0)
    torch.testing.assert_close(enumeration.inner(weights, other_weights), exact @ other, rtol=1e-4, atol=0)
    cosine = torch.nn.functional.cosine_similarity(exact, other, dim=0)
    torch.testing.assert_close(enumeration.cosine(weights, other_weights), cosine, rtol=1e-4, atol=1e-6)


def test_each_score_has_its_own_length(policy):
    """Catches lengths in the order of the Gram matrix's rows taken across prompts."""
    enumeration = enumerate_policy(*policy)
    for n in range(2):
        for k in range(4):
            alone = torch.zeros(2, 4)
            alone[n, k] = 1
            torch.testing.assert_close(enumeration.score_norms[n, k], enumeration.norm(alone) ** 2)


def test_the_spread_is_that_of_what_is_sampled(policy):
    """Oracle: a hundred thousand samples. Catches a spread over completions that are all counted alike."""
    enumeration = enumerate_policy(*policy)
    drawn = torch.multinomial(enumeration.probs, 100_000, replacement=True, generator=torch.Generator().manual_seed(0))
    sampled = REWARDS.gather(1, drawn)
    torch.testing.assert_close(enumeration.mean(REWARDS), sampled.mean(dim=1), rtol=0, atol=0.02)
    torch.testing.assert_close(enumeration.spread(REWARDS), sampled.std(dim=1), rtol=0, atol=0.02)


def test_many_draws_at_once_are_the_same_as_one_by_one(policy):
    enumeration = enumerate_policy(*policy)
    draws = torch.randn(5, 2, 4, generator=torch.Generator().manual_seed(0))
    together = enumeration.cosine(draws, REWARDS.expand(5, 2, 4))
    one_by_one = torch.stack([enumeration.cosine(draw, REWARDS) for draw in draws])
    torch.testing.assert_close(together, one_by_one)
    assert enumeration.norm(draws).shape == (5,)


def test_the_variance_is_that_of_one_draws_gradient(policy):
    """Oracle: each possible draw as a gradient of its own. Catches a mean that is taken over all prompts together."""
    enumeration = enumerate_policy(*policy)
    for n in range(2):
        advantages = REWARDS.clone()
        advantages[1 - n] = 0
        mean = enumeration.probs * advantages
        oracle = 0.0
        for k in range(4):
            draw = torch.zeros(2, 4).double()
            draw[n, k] = advantages[n, k]
            oracle += enumeration.probs[n, k] * enumeration.norm(draw - mean) ** 2
        torch.testing.assert_close(enumeration.variance(REWARDS)[n], oracle, rtol=1e-6, atol=0)


def test_what_cannot_be_enumerated_is_said(policy):
    model, tokenizer, *rest = policy
    with pytest.raises(ValueError, match="requires a gradient"):
        enumerate_policy(frozen_copy(model), tokenizer, *rest)
    with pytest.raises(ValueError, match="no completions"):
        every_completion(tokenizer, PROMPTS, [])
