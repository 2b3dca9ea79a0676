"""Drawing the next token among those allowed: `draw_token(logits, allowed, generator) -> tokens`, (n,) from (n, V) each.

Judged by how often each token comes in many draws, since right functions may use chance in different ways.
"""

import torch

from shared.exercises.arguments import Kind, Numbers, Scalar
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import NotAResult, TensorOf, named
from shared.exercises.steps import Steps

STEPS = Steps()
DRAWS = 1500
FAR = 0.08  # over four standard deviations of the difference of two shares of DRAWS


@STEPS.step
def open_to(logits, allowed):
    return logits.masked_fill(~allowed, -torch.inf)


@STEPS.step
def weights(open_to):
    return open_to.softmax(dim=-1)


@STEPS.step
def chance(generator):
    return generator


@STEPS.step
def tokens(weights, chance):
    return torch.multinomial(weights, 1, generator=chance)[:, 0]


@STEPS.slip("open_to", "Tokens that are not allowed are drawn: fill their logits with -inf before the softmax.")
def nothing_forbidden(logits):
    return logits


@STEPS.slip("open_to", "What is not allowed gets the logit 0, which is a share like any other. Use -inf.")
def forbidden_with_zero(logits, allowed):
    return logits.masked_fill(~allowed, 0.0)


@STEPS.slip("weights", "All allowed tokens are drawn alike. Draw them by the softmax of their logits.")
def uniform(open_to):
    return (open_to > -torch.inf).float()


@STEPS.slip(
    "weights", "The logits are divided by 2: that is temperature 2, and the log-probabilities are of temperature 1."
)
def halved(open_to):
    return (open_to / 2).softmax(dim=-1)


@STEPS.slip("weights", "The softmax is taken twice, and the second one evens the shares out.")
def softmax_twice(weights):
    return weights.softmax(dim=-1)


@STEPS.slip("tokens", "You take the likeliest token. Draw one: `torch.multinomial`, with the generator.")
def greedy(weights):
    return weights.argmax(dim=-1)


@STEPS.slip("tokens", "One token is drawn for all rows. Each row draws its own.")
def one_for_all(tokens):
    return tokens[:1].expand_as(tokens)


@STEPS.slip("tokens", "You return the shape (n, 1). One number for each row is asked for, (n,).")
def axis_kept(tokens):
    return tokens[:, None]


@STEPS.slip(
    "chance",
    "The generator is not used: chance comes from torch's own, and the same seed gives other completions each time.",
)
def generator_ignored():
    return None


OTHER_SEEDS = 1000  # further on than any seed of a case


def call(function, case: Case):
    """Shares (N + 1, V): how often each token came in the rows of each prompt; then whether one seed gives one draw."""
    logits, allowed, seed = case.values()  # a case holds the seed in the generator's place
    many = logits.repeat_interleave(DRAWS, dim=0)
    allowed_in_all = allowed.repeat_interleave(DRAWS, dim=0)

    def drawn():
        tokens = function(many, allowed_in_all, torch.Generator().manual_seed(seed))
        if not isinstance(tokens, torch.Tensor) or tokens.is_floating_point():
            raise NotAResult(f"it returns {named(tokens)}; return a tensor with the number of a token for each row.")
        return tokens

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(
            seed + OTHER_SEEDS
        )  # who ignores the generator draws the same in every trial, and is recognised
        first = drawn()
        again = drawn()
    if first.shape != (len(many),):
        return first.float()
    shares = torch.nn.functional.one_hot(first.long(), logits.size(1)).float().view(len(logits), DRAWS, -1).mean(dim=1)
    return torch.cat([shares, torch.equal(first, again) * torch.ones(1, logits.size(1))])


def draw(draw: Draw) -> Case:
    N, V = draw.size(3), draw.size(4, least=2)
    allowed = draw.numbers(N, V, least=0.0, most=1.0) < 0.6
    allowed[:, draw.randrange(V)] = True
    return {"logits": draw.numbers(N, V), "allowed": allowed, "generator": draw.randrange(100)}


def boundary() -> list[Case]:
    logits = torch.tensor([[2.0, 0.0, 1.0]])
    return [
        {"logits": logits, "allowed": torch.tensor([[True, True, True]]), "generator": 0},
        {"logits": logits, "allowed": torch.tensor([[False, True, True]]), "generator": 0},
        {"logits": logits, "allowed": torch.tensor([[False, True, False]]), "generator": 0},
        {"logits": -logits, "allowed": torch.tensor([[True, True, False]]), "generator": 1},
    ]


EXERCISE = Exercise(
    name="drawing a token",
    function="draw_token",
    steps=STEPS,
    arguments={"logits": Numbers("N V"), "allowed": Kind("N V"), "generator": Scalar(simple=(0,))},
    result=TensorOf("N V"),
    draw=draw,
    boundary=boundary,
    valid=lambda case: bool(case["allowed"].any(dim=1).all()),
    tolerance=FAR,
    call=call,
    draws=8,
)
