"""The share of consistent guesses: `consistent_share(games) -> share` of the guesses that agree with all answers before."""

from shared.exercises.arguments import Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Number
from shared.exercises.stand_ins.games import Played
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def narrowed(games):
    """For each game what is still possible before each of its guesses, (low, high)."""
    found = []
    for game in games:
        low, high = game.low, game.high
        of_game = []
        for guess in game.guesses:
            of_game.append((low, high))
            if guess < game.secret:
                low = max(low, guess + 1)
            if guess > game.secret:
                high = min(high, guess - 1)
        found.append(of_game)
    return found


@STEPS.step
def agree(games, narrowed):
    """For each game and each of its guesses whether it agrees."""
    return [
        [low <= guess <= high for guess, (low, high) in zip(game.guesses, of_game)]
        for game, of_game in zip(games, narrowed)
    ]


@STEPS.step
def share(agree):
    together = [one for of_game in agree for one in of_game]
    return sum(together) / len(together) if together else 0.0


def bounds_of(games, after):
    """For each game (low, high) before each of its guesses and behind the last; `after(game, guess, low, high)` is next."""
    found = []
    for game in games:
        bounds = [(game.low, game.high)]
        for guess in game.guesses:
            bounds.append(after(game, guess, *bounds[-1]))
        found.append(bounds)
    return found


def narrowed_by(game, guess, low, high):
    """The bounds behind a guess and its answer, as in the step `narrowed`."""
    return max(low, guess + 1) if guess < game.secret else low, min(high, guess - 1) if guess > game.secret else high


def without_the_last(games, after):
    return [bounds[:-1] for bounds in bounds_of(games, after)]


@STEPS.slip(
    "narrowed",
    "Only the range is looked at, not what was answered: every guess within it counts.",
)
def range_alone(games):
    return [[(game.low, game.high)] * len(game.guesses) for game in games]


@STEPS.slip(
    "narrowed",
    "Only the last answer is looked at. A guess has to agree with all of them: after 2 low and 6 high, 1 is below 6 and "
    "still wrong.",
)
def last_answer_alone(games):
    return without_the_last(
        games,
        lambda game, guess, low, high: (guess + 1, game.high) if guess < game.secret else (game.low, guess - 1),
    )


@STEPS.slip(
    "narrowed",
    "A later answer widens what an earlier one had narrowed: after 4 low, a guess of 2 says low as well, and the least "
    "number stays 5. Take `max` and `min`.",
)
def widened(games):
    def after(game, guess, low, high):
        return guess + 1 if guess < game.secret else low, guess - 1 if guess > game.secret else high

    return without_the_last(games, after)


@STEPS.slip(
    "narrowed",
    "The guess itself stays possible: after 4 low the least number is 5.",
)
def guess_stays(games):
    def after(game, guess, low, high):
        return max(low, guess) if guess < game.secret else low, min(high, guess) if guess > game.secret else high

    return without_the_last(games, after)


@STEPS.slip(
    "narrowed",
    "The bounds are narrowed before the guess is judged, by its own answer: then no guess but a right one agrees.",
)
def own_answer_first(games):
    return [bounds[1:] for bounds in bounds_of(games, narrowed_by)]


@STEPS.slip("narrowed", "low and high are exchanged: after low, larger numbers are still possible.")
def exchanged(games):
    def after(game, guess, low, high):
        return max(low, guess + 1) if guess > game.secret else low, min(
            high, guess - 1
        ) if guess < game.secret else high

    return without_the_last(games, after)


@STEPS.slip(
    "agree",
    "The range is forgotten: a first guess outside of it cannot be right, and does not agree.",
)
def range_forgotten(games):
    found = []
    for game in games:
        low, high = -100, 100
        of_game = []
        for guess in game.guesses:
            of_game.append(low <= guess <= high)
            if guess < game.secret:
                low = max(low, guess + 1)
            if guess > game.secret:
                high = min(high, guess - 1)
        found.append(of_game)
    return found


@STEPS.slip(
    "agree",
    "The first guess is left out. It has to lie in the range: count it.",
)
def first_left_out(agree):
    return [of_game[1:] for of_game in agree]


@STEPS.slip(
    "share",
    "You take the mean of each game's share. Asked for is the share of all guesses: a game of three has three of them.",
)
def mean_of_games(agree):
    shares = [sum(of_game) / len(of_game) for of_game in agree if of_game]
    return sum(shares) / len(shares) if shares else 0.0


