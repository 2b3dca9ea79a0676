"""One completion in turns: `play(draw, listen, max_new_tokens) -> (ids, mask)`, with 1 for what the policy drew."""

from itertools import count

import torch

from shared.exercises.arguments import Scalar, Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import NotAResult, TensorOf, named
from shared.exercises.steps import Steps

STEPS = Steps()
NOT_READ = (
    "The policy does not read what the game said: what was heard has to be in the text before the next token is drawn."
)


@STEPS.step
def turns(draw, listen, max_new_tokens):
    """Each token of the policy's with what it heard behind it, until the game is over or the room is full."""
    ids = []
    found = []
    while len(ids) < max_new_tokens:
        token = draw(ids)
        heard, over = listen([*ids, token])
        found.append((token, heard))
        ids = [*ids, token, *heard]
        if over:
            break
    return found


@STEPS.step
def ids(turns):
    return [token for drawn, heard in turns for token in (drawn, *heard)]


@STEPS.step
def mask(turns):
    return [number for _, heard in turns for number in (1, *[0] * len(heard))]


@STEPS.step
def room(max_new_tokens):
    return max_new_tokens


@STEPS.step
def cut(ids, mask, room):
    return ids[:room], mask[:room]


@STEPS.slip("mask", "The mask is upside down: 1 for what the policy drew, 0 for what it heard.")
def upside_down(mask):
    return [1 - number for number in mask]


@STEPS.slip(
    "turns",
    NOT_READ,
)
def not_read(draw, listen, max_new_tokens):
    own, found = [], []
    length = 0
    while length < max_new_tokens:
        token = draw(own)
        own = [*own, token]
        heard, over = listen(own)
        found.append((token, heard))
        length += 1 + len(heard)
        if over:
            break
    return found


@STEPS.slip("turns", NOT_READ)
def drawn_from_own_tokens(draw, listen, max_new_tokens):
    """As `not_read`, but the game is handed the whole text."""
    ids, own, found = [], [], []
    while len(ids) < max_new_tokens:
        token = draw(own)
        own = [*own, token]
        heard, over = listen([*ids, token])
        found.append((token, heard))
        ids = [*ids, token, *heard]
        if over:
            break
    return found


@STEPS.slip(
    "cut",
    "The room is counted in the policy's own tokens. The completion holds what was heard too: it grows beyond "
    "`max_new_tokens`.",
)
def room_of_own_tokens(draw, listen, max_new_tokens):
    ids = []
    mask = []
    for _ in range(max_new_tokens):
        ids = [*ids, draw(ids)]
        heard, over = listen(ids)
        ids = [*ids, *heard]
        mask = [*mask, 1, *[0] * len(heard)]
        if over:
            break
    return ids, mask


@STEPS.slip(
    "turns", "An answer that is too long for the room is left out whole. What has room of it belongs to the completion."
)
def long_answer_left_out(turns, max_new_tokens):
    length = sum(1 + len(heard) for _, heard in turns)
    return [*turns[:-1], (turns[-1][0], [])] if length > max_new_tokens else turns


def call(function, case: Case) -> torch.Tensor:
    """(2, C): the ids above the mask. The policy and the game answer by what they are handed.

    The game says nothing that it finds in the text already: it has to be handed what it said.
    """
    words, answers, most = case["draw"], case["listen"], case["max_new_tokens"]
    drawn, heard = [], count()

    def draw(ids):
        drawn.append(len(ids))
        if len(drawn) > 4 * most:
            raise NotAResult("it does not end: more tokens are drawn than there is room for.")
        return words[(len(ids) + sum(place * token for place, token in enumerate(ids))) % len(words)]

    def listen(ids):
        next(heard)
        said, over = answers.get(ids[-1], ([], False)) if len(ids) else ([], False)
        if said and set(said) <= set(ids):
            return [], False
        return list(said), over

    result = function(draw, listen, most)
    if not isinstance(result, tuple) or len(result) != 2:
        raise NotAResult(f"it returns {named(result)}; return two lists, the ids and the mask.")
    if any(isinstance(one, bool) for one in result[1]):
        raise NotAResult("its mask holds True and False; a loss calculates with 1 and 0.")
    surplus = next(heard) - len(drawn)
    if surplus:
        what = "hears more than was drawn" if surplus > 0 else "does not hear every token"
        raise NotAResult(
            f"the game {what}: `listen` once behind each token that is drawn, also where the room is full then. "
            "The guess that ends there counts, and it counts once."
        )
    if len(result[0]) <= most and any(place >= most for place in drawn):
        raise NotAResult(
            "it draws a token for which there is no room: it is cut off, and the game has counted the guess that it ends."
        )
    ids, mask = ([float(number) for number in part] for part in result)
    if len(ids) != len(mask):
        raise NotAResult(
            f"it returns {len(ids)} ids and a mask of {len(mask)}: an answer of several tokens has a 0 for each."
        )
    return torch.tensor([ids, mask])


class Answers(Things):
    """The words of the game behind a token, and whether it is over then."""

    def amount(self, value) -> int:
        return sum(1 + len(said) for said, _ in value.values())

    def in_words(self, value) -> str:
        told = [f"{token}: {said}{', over' if over else ''}" for token, (said, over) in value.items()]
        return f"that answers {'; '.join(told)}; each once" if told else "that says nothing"


def draw(draw: Draw) -> Case:
    first = draw.choice([0, 1, 20])  # tokens that are drawn may be heard too, and 0 is a token as any other
    words = draw.some(range(first, first + 7), draw.size(7))
    answers = {}
    for token in range(first + 2, first + 7):
        if draw.random() < 0.6:
            said = draw.some([0, *words, *range(20, 40)], draw.randrange(4))
            answers[token] = (said, draw.random() < 0.3)
    return {"draw": words, "listen": answers, "max_new_tokens": draw.size(12)}


def boundary() -> list[Case]:
    spoken = {2: ([20, 21], False), 3: ([22], True)}
    return [
        {"draw": [1], "listen": {}, "max_new_tokens": 1},
        {"draw": [1], "listen": {}, "max_new_tokens": 40},
        {"draw": [2], "listen": {2: ([20, 21], True)}, "max_new_tokens": 8},
        {"draw": [1, 2], "listen": {2: ([20, 21], False)}, "max_new_tokens": 8},
        {"draw": [1, 2, 3], "listen": spoken, "max_new_tokens": 8},
        {"draw": [2], "listen": {2: ([20, 21], False)}, "max_new_tokens": 2},
        {"draw": [3], "listen": {3: ([], True)}, "max_new_tokens": 4},
    ]


def smaller(case: Case) -> list[Case]:
    """Without one of the answers, or with less room."""
    found = []
    for token in case["listen"]:
        found.append(case | {"listen": {other: said for other, said in case["listen"].items() if other != token}})
    if case["max_new_tokens"] > 1:
        found.append(case | {"max_new_tokens": case["max_new_tokens"] - 1})
    return found


EXERCISE = Exercise(
    name="a completion in turns",
    function="play",
    contract="`f(draw, listen, max_new_tokens) -> (ids, mask)`: 1 where the policy drew the token, 0 where it was heard.",
    steps=STEPS,
    arguments={"draw": Things("L"), "listen": Answers(), "max_new_tokens": Scalar(usual=16, simple=(1,))},
    result=TensorOf("2 C", holds="numbers"),
    draw=draw,
    boundary=boundary,
    valid=lambda case: len(case["draw"]) > 0 and case["max_new_tokens"] >= 1,
    smaller=smaller,
    call=call,
)
