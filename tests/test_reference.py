"""The reference of a run is the policy before its first update, whatever its adapters began as."""

import ast
from pathlib import Path

import pytest
import torch

from shared import distill, dpo, grpo, ppo, rloo, training
from shared.distill import DistillConfig
from shared.dpo import DPOConfig
from shared.engine import checkpoint
from shared.grpo import GRPO, GRPOConfig
from shared.guard import UntrustedModel
from shared.models import ZERO_PARTS, add_lora, frozen_copy, load_policy
from shared.ppo import ActorCritic, PPOConfig
from shared.reference import (
    OWN_ADAPTERS,
    StartingPolicy,
    reference_model,
    refuse_the_policy_as_reference,
    starting_policy,
)
from shared.rloo import RLOOConfig
from shared.saving import save_policy
from tests.algorithms import CHOICES, TEXTS, longer_is_better
from tests.conftest import few_of
from tests.fakes import letter_tokenizer, tiny_llama
from tests.families import RIGHT, build

SHARED = Path(__file__).parents[1] / "shared"
IDS = torch.tensor([[2, 3, 4, 5]])
SIZE = {"steps": 3, "prompts_per_step": 4, "log_every": 0, "learning_rate": 2e-2, "warmup_steps": 0}
SAMPLED = SIZE | {"num_generations": 4, "max_new_tokens": 4, "beta": 0.05}


def with_adapters(kind: str, model=None):
    """A model with adapters that began at 0, that were trained before, or that a scheme took out of its matrices."""
    torch.manual_seed(0)
    model = add_lora(
        model or tiny_llama().eval(), r=2, **({"init_lora_weights": kind} if kind in ("pissa", "olora") else {})
    )
    if kind == "trained before":
        move(model)
    return model


def move(model, by: float = 0.2):
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(by * torch.randn(parameter.shape, generator=generator))


def run_grpo(model, tokenizer, **options):
    return grpo.train(model, tokenizer, TEXTS, longer_is_better, GRPOConfig(**SAMPLED), progress=False, **options)


def run_rloo(model, tokenizer, **options):
    return rloo.train(model, tokenizer, TEXTS, longer_is_better, RLOOConfig(**SAMPLED), progress=False, **options)


def run_ppo(model, tokenizer, reference=None, **options):
    policy = ActorCritic(model)
    config = PPOConfig(**SAMPLED)
    return ppo.train(policy, reference, tokenizer, TEXTS, longer_is_better, config, progress=False, **options)


def run_dpo(model, tokenizer, **options):
    return dpo.train(model, tokenizer, CHOICES, DPOConfig(**SIZE), progress=False, **options)


def run_distill(model, tokenizer, **options):
    rows = [row | {"teacher_prompt": row["prompt"]} for row in TEXTS]
    config = DistillConfig(**SAMPLED | {"beta": 0.0})
    return distill.train(model, tokenizer, rows, longer_is_better, config, progress=False, **options)


ALGORITHMS = {"GRPO": run_grpo, "RLOO": run_rloo, "PPO": run_ppo, "DPO": run_dpo}


