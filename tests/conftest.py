"""Small fakes that the tests share: a tokenizer of single letters and randomly initialised models."""

from collections.abc import Iterable

import jaxtyping
import pytest
import torch
from hypothesis import settings
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from tests import skips

torch.set_num_threads(1)
# No test fails because a machine is busy, and every run tries the same examples.
settings.register_profile("course", deadline=None, derandomize=True)
settings.load_profile("course")
LETTERS = "abcdefghij"
# Of every tiny model shaped like Llama, whose heads share keys and values; and the ids of `letter_tokenizer`.
LLAMA_SIZE = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}
LETTER_IDS = {"vocab_size": 12, "pad_token_id": 0, "bos_token_id": None, "eos_token_id": 1}


# The files that take longest, begun first: two workers then end together.
LONGEST = (
    "test_second_device.py",
    "test_site.py",
    "test_report.py",
    "test_algorithms.py",
    "test_families.py",
    "test_processes_loop.py",
    "test_command.py",
    "test_flat_groups.py",
    "test_logps.py",
    "test_processes.py",
    "test_command_line.py",
    "test_imports.py",
    "test_tree.py",
    "test_hand_over.py",
)


def pytest_configure(config):
    config.pluginmanager.register(skips)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.name not in LONGEST)


def letter_tokenizer(pad_is_eos: bool = False) -> PreTrainedTokenizerFast:
    """Every letter one token: <pad> 0, <eos> 1, a 2, b 3, ..."""
    vocabulary = {"<pad>": 0, "<eos>": 1} | {letter: i + 2 for i, letter in enumerate(LETTERS)}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="<pad>"))
    backend.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    backend.decoder = decoders.Fuse()
    pad = "<eos>" if pad_is_eos else "<pad>"
    return PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<eos>", pad_token=pad)


def tiny_llama(seed: int = 0, dropout: float = 0.0, initializer_range: float = 0.3) -> LlamaForCausalLM:
    """With a range of 0.3 its outputs are peaked, with 0.02 nearly uniform."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        **LLAMA_SIZE,
        **LETTER_IDS,
        attention_dropout=dropout,
        initializer_range=initializer_range,
    )
    return LlamaForCausalLM(config)


def tiny_gpt2(seed: int = 0, dropout: float = 0.0) -> GPT2LMHeadModel:
    """Learned positions and, on request, dropout: the two things Llama does not have."""
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=12,
        n_positions=64,
        n_embd=32,
        n_layer=2,
        n_head=4,
        resid_pdrop=dropout,
        embd_pdrop=dropout,
        attn_pdrop=dropout,
        initializer_range=0.3,
        bos_token_id=1,
        eos_token_id=1,
        pad_token_id=0,
    )
    return GPT2LMHeadModel(config)


@pytest.fixture
def shapes_unchecked(monkeypatch):
    """For a test that calls many times what others call, as a training to its end or a whole matrix does.

    Checks of shapes take a third of a test's time, and those others have found what is to be found.
    """
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


@pytest.fixture
def wrong_shapes(shapes_unchecked):
    """For a test that passes wrong shapes on purpose, to read the sentence that refuses them: none are checked."""


def few_of(names: Iterable[str], few: Iterable[str]) -> list:
    """The rows of a matrix for `parametrize`: `make test` tries these few, `make test-all` tries them all."""
    names = list(names)
    few = set(few)
    assert few <= set(names), f"no row of the matrix: {few - set(names)}"
    return [name if name in few else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.fixture
def tokenizer():
    return letter_tokenizer()


@pytest.fixture(params=["llama", "gpt2"])
def model(request):
    return {"llama": tiny_llama, "gpt2": tiny_gpt2}[request.param]().eval()


@pytest.fixture
def patient_judge(monkeypatch):
    """A judge that waits, on a machine that is busy: for tests that are not about time."""
    monkeypatch.setattr("shared.exercises.judging.TIME_TO_RECOGNISE", 60.0)
    monkeypatch.setattr("shared.exercises.judging.TIME_TO_EXPLAIN", 120.0)
    monkeypatch.setattr("shared.exercises.judging.LONGEST", 240.0)
    monkeypatch.setattr("shared.exercises.process.TIME_LIMIT", 300.0)
    monkeypatch.setattr("shared.exercises.process.CASE_LIMIT", 60.0)
