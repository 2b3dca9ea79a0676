import pytest
import torch

from shared.rewards import add_up, columns_of, exact_match, score


def length(prompts, completions, **columns):
    return [float(len(c)) for c in completions]


def test_each_function_gets_a_column():
    rewards = score([length, exact_match], ["p", "p"], ["abc", " B \nnoise"], {"answer": ["x", "b"]})
    assert rewards.tolist() == [[3.0, 0.0], [9.0, 1.0]]


def test_weights_add_up():
    rewards = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert add_up(rewards).tolist() == [3.0, 7.0]
    assert add_up(rewards, [1.0, 0.5]).tolist() == [2.0, 5.0]
    with pytest.raises(ValueError, match="weights"):
        add_up(rewards, [1.0])


def test_exact_match_refuses_substrings():
    """Catches `answer in completion`: "3" is not "13", and "one pair" is not "not one pair"."""
    assert exact_match(["p"] * 4, ["13", "3", " 3 ", "3 or 4"], answer=["3"] * 4) == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "returned, words", [(None, "nothing"), ([1.0], "1 rewards for 2"), ([1.0, float("nan")], "completion 1"), ([None, 1.0], "None")]
)
def test_a_broken_reward_is_named(returned, words):
    def my_reward(prompts, completions, **columns):
        return returned

    with pytest.raises(ValueError, match=f"my_reward.*{words}"):
        score(my_reward, ["p", "p"], ["a", "b"])


def test_columns_of_a_data_set():
    assert columns_of([{"prompt": "p", "answer": 1}, {"prompt": "q", "answer": 2}]) == {"answer": [1, 2]}
    with pytest.raises(ValueError, match="Row 1.*'answer'"):
        columns_of([{"prompt": "p", "answer": 1}, {"prompt": "q"}])
