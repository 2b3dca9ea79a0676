"""Texts and their tokens: the one place that decides what surrounds a text.

A tokenizer is made for whole texts. It puts a beginning in front of each (`<s>`, `[gMASK]<sop>`), some put an EOS behind it,
and those of the SentencePiece kind write a space before the first word. A prompt wants the beginning once and no end. A
completion, and what an environment says in it, goes on from a text: nothing may come in front of it. With the tokenizer of
Llama 2, where `▁` is a space:

    text                tokenizer(text)     wanted here                 by
    3 + 4 =             <s> ▁3 ▁+ ▁4 ▁=     <s> ▁3 ▁+ ▁4 ▁=             prompt_ids
    <s>3 + 4 =          <s> <s> ▁3 ...      <s> ▁3 ▁+ ▁4 ▁=             prompt_ids
    7                   <s> ▁7              7                           piece_ids
    7                   <s> ▁7              7 </s>                      completion_ids

In the other direction `text_of` gives the text of a completion, in which the space of `▁7` stays. Special tokens are left
out of it, but those that `keep_in_texts` has made ordinary ones.

A tokenizer is one of transformers; no annotation says so, for who reads a rollout need not wait for transformers.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PROBE = "a"
# Templates that know this would otherwise open a long hidden chain of thought; others ignore it.
PLAIN_ANSWERS = {"enable_thinking": False}
# Texts to put in front of a piece, so that the space before the first word comes before them. One of them must not melt
# into a token with the beginning of the piece.
ANCHORS = ("\n", ".", "=", "a", "0")


def surroundings(tokenizer) -> tuple[list[int], list[int]]:
    """The ids that the tokenizer puts in front of a text, and those that it puts behind it.

    Raises ValueError where a text has other tokens of its own when it is surrounded.
    """
    own = tokenizer(PROBE, add_special_tokens=False)["input_ids"]
    whole = tokenizer(PROBE)["input_ids"]
    for start in range(len(whole) - len(own) + 1):
        if whole[start : start + len(own)] == own:
            return whole[:start], whole[start + len(own) :]
    raise ValueError(
        f"This {type(tokenizer).__name__} reads {PROBE!r} as {own}, and as {whole} with its special tokens around it: where "
        "a prompt begins cannot be told. Choose another tokenizer."
    )


def rendered(tokenizer, conversation: Sequence[Mapping], **options) -> str:
    """A conversation in the chat template, up to where the model goes on: its turn has begun, or its last message has.

    options: of the template, by name.
    """
    goes_on = conversation[-1]["role"] == "assistant"
    ending = {"add_generation_prompt": not goes_on, "continue_final_message": goes_on}
    return tokenizer.apply_chat_template(conversation, tokenize=False, **(PLAIN_ANSWERS | ending | options))


@dataclass(frozen=True)
class Turn:
    """The text around an answer in a chat template; all of it is "" where there is no template.

    opening: it follows the question; whatever is in the template has it.
    lead: a space that the template writes between the opening and the answer.
    end: it follows the answer.
    begins: True where the template writes the tokenizer's beginning in front of a conversation.
    """

    opening: str = ""
    lead: str = ""
    end: str = ""
    begins: bool = True

    def is_open_in(self, prompt: object) -> bool:
        """True for a text that is in the template already."""
        return isinstance(prompt, str) and bool(self.opening.strip()) and self.opening.strip() in prompt


def turn_of(tokenizer) -> Turn:
    """The text that the tokenizer's chat template writes around an answer."""
    if not tokenizer.chat_template:
        return Turn()
    asked = [{"role": "user", "content": "Question"}]
    opened = rendered(tokenizer, asked)
    openings = [text.rpartition("Question")[2] for text in (opened, rendered(tokenizer, asked, enable_thinking=True))]
    answered = [*asked, {"role": "assistant", "content": "Answer"}]
    whole = tokenizer.apply_chat_template(answered, tokenize=False, **PLAIN_ANSWERS)
    lead, _, end = whole.removeprefix(opened).rpartition("Answer")
    before, _ = surroundings(tokenizer)
    return Turn(
        opening=os.path.commonprefix(openings),
        lead=lead if whole.startswith(opened) else "",
        end=end,
        begins=tokenizer(opened, add_special_tokens=False)["input_ids"][: len(before)] == before,
    )


def ends_of(tokenizer, eos: Sequence[int]) -> list[int]:
    """Every id that ends a completion, and first the one that a text ends with: the template's, else the tokenizer's.

    eos: those of `shared.models.eos_token_ids`.

    Raises ValueError where there is none.
    """
    if not eos:
        raise ValueError("The tokenizer has no EOS token, so the model could not learn where a completion ends.")
    end = turn_of(tokenizer).end.lstrip()
    of_template = [token for token in eos if end.startswith(tokenizer.decode([token]))]
    return [*of_template, *(token for token in [tokenizer.eos_token_id] if token in eos), *eos]


def prompt_ids(tokenizer, prompts: Sequence[str]) -> list[list[int]]:
    """The ids of each prompt: the tokenizer's beginning once, whoever wrote it, and nothing behind the text.

    A text in the chat template has that beginning where the template writes it, as `apply_chat_template` gives the ids.

    Raises ValueError for a prompt without tokens.
    """
    before, _ = surroundings(tokenizer)
    turn = turn_of(tokenizer)
    rows = []
    for prompt, ids in zip(prompts, tokenizer(list(prompts), add_special_tokens=False)["input_ids"], strict=True):
        has_beginning = ids[: len(before)] == before or (turn.is_open_in(prompt) and not turn.begins)
        ids = ids if has_beginning else before + ids
        if not ids:
            raise ValueError(f"The prompt {prompt!r} has no tokens: a completion needs something to follow.")
        rows.append(ids)
    return rows


