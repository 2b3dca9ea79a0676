"""Keep a tuned policy: weights or adapters, tokenizer and a model card, in one folder that is whole or not there.

    save_policy(model, tokenizer, "build/my-dots", task="dots", measured={"fine-tuned": after.mean})
    model, tokenizer = load_policy("build/my-dots")

The card, README.md, begins with the header that the Hugging Face hub reads, so that the folder can be uploaded as it is
(`hf upload`). `policy.json` says the same to programs, and marks the folder as one that may be overwritten.
"""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.engine.files import refuse_unwritable
from shared.engine.named import NAMED, name_of
from shared.engine.positions import vocabulary_of
from shared.models import Origin, without_bars

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RECORD = "policy.json"


def save_policy(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    folder: str | os.PathLike,
    *,
    task: str,
    measured: Mapping[str, float] | None = None,
    settings: "DataclassInstance | Mapping | None" = None,
    license: str | None = None,
    weights: dict[str, Tensor] | None = None,
) -> Path:
    """Save a tuned policy in a folder that `load_policy` loads again, and return the folder.

    A policy that was saved in the folder before is replaced, and that is said.
    A model with LoRA adapters is saved as the adapters alone, with the name and the revision of what they belong to.

    Args:
        task: what it was tuned on, one or a few words.
        measured: numbers for the card, for instance what `shared.evaluate.compare` returns.
        settings: how it was trained: a config such as `GRPOConfig`, or a dict.
        license: a name that the hub knows, such as "apache-2.0"; default MIT for the embedded model, else that of
            the model it was tuned from.
        weights: the model's whole state by name, where the model itself holds a part (FSDP, DeepSpeed).

    Raises:
        ValueError: the folder holds something that `save_policy` did not write; nothing is changed then.
    """
    folder = Path(folder).expanduser().absolute()
    refuse_to_overwrite(folder)
    record = {
        "task": task,
        "base": asdict(base_of(model)),
        "adapters": _has_adapters(model),
        "license": license,
        "measured": dict(measured or {}),
        "settings": _as_dict(settings),
    }
    if folder.exists() and any(folder.iterdir()):
        print(f"The policy that was saved in {folder} is replaced.")
    # Process numbers keep two that save at once apart.
    beside = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    refuse_unwritable(folder)
    beside.mkdir()
    try:
        with without_bars():
            _write(beside, model, tokenizer, record, folder.name, weights)
        _put_in_place(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return folder


def base_of(model: PreTrainedModel) -> Origin:
    """The model that this one was tuned from, as `load_policy` finds it in any copy of this repository."""
    return getattr(model, "loaded_from", None) or Origin(name_of(model.config._name_or_path))


def _has_adapters(model: PreTrainedModel) -> bool:
    return hasattr(model, "peft_config")


def _as_dict(settings: "DataclassInstance | Mapping | None") -> dict:
    if settings is None:
        return {}
    return dict(settings) if isinstance(settings, Mapping) else asdict(settings)


def refuse_to_overwrite(folder: Path) -> None:
    """ValueError unless there is nothing in the folder, or nothing but what `save_policy` once wrote.

    A long run asks before it begins.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ValueError(f"{str(folder)!r} is a file; give a folder for the policy.")
    present = {path.name for path in folder.iterdir()}
    if not present:
        return
    if RECORD not in present:
        raise ValueError(f"The folder {str(folder)!r} holds something else than a saved policy; give another one.")
    strange = present - set(json.loads((folder / RECORD).read_text(encoding="utf-8"))["files"])
    if strange:
        raise ValueError(
            f"The folder {str(folder)!r} holds {sorted(strange)[0]!r} beside a saved policy, and would be replaced as a "
            f"whole; move that file away or give another folder."
        )


def _write(
    folder: Path,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    record: dict,
    name: str,
    weights: dict[str, Tensor] | None,
) -> None:
    if record["adapters"]:
        # The embeddings are not adapted: they need to be saved where tokens were added to them, and only there.
        tokens = vocabulary_of(model)
        grown = tokens != getattr(model, "tokens_when_loaded", tokens)
        model.save_pretrained(folder, state_dict=weights, save_embedding_layers=grown)
        _name_the_base(folder / "adapter_config.json", record["base"])
    else:
        model.save_pretrained(folder, state_dict=weights)
    tokenizer.save_pretrained(folder)
    card = folder / "README.md"
    card.write_text(model_card(record, name), encoding="utf-8")
    # safetensors makes its file for the owner alone. The card is a file as the umask has it.
    for path in folder.rglob("*"):
        if path.is_file():
            shutil.copymode(card, path)
    files = sorted([*(path.name for path in folder.iterdir()), RECORD])
    # What JSON does not know, such as a type of numbers or a path among the settings, is kept as text.
    text = json.dumps(record | {"files": files}, indent=2, default=str)
    (folder / RECORD).write_text(text + "\n", encoding="utf-8")


def _name_the_base(config: Path, base: dict) -> None:
    settings = json.loads(config.read_text(encoding="utf-8"))
    settings |= {"base_model_name_or_path": base["name"], "revision": base["revision"]}
    config.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def _put_in_place(beside: Path, folder: Path) -> None:
    """Rename the whole folder to its name; an older policy of that name goes only once the new one stands there."""
    old = beside.with_suffix(".old")
    if folder.exists():
        folder.rename(old)
    try:
        beside.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def model_card(record: dict, name: str) -> str:
    """README.md of a saved policy: the header that the hub reads, what it is, what was measured, how to load it."""
    base = Origin(**record["base"])
    # Whoever reads the card has no use for a folder's place on this machine.
    base_name = Path(base.name).name if Path(base.name).is_absolute() else base.name
    revision = f" at revision `{base.revision}`" if base.revision else ""
    kind = "LoRA adapters for" if record["adapters"] else "Tuned from"
    parts = [
        f"---\n{yaml.safe_dump(_header(record, base), sort_keys=False)}---",
        f"# {name}",
        f"{kind} `{base_name}`{revision}, trained by reinforcement learning on the task: {record['task']}. "
        f"An exercise of the Tiny GRPO course; do not use it for anything else.",
        _table("Measured", record["measured"]),
        _table("Settings", record["settings"]),
        f'## Loading\n\n```python\nfrom shared.models import load_policy\n\nmodel, tokenizer = load_policy("{name}")\n```',
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _header(record: dict, base: Origin) -> dict:
    """The model card's metadata in the hub's terms (huggingface.co/docs/hub/model-cards)."""
    known = NAMED.get(base.name)
    on_hub = known.original if known else "" if Path(base.name).is_absolute() else base.name
    header = _license(record["license"] or (known.license if known else None), on_hub)
    header["library_name"] = "peft" if record["adapters"] else "transformers"
    header["pipeline_tag"] = "text-generation"
    if on_hub:
        header["base_model"] = on_hub
        header["base_model_relation"] = "adapter" if record["adapters"] else "finetune"
    header["tags"] = ["reinforcement-learning", "tiny-grpo", *(["lora"] if record["adapters"] else [])]
    return header


def _license(name: str | None, on_hub: str) -> dict:
    if name:
        return {"license": name}
    # "other" with a name is how the hub writes down a licence that it cannot name itself.
    header = {"license": "other", "license_name": "that-of-the-base-model"}
    if on_hub:
        header["license_link"] = f"https://huggingface.co/{on_hub}"
    return header


def _table(title: str, values: Mapping[str, object]) -> str:
    """A Markdown table of names and values under a heading; "" when there are none."""
    if not values:
        return ""
    rows = [f"| {name} | {_shown(value)} |" for name, value in values.items()]
    return "\n".join([f"## {title}", "", "| | |", "|---|---|", *rows])


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("|", "\\|").replace("\n", " ")
