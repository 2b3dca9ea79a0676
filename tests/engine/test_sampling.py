"""The distribution that tokens are drawn from, by hand; what sampling says of a model that computes nothing sensible."""

import math

import pytest
import torch

from shared.constrain import answer_trie
from shared.engine.sampling import Sampling, draw, keep_likely, position_ids, refuse_nan, sampling_logits

PROMPTS = ["one", "two"]
LOGITS = torch.tensor([0.5, 0.25, 0.125, 0.125]).log()


def kept(logits: torch.Tensor) -> list[int]:
    return logits.isfinite().nonzero()[:, 0].tolist()


def test_all_tokens_at_temperature_1_unless_asked_otherwise():
    assert Sampling() == Sampling(max_new_tokens=16, temperature=1.0, top_k=0, top_p=1.0)
    assert sampling_logits(LOGITS, Sampling()) is LOGITS and not Sampling().greedy and not Sampling().cuts_tokens


@pytest.mark.parametrize("edge", [dict(max_new_tokens=1), dict(temperature=0.0), dict(top_k=1), dict(top_p=1e-9)])
def test_the_least_that_may_be_asked_for(edge):
    assert Sampling(**edge)


@pytest.mark.parametrize(
    "wrong",
    [
        dict(max_new_tokens=0),
        dict(temperature=-0.1),
        dict(temperature=math.inf),
        dict(temperature=math.nan),
        dict(top_k=-1),
        dict(top_p=0.0),
        dict(top_p=1.1),
    ],
    ids=str,
)
def test_what_makes_no_distribution_is_refused_by_name_and_number(wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"^{name} is {value}[;,]"):
        Sampling(**wrong)


def test_the_temperature_divides_and_greedy_leaves_the_logits():
    """Catches a temperature that multiplies, and greedy choices that are scored by a division by 0."""
    torch.testing.assert_close(sampling_logits(LOGITS, Sampling(temperature=2.0)), LOGITS / 2)
    assert Sampling(temperature=0).greedy and torch.equal(sampling_logits(LOGITS, Sampling(temperature=0)), LOGITS)


def test_top_k_and_top_p_each_cut_alone():
    """Catches a cut that is made only where both are asked for."""
    assert kept(sampling_logits(LOGITS, Sampling(top_k=2))) == [0, 1]
    assert kept(sampling_logits(LOGITS, Sampling(top_p=0.6))) == [0, 1]


def test_the_smallest_set_whose_probability_reaches_p():
    """Catches `<=`: the first token alone reaches 0.5, the first two 0.75. These sums are exact in binary."""
    assert keep_likely(LOGITS, top_k=0, top_p=0.5).tolist() == [True, False, False, False]
    assert keep_likely(LOGITS, top_k=0, top_p=0.75).tolist() == [True, True, False, False]
    assert keep_likely(LOGITS.flip(0), top_k=0, top_p=0.75).tolist() == [False, False, True, True]


def test_top_k_from_one_token_to_all():
    """Catches a k that is off by one, and one as large as the vocabulary that raises. Equals of the last are kept."""
    left = [kept(sampling_logits(LOGITS, Sampling(top_k=k))) for k in (1, 2, 4, 9)]
    assert left == [[0], [0, 1], [0, 1, 2, 3], [0, 1, 2, 3]]
    assert keep_likely(LOGITS, top_k=3, top_p=1.0).all()


def test_a_top_p_of_1_keeps_what_is_least_likely():
    """Catches tokens that are cut since the likely ones before them add up to 1 in float32."""
    assert keep_likely(torch.tensor([40.0, 0.0, -40.0]), top_k=0, top_p=1.0).all()


def test_top_p_keeps_nothing_that_top_k_cut():
    """Catches tokens that come back since what stands before them adds up to less than 1 in float32."""
    logits = torch.randn(200, 50, generator=torch.Generator().manual_seed(0))
    assert keep_likely(logits, top_k=7, top_p=1 - 1e-9).sum(dim=-1).eq(7).all()


def test_top_p_is_of_what_the_temperature_and_top_k_leave():
    """Of the first two tokens alone the first has 2/3: with p of 0.6 it is left alone. A low temperature sharpens."""
    assert kept(sampling_logits(LOGITS, Sampling(top_k=2, top_p=0.6))) == [0]
    assert kept(sampling_logits(LOGITS, Sampling(temperature=0.5, top_p=0.6))) == [0]


def test_each_row_is_cut_by_itself():
    rows = torch.stack([LOGITS, LOGITS.flip(0)])
    assert keep_likely(rows, top_k=2, top_p=0.6).tolist() == [[True, False, False, False], [False, False, False, True]]


