"""The point from which on training pays: `break_even(before, after, target, training) -> number` of questions.

`before` and `after` hold pairs (price of a question, accuracy), the cheapest first. The result is the least number of
questions for which training and asking the trained policy costs no more than asking the base model, both at the cheapest
price that reaches the target. It is inf where that never comes, and 0 where the base model never reaches the target.
"""

import math

from shared.exercises.arguments import Scalar, Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Number
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def price_before(before, target):
    return min((price for price, accuracy in before if accuracy >= target), default=math.inf)


@STEPS.step
def price_after(after, target):
    return min((price for price, accuracy in after if accuracy >= target), default=math.inf)


@STEPS.step
def saved(price_before, price_after):
    """The saving of the training with every question; nan where neither reaches the target."""
    return price_before - price_after


@STEPS.step
def exact(training, saved):
    return training / saved if saved > 0 else math.inf


@STEPS.step
def questions(exact):
    return math.ceil(exact) if exact < math.inf else math.inf


@STEPS.slip(
    "price_before",
    "An accuracy that just reaches the target does not count in yours before training. At least is enough.",
)
def above_before(before, target):
    return min((price for price, accuracy in before if accuracy > target), default=math.inf)


@STEPS.slip(
    "price_after",
    "An accuracy that just reaches the target does not count in yours after training. At least is enough.",
)
def above_after(after, target):
    return min((price for price, accuracy in after if accuracy > target), default=math.inf)


@STEPS.slip("price_before", "The base model is asked at its dearest price. Take the cheapest that reaches the target.")
def dearest_before(before, target):
    return max((price for price, accuracy in before if accuracy >= target), default=math.inf)


@STEPS.slip(
    "price_after", "The trained policy is asked at its dearest price. Take the cheapest that reaches the target."
)
def dearest_after(after, target):
    return max((price for price, accuracy in after if accuracy >= target), default=math.inf)


@STEPS.slip(
    "price_before", "The price before training is that of the first pair, whether it reaches the target or not."
)
def first_before(before):
    return before[0][0]


@STEPS.slip("price_after", "The price after training is that of the first pair, whether it reaches the target or not.")
def first_after(after):
    return after[0][0]


@STEPS.slip("saved", "You leave out what a question costs after the training: only the difference is saved.")
def asking_is_free(price_before, price_after):
    return price_before if price_after < math.inf else 0.0


@STEPS.slip("saved", "You divide the prices. What is saved with every question is their difference.")
def ratio_of_prices(price_before, price_after):
    return price_before / price_after if price_after < min(price_before, math.inf) else 0.0


@STEPS.slip("saved", "The difference is turned round: training saves where asking was dearer *before*.")
def turned_round(price_before, price_after):
    return price_after - price_before if price_before < math.inf else 0.0


@STEPS.slip("saved", "A saving from a policy that never reaches the target is counted. Then training never pays.")
def never_reached(price_before, price_after):
    return price_before if price_after == math.inf else price_before - price_after


@STEPS.slip("exact", "Where nothing is saved the result is inf: so many questions are never asked.")
def nothing_saved(training, saved):
    return training / saved if saved > 0 else 0.0


@STEPS.slip("exact", "Where training saves nothing you give a number below 0. It never pays: inf.")
def below_0(training, saved):
    return training / saved if saved else math.inf


@STEPS.slip(
    "exact", "The product is not the number of questions: divide the price of training by what a question saves."
)
def multiplied(training, saved):
    return training * saved if 0 < saved < math.inf else (math.inf if saved <= 0 else 0.0)


@STEPS.slip("questions", "You return a fraction of a question. Round up to a whole one.")
def not_rounded(exact):
    return exact


@STEPS.slip("questions", "You round down: with so many questions training has not paid yet.")
def rounded_down(exact):
    return math.floor(exact) if exact < math.inf else math.inf


@STEPS.slip("questions", "You round to the nearest whole number, which may be too few: round up.")
def rounded_to_nearest(exact):
    return round(exact) if exact < math.inf else math.inf


@STEPS.slip("questions", "You add one: at exactly so many questions both ways cost the same, and that is enough.")
def one_more(exact):
    return math.floor(exact) + 1 if exact < math.inf else math.inf


@STEPS.slip("questions", "You round down and add 1: where the quotient is whole that is a question too many. Round up.")
def rounded_down_and_one_more(exact):
    return math.floor(exact) + 1 if 0 < exact < math.inf else exact


@STEPS.slip(
    "exact",
    "Where neither reaches the target you say 0. Training that does not reach it never pays: look at the prices after it "
    "first.",
)
def free_where_neither_reaches(exact, price_before):
    return 0 if price_before == math.inf else exact


