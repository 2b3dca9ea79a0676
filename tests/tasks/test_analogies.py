import random

from hypothesis import given
from hypothesis import strategies as st

from shared.tasks import analogies
from shared.tasks.word_pairs import ALSO_RIGHT, RELATIONS, Relation


def test_several_hundred_pairs_in_a_dozen_relations():
    assert len(RELATIONS) >= 12
    assert sum(len(r.pairs) for r in RELATIONS) >= 400
    for relation in RELATIONS:
        assert len(set(relation.pairs)) == len(relation.pairs), relation.name
        assert all(len(pair) == 2 and " ".join(pair).replace(" ", "").isalpha() for pair in relation.pairs)
        assert "{a}" in relation.sentence and "{b}" in relation.sentence


def test_every_accepted_answer_is_accepted():
    """An analogy with two right answers and one accepted punishes the model for being right."""
    opposite = next(r for r in RELATIONS if r.name == "opposite")
    assert analogies.answers_of(opposite, "right") == ["wrong", "left"]
    names = {(relation.name, a) for relation in RELATIONS for a, _ in relation.pairs}
    assert ALSO_RIGHT.keys() <= names


def test_the_words_of_one_question_share_a_split():
    """Two right answers to one question in different splits would leak: catches a split by the whole pair."""
    pairs = tuple((f"word{i}", answer) for i in range(40) for answer in ("one", "other"))
    relation = Relation("made up", "{a} and {b}.", pairs)
    splits = [analogies.pair_split(relation, pair) for pair in pairs]
    assert splits[::2] == splits[1::2] and set(splits) == {"train", "eval"}


def test_the_data_set_goes_round_all_held_out_pairs():
    n = len(analogies.LAST_PAIRS["eval"])
    asked = [row["prompt"].split()[-3] for row in analogies.dataset("eval", n)]
    assert len(set(asked)) > 0.8 * n  # a word may be asked for in two relations


def test_pairs_to_choose_settings_by_are_none_of_those_measured_on():
    """Catches a cut by rows: a pair would be chosen by behind one first pair and measured behind another."""
    rows = analogies.dataset("eval", 339, seed=0)
    measured, to_choose_by = analogies.set_aside(rows)
    pairs = [{(row["relation"], row["word"]) for row in part} for part in (measured, to_choose_by)]
    assert len(measured) + len(to_choose_by) == len(rows) and not pairs[0] & pairs[1]
    assert 0.2 < len(pairs[1]) / len(pairs[0] | pairs[1]) < 0.45
    again = analogies.set_aside(analogies.dataset("eval", 100, seed=1))
    assert not {(row["relation"], row["word"]) for row in again[1]} & pairs[0]


def test_an_answer_drawn_by_lot_is_of_its_kind_and_never_right():
    """Catches a lot that is drawn anew for each row, from which a pair could be guessed behind another first pair."""
    drawn = {}
    kinds = {relation.name: {second for _, second in relation.pairs} for relation in RELATIONS}
    for row in analogies.dataset("train", 900, seed=0):
        (word,) = analogies.drawn_by_lot(row)["answers"]
        assert word in kinds[row["relation"]] and word not in row["answers"]
        assert drawn.setdefault((row["relation"], row["word"]), word) == word


def test_no_analogy_gives_its_answer_away():
    """With the same pair first and last, copying is enough."""
    rng = random.Random(0)
    assert all(first[0] != last[0] for _, first, last in (analogies.draw_analogy(rng, "train") for _ in range(2000)))


def test_reward_on_good_and_bad_completions():
    completions = [" puppy", "Puppy.", " puppy and more", ' "puppy"', " a puppy", " puppydog", "", "\n", " dog"]
    assert analogies.reward([""] * 9, completions, [["puppy", "pup"]] * 9) == [1, 1, 1, 1, 0, 0, 0, 0, 0]
    assert analogies.reward([""], [" pup"], [["puppy", "pup"]]) == [1.0]


@given(st.text())
def test_reward_takes_any_text(text):
    assert analogies.reward(["x"], [text], [["puppy"]]) in ([0.0], [1.0])
