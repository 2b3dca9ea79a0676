"""The reward of a game: `win_reward(prompts, completions, environments, **columns) -> floats`, from where each game ended."""

import re

from shared.exercises.arguments import Texts, Things
from shared.exercises.catalogue.common.every_reward import RETURNED_TOO_EARLY, SAME_FOR_ALL, as_score_calls
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import Floats
from shared.exercises.stand_ins.games import Played
from shared.exercises.steps import Steps

STEPS = Steps()
STEPS.add(RETURNED_TOO_EARLY, SAME_FOR_ALL)


@STEPS.step
def games(environments):
    return environments


@STEPS.step
def won(games):
    return [game.guesses[-1:] == [game.secret] for game in games]


@STEPS.step
def rewards(won):
    return [float(one) for one in won]


@STEPS.slip(
    "won",
    "You look for the word in the completion. The policy can write it too: ` right` without a guess would be paid. Read the "
    "game.",
)
def word_in_completion(completions):
    return ["right" in completion for completion in completions]


@STEPS.slip("won", "A game that is over is paid, won or lost.")
def over_is_won(games):
    return [game.done for game in games]


@STEPS.slip("won", "The first guess alone can win. The last one decides: the game goes on until one is right.")
def first_guess(games):
    return [game.guesses[:1] == [game.secret] for game in games]


@STEPS.slip("rewards", "Won and lost are exchanged.")
def exchanged(won):
    return [float(not one) for one in won]


@STEPS.slip("rewards", "A lost game costs 1. It earns 0.0.")
def lost_costs(won):
    return [1.0 if one else -1.0 for one in won]


@STEPS.slip("rewards", "You pay for each guess. A game that is won earns 1.0, however many it took.")
def by_guesses(won, games):
    return [float(one) / max(1, len(game.guesses)) for one, game in zip(won, games)]


@STEPS.slip("games", "Only the first game is read. Each completion has its own.")
def first_game(environments):
    return [environments[0]] * len(environments)


@STEPS.slip(
    "won",
    "A game without any guess raises: `guesses[-1]` of an empty list. The policy may have chatted; that game is lost.",
)
def no_guess_raises(games):
    return [game.guesses[-1] == game.secret for game in games]


@STEPS.slip("won", "A game that is over counts as won. It is over after three wrong guesses too: compare the last one.")
def over_after_a_guess_is_won(games):
    return [game.done and bool(game.guesses) for game in games]


@STEPS.slip("won", "Every game with a guess is paid, right or wrong. Compare the last guess with the secret.")
def any_guess_wins(games):
    return [bool(game.guesses) for game in games]


@STEPS.slip("won", "A game without any guess is paid. It is lost: nothing was found.")
def no_guess_wins(games):
    return [game.guesses[-1:] in ([], [game.secret]) for game in games]


@STEPS.slip("rewards", "All completions earn the same: 1 where every game is won. Each earns by its own game.")
def all_or_nothing(won):
    return [float(all(won))] * len(won)


@STEPS.slip("won", "Every game is held against the first one's secret. Each has its own.")
def first_secret(games):
    return [game.guesses[-1:] == [games[0].secret] for game in games]


@STEPS.slip("rewards", "You pay for coming near. A guess that is not the secret earns 0.0, however near it is.")
def by_distance(games):
    return [1 / (1 + abs(game.guesses[-1] - game.secret)) if game.guesses else 0.0 for game in games]


@STEPS.slip(
    "won",
    "A game with one or two guesses counts as won. It may have ended in chatter: compare the last guess with the secret.",
)
def fewer_guesses_win(games):
    return [0 < len(game.guesses) < 3 or game.guesses[-1:] == [game.secret] for game in games]


@STEPS.slip("won", "A game with three guesses counts as lost. The third may be right too: compare the last one.")
def three_guesses_lose(games):
    return [len(game.guesses) < 3 and game.guesses[-1:] == [game.secret] for game in games]


@STEPS.slip(
    "won",
    "You read the last number of the completion. The policy may write one that is no guess, such as one that it chats "
    "about: read `game.guesses`.",
)
def last_number_of_the_text(completions, games):
    numbers = [re.findall("[0-9]+", text)[-1:] for text in completions]
    return [found == [str(game.secret)] for found, game in zip(numbers, games)]


def draw(draw: Draw) -> Case:
    games, texts = [], []
    for _ in range(draw.size(4)):
        low = draw.randrange(3)
        high = low + draw.randrange(2, 7)
        secret = draw.randint(low, high)
        wrong = [number for number in range(low, high + 1) if number != secret]
        guesses = draw.some(wrong, draw.randrange(4))
        if draw.random() < 0.5:
            guesses = [*guesses[:2], secret]
        done = bool(guesses) and (guesses[-1] == secret or len(guesses) == 3)
        chatted = not done and draw.random() < 0.5
        games.append(Played(low, high, secret, guesses, done or chatted))
        text = "".join(f" {g}? {'right' if g == secret else 'low' if g < secret else 'high'}\n" for g in guesses)
        texts.append(text + (draw.choice([" right", " well", "?"]) if chatted else ""))
    return {"prompts": ["Find the number:\n"] * len(games), "completions": texts, "environments": games}


def boundary() -> list[Case]:
    games = [
        (Played(1, 7, 4, [4], True), " 4? right\n"),
        (Played(1, 7, 4, [2, 6, 4], True), " 2? low\n 6? high\n 4? right\n"),
        (Played(1, 7, 4, [2, 6, 5], True), " 2? low\n 6? high\n 5? high\n"),
        (Played(1, 7, 4, [], True), " right\n"),
        (Played(1, 7, 4, [2], False), " 2? low\n"),
        (Played(0, 4, 0, [0], True), " 0? right\n"),
        (Played(1, 7, 4, [2], True), " 2? low\n well, 4"),
        (Played(1, 7, 4, [2], False), " 2? low\n 4"),
    ]
    every = [{"prompts": ["p"], "completions": [text], "environments": [game]} for game, text in games]
    game, text = games[1]
    return [
        *every,
        {"prompts": ["p"] * 2, "completions": [text] * 2, "environments": [game, game]},
        {
            "prompts": ["p"] * len(games),
            "completions": [text for _, text in games],
            "environments": [game for game, _ in games],
        },
    ]


EXERCISE = Exercise(
    name="reward of a won game",
    function="win_reward",
    contract="`f(prompts, completions, environments, **columns) -> floats`: 1.0 where the last guess is the secret.",
    steps=STEPS,
    arguments={"prompts": Texts("B", always_shown=False), "completions": Texts("B"), "environments": Things("B")},
    result=Floats(),
    draw=draw,
    boundary=boundary,
    call=as_score_calls,
    shows=("shared.exercises.stand_ins.games",),
)
