"""LoRA adapters with `peft`: `attach_lora(model, rank, alpha) -> model`, of which only the adapters are trained.

Each case gives the function a tiny random model of the Llama family. What is compared is a sentence on the model that
comes back: its adapters, what is trained, and whether it still says what it said.
"""

import copy
import warnings
from functools import lru_cache

import torch
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM

from shared.exercises.arguments import Kind, Scalar
from shared.exercises.drawing import Draw
from shared.exercises.exercise import Case, Exercise
from shared.exercises.results import NotAResult, Text, named
from shared.exercises.steps import Steps

STEPS = Steps()
ALPHA_DIVIDED = "You divide alpha by the rank. peft does so itself: pass `alpha` as `lora_alpha`."


@STEPS.step
def target_modules():
    """Every linear layer but the output."""
    return "all-linear"


@STEPS.step
def dropout():
    """The share of an adapter's inputs that training leaves out: what is scored is then what sampled."""
    return 0.0


@STEPS.step
def attached(model, rank, alpha, target_modules, dropout):
    from peft import LoraConfig, get_peft_model

    chosen = {"target_modules": target_modules, "lora_dropout": dropout}
    return get_peft_model(model, LoraConfig(r=rank, lora_alpha=alpha, task_type="CAUSAL_LM", **chosen))


@STEPS.slip(
    "target_modules",
    "Not every linear layer has adapters: without `target_modules` peft chooses the queries and values of attention. "
    'Ask for `"all-linear"`.',
)
def queries_and_values():
    return ["q_proj", "v_proj"]


@STEPS.slip("target_modules", "Only the layers of attention have adapters. Those of the MLP are linear too.")
def attention_alone():
    return ["q_proj", "k_proj", "v_proj", "o_proj"]


@STEPS.slip("rank", "The rank is not the argument's: pass `rank` as `r`. Without it peft takes 8.")
def rank_forgotten():
    return 8


@STEPS.slip("alpha", "alpha is not the argument's: pass it as `lora_alpha`. Without it peft takes 8.")
def alpha_forgotten():
    return 8


@STEPS.slip("alpha", ALPHA_DIVIDED)
def alpha_divided(alpha, rank):
    return alpha / rank


@STEPS.slip(
    "dropout",
    "The adapters have dropout: in training mode the policy that is scored is not the one that sampled. Leave it at 0.",
)
def with_dropout():
    return 0.05


@STEPS.slip(
    "attached", "The base model's weights are trained too. Only the adapters should be: do not unfreeze the rest."
)
def all_trained(attached):
    return attached.requires_grad_(True)


@STEPS.slip("attached", "Nothing is trained in the model that you return: the adapters are frozen as well.")
def none_trained(attached):
    return attached.requires_grad_(False)


@STEPS.slip(
    "attached",
    "You return the model without adapters, or the one that was passed in. The adapters are switched off and on by the "
    "model that `get_peft_model` returns.",
)
def inner_model(attached):
    return attached.get_base_model()


@STEPS.slip("alpha", "alpha is always twice the rank in yours. Pass the argument as `lora_alpha`.")
def twice_the_rank(rank):
    return 2 * rank


def adapters_in(model: nn.Module) -> list[nn.Module]:
    """The layers that have adapters."""
    return [module for module in model.modules() if getattr(module, "lora_A", None)]


@torch.no_grad()
def said_by(model: nn.Module) -> torch.Tensor:
    return model(input_ids=torch.tensor([[2, 3, 4, 5]])).logits


def call(function, case: Case) -> str:
    """The adapters, what is trained and what the model says, in a sentence."""
    model = copy.deepcopy(case["model"])
    before = said_by(model)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing")  # between peft and transformers
        result = function(model, case["rank"], case["alpha"])
    if not isinstance(result, nn.Module):
        raise NotAResult(f"it returns {named(result)}; return the model that has the adapters.")
    layers = adapters_in(result)
    ranks = sorted({rank for layer in layers for rank in layer.r.values()})
    scales = sorted({round(scale, 3) for layer in layers for scale in layer.scaling.values()})
    trained = [name for name, parameter in result.named_parameters() if parameter.requires_grad]
    of_adapters = sum("lora_" in name for name in trained)
    leaves_out = any(getattr(drop, "p", 0) > 0 for layer in layers for drop in layer.lora_dropout.values())
    switch = "can" if hasattr(result, "disable_adapter") else "cannot"
    same = "as before" if torch.allclose(said_by(result.eval()), before, atol=1e-5) else "something else than before"
    return (
        f"{len(layers)} layers with adapters of rank {ranks} and scale {scales}, {of_adapters} matrices of adapters "
        f"and {len(trained) - of_adapters} others are trained, the adapters {switch} be switched off, the model says "
        f"{same}{', the adapters have dropout' if leaves_out else ''}"
    )


@lru_cache
def tiny_llama() -> LlamaForCausalLM:
    """A random model of two blocks; nobody changes it, copies are handed out."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        config = LlamaConfig(
            vocab_size=16,
            hidden_size=16,
            intermediate_size=24,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=16,
            attention_bias=True,
        )
        return LlamaForCausalLM(config).eval()


@STEPS.slip("target_modules", "Only the layers of the MLP have adapters. Those of attention are linear too.")
def mlp_alone():
    return ["gate_proj", "up_proj", "down_proj"]


@STEPS.slip("attached", "Rank and alpha are exchanged: `r` is the rank, `lora_alpha` is alpha.")
def rank_and_alpha_exchanged(model, rank, alpha):
    from peft import LoraConfig, get_peft_model

    return get_peft_model(
        model, LoraConfig(r=alpha, lora_alpha=rank, task_type="CAUSAL_LM", target_modules="all-linear")
    )


@STEPS.slip("alpha", "alpha is the rank in yours, so that the scale is 1. Pass the argument as `lora_alpha`.")
def alpha_is_the_rank(rank):
    return rank


@STEPS.slip("alpha", ALPHA_DIVIDED)
def alpha_divided_whole(alpha, rank):
    return alpha // rank


@STEPS.slip(
    "target_modules",
    'The output layer has adapters too: by its class it is a linear layer like the others. `"all-linear"` leaves it out.',
)
def output_layer_too():
    return ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "lm_head"]


def draw(draw: Draw) -> Case:
    return {"model": tiny_llama(), "rank": draw.choice([2, 4, 6]), "alpha": draw.choice([2, 12, 16, 24])}


def boundary() -> list[Case]:
    model = tiny_llama()
    return [{"model": model, "rank": 2, "alpha": 4}, {"model": model, "rank": 16, "alpha": 32}]


EXERCISE = Exercise(
    name="adapters",
    function="attach_lora",
    contract="`f(model, rank, alpha) -> model` with LoRA adapters at every linear layer, which alone are trained.",
    steps=STEPS,
    arguments={
        "model": Kind(),
        "rank": Scalar(usual=16, simple=(2, 16)),
        "alpha": Scalar(usual=32, simple=(4, 32)),
    },
    result=Text(),
    draw=draw,
    boundary=boundary,
    call=call,
    valid=lambda case: case["rank"] >= 1 and case["alpha"] >= 1 and isinstance(case["rank"], int),
    draws=6,
)
