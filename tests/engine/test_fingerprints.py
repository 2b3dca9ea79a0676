"""By what a checkpoint knows the frozen weights and the rows again, without reading all of them."""

from fractions import Fraction

import pytest
import torch
from datasets import Dataset
from torch import nn

from shared.engine import resume
from shared.engine.resume import fingerprint
from tests.engine.small import Small


def test_a_fingerprint_is_the_same_for_equal_content():
    """Catches ids, the order of a set or of the columns, trained weights, and buffers that a pass computes anew."""
    model = Small(seed=1)
    model.base.load_state_dict(Small().base.state_dict())
    model.angles += 1
    rows = [{"prompt": "a", "answers": {0, 8}, "value": Fraction(1, 3)}]
    again = [{"value": Fraction(1, 3), "answers": {8, 0}, "prompt": "a"}]
    assert list(rows[0]["answers"]) != list(again[0]["answers"])
    assert fingerprint(Small(), rows) == fingerprint(model, again)
    assert fingerprint(Small(), rows) != fingerprint(model, [again[0] | {"value": Fraction(2, 3)}])


def test_rows_do_not_run_into_each_other():
    """Catches a digest of joined texts, in which the border between two rows or columns may stand elsewhere."""
    sets = [[{"a": "x"}, {"a": "y"}], [{"a": "xy"}, {"a": ""}], [{"a": "x", "b": "y"}, {}], [{"a": "x\ny"}, {}]]
    assert len({fingerprint(Small(), rows)["rows_digest"] for rows in sets}) == 4


def test_every_row_of_many_counts():
    """Catches rows that are left out where they are made a text some at a time, in any kind of data set."""
    rows = [{"prompt": str(i)} for i in range(2 * resume.ROWS_AT_ONCE + 1)]
    digest = fingerprint(Small(), rows)["rows_digest"]
    assert fingerprint(Small(), Dataset.from_list(rows))["rows_digest"] == digest
    for place in (0, resume.ROWS_AT_ONCE - 1, resume.ROWS_AT_ONCE, len(rows) - 1):
        changed = [*rows[:place], {"prompt": "another"}, *rows[place + 1 :]]
        assert fingerprint(Small(), changed)["rows_digest"] != digest
    assert fingerprint(Small(), rows[:-1])["rows_digest"] != digest


def test_a_large_model_is_not_read(monkeypatch):
    """Catches a full pass over the frozen weights, minutes for a large model on a slow disk or device."""
    seen = []
    real = torch.Tensor.cpu

    def cpu(tensor):
        seen.append(tensor.numel())
        return real(tensor)

    monkeypatch.setattr(torch.Tensor, "cpu", cpu)
    model = nn.Linear(1000, 1000).requires_grad_(False)
    fingerprint(model, [])
    assert seen == [64, 64]


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (40,), (3, 50)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.uint8, torch.bool])
def test_tensors_of_every_kind_have_a_digest(shape, dtype):
    model = nn.Module()
    model.register_buffer("b", torch.zeros(shape, dtype=dtype))
    before = fingerprint(model, [])["frozen"]["b"]
    model.register_buffer("b", torch.ones(shape, dtype=dtype))
    assert (fingerprint(model, [])["frozen"]["b"] != before) == bool(model.b.numel())
