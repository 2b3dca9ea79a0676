"""A task's text for the tokenizer at hand: its prompts, its answers and the room for an answer.

A task writes for a model that continues text, like the embedded one. A chat model continues a conversation instead: a
system message that says what to answer, the question, and the opening of its own turn. `rows_for` turns a task's rows
into one or the other; rewards take the completions of both, for they ignore white space around an answer.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from shared.rows import is_conversation

# A right completion may be worded a little longer than ours: a fifth more tokens than the longest.
SLACK = 1.2


class Task(Protocol):
    """A task, as far as its text goes: a module of `shared/tasks/`, or anything with these three.

    CHAT_SYSTEM_PROMPT: tells a chat model what to answer and in which format.
    LONGEST_ANSWERS: right completions, just as they follow a plain prompt; the longest in any tokenizer is one of them.
    MAX_NEW_TOKENS: the least room for a completion, whatever the tokenizer.
    """

    CHAT_SYSTEM_PROMPT: str
    LONGEST_ANSWERS: Sequence[str]
    MAX_NEW_TOKENS: int


def rows_for(tokenizer: PreTrainedTokenizerBase, rows: Sequence[dict], task: Task | None = None) -> list[dict]:
    """The rows with prompts as the model of this tokenizer wants them; all other columns stay.

    Without a chat template the rows stay as they are. With one, the question is the row's column `question` where it
    has one, else its prompt. A prompt that is a conversation, as TRL's rows may have, becomes a text here, once: that is
    what the model reads, what rewards are given, and what is compared where prompts are.

    task: what says the answer's format to a chat model; None for rows that say it themselves.

    Raises ValueError for a conversation where there is no chat template.
    """
    system_prompt = "" if task is None else task.CHAT_SYSTEM_PROMPT
    return [row | {"prompt": prompt_for(tokenizer, row, system_prompt)} for row in rows]


def prompt_for(tokenizer: PreTrainedTokenizerBase, row: dict, system_prompt: str) -> str:
    """The prompt of one row: plain, or in the chat template up to where the model's turn begins."""
    if is_conversation(row["prompt"]):
        return conversation_in_chat_template(tokenizer, row["prompt"], system_prompt)
    if not tokenizer.chat_template:
        return row["prompt"]
    return in_chat_template(tokenizer, row.get("question", row["prompt"]).strip(), system_prompt)


def in_chat_template(tokenizer: PreTrainedTokenizerBase, question: str, system_prompt: str = "") -> str:
    """A conversation of one question, up to where the model's turn begins."""
    return conversation_in_chat_template(tokenizer, [{"role": "user", "content": question}], system_prompt)


def conversation_in_chat_template(
    tokenizer: PreTrainedTokenizerBase, conversation: Sequence[Mapping[str, str]], system_prompt: str = ""
) -> str:
    """A conversation as a text, up to where the model's turn begins.

    A BOS that the tokenizer adds to every text is left out here, or there would be two.

    system_prompt: goes in front where the conversation has no system message of its own.

    Raises ValueError without a chat template.
    """
    if not tokenizer.chat_template:
        raise ValueError(
            "A prompt is a conversation, and this model has no chat template to make a text of it: give prompts that are "
            "texts, or a model that was trained for chat."
        )
    first, *others = conversation
    if system_prompt and first["role"] != "system":
        first, others = {"role": "system", "content": system_prompt}, [first, *others]
    try:
        text = _rendered(tokenizer, [first, *others])
    except TemplateError:  # some templates (Gemma's) refuse a system message: then the question says it all
        if first["role"] != "system" or not others:
            raise
        question = {"role": "user", "content": f"{first['content']}\n\n{others[0]['content']}"}
        text = _rendered(tokenizer, [question, *others[1:]])
    adds_bos = tokenizer.bos_token_id in tokenizer("")["input_ids"]
    return text.removeprefix(tokenizer.bos_token) if adds_bos else text


def _rendered(tokenizer: PreTrainedTokenizerBase, conversation: list[dict]) -> str:
    # Templates that know `enable_thinking` would otherwise open a long hidden chain of thought; others ignore it.
    options = {"tokenize": False, "add_generation_prompt": True, "enable_thinking": False}
    return tokenizer.apply_chat_template(conversation, **options)


def answers_for(tokenizer: PreTrainedTokenizerBase, answers: Sequence[str]) -> list[str]:
    """Answers such as "one pair" as they follow the prompt: after a space, or first thing in a chat model's turn."""
    space = "" if tokenizer.chat_template else " "
    return [space + answer.strip() for answer in answers]


def max_new_tokens_for(tokenizer: PreTrainedTokenizerBase, task: Task) -> int:
    """Room for a right completion: the longest one in this tokenizer, its EOS, and a fifth more (`SLACK`).

    At least the task's MAX_NEW_TOKENS, which leaves the embedded model room for its careless answers.
    """
    longest = max(len(tokenizer(answer, add_special_tokens=False)["input_ids"]) for answer in task.LONGEST_ANSWERS)
    return max(task.MAX_NEW_TOKENS, math.ceil(SLACK * (longest + 1)))
