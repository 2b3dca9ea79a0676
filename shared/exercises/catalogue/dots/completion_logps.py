"""Scores: `completion_logps(model, prompt_ids, prompt_mask, completion_ids, completion_mask) -> logps`, (B, C)."""

import torch

from shared.exercises.arguments import Kind, Mask, Things
from shared.exercises.catalogue.common import tiny
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import TensorOf
from shared.exercises.steps import Steps

STEPS = Steps()


@STEPS.step
def input_ids(prompt_ids, completion_ids):
    return torch.cat([prompt_ids, completion_ids], dim=1)


@STEPS.step
def attention_mask(prompt_mask, completion_mask):
    return torch.cat([prompt_mask, completion_mask], dim=1)


@STEPS.step
def positions(attention_mask):
    return (attention_mask.cumsum(dim=1) - 1).clamp(min=0)


@STEPS.step
def logits(model, input_ids, attention_mask, positions):
    return model(input_ids=input_ids, attention_mask=attention_mask, position_ids=positions).logits


@STEPS.step
def predicting(logits, prompt_ids):
    """The logits that the completion's tokens were drawn from, (B, C, V): position t predicts token t + 1."""
    return logits[:, prompt_ids.size(1) - 1 : -1]


@STEPS.step
def scaled(predicting):
    return predicting


@STEPS.step
def log_probabilities(scaled):
    return scaled.log_softmax(dim=-1)


@STEPS.step
def chosen(log_probabilities, completion_ids):
    return log_probabilities.gather(-1, completion_ids[..., None])[..., 0]


@STEPS.step
def logps(chosen, completion_mask):
    return chosen * completion_mask


@STEPS.slip(
    "log_probabilities", "A small number is added inside of the logarithm: all tokens that are rarer score alike."
)
def small_number_added(scaled):
    return (scaled.softmax(dim=-1) + 1e-8).log()


@STEPS.slip(
    "predicting",
    "You are off by one: the logits at a position are about the next token. Those for the completion start at P - 1 "
    "and end one before the last, `logits[:, P - 1 : -1]`.",
)
def not_shifted(logits, prompt_ids):
    return logits[:, prompt_ids.size(1) :]


@STEPS.slip(
    "predicting",
    "You cut each row at the length of its prompt without padding. Prompts are padded on the left, so every "
    "completion starts at the padded length P, the same for all rows; yours scores prompt tokens in the shorter rows.",
)
def cut_at_the_unpadded_length(logits, prompt_mask, completion_ids):
    C = completion_ids.size(1)
    return torch.stack([logits[row, n - 1 : n - 1 + C] for row, n in enumerate(prompt_mask.sum(dim=1).tolist())])


@STEPS.slip(
    "logits",
    "The model gets no attention mask, or one of ones: it then reads the padding before short prompts as text. Pass "
    "`attention_mask=torch.cat([prompt_mask, completion_mask], dim=1)`.",
)
def attention_mask_forgotten(model, input_ids, positions):
    return model(input_ids=input_ids, position_ids=positions).logits


@STEPS.slip(
    "positions",
    "Positions count the padding: a model with learned positions then sees a left-padded prompt in the wrong place. "
    "Pass `position_ids=(attention_mask.cumsum(dim=1) - 1).clamp(min=0)`.",
)
def positions_count_the_padding(input_ids):
    return torch.arange(input_ids.size(1)).expand_as(input_ids)


@STEPS.slip("positions", "Positions begin at 1: the first real token stands at 0, so subtract 1 from the running sum.")
def positions_from_one(attention_mask):
    return attention_mask.cumsum(dim=1)


@STEPS.slip(
    "log_probabilities", "These are logits, not log-probabilities: apply `log_softmax` over the vocabulary first."
)
def logits_instead(scaled):
    return scaled


@STEPS.slip(
    "chosen", "The sign is flipped: these are losses (negative log-probabilities), as `cross_entropy` returns them."
)
def negative(chosen):
    return -chosen


@STEPS.slip("logps", "The padding keeps its log-probabilities. They are 0 there: multiply by `completion_mask`.")
def padding_kept(chosen):
    return chosen


@STEPS.slip("logps", "You add up the tokens: one number for each completion. Keep one for each token, (B, C).")
def summed(chosen, completion_mask):
    return (chosen * completion_mask).sum(dim=1)


@STEPS.slip("logps", "You average over the tokens: one number for each completion. Keep one for each token, (B, C).")
def averaged(chosen, completion_mask):
    return (chosen * completion_mask).sum(dim=1) / completion_mask.sum(dim=1)


