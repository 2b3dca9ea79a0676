"""The emulator of a second device itself: it refuses what it should, lets through the rest, and counts."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode

from shared.engine import checkpoint
from tests.fakes import tiny_gpt2, tiny_llama
from tests.second_device import second_device
from tests.second_device_tensor import DEVICE, SecondDeviceTensor

# Operations on a matrix x (2, 3), a boolean mask, an index (2,), a row index (2, 1) and a 0-dim number, each of the
# device (x, mask, i, rows, one) and of the host (x_, mask_, i_, rows_, one_).
REFUSED = {
    "sum of two": lambda t: t.x + t.x_,
    "sum with the host's first": lambda t: t.x_ + t.x,
    "host's matrix and device's number": lambda t: t.x_ * t.one,
    "host's number changed in place": lambda t: t.one_.add_(t.one),
    "matrix product": lambda t: t.x @ t.x_.T,
    "cat": lambda t: torch.cat([t.x, t.x_]),
    "stack of numbers": lambda t: torch.stack([t.one, t.one_]),
    "where": lambda t: torch.where(t.mask, t.x, t.x_),
    "where by the host's mask": lambda t: torch.where(t.mask_, t.x, t.x),
    "masked_fill by the host's mask": lambda t: t.x.masked_fill(t.mask_, 0.0),
    "masked_scatter": lambda t: t.x.masked_scatter(t.mask, t.x_),
    "gather": lambda t: t.x.gather(1, t.rows_),
    "scatter": lambda t: t.x.scatter(1, t.rows_, 0.0),
    "index_select": lambda t: t.x.index_select(1, t.i_),
    "embedding": lambda t: F.embedding(t.i_, t.x),
    "linear": lambda t: F.linear(t.x, t.x_),
    "clamp by the host's number": lambda t: t.x.clamp(min=t.one_),
    "layer_norm": lambda t: F.layer_norm(t.x, (3,), t.x_[0]),
    "isin": lambda t: torch.isin(t.i, t.i_),
    "searchsorted": lambda t: torch.searchsorted(t.x, t.x_),
    "host's matrix at the device's index": lambda t: t.x_[t.i],
    "host's rows written at the device's index": lambda t: t.x.index_put_((t.i,), t.x_),
    "equal": lambda t: torch.equal(t.x, t.x_),
    "attention": lambda t: F.scaled_dot_product_attention(t.x[None], t.x_[None], t.x[None]),
}
PASSES = {
    "number": lambda t: t.x * 2.0,
    "host's number": lambda t: t.x * t.one_,
    "host's number first": lambda t: t.one_ - t.x,
    "two numbers": lambda t: t.one + t.one_,
    "added in place": lambda t: t.x.clone().add_(t.one_),
    "where with the host's number": lambda t: torch.where(t.mask, t.x, t.one_),
    "masked_fill with the host's number": lambda t: t.x.masked_fill(t.mask, t.one_),
    "host's index": lambda t: t.x[t.i_],
    "host's index, and a slice": lambda t: t.x[t.i_, :2],
    "list": lambda t: t.x[[1, 0]],
    "host's mask": lambda t: t.x[t.mask_],
    "written at the host's index": lambda t: t.x.clone().index_put_((t.i_,), t.x),
    "host's number written at an index": lambda t: t.x.clone().index_put_((t.i,), t.one_),
    "copied from the host": lambda t: t.x.clone().copy_(t.x_),
    "assigned from the host": lambda t: assigned(t.x, slice(None), t.x_),
    "like": lambda t: torch.zeros_like(t.x) + t.x.new_ones(3) + t.x.new_tensor([1.0, 2.0, 3.0]),
    "made there": lambda t: t.x + torch.arange(3, device=t.x.device) + torch.full((3,), 2.0, device=t.x.device),
    "of Python's numbers": lambda t: t.x + torch.tensor([1.0, 2.0, 3.0], device=t.x.device),
}
# With how often the host waits.
COUNTED = {
    "item": (1, lambda t: t.one.item()),
    "float": (1, lambda t: float(t.one)),
    "int": (1, lambda t: int(t.i[0])),
    "bool": (1, lambda t: bool(t.mask.all())),
    "index of a list": (1, lambda t: [5, 6, 7][t.i[0]]),
    "end of a slice": (1, lambda t: t.x[:, : t.i[0]]),
    "format": (1, lambda t: f"{t.one:.3f}"),
    "tolist": (1, lambda t: t.x.tolist()),
    "cpu": (1, lambda t: t.x.cpu()),
    "to": (1, lambda t: t.x.to("cpu")),
    "copied to the host": (1, lambda t: t.x_.copy_(t.x)),
    "nonzero": (1, lambda t: t.mask.nonzero()),
    "where": (1, lambda t: torch.where(t.mask)),
    "read by a mask": (1, lambda t: t.x[t.mask]),
    "written by a mask": (1, lambda t: assigned(t.x, t.mask, t.x[t.mask_])),
    "gradient of what was read by a mask": (2, lambda t: t.weight[t.mask].sum().backward()),
    "gradient of what was put by a mask": (1, lambda t: t.x.masked_scatter(t.mask, t.weight * 2).sum().backward()),
    "number of the device written by a mask": (1, lambda t: assigned(t.x, t.mask, t.one)),
    "number of the device written on the host": (1, lambda t: t.x_.index_put_((t.i_,), t.one)),
    "masked_select": (1, lambda t: t.x.masked_select(t.mask)),
    "unique": (1, lambda t: t.i.unique()),
    "unique_consecutive": (1, lambda t: t.i.unique_consecutive()),
    "bincount": (1, lambda t: t.i.bincount()),
    "repeat_interleave by a tensor": (1, lambda t: t.x.repeat_interleave(t.i, dim=0)),
    "equal": (1, lambda t: torch.equal(t.x, t.x)),
    "allclose": (1, lambda t: torch.allclose(t.x, t.x)),
    "isin of many": (1, lambda t: torch.isin(t.i, torch.arange(50, device=DEVICE))),
    "tensor of the device's numbers": (2, lambda t: torch.tensor([t.one, t.one])),
    # The host does not wait for these.
    "masked_fill": (0, lambda t: t.x.masked_fill(t.mask, 0.0)),
    "number written by a mask": (0, lambda t: assigned(t.x, t.mask, 0.0)),
    "masked_scatter": (0, lambda t: t.x.masked_scatter(t.mask, t.x)),
    "read by the host's mask": (0, lambda t: t.x[t.mask_]),
    "read by an index": (0, lambda t: t.x[t.i] + t.x[t.i_]),
    "repeat_interleave by a number": (0, lambda t: t.x.repeat_interleave(2, dim=0)),
    "repeat_interleave to a known length": (0, lambda t: t.x.repeat_interleave(t.i, dim=0, output_size=1)),
    "multinomial": (0, lambda t: torch.multinomial(t.x.softmax(-1), 1)),
    "isin of few": (0, lambda t: torch.isin(t.i, t.i)),
    "to the device": (0, lambda t: t.x_.to(DEVICE)),
    "to where it is": (0, lambda t: t.x.to(DEVICE)),
    "shape": (0, lambda t: (len(t.x), t.x.shape, t.x.numel(), t.x.dtype)),
    "sort": (0, lambda t: t.x.sort(dim=-1).values.cumsum(-1).topk(2).indices),
    "gradient": (0, lambda t: (t.weight * t.x).sum().backward()),
}


class Tensors:
    """The tensors of the tables above, those without an underscore on `device`."""

    def __init__(self, device):
        host = {
            "x": torch.arange(6.0).view(2, 3),
            "mask": torch.tensor([[True, False, True], [False, True, False]]),
            "i": torch.tensor([1, 0]),
            "rows": torch.tensor([[2], [0]]),
            "one": torch.tensor(1.5),
        }
        for name, tensor in host.items():
            setattr(self, name, tensor.to(device))
            setattr(self, name + "_", tensor)
        self.weight = self.x.clone().requires_grad_()


def assigned(tensor, index, value):
    copied = tensor.clone()
    copied[index] = value
    return copied


@pytest.fixture
def device():
    with second_device() as device:
        yield device


@pytest.mark.parametrize("operation", REFUSED.values(), ids=REFUSED)
def test_devices_do_not_mix(device, operation):
    """Catches an emulator under which code passes that fails on its first day on a GPU."""
    with pytest.raises(RuntimeError, match="same device"):
        operation(Tensors(DEVICE))


@pytest.mark.parametrize("operation", PASSES.values(), ids=PASSES)
def test_what_cuda_lets_through_passes_and_gives_the_numbers_of_the_cpu(device, operation):
    """Catches an emulator that is stricter than CUDA, or that computes something else."""
    result = operation(Tensors(DEVICE))
    assert result.device == DEVICE
    assert torch.equal(result.cpu(), operation(Tensors("cpu")))


# Without the one whose result has no shape before it is computed.
@pytest.mark.parametrize("name", sorted(REFUSED.keys() | PASSES.keys() - {"host's mask"}))
def test_torchs_own_rule_says_the_same(name):
    """An oracle: torch's fake tensors work out on which device each result would be, and refuse what has none.

    In one thing they are laxer than CUDA: a CPU tensor without dimensions passes everywhere, in a stack and a clamp too.
    """
    with FakeTensorMode():
        t = Tensors("cpu")
        for attribute, tensor in list(vars(t).items()):
            if not attribute.endswith("_"):
                setattr(t, attribute, torch.empty(tensor.shape, dtype=tensor.dtype, device=DEVICE))
        try:
            passes = (REFUSED | PASSES)[name](t).device == DEVICE
        except RuntimeError:
            passes = False
    assert passes == (name in PASSES or name in ("stack of numbers", "clamp by the host's number"))


@pytest.mark.parametrize("expected, operation", COUNTED.values(), ids=COUNTED)
def test_each_transfer_to_the_host_is_counted_once(device, expected, operation):
    """Catches a transfer that the counts of the course's steps would miss, and one that no GPU makes."""
    t = Tensors(DEVICE)
    with device.counted() as kinds:
        operation(t)
    assert kinds.total() == expected, kinds


