import pytest
import torch

from shared.constrain import ROOT, answer_trie


def follow(trie, tokenizer, text):
    """The ids allowed after `text`, as a sorted list."""
    state = torch.tensor([ROOT])
    for token in tokenizer(text)["input_ids"]:
        state = trie.advance(state, torch.tensor([token]))
    return sorted(trie.token_ids[state][trie.allowed[state]].tolist())


def test_only_whole_answers_can_come_out(tokenizer):
    """Catches the per-position mask: with "ac" and "bd" it would allow "ad"."""
    trie = answer_trie(tokenizer, ["ac", "bd"])
    ids = tokenizer.convert_tokens_to_ids
    assert follow(trie, tokenizer, "") == sorted(ids(["a", "b"]))
    assert follow(trie, tokenizer, "a") == ids(["c"])
    assert follow(trie, tokenizer, "ac") == [tokenizer.eos_token_id]


def test_an_answer_may_be_the_beginning_of_another(tokenizer):
    trie = answer_trie(tokenizer, ["a", "ab"])
    assert follow(trie, tokenizer, "a") == sorted([tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("b")])


def test_states_replays_a_completion(tokenizer):
    trie = answer_trie(tokenizer, ["ac", "bd"])
    ids = torch.tensor([tokenizer("ac")["input_ids"] + [1], tokenizer("bd")["input_ids"] + [1]])
    states = trie.states(ids)
    assert (states[:, 0] == ROOT).all() and states[0, 1] != states[1, 1]


def test_restrict_gives_minus_infinity_outside(tokenizer):
    trie = answer_trie(tokenizer, ["a", "ab"])
    restricted = trie.restrict(torch.zeros(1, 12), torch.tensor([ROOT]))
    assert restricted.softmax(-1).max() == 1  # one allowed token gets all the probability


@pytest.mark.parametrize("answers, words", [([], "empty"), ([""], "no tokens"), (["a", "a"], "twice")])
def test_bad_answers_are_refused_with_a_sentence(tokenizer, answers, words):
    with pytest.raises(ValueError, match=words):
        answer_trie(tokenizer, answers)
