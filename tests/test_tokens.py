"""Small real tokenizers stand for the kinds: with and without a space before the first word, with a beginning and an end.

Oracles: `decode` of all ids at once, which is what a reader would see, and `apply_chat_template(tokenize=True)`.
"""

import ast
import re
from pathlib import Path

import pytest
import torch
from tokenizers import normalizers
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from shared.constrain import answer_trie
from shared.engine.sampling import Sampling
from shared.models import COURSE_MODEL, load_tokenizer
from shared.prompts import rows_for
from shared.rollout import sample
from shared.supervised import encode_documents
from shared.tasks import addition
from shared.tokens import completion_ids, keep_in_texts, piece_ids, prompt_ids, surroundings, text_of, without_beginning
from tests.fakes import LLAMA_SIZE, SENTENCE_PIECE, byte_tokenizer, letter_tokenizer, piece_tokenizer

SHARED = Path(__file__).parents[1] / "shared"
CPU = torch.device("cpu")
PIECES = ("7", " 7", "\n7", "  77", "é7", "7 + 4\n\n= 7", "7 = 日")
AROUND = ("$A", "<s> $A", "<s> $A </s>", "$A </s>", "[gMASK] <sop> $A")


def tiny_model(tokenizer) -> LlamaForCausalLM:
    torch.manual_seed(0)
    ids = {"vocab_size": len(tokenizer), "bos_token_id": None, "eos_token_id": tokenizer.eos_token_id}
    return LlamaForCausalLM(LlamaConfig(**LLAMA_SIZE, **ids, pad_token_id=0)).eval()


def read(tokenizer, ids) -> str:
    return tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)


@pytest.mark.parametrize("text", PIECES)
@pytest.mark.parametrize("kind", SENTENCE_PIECE)
def test_a_piece_goes_on_from_what_stands_before_it(kind, text):
    """Catches the space that a tokenizer of this kind writes before a text: "3 + 4 =" and "7" would make "= 7"."""
    tokenizer = piece_tokenizer(kind)
    ids = piece_ids(tokenizer, text)
    assert read(tokenizer, prompt_ids(tokenizer, ["3 + 4 ="])[0] + ids) == "3 + 4 =" + text
    assert text_of(tokenizer, ids) == text


def test_a_text_that_no_tokens_say_is_refused():
    """Catches an answer of which the model reads something else: here the letters that are not in the vocabulary."""
    with pytest.raises(ValueError, match="cannot write 'a7' behind another text"):
        piece_ids(letter_tokenizer(), "a7")


def test_within_what_the_tokenizer_normalises_a_text_is_said():
    """Catches a refusal of every capital letter, where a tokenizer makes all of them small."""
    tokenizer = byte_tokenizer()
    tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    assert text_of(tokenizer, piece_ids(tokenizer, " Yes")) == " yes"


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("make", [byte_tokenizer, lambda around: piece_tokenizer("Gemma", around)])
def test_a_prompt_begins_once_and_does_not_end(make, around):
    """Catches `<s><s>`, `[gMASK]<sop>` twice, and an EOS behind the prompt, after which a completion would be sampled."""
    tokenizer = make(around)
    before, after = surroundings(tokenizer)
    assert tokenizer.decode([*before, *after]).replace(" ", "") == around.replace("$A", "").replace(" ", "")
    own = tokenizer("3 + 4", add_special_tokens=False)["input_ids"]
    written = tokenizer.decode(before) + "3 + 4"
    assert prompt_ids(tokenizer, ["3 + 4", written]) == [before + own] * 2
    assert without_beginning(tokenizer, written) == "3 + 4"


def test_a_beginning_stays_where_a_space_would_take_its_place():
    """Catches `[INST]` after the BOS that becomes ` [INST]` without it, in tokenizers with a prefix space."""
    tokenizer = piece_tokenizer("Mistral")
    assert without_beginning(tokenizer, "<s>[INST] 7") == "<s>[INST] 7"
    (ids,) = prompt_ids(tokenizer, ["<s>[INST] 7"])
    assert tokenizer.convert_ids_to_tokens(ids)[:2] == ["<s>", "["]


