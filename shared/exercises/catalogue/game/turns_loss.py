"""The loss of turns: `turns_loss(logps, advantages, mask) -> loss`, a mean over all turns of A x log-probability."""

import torch

from shared.exercises.arguments import Kind, Numbers
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()
FIRST_PLACE = (
    "A turn that begins at the first place is not counted: there is nothing before it, and it begins all the same."
)


@STEPS.step
def counted(mask):
    """The mask of the sum."""
    return mask


@STEPS.step
def weighted(logps, advantages):
    return advantages[:, None] * logps


@STEPS.step
def total(weighted, counted):
    return (weighted * counted).sum()


@STEPS.step
def starts(mask):
    """1 where a turn begins: the mask is 1 and was not, one place before."""
    before = torch.nn.functional.pad(mask, (1, 0))[:, :-1]
    return mask * (1 - before)


@STEPS.step
def turns(starts):
    return starts.sum()


@STEPS.step
def loss(total, turns):
    return -total / turns


@STEPS.slip(
    "counted",
    "The game's tokens are in the sum: the policy is taught to say what it heard. Multiply by the mask.",
)
def all_counted(mask):
    return torch.ones_like(mask)


@STEPS.slip("counted", "The mask is upside down: the game's words are learnt and none of the policy's own.")
def upside_down(mask):
    return 1 - mask


@STEPS.slip(
    "turns",
    "You divide by the number of tokens. A turn is one action, whatever it is written with: divide by the number of turns.",
)
def by_tokens(mask):
    return mask.sum()


@STEPS.slip(
    "turns",
    "You divide by the number of completions. A game of three turns has three actions: divide by the number of turns.",
)
def by_completions(mask):
    return torch.tensor(len(mask))


@STEPS.slip(
    "turns", "Turns of games without an advantage are not counted. They are turns all the same: the mean is over all."
)
def silent_left_out(starts, advantages):
    return (starts * (advantages != 0)[:, None]).sum().clamp(min=1)


@STEPS.slip("starts", FIRST_PLACE)
def first_place_forgotten(mask):
    return mask[:, 1:] * (1 - mask[:, :-1])


@STEPS.slip("turns", FIRST_PLACE)
def first_place_forgotten_and_one_at_least(mask):
    return (mask[:, 1:] * (1 - mask[:, :-1])).sum().clamp(min=1)


@STEPS.slip(
    "starts",
    "A turn at the end of the row is not counted: you count where the mask falls from 1 to 0, and there it never does.",
)
def last_turn_forgotten(mask):
    return mask[:, :-1] * (1 - mask[:, 1:])


@STEPS.slip("starts", "Every change of the mask counts, so a turn counts twice: where it begins and where it ends.")
def both_ends(mask):
    around = torch.nn.functional.pad(mask, (1, 1))
    return (around[:, 1:] - around[:, :-1]).abs()


@STEPS.slip(
    "starts",
    "The turns of all rows are counted in one line: one that begins a row seems to go on from the end of the row above.",
)
def across_rows(mask):
    flat = mask.flatten()
    return flat * (1 - torch.nn.functional.pad(flat, (1, 0))[:-1])


@STEPS.slip("total", "The mean over each turn's tokens is taken. The log-probability of a turn is their sum.")
def means_of_turns(weighted, counted, mask):
    total = weighted.sum() * 0
    for row in range(len(mask)):
        turn = []
        for place in range(mask.size(1) + 1):
            if place < mask.size(1) and mask[row, place] == 1:
                turn.append((weighted * counted)[row, place])
            elif turn:
                total = total + torch.stack(turn).mean()
                turn = []
    return total


@STEPS.slip(
    "loss",
    "You take a mean for each completion first, then over completions: a turn of a long game counts less than one of a "
    "short game. One mean over all turns is asked for.",
)
def completion_by_completion(weighted, counted, starts):
    return -((weighted * counted).sum(dim=1) / starts.sum(dim=1).clamp(min=1)).mean()


@STEPS.slip("loss", "The sign is flipped: minimising this makes the better games less likely.")
def sign_flipped(loss):
    return -loss


@STEPS.slip("loss", "The sum is not divided by the number of turns.")
def not_divided(total):
    return -total


@STEPS.slip("weighted", "The advantages are missing: this raises every turn, good or bad.")
def without_advantages(logps):
    return logps


@STEPS.slip("weighted", "All completions get the average advantage. Each has its own: `advantages[:, None]`.")
def average_advantage(logps, advantages):
    return advantages.mean() * logps


@STEPS.slip(
    "weighted",
    "The log-probabilities are without a gradient: nothing is learnt. Look for `.detach()` or `torch.no_grad()`.",
)
def detached(logps, advantages):
    return advantages[:, None] * logps.detach()


