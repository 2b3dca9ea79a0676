"""Load a policy and its tokenizer.

The model is chosen by one setting: the argument `name`, else the environment variable COURSE_MODEL, else the
small model that the repository carries. Every notebook begins with `load_policy`. What a policy became is kept by
`shared.saving.save_policy`, whose folders `load_policy` takes as well.
"""

import copy
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from logging import ERROR, getLogger

import torch
from huggingface_hub import constants
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import logging

from shared.engine import capacity, four_bits, gguf, hub, named
from shared.engine.memory import keep_freed_memory
from shared.engine.positions import vocabulary_of
from shared.engine.threads import choose_threads

COURSE_MODEL = named.NAMED[named.EMBEDDED].folder
# bitsandbytes, which peft imports, says in every run that one of its kernels for the CPU is missing. None of them is used:
# see `shared.engine.four_bits`.
getLogger("bitsandbytes.backends.cpu.ops").setLevel(ERROR)
# While these parts of a plain LoRA adapter are 0, it adds nothing.
ZERO_PARTS = ("lora_B", "lora_embedding_B")
PLAIN_PARTS = ("lora_A", "lora_embedding_A", *ZERO_PARTS)
BEGAN_AT_ZERO = "_adapters_began_at_zero"  # what a model remembers of the adapters that it was given
LORA_DEFAULTS: dict = dict(r=16, lora_alpha=32, lora_dropout=0.0, target_modules="all-linear", task_type="CAUSAL_LM")


@dataclass(frozen=True)
class Origin:
    """The origin of a model: its name in the course, else a folder or a hub name, and on the hub the commit."""

    name: str
    revision: str | None = None


def best_device() -> torch.device:
    """The device that COURSE_DEVICE names ("cpu", "cuda", "cuda:1", "mps"), else a GPU with CUDA, else the CPU.

    Apple's GPU ("mps") is used only when it is asked for, here or by an argument: we have none to test on.

    Raises ValueError for a device that PyTorch does not know or this machine does not have.
    """
    asked = os.environ.get("COURSE_DEVICE")
    if asked:
        return _checked_device(asked)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _checked_device(asked: torch.device | str) -> torch.device:
    """The device of this name. ValueError when there is none."""
    try:
        device = torch.device(asked)
    except RuntimeError as error:
        raise ValueError(f"There is no device {asked!r}: choose cpu, cuda, cuda:1 (the second GPU) or mps.") from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        seen = torch.cuda.device_count()
        raise ValueError(f"The device {str(device)!r} was asked for, and PyTorch sees {seen} with CUDA: use cpu.")
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise ValueError("The device 'mps' was asked for, and this machine has no Apple GPU: use cpu.")
    return device


def _dtype_of(name: torch.dtype | str) -> torch.dtype:
    """The type of numbers of this name. ValueError when there is none, or its numbers are whole."""
    dtype = getattr(torch, name, None) if isinstance(name, str) else name
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise ValueError(f"There is no dtype {name!r} of weights: choose float32, bfloat16 or float16.")
    return dtype


def model_name(name: str | os.PathLike | None = None) -> str:
    """The model in use: `name`, else the environment variable COURSE_MODEL, else the embedded model's folder."""
    return str(name or os.environ.get("COURSE_MODEL") or COURSE_MODEL)


def real_model() -> str:
    """The model of a chapter that needs a real one: COURSE_MODEL where it is set, else the one that a command fetches."""
    return os.environ.get("COURSE_MODEL") or next(iter(named.fetched_models()))


