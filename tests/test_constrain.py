import pytest
import torch
from tokenizers.processors import TemplateProcessing

from shared.constrain import ROOT, Walk, answer_trie, only_ends
from tests.fakes import letter_tokenizer


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


def test_the_table_of_a_trie_worked_by_hand(tokenizer):
    """a is 2, b is 3, EOS 1. The root may say a; after a come EOS or b; after ab comes EOS, which leads back."""
    trie = answer_trie(tokenizer, ["a", "ab"])
    assert trie.token_ids.tolist() == [[2, 0], [1, 3], [1, 0]]
    assert trie.allowed.tolist() == [[True, False], [True, True], [True, False]]
    assert trie.next_state.tolist() == [[1, 0], [0, 2], [0, 0]]


def test_a_token_that_is_not_allowed_leads_to_the_root_and_has_no_column(tokenizer):
    """Catches rows filled up with a 0 that is taken for token 0, and a look only at the first state."""
    trie = answer_trie(tokenizer, ["a", "ab"])
    states, tokens = torch.tensor([0, 0, 1, 1, 1]), torch.tensor([2, 0, 3, 1, 0])
    assert trie.advance(states, tokens).tolist() == [1, 0, 2, 0, 0]
    assert trie.columns(tokens, states).tolist() == [0, 0, 1, 0, 0]
    assert trie.columns(tokens[None], states[None]).tolist() == [[0, 0, 1, 0, 0]]
    assert trie.states(torch.tensor([[2, 3, 1, 2], [2, 1, 0, 0]])).tolist() == [[0, 1, 2, 0], [0, 1, 0, 0]]
    assert trie.states(torch.tensor([[2]])).tolist() == [[0]], "a completion may be one token long"


def test_restrict_gives_each_allowed_token_its_own_logit(tokenizer):
    trie = answer_trie(tokenizer, ["a", "ab"])
    logits = torch.arange(12.0).expand(2, 12)
    expected = [[2.0, -torch.inf], [1.0, 3.0]]
    assert trie.restrict(logits, torch.tensor([0, 1])).tolist() == expected
    assert trie.restrict(logits[None], torch.tensor([[0, 1]])).tolist() == [expected]


def test_a_trie_moves_as_a_whole(tokenizer):
    trie = answer_trie(tokenizer, ["a"]).to("meta")
    assert {trie.token_ids.device.type, trie.allowed.device.type, trie.next_state.device.type} == {"meta"}


def test_a_tokenizer_without_an_end_is_refused():
    """Catches a missing EOS that is found out in sampling."""
    tokenizer = letter_tokenizer()
    tokenizer.eos_token = None
    with pytest.raises(ValueError, match="no EOS token"):
        answer_trie(tokenizer, ["a"])


def test_answers_end_as_the_model_ends(tokenizer):
    """Catches the tokenizer's EOS behind a label where the model's turn ends in another token, and one within a label."""
    assert answer_trie(tokenizer, ["ab"]).ended_by(9).token_ids.tolist() == [[2], [3], [9]]
    with pytest.raises(ValueError, match="holds the token 3"):
        answer_trie(tokenizer, ["ab", "a"]).ended_by(3)


def test_answers_are_read_without_the_tokenizers_own_tokens():
    """Catches a BOS in front of every answer: it would have to be said."""
    tokenizer = letter_tokenizer()
    single = TemplateProcessing(single="<eos> $A", special_tokens=[("<eos>", 1)])
    tokenizer.backend_tokenizer.post_processor = single
    assert answer_trie(tokenizer, ["ab"]).token_ids.tolist() == [[2], [3], [1]]


@pytest.mark.parametrize(
    "answers, words",
    [([], "empty"), ("ab", "one text, 'ab'"), ([""], "'' has no tokens"), (["a", "a"], "'a' is given twice")],
)
def test_bad_answers_are_refused_with_a_sentence(tokenizer, answers, words):
    with pytest.raises(ValueError, match=words):
        answer_trie(tokenizer, answers)


def test_the_only_end_of_each_state_worked_by_hand(tokenizer):
    """States of `ab`, `abc`, `de`: 0 root, 1 a, 2 ab, 3 abc, 4 d, 5 de. Catches an end that leaves out a choice."""
    branches = answer_trie(tokenizer, ["ab", "abc", "de"]).branches()
    a, b, c, d, e = tokenizer.convert_tokens_to_ids(list("abcde"))
    assert branches == [{a: 1, d: 4}, {b: 2}, {1: 0, c: 3}, {1: 0}, {e: 5}, {1: 0}]
    assert only_ends(branches, eos={1}) == [None, None, None, [1], [e, 1], [1]]
    assert only_ends(branches, eos={1, e})[4] == [e], "another token of the model's that ends a completion"


def test_a_walk_goes_from_node_to_node(tokenizer):
    """Catches nodes that stay where they are, or go on from another node than their own."""
    trie = answer_trie(tokenizer, ["ab", "abc", "de", "dec"])
    a, b, c, d, e = tokenizer.convert_tokens_to_ids(list("abcde"))
    walk = Walk(trie, nodes=2, eos={1})
    assert walk.end_after(0, a) is None
    walk.step([a, d, d], parent=[0, 1, 0])
    assert walk.end_after(0, b) is None, "`ab` may end or go on"
    walk.step([b, e], parent=[0, 2])
    assert walk.end_after(0, c) == walk.end_after(1, c) == [1]
    walk.step([d, c], parent=[1, 1])
    assert walk.state[0] == ROOT, "a token that is not allowed"
    assert walk.end_after(1, 1) is None, "behind the end stands the root, where there is a choice"


def test_an_end_is_found_behind_a_state_with_a_choice(tokenizer):
    """Catches a search that stops at the first state with a choice: `abc` may go on in two ways, `de` ends."""
    branches = answer_trie(tokenizer, ["de", "abc", "abd"]).branches()
    ends = only_ends(branches, eos={1})
    d, e = tokenizer.convert_tokens_to_ids(list("de"))
    assert ends[branches[0][d]] == [e, 1]