@STEPS.slip(
    "starts",
    "You take a turn for granted at the beginning of every row. Where the mask begins with 0 none begins there.",
)
def first_place_granted(mask):
    return torch.cat([torch.ones_like(mask[:, :1]), mask[:, 1:] * (1 - mask[:, :-1])], dim=1)


@STEPS.slip(
    "starts",
    "`roll` brings the last place to the front: a row that begins and ends with the policy's tokens loses its first turn.",
)
def rolled(mask):
    return mask * (1 - mask.roll(1, dims=1))


@STEPS.slip("turns", "You count the turns of the game, where the mask is 0. Count those of the policy.")
def turns_of_the_game(mask):
    heard = 1 - mask
    return (heard * (1 - torch.nn.functional.pad(heard, (1, 0))[:, :-1])).sum().clamp(min=1)


@STEPS.slip("turns", "You divide by all places of the batch. Divide by the number of turns.")
def by_places(mask):
    return mask.numel()


@STEPS.slip("counted", "Only the first token of each turn is in the sum. All of a turn's own tokens belong to it.")
def first_token_of_a_turn(starts):
    return starts


@STEPS.slip("weighted", "The advantage weighs a probability. The loss is about its logarithm: leave out `exp`.")
def probabilities(logps, advantages):
    return advantages[:, None] * logps.exp()


@STEPS.slip("counted", "Only the last token of each turn is in the sum. All of a turn's own tokens belong to it.")
def last_token_of_a_turn(mask):
    behind = torch.nn.functional.pad(mask, (0, 1))[:, 1:]
    return mask * (1 - behind)


@STEPS.slip(
    "loss",
    "You divide each completion by its own number of tokens, and average the completions. A turn is one action, whatever it "
    "is written with: one sum over all, divided by the number of turns.",
)
def mean_of_tokens_by_completion(weighted, counted, mask):
    return -((weighted * counted).sum(dim=1) / mask.sum(dim=1).clamp(min=1)).mean()


@STEPS.slip(
    "loss",
    "You divide each completion by its own number of turns, and add the completions up. One sum over all is divided by the "
    "number of all turns.",
)
def sum_of_completions(weighted, counted, starts):
    return -((weighted * counted).sum(dim=1) / starts.sum(dim=1).clamp(min=1)).sum()


@STEPS.slip(
    "total", "You divide by the number of completions as well. The number of turns is all there is to divide by."
)
def mean_of_completions(weighted, counted):
    return (weighted * counted).sum(dim=1).mean()


@STEPS.slip("turns", "You divide by the turns of the longest game. Divide by those of all games together.")
def turns_of_the_longest(starts):
    return starts.sum(dim=-1).max()


@STEPS.slip(
    "weighted", "You subtract the batch's mean from the advantages. They are compared already: take them as they are."
)
def centred_again(logps, advantages):
    return (advantages - advantages.mean())[:, None] * logps


def draw(draw: Draw) -> Case:
    B, C = draw.size(), draw.size(7)
    mask = (draw.numbers(B, C, least=0.0, most=1.0) < 0.6).long()
    mask[:, 0] = 1  # the policy has the first word
    return {"logps": draw.numbers(B, C, least=-3.0, most=0.0), "advantages": draw.numbers(B), "mask": mask}


def boundary() -> list[Case]:
    logps = torch.tensor([[-1.0, -0.5, -2.0, -1.0, -0.5], [-0.5, -1.5, -0.25, -2.0, -1.0]])
    mask = torch.tensor([[1, 1, 0, 1, 1], [1, 1, 0, 0, 0]])
    advantages = torch.tensor([1.0, -0.5])
    return [
        {"logps": logps[:1, :1], "advantages": advantages[:1], "mask": mask[:1, :1]},
        {"logps": logps[:1], "advantages": advantages[:1], "mask": mask[:1]},
        {"logps": logps, "advantages": advantages, "mask": mask},
        {"logps": logps, "advantages": advantages, "mask": torch.ones_like(mask)},
        {"logps": logps, "advantages": advantages, "mask": torch.tensor([[1, 0, 1, 0, 1], [0, 0, 1, 1, 1]])},
    ]


EXERCISE = Exercise(
    name="loss of turns",
    function="turns_loss",
    contract="`f(logps (B, C), advantages (B,), mask (B, C)) -> loss`, -A x log-probability of a turn, a mean over all "
    "turns.",
    steps=STEPS,
    arguments={"logps": Numbers("B C", most=0.0), "advantages": Numbers("B"), "mask": Kind("B C")},
    result=TensorOf(""),
    gradient="logps",
    draw=draw,
    boundary=boundary,
    valid=lambda case: bool(case["mask"].sum() >= 1),
)
