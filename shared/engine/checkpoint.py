"""Checkpoints that are whole or not there: written beside and renamed."""

import os
from pathlib import Path

import torch


def save(path: str | os.PathLike, state: dict) -> None:
    """Write `state` with torch.save; an interrupted write leaves the old file as it was."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".partial")
    torch.save(state, beside)
    os.replace(beside, path)


def load(path: str | os.PathLike) -> dict | None:
    """The state in `path`, or None when there is no such file. ValueError when it cannot be read."""
    path = Path(path)
    if not path.exists():
        return None
    try:
        return torch.load(path, weights_only=True)
    except Exception as error:
        raise ValueError(f"The checkpoint {path} cannot be read ({error}). Delete it to start over.") from error
