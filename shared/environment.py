r"""An environment writes into a completion: a calculator that fills in after "=", a search engine, a game.

It is a function without memory, or a game with a state of its own, made anew for each completion:

    environment(text) -> text     from the completion so far to what is put behind it; "" leaves the word to the policy
    make(row, seed) -> game       `environment_factory`; `game.say(text)` answers as above, `game.done` ends the completion

The policy reads what the environment wrote as it reads its own tokens, so both stand in the completion and both are
attended to. But the policy did not draw them: they are no actions, have no log-probability that could be raised, and
are left out of every loss. `Rollout.policy_mask` says which is which; it is another mask than the one of the padding,
which nobody reads. TRL calls it `env_mask`. `notebooks/transfer.ipynb` and `notebooks/game.ipynb` show what happens without it.

A game of one guess, in a data set whose rows have a secret:

    class Guess:
        def __init__(self, row, seed):
            self.secret = row["secret"]
            self.done = False

        def say(self, text):
            if not text.endswith("?"):
                return ""
            self.done = True
            return " right" if text == f"{self.secret}?" else " wrong"

The policy writes `4`, then `?`; `say` hears `4` and answers nothing, hears `4?` and answers ` wrong`. The completion
`4? wrong` has ended then, with no EOS: no token says so, and none is learnt from.

A tool that the policy calls by name is an environment without memory, which reads the call at the end of the text:

    def tools(text):
        call = re.search(r"(add|multiply)\((\d+), (\d+)\)=$", text)
        return f" {TOOLS[call[1]](int(call[2]), int(call[3]))}" if call else ""

There is no `tools=` of typed functions. TRL writes those into the chat template of a model that was trained to call them;
the embedded model has no template, and that of SmolLM2-135M has no place for tools.

TRL's trainer has an `environment_factory` too. It takes no argument there, and the environment's methods are tools that
a chat model calls; the row comes to the environment's `reset`. What is the same: one environment for each completion,
and rewards that may take `environments`.
"""

import time
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from transformers import PreTrainedTokenizerBase

from shared.engine.chance import game_seed
from shared.tokens import piece_ids, text_of

Environment = Callable[[str], str]

# What one answer of a game may be: more is a mistake, or makes every completion wait.
LONGEST_ANSWER = 200  # tokens
SLOWEST_ANSWER = 1.0  # seconds


class Game(Protocol):
    """An environment with a state, which belongs to one completion.

    say: asked after each token of the policy's with the completion so far, the game's own words included; "" leaves the
        word to the policy. Its answer depends on row, seed and texts alone.
    done: True when the game is over: the completion ends behind what `say` answered last.
    """

    done: bool

    def say(self, text: str) -> str: ...


EnvironmentFactory = Callable[[dict, int], Game]


def answer_tokens(
    environment: Environment, tokenizer: PreTrainedTokenizerBase, completion_ids: list[int], eos: Collection[int]
) -> list[int]:
    """The tokens that the environment puts behind a completion so far; [] leaves the next one to the policy.

    Raises ValueError when they hold one of `eos`, which would end the completion, and when no tokens say the answer.
    """
    text = text_of(tokenizer, completion_ids)
    said = environment(text)
    ids = piece_ids(tokenizer, said) if said else []
    if any(token in eos for token in ids):
        raise ValueError(
            f"After {text!r} the environment said {said!r}, which holds the token that ends a completion. Only the "
            "policy may end it: leave that token out."
        )
    return ids


def make_games(
    make: EnvironmentFactory, rows: Sequence[dict], num_generations: int, seed: int, step: int, places: Sequence[int]
) -> list[Game]:
    """A game for each of the B = N x G completions of these rows, those of one row next to each other.

    The games of one row have the same seed, so that what a group's rewards differ by is the policy's doing.

    Raises ValueError with the row: `make` raised, or gave the game of another completion again.
    """
    games: list[Game] = []
    for row, place in zip(rows, places, strict=True):
        for _ in range(num_generations):
            try:
                games.append(make(row, game_seed(seed, step, place)))
            except Exception as error:
                raise ValueError(f"No environment was made for the row {row!r}: {told(error)}.") from error
    if len({id(game) for game in games}) < len(games):
        raise ValueError(
            "environment_factory returned one environment for two completions, which would hear each other: make a "
            f"new one at each call, as for the row {rows[0]!r}."
        )
    return games


def game_tokens(
    game: Game, row: dict, tokenizer: PreTrainedTokenizerBase, completion_ids: list[int], eos: Collection[int]
) -> list[int]:
    """`answer_tokens` of a game, which is held to its contract.

    Raises ValueError with row and text: `say` raised, returned no text, more than LONGEST_ANSWER tokens, or after more
    than SLOWEST_ANSWER seconds; or `done` is neither True nor False.
    """

    def say(text: str) -> str:
        where = f"After {text!r}, in the row {row!r}, the environment's `say`"
        begun = time.monotonic()
        try:
            said = game.say(text)
        except Exception as error:
            raise ValueError(f"{where} raised {told(error)}. It must answer any text.") from error
        seconds = time.monotonic() - begun
        if seconds > SLOWEST_ANSWER:
            raise ValueError(
                f"{where} took {seconds:.1f} s; it is asked after every token, and {SLOWEST_ANSWER:g} s is the limit."
            )
        if not isinstance(said, str):
            raise ValueError(f'{where} returned {said!r}; return a text, "" to leave the word to the policy.')
        if not isinstance(game.done, bool):
            raise ValueError(f"{where} left `done` as {game.done!r}; it must be True or False, and is no method.")
        return said

    ids = answer_tokens(say, tokenizer, completion_ids, eos)
    if len(ids) > LONGEST_ANSWER:
        text = text_of(tokenizer, completion_ids)
        raise ValueError(
            f"After {text!r}, in the row {row!r}, the environment's `say` returned {len(ids)} tokens; "
            f"{LONGEST_ANSWER} is the limit."
        )
    return ids


def told(error: Exception) -> str:
    """An exception in one line: its type and what it says."""
    return f"{type(error).__name__}: {error}".removesuffix(".")
