"""The mask of what the policy drew itself: `own_tokens(lengths, spoken, width) -> mask (B, C)`, from the rest."""

import torch

from shared.exercises.arguments import Scalar, Things
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def real(lengths, width):
    """1 for the tokens of each completion, 0 for its padding."""
    return (torch.arange(width) < torch.tensor(lengths)[:, None]).long()


@STEPS.step
def places(spoken):
    """Every place at which the environment spoke, for each completion."""
    return [[place for start, stop in spans for place in range(start, stop)] for spans in spoken]


@STEPS.step
def heard(places, real):
    """1 where the environment spoke."""
    found = torch.zeros_like(real)
    for row, of_row in enumerate(places):
        found[row, of_row] = 1
    return found


@STEPS.step
def mask(real, heard):
    return real * (1 - heard)


@STEPS.slip(
    "places",
    "`stop` is taken as the environment's last token. It is the first one behind, as in `range`: your mask takes a token "
    "from the policy that it drew itself.",
)
def stop_included(spoken, width):
    return [[p for start, stop in spans for p in range(start, min(stop + 1, width))] for spans in spoken]


@STEPS.slip("real", "One place of the padding counts as drawn: the lengths hold the end of the text already.")
def one_place_too_many(lengths, width):
    return (torch.arange(width) <= torch.tensor(lengths)[:, None]).long()


@STEPS.slip("places", "The environment's first token counts as the policy's own: it begins at `start`.")
def start_left_out(spoken):
    return [[place for start, stop in spans for place in range(start + 1, stop)] for spans in spoken]


@STEPS.slip("places", "Only the first time that the environment speaks is masked. It may speak several times.")
def first_span_only(spoken):
    return [[place for start, stop in spans[:1] for place in range(start, stop)] for spans in spoken]


@STEPS.slip("places", "Only the last time that the environment speaks is masked. It may speak several times.")
def last_span_only(spoken):
    return [[place for start, stop in spans[-1:] for place in range(start, stop)] for spans in spoken]


@STEPS.slip(
    "places",
    "Everything from the environment's first word on is masked. What the policy says after it is the policy's own, and is "
    "most of what there is to learn.",
)
def all_that_follows(spoken, width):
    return [list(range(min(start for start, _ in spans), width)) if spans else [] for spans in spoken]


@STEPS.slip("places", "The environment's tokens are not masked: this is the mask of the padding alone.")
def padding_alone(spoken):
    return [[] for _ in spoken]


@STEPS.slip("real", "The padding counts as the policy's own. Places from `lengths` on are 0.")
def padding_counted(lengths, width):
    return torch.ones(len(lengths), width, dtype=torch.long)


@STEPS.slip("real", "The last token, where the policy says EOS, is masked. The policy drew it: it is 1.")
def last_token_masked(lengths, width):
    return (torch.arange(width) < torch.tensor(lengths)[:, None] - 1).long()


@STEPS.slip("mask", "The mask is upside down: 1 for the policy's own tokens, 0 for the environment's and the padding.")
def upside_down(heard):
    return heard


@STEPS.slip(
    "places",
    "Everything from the first time that the environment speaks to the last is masked. What the policy says in between is "
    "its own.",
)
def all_in_between(spoken):
    return [list(range(spans[0][0], spans[-1][1])) if spans else [] for spans in spoken]


@STEPS.slip(
    "real",
    "A row without padding is masked as a whole: `[-0:]` is all of it. Cut at the length, `[length:]`.",
)
def negative_slice(real, lengths, width):
    return real * (torch.tensor(lengths) < width).long()[:, None]


@STEPS.slip("width", "The mask is as wide as the longest completion. Make it `width` wide.")
def longest_for_width(lengths):
    return max(lengths)


@STEPS.slip("heard", "What the environment said to one completion is masked in all of them: name the row as well.")
def masked_in_all(places, real):
    found = torch.zeros_like(real)
    for of_row in places:
        found[:, of_row] = 1
    return found


@STEPS.slip(
    "mask",
    "All rows are one and the same list, `[[...]] * B`: what is written into one stands in all. Make a new row each time.",
)
def one_list_for_all(real, heard):
    row = torch.zeros_like(real[0])
    for of_row, silenced in zip(real, heard):
        row = torch.where(silenced == 1, 0, torch.where(of_row == 1, 1, row))
    return row.expand_as(real)


@STEPS.slip("places", "The pairs are taken for start and length. They are start and stop, as in `range`.")
def stop_as_length(spoken, width):
    return [[p for start, stop in spans for p in range(start, min(start + stop, width))] for spans in spoken]


def draw(draw: Draw) -> Case:
    lengths = [draw.randrange(1, 13) for _ in range(draw.size())]
    spoken = []
    for length in lengths:
        spans = []
        place = draw.randrange(1, 4)
        while place < length and draw.random() < 0.8:
            stop = min(length, place + draw.randrange(1, 4))
            spans.append((place, stop))
            place = stop + draw.randrange(3)
        spoken.append(spans)
    return {"lengths": lengths, "spoken": spoken, "width": max(lengths) + draw.choice([0, 0, 0, 2])}


def boundary() -> list[Case]:
    return [
        {"lengths": [1], "spoken": [[]], "width": 1},
        {"lengths": [4], "spoken": [[(1, 3)]], "width": 4},
        {"lengths": [4, 2], "spoken": [[(1, 4)], []], "width": 4},
        {"lengths": [7, 3], "spoken": [[(1, 3), (5, 6)], [(2, 3)]], "width": 7},
    ]


EXERCISE = Exercise(
    name="the policy's own tokens",
    function="own_tokens",
    contract="`f(lengths, spoken, width) -> mask (B, C)`: 1 for the policy's tokens, 0 for the environment's and "
    "padding.",
    steps=STEPS,
    arguments={"lengths": Things("B"), "spoken": Things("B"), "width": Scalar()},
    result=TensorOf("B C", holds="numbers"),
    draw=draw,
    boundary=boundary,
    valid=lambda case: len(case["lengths"]) > 0 and max(case["lengths"]) <= case["width"],
)
