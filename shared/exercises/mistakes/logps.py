"""Wrong scores: `f(model, prompt_ids, prompt_mask, completion_ids, completion_mask) -> logps`, (B, C)."""

import torch

from shared.exercises.mistakes import Mistakes

MISTAKES = Mistakes()


def _logits(model, prompt_ids, prompt_mask, completion_ids, completion_mask, *, mask=True, positions=True):
    """The logits of prompt and completion together, (B, P + C, V)."""
    attention_mask = torch.cat([prompt_mask, completion_mask], dim=1)
    options = {"attention_mask": attention_mask} if mask else {}
    if positions:
        options["position_ids"] = (attention_mask.cumsum(dim=1) - 1).clamp(min=0)
    return model(input_ids=torch.cat([prompt_ids, completion_ids], dim=1), **options).logits


def _chosen(logps, ids):
    return logps.gather(-1, ids[..., None])[..., 0]


@MISTAKES.known(
    "You are off by one: the logits at a position are about the next token. Those for the completion start at P - 1 "
    "and end one before the last, `logits[:, P - 1 : -1]`."
)
def not_shifted(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    logits = _logits(model, prompt_ids, prompt_mask, completion_ids, completion_mask)
    return _chosen(logits[:, prompt_ids.size(1) :].log_softmax(-1), completion_ids)


@MISTAKES.known("You are one position too early: the first completion token is predicted at P - 1, not at P - 2.")
def shifted_twice(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    logits = _logits(model, prompt_ids, prompt_mask, completion_ids, completion_mask)
    return _chosen(logits[:, prompt_ids.size(1) - 2 : -2].log_softmax(-1), completion_ids)


@MISTAKES.known(
    "You cut each row at the length of its prompt without padding. Prompts are padded on the left, so every "
    "completion starts at the padded length P, the same for all rows; yours scores prompt tokens in the shorter rows."
)
def cut_at_the_unpadded_length(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    logits = _logits(model, prompt_ids, prompt_mask, completion_ids, completion_mask).log_softmax(-1)
    C = completion_ids.size(1)
    rows = [logits[i, n - 1 : n - 1 + C] for i, n in enumerate(prompt_mask.sum(dim=1).tolist())]
    return _chosen(torch.stack(rows), completion_ids)


@MISTAKES.known(
    "The attention mask is not passed to the model: it then reads the padding before short prompts as text. Pass "
    "`attention_mask=torch.cat([prompt_mask, completion_mask], dim=1)`."
)
def attention_mask_forgotten(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    logits = _logits(model, prompt_ids, prompt_mask, completion_ids, completion_mask, mask=False)
    return _chosen(logits[:, prompt_ids.size(1) - 1 : -1].log_softmax(-1), completion_ids)


@MISTAKES.known(
    "Positions count the padding: a model with learned positions then sees a left-padded prompt in the wrong place. "
    "Pass `position_ids=(attention_mask.cumsum(dim=1) - 1).clamp(min=0)`."
)
def positions_count_the_padding(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    attention_mask = torch.cat([prompt_mask, completion_mask], dim=1)
    positions = torch.arange(attention_mask.size(1)).expand_as(attention_mask)
    logits = model(
        input_ids=torch.cat([prompt_ids, completion_ids], dim=1), attention_mask=attention_mask, position_ids=positions
    ).logits
    return _chosen(logits[:, prompt_ids.size(1) - 1 : -1].log_softmax(-1), completion_ids)


@MISTAKES.known("These are logits, not log-probabilities: apply `log_softmax` over the vocabulary first.")
def logits_instead(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    logits = _logits(model, prompt_ids, prompt_mask, completion_ids, completion_mask)
    return _chosen(logits[:, prompt_ids.size(1) - 1 : -1], completion_ids)


@MISTAKES.known("These are probabilities: use `log_softmax`, not `softmax`.")
def probabilities_instead(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    logits = _logits(model, prompt_ids, prompt_mask, completion_ids, completion_mask)
    return _chosen(logits[:, prompt_ids.size(1) - 1 : -1].softmax(-1), completion_ids)


@MISTAKES.known("The sign is flipped: these are losses (negative log-probabilities), as `cross_entropy` returns them.")
def negative(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    logits = _logits(model, prompt_ids, prompt_mask, completion_ids, completion_mask)
    return -_chosen(logits[:, prompt_ids.size(1) - 1 : -1].log_softmax(-1), completion_ids)


@MISTAKES.known("The softmax runs over the positions (dim=1). It must run over the vocabulary, the last dimension.")
def softmax_over_positions(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    logits = _logits(model, prompt_ids, prompt_mask, completion_ids, completion_mask)
    return _chosen(logits[:, prompt_ids.size(1) - 1 : -1].log_softmax(1), completion_ids)


@MISTAKES.known(
    "EOS is masked as if it were padding: your mask is `ids != pad`, and pad and EOS are the same token here. The "
    "decision to stop then never gets a gradient. Use `completion_mask`, which is made from lengths."
)
def eos_masked_as_padding(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    logits = _logits(model, prompt_ids, prompt_mask, completion_ids, completion_mask)
    logps = _chosen(logits[:, prompt_ids.size(1) - 1 : -1].log_softmax(-1), completion_ids)
    return logps * (completion_ids != model.config.eos_token_id)


@MISTAKES.known("The prompt is scored as well: return the completion's C columns only, not P + C - 1.")
def prompt_scored_with_the_answer(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    logits = _logits(model, prompt_ids, prompt_mask, completion_ids, completion_mask)
    return _chosen(logits[:, :-1].log_softmax(-1), torch.cat([prompt_ids, completion_ids], dim=1)[:, 1:])


@MISTAKES.known("The completion is scored without its prompt: the model must read both, joined by `torch.cat`.")
def prompt_not_read(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    logits = model(input_ids=torch.cat([prompt_ids[:, -1:], completion_ids], dim=1)).logits
    return _chosen(logits[:, :-1].log_softmax(-1), completion_ids)


@MISTAKES.known(
    "The values are right and the gradient is missing: `torch.no_grad()`, `.detach()` or `inference_mode` is in the "
    "way. Only the reference and the sampling are computed without gradient."
)
def gradient_missing(model, prompt_ids, prompt_mask, completion_ids, completion_mask):
    with torch.no_grad():
        logits = _logits(model, prompt_ids, prompt_mask, completion_ids, completion_mask)
    return _chosen(logits[:, prompt_ids.size(1) - 1 : -1].log_softmax(-1), completion_ids)
