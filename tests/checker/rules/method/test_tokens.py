"""Prompt lengths, decoding and labels: each way of writing the mistake, and what only looks like it."""

import pytest

from checker.rules.method import tokens
from tests.checker.rules.looking import codes, found

LEFT = 'tok.padding_side = "left"\nout = model.generate(**x)\n'

LENGTHS = [
    "x.attention_mask.sum(1)",
    "torch.count_nonzero(x.attn_mask, dim=1)",
    "prompt_mask.sum(dim=1)",
    "(ids != tok.pad_token_id).sum(1)",
    "ids.ne(tok.pad_token_id).sum(1)",
    "torch.sum(prompt_mask, 1) - 1",
]


@pytest.mark.parametrize("length", LENGTHS)
def test_a_row_cut_at_its_unpadded_length_is_asked_about(length):
    """Catches one way to count a prompt's tokens that is not known."""
    (finding,) = found(tokens, f"{LEFT}n = {length}\nc = out[i, n[i]:]")
    assert finding.code == "M002" and finding.found.startswith("line 4: ") and "padded length" in finding.advice


@pytest.mark.parametrize(
    "lines",
    [
        "n = completion_mask.sum(1)\nc = out[i, n[i]:]",
        "n = (response_attention_mask).sum(1)\nc = out[i, n[i]:]",
        "n = weights.sum(1)\nc = out[i, n[i]:]",
        "n = (ids != 3).sum(1)\nc = out[i, n[i]:]",
        "n = ids.ne(3).sum(1)\nc = out[i, n[i]:]",
        "n = ids.eq(tok.pad_token_id).sum(1)\nc = out[i, n[i]:]",
        "n = x.attention_mask.mean(1)\nc = out[i, n[i]:]",
        "n = count(x.attention_mask)\nc = out[i, n[i]:]",
        "n = sum()\nc = out[i, n:]",
        "n = x.attention_mask.sum(1).max()\nc = out[:, n:]",
        "n = torch.arange(x.attention_mask.sum())\nc = out[:, n:]",
        "n = int(tok.decode(x.attention_mask.sum()))\nc = out[:, n:]",
        "n = x.attention_mask.sum(1)\nc = out[i, : n[i]]",
        "n = x.attention_mask.sum(1)\nc = other[i, n[i]:]",
        "n = x.attention_mask.sum(1)\nc = tok.decode(out[0])[n:]",
        "n = x.attention_mask.sum(1)\nc = tok.batch_decode(out)[n:]",
    ],
)
def test_another_length_or_another_thing_that_is_cut_is_right(lines):
    assert "M002" not in codes(tokens, LEFT + lines)


def test_a_side_that_is_not_the_left_is_another_matter():
    assert codes(tokens, f"{LEFT}n = {LENGTHS[0]}\nc = out[i, n[i]:]".replace("left", "right")) == []


WHOLE = "out = model.generate(**x)\ntext = tok.decode(out[0])\n"


@pytest.mark.parametrize(
    "call",
    [
        *("reward_fn(text)", "my_reward(a, text)", "score(text)", "get_scores(text)", "compute_score(text)"),
        *("scores_of(text)", "reward_fn(completion=text)"),
        *("reward_fn(text.strip())", "reward_fn(text.rstrip())", "reward_fn(text.lower())", "reward_fn(list(text))"),
        *("[reward_fn(t) for t in zip(text)]", "[reward_fn(t) for t in enumerate(text)]"),
        "reward_fn([text])",
    ],
)
def test_a_reward_that_is_given_the_prompt_as_well_is_asked_about(call):
    """Catches one name of a reward, or one harmless method on the way to it, that hides the question."""
    (finding,) = found(tokens, f"{WHOLE}r = {call}")
    assert (finding.code, finding.level) == ("M003", "question") and finding.found.startswith("line 3: ")
    assert "completion alone" in finding.advice


