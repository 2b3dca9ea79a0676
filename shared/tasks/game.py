"""Find the number in three guesses: a task of several turns, which an environment answers (`shared/environment.py`).

Find the number, 1 to 7:
 4? low
 6? high
 5? right

The policy writes ` 4?`, and the game puts ` low`, ` high` or ` right` and the end of the line behind it. Rows are all
ranges of 3 to 9 digits, each with all of its secrets. Ranges are held out, of each width as nearly a quarter as whole
numbers allow: a wide range is harder, so the two splits must not differ in widths.

Nothing of it is in pretraining: the embedded model never makes a legal guess. `random_games` are the documents from
which it first learns the rules, and no more than the rules.
"""

import random
import re
from collections.abc import Callable, Sequence

from shared.tasks.split import Split, check_request, distinct

GUESSES = 3
WIDTHS = range(3, 10)  # how many numbers a range has
DIGITS = range(10)
MAX_NEW_TOKENS = 16  # a guess and its answer are four: the number, the question mark, the word, the end of the line
LONGEST_ANSWERS = (" 7? high\n 6? high\n 5? right\n",)
CHAT_SYSTEM_PROMPT = (
    "Guess the hidden number. Write one digit and a question mark, such as 4? and nothing else. You are told whether it "
    "is low, high or right, and guess again, three times at most."
)
# A range of ten numbers is wider than every row's.
CHAT_EXAMPLES = (
    ("Find the number, 0 to 9:", " 4? low\n 7? high\n 6? right\n"),
    ("Find the number, 0 to 9:", " 4? high\n 2? right\n"),
)


class FindTheNumber:
    """The game of one row, a `shared.environment.Game`.

    most_guesses, most_digits: the rules, which a longer game changes.
    guesses: the numbers guessed so far.    won: whether the last one was the secret.
    """

    most_guesses = GUESSES
    most_digits = 1

    def __init__(self, row: dict, seed: int = 0):
        """The seed is for games with dice; this one has none."""
        self.low = row["low"]
        self.high = row["high"]
        self.secret = row["secret"]
        self.guesses: list[int] = []
        self.done = False

    @property
    def won(self) -> bool:
        return self.guesses[-1:] == [self.secret]

    def say(self, text: str) -> str:
        """The answer to a guess at the end of the text. Anything but a guess loses the game, as soon as it is seen: a line
        that the policy ends itself, too.
        """
        *ended, line = text.split("\n")
        if len(ended) != len(self.guesses) or not re.fullmatch(rf" ?([0-9]{{1,{self.most_digits}}}\??)?", line):
            self.done = True
            return ""
        if not line.endswith("?"):
            return ""
        self.guesses.append(int(line[:-1]))
        self.done = self.won or len(self.guesses) == self.most_guesses
        return self.answer(self.guesses[-1])

    def answer(self, guess: int) -> str:
        if guess == self.secret:
            return " right\n"
        return " low\n" if guess < self.secret else " high\n"


def ranges(split: Split) -> list[tuple[int, int]]:
    """The ranges (low, high) of a split, in order: of each width the same share is held out."""
    found = []
    for width in WIDTHS:
        of_width = [(low, low + width - 1) for low in DIGITS if low + width - 1 in DIGITS]
        random.Random(f"ranges of {width}").shuffle(of_width)
        held_out = max(1, round(len(of_width) / 4))
        found += of_width[:held_out] if split == "eval" else of_width[held_out:]
    return sorted(found)


def row_of(low: int, high: int, secret: int) -> dict:
    """A row of the data set."""
    return {"prompt": f"Find the number, {low} to {high}:\n", "low": low, "high": high, "secret": secret}


def dataset(split: Split, n: int, seed: int = 0) -> list[dict]:
    """n different rows of a split, each with `prompt`, `low`, `high` and `secret`; rows of one range share their prompt.

    Raises:
        ValueError: an unknown split, fewer than 1 row, or more rows than exist.
    """
    check_request(split, n)
    rows = [row_of(low, high, secret) for low, high in ranges(split) for secret in range(low, high + 1)]
    random.Random(f"game {seed}").shuffle(rows)
    return distinct(rows, n, key=str)


def reward(
    prompts: Sequence[str], completions: Sequence[str], environments: Sequence[FindTheNumber], **columns
) -> list[float]:
    """1.0 for a game that was won, else 0.0. What the completion says of itself counts for nothing."""
    return [float(game.won) for game in environments]


def agreeing(game: FindTheNumber) -> list[bool]:
    """For each guess of a game, whether it lies in the range and agrees with all answers before it."""
    low, high = game.low, game.high
    agree = []
    for guess in game.guesses:
        agree.append(low <= guess <= high)
        if guess < game.secret:
            low = max(low, guess + 1)
        else:
            high = min(high, guess - 1)
    return agree


def random_games(n: int, seed: int = 0) -> list[dict]:
    """n games of training rows, played by guessing at random within the range: documents for supervised training.

    Each is a row with `prompt` and `completion`, and `spoken`, where the game spoke (`shared/supervised.py`).
    """
    rng = random.Random(f"random games {seed}")
    rows = dataset("train", sum(high - low + 1 for low, high in ranges("train")))
    return [played_at_random(rng.choice(rows), rng) for _ in range(n)]


def played_at_random(row: dict, rng: random.Random, make: type[FindTheNumber] = FindTheNumber) -> dict:
    """One game as a document. make: the game, this one or one that answers otherwise."""
    return played(make(row), row, lambda game: rng.randint(game.low, game.high))


def solved(row: dict) -> dict:
    """The row with the game of somebody who halves what is left, which finds seven numbers surely."""
    return row | played(FindTheNumber(row), row, middle)


def middle(game: FindTheNumber) -> int:
    """The number in the middle of those that agree with all answers so far."""
    secret = game.secret
    left = [
        number
        for number in range(game.low, game.high + 1)
        if all((guess < number, guess > number) == (guess < secret, guess > secret) for guess in game.guesses)
    ]
    return left[len(left) // 2]


def played(game: FindTheNumber, row: dict, guess: Callable[[FindTheNumber], int]) -> dict:
    """A game as a document, played by whoever guesses."""
    text = ""
    spoken = []
    while not game.done:
        text += f" {guess(game)}?"
        said = game.say(text)
        spoken.append((len(text), len(text) + len(said)))
        text += said
    return {"prompt": row["prompt"], "completion": text, "spoken": spoken}
