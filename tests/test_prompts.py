"""Real chat templates and tokenizers come from the hub, which the tests do not reach: the templates here are written after
those of Qwen 2.5 (ChatML), Llama 2 (a BOS, which its tokenizer adds as well) and Gemma (no system message)."""

import hashlib
import json
import random
import subprocess
import sys
from functools import partial
from types import SimpleNamespace

import pytest
from transformers import AutoTokenizer
from trl import apply_chat_template

from shared.constrain import answer_trie
from shared.models import COURSE_MODEL
from shared.prompts import answers_for, in_chat_template, max_new_tokens_for, prompt_for, rows_for
from shared.tasks import addition, analogies, countdown, dots, poker, sentences
from shared.tasks.tags import tagged
from shared.tokens import check_template, completion_ids, ends_of, prompt_ids, without_beginning
from tests.fakes import byte_tokenizer, piece_tokenizer

TASKS = (dots, poker, analogies, addition, countdown, sentences)
CHAT_ML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
WITH_BOS = "{{ bos_token }}" + CHAT_ML
NO_SYSTEM = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + CHAT_ML
)


@pytest.fixture(scope="module")
def embedded():
    return AutoTokenizer.from_pretrained(COURSE_MODEL)


# The first 50 training prompts of each task, as the notebooks' saved results were measured with them.
PROMPTS_OF_THE_EMBEDDED_MODEL = {  # the beginning of their SHA-256
    "dots": "7ebafcd264feed22",
    "poker": "fe66b01b3bb4b164",
    "analogies": "6d575504882b63fd",
    "addition": "b8da092f0e345da6",
    "countdown": "8c176bf33a21ebf0",
    "sentences": "677e8ef405ac8d7b",
}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_the_embedded_model_is_prompted_as_ever(task, embedded):
    """Catches any change of a prompt, down to a space: the saved figures would no longer be those of the code."""
    rows = rows_for(embedded, task.dataset("train", 50, seed=0), task)
    assert rows == task.dataset("train", 50, seed=0)
    digest = hashlib.sha256(json.dumps([row["prompt"] for row in rows]).encode()).hexdigest()
    assert digest.startswith(PROMPTS_OF_THE_EMBEDDED_MODEL[task.__name__.split(".")[-1]])


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_a_chat_model_is_told_what_to_answer_and_its_turn_is_opened(task):
    """Without `add_generation_prompt` a chat model first writes the header of its own turn, and no format fits."""
    (row,) = task.dataset("train", 1)
    (asked,) = rows_for(byte_tokenizer(chat_template=CHAT_ML), [row], task)
    question = row.get("question", row["prompt"]).strip()
    assert asked["prompt"] == (
        f"<|im_start|>system\n{task.CHAT_SYSTEM_PROMPT}<|im_end|>\n<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    )
    assert {**asked, "prompt": None} == {**row, "prompt": None}


def test_a_template_without_a_system_message_gets_it_with_the_question():
    text = in_chat_template(byte_tokenizer(chat_template=NO_SYSTEM), "How many?", "Answer with a number.")
    assert text == "<|im_start|>user\nAnswer with a number.\n\nHow many?<|im_end|>\n<|im_start|>assistant\n"


def test_without_a_system_prompt_there_is_no_system_message():
    """Catches an empty system message, which models were not trained on, and templates' own that is then missing."""
    text = in_chat_template(byte_tokenizer(chat_template=CHAT_ML), "How many?")
    assert text == "<|im_start|>user\nHow many?<|im_end|>\n<|im_start|>assistant\n"


def test_a_model_that_thinks_is_asked_not_to():
    """Catches a hidden chain of thought, at whose beginning every completion would be cut."""
    thinks = CHAT_ML + "{% if enable_thinking is not defined or enable_thinking %}<think>{% endif %}"
    assert not in_chat_template(byte_tokenizer(chat_template=thinks), "How many?").endswith("<think>")


def test_room_is_for_the_longest_answer_its_end_and_a_fifth_more():
    """Catches an EOS for which there is no room: a right answer would count as cut."""
    task = SimpleNamespace(LONGEST_ANSWERS=["abcdefghi", "ab"], MAX_NEW_TOKENS=1)
    assert max_new_tokens_for(byte_tokenizer(), task) == 12  # 1.2 x (9 + 1)
    assert max_new_tokens_for(byte_tokenizer(), SimpleNamespace(LONGEST_ANSWERS=["ab"], MAX_NEW_TOKENS=5)) == 5


def test_a_template_that_is_wrong_itself_is_not_hidden():
    with pytest.raises(Exception, match="broken"):
        in_chat_template(byte_tokenizer(chat_template="{{ raise_exception('broken') }}"), "How many?", "Answer.")


@pytest.mark.parametrize("around", ["$A", "<s> $A"])
def test_an_encoded_chat_prompt_has_one_bos(around):
    """A template that writes the BOS and a tokenizer that adds one make two: no model was trained on that."""
    tokenizer = byte_tokenizer(around, chat_template=WITH_BOS)
    ids = tokenizer(prompt_for(tokenizer, addition.row_of("What?"), addition.CHAT_SYSTEM_PROMPT))["input_ids"]
    assert ids[0] == tokenizer.bos_token_id and ids.count(tokenizer.bos_token_id) == 1


@pytest.mark.parametrize("task", (addition, countdown))
def test_the_layout_that_chat_models_are_shown_is_in_the_format(task):
    layout = task.CHAT_SYSTEM_PROMPT.partition("The layout:\n")[2]
    assert task.format_reward([""], [layout])[0] > 0


def test_a_chat_model_answers_without_the_leading_space(embedded):
    """Catches a trie whose every answer begins with a space: a chat model would be forced to say what it never does."""
    chat = byte_tokenizer(chat_template=CHAT_ML)
    assert answers_for(embedded, ["one pair", " flush "]) == [" one pair", " flush"]
    assert answers_for(chat, ["one pair", " flush "]) == ["one pair", "flush"]
    trie = answer_trie(chat, answers_for(chat, poker.LABELS))
    first = {chat.decode(token) for token in trie.token_ids[0][trie.allowed[0]]}
    assert first == {label[0] for label in poker.LABELS}


@pytest.mark.parametrize(("task", "tokens"), zip(TASKS, (6, 6, 6, 40, 64, 32)), ids=str)
def test_the_embedded_model_has_the_room_it_always_had(task, tokens, embedded):
    assert max_new_tokens_for(embedded, task) == tokens == task.MAX_NEW_TOKENS


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_a_tokenizer_of_bytes_has_room_for_every_right_answer(task):
    """Catches a limit that was counted in the embedded model's tokens: "three of a kind" is 4 there and 16 bytes."""
    tokenizer = byte_tokenizer()
    room = max_new_tokens_for(tokenizer, task)
    assert all(len(ids) < room for ids in tokenizer(right_answers(task))["input_ids"])


def right_answers(task) -> list[str]:
    """Right completions of 400 rows of a task."""
    rows = task.dataset("train", 400, seed=3)
    if task is sentences:
        return [" slept. he slept. it slept."]
    if task is addition:
        return [tagged(addition.working(a, b, a + b), str(a + b)) for a in range(10, 100) for b in range(10, 100)]
    if task is countdown:
        problems = [countdown.draw_problem(random.Random(seed), "train") for seed in range(2000)]
        return [tagged(problem.solution.working, problem.solution.expression) for problem in problems]
    if task is analogies:
        return [f" {answer}" for row in rows for answer in row["answers"][:1]]
    return [f" {row['answer']}" for row in rows]


@pytest.mark.parametrize("task", (dots, poker, analogies, addition))
def test_the_longest_answers_are_right_completions(task):
    """Catches a length that is counted on text in another format than the one rewarded."""
    rewarded = {"answer": "198"} if task is addition else {}
    for text in task.LONGEST_ANSWERS:
        columns = rewarded or {"answer": text.strip(), "answers": [text.strip()]}
        assert task.reward([""], [text], **{name: [value] for name, value in columns.items()}) == [1.0]


def test_the_longest_countdown_solution_solves_its_problem():
    assert countdown.reward([""], countdown.LONGEST_ANSWERS, numbers=[[10, 10, 10, 10]], target=[11]) == [1.0]


def test_tasks_need_neither_torch_nor_transformers():
    """Catches an import that makes a data set wait ten seconds, and the checker need what it does not install."""
    names = ", ".join(task.__name__ for task in TASKS)
    code = f"import sys, {names}\nassert not {{'torch', 'transformers', 'tokenizers'}} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_conversation_becomes_a_text_once():
    """Catches rewards and splits that are given a list of messages, and a task's system prompt beside a row's own."""
    tokenizer = byte_tokenizer(chat_template=CHAT_ML)
    asked = [{"role": "user", "content": "1 + 1?"}, {"role": "assistant", "content": "2"}]
    asked.append({"role": "user", "content": "2 + 2?"})
    told = [{"role": "system", "content": "Answer in words."}, *asked]
    rows = [{"prompt": asked, "answer": "4"}, {"prompt": told, "answer": "four"}]
    turns = "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in asked) + "<|im_start|>assistant\n"
    own = "<|im_start|>system\nAnswer in words.<|im_end|>\n"
    tasks = f"<|im_start|>system\n{dots.CHAT_SYSTEM_PROMPT}<|im_end|>\n"
    plain = rows_for(tokenizer, rows)
    assert [row["prompt"] for row in plain] == [turns, own + turns]
    assert [row["prompt"] for row in rows_for(tokenizer, rows, dots)] == [tasks + turns, own + turns]
    assert [row["answer"] for row in plain] == ["4", "four"]
    merged = rows_for(byte_tokenizer(chat_template=NO_SYSTEM), rows)[1]["prompt"]
    assert merged == turns.replace("1 + 1?", "Answer in words.\n\n1 + 1?")


GEMMA = (
    "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n"
    "{{ m.content | trim }}<end_of_turn>\n{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
LLAMA_2 = (
    "{% for m in messages %}{% if m.role == 'user' %}{{ bos_token + '[INST] ' + m.content + ' [/INST]' }}"
    "{% else %}{{ ' ' + m.content + ' ' + eos_token }}{% endif %}{% endfor %}"
)
GLM = (
    "[gMASK]<sop>{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{{ '' if enable_thinking else '<think></think>\n' }}{% endif %}"
)
FORMS = {  # a template, and what the tokenizer puts around a text
    "ChatML": (CHAT_ML, "$A"),
    "ChatML, BOS by the tokenizer alone": (CHAT_ML, "<s> $A"),
    "ChatML, EOS behind every text": (CHAT_ML, "$A </s>"),
    "Gemma": (GEMMA, "<s> $A"),
    "Llama 2": (LLAMA_2, "<s> $A"),
    "GLM": (GLM, "[gMASK] <sop> $A"),
}
USER = {"role": "user", "content": "3 + 4?"}
BEGUN = {"role": "assistant", "content": "The sum"}


@pytest.mark.parametrize(
    "make", [byte_tokenizer, partial(piece_tokenizer, "Mistral"), partial(piece_tokenizer, "Llama 2")]
)
@pytest.mark.parametrize("form", FORMS)
def test_a_chat_prompt_has_the_ids_that_the_template_gives(make, form):
    """Catches a beginning that stands twice or not at all, an EOS behind the prompt, and a second header before an answer
    that the conversation has begun; and the same when rows are made twice, also through a table."""
    template, around = FORMS[form]
    tokenizer = make(around, chat_template=template)
    check_template(tokenizer)
    rows = [{"prompt": [USER]}, {"prompt": [USER, BEGUN]}, {"prompt": "3 + 4?"}, {"prompt": "x", "question": "3 + 4?"}]
    once = rows_for(tokenizer, rows)
    for row, asked in zip(once, ([USER], [USER, BEGUN], [USER], [USER])):
        ending = "continue_final_message" if asked[-1] is BEGUN else "add_generation_prompt"
        options = {"tokenize": True, "return_dict": False, "enable_thinking": False, ending: True}
        assert prompt_ids(tokenizer, [row["prompt"]]) == [tokenizer.apply_chat_template(asked, **options)]
    assert rows_for(tokenizer, once) == once == rows_for(tokenizer, [dict(row) for row in once], dots)


def test_a_rows_own_options_of_the_template_are_obeyed():
    """Catches a model that is to think and gets the sign not to; a table has None where a row says nothing."""
    tokenizer = byte_tokenizer(chat_template=GLM)
    rows = [{"prompt": "3 + 4?", "chat_template_kwargs": given} for given in ({"enable_thinking": True}, None)]
    thinks, plain = rows_for(tokenizer, rows)
    assert thinks["prompt"].endswith("<|assistant|>\n") and plain["prompt"].endswith("<think></think>\n")
    assert rows_for(tokenizer, [thinks, plain]) == [thinks, plain]
    rows[0]["chat_template_kwargs"] = {"enable_thinking": None}
    assert rows_for(tokenizer, rows)[0]["prompt"] == plain["prompt"]


def test_a_tokenizer_that_reads_conversations_in_its_own_way_is_refused(monkeypatch):
    """Catches training on prompts that the model has never seen so."""
    tokenizer = byte_tokenizer(chat_template=CHAT_ML)
    own = type(tokenizer).apply_chat_template
    monkeypatch.setattr(
        type(tokenizer),
        "apply_chat_template",
        lambda self, *args, tokenize, **o: [7] if tokenize else own(self, *args, tokenize=False, **o),
    )
    with pytest.raises(ValueError, match=r"A conversation has the ids \[7\]"):
        check_template(tokenizer)


@pytest.mark.parametrize("form", ["ChatML", "Gemma", "GLM"])
def test_preferences_and_completions_in_conversations_are_those_of_trl(form):
    """Catches answers that stay lists of messages, which training refuses, and a prompt that is to be found in both."""
    template, around = FORMS[form]
    tokenizer = byte_tokenizer(around, chat_template=template)
    yes, no = ({"role": "assistant", "content": text} for text in ("It is 7", "It is 8"))
    explicit = {"prompt": [USER], "chosen": [yes], "rejected": [no], "chat_template_kwargs": {"enable_thinking": True}}
    implicit = {"chosen": [USER, yes], "rejected": [USER, no], "chat_template_kwargs": {"enable_thinking": True}}
    theirs = apply_chat_template(explicit, tokenizer)
    for row in (explicit, implicit):
        (ours,) = rows_for(tokenizer, [row])
        assert rows_for(tokenizer, [ours]) == [ours]
        assert ours["prompt"] == without_beginning(tokenizer, theirs["prompt"])
        for column in ("chosen", "rejected"):
            assert theirs[column].startswith(ours[column]) and ours[column].strip()
            ends = ends_of(tokenizer, [tokenizer.eos_token_id, tokenizer.convert_tokens_to_ids("<end_of_turn>")])
            ids = completion_ids(tokenizer, ours[column], ends)
            assert tokenizer.decode(ids[:-1]) == ours[column]
            assert tokenizer.decode(ids[-1]) == ("<end_of_turn>" if form == "Gemma" else "</s>")
    answered = rows_for(tokenizer, [{"prompt": [USER], "completion": [yes]}])[0]["completion"]
    assert answered == rows_for(tokenizer, [explicit | {"chat_template_kwargs": None}])[0]["chosen"]
    with pytest.raises(ValueError, match="give one message of the assistant's"):
        rows_for(tokenizer, [{"prompt": [USER], "completion": [yes, USER, no]}])


@pytest.mark.parametrize(
    ("chosen", "rejected", "prompt"),
    [
        ("The sky is blue.", "The sky is green.", "The sky is"),
        ("The sum is 17", "The sum is 18", "The sum is"),
        ("3 + 4?\nyes", "3 + 4?\nno", "3 + 4?\n"),
        ("abcd", "abce", "abc"),
    ],
)
def test_a_preference_without_a_prompt_has_what_both_begin_with(embedded, chosen, rejected, prompt):
    """Catches a bare KeyError, and a word that is cut in two: "1" and "7" are not the tokens of "17"."""
    (row,) = rows_for(embedded, [{"chosen": chosen, "rejected": rejected, "by": "x"}])
    assert row["prompt"] == prompt and row["by"] == "x"
    assert (row["prompt"] + row["chosen"], row["prompt"] + row["rejected"]) == (chosen, rejected)


def test_a_row_without_a_prompt_is_a_sentence(embedded):
    with pytest.raises(ValueError, match="A row has no 'prompt', only 'text'"):
        rows_for(embedded, [{"text": "a"}])


def test_an_answer_follows_as_the_template_writes_it():
    """Catches labels of a constraint that a model of Llama 2's form never begins so: its template writes a space first."""
    tokenizer = piece_tokenizer("Llama 2", chat_template=LLAMA_2)
    assert answers_for(tokenizer, ["7", " 4"]) == [" 7", " 4"]


def test_a_conversation_for_a_model_without_a_template_is_a_sentence(embedded):
    with pytest.raises(ValueError, match="this model has no chat template"):
        rows_for(embedded, [{"prompt": [{"role": "user", "content": "1 + 1?"}]}])


def test_worked_examples_stand_before_the_question_and_never_the_rows_own(embedded):
    """Catches an answer that is given away, turns that run together, and examples for who asked for none."""
    (asked, right), (other, other_right) = addition.CHAT_EXAMPLES
    rows = [addition.row_of("If you add 17 and 25, what is the result?"), addition.row_of(asked)]
    chat = byte_tokenizer(chat_template=CHAT_ML)
    first, own = (row["prompt"] for row in rows_for(chat, rows, addition, examples=1))
    turns = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n{}<|im_end|>\n"
    question = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
    assert first.endswith(turns.format(asked, right) + question.format(rows[0]["question"]))
    assert own.endswith(turns.format(other, other_right) + question.format(asked)) and right not in own
    assert addition.CHAT_SYSTEM_PROMPT in first and rows_for(chat, rows, addition)[0]["prompt"].count("user") == 1
    with pytest.MonkeyPatch.context() as patch:  # the same tokenizer as a real model's, whose tokens are thousands
        patch.setattr("shared.model_classes.SMALLEST_REAL_VOCABULARY", 0)
        assert rows_for(chat, rows, addition)[0]["prompt"] == first
    plain = rows_for(embedded, rows, addition, examples=1)[0]["prompt"]
    assert plain == f"{asked}\n{right}\n\n{rows[0]['prompt']}"
