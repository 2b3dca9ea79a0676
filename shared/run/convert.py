"""Converting a GGUF file, or adapters with the model below them, into one model: python -m shared.run.convert SOURCE FOLDER

`checker setup --model NAME` calls it with the GGUF file that it fetched, and the name. Its weights are kept as bfloat16,
half as large as float32. Of SmolLM2's that moves the next token's distribution by 0.0001 nats on average, and the most
likely token in 3 of 1,000 places, which is far below what the 4 bits had changed before. Adapters are added to the
weights of their model, which stay float32: bfloat16 would round away most of what was trained.
"""

import argparse
import shutil
from pathlib import Path

import torch

from shared.engine import gguf
from shared.engine.named import fetched_models
from shared.models import load_policy, without_bars

CARD = """---
license: {license}
library_name: transformers
pipeline_tag: text-generation
base_model: {original}
base_model_relation: quantized
---

# {title}, dequantised from {bits} bits

The original is [{original}](https://huggingface.co/{original}).
Its weights were packed into {bits} bits each, and turned back into floats here: what the packing lost is gone.
They come from the package {package} {version}, in the file `{file}`.

The licence is the original's, {license}. What the model was trained on, what it can do and what it should not be used
for stands on the original's page. The course loads it as `load_policy("{name}")`.
"""


def convert(source: Path, folder: Path, name: str | None = None) -> None:
    """Write the model of a folder as one of floats, with its tokenizer, and its card if the course names it."""
    with without_bars():
        model, tokenizer = load_policy(source, device="cpu")
        has_adapters = hasattr(model, "peft_config")
        model = model.merge_and_unload() if has_adapters else model.to(torch.bfloat16)
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    # safetensors makes its file for the owner alone. The configuration is a file as the umask has it.
    shutil.copymode(folder / "config.json", folder / "model.safetensors")
    if name is not None:
        card = CARD.format(name=name, **fetched_models()[name])
        (folder / "README.md").write_text(card, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m shared.run.convert", description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help=f"the folder of a file *{gguf.SUFFIX}, or of adapters")
    parser.add_argument("folder", type=Path, help="where the model is written")
    parser.add_argument("--name", choices=fetched_models(), help="what the course calls it; its card is then written")
    given = parser.parse_args()
    try:
        convert(given.source, given.folder, given.name)
    except (ValueError, OSError) as error:
        parser.exit(2, f"error  {error}\n")
