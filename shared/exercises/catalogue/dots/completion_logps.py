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
    "predicting",
    "You are off by one: the logits at a position are about the next token. Those for the completion start at P - 1 "
    "and end one before the last, `logits[:, P - 1 : -1]`.",
)
def not_shifted(logits, prompt_ids):
    return logits[:, prompt_ids.size(1) :]


@STEPS.slip(
    "predicting", "You are one position too early: the first completion token is predicted at P - 1, not at P - 2."
)
def shifted_twice(logits, prompt_ids):
    return torch.cat([logits[:, :1], logits], dim=1)[:, prompt_ids.size(1) - 1 : -2]


@STEPS.slip(
    "predicting",
    "You cut each row at the length of its prompt without padding. Prompts are padded on the left, so every "
    "completion starts at the padded length P, the same for all rows; yours scores prompt tokens in the shorter rows.",
)
def cut_at_the_unpadded_length(logits, prompt_mask, completion_ids):
    C = completion_ids.size(1)
    return torch.stack([logits[row, n - 1 : n - 1 + C] for row, n in enumerate(prompt_mask.sum(dim=1).tolist())])


@STEPS.slip("predicting", "You take the first C positions, which are the prompt's. The completion's begin at P - 1.")
def first_positions(logits, completion_ids):
    return logits[:, : completion_ids.size(1)]


@STEPS.slip(
    "logits",
    "The model gets no attention mask, or one of ones: it then reads the padding before short prompts as text. Pass "
    "`attention_mask=torch.cat([prompt_mask, completion_mask], dim=1)`.",
)
def attention_mask_forgotten(model, input_ids, positions):
    return model(input_ids=input_ids, position_ids=positions).logits


@STEPS.slip(
    "attention_mask", "The mask that the model gets is all ones: it reads the padding before short prompts as text."
)
def attention_mask_of_ones(input_ids):
    return torch.ones_like(input_ids)


@STEPS.slip(
    "attention_mask",
    "The attention mask is made from `ids != pad`. Pad and EOS are the same token here, and a mask comes from lengths: "
    "use `prompt_mask` and `completion_mask`.",
)
def attention_mask_from_ids(input_ids):
    return (input_ids != tiny.END).long()


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
    "positions",
    "The padding before a short prompt gets position -1, which a model with learned positions has not: `.clamp(min=0)`.",
)
def positions_below_0(attention_mask):
    return attention_mask.cumsum(dim=1) - 1


@STEPS.slip(
    "log_probabilities", "These are logits, not log-probabilities: apply `log_softmax` over the vocabulary first."
)
def logits_instead(scaled):
    return scaled


@STEPS.slip("log_probabilities", "These are probabilities: use `log_softmax`, not `softmax`.")
def probabilities_instead(scaled):
    return scaled.softmax(dim=-1)


@STEPS.slip(
    "log_probabilities",
    "The softmax runs over the positions (dim=1). It must run over the vocabulary, the last dimension.",
)
def softmax_over_positions(scaled):
    return scaled.log_softmax(dim=1)


@STEPS.slip(
    "log_probabilities", "The softmax runs over the batch (dim=0). It must run over the vocabulary, the last one."
)
def softmax_over_the_batch(scaled):
    return scaled.log_softmax(dim=0)


@STEPS.slip("log_probabilities", "The logarithm is of base 2 or 10. Log-probabilities are natural ones: `log_softmax`.")
def other_base(scaled):
    return scaled.log_softmax(dim=-1) / torch.log(torch.tensor(2.0))


@STEPS.slip("scaled", "The logits are divided by a temperature. They are asked for as they are.")
def temperature_applied(predicting):
    return predicting / 0.7


@STEPS.slip(
    "chosen", "The sign is flipped: these are losses (negative log-probabilities), as `cross_entropy` returns them."
)
def negative(chosen):
    return -chosen


@STEPS.slip("chosen", "You take the most likely token's log-probability, not that of the token that was sampled.")
def most_likely(log_probabilities):
    return log_probabilities.amax(dim=-1)


@STEPS.slip(
    "chosen",
    "EOS is masked as if it were padding: your mask is `ids != pad`, and pad and EOS are the same token here. The "
    "decision to stop then never gets a gradient. Use `completion_mask`, which is made from lengths.",
)
def eos_masked_as_padding(chosen, completion_ids):
    return chosen * (completion_ids != tiny.END)


@STEPS.slip("logps", "The prompt is scored as well: return the completion's C columns only, not P + C - 1.")
def prompt_scored_too(logits, input_ids):
    return logits[:, :-1].log_softmax(-1).gather(-1, input_ids[:, 1:, None])[..., 0]


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
    "predicting", "The completion is scored without its prompt: the model must read both, joined by `torch.cat`."
)
def prompt_not_read(model, prompt_ids, completion_ids):
    return model(input_ids=torch.cat([prompt_ids[:, -1:], completion_ids], dim=1)).logits[:, :-1]


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
        "model": tiny.tiny_model(draw.randrange(3)),
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
