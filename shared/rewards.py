"""Calling reward functions, adding them up, and a few that fit any task.

A reward function has TRL's signature, `reward(prompts, completions, **columns) -> list[float | None]`, so each one also
runs in `trl.GRPOTrainer` unchanged; None is for a completion that another function is there for.
A completion that all leave to another is *unrated*: nothing is learned from it. A reward reads only the completion, and the completion's environment where it has one: a reward that reads the prompt as well pays for what the
user wrote. Special tokens, such as the EOS, are no part of a completion's text. Where a format is written with some, and
`<think>` is one in many tokenizers, its reward would be 0 for ever: `rows_for` keeps those that the task's answers are
written with and those by which the template encloses thoughts, `shared.tokens.keep_in_texts(tokenizer, ["<think>"])` any
others. Two rewards here come from a model instead of a rule, `semantic_similarity` and `model_as_judge`; that model is
frozen, or the policy would learn to move its own judge.
"""

import inspect
import math
import reprlib
from collections.abc import Callable, Collection, Mapping, Sequence, Set, Sized

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import AutoModel, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from shared.engine import hub
from shared.models import best_device, load
from shared.prompts import in_chat_template
from shared.rollout import Rollout
from shared.tokens import piece_ids, prompt_ids

RewardFunction = Callable[..., Sequence[float | None]]
Embedder = Callable[[Sequence[str]], Tensor]  # B texts to unit vectors, (B, H)


def score(
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    prompts: Sequence[str],
    completions: Sequence[str],
    columns: Mapping[str, Sequence] | None = None,
) -> Float[Tensor, "B F"]:
    """Call F reward functions on B completions, (B, F). A function gives None to what is not for it, here nan.

    Args:
        columns: further columns of the data set, each with B entries, passed by name.

    Raises:
        ValueError: a column has the name `prompts` or `completions`, a function does not take the columns, returns the
            wrong number of rewards or one that is not a finite number; the message names the function and the completion.
    """
    if taken := {"prompts", "completions"} & (columns or {}).keys():
        raise ValueError(
            f"The rows have a column {min(taken)!r}, the name under which a reward is given something else: rename it."
        )
    scores = []
    for function in functions_of(reward_funcs):
        given = {"prompts": list(prompts), "completions": list(completions), **(columns or {})}
        refuse_other_arguments(function, given)
        rewards = function(**given)
        count = _number_of(rewards)
        if count != len(completions):
            found = f"{count} rewards" if count is not None else "nothing" if rewards is None else reprlib.repr(rewards)
            raise ValueError(
                f"{name_of(function)} returned {found} for {len(completions)} completions; return a list, one for each."
            )
        scores.append([as_number(reward, function, text) for reward, text in zip(rewards, completions)])
    return torch.tensor(scores).T


def _number_of(rewards: object) -> int | None:
    """The length of a list, an array or a tensor of rewards; None for what is no such thing."""
    if isinstance(rewards, Mapping | Set) or getattr(rewards, "ndim", 1) == 0:
        return None
    return len(rewards) if isinstance(rewards, Sized) else None


