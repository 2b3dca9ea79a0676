"""Sampling in lockstep draws the tokens of the trees, in fixed shapes; on the CPU here, as one that is asked to."""

import contextlib
from types import SimpleNamespace
from unittest import mock

import pytest
import torch

from shared import rollout
from shared.constrain import answer_trie
from shared.engine import lockstep
from shared.engine.llama import PackedPrompts
from shared.engine.lockstep import LockstepDecoder, power_of_two_from, recorded
from shared.engine.sampling import Sampling
from shared.rollout import sample
from tests.engine.test_llama import MODELS
from tests.fakes import tiny_llama

PROMPTS = ["abc", "d", "efghij", "ab", "d"]  # one of them twice
G = 6
SAMPLINGS = {
    "all tokens": Sampling(20),
    "cold": Sampling(7, 0.7, top_p=0.9),
    "top-k": Sampling(7, 1.3, top_k=3),
    "greedy": Sampling(7, 0),
    "one token": Sampling(1),
}


def in_lockstep(monkeypatch) -> None:
    monkeypatch.setattr(rollout, "takes_lockstep", lambda model: True)


@pytest.mark.parametrize("constrained", [False, True], ids=["free", "constrained"])
@pytest.mark.parametrize("sampling", SAMPLINGS.values(), ids=SAMPLINGS)
@pytest.mark.parametrize("name", MODELS)
def test_the_record_is_that_of_the_trees(name, sampling, constrained, tokenizer, monkeypatch):
    """Catches a token at a wrong place or position, a row that sees padding or its neighbour, and a state left behind.

    Rows that have ended are left out at every second token, and most answers are short.
    """
    monkeypatch.setattr(lockstep, "LOOK_EVERY", 2)
    model = MODELS[name]().eval().double()
    trie = (
        answer_trie(tokenizer, ["j", "i", "h", "g", "f", "e", "ab", "abcde", "abcdf", "abcdfgha"])
        if constrained
        else None
    )
    expected = sample(model, tokenizer, PROMPTS, G, sampling, constraint=trie, seed=3, step=5)
    in_lockstep(monkeypatch)
    found = sample(model, tokenizer, PROMPTS, G, sampling, constraint=trie, seed=3, step=5)
    assert found.completions == expected.completions
    for name in ("completion_ids", "completion_mask", "lengths", "truncated", "free_lengths", "contexts", "beginnings"):
        assert torch.equal(getattr(found, name), getattr(expected, name)), name
    torch.testing.assert_close(found.old_logps, expected.old_logps, rtol=0, atol=1e-9)
    torch.testing.assert_close(found.entropy, expected.entropy, rtol=0, atol=1e-9)


def test_a_part_of_the_prompts_draws_what_it_draws_among_all(tokenizer, monkeypatch):
    """Catches random numbers that depend on the other rows of a batch: two processes would not draw what one draws."""
    in_lockstep(monkeypatch)
    model = tiny_llama().eval().double()
    whole = sample(model, tokenizer, PROMPTS, G, Sampling(20), seed=3, step=5)
    part = sample(model, tokenizer, PROMPTS[2:], G, Sampling(20), seed=3, step=5, places=[2, 3, 4])
    assert part.completions == whole.completions[2 * G :]


def test_ended_rows_are_left_out_by_powers_of_two(tokenizer, monkeypatch):
    """Catches shapes that change with every completion that ends, and a batch that stays full to the last one.

    Of 32 rows 17 go on: 32 stay. Where 9 go on, 16 stay. The answers have 1, 4, 7, ... letters.
    """
    in_lockstep(monkeypatch)
    monkeypatch.setattr(lockstep, "LOOK_EVERY", 2)
    model = tiny_llama().eval()
    rows = []
    model.get_input_embeddings().register_forward_pre_hook(lambda module, args: rows.append(args[0].numel()))
    answers = answer_trie(tokenizer, [letter * (3 * i + 1) for i, letter in enumerate("abcdefgh")])
    drawn = sample(model, tokenizer, ["abc", "d", "e", "f"], 8, Sampling(40), constraint=answers, seed=0)
    going_on = [int((drawn.lengths > t).sum()) for t in range(2, 40, 2)]
    assert len(going_on) > len(set(map(power_of_two_from, going_on))) > 3
    steps = rows[1:]  # the first pass reads the prompts
    assert steps[0] == 32 and set(steps) <= {32, 16, 8, 4, 2, 1}
    for t, number in zip(range(2, 40, 2), going_on):
        assert number == 0 or steps[t - 1] == min(32, power_of_two_from(number))
    assert len(steps) < 40 - 1, "it ends when all have ended"


