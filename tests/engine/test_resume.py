"""Going on from a checkpoint: bit for bit the uninterrupted run, or a sentence and nothing changed."""

import copy
from dataclasses import asdict, fields

import pytest
import torch
from torch import nn

from shared.engine import checkpoint
from shared.engine.resume import RunState, fingerprint, pack, unpack
from shared.grpo import GRPOConfig
from shared.models import add_lora
from tests.engine.small import Small
from tests.fakes import tiny_llama

ROWS = [{"prompt": "abc", "answer": "a"}, {"prompt": "d", "answer": "b"}]
CONFIG = {"steps": 4, "learning_rate": 0.01, "reward_weights": (1.0, 2.0), "epsilon_high": None, "log_every": 1}
IDS = torch.tensor([[2, 3, 4, 5], [6, 7, 8, 9]])


def adamw(model, **options):
    return torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.01, **options)


def packed(model, optimizer, *, algorithm="GRPO", config=CONFIG, rows=ROWS, history=()):
    return pack(
        algorithm=algorithm,
        config=config,
        fingerprint=fingerprint(model, rows),
        model=model,
        optimizer=optimizer,
        history=list(history),
    )


def unpacked(state, model, optimizer, *, algorithm="GRPO", config=CONFIG, rows=ROWS, **options):
    return unpack(
        state,
        path="run.pt",
        model=model,
        optimizer=optimizer,
        config=config,
        fingerprint=fingerprint(model, rows),
        algorithm=algorithm,
        **options,
    )


def through_a_file(state, tmp_path):
    checkpoint.save(tmp_path / "run.pt", state)
    return checkpoint.load(tmp_path / "run.pt")


def after_updates(model, optimizer):
    """A state in which every part of the optimiser is in use."""
    for _ in range(2):
        for p in model.parameters():
            if p.requires_grad:
                p.grad = torch.randn_like(p)
        optimizer.step()
    return model, optimizer


def train(model, optimizer, first, last):
    """A few updates on fixed data; the losses."""
    losses = []
    for step in range(first, last):
        for group in optimizer.param_groups:
            group["lr"] = 0.01 * (step + 1)
        loss = model(input_ids=IDS, labels=IDS).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append({"step": step + 1, "loss": loss.item()})
    return losses


# --- going on

MODELS = {
    "float32": lambda seed: tiny_llama(seed, initializer_range=0.02),
    "bfloat16": lambda seed: tiny_llama(seed, initializer_range=0.02).bfloat16(),
    "lora": lambda seed: add_lora(tiny_llama(initializer_range=0.02), r=4),
}


@pytest.mark.parametrize("kind", MODELS)
def test_a_resumed_run_is_the_uninterrupted_one_to_the_bit(kind, tmp_path):
    """Catches moments, step counts or weights that are lost, rounded to another dtype, or start over."""
    whole = MODELS[kind](0)
    history = train(whole, adamw(whole, fused=True), 0, 6)

    first = MODELS[kind](0)
    optimizer = adamw(first, fused=True)
    state = through_a_file(packed(first, optimizer, history=train(first, optimizer, 0, 3)), tmp_path)
    resumed = MODELS[kind](5)  # other trained weights: all must come from the checkpoint
    optimizer = adamw(resumed, fused=True)
    done = unpacked(state, resumed, optimizer)
    assert done + train(resumed, optimizer, 3, 6) == history
    assert all(map(torch.equal, whole.parameters(), resumed.parameters()))


def test_only_trained_parameters_are_stored():
    """Catches a checkpoint under LoRA that carries the frozen base with it."""
    model = add_lora(tiny_llama(), r=4)
    state = packed(model, adamw(model))
    assert state["parameters"] and all("lora_" in name for name in state["parameters"])
    assert list(state) == [field.name for field in fields(RunState)]


def test_how_the_optimiser_computes_is_left_to_the_machine(tmp_path):
    """Catches a fused optimiser that a checkpoint brings to a device which has none."""
    model = Small()
    optimizer = adamw(model, fused=True)
    after_updates(model, optimizer)
    state = through_a_file(packed(model, optimizer), tmp_path)
    here = adamw(model, foreach=True)
    unpacked(state, model, here)
    assert here.param_groups[0]["foreach"] and not here.param_groups[0]["fused"]
    assert here.param_groups[0]["lr"] == optimizer.param_groups[0]["lr"]


def test_what_shapes_no_trajectory_may_differ():
    model = Small()
    optimizer = adamw(model)
    state = packed(model, optimizer, history=[{"step": 1}])
    assert unpacked(state, model, optimizer, config=CONFIG | {"steps": 9, "log_every": 0}) == [{"step": 1}]
    assert unpacked(state, model, optimizer, config=CONFIG | {"learning_rate": 1.0}, free=["learning_rate"])


# --- refusals


def other_weights(model):
    model.base.weight[-1, -1] += 1


def other_buffer(model):
    model.scale[0] = 2


def frozen_body(model):
    model.body.requires_grad_(False)


def longer_body(model):
    model.body.register_parameter("extra", nn.Parameter(torch.zeros(1)))


def larger_head(model):
    model.head = nn.Linear(4, 3)


def half_precision(model):
    model.head.bfloat16()