def refuse_other_arguments(function: RewardFunction, given: Collection[str]) -> None:
    """ValueError when the function does not take what it is given by name, or asks for more."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions that are written in C do not tell
        return
    named = {p.name: p for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    unknown = [name for name in given if name not in named]
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters):
        raise ValueError(
            f"{name_of(function)} does not take {unknown[0]!r}, and every column of the rows is passed by name: define "
            f"it as {name_of(function)}(prompts, completions, **columns)."
        )
    missing = [p.name for p in named.values() if p.default is p.empty and p.name not in given]
    if missing:
        raise ValueError(
            f"{name_of(function)} asks for {missing[0]!r}, and the rows have no such column: it is given "
            f"{', '.join(given)}."
        )


def as_number(reward: object, function: RewardFunction, completion: str) -> float:
    """A reward as a number; nan for None, which says that this completion is none of this function's.

    Raises ValueError for a text, and for a number that is not finite.
    """
    if reward is None:
        return math.nan
    try:
        number = math.nan if isinstance(reward, str) else float(reward)  # ty: ignore[invalid-argument-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(
            f"{name_of(function)} gave the reward {reprlib.repr(reward)} to the completion {completion!r}; give a finite "
            "number, or None where the completion is for another reward function."
        )
    return number


def functions_of(reward_funcs: RewardFunction | Sequence[RewardFunction]) -> list[RewardFunction]:
    """One reward function or several, as a list. ValueError when it is empty, or holds something else."""
    functions = list(reward_funcs) if isinstance(reward_funcs, list | tuple) else [reward_funcs]
    if not functions:
        raise ValueError("reward_funcs is empty: at least one reward function is needed.")
    for function in functions:
        if not callable(function):
            raise ValueError(
                f"reward_funcs has {reprlib.repr(function)}, which cannot be called; give the function itself, such as"
                " dots.reward, or a list of functions."
            )
        if any(map(inspect.iscoroutinefunction, (function, function.__call__))):
            raise ValueError(
                f"{name_of(function)} is an `async def`: calling it gives a coroutine and no rewards. Define it with `def`, "
                "and run what it waits for with asyncio.run."
            )
    return functions


def name_of(function: RewardFunction) -> str:
    """The name of a reward function in metrics and errors."""
    return getattr(function, "__name__", repr(function))


def score_rollout(
    reward_funcs: RewardFunction | Sequence[RewardFunction], rollout: Rollout, rows: Sequence[dict]
) -> Float[Tensor, "B F"]:
    """`score` on the rollout of these N rows of a data set, each row's columns repeated for its G completions.

    The games of an `environment_factory` come as one more column, `environments`.
    """
    columns = {name: rollout.repeated(column) for name, column in columns_of(rows).items()}
    columns |= environments_of(rollout.environments)
    return score(reward_funcs, rollout.repeated(rollout.prompts), rollout.completions, columns)


def environments_of(environments: list | None) -> dict[str, list]:
    """The column that rewards read the completions' games from, under TRL's name; none where there are none."""
    return {} if environments is None else {"environments": environments}


def add_up(rewards_per_func: Float[Tensor, "B F"], weights: Sequence[float] | None = None) -> Float[Tensor, "B"]:
    """The weighted sum over functions, (B, F) to (B,), to which a nan adds nothing; all weights are 1 by default.

    A completion that no function rates has no sum: nan.

    Raises ValueError when F weights are not given.
    """
    given = rewards_per_func.nan_to_num(nan=0.0)
    if weights is not None and len(weights) != given.size(1):
        raise ValueError(f"{len(weights)} reward weights were given for {given.size(1)} reward functions.")
    total = given.sum(dim=1) if weights is None else given @ given.new_tensor(weights)
    return total.masked_fill(rewards_per_func.isnan().all(dim=1), math.nan)


def columns_of(rows: Sequence[dict]) -> dict[str, list]:
    """The columns of a data set other than `prompt`. ValueError when a row lacks one that the first row has."""
    for i, row in enumerate(rows):
        if missing := rows[0].keys() - row.keys():
            raise ValueError(f"Row {i} of the data set has no {sorted(missing)[0]!r}, which row 0 has.")
    return {name: [row[name] for row in rows] for name in rows[0] if name != "prompt"}


def text_embedder(
    model: PreTrainedModel | str,
    tokenizer: PreTrainedTokenizerBase | None = None,
    *,
    background: Sequence[str] = (),
    device: torch.device | str | None = None,
) -> Embedder:
    """A function from B texts to unit vectors (B, H): the mean of the final hidden states over real tokens.

    Mean pooling is what most sentence-embedding models were trained for (Reimers and Gurevych 2019,
    arXiv:1908.10084). The hidden states of a real causal model all point the same way, and the first token's most of
    all, whichever it is: SmolLM2 finds "wall" as near to "puppy" as "kitten", 1.00 by `semantic_similarity`. With a
    background a text is read behind an EOS, which is left out of the mean, and the background's mean is taken away: 0.55
    and 0.90. Either alone leaves "wall" at 0.97.

    Args:
        model: a frozen model, for instance the reference; or the name or folder of an embedding model.
        tokenizer: the model's; not needed with a name.
        background: texts of the kind that will be compared, a few hundred for a causal model; none for a model of
            sentences.
        device: of a model given by name, default `best_device()`; any other stays where it is.

    Raises ValueError when there is no model of that name.
    """
    if isinstance(model, str):
        source = hub.find(*hub.split_revision(model))
        tokenizer = load(AutoTokenizer, source)
        model = load(AutoModel, source).to(device or best_device()).eval()

    if tokenizer is None:
        raise ValueError("Give the model's tokenizer as well: text_embedder(model, tokenizer).")
    reader = tokenizer

    @torch.no_grad()
    def directions(texts: Sequence[str]) -> Float[Tensor, "B H"]:
        rows = reader(list(texts), add_special_tokens=not background)["input_ids"]
        if background:
            rows = [[reader.eos_token_id, *row] for row in rows]
        ids, mask = _right_padded(reader, rows, model.device)
        hidden = model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states[-1].float()
        if background:
            mask[:, 0] = 0
        total = (hidden * mask[..., None]).sum(dim=1)  # (B, H), in the direction of the mean
        return torch.nn.functional.normalize(total)

    if not background:
        return directions
    shared_by_all = directions(background).mean(dim=0)  # (H,)
    return lambda texts: torch.nn.functional.normalize(directions(texts) - shared_by_all)


def semantic_similarity(embed: Embedder) -> RewardFunction:
    """A soft reward: how near the completion comes in meaning to the nearest accepted answer, from 0 to 1.

    (1 + cosine) / 2 of the embeddings; 0 for an empty completion. The data set has a column `answers`, a list of
    accepted texts for each row. `notebooks/analogies.ipynb` shows what a policy makes of such a reward.
    """

    def similarity(prompts, completions, answers, **columns) -> list[float]:
        texts = [" " + text.strip() for text in completions]
        accepted = [[" " + str(answer).strip() for answer in row] for row in answers]
        different = sorted({*texts, *(answer for row in accepted for answer in row)})
        vectors = dict(zip(different, embed(different).cpu()))  # to the host once, not for each pair
        return [
            (1 + max(float(vectors[text] @ vectors[answer]) for answer in row)) / 2 if text.strip() else 0.0
            for text, row in zip(texts, accepted)
        ]

    return similarity


JUDGE_PROMPT = "Question: {prompt}\nAnswer: {completion}\nIs this answer right, yes or no?"


def model_as_judge(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    judge_prompt: str = JUDGE_PROMPT,
    *,
    yes: str = " yes",
    no: str = " no",
) -> RewardFunction:
    """The probability that a causal model answers yes to `judge_prompt`, given that it answers yes or no.

    Args:
        model: frozen; in practice far larger than the policy.
        judge_prompt: may hold {prompt}, {completion} and the names of further columns; sent as a chat message where
            the tokenizer has a chat template (give yes="Yes", no="No" there).

    Raises:
        ValueError: yes and no begin with the same token, so the model cannot choose between them.
        KeyError: (when called) the judging prompt names a column that the data set does not have.
    """
    choice = [piece_ids(tokenizer, word)[0] for word in (yes, no)]
    if choice[0] == choice[1]:
        raise ValueError(f"{yes!r} and {no!r} begin with the same token of this tokenizer; choose other words.")

    @torch.no_grad()
    def judge(prompts, completions, **columns) -> list[float]:
        texts = []
        for i, (prompt, completion) in enumerate(zip(prompts, completions)):
            row = {name: values[i] for name, values in columns.items()}
            text = judge_prompt.format(prompt=prompt, completion=completion.strip(), **row)
            if tokenizer.chat_template:
                text = in_chat_template(tokenizer, text)
            texts.append(text)
        ids, mask = _right_padded(tokenizer, prompt_ids(tokenizer, texts), model.device)
        logits = model(input_ids=ids).logits  # (B, L, V); a causal model does not see the padding behind
        last = logits[torch.arange(len(texts)), mask.sum(dim=1) - 1]  # (B, V)
        return last[:, choice].softmax(dim=1)[:, 0].tolist()

    return judge


def _right_padded(
    tokenizer: PreTrainedTokenizerBase, ids: Sequence[Sequence[int]], device: torch.device
) -> tuple[Int[Tensor, "B L"], Int[Tensor, "B L"]]:
    """Ids and mask, (B, L), padded on the right so that positions count from the first real token."""
    longest = max(map(len, ids))
    padded = [[*row, *[tokenizer.pad_token_id or 0] * (longest - len(row))] for row in ids]
    lengths = torch.tensor([len(row) for row in ids], device=device)
    return torch.tensor(padded, device=device), (torch.arange(longest, device=device) < lengths[:, None]).long()