def test_a_completion_has_one_end():
    """Catches a second EOS behind a text that is written with one, and text behind the end, which is never sampled."""
    tokenizer = byte_tokenizer()
    eos, end_of_turn = tokenizer.convert_tokens_to_ids(["</s>", "<end_of_turn>"])
    ends = [end_of_turn, eos]
    seven = piece_ids(tokenizer, "7")
    assert completion_ids(tokenizer, "7", ends) == [*seven, end_of_turn]
    for written, end in (("7</s>", eos), ("7</s></s>", eos), ("7<end_of_turn>\n", end_of_turn)):
        assert completion_ids(tokenizer, written, ends) == [*seven, end]
    with pytest.raises(ValueError, match="goes on behind '</s>', which ends it"):
        completion_ids(tokenizer, "7</s>8", ends)


def test_markers_of_a_format_are_kept_in_the_text_and_an_eos_is_not(tmp_path):
    """Catches a reward for `<think>` that never sees one, because the tokenizer counts it among its special tokens."""
    tokenizer = byte_tokenizer()
    ids = tokenizer("<think>7</think></s>")["input_ids"]
    assert text_of(tokenizer, ids) == "7"
    keep_in_texts(tokenizer, ["<think>", "</think>", "7"])
    assert text_of(tokenizer, ids) == "<think>7</think>" and tokenizer("<think>7</think></s>")["input_ids"] == ids
    tokenizer.save_pretrained(tmp_path)
    assert text_of(AutoTokenizer.from_pretrained(tmp_path), ids) == "<think>7</think>"
    with pytest.raises(ValueError, match="'<s>' is this tokenizer's bos_token, and no part of a text"):
        keep_in_texts(tokenizer, ["<s>"])
    told = byte_tokenizer()
    rows_for(told, addition.dataset("train", 1), addition)
    assert text_of(told, ids) == "<think>7</think>"


@pytest.mark.parametrize("kind", SENTENCE_PIECE)
def test_whatever_writes_into_a_completion_writes_what_it_said(kind):
    """Catches ` 7` for an environment's "7", and the same of supervised completions and of a constraint's answers."""
    tokenizer = piece_tokenizer(kind)
    model = tiny_model(tokenizer)
    heard = []

    def answers(text):
        asked = len(text) == 2 and text.isprintable() and "\ufffd" not in text  # no bytes that make no character
        heard.extend([text] if asked else [])
        return "\n7" if asked else ""

    rollout = sample(model, tokenizer, ["3 + 4 ="], 24, Sampling(6), environment=answers, seed=0)
    prompt = prompt_ids(tokenizer, ["3 + 4 ="])[0]
    for ids, text in zip(rollout.ids_of_completions, rollout.completions):
        assert text == read(tokenizer, prompt + ids).removeprefix("3 + 4 =")
    answered = {text[:2] for text in rollout.completions if text[2:4] == "\n7"}
    assert heard and answered == set(heard)

    batch = encode_documents(tokenizer, [{"prompt": "3 + 4 =", "completion": text} for text in PIECES], CPU)
    for ids, length, text in zip(batch.ids.tolist(), batch.row_tokens.tolist(), PIECES):
        assert read(tokenizer, ids[:length]) == "3 + 4 =" + text and ids[length - 1] == tokenizer.eos_token_id
    trie = answer_trie(tokenizer, ["7", " 77"])
    drawn = sample(model, tokenizer, ["3 + 4 ="], 8, Sampling(6), constraint=trie, seed=0)
    assert set(drawn.completions) == {"7", " 77"}


TURNS = """{% for message in messages %}<sop>{{ message.role }}
{{ message.content }}<end_of_turn>
{% endfor %}{% if thoughts %}<think>{{ thoughts }}</think>{% endif %}{% if add_generation_prompt %}<sop>assistant
{% endif %}"""


