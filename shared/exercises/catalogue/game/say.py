r"""The answer of a game: `say(game, text) -> answer`, which keeps the guess, and sees when the game is over.

The policy writes " 4?", and the game puts " low\n", " high\n" or " right\n" behind it. `say` is asked after each token,
so the text may end in a part of a guess. With the secret 5:

    text                 guesses before   answer      guesses      over
    " 4"                 []               ""          []           no: a guess has begun
    " 4?"                []               " low\n"    [4]          no
    " 4? low\n 5?"       [4]              " right\n"  [4, 5]       yes
    " 4? low\n well"     [4]              ""          [4]          yes: this is no guess

Below stand the right answer, step by step; the slips, by the step in which they are made; and the cases.
"""

import re

from shared.exercises.arguments import Text as OneText
from shared.exercises.arguments import Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import NotAResult, Text, named
from shared.exercises.stand_ins.games import Played
from shared.exercises.steps import Steps

STEPS = Steps()
LINE_END_OFF = (
    "You take the end of a line off what is new. A line that the policy ends itself is no guess, and then looks like one, "
    "or like one that is begun."
)


# The right answer.


@STEPS.step
def line(game, text):
    r"""The line that the policy has written since the last answer: " 4?" of " 6? high\n 4?"."""
    return text.split("\n", len(game.guesses))[-1]


@STEPS.step
def begun(line):
    """True for "", " " and " 4", from which a guess can still come."""
    return re.fullmatch(r" ?[0-9]?", line) is not None


@STEPS.step
def guess(line):
    """The number of a whole guess, 4 of " 4?"; None for anything else."""
    return int(line[-2]) if re.fullmatch(r" [0-9]\?", line) else None


@STEPS.step
def guesses(game, guess):
    """All guesses of the game, this one included."""
    return game.guesses if guess is None else [*game.guesses, guess]


@STEPS.step
def word(game, guess):
    """The word for the guess: low, high or right; "" where there is none."""
    if guess is None:
        return ""
    if guess == game.secret:
        return "right"
    return "low" if guess < game.secret else "high"


@STEPS.step
def answer(word):
    """The text that is put behind the guess."""
    return f" {word}\n" if word else ""


@STEPS.step
def lost(begun, guess):
    """True where the policy has written what neither is a guess nor can become one."""
    return guess is None and not begun


@STEPS.step
def most_guesses():
    """The number of guesses that a game has."""
    return 3


@STEPS.step
def over(game, guess, guesses, lost, most_guesses):
    """True where the game is lost, and behind a guess that is right or the last one."""
    return lost or (guess is not None and (guess == game.secret or len(guesses) == most_guesses))


@STEPS.step
def result(game, answer, guesses, over):
    """The answer; the game keeps the guesses, and that it is over."""
    game.guesses = guesses
    game.done = over
    return answer


# Slips, by the step that they change. Of two that a function makes, the one that stands first here is told first.


@STEPS.slip(
    "word",
    "low and high are exchanged. The word is about the guess: 4 is low when the secret is 6.",
)
def about_the_secret(game, word):
    return {"low": "high", "high": "low"}.get(word, word)


@STEPS.slip(
    "line",
    "The whole text is taken for the guess. Behind the first answer it begins with lines that are done with: look at what "
    "was written since.",
)
def whole_text(text):
    return text


@STEPS.slip("line", "The first line is read every time. The guess is in the last one.")
def first_line(text):
    return text.split("\n")[0]


@STEPS.slip(
    "line",
    "Only what stands behind the last end of a line is read, so a policy that ends a line itself goes on as if nothing "
    "was. After n answers the text behind the n-th end of a line is its own.",
)
def own_line_end_overlooked(text):
    return text.split("\n")[-1]


@STEPS.slip("line", LINE_END_OFF)
def line_ends_taken_off(game, text):
    return text.split("\n", len(game.guesses))[-1].strip("\n")


@STEPS.slip("line", LINE_END_OFF)
def line_end_taken_off(game, text):
    return text.split("\n", len(game.guesses))[-1].rstrip("\n")


@STEPS.slip(
    "line",
    "`splitlines` forgets an end of a line behind which nothing stands, and you read no further than the next one: a line "
    "that the policy ends itself is no guess, and then looks like one, or like one that is begun.",
)
def next_of_splitlines(game, text):
    return "".join(text.splitlines()[len(game.guesses) : len(game.guesses) + 1])


@STEPS.slip("guesses", "The guess is kept as a text, which no number equals: keep `int(...)` of it.")
def kept_as_text(game, guess):
    return game.guesses if guess is None else [*game.guesses, str(guess)]


@STEPS.slip("guesses", "The right guess is not kept. It counts as any other: append it to `game.guesses`.")
def right_one_not_kept(game, guess):
    return game.guesses if guess in (None, game.secret) else [*game.guesses, guess]


@STEPS.slip(
    "answer",
    "Behind a third guess that is wrong nothing is said. It ends the game, and is answered like any other: low or high.",
)
def third_not_answered(answer, guesses, most_guesses, word):
    return "" if len(guesses) == most_guesses and word != "right" else answer