REFUSED_MODELS = {
    "frozen weights": (other_weights, r"other frozen weights.*base\.weight is \w+ in the checkpoint and .*\(1 such\)"),
    "buffer": (other_buffer, r"other frozen weights.*scale is .*\(1 such\)"),
    "missing": (frozen_body, r"trained parameters.*body\.weight is only in the checkpoint \(2 such\)"),
    "unexpected": (longer_body, r"trained parameters.*body\.extra is only in the model \(1 such\)"),
    "shape": (larger_head, r"head\.weight is \(2, 4\) float32 in the checkpoint and \(3, 4\) float32 in .*\(2 such\)"),
    "dtype": (half_precision, r"head\.weight is \(2, 4\) float32 in the checkpoint and \(2, 4\) bfloat16"),
}


def assert_refused(state, model, optimizer, words, **changed):
    """With a sentence that names the file and says what to do, and with nothing changed."""
    weights = copy.deepcopy(model.state_dict())
    moments = copy.deepcopy(optimizer.state_dict())
    with pytest.raises(ValueError, match=words) as refused:
        unpacked(state, model, optimizer, **changed)
    assert "run.pt" in str(refused.value) and "another path" in str(refused.value)
    assert all(map(torch.equal, weights.values(), model.state_dict().values()))
    assert str(moments) == str(optimizer.state_dict())


@pytest.fixture
def state(tmp_path):
    model = Small()
    return through_a_file(packed(*after_updates(model, adamw(model)), history=[{"step": 1}]), tmp_path)


@pytest.mark.parametrize("kind", REFUSED_MODELS)
@torch.no_grad()
def test_another_model_is_refused(kind, state):
    """Catches a KeyError or a shape in a traceback, half the weights loaded, and a run that goes on from a base that it
    was not made on, which nothing else would show."""
    change, words = REFUSED_MODELS[kind]
    model = Small()
    change(model)
    assert_refused(state, model, adamw(model), words)


def test_a_model_of_another_class_is_refused(state):
    class Other(Small):
        pass

    model = Other()
    assert_refused(state, model, adamw(model), "is of a Small, and this model is a Other")


@pytest.mark.parametrize(
    "config, words",
    [
        (CONFIG | {"learning_rate": 0.1}, r"made with learning_rate = 0\.01, now it is 0\.1"),
        (CONFIG | {"reward_weights": None}, r"made with reward_weights = \(1\.0, 2\.0\), now it is None"),
        (CONFIG | {"new_setting": 1}, "another version of the course: only this run has a setting new_setting"),
        ({k: v for k, v in CONFIG.items() if k != "epsilon_high"}, "only the checkpoint has a setting epsilon_high"),
    ],
)
def test_another_configuration_is_refused(config, words, state):
    model = Small()
    assert_refused(state, model, adamw(model), words, config=config)


def test_every_setting_is_compared_but_how_long_how_loud_and_how_safe():
    """Catches a setting, the seed among them, with which a run goes on as another one."""
    model = Small()
    optimizer = adamw(model)
    settings = asdict(GRPOConfig())
    state = packed(model, optimizer, config=settings)
    for name in settings:
        other = settings | {name: "another"}
        if name in ("steps", "log_every", "checkpoint_every"):
            assert unpacked(state, model, optimizer, config=other) == []
        else:
            with pytest.raises(ValueError, match=f"was made with {name} = "):
                unpacked(state, model, optimizer, config=other)


@pytest.mark.parametrize(
    "rows, words",
    [
        (ROWS[:1], "made on 2 rows, and this training set has 1"),
        (ROWS[::-1], "other rows: as many"),
        ([ROWS[0], ROWS[1] | {"answer": "c"}], "other rows: as many"),
        ([], "has 0"),
    ],
)
def test_other_rows_are_refused(rows, words, state):
    """Catches a run that goes on with another training set: `rows_of_step` would take other prompts without a word."""
    model = Small()
    assert_refused(state, model, adamw(model), words, rows=rows)


def test_another_algorithm_is_refused(state):
    model = Small()
    assert_refused(state, model, adamw(model), "made by GRPO, and this run trains with PPO", algorithm="PPO")


def test_another_optimiser_is_refused(state):
    """Catches moments that land on other parameters of the same shape."""
    model = Small()
    assert_refused(state, model, torch.optim.SGD(model.parameters(), 0.1), "optimiser AdamW, now it is SGD")
    trained = [p for p in model.parameters() if p.requires_grad]
    assert_refused(state, model, torch.optim.AdamW(trained[::-1]), "other groups of parameters")
    assert_refused(state, model, torch.optim.AdamW([{"params": trained[:2]}, {"params": trained[2:]}]), "other groups")


FOREIGN = [{}, {"model": {}, "optimizer": {}, "config": {}, "history": []}, {"0.weight": torch.ones(2)}]


@pytest.mark.parametrize("foreign", FOREIGN, ids=["empty", "earlier version", "value head"])
def test_a_file_that_holds_no_run_is_refused(foreign):
    """Catches a bare KeyError or TypeError."""
    model = Small()
    assert_refused(foreign, model, adamw(model), "holds no run .* is missing or is no")


@pytest.mark.parametrize("name", [field.name for field in fields(RunState)])
def test_a_run_that_lacks_a_field_is_refused(name, state):
    model = Small()
    assert_refused({k: v for k, v in state.items() if k != name}, model, adamw(model), f"`{name}` is missing")
    assert_refused(state | {name: None}, model, adamw(model), f"`{name}` is missing or is no")


def test_a_record_of_another_form_is_refused(state):
    model = Small()
    assert_refused(state | {"version": 99}, model, adamw(model), "a run in form 99")
