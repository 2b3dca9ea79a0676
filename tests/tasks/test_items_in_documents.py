"""Every item is parsed back out of the documents: none may belong to an evaluation split, in any order or notation."""

import random
import re
from itertools import islice

from shared.tasks import addition, analogies, countdown, dots, poker, sentences
from shared.tasks.split import split_of


def documents(task, n=3000):
    return list(islice(task.documents(random.Random(11)), n))


def test_dots():
    rows = re.findall(r"Count the dots: (.+)", "\n".join(documents(dots)))
    assert len(rows) > 3000
    assert all(split_of(row) == "train" for row in rows)


def test_poker_whatever_the_order_of_the_cards():
    hands = [hand.split() for hand in re.findall(r"Hand: (.+)", "\n".join(documents(poker)))]
    assert len(hands) > 3000
    assert all(split_of(poker.canonical(hand)) == "train" for hand in hands)


def test_analogies_by_the_last_pair():
    """The held-out word is never in the place that is asked for, whatever the first pair."""
    held_out = {(relation.name, pair) for relation, pair in analogies.LAST_PAIRS["eval"]}
    asked = re.findall(r"(\w+) is to (\w+) as (\w+) is to(?: (\w+))?", "\n".join(documents(analogies)))
    relations_of = {
        pair: [r.name for r in analogies.RELATIONS if pair in r.pairs] for r in analogies.RELATIONS for pair in r.pairs
    }
    assert len(asked) > 3000
    for a, b, c, d in asked:
        assert not [name for name in relations_of[a, b] if (name, (c, d)) in held_out and len(relations_of[a, b]) == 1]


def test_addition_in_the_documents_of_both_tasks_with_sums():
    """Countdown documents add numbers as well: its steps must not teach the sums that addition holds out."""
    text = "\n".join(documents(addition) + documents(countdown))
    sums = [(int(a), int(b)) for a, b in re.findall(r"(?<!\d)(\d\d) \+ (\d\d)(?!\d)", text)]
    sums += [(int(a), int(b)) for a, b in re.findall(r"add (\d+) and (\d+)", text)]
    assert len(sums) > 3000
    # `3 * 10 + 12` shows the digits of a sum that is not one: only the lines of working and the questions count.
    working = re.findall(r"^(\d\d) \+ (\d\d) = ", text, re.MULTILINE) + re.findall(r"add (\d+) and (\d+)", text)
    assert all(addition.pair_split(int(a), int(b)) == "train" for a, b in working)


def test_countdown_whatever_the_order_of_the_numbers():
    problems = re.findall(r"Use ([\d ]+) once each to make (\d+)", "\n".join(documents(countdown)))
    assert len(problems) > 2000
    for numbers, target in problems:
        canonical = " ".join(map(str, sorted(map(int, numbers.split()))))
        assert split_of(f"{canonical} = {target}") == "train"


def test_sentences():
    held_out = {opening for opening in sentences.OPENINGS if split_of(opening) == "eval"}
    for text in documents(sentences):
        words = text.replace(".", "").replace(",", "").split()
        assert not held_out & {" ".join(words[i : i + 3]) for i in range(len(words))}