def without_beginning(tokenizer, text: str) -> str:
    """A prompt without the beginning that the tokenizer writes itself, for those who give it the text as it is.

    It stays where the other tokens would change without it: a space may come in its place.
    """
    before, _ = surroundings(tokenizer)
    bare = text.removeprefix(tokenizer.decode(before))
    return bare if prompt_ids(tokenizer, [bare]) == prompt_ids(tokenizer, [text]) else text


def piece_ids(tokenizer, text: str) -> list[int]:
    """The ids of a text that goes on from another one: `text_of` gives it back, within what the tokenizer normalises.

    Raises ValueError where no tokens say it.
    """
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    if _says(tokenizer, ids, text):
        return ids
    for anchor in ANCHORS:
        beginning = tokenizer(anchor, add_special_tokens=False)["input_ids"]
        whole = tokenizer(anchor + text, add_special_tokens=False)["input_ids"]
        rest = whole[len(beginning) :]
        if whole[: len(beginning)] == beginning and _says(tokenizer, rest, text):
            return rest
    raise ValueError(
        f"This tokenizer cannot write {text!r} behind another text: what comes out is "
        f"{_decoded(tokenizer, ids, skip_special_tokens=False)!r}. Leave out the characters that it does not know, or begin "
        "with a space."
    )


def _says(tokenizer, ids: Sequence[int], text: str) -> bool:
    """True if these tokens say the text where they follow others, special tokens included."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    normalizer = None if backend is None else backend.normalizer
    said = _decoded(tokenizer, ids, skip_special_tokens=False)
    if said == text or normalizer is None:
        return said == text
    return normalizer.normalize_str(said) == normalizer.normalize_str(text)


def completion_ids(tokenizer, text: str, ends: Sequence[int]) -> list[int]:
    """The ids of a completion that has ended: those of its text, and one EOS.

    ends: every id that ends a completion, the one that this model ends with first. A text that is written with one of
        them keeps it.

    Raises ValueError where one of them stands inside the text, and where no tokens say the text.
    """
    ids = piece_ids(tokenizer, text)
    first = next((place for place, token in enumerate(ids) if token in ends), None)
    if first is None:
        return [*ids, ends[0]]
    if set(ids[first:]) - set(ends) and tokenizer.decode(ids[first:], skip_special_tokens=True).strip():
        raise ValueError(
            f"The completion {text!r} goes on behind {tokenizer.decode([ids[first]])!r}, which ends it: give what stands "
            "before that."
        )
    return ids[: first + 1]


def text_of(tokenizer, ids: Sequence[int]) -> str:
    """The text of a completion, as it follows its prompt, without special tokens.

    `decode` takes the ids for a text that begins here, and leaves out a space in front of it.
    """
    return _decoded(tokenizer, ids, skip_special_tokens=True)


def _decoded(tokenizer, ids: Sequence[int], skip_special_tokens: bool) -> str:
    how = {"skip_special_tokens": skip_special_tokens, "clean_up_tokenization_spaces": False}
    text = tokenizer.decode(ids, **how)
    for token in ids:
        alone = tokenizer.decode([token], **how)
        twice = tokenizer.decode([token, token], **how)
        if twice:  # `▁7`: "7" and "7 7", so that " " was left out
            return twice.removeprefix(alone).removesuffix(alone) + text
    return text


def keep_in_texts(tokenizer, markers: Sequence[str]) -> None:
    """Make these special tokens ordinary ones, here and now, so that the text of a completion has them.

    markers: those that are no special tokens of this tokenizer are in its texts anyway.

    Raises ValueError for an EOS, and the like, which is no part of a text.
    """
    if not markers:
        return
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    kept = [token for token in state["added_tokens"] if token["special"] and token["content"] in markers]
    roles = {token: role for role, token in tokenizer.special_tokens_map.items() if isinstance(token, str)}
    for token in kept:
        if token["content"] in roles:
            raise ValueError(
                f"{token['content']!r} is this tokenizer's {roles[token['content']]}, and no part of a text."
            )
        token["special"] = False
    if kept:
        tokenizer._tokenizer = type(tokenizer.backend_tokenizer).from_str(json.dumps(state))


def markers_of(tokenizer) -> list[str]:
    """The special tokens by which a chat template encloses a part of an answer, such as [THINK] and [/THINK].

    Those that open and close turns are none, and neither are a BOS and an EOS.
    """
    if not tokenizer.chat_template:
        return []
    question = tokenizer.apply_chat_template([{"role": "user", "content": "Question"}], tokenize=False)
    named = [
        str(token) for token in tokenizer.added_tokens_decoder.values() if str(token) in str(tokenizer.chat_template)
    ]
    inside = [token for token in named if token not in question and token not in tokenizer.special_tokens_map.values()]
    pairs = [(token, f"{token[0]}/{token[1:]}") for token in inside]
    return [token for pair in pairs if set(pair) <= set(inside) for token in pair]


def check_template(tokenizer) -> None:
    """ValueError where a conversation has other ids than its text, so that the model would read what it never has."""
    if not tokenizer.chat_template:
        return
    asked = [{"role": "user", "content": "Question"}]
    options = {"tokenize": True, "add_generation_prompt": True, "return_dict": False}
    own = list(tokenizer.apply_chat_template(asked, **(PLAIN_ANSWERS | options)))
    (ours,) = prompt_ids(tokenizer, [without_beginning(tokenizer, rendered(tokenizer, asked))])
    if ours != own:
        raise ValueError(
            f"A conversation has the ids {own} for this {type(tokenizer).__name__}, and its text {ours}, which begins "
            f"{tokenizer.decode(ours)!r}. Prompts are texts here: choose another model, or a template that "
            "both read alike."
        )
