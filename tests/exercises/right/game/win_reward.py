"""Right rewards of a game."""

from shared.tasks.game import FindTheNumber


def ORACLE(prompts, completions, environments, **columns):
    """The property of the library's game."""
    return [float(FindTheNumber.won.fget(game)) for game in environments]
