"""The page "Try it" before a browser runs it: the table of tokens, the network."""

import pytest
import torch

from benchmarks.tryit.facts import expected, facts, prompt_ids
from benchmarks.tryit.network import write_networks
from shared.models import COURSE_MODEL, load_policy
from shared.tasks import dots
from tests.fakes import tiny_llama


@pytest.fixture(scope="module")
def policy():
    return load_policy(COURSE_MODEL, device="cpu")


def test_the_table_cuts_prompts_and_joins_completions_as_the_tokenizer_does(policy):
    """Catches a symbol that is another token at the beginning of a row, and texts that lose their spaces."""
    _, tokenizer = policy
    table = facts(tokenizer)
    for row in dots.dataset("eval", 100):
        symbols = row["prompt"].removeprefix("Count the dots: ").partition("\n")[0]
        assert prompt_ids(table, symbols) == tokenizer(row["prompt"])["input_ids"]
    for text in (" 7", *dots.REMARKS, " well, 3\n4"):
        assert "".join(table["texts"][token] for token in tokenizer(text)["input_ids"]) == text


def test_what_is_expected_of_the_page_is_the_models_own(policy):
    """Catches an expectation that another policy or prompt gave: the first is held against one plain pass."""
    model, tokenizer = policy
    first = expected(model, tokenizer)[0]
    ids = tokenizer(dots.prompt_of(first["row"]), return_tensors="pt")["input_ids"]
    with torch.no_grad():
        logits = model(ids).logits[0, -1]
    three = tokenizer(" 3")["input_ids"][0]
    assert first["digits"][3] == pytest.approx(logits.softmax(-1)[three].item(), abs=1e-6)
    assert first["greedy"].startswith(tokenizer.decode([logits.argmax()]))


@pytest.mark.slow
def test_the_network_gives_the_models_own_logits(tmp_path):
    """Catches a mask that lets a token see later ones, a second policy with the first one's weights."""
    reference = pytest.importorskip("onnx.reference")
    pytest.importorskip("onnxscript")
    before, after = tiny_llama(seed=0), tiny_llama(seed=1)
    for model in (before, after):
        model.config._attn_implementation = "eager"
    write_networks(before, after, tmp_path)
    for name, model in (("before", before), ("after", after)):
        network = reference.ReferenceEvaluator(str(tmp_path / f"{name}.onnx"))
        for R, T in ((1, 2), (3, 13)):
            ids = torch.randint(0, model.config.vocab_size, (R, T))
            (logits,) = network.run(None, {"ids": ids.numpy()})
            with torch.no_grad():
                wanted = model(ids).logits[:, -1]
            torch.testing.assert_close(torch.from_numpy(logits), wanted, atol=1e-5, rtol=1e-4)
