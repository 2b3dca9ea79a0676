"""A vote among the answers of several samples: `vote(answers) -> answer`, where "" abstains."""

from collections import Counter
from itertools import groupby

from shared.exercises.arguments import Texts
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Text
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def ballots(answers):
    return [answer for answer in answers if answer]


@STEPS.step
def counts(ballots):
    """The number of votes of each answer, in the order in which the answers first came."""
    return Counter(ballots)


@STEPS.step
def tied(counts):
    return [answer for answer, count in counts.items() if count == max(counts.values())]


@STEPS.step
def winner(tied):
    return tied[0] if tied else ""


@STEPS.slip(
    "ballots",
    'You count "" as an answer. It abstains: else many samples without an answer outvote the few that have one.',
)
def abstentions_counted(answers):
    return answers


@STEPS.slip("counts", "You count in one joined text, where an answer that is a part of another gets its votes too.")
def counted_in_one_text(ballots):
    return {answer: " ".join(ballots).count(answer) for answer in ballots}


@STEPS.slip("tied", "You take the rarest answer. The most frequent one wins.")
def rarest(counts):
    return [answer for answer, count in counts.items() if count == min(counts.values())]


@STEPS.slip("tied", "A tie goes to the smallest answer in the alphabet: such answers win more often than their share.")
def smallest_of_a_tie(tied):
    return sorted(tied)


@STEPS.slip("tied", "A tie goes to the largest answer in the alphabet: such answers win more often than their share.")
def largest_of_a_tie(tied):
    return sorted(tied, reverse=True)


@STEPS.slip("tied", "A tie goes to the answer whose first sample came last. Take the one that came first.")
def last_of_a_tie(tied):
    return tied[::-1]


@STEPS.slip(
    "tied",
    "A tie goes to the answer that was first to have so many votes. It goes to the one that came first: count all before "
    "you compare.",
)
def first_to_reach(tied, ballots):
    last_votes = {ballot: place for place, ballot in enumerate(ballots)}
    return sorted(tied, key=last_votes.get)


@STEPS.slip("tied", "A tie goes to the answer that was given last of all. Take the one that came first.")
def given_last(tied, ballots):
    return sorted(tied, key=ballots[::-1].index)


@STEPS.slip(
    "winner", "You ask for more than half of the votes. The most frequent answer wins, however small its share is."
)
def more_than_half(tied, ballots):
    return tied[0] if tied and 2 * ballots.count(tied[0]) > len(ballots) else ""


@STEPS.slip("winner", "At a tie nobody wins in yours. The answer that came first does.")
def nobody_at_a_tie(tied):
    return tied[0] if len(tied) == 1 else ""


@STEPS.slip("winner", "You return the first answer, as if each had one vote: count how often each was given.")
def first_answer(ballots):
    return ballots[0] if ballots else ""


@STEPS.slip("winner", "You return the last answer without a vote: count how often each was given.")
def last_answer(ballots):
    return ballots[-1] if ballots else ""


@STEPS.slip(
    "winner", "The largest answer in the alphabet wins, however few have given it. Count how often each was given."
)
def largest(counts):
    return max(counts, default="")


@STEPS.slip("winner", "The longest answer wins, however few have given it. Count how often each was given.")
def longest(counts):
    return max(counts, key=len, default="")


@STEPS.slip(
    "tied",
    "A tie goes to the answer that a `set` happens to hold first, which changes from run to run. Take the one that came "
    "first.",
)
def first_of_a_set(tied, ballots):
    return sorted(tied, key=list(set(ballots)).index)


@STEPS.slip("tied", "A tie goes to the longest of its answers. Take the one that came first.")
def longest_of_a_tie(tied):
    return sorted(tied, key=len, reverse=True)


ANSWERS = ("3", "33", "10", "flush", "one pair", "2", "7", "12", "straight")


@STEPS.slip(
    "winner",
    "Only equal neighbours are counted together, so the longest run wins. Count each answer over the whole list.",
)
def longest_run(ballots):
    runs = [(answer, len(list(run))) for answer, run in groupby(ballots)]
    return max(runs, key=lambda run: run[1], default=("", 0))[0]


@STEPS.slip(
    "ballots", 'Only digits count as an answer in yours. Any text may be one, such as "flush": "" alone abstains.'
)
def digits_alone(answers):
    return [answer for answer in answers if answer.isdigit()]


def draw(draw: Draw) -> Case:
    """Few different answers, so that ties are frequent; abstentions among them."""
    said = draw.sample(ANSWERS, draw.size(4))
    return {"answers": draw.some([*said, *said, ""], draw.size(9))}


def boundary() -> list[Case]:
    lists = [
        ["3"],
        [""],
        ["", ""],
        ["", "", "3"],
        ["3", "2"],
        ["2", "3"],
        ["3", "2", "2", "3"],
        ["2", "3", "3", "2"],
        ["2", "3", "3"],
        ["3", "2", "2"],
        ["3", "10", "2"],
        ["2", "3", "3", "2", ""],
        ["3", "3", "", "", "", "2"],
        ["3"] * 4 + ["2"] * 5,
        ["33", "3", "3"],
        *(["3"] * count + ["2"] * (count + 1) for count in (8, 16, 32, 64)),
    ]
    return [{"answers": answers} for answers in lists]


EXERCISE = Exercise(
    name="vote",
    function="vote",
    contract='`f(answers) -> answer`: the most frequent text, of a tie the one that came first; "" abstains.',
    steps=STEPS,
    arguments={"answers": Texts("B")},
    result=Text(),
    draw=draw,
    boundary=boundary,
    draws=118,
)