@STEPS.slip(
    "lost",
    "The game ends before the guess is whole. `say` is asked after each token: behind ` 4` the question mark is still to "
    "come, and the policy has the word.",
)
def half_a_guess_lost(guess):
    return guess is None


@STEPS.slip("lost", "A number outside of the range ends the game. It is a guess as any other: answer it, and keep it.")
def outside_is_lost(game, guess, lost):
    return lost or (guess is not None and not game.low <= guess <= game.high)


@STEPS.slip(
    "over",
    "The third guess does not end the game. There are three, right or not: count this one as well.",
)
def only_right_ends(game, guess, lost):
    return lost or guess == game.secret


@STEPS.slip("over", "A right guess does not end the game: the policy is asked to guess on.")
def only_the_third_ends(guess, guesses, lost, most_guesses):
    return lost or (guess is not None and len(guesses) == most_guesses)


@STEPS.slip(
    "begun",
    "Whatever does not end in `?` counts as begun, so that ` well` never ends the game. A guess begins with nothing, a "
    "space, or a space and its number.",
)
def begun_without_question_mark(line):
    return not line.endswith("?")


@STEPS.slip(
    "begun",
    "`$` also matches before an end of a line: a line that the policy ends itself counts as begun, and the game goes on. "
    "`fullmatch` has no such gap.",
)
def begun_before_a_line_end(line):
    return re.match(r" ?[0-9]?$", line) is not None


@STEPS.slip("guess", "A number outside of the range ends the game. It is a guess as any other: answer it, and keep it.")
def outside_is_no_guess(game, guess):
    return guess if guess is not None and game.low <= guess <= game.high else None


@STEPS.slip("guess", "A number of two digits counts as a guess. A guess has one digit.")
def of_two_digits(line):
    return int(line[1:-1]) if re.fullmatch(r" [0-9]+\?", line) else None


# Cases.

NO_GUESSES = (" 12?", " 3? 4?", "4?")  # two digits, two guesses in a line, no space


def game_after(low: int, high: int, secret: int, guesses: list[int]) -> tuple[Played, str]:
    """A game after these wrong guesses, and its text so far."""
    text = "".join(f" {guess}? {'low' if guess < secret else 'high'}\n" for guess in guesses)
    return Played(low, high, secret, guesses), text


def draw(draw: Draw) -> Case:
    low = draw.randrange(4)
    high = draw.randrange(low + 2, 10)
    secret = draw.randint(low, high)
    wrong = [number for number in range(10) if number != secret]
    game, text = game_after(low, high, secret, draw.some(wrong, draw.randrange(3)))
    number = draw.choice([secret, draw.randrange(10), draw.randrange(10)])
    whole = f" {number}?"
    written = draw.choice(
        [whole, whole, whole, whole, "", " ", f" {number}", f"{whole}?", f" {number}\n", " well", "\n", *NO_GUESSES]
    )
    return {"game": game, "text": text + written}


def boundary() -> list[Case]:
    cases = []
    for guesses in ([], [2], [2, 6]):
        for written in (" 4?", " 5?", " 3?", " 4", " ", "", " right", " 4\n", " 4?\n", "\n 4?", *NO_GUESSES):
            game, text = game_after(1, 7, 4, guesses)
            cases.append({"game": game, "text": text + written})
    return cases


def valid(case: Case) -> bool:
    """A game that goes on, its own lines first. Whether a number that is only begun needs its space is left open."""
    game, text = case["game"], case["text"]
    so_far = game_after(game.low, game.high, game.secret, game.guesses)[1]
    own = text.removeprefix(so_far)
    is_begun = own[:1].isdigit() and len(own) == 1
    return text.startswith(so_far) and not is_begun and game.secret not in game.guesses


def smaller(case: Case) -> list[Case]:
    """The game with a guess less."""
    game = case["game"]
    own = case["text"].removeprefix(game_after(game.low, game.high, game.secret, game.guesses)[1])
    found = []
    for place in range(len(game.guesses)):
        guesses = game.guesses[:place] + game.guesses[place + 1 :]
        fewer, text = game_after(game.low, game.high, game.secret, guesses)
        found.append({"game": fewer, "text": text + own})
    return found


def call(function, case: Case) -> str:
    """The answer, and the game as it stands then."""
    game = case["game"].fresh()
    answer = function(game, case["text"])
    if answer is None:
        raise NotAResult('it returns None; return a text, "" where the policy has the word.')
    if not isinstance(answer, str):
        raise NotAResult(f'it returns {named(answer)}; return a text, "" where the policy has the word.')
    if not isinstance(game.done, bool):
        raise NotAResult(f"it leaves `game.done` as {named(game.done)}; it is True or False.")
    return f"{answer!r}, guesses {list(game.guesses)}, {'over' if game.done else 'goes on'}"


EXERCISE = Exercise(
    name="answer of the game",
    function="say",
    contract='`f(game, text) -> answer`: behind a whole guess low, high or right, else ""; keeps `game.guesses` and '
    "`game.done`.",
    steps=STEPS,
    arguments={"game": Things(), "text": OneText()},
    result=Text(),
    draw=draw,
    boundary=boundary,
    draws=111,
    valid=valid,
    smaller=smaller,
    call=call,
    shows=("shared.exercises.stand_ins.games",),
)
