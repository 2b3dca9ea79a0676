"""Right rewards of a game."""

from shared.tasks.game import FindTheNumber


def ORACLE(prompts, completions, environments, **columns):
    """The property of the library's game."""
    return [float(FindTheNumber.won.fget(game)) for game in environments]


def any_guess(prompts, completions, environments, **columns):
    """A game ends with its right guess, so it is the last one wherever it is."""
    return [1.0 if game.secret in game.guesses else 0.0 for game in environments]


def looped(prompts, completions, environments, **columns):
    rewards = []
    for game in environments:
        if len(game.guesses) == 0:
            rewards.append(0.0)
        elif game.guesses[-1] == game.secret:
            rewards.append(1.0)
        else:
            rewards.append(0.0)
    return rewards


RIGHT = [any_guess, looped]