@STEPS.slip(
    "logits",
    "The gradient is missing: `torch.no_grad()`, `.detach()` or `inference_mode` is in the "
    "way. Only the reference and the sampling are computed without gradient.",
)
def gradient_missing(logits):
    return logits.detach()


@STEPS.slip(
    "positions",
    "The completion's positions go on from P, the padded width. They go on from the number of real tokens of the prompt: "
    "padding must leave no gap.",
)
def positions_from_the_width(prompt_mask, completion_mask):
    B, P = prompt_mask.shape
    of_prompt = (prompt_mask.cumsum(dim=1) - 1).clamp(min=0)
    return torch.cat([of_prompt, torch.arange(P, P + completion_mask.size(1)).expand(B, -1)], dim=1)


@STEPS.slip(
    "logps",
    "The mask lies one place behind the tokens: the first padding after the end keeps its log-probability. Multiply by "
    "`completion_mask`, of which no place is cut off.",
)
def mask_one_place_behind(chosen, attention_mask, prompt_ids):
    return chosen * attention_mask[:, prompt_ids.size(1) - 1 : -1]


@STEPS.slip(
    "positions",
    "The positions start again at 0 in the completion. They go on from the prompt: take the running sum of the joined mask.",
)
def positions_start_again(prompt_mask, completion_mask):
    return torch.cat([mask.cumsum(dim=1) - 1 for mask in (prompt_mask, completion_mask)], dim=1).clamp(min=0)


@STEPS.slip(
    "chosen",
    "The first C of the scored tokens are returned, and these are the prompt's. The completion's are the last C.",
)
def first_tokens_scored(logits, input_ids, completion_ids):
    scored = logits[:, :-1].log_softmax(dim=-1).gather(-1, input_ids[:, 1:, None])[..., 0]
    return scored[:, : completion_ids.size(1)]


@STEPS.slip(
    "logps",
    "The mask multiplies the logits, so a place of the padding gets -log V, as if every token were as likely. The "
    "log-probabilities are what is 0 there.",
)
def logits_masked(predicting, completion_ids, completion_mask):
    masked = predicting * completion_mask[..., None]
    return masked.log_softmax(dim=-1).gather(-1, completion_ids[..., None])[..., 0]


def draw(draw: Draw) -> Case:
    B = draw.size(3)
    prompt_ids, prompt_mask = tiny.prompts(draw, B, draw.size(4))
    completion_ids, completion_mask = tiny.completions(draw, B, draw.size(4))
    return {
        "model": tiny.tiny_model(draw.randrange(tiny.SHARP + 1)),
        "prompt_ids": prompt_ids,
        "prompt_mask": prompt_mask,
        "completion_ids": completion_ids,
        "completion_mask": completion_mask,
    }


def boundary() -> list[Case]:
    """One prompt token and one completion token; then padding on both sides, and EOS as the padding."""
    one = {
        "model": tiny.tiny_model(),
        "prompt_ids": torch.tensor([[5]]),
        "prompt_mask": torch.tensor([[1]]),
        "completion_ids": torch.tensor([[7]]),
        "completion_mask": torch.tensor([[1]]),
    }
    padded = {
        "model": tiny.tiny_model(),
        "prompt_ids": torch.tensor([[1, 1, 5, 6, 7], [2, 3, 4, 5, 6], [1, 9, 8, 9, 3]]),
        "prompt_mask": torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [0, 1, 1, 1, 1]]),
        "completion_ids": torch.tensor([[10, 11, 1, 1], [12, 3, 5, 1], [4, 1, 1, 1]]),
        "completion_mask": torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 0, 0]]),
    }
    return [one, padded]


def valid(case: Case) -> bool:
    """No empty prompt or completion, and the masks padded on their sides."""
    return all(
        bool((mask.sum(dim=1) > 0).all()) and torch.equal(mask, mask.sort(dim=1, descending=descending).values)
        for mask, descending in ((case["prompt_mask"], False), (case["completion_mask"], True))
    )


EXERCISE = Exercise(
    name="completion log-probabilities",
    function="completion_logps",
    contract="`f(model, prompt_ids, prompt_mask, completion_ids, completion_mask) -> logps (B, C)`, ids (B, P), "
    "(B, C).",
    steps=STEPS,
    arguments={
        "model": Kind(),
        "prompt_ids": Things("B P"),
        "prompt_mask": Mask("B P"),
        "completion_ids": Things("B C"),
        "completion_mask": Mask("B C"),
    },
    result=TensorOf("B C"),
    draw=draw,
    boundary=boundary,
    gradient="model",
    valid=valid,
    tolerance=1e-3,
    draws=24,
    long=40,
    shows=("shared.exercises.stand_ins.tiny_model",),
)
