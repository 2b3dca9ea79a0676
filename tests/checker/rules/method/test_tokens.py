"""The prompt in what a reward is given: each way of writing the mistake, and what only looks like it."""

import pytest

from checker.rules.method import tokens
from tests.checker.rules.looking import codes, found

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


def test_texts_that_are_passed_to_a_method_hold_the_prompt_still():
    source = (
        "class T:\n    def loss(self, texts):\n        return [reward_rlvr(t) for t in texts]\n"
        "    def step(self, x):\n        return self.loss(tok.batch_decode(self.model.generate(**x)))"
    )
    assert codes(tokens, source) == ["M003"]


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
