"""One mean over all real tokens, with which a distillation's loss and a KL from samples end, and its slips.

The steps go on from one named `per_token`, shape (B, C), and read `completion_mask`.
"""

from shared.exercises.steps import Slip, Steps


def masked(per_token, completion_mask):
    return per_token.masked_fill(completion_mask == 0, 0.0)


def tokens(completion_mask):
    return completion_mask.sum()


def mean(masked, tokens):
    return masked.sum() / tokens


def add_mean(steps: Steps) -> None:
    """The last three steps: from a step `per_token` to its mean over real tokens, one number."""
    for step in (masked, tokens, mean):
        steps.step(step)


def padding_summed(per_token):
    return per_token


def by_places(completion_mask):
    return completion_mask.numel()


def by_completions(completion_mask):
    return len(completion_mask)


def by_completion_first(masked, completion_mask):
    return (masked.sum(dim=1) / completion_mask.sum(dim=1)).mean()


def place_by_place(masked, completion_mask):
    return (masked.sum(dim=0) / completion_mask.sum(dim=0).clamp(min=1))[completion_mask.any(dim=0)].mean()


def summed(masked):
    return masked.sum()


def where_they_differ(masked):
    return (masked != 0).sum().clamp(min=1)


def upside_down(per_token, completion_mask):
    return per_token.masked_fill(completion_mask != 0, 0.0)


def last_token(per_token, completion_mask):
    last = completion_mask.long().sum(dim=1, keepdim=True) - 1
    return per_token.gather(1, last).mean()


def means_of_all_places(masked, completion_mask):
    return (masked.sum(dim=0) / completion_mask.sum(dim=0).clamp(min=1)).mean()


SLIPS = (
    Slip.of(
        "masked", "The padding counts: what stands there was drawn by nobody. Leave it out of the sum.", padding_summed
    ),
    Slip.of("tokens", "You divide by all places, padding among them. Divide by the number of real tokens.", by_places),
    Slip.of(
        "tokens", "You count the numbers that are not 0: a real token of 0 counts too. Sum the mask.", where_they_differ
    ),
    Slip.of(
        "tokens", "You divide by the number of completions. Asked for is the mean over all real tokens.", by_completions
    ),
    Slip.of(
        "mean",
        "You average each completion first, then the completions: a token of a short one weighs more. Asked for is one "
        "mean over all tokens.",
        by_completion_first,
    ),
    Slip.of(
        "mean",
        "You average each place over the completions that reach it, then the places: a late token, which few have, weighs "
        "more. Asked for is one mean over all tokens.",
        place_by_place,
    ),
    Slip.of(
        "mean",
        "You average each place over the completions, then all places, those too that none reaches. Asked for is one mean "
        "over all tokens.",
        means_of_all_places,
    ),
    Slip.of("masked", "The mask is upside down: you keep the padding and leave out the real tokens.", upside_down),
    Slip.of(
        "mean", "Only the last real token of each completion counts. Asked for is one mean over all tokens.", last_token
    ),
    Slip.of("mean", "You return the sum. Divide it by the number of real tokens.", summed),
)