def test_a_transfer_names_the_line_that_asked_for_it(device):
    torch.ones(1, device=DEVICE).item()
    assert device.transfers[-1].kind == "item"
    assert device.transfers[-1].asked_by.startswith("tests/test_second_device_rules.py:")


def test_generators_belong_to_a_device(device):
    """Catches the generator of the host that is handed on to a draw on the GPU, and the reverse."""
    host = torch.Generator().manual_seed(0)
    there = torch.Generator(DEVICE).manual_seed(0)
    with pytest.raises(RuntimeError, match="Expected a 'lazy' device type for generator but found 'cpu'"):
        torch.rand(3, device=DEVICE, generator=host)
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'lazy'"):
        torch.randperm(3, generator=there)
    with pytest.raises(RuntimeError, match="for generator"):
        torch.zeros(3, device=DEVICE).uniform_(generator=host)
    assert torch.rand(3, generator=host).device.type == "cpu"
    assert torch.rand(3, device=DEVICE, generator=there).device == DEVICE


def test_the_device_draws_other_numbers_than_the_cpu_from_a_seed(device):
    """Catches an emulator under which a draw on the device looks as if it did not depend on the device."""
    drawn = {}
    for name in ("cpu", DEVICE):
        torch.manual_seed(1)
        first = torch.rand(3, device=name)
        torch.manual_seed(1)
        assert torch.equal(first, torch.rand(3, device=name))
        seeded = torch.rand(3, device=name, generator=torch.Generator(name).manual_seed(1))
        drawn[name] = torch.stack([first, seeded]).cpu()
    assert not (drawn["cpu"] == drawn[DEVICE]).any()
    before = torch.get_rng_state()
    torch.rand(3, device=DEVICE)
    assert torch.equal(before, torch.get_rng_state())


