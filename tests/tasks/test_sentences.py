import random
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.tasks import sentences


def test_the_grammar_has_some_hundreds_of_words():
    words = {
        word
        for text in islice(sentences.documents(random.Random(0)), 3000)
        for word in text.replace(".", "").replace(",", "").split()
    }
    assert 180 < len(words) < 400
    assert words <= sentences.VOCABULARY


def test_documents_begin_with_an_opening_and_end_with_a_full_stop():
    for text in islice(sentences.documents(random.Random(1)), 300):
        assert " ".join(text.split()[:3]) in sentences.OPENINGS
        assert text.endswith(".")


def test_only_full_stops_of_the_completion_count():
    prompts = ["the old. sailor.", "the dog", "the dog"]
    assert sentences.count_reward(prompts, [" slept. he sang.", " slept", "." * 30]) == [2, 0, 30]
    assert sentences.reward(prompts, [" slept. he sang.", " slept", "." * 30]) == [0.2, 0, 1.0]


def test_text_that_drifts_is_noticed():
    assert sentences.share_of_known_words(" slept. he sang.") == 1.0
    assert sentences.share_of_known_words(" xyzzy. he sang.") == 2 / 3
    assert sentences.share_of_known_words("...") == 1.0


@given(st.text())
def test_reward_takes_any_text(text):
    assert 0 <= sentences.reward(["x"], [text])[0] <= 1


@pytest.mark.parametrize(
    ("completion", "reward"),
    [
        (" went to the old church again.", 0.0),
        (" slept.", -5.0),
        (" slept. she danced all day.", -3.5),
        (" went to the old church again", 0.0),
        ("", -6.0),
        ("....", -6.0),
        (" said 3.5", -3.0),
    ],
)
def test_the_length_reward_by_hand(completion, reward):
    """Catches pieces that are counted as sentences, a division by 0 full stops, and a prompt that is read."""
    assert sentences.length_reward(["the. old. sailor."], [completion]) == [reward]