def load_policy(
    name: str | os.PathLike | None = None,
    *,
    revision: str | None = None,
    device: torch.device | str | None = None,
    dtype: torch.dtype | str = torch.float32,
    lora: bool | dict = False,
    load_in_4bit: bool = False,
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A causal language model ready to be trained, and its tokenizer with left padding.

    Args:
        name: one of the course's names ("smollm2"), a folder or a hub name, or "name@revision"; see `model_name`. A
            folder with LoRA adapters is loaded as the model they belong to, with them on it.
        revision: a branch, tag or commit of the hub; default the newest.
        device: default `best_device()`.
        dtype: of the weights, or its name; AdamW with small learning rates wants float32.
        lora: True for LoRA adapters with `LORA_DEFAULTS`, or a dict of `peft.LoraConfig` arguments over them.
        load_in_4bit: NF4 weights (QLoRA) through bitsandbytes; only makes sense with adapters.

    Returns:
        The model, whose `loaded_from` says what it came from (`Origin`), and the tokenizer.

    Raises:
        ValueError: the model cannot be had or does not fit, the device or the dtype does not exist, or 4-bit without
            adapters.
    """
    source = hub.find(*name_and_revision(name, revision))
    if load_in_4bit and not (lora or source.adapters):
        raise ValueError("4-bit weights cannot be trained: give lora=True with load_in_4bit=True.")
    if source.adapters and isinstance(lora, dict):
        raise ValueError(f"{source.name!r} has adapters already, with their own settings: give lora=True or nothing.")
    place = Placement(best_device() if device is None else _checked_device(device), _dtype_of(dtype), load_in_4bit)
    tokenizer = _load_tokenizer(source)
    if source.adapters:
        return _load_adapters(source, place).eval(), tokenizer
    model = _load_model(source, place, all_trained=not lora)
    if lora:
        model = add_lora(model, **(lora if isinstance(lora, dict) else {}))
    return model.eval(), tokenizer


def name_and_revision(name: str | os.PathLike | None, revision: str | None = None) -> tuple[str, str | None]:
    """The model in use and its revision, from "name@revision" or the argument. ValueError when the name and the argument name two revisions."""
    name, written = hub.split_revision(model_name(name))
    if revision and written and revision != written:
        raise ValueError(f"Two revisions of {name!r} were asked for, {written!r} and {revision!r}; give one.")
    return name, revision or written


@dataclass(frozen=True)
class Placement:
    """The place of the weights, and their type of numbers."""

    device: torch.device
    dtype: torch.dtype
    four_bit: bool


def load_tokenizer(name: str | os.PathLike | None = None) -> PreTrainedTokenizerBase:
    """The tokenizer alone, as `load_policy` loads it with the model of this name."""
    return _load_tokenizer(hub.find(*name_and_revision(name)))


def _load_tokenizer(source: hub.Source) -> PreTrainedTokenizerBase:
    hub.refuse_without_tokenizer(source)
    tokenizer = load(AutoTokenizer, source, padding_side="left")
    if source.folder and source.gguf and not (source.folder / "tokenizer.json").is_file():
        gguf.split_as_trained(tokenizer, source.folder / source.gguf)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token  # harmless here: masks come from lengths, not from ids
    return tokenizer


def _load_model(source: hub.Source, place: Placement, all_trained: bool) -> PreTrainedModel:
    """The model without adapters, on its device, once there is known to be room for it."""
    capacity.check_disk(source.download, constants.HF_HUB_CACHE)
    if source.parameters is not None:
        capacity.check_memory(
            source.parameters, place.device, place.dtype, four_bit=place.four_bit, all_trained=all_trained
        )
    if place.four_bit and source.gguf:
        raise hub.NoModel(
            f"{source.gguf} is packed in its own way and is not packed again: load it without load_in_4bit, or keep it as "
            f"floats first: python -m shared.run.convert {source.location!r} FOLDER."
        )
    if place.four_bit:
        # 4-bit weights cannot be moved afterwards: they are made where they stay.
        quantized = {"quantization_config": nf4(place.device), "device_map": {"": place.device}}
        model = load(AutoModelForCausalLM, source, dtype=place.dtype, **quantized)
        if place.device.type == "cpu":
            four_bits.mend(model)
    else:
        model = load(AutoModelForCausalLM, source, dtype=place.dtype).to(place.device)
        model = gguf.as_floats(model) if source.gguf else model
    # torch declares no attributes of a module but parameters and modules.
    model.loaded_from = Origin(source.name, source.revision)  # ty: ignore[invalid-assignment]
    model.tokens_when_loaded = vocabulary_of(model)  # ty: ignore[invalid-assignment]
    if place.device.type == "cpu":
        choose_threads(model.num_parameters())
        keep_freed_memory()  # sampling and loops that are written out gain by it, as `train` does
    return model


def _load_adapters(source: hub.Source, place: Placement) -> PreTrainedModel:
    """The model that the adapters belong to, with them on it."""
    from peft import PeftConfig, PeftModel
    from peft.utils import load_peft_weights

    settings = load(PeftConfig, source)
    base = hub.find(settings.base_model_name_or_path, settings.revision)
    model = _load_model(base, place, all_trained=False)
    _make_room_for_tokens(model, load_peft_weights(source.location, device="cpu", **source.options))
    with without_checkpointing_warnings():
        adapted = PeftModel.from_pretrained(model, source.location, is_trainable=True, **source.options)
    return adapted  # ty: ignore[invalid-explicit-return]  (it hands on to the model below whatever it is asked)


def _make_room_for_tokens(model: PreTrainedModel, adapters: Mapping[str, torch.Tensor]) -> None:
    """Embed as many tokens as the embedding that lies with the adapters, where one does: some were added after loading."""
    name = next(name for name, module in model.named_modules() if module is model.get_input_embeddings())
    saved = adapters.get(f"base_model.model.{name}.weight")
    if saved is not None:
        model.resize_token_embeddings(len(saved), mean_resizing=False)


def load(kind: type, source: hub.Source, **options):
    """`kind.from_pretrained` of a model that `hub.find` found. Downloads show their bar.

    Raises NoModel, with a sentence, whatever goes wrong.
    """
    try:
        with without_bars() if source.download == 0 else nullcontext():
            return kind.from_pretrained(source.location, **source.options, **options)  # ty: ignore[missing-attribute]
    except Exception as error:
        raise hub.NoModel(hub.why(error, source.name, source.revision)) from error


@contextmanager
def without_bars() -> Iterator[None]:
    """No bar of transformers inside the block: for files at hand it would only stay in the notebook's output."""
    if not logging.is_progress_bar_enabled():
        yield
        return
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.enable_progress_bar()


@contextmanager
def without_checkpointing_warnings() -> Iterator[None]:
    """No warning inside the block that peft, TRL and transformers have about each other's names of gradient checkpointing."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*gradient_checkpointing", category=FutureWarning)
        yield


def nf4(device: torch.device):
    """4-bit settings; matrices are multiplied in the fastest type that the device has."""
    from transformers import BitsAndBytesConfig

    compute = torch.float32
    if device.type == "cuda":
        compute = torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=compute)


def add_lora(model: PreTrainedModel, **options) -> PreTrainedModel:
    """The model with LoRA adapters (Hu et al. 2021, arXiv:2106.09685); only they are trained."""
    from peft import get_peft_model

    origin = getattr(model, "loaded_from", Origin(""))
    config = lora_config(**({"revision": origin.revision} | options))
    with without_checkpointing_warnings():
        model = get_peft_model(model, config)
    adapters_began_at_zero(model)  # it remembers
    return model


def adapters_are_zero(model: torch.nn.Module) -> bool:
    """True if the model is the same with its adapters switched off, and nothing else of it is trained."""
    parts = [(name.split("."), p) for name, p in model.named_parameters()]
    only_plain = all(any(part in PLAIN_PARTS for part in name) for name, p in parts if p.requires_grad)
    return only_plain and not any(p.any() for name, p in parts if any(part in ZERO_PARTS for part in name))


def adapters_began_at_zero(model: torch.nn.Module) -> bool:
    """True if the adapters are 0, or were when this was asked before: the model remembers it while it is trained."""
    if adapters_are_zero(model):
        setattr(model, BEGAN_AT_ZERO, True)
    return getattr(model, BEGAN_AT_ZERO, False)


def lora_config(**options):
    """`peft.LoraConfig` with `LORA_DEFAULTS`, and these over them."""
    from peft import LoraConfig

    return LoraConfig(**(LORA_DEFAULTS | options))


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


def require_model(model: object, what: str = "model") -> None:
    """ValueError for a name in a model's place, or a tokenizer."""
    if not isinstance(model, torch.nn.Module):
        raise ValueError(
            f"The {what} is of the type {type(model).__name__}; give the first of what load_policy returns."
        )


def eos_token_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Every id that ends a completion: the tokenizer's and those of the model's generation settings.

    Raises ValueError for what is no tokenizer.
    """
    if not hasattr(tokenizer, "eos_token_id"):
        raise ValueError(
            f"The tokenizer is of the type {type(tokenizer).__name__}; give the second of what load_policy returns."
        )
    configured = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    several = configured if isinstance(configured, (list, tuple)) else [configured]
    return sorted({token for token in [*several, tokenizer.eos_token_id] if token is not None})


def parameter_summary(model: torch.nn.Module) -> str:
    """One line for a notebook: the class, its parameter count, and how many of them are trained."""
    total = sum(map(_weights_in, model.parameters()))
    trained = sum(_weights_in(p) for p in model.parameters() if p.requires_grad)
    return f"{type(model).__name__}: {total:,} parameters, {trained:,} of them trained"


def _weights_in(parameter: torch.nn.Parameter) -> int:
    """The number of weights of a parameter; two of those in 4 bits are packed into each of its bytes."""
    packed = getattr(parameter, "quant_state", None)
    return parameter.numel() if packed is None else packed.shape.numel()