def test_a_token_that_was_sampled_is_never_cut():
    """Catches a log-probability of minus infinity, once the policy has moved, for a token that was drawn."""
    rows = torch.stack([LOGITS, LOGITS])
    for sampling in (Sampling(top_k=1), Sampling(top_p=0.1)):
        cut = sampling_logits(rows, sampling, always_keep=torch.tensor([3, 0]))
        assert [kept(row) for row in cut] == [[0, 3], [0]]


def test_half_precision_is_promoted_and_double_stays():
    """A softmax of bfloat16 logits is off by a hundredth: a ratio of two of them would be clipped for nothing."""
    assert sampling_logits(LOGITS.bfloat16(), Sampling()).dtype == torch.float32
    assert sampling_logits(LOGITS.half(), Sampling(temperature=0.7)).dtype == torch.float32
    assert sampling_logits(LOGITS.double(), Sampling()).dtype == torch.float64


def test_the_gradient_goes_to_what_was_kept():
    logits = LOGITS.clone().requires_grad_()
    sampling_logits(logits, Sampling(temperature=0.5, top_k=2))[:2].sum().backward()
    assert logits.grad.tolist() == [2, 2, 0, 0]


def test_a_constraint_comes_first(tokenizer):
    """Catches a top-k over all tokens, which may leave none that is allowed."""
    trie = answer_trie(tokenizer, ["a", "b"])
    logits = torch.zeros(1, 12)
    logits[0, 5] = 9.0  # likely, and not allowed
    logits[0, 3] = 1.0  # b
    restricted = sampling_logits(logits, Sampling(top_k=1), trie, torch.tensor([0]))
    (place,) = kept(restricted[0])
    assert trie.token_ids[0, place] == 3


def test_draws_from_a_row_that_is_named():
    """Catches draws from the rows in order where several share one, and u against another row's sum."""
    probs = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
    drawn = draw(probs, torch.tensor([0.9, 0.1, 0.6, 0.0]), row=torch.tensor([0, 1, 1, 1]))
    assert drawn.tolist() == [0, 1, 2, 1]
    assert draw(probs, torch.tensor([0.3, 0.5])).tolist() == [0, 2]
    assert draw(2 * probs, torch.tensor([0.9, 0.49])).tolist() == [0, 1], "u is a share of the row's sum"
    assert draw(2 * probs, torch.tensor([0.9, 0.6])).tolist() == [0, 2], "u is a share of the row's sum"
    assert draw(probs.double(), torch.tensor([0.3, 0.4])).tolist() == [0, 1]


def test_a_row_of_nan_gives_an_index_that_exists():
    """Catches an index beyond the vocabulary, at which the next pass would fail before the sentence comes."""
    assert draw(torch.full((1, 3), math.nan), torch.tensor([0.5])).tolist() == [2]


def test_positions_begin_at_the_first_real_token():
    mask = torch.tensor([[0, 0, 1, 1], [1, 1, 1, 1]])
    assert position_ids(mask).tolist() == [[0, 0, 0, 1], [0, 1, 2, 3]]


def logps(**places: float) -> torch.Tensor:
    """(4, 3), two completions for each of two prompts."""
    values = torch.full((4, 3), -0.5)
    for place, value in places.items():
        row, token = map(int, place.removeprefix("at").split("_"))
        values[row, token] = value
    return values


@pytest.mark.parametrize("value", [torch.nan, -torch.inf, torch.inf])
def test_the_first_token_that_is_not_finite_is_named(value):
    with pytest.raises(ValueError, match="token 2 of a completion of the prompt 'two', in 2 of 4 completions"):
        refuse_nan(logps(at2_1=value, at3_0=value), torch.tensor([3, 1, 2, 3]), PROMPTS, 2)


def test_the_padding_is_not_asked():
    """Catches a rollout refused for what stands behind the end of a completion."""
    refuse_nan(logps(at1_1=torch.nan), torch.tensor([3, 1, 2, 3]), PROMPTS, 2)


def test_a_nan_in_the_last_real_token_is_seen_and_the_rows_that_have_one_are_counted():
    values = logps(at0_2=torch.nan, at0_1=torch.nan)
    with pytest.raises(ValueError, match="first at token 2 of a completion of the prompt 'one', in 1 of 4"):
        refuse_nan(values, torch.tensor([3, 1, 2, 3]), PROMPTS, 2)
    with pytest.raises(ValueError, match="token 3"):
        refuse_nan(logps(at3_2=torch.inf), torch.tensor([3, 1, 2, 3]), PROMPTS, 2)
