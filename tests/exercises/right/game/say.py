"""Right answers of the game."""

import re

from shared.tasks.game import FindTheNumber


def ORACLE(game, text):
    """The library's game, brought to where this one stands. It bears a guess without its space, which the page does not."""
    theirs = FindTheNumber({"low": game.low, "high": game.high, "secret": game.secret})
    theirs.guesses = list(game.guesses)
    said = theirs.say(re.sub(r"(?<![^\n])([0-9]\?)$", r"no \1", text))
    game.guesses, game.done = theirs.guesses, theirs.done
    return said


EQUIVALENT = {
    "word: return 'low' if guess <= game.secret else 'high'": "a guess that is the secret was answered before",
}