def test_numpy_refuses_a_tensor_of_the_device(device):
    with pytest.raises(TypeError, match="to numpy. Use Tensor.cpu"):
        torch.ones(2, device=DEVICE).numpy()


@pytest.mark.parametrize("make", [tiny_llama, tiny_gpt2])
def test_a_model_moves_there_and_back(device, make):
    """Catches tied weights that come apart, and an optimiser that is left with the old parameters."""
    model = make()
    parameters = list(model.parameters())
    before = [p.detach().clone() for p in parameters]
    tied = model.get_input_embeddings().weight is model.get_output_embeddings().weight
    model.to(DEVICE)
    copied = copy.deepcopy(model)
    for moved in (model, copied):
        assert all(isinstance(p, torch.nn.Parameter) and p.device == DEVICE for p in moved.parameters())
        assert (moved.get_input_embeddings().weight is moved.get_output_embeddings().weight) == tied
    assert all(p is q for p, q in zip(parameters, model.parameters()))
    model.to("cpu")
    assert all(map(torch.equal, before, model.parameters()))
    assert next(copied.parameters()).device == DEVICE


def test_weights_that_are_loaded_leave_the_gradients(device):
    """Catches a step behind `load_state_dict` that moves nothing, as its parameters have other tensors."""
    model = tiny_llama().to(DEVICE)
    weights = copy.deepcopy(model.state_dict())
    parameters = list(model.parameters())
    model(torch.tensor([[1, 2]], device=DEVICE)).logits.sum().backward()
    model.load_state_dict(weights)
    torch.optim.AdamW(parameters, lr=0.1).step()
    assert not all(torch.equal(weights[name], p) for name, p in model.named_parameters())


def test_what_is_saved_comes_back_to_the_cpu(device, tmp_path):
    checkpoint.save(tmp_path / "state.pt", {"there": torch.ones(2, device=DEVICE), "here": torch.zeros(2)})
    state = checkpoint.load(tmp_path / "state.pt")
    assert {tensor.device.type for tensor in state.values()} == {"cpu"}
    assert state["there"].tolist() == [1, 1]


def test_nothing_of_the_device_is_left_when_it_is_unplugged():
    """Catches a patch that other tests would run with."""
    generator = torch.Generator
    with second_device():
        x = torch.ones(2, device=DEVICE)
    assert torch.Generator is generator
    assert not torch.__future__.get_swap_module_params_on_conversion()
    assert isinstance(x, SecondDeviceTensor) and "[1., 1.]" in repr(x)
    with pytest.raises(RuntimeError, match="outside of"):
        x + 1
    with pytest.raises(RuntimeError):
        torch.ones(2, device=DEVICE)
