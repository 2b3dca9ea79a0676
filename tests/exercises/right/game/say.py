"""Right answers of the game."""

from shared.tasks.game import FindTheNumber


def ORACLE(game, text):
    """The library's game, brought to where this one stands."""
    theirs = FindTheNumber({"low": game.low, "high": game.high, "secret": game.secret})
    theirs.guesses = list(game.guesses)
    said = theirs.say(text)
    game.guesses, game.done = theirs.guesses, theirs.done
    return said


def by_hand(game, text):
    lines = text.split("\n")
    own = "\n".join(lines[len(game.guesses) :])
    if own.strip(" ") in ("", *"0123456789") and len(own) < 3:
        return ""
    if len(own) != 3 or own[0] != " " or own[1] not in "0123456789" or own[2] != "?":
        game.done = True
        return ""
    guess = int(own[1])
    game.guesses.append(guess)
    if guess == game.secret:
        game.done = True
        return " right\n"
    if len(game.guesses) >= 3:
        game.done = True
    return " low\n" if guess < game.secret else " high\n"


RIGHT = [by_hand]
EQUIVALENT = {
    "word: return 'low' if guess <= game.secret else 'high'": "a guess that is the secret was answered before",
}
