"""A mask that takes the EOS for padding: each way of writing it, and what only looks like it."""

import pytest

from checker.rules.method import padding
from tests.checker.rules.looking import codes, found

SET = "tok.pad_token = tok.eos_token\n"
MASK = "mask = completion_ids != tok.pad_token_id"


@pytest.mark.parametrize(
    "pads",
    [
        SET,
        "tok.pad_token_id = tok.eos_token_id\n",
        "tok.pad_id = eos_id\n",
        "a.b = 1\nx = 2\ntok.padding_side = 'left'\n" + SET,
        "tok.add_special_tokens({'pad_token': tok.eos_token})\n",
        "tok.add_special_tokens({'bos_token': '<s>', 'pad_token': tok.eos_token})\n",
        "tok = AutoTokenizer.from_pretrained(name, pad_token=eos)\n",
        "tok = AutoTokenizer.from_pretrained(name, pad_token_id=eos_id)\n",
        f"name = 'gpt2'\nif tok.pad_token is None:\n    {SET}",
        "name = 'gpt2'\nout = model.generate(x, pad_token_id=tok.eos_token_id)\n",
        "name = 'org/Llama-3'\nconfig = GenerationConfig(pad_token_id=tok.pad_token_id or tok.eos_token_id)\n",
        "name = 'gpt-neo'\nout = model.generate(x, pad_token_id=eos if pad is None else pad_token_id)\n",
    ],
)
def test_padding_with_the_eos_is_seen(pads):
    """Catches one way to pad with the EOS that is not known."""
    (finding,) = found(padding, "x = 1", pads + MASK)
    assert (finding.code, finding.cell) == ("M001", 1) and finding.advice.startswith("Pad and EOS")
    assert (
        finding.found == f"line {len(pads.splitlines()) + 1}: does this mask leave out the EOS that the model sampled?"
    )


@pytest.mark.parametrize(
    "name", ["gpt2", "GPT-2", "gpt-neo", "gptj", "DialoGPT", "pythia", "llama", "mistral", "phi-2", "phi1", "falcon"]
)
def test_a_family_without_a_pad_token_is_known(name):
    """Catches one family whose tokenizer has no pad token, so that `if tok.pad_token is None` holds."""
    assert codes(padding, f"load('{name}')\nif tok.pad_token is None:\n    {SET}{MASK}") == ["M001"]


@pytest.mark.parametrize(
    "pads",
    [
        "",
        "tok.pad_token = '<pad>'\n",
        "pad_token = tok.eos_token\n",
        "tok.bos_token = tok.eos_token\n",
        f"name = 'Qwen'\nif tok.pad_token is None:\n    {SET}",
        f"name = 3\nif tok.pad_token is None:\n    {SET}",
        "tok.add_special_tokens({'pad_token': '<pad>'})\n",
        "tok.add_special_tokens({'bos_token': tok.eos_token})\n",
        "tok.add_special_tokens(tok.eos_token)\n",
        "tok = AutoTokenizer.from_pretrained(name, bos_token=eos)\n",
        "tok = load(name, pad_token=eos)\n",
        "out = model.generate(x, pad_token_id=tok.eos_token_id)\n",
        "out = model.generate(x, pad_token_id=tok.pad_token_id or tok.eos_token_id)\n",
    ],
)
def test_padding_with_a_token_of_its_own_is_right(pads):
    assert codes(padding, pads + MASK) == []


def test_where_sampling_alone_pads_with_the_eos_a_mask_of_the_eos_is_asked_about():
    """Catches a mask that names the EOS itself, which is left out whatever the tokenizer pads with."""
    pads = "out = model.generate(x, pad_token_id=tok.eos_token_id)\n"
    assert codes(padding, pads + "mask = out != tok.eos_token_id") == ["M001"]
    assert codes(padding, pads + "mask = out != tok.bos_token_id") == []
    assert codes(padding, SET + "mask = completion_ids != tok.bos_token_id") == []