def test_what_a_template_names_ends_a_label_and_stays_in_a_text():
    """Catches the tokenizer's EOS behind a label, where the model's turn ends in another token, and `[THINK]` of a template
    alone that no reward sees; `<sop>` opens a turn and is no part of what is said."""
    tokenizer = byte_tokenizer()
    tokenizer.chat_template = TURNS
    model = tiny_model(tokenizer)
    end = tokenizer.convert_tokens_to_ids("<end_of_turn>")
    model.generation_config.eos_token_id = [tokenizer.eos_token_id, end]
    prompts = [row["prompt"] for row in rows_for(tokenizer, [{"prompt": "3 + 4 ="}])]
    drawn = sample(model, tokenizer, prompts, 4, Sampling(6), constraint=answer_trie(tokenizer, ["7", "77"]), seed=0)
    assert {ids[-1] for ids in drawn.ids_of_completions} == {end} and set(drawn.completions) <= {"7", "77"}
    assert text_of(tokenizer, tokenizer("<think>7</think><sop>")["input_ids"]) == "<think>7</think>"


def test_the_embedded_model_reads_as_ever():
    """Catches another id of the course's own tokenizer, with which every saved figure was made."""
    tokenizer = load_tokenizer(COURSE_MODEL)
    assert surroundings(tokenizer) == ([], [])
    for text in (" three of a kind", "1 + 2\n", " <think>7</think>"):
        assert piece_ids(tokenizer, text) == tokenizer(text)["input_ids"] == prompt_ids(tokenizer, [text])[0]


SURROUNDING = re.compile(r"\b(eos|bos)(_token|_token_id)?\b")
WRITES = {"append", "extend", "insert", "join", "format", "removeprefix", "removesuffix", "strip", "lstrip", "rstrip"}


def writes_an_end(node: ast.AST) -> bool:
    """True for an expression that puts an EOS or BOS beside something else, or takes it off."""
    if not SURROUNDING.search(ast.unparse(node)):
        return False
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in WRITES and len(node.args) == 1
    joins = isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Add)
    return joins or isinstance(node, ast.List) and any(isinstance(part, ast.Starred) for part in node.elts)


def places_that_surround(source: str) -> set[str]:
    """The calls of a tokenizer in a file, and the expressions that put an EOS or BOS around something."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            function = ast.unparse(node.func)
            calls = function.rpartition(".")[2] in ("tokenizer", "encode_plus") or function == "tokenizer.encode"
            if calls or any(keyword.arg == "add_special_tokens" for keyword in node.keywords):
                found.add(function)
        if isinstance(node, ast.expr | ast.AugAssign) and writes_an_end(node):
            found.add(ast.unparse(node))
    return found


def test_no_other_place_surrounds_a_text():
    """Catches a second opinion on what stands around a text: an EOS that is appended elsewhere, a BOS taken off."""
    others = {
        (file.relative_to(SHARED).as_posix(), place)
        for file in SHARED.rglob("*.py")
        if file.name != "tokens.py"
        for place in places_that_surround(file.read_text(encoding="utf-8"))
    }
    # `kept.py` scores a text that nobody answers. An embedding model reads whole texts, with all that its tokenizer puts
    # around them, or behind an EOS, which is no end; `models.py` lists all ends; `plain.py` is one file; and what TRL would
    # make of a prompt is compared with what is made of it here.
    assert others == {
        ("kept.py", "tokenizer"),
        ("rewards.py", "reader"),
        ("rewards.py", "[reader.eos_token_id, *row]"),
        ("models.py", "[*several, tokenizer.eos_token_id]"),
        ("plain.py", "tokenizer"),
        ("run/hand_over.py", "tokenizer"),
    }
    for broken in ("ids + [eos]", "[*ids, tokenizer.eos_token_id]", "ids.append(eos)", "text += tokenizer.eos_token"):
        assert places_that_surround(broken)
    assert places_that_surround("prompt.removeprefix(tokenizer.bos_token)")