@pytest.mark.parametrize(
    "method", ["to(d)", "cpu()", "detach()", "clone()", "tolist()", "view(-1)", "reshape(-1)", "unsqueeze(0)"]
)
def test_ids_that_were_only_moved_hold_the_prompt_still(method):
    assert codes(tokens, f"out = model.generate(**x).{method}\nr = reward_fn(tok.batch_decode(out))") == ["M003"]


@pytest.mark.parametrize(
    "loop", ["for row in zip(out)", "for row in enumerate(out)", "for i, row in enumerate(out)", "for row in out"]
)
def test_ids_in_a_loop_hold_the_prompt_still(loop):
    source = (
        "out = model.generate(**x)\nfor_each = [reward_fn(tok.decode(row)) for row in out]\n"
        f"{loop}:\n    r = reward_fn(tok.decode(row))"
    )
    assert "M003" in codes(tokens, source)
    assert codes(tokens, f"out = model.generate(**x)\n{loop}:\n    r = reward_fn(tok.decode(row))") == ["M003"]


@pytest.mark.parametrize(
    "call",
    [
        *("reward_fn(text.split('A:')[1])", "reward_fn(own_part(text))", "highscore(text)", "rescore(text)", "f(text)"),
        *("reward_fn(prompt)", "reward_model(text)", "reward_fn(text, model=reward_model)", "rm_score(rm, text)"),
        *("sentiment.score(text)", "score(classifier, text)", "reward_fn(toxicity, text)", "reward_fn(pipe, text)"),
        *("score(reward_net, text)", "score(reward_tok, text)", "score(rewardpipe, text)", "score(reward_head, text)"),
        "reward_fn(tok.decode())",
        "reward_fn(tok.decode(out[0, 5:]))",
        "reward_fn(tok.decode(cut(out)))",
        "reward_fn(text[5:])",
    ],
)
def test_a_reward_that_is_given_a_part_or_that_wants_all_is_right(call):
    """Catches a question about a classifier, which was trained on prompt and completion together."""
    assert codes(tokens, f"{WHOLE}r = {call}") == []


@pytest.mark.parametrize(
    "inside", ["tokenizer(t)", "tok(t)", "t.encode_plus(3)", "sentiment(t)", "self.reward_model(t)"]
)
def test_a_function_that_asks_a_classifier_wants_the_prompt_too(inside):
    assert codes(tokens, f"def reward_fn(t):\n    return {inside}\n{WHOLE}r = reward_fn(text)") == []
    assert codes(tokens, f"def reward_fn(t):\n    return len(t)\n{WHOLE}r = reward_fn(text)") == ["M003"]


@pytest.mark.parametrize("cut", ["text[len(prompt):]", "text[len(prompts[0]):9]", "text[len(inputs) :].strip()"])
def test_text_cut_at_the_length_of_a_string_is_asserted(cut):
    (finding,) = found(tokens, f"{WHOLE}c = {cut}")
    assert (finding.code, finding.level) == ("M003", "warning") and finding.found.startswith("line 3 cuts decoded text")
    assert "Cut the token ids" in finding.advice


@pytest.mark.parametrize(
    "cut",
    [
        *("text[len(prompt_ids):]", "text[len(ids):]", "text[len(tokens):]", "text[len(x.input_ids[0]):]"),
        *("text[5:]", "text[: len(prompt)]", "text[find(prompt):]", "text[len():]", "prompt[len(prefix):]", "text[0]"),
        "text[len(prompt):] if text.startswith(prompt) else text",
    ],
)
def test_another_cut_is_not(cut):
    assert codes(tokens, f"{WHOLE}c = {cut}") == []


def test_a_cut_below_a_test_of_the_beginning_is_right():
    assert codes(tokens, f"{WHOLE}if text.startswith(prompt):\n    c = text[len(prompt):]") == []
    assert codes(tokens, f"{WHOLE}if text.endswith(prompt):\n    c = text[len(prompt):]") == ["M003"]


