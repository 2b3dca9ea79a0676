"""Train dots as the notebook does, and write what the page "Try it" runs: `build/try`, read by `checker site`.

Nothing of it is committed. Where something is missing that it needs, it says so and writes nothing: the page then shows
its still.
"""

import copy
import importlib.util
import json
import shutil
from pathlib import Path

import torch

from benchmarks.tryit.facts import expected, facts
from benchmarks.tryit.network import write_networks
from benchmarks.tryit.runtime import PACKAGE
from benchmarks.watch import SEED, STEPS, learn
from checker.site.loaded.npm import Unreachable
from shared.models import COURSE_MODEL, load_policy
from shared.recipes import RECIPES, prepare

FOLDER = Path(__file__).parents[2] / "build" / "try"
NEEDED = ("onnx", "onnxscript")


def write(folder: Path) -> None:
    """Write everything that the page loads, and what the tests hold it against. The folder exists.

    Raises Unreachable where the runtime cannot be had.
    """
    PACKAGE.write(folder)
    torch.manual_seed(SEED)
    before, tokenizer = load_policy(COURSE_MODEL)
    after = copy.deepcopy(before)
    materials = prepare(RECIPES["dots"], tokenizer, seed=SEED)
    learn(after, tokenizer, materials)
    told = {"before": expected(before, tokenizer), "after": expected(after, tokenizer)}
    for model in (before, after):
        model.config._attn_implementation = "eager"
    write_networks(before, after, folder)
    _save(folder / "facts.json", facts(tokenizer) | {"steps": STEPS})
    _save(folder / "expected.json", told)


def _save(file: Path, content: dict) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f"Try it will show its still: {' and '.join(missing)} not installed (pip install -e '.[site]').")
        return
    unfinished = FOLDER.with_name("try-unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        write(unfinished)
    except Unreachable as error:
        print(f"Try it will show its still: {error}.")
        return
    shutil.rmtree(FOLDER, ignore_errors=True)
    unfinished.rename(FOLDER)
    size = sum(file.stat().st_size for file in FOLDER.iterdir())
    print(f"{FOLDER.relative_to(Path(__file__).parents[2])}: {size / 1e6:.0f} MB for the page Try it.")


if __name__ == "__main__":
    main()