@pytest.mark.parametrize(
    "mask",
    [
        "mask = (completion_ids != pad_id).float()",
        "mask = completion_ids.ne(tok.pad_token_id)",
        "mask = torch.ne(completion_ids, tok.pad_token_id)",
        "mask = torch.not_equal(completion_ids, tok.eos_token_id)",
        "p = tok.pad_token_id\nmask = completion_ids != p",
        *(
            f"mask = {name} != tok.pad_token_id"
            for name in ("response_ids", "generated", "gens", "out", "outputs", "sequences")
        ),
        *(
            f"mask = {name} != tok.pad_token_id"
            for name in ("seqs", "answers", "samples", "action", "full_ids", "my_seq[0]")
        ),
        *(
            f"ids = {call}\nmask = ids != tok.pad_token_id"
            for call in ("model.generate(x)", "model.generate(x)[:, n:]")
        ),
        *(
            f"ids = model.generate(x)\ny = {call}\nmask = y != tok.pad_token_id"
            for call in ("torch.cat([ids, x])", "torch.stack(ids)")
        ),
        *(
            f"ids = model.generate(x)\ny = {call}\nmask = y != tok.pad_token_id"
            for call in ("ids.clone()", "ids.to(d)", "ids.detach()")
        ),
        *(
            f"ids = model.generate(x)\ny = {call}\nmask = y != tok.pad_token_id"
            for call in ("F.pad(ids)", "pad_sequence(ids)")
        ),
        "ids = model.generate(x)\ny = ids.view(-1)\nmask = y != tok.pad_token_id",
        "mask = completion_ids != tok.pad_token_id\nx = model(ids, attention_mask=mask)\ny = lp * mask",
        "mask = completion_ids != tok.pad_token_id\nx = model(ids, labels=mask)",
        "x = f(completion_ids != tok.pad_token_id)",
        "x = lp * (completion_ids != tok.pad_token_id)",
        "x = {'labels': completion_ids != tok.pad_token_id}",
        "x['labels'] = completion_ids != tok.pad_token_id",
        "for a in b:\n    mask = completion_ids != tok.pad_token_id",
    ],
)
def test_a_mask_of_completions_is_asked_about(mask):
    """Catches one way to compare, or one name of completions, that is not known."""
    assert codes(padding, SET + mask) == ["M001"]


@pytest.mark.parametrize(
    "mask",
    [
        "mask = ids != tok.pad_token_id",
        "mask = prompt_completion != tok.pad_token_id",
        "mask = question_out != tok.pad_token_id",
        "mask = query_out != tok.pad_token_id",
        "mask = completion_ids == tok.pad_token_id",
        "mask = 1 != completion_ids != tok.pad_token_id",
        "mask = completion_ids.eq(tok.pad_token_id)",
        "mask = completion_ids.ne()",
        "if completion_ids != tok.pad_token_id:\n    x = 1",
        "x = [i for i in completion_ids if i != tok.pad_token_id]",
        "ids = f(model.generate(x))\nmask = ids != tok.pad_token_id",
        "m = completion_ids != tok.pad_token_id\nx = model(ids, attn_mask=m)",
        "x.attn_mask = completion_ids != tok.pad_token_id",
        "x['attention_mask'] = (completion_ids != tok.pad_token_id).long()",
        *(
            f"m = (completion_ids != tok.pad_token_id).{call}\nx = model(ids, attention_mask=m)"
            for call in ("long()", "int()", "float()", "to(d)", "bool()")
        ),
        *(
            f"m = (completion_ids != tok.pad_token_id).{call}\nx = model(ids, attention_mask=m)"
            for call in ("type(t)", "unsqueeze(1)", "expand(2)", "repeat(2)")
        ),
        *(
            f"m = torch.{call}([x, completion_ids != tok.pad_token_id])\nx = model(ids, attention_mask=m)"
            for call in ("cat", "concat")
        ),
        "mask = completion_ids != tok.pad_token_id\nx = model(ids, attention_mask=mask)",
        "mask = completion_ids != tok.pad_token_id\nx = {'ids': ids, 'attention_mask': mask}",
        "mask = completion_ids != tok.pad_token_id\nattn = mask.long()",
        "mask = completion_ids != tok.pad_token_id\nx = model(ids, attention_mask=mask)\ndef f(mask):\n    return mask",
        "x = dict(ids=ids, attention_mask=completion_ids != tok.pad_token_id)",
    ],
)
def test_a_mask_of_something_else_or_for_attention_is_right(mask):
    """Catches a question about an attention mask, in which it does no harm, or about prompts."""
    assert codes(padding, SET + mask) == []


@pytest.mark.parametrize(
    "use", ["y = mask", "y = f(mask)", "y = mask.sum()", "if mask:\n    y = 1", "z = att(mask)", "mask_2 = mask != 3"]
)
def test_a_mask_that_is_used_for_anything_else_is_asked_about(use):
    source = f"{SET}{MASK}\nx = model(ids, attention_mask=mask)\n{use}"
    assert codes(padding, source) == ["M001"]