@pytest.mark.parametrize(
    "load",
    [
        *("AutoModelForSeq2SeqLM.from_pretrained(n)", "T5ForConditionalGeneration.from_pretrained(n)"),
        *("AutoModel.from_pretrained('google/flan-t5-small')", "AutoModel.from_pretrained('t5-base')"),
        *("AutoModel.from_pretrained('facebook/bart-large')", "AutoModel.from_pretrained('x/pegasus')"),
    ],
)
def test_an_encoder_and_decoder_repeats_no_prompt(load):
    """Catches a question about a model whose completion is a sequence of its own."""
    assert codes(tokens, f"model = {load}\n{WHOLE}r = reward_fn(text)") == []


@pytest.mark.parametrize(
    "load", ["AutoModelForCausalLM.from_pretrained('gpt2')", "from_pretrained('t5-base')", "load('t5-base')"]
)
def test_another_model_repeats_it(load):
    assert codes(tokens, f"model = {load}\n{WHOLE}r = reward_fn(text)") == ["M003"]


MARKED = [
    "labels[mask == 0] = -100",
    "labels = ids.masked_fill(mask == 0, -100)",
    "labels = ids.masked_fill_(mask == 0, -100)",
    "labels = torch.where(mask, ids, -100)",
    "labels = torch.full_like(ids, -100)",
    "labels = torch.full(shape, -100)",
    "labels = [-100, 3]\nlabels[0] = -100\nother[1] = 0",
]


@pytest.mark.parametrize("lines", MARKED)
@pytest.mark.parametrize(
    "call",
    [
        "lp.gather(-1, labels)",
        "lp.gather(-1, index=labels.unsqueeze(-1))",
        "torch.take_along_dim(lp, labels)",
        "torch.gather(lp, -1, labels)",
    ],
)
def test_the_mark_of_what_is_ignored_is_no_index(lines, call):
    """Catches one way to mark a position, or to look a value up, that is not known."""
    (finding,) = found(tokens, f"{lines}\np = {call}")
    assert finding.code == "M018" and "can -100 be among the labels" in finding.found and "clamp" in finding.advice


@pytest.mark.parametrize(
    "removed",
    [
        *("labels.clamp(0)", "labels.clamp_min(0)", "labels.clamp_(0)", "labels.clip(0)", "labels.relu()"),
        *("labels.abs()", "labels.sum()", "labels.mean()", "labels.eq(3)", "labels.ne(3)", "labels != -100"),
        *("F.cross_entropy(x, labels)", "torch.where(labels == -100, 0, labels)"),
        *(
            "labels.masked_fill(labels == -100, 0)",
            "labels.masked_fill_(labels == -100, 0)",
            "ids",
            "other[labels == 3]",
        ),
    ],
)
def test_an_index_without_the_mark_is_right(removed):
    """Catches one way to take the mark out again that is not known."""
    assert codes(tokens, f"labels[mask == 0] = -100\np = lp.gather(-1, {removed})") == []


@pytest.mark.parametrize(
    "source",
    [
        "labels[mask == 0] = 100\np = lp.gather(-1, labels)",
        "labels[mask == 0] = -100\np = lp.gather(labels)",
        "labels[mask == 0] = -100\nlabels[labels == -100] = 0\np = lp.gather(-1, labels)",
        "labels[mask == 0] = -100\np = lp.scatter(-1, labels)",
        "labels[mask == 0] = fill\np = lp.gather(-1, labels)\nx = -100",
        "labels[mask == 0] = 0\np = lp.gather(-1, labels)\nx = -100",
        "labels = torch.where(mask, ids, 100)\np = lp.gather(-1, labels)\nx = -100",
        "labels = torch.zeros(-100)\np = lp.gather(-1, labels)",
    ],
)
def test_another_number_is_no_mark(source):
    assert codes(tokens, source) == []


def test_what_is_filled_in_elsewhere_keeps_the_mark():
    """Catches a number that is put where something is still to be known, taken for the repair of the mark."""
    source = "labels[mask == 0] = -100\nlabels[3] = pad_id\np = lp.gather(-1, labels)"
    assert codes(tokens, source) == ["M018"]