@STEPS.slip("share", "You divide by the number of games. Divide by the number of guesses.")
def by_games(agree):
    return sum(sum(of_game) for of_game in agree) / len(agree) if agree else 0.0


@STEPS.slip("share", "A game counts only where all of its guesses agree. Each guess counts for itself.")
def whole_games(agree):
    played = [of_game for of_game in agree if of_game]
    return sum(map(all, played)) / len(played) if played else 0.0


@STEPS.slip("share", "This is how many agree. A share is asked for: divide by the number of guesses.")
def how_many(agree):
    return float(sum(sum(of_game) for of_game in agree))


@STEPS.slip("share", "The share of those that do not agree is returned.")
def the_others(share):
    return 1 - share


@STEPS.slip("share", "Games without a guess divide by 0. Without any guess the share is 0.0.")
def divides_by_zero(agree):
    together = [one for of_game in agree for one in of_game]
    return sum(together) / len(together)


def drawn_game(draw: Draw) -> Played:
    low = draw.randrange(3)
    high = low + draw.randrange(2, 8)
    secret = draw.randint(low, high)
    wrong = [number for number in range(10) if number != secret]
    guesses = draw.some(wrong, draw.randrange(4))
    if draw.random() < 0.4:
        guesses = [*guesses[:2], secret]
    return Played(low, high, secret, guesses)


@STEPS.slip(
    "agree",
    "You leave a game at its first guess that does not agree. Go on: the guesses behind it are asked about too.",
)
def left_at_the_first_miss(agree):
    return [of_game[: of_game.index(False) + 1] if False in of_game else of_game for of_game in agree]


@STEPS.slip(
    "agree",
    "Behind a game's first guess that does not agree none counts as agreeing. Go on: each guess is asked about by itself.",
)
def none_behind_the_first_miss(agree):
    return [[all(of_game[: place + 1]) for place in range(len(of_game))] for of_game in agree]


@STEPS.slip(
    "narrowed", "Only `low` is heard: a guess above one that was high counts as consistent. Lower the largest number."
)
def high_not_heard(games):
    return without_the_last(games, lambda *now: (narrowed_by(*now)[0], now[-1]))


@STEPS.slip(
    "narrowed", "Only `high` is heard: a guess below one that was low counts as consistent. Raise the least number."
)
def low_not_heard(games):
    return without_the_last(games, lambda *now: (now[-2], narrowed_by(*now)[1]))


@STEPS.slip(
    "agree", "The least and the largest number do not count as possible. The range holds both: compare with `<=`."
)
def ends_left_out(games):
    def after(game, guess, low, high):
        return max(low, guess) if guess < game.secret else low, min(high, guess) if guess > game.secret else high

    return [
        [low < guess < high for guess, (low, high) in zip(game.guesses, bounds)]
        for game, bounds in zip(games, bounds_of(games, after))
    ]


@STEPS.slip("narrowed", "The bounds of one game go on into the next. Each game begins with its own range.")
def carried_over(games):
    found = []
    for game in games:
        low, high = found[-1][-1] if found else (game.low, game.high)
        bounds = [(low, high)]
        for guess in game.guesses:
            bounds.append(narrowed_by(game, guess, *bounds[-1]))
        found.append(bounds)
    return found


@STEPS.slip("share", "A game without a guess counts as one that does not agree. It has no guess: it counts nowhere.")
def silent_games_counted(agree):
    together = [one for of_game in agree for one in of_game or [False]]
    return sum(together) / len(together) if together else 0.0


@STEPS.slip("share", "This is the share of games that are won. Asked for is the share of guesses that agree.")
def games_won(games):
    return sum(game.guesses[-1:] == [game.secret] for game in games) / len(games) if games else 0.0


def draw(draw: Draw) -> Case:
    return {"games": [drawn_game(draw) for _ in range(draw.size(4))]}


def boundary() -> list[Case]:
    several = [[4], [2, 6, 4], [2, 6, 1], [6, 7, 4], [9, 4], [], [2, 2, 1]]
    games = [Played(1, 7, 4, guesses) for guesses in several]
    twice = [{"games": [game, game]} for game in games[1:3]]
    return [{"games": [game]} for game in games] + [{"games": games}] + twice


EXERCISE = Exercise(
    name="share of consistent guesses",
    function="consistent_share",
    contract="`f(games) -> share`: of all guesses, those that lie in the range and agree with every answer before.",
    steps=STEPS,
    arguments={"games": Things("B")},
    result=Number(),
    draw=draw,
    boundary=boundary,
    shows=("shared.exercises.stand_ins.games",),
)
