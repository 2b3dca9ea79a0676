"""A run as a file: `--settings run.json` takes what `--result run.json` wrote, and options go over it."""

import json
from collections.abc import Mapping
from pathlib import Path

# What a result says of the weights that are trained, as the option --lora.
LORA = {"lora": True, "all": False, "upper half": None}


def read_options(path: Path) -> dict[str, object]:
    """The options of the run whose result is in the file, by name, without those that were left to their default.

    Raises ValueError: there is no such file, or no result of a run in it.
    """
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        name, revision = (result["model"][part] for part in ("name", "revision"))
        options = {
            "task": result["task"],
            "algorithm": result["algorithm"],
            "engine": result["engine"],
            "model": f"{name}@{revision}" if revision else name,
            "lora": LORA[result["trained"]],
            **{name: result[name] for name in ("load_in_4bit", "constrained", "train_rows", "eval_rows")},
            **result["settings"],
        }
    except OSError as error:
        raise ValueError(f"The settings {path} cannot be read ({error.strerror}). Give a file of --result.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} holds no run ({type(error).__name__}: {error}). Give a file that --result of this version wrote."
        ) from error
    return {name: value for name, value in options.items() if value is not None}


def overridden(kept: Mapping[str, object], given: Mapping[str, object], path: Path) -> str:
    """Sentences on the options that take the place of those in the file, and on a model that others would suit."""
    others = [
        f"{name} {given[name]} instead of {kept.get(name, 'what the task says')}"
        for name in given
        if given[name] != kept.get(name)
    ]
    if not others:
        return f"The run of {path}, with every setting as it was."
    kept_all = (
        f" The other settings stay those of {kept['model']}: without --settings a model has those that suit its class."
        if given.get("model", kept["model"]) != kept["model"]
        else ""
    )
    return f"The run of {path}, but {', '.join(others)}.{kept_all}"
