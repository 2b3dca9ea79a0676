"""Load a policy, its tokenizer and its frozen reference.

The model is chosen by one setting: the argument `name`, else the environment variable COURSE_MODEL, else the
small model that the repository carries. Every notebook begins with `load_policy`.
"""

import copy
import os
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.modeling_layers import GradientCheckpointingLayer
from transformers.utils import logging

COURSE_MODEL = Path(__file__).resolve().parent.parent / "models" / "course-lm"
LORA_DEFAULTS = dict(r=16, lora_alpha=32, lora_dropout=0.0, target_modules="all-linear", task_type="CAUSAL_LM")


def best_device() -> torch.device:
    """The GPU when there is one (CUDA, then Apple's), else the CPU."""
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def model_name(name: str | os.PathLike | None = None) -> str:
    """The model in use: `name`, else the environment variable COURSE_MODEL, else the embedded model's folder."""
    return str(name or os.environ.get("COURSE_MODEL") or COURSE_MODEL)


def load_policy(
    name: str | os.PathLike | None = None,
    *,
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
    lora: bool | dict = False,
    load_in_4bit: bool = False,
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A causal language model ready to be trained, and its tokenizer with left padding.

    Args:
        name: a folder or a hub name; see `model_name`.
        device: default `best_device()`.
        dtype: of the weights; AdamW with small learning rates wants float32.
        lora: True for LoRA adapters with `LORA_DEFAULTS`, or a dict of `peft.LoraConfig` arguments over them.
        load_in_4bit: NF4 weights (QLoRA) through bitsandbytes; only makes sense with `lora`.

    Raises:
        ValueError: the model cannot be found, or 4-bit without LoRA.
    """
    if load_in_4bit and not lora:
        raise ValueError("4-bit weights cannot be trained: give lora=True with load_in_4bit=True.")
    name, device = model_name(name), torch.device(device or best_device())
    try:
        with _no_bar_for_local_files(name):
            tokenizer = AutoTokenizer.from_pretrained(name, padding_side="left")
            quantization = {"quantization_config": _nf4(device)} if load_in_4bit else {}
            model = AutoModelForCausalLM.from_pretrained(name, dtype=dtype, **quantization)
    except OSError as error:
        raise ValueError(
            f"No model could be loaded from {name!r}. Give a folder that holds config.json and the weights, or the "
            f"name of a model on the hub (which needs the network), as COURSE_MODEL or as the first argument. "
            f"The loader said: {str(error).splitlines()[0]}"
        ) from error
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token  # harmless here: masks come from lengths, not from ids
    if not load_in_4bit:
        model = model.to(device)
    elif device.type == "cpu":
        for layer in model.modules():
            if hasattr(layer, "support_avx512bf16_for_cpu"):
                layer.support_avx512bf16_for_cpu = False  # that kernel is for inference: it has no backward pass
    if lora:
        model = add_lora(model, **(lora if isinstance(lora, dict) else {}))
    return model.eval(), tokenizer


@contextmanager
def _no_bar_for_local_files(name: str) -> Iterator[None]:
    """A bar for a folder that loads in a moment would only stay in the notebook's output; downloads keep theirs."""
    if not Path(name).is_dir() or not logging.is_progress_bar_enabled():
        yield
        return
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.enable_progress_bar()


def _nf4(device: torch.device):
    """4-bit settings; matrices are multiplied in the fastest type that the device has."""
    from transformers import BitsAndBytesConfig

    compute = torch.float32
    if device.type == "cuda":
        compute = torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=compute)


def add_lora(model: PreTrainedModel, **options) -> PreTrainedModel:
    """The model with LoRA adapters (Hu et al. 2021, arXiv:2106.09685); only they are trained."""
    from peft import LoraConfig, get_peft_model

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing")  # between peft and transformers
        return get_peft_model(model, LoraConfig(**(LORA_DEFAULTS | options)))


def frozen_copy(model: PreTrainedModel) -> PreTrainedModel:
    """A copy that never changes: the reference of the KL penalty."""
    return copy.deepcopy(model).requires_grad_(False).eval()


def train_upper_half(model: PreTrainedModel) -> PreTrainedModel:
    """The model, of which only the upper half of the blocks will be trained: what the lower half knows stays as it is."""
    blocks = model.config.num_hidden_layers
    upper = {str(i) for i in range(blocks // 2, blocks)}
    for name, parameter in model.named_parameters():
        index = re.search(r"\.(?:layers|h)\.(\d+)\.", name)
        parameter.requires_grad_(index is not None and index[1] in upper)
    return model


@contextmanager
def reference_model(model: PreTrainedModel, reference: PreTrainedModel | None) -> Iterator[PreTrainedModel]:
    """`with reference_model(policy, reference) as ref:` gives the model to score the reference with.

    That is `reference` itself or, when it is None and the policy has LoRA adapters, the policy with its adapters
    off while the block runs. `disable_adapter()` outside `with` only makes a context manager and throws it away:
    the adapters stay on and the KL is 0 for ever.

    Raises ValueError when there is neither.
    """
    if reference is None and not hasattr(model, "disable_adapter"):
        raise ValueError("There is no reference: give frozen_copy(model) made before training, or train with LoRA.")
    with nullcontext() if reference is not None else model.disable_adapter():
        yield model if reference is None else reference


@contextmanager
def eval_mode(model: torch.nn.Module) -> Iterator[None]:
    """Dropout off inside the block. Sampling and scoring must agree, so both run like this, gradients included."""
    training = [module for module in model.modules() if module.training]
    for module in training:
        module.training = False
    try:
        yield
    finally:
        for module in training:
            module.training = True


def recomputes(model: torch.nn.Module) -> bool:
    """Whether gradient checkpointing is on: blocks keep no activations and compute them again on the way back."""
    return any(getattr(module, "gradient_checkpointing", False) for module in model.modules())


@contextmanager
def scoring_mode(model: torch.nn.Module) -> Iterator[None]:
    """`eval_mode` in which gradient checkpointing still acts, for a pass with gradients.

    transformers' blocks are checkpointed only while they are in training mode. So those blocks, and they alone, are
    told that they are training, and what they compute runs in `eval_mode`. That is so on the way back too, when this
    context has long ended: a block computed again with dropout would give the gradient of another function.
    """
    blocks = [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]
    blocks = [block for block in blocks if block.gradient_checkpointing]
    checkpoints = [block._gradient_checkpointing_func for block in blocks]
    with eval_mode(model):
        try:
            for block, checkpoint in zip(blocks, checkpoints):
                block._gradient_checkpointing_func = partial(_checkpoint_in_eval_mode, block, checkpoint)
                block.training = True
            yield
        finally:
            for block, checkpoint in zip(blocks, checkpoints):
                block._gradient_checkpointing_func = checkpoint
                block.training = False


def _checkpoint_in_eval_mode(block: torch.nn.Module, checkpoint: Callable, forward: Callable, *args):
    def forward_in_eval_mode(*args):
        with eval_mode(block):
            return forward(*args)

    return checkpoint(forward_in_eval_mode, *args)


def eos_token_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Every id that ends a completion: the tokenizer's and those of the model's generation settings."""
    configured = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    several = configured if isinstance(configured, (list, tuple)) else [configured]
    return sorted({token for token in [*several, tokenizer.eos_token_id] if token is not None})


def parameter_summary(model: torch.nn.Module) -> str:
    """One line for a notebook: the class, its parameter count, and how many of them are trained."""
    total = sum(p.numel() for p in model.parameters())
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return f"{type(model).__name__}: {total:,} parameters, {trained:,} of them trained"