@STEPS.slip(
    "exact",
    "Where the base model alone never reaches the target you say never. Training pays from the start then: the answer is 0.",
)
def never_where_the_base_fails(training, saved):
    return training / saved if 0 < saved < math.inf else math.inf


@STEPS.slip(
    "exact", "Where a question costs more after training you give a number, 0 or below. It never pays: infinity."
)
def dearer_is_divided(training, saved):
    return training / saved if saved != 0 and saved > -math.inf else math.inf


@STEPS.slip(
    "saved",
    "You take the price of the most accurate pair. Any that reaches the target will do: take the cheapest of these.",
)
def most_accurate(before, after, target):
    best = [max(pairs, key=lambda pair: pair[1]) for pairs in (before, after)]
    old, new = (price if accuracy >= target else math.inf for price, accuracy in best)
    return old - new


@STEPS.slip(
    "saved",
    "You take the pair whose accuracy is nearest above the target. Any that reaches it will do: take the cheapest.",
)
def least_accurate(before, after, target):
    enough = [[(accuracy, price) for price, accuracy in pairs if accuracy >= target] for pairs in (before, after)]
    old, new = (min(pairs, default=(0, math.inf))[1] for pairs in enough)
    return old - new


@STEPS.slip(
    "questions",
    "Where the base model never reaches the target you give 1: `//` rounds a negative number to -1, however small it is. "
    "The answer is 0.",
)
def one_for_none(exact):
    return max(1, math.ceil(exact)) if exact < math.inf else math.inf


def draw(draw: Draw) -> Case:
    """Prices 1, 2, 4, ..., 1024, 1025, ... or any seconds, with accuracies that need not rise; a target that some just reach."""
    count = draw.size(5)
    first = draw.choice([1, 1, draw.number(0.1, 3.0)])
    prices = [(2 ** min(i, 10) + max(0, i - 10)) * first for i in range(count)]  # a float holds no 2 ** 1500
    dearer = draw.choice([1, 1, 3, 1.7])  # what is trained is shorter
    levels = [0.25, 0.5, 0.75, 0.875, 1.0]
    before = [(dearer * price, draw.choice(levels[:-1])) for price in prices]
    after = [(price, draw.choice(levels)) for price in prices]
    return {
        "before": before,
        "after": after,
        "target": draw.choice([0.5, 0.75, 0.875]),
        "training": draw.choice([draw.randint(1, 200), draw.randint(1, 6), draw.number(0.5, 200.0)]),
    }


def valid(case: Case) -> bool:
    """True where no fraction decides between two whole numbers: then rounding would."""
    if not case["before"] or case["training"] <= 0:
        return False
    prices = [case["training"], *(price for price, _ in (*case["before"], *case["after"]))]
    exact = STEPS.result(case, (NOT_ROUNDED,))
    are_whole = all(float(price).is_integer() for price in prices)
    return are_whole or exact in (0, math.inf) or abs(exact - round(exact)) > 1e-6


def boundary() -> list[Case]:
    few, many = [(1, 0.25), (8, 0.625), (32, 0.9375)], [(1, 0.5), (8, 0.9375), (32, 1.0)]
    quadruples = [
        (few, many, 0.875, 1024),
        (few, many, 0.875, 24),
        (few, many, 0.875, 480),
        (few, many, 0.875, 25),
        (many, few, 0.875, 1024),
        (few, few, 0.875, 1024),
        (few, many, 1.0, 1024),
        (many, few, 1.0, 1024),
        (few, few, 1.0, 1024),
        (few, many, 0.9375, 1024),
        (many, many, 0.5, 10),
        ([(1, 0.5), (8, 0.25)], [(1, 0.25), (1, 0.25), (8, 0.5)], 0.5, 7),
        ([(1, 0.25), (8, 0.5)], [(1, 0.5), (8, 0.25)], 0.5, 7),
        ([(1, 0.25), (8, 0.5)], [(1, 0.5), (8, 0.25)], 0.5, 8),
    ]
    return [dict(zip(("before", "after", "target", "training"), quadruple)) for quadruple in quadruples]


NOT_ROUNDED = next(slip for slip in STEPS.slips if slip.name == "not_rounded")
EXERCISE = Exercise(
    name="break-even",
    function="break_even",
    contract="`f(before, after, target, training) -> number` of questions from which on training pays; inf for never.",
    steps=STEPS,
    arguments={
        "before": Things("L"),
        "after": Things("L"),
        "target": Scalar(usual=0.9, simple=(0.5, 0.75), most=1.0),
        "training": Scalar(usual=1024, simple=(1, 10)),
    },
    result=Number(),
    tolerance=1e-6,
    draw=draw,
    boundary=boundary,
    draws=119,
    valid=valid,
)
