"""Right shares of consistent guesses."""

from shared.tasks.game import agreeing


def ORACLE(games):
    agree = [one for game in games for one in agreeing(game)]
    return sum(agree) / len(agree) if agree else 0.0


EQUIVALENT = {
    "narrowed: if guess <= game.secret:": "a right guess is the last one: nothing is judged by the bounds behind it",
    "narrowed: if guess >= game.secret:": "a right guess is the last one: nothing is judged by the bounds behind it",
    "narrowed: low = max(guess + 1, low)": "the larger of two numbers, whichever stands first",
    "narrowed: high = min(guess - 1, high)": "the smaller of two numbers, whichever stands first",
}