@pytest.mark.parametrize("began", ["at 0", "trained before", "pissa", "olora"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_run_begins_at_its_reference_and_leaves_it(name, began):
    """Catches a KL to the model below adapters that were trained before, and a reference that learns along."""
    model = with_adapters(began)
    history = ALGORITHMS[name](model, letter_tokenizer())
    distance = [record["margin" if name == "DPO" else "kl"] for record in history]
    assert distance[0] == pytest.approx(0, abs=1e-6) and distance[-1] > 1e-3
    if name == "DPO":
        assert history[0]["loss"] == pytest.approx(0.6931, abs=1e-4)


@pytest.mark.parametrize("name", few_of(RIGHT, ["GPT-2", "Qwen2", "Mixtral", "Falcon-H1"]))
@pytest.mark.parametrize(("dtype", "at_0"), [(torch.float32, True), (torch.float32, False), (torch.bfloat16, False)])
def test_in_every_family_the_reference_is_the_policy_before_its_first_update(name, dtype, at_0):
    """Catches adapters that a family keeps elsewhere than in its parameters, and weights that do not come back."""
    model = build(RIGHT[name], lora=True).to(dtype)
    for part, parameter in model.named_parameters():
        if at_0 and any(zero in part for zero in ZERO_PARTS):
            torch.nn.init.zeros_(parameter)
    start = starting_policy(model)
    assert bool(start.adapters) != at_0
    ids = torch.tensor([[2, 3, 4, 5], [6, 7, 8, 9]])
    before = model(ids).logits.log_softmax(-1)
    limit = 1e-5 if dtype == torch.float32 else 1e-2
    with reference_model(model, start) as frozen:
        assert (frozen(ids).logits.log_softmax(-1) - before).abs().max() <= limit
    move(model)
    moved = model(ids).logits.log_softmax(-1)
    with reference_model(model, start) as frozen:
        assert (frozen(ids).logits.log_softmax(-1) - before).abs().max() <= limit
    assert torch.equal(model(ids).logits.log_softmax(-1), moved) and (moved - before).abs().max() > 10 * limit


def test_another_adapter_that_is_on_is_part_of_the_reference():
    """Catches new adapters at 0 over frozen ones that were trained: switched off, both are."""
    model = with_adapters("trained before")
    model.add_adapter("second", model.peft_config["default"])
    model.base_model.set_adapter(["default", "second"])
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(".second." in name)
    both = model(IDS).logits
    with reference_model(model, starting_policy(model)) as frozen:
        torch.testing.assert_close(frozen(IDS).logits, both)


def test_a_waiting_gradient_does_not_see_the_reference():
    """Catches a gradient of the adapters as they were, where the teacher of a distillation is asked in between."""
    model = with_adapters("trained before")
    start = starting_policy(model)
    move(model)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    expected = torch.autograd.grad(model(IDS).logits.square().mean(), trained)
    loss = model(IDS).logits.square().mean()
    with reference_model(model, start) as frozen:
        assert not frozen(IDS).logits.requires_grad
    for ours, theirs in zip(torch.autograd.grad(loss, trained), expected, strict=True):
        assert torch.equal(ours, theirs)


def test_adapters_that_began_otherwise_have_no_reference_of_themselves():
    """Catches a KL from the model below adapters of which nobody knows what they began as."""
    model = with_adapters("trained before")
    del model._adapters_began_at_zero
    with pytest.raises(ValueError, match="starting_policy"), reference_model(model, None):
        pass
    with pytest.raises(ValueError, match="frozen_copy"), reference_model(tiny_llama(), None):
        pass
    began_at_zero = with_adapters("at 0")
    move(began_at_zero)
    with reference_model(began_at_zero, None) as frozen:
        torch.testing.assert_close(frozen(IDS).logits, tiny_llama().eval()(IDS).logits)


def test_a_second_run_says_which_reference_it_takes_and_a_first_one_can_be_handed_on(capsys):
    """Catches a second run whose KL is measured from elsewhere without a word."""
    model = with_adapters("at 0")
    first = starting_policy(model)
    run_grpo(model, letter_tokenizer(), reference=first)
    assert capsys.readouterr().out == ""
    assert run_grpo(frozen_adapters(model), letter_tokenizer())[0]["kl"] == pytest.approx(0, abs=1e-6)
    assert " ".join(capsys.readouterr().out.split()).count(OWN_ADAPTERS) == 1
    assert run_grpo(model, letter_tokenizer(), reference=first)[0]["kl"] > 1e-3


def frozen_adapters(model):
    """A copy of a model whose adapters are trained."""
    copied = frozen_copy(model)
    for name, parameter in copied.named_parameters():
        parameter.requires_grad_("lora_" in name)
    return copied


@pytest.mark.parametrize("began", ["at 0", "trained before"])
def test_a_run_that_goes_on_has_the_reference_that_it_began_with(began, tmp_path):
    """Catches a model that a run left half-trained taken for the reference of the same run when it goes on."""
    path = tmp_path / "run.pt"
    settings = GRPOConfig(**SAMPLED | {"checkpoint_every": 1})

    def train(model, steps):
        calls = []
        stop = lambda: calls.append(1) or len(calls) == steps  # noqa: E731
        return grpo.train(
            model,
            letter_tokenizer(),
            TEXTS,
            longer_is_better,
            settings,
            checkpoint_path=path,
            stop=stop,
            progress=False,
        )

    whole = run_grpo(with_adapters(began), letter_tokenizer())
    model = with_adapters(began)
    train(model, 1)
    assert bool(checkpoint.load(path)["reference"]) == (began == "trained before")
    again = train(model, 3)  # the same model, moved by now
    assert [record["kl"] for record in again] == [record["kl"] for record in whole]


def test_a_checkpoint_from_before_has_its_adapters_switched_off(tmp_path):
    """Catches an old run of trained adapters that goes on with another reference than it began with."""
    path = tmp_path / "run.pt"
    model = with_adapters("trained before")
    algorithm = GRPO(
        model, letter_tokenizer(), longer_is_better, GRPOConfig(**SAMPLED | {"steps": 1, "checkpoint_every": 1})
    )
    training.train(algorithm, TEXTS, algorithm.config, checkpoint_path=path, progress=False)
    state = checkpoint.load(path)
    del state["reference"]
    checkpoint.save(path, state | {"version": 2})
    algorithm.reference = None
    training.train(algorithm, TEXTS, algorithm.config, checkpoint_path=path, progress=False)
    assert algorithm.reference == StartingPolicy({})


def test_a_policy_that_was_saved_goes_on_from_what_it_was(tmp_path):
    """Catches the adapters of a saved policy switched off for its reference: the KL was 0.19 in the first step."""
    base = tmp_path / "base"
    tiny_llama().save_pretrained(base)
    letter_tokenizer().save_pretrained(base)
    model, tokenizer = load_policy(base, device="cpu", lora={"r": 2})
    move(model)
    again, _ = load_policy(save_policy(model, tokenizer, tmp_path / "tuned", task="x"), device="cpu")
    assert run_grpo(again, letter_tokenizer())[0]["kl"] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("name", [*ALGORITHMS, "distillation"])
def test_a_reference_that_is_not_the_policy_is_refused_before_the_first_update(name, monkeypatch):
    """Catches adapters that are taken for 0 and are not, those of a teacher that nobody gave among them."""
    model = with_adapters("trained before")
    monkeypatch.setattr("shared.algorithm.starting_policy", lambda model: StartingPolicy())
    with pytest.raises(UntrustedModel, match="policy and its reference differ"):
        (ALGORITHMS | {"distillation": run_distill})[name](model, letter_tokenizer())


def test_nothing_but_the_reference_switches_adapters():
    """Catches a second place in the library that takes the model below the adapters for the reference."""
    switching = {"disable_adapter", "disable_adapter_layers", "set_adapter", "enable_adapter_layers"}
    found = {
        file.relative_to(SHARED).as_posix()
        for file in SHARED.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in switching
    }
    assert found == {"reference.py"}


def test_a_reference_that_shares_what_is_trained_is_refused_and_no_other():
    """With LoRA the frozen weights may be shared: only what both train makes the KL 0 for ever."""
    model = tiny_llama()
    with pytest.raises(ValueError, match="reference is the policy itself.*frozen_copy"):
        refuse_the_policy_as_reference(model, model)
    refuse_the_policy_as_reference(model, frozen_copy(model))
    refuse_the_policy_as_reference(model, None)
    refuse_the_policy_as_reference(model.requires_grad_(False), model)
    half = tiny_llama(1)
    half.lm_head = tiny_llama(2).lm_head
    other = tiny_llama(3)
    other.lm_head = half.lm_head
    with pytest.raises(ValueError, match="reference is the policy itself"):
        refuse_the_policy_as_reference(other, half)