def test_the_power_of_two_of_a_number():
    assert [power_of_two_from(number) for number in (1, 2, 3, 4, 5, 33)] == [1, 2, 4, 4, 8, 64]


def a_decoder() -> LockstepDecoder:
    ids = torch.tensor([[0, 2, 3], [4, 5, 6]])
    lengths = torch.tensor([2, 3])
    return LockstepDecoder(tiny_llama().eval(), PackedPrompts.of(ids, lengths), lengths, [0, 0, 1, 1], room=8)


@torch.no_grad()
def test_a_pass_changes_tensors_in_place_and_nothing_else():
    """Catches a number or a new tensor in the decoder's state: a recorded pass would read the old one for ever."""
    decoder = a_decoder()

    def state() -> dict:
        tensors = vars(decoder) | {f"keys {i}": keys for i, keys in enumerate(decoder.keys)}
        tensors |= {f"values {i}": values for i, values in enumerate(decoder.values)}
        return {
            name: value.data_ptr() if isinstance(value, torch.Tensor) else value
            for name, value in tensors.items()
            if name not in ("keys", "values")
        }

    before = state()
    position = decoder.position.clone()
    decoder._pass()
    assert state() == before
    assert torch.equal(decoder.position, position + 1) and decoder.place.item() == 4


class FakeGraph:
    """A CUDA graph by what it does here: it is begun, ended and replayed. `fails` is what recording raises."""

    fails = None

    def __init__(self):
        self.done = []

    def capture_begin(self, **options):
        self.done.append("begin")

    def capture_end(self):
        self.done.append("end")
        if self.fails:
            raise self.fails

    def replay(self):
        self.done.append("replay")


@pytest.fixture
def cuda(monkeypatch):
    """A stand-in for what `recorded` takes of torch.cuda. That a real graph draws the same, `benchmarks.gpu` shows."""
    stream = SimpleNamespace(wait_stream=lambda other: None)
    graphs = []

    def make_graph():
        graphs.append(FakeGraph())
        return graphs[-1]

    monkeypatch.setattr(torch.cuda, "CUDAGraph", make_graph)
    monkeypatch.setattr(torch.cuda, "Stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: contextlib.nullcontext())
    return graphs


def test_a_recorded_pass_is_replayed(cuda):
    """Catches a pass that runs again after it was recorded, and what it returned being thrown away."""
    function = mock.Mock(return_value=torch.tensor(7.0))
    run = recorded(function)
    assert run() == 7 and run() == 7
    assert function.call_count == 1 and cuda[0].done == ["begin", "end", "replay", "replay"]


def test_a_pass_that_cannot_be_recorded_runs_as_it_is(cuda, monkeypatch):
    """Catches a run that ends, or grows slow without a word, on a model whose pass asks the device for a value."""
    monkeypatch.setattr(FakeGraph, "fails", RuntimeError("operation not permitted when stream is capturing\nmore"))
    function = mock.Mock(return_value=torch.tensor(7.0))
    with pytest.warns(
        UserWarning, match="not recorded as a CUDA graph .operation not permitted when stream is capturing.[.]"
    ):
        run = recorded(function)
    assert run is function and cuda[0].done == ["begin", "end"]


@torch.no_grad()
def test_a_pass_is_recorded_after_the_first_of_its_shapes(monkeypatch):
    """Catches a recording without a warm-up, one that outlives its shapes, and a CPU or another device that is asked to."""
    made = []
    monkeypatch.setattr(lockstep, "recorded", lambda function: made.append(function) or function)
    decoder = a_decoder()
    decoder.step(torch.tensor([2, 3, 4, 5]))
    assert made == []
    decoder._is_to_be_recorded = True
    decoder.step(torch.tensor([2, 3, 4, 5]))
    decoder.step(torch.tensor([2, 3, 4, 5]))
    assert len(made) == 1
    decoder._run = None  # what was recorded
    decoder.keep(torch.tensor([0, 3]))
    assert decoder.step(torch.tensor([2, 3])).shape == (2, 12)
