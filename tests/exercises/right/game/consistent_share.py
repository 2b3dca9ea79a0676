"""Right shares of consistent guesses."""

from shared.tasks.game import agreeing


def ORACLE(games):
    agree = [one for game in games for one in agreeing(game)]
    return sum(agree) / len(agree) if agree else 0.0


def by_sets(games):
    right = total = 0
    for game in games:
        possible = set(range(game.low, game.high + 1))
        for guess in game.guesses:
            right += guess in possible
            total += 1
            if guess < game.secret:
                possible = {number for number in possible if number > guess}
            elif guess > game.secret:
                possible = {number for number in possible if number < guess}
    return right / max(1, total)


RIGHT = [by_sets]
EQUIVALENT = {
    "narrowed: if guess <= game.secret:": "a right guess is the last one: nothing is judged by the bounds behind it",
    "narrowed: if guess >= game.secret:": "a right guess is the last one: nothing is judged by the bounds behind it",
    "narrowed: low = max(guess + 1, low)": "the larger of two numbers, whichever stands first",
    "narrowed: high = min(guess - 1, high)": "the smaller of two numbers, whichever stands first",
}
