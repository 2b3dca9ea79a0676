"""The contents of a training run's checkpoint, and the comparisons before a run goes on from one.

Only trained parameters are stored: under LoRA the frozen base stays out of the file. What is not stored but shapes the
trajectory all the same (the settings, the frozen weights, the rows) is compared instead, and a difference is refused in
a sentence before anything is changed. Not compared: settings of the model that have no weights, as a rope's base.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

VERSION = 4
# Forms before, which lack a field or two: in 2 adapters were switched off for the reference, in 3 no sampler was behind.
EARLIER = {2: {"reference": {}, "past": {}}, 3: {"past": {}}}
# Values at each end of a frozen tensor that its digest covers: two models differ in them, and nothing large is read.
DIGESTED = 32
# Rows made a text in one call, which for a million is a third of the time that a call for each takes.
ROWS_AT_ONCE = 1000
# How an optimiser computes is a matter of the machine that goes on, and no part of the run.
OF_THE_MACHINE = ("foreach", "fused", "capturable")
ELSE = "or choose another path for the checkpoint of this run"


@dataclass(frozen=True)
class RunState:
    """A run between two steps, as plain values that `checkpoint.save` takes.

    version: of this record.
    algorithm: its name.
    config: every setting by name.
    model, frozen, rows, rows_digest: see `fingerprint`.
    history: one record of metrics for each step done.
    parameters: the trained ones by name.
    reference: of the frozen reference the adapters by name; {} where they are switched off for it, or a model was given.
    past: the trained weights of earlier steps, by step, that a sampler which is behind still needs; else {}.
    optimizer_class, optimizer_groups, optimizer: its name, the names of the parameters in each group, its state_dict.
    """

    version: int
    algorithm: str
    config: dict
    model: str
    frozen: dict
    rows: int
    rows_digest: str
    history: list
    parameters: dict
    reference: dict
    past: dict
    optimizer_class: str
    optimizer_groups: list
    optimizer: dict


def fingerprint(model: nn.Module, rows: Sequence[dict]) -> dict:
    """A fingerprint of this model and these rows, the same in any process; computed once a run.

    Returns:
        `model`: the name of its class; `frozen`: a digest for each frozen parameter and each buffer that is saved with
        the model; `rows`: how many; `rows_digest`: of their canonical JSON. A value that JSON does not know counts as
        its text, which must not hold a memory address.
    """
    frozen = {name: p for name, p in model.named_parameters() if not p.requires_grad}
    saved = model.state_dict().keys()
    # Buffers that are not saved are computed (a rope's angles), in some models anew for each length.
    frozen |= {name: buffer for name, buffer in model.named_buffers() if name in saved}
    return {
        "model": type(model).__name__,
        "frozen": {name: _digest_of_tensor(tensor) for name, tensor in frozen.items()},
        "rows": len(rows),
        "rows_digest": _digest_of_rows(rows),
    }


def pack(
    *,
    algorithm: str,
    config: Mapping,
    fingerprint: dict,
    model: nn.Module,
    optimizer: Optimizer,
    history: list[dict],
    reference: Mapping[str, Tensor] | None = None,
    past: Mapping[int, Mapping[str, Tensor]] | None = None,
) -> dict:
    """The state of a run, for `checkpoint.save`. Its tensors are the live ones: save before the next update."""
    state = RunState(
        version=VERSION,
        algorithm=algorithm,
        config=dict(config),
        **fingerprint,
        history=history,
        parameters={name: p.detach() for name, p in _trained(model).items()},
        reference=dict(reference or {}),
        past=dict(past or {}),
        optimizer_class=type(optimizer).__name__,
        optimizer_groups=_groups(model, optimizer),
        optimizer=optimizer.state_dict(),
    )
    return dict(vars(state))


def unpack(
    state: dict,
    *,
    path: str | Path,
    model: nn.Module,
    optimizer: Optimizer,
    config: Mapping,
    fingerprint: Mapping,
    algorithm: str,
    reference: dict[str, Tensor] | None = None,
    past: dict[int, dict[str, Tensor]] | None = None,
    free: Sequence[str] = ("steps", "log_every", "checkpoint_every"),
) -> list[dict]:
    """Put the state of a run, from `checkpoint.load`, into model and optimiser; its history.

    Args:
        path: where it was, for the sentences.
        fingerprint: of this model and these rows.
        reference: the adapters of the frozen reference, which become those of the run's; None where a model was given.
        past: the weights of earlier steps, which become those of the run's; None where the algorithm has none.
        free: settings that may differ, for they do not shape the trajectory.

    Raises:
        ValueError: the state is no run's, or that of another run: another algorithm, setting, model, frozen weight,
            optimiser or other rows. Model and optimiser are as they were.
    """
    run = _read(state, path)
    if run.algorithm != algorithm:
        raise ValueError(
            f"The checkpoint {path} was made by {run.algorithm}, and this run trains with {algorithm}. Train with "
            f"{run.algorithm}, {ELSE}."
        )
    _compare_settings(run.config, dict(config), free, path)
    _compare_models(run, fingerprint, _trained(model), path)
    _compare_rows(run, fingerprint, path)
    _compare_optimizers(run, model, optimizer, path)
    if reference is None and run.reference:
        raise ValueError(
            f"The checkpoint {path} has its reference in it, and this run is given another: leave reference out, {ELSE}."
        )
    _load_optimizer(run.optimizer, optimizer)
    if reference is not None:
        device = next(model.parameters()).device
        reference.clear()
        reference.update({name: tensor.to(device) for name, tensor in run.reference.items()})
    if past is not None:
        device = next(model.parameters()).device
        for step, weights in run.past.items():
            past[step] = {name: tensor.to(device) for name, tensor in weights.items()}
    with torch.no_grad():
        for name, parameter in _trained(model).items():
            parameter.copy_(run.parameters[name])
    return list(run.history)


def _trained(model: nn.Module) -> dict[str, nn.Parameter]:
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def _groups(model: nn.Module, optimizer: Optimizer) -> list[list[str]]:
    """The names of the parameters in each group of the optimiser, in its order."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    return [[names.get(id(p), "none of the model's") for p in group["params"]] for group in optimizer.param_groups]


def _digest_of_tensor(tensor: Tensor) -> str:
    """A digest of dtype, shape and the values at both ends."""
    flat = tensor.detach().reshape(-1)
    ends = torch.cat([flat[:DIGESTED], flat[-DIGESTED:]]).cpu()
    digest = hashlib.sha256(f"{tensor.dtype} {tuple(tensor.shape)} ".encode())
    digest.update(ends.view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]


def _digest_of_rows(rows: Sequence[dict]) -> str:
    digest = hashlib.sha256()
    encode = json.JSONEncoder(sort_keys=True, default=_as_text).encode
    remaining = iter(rows)
    while some := list(islice(remaining, ROWS_AT_ONCE)):
        digest.update(encode(some).encode())
    return digest.hexdigest()


def _as_text(value: object) -> str | list[str]:
    """A text for a value that JSON does not know. The order of a set differs from process to process."""
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return str(value)


def _read(state: dict, path: str | Path) -> RunState:
    """The record in a state, its fields checked by type."""
    if state.get("version") in EARLIER:
        state = state | {"version": VERSION} | EARLIER[state["version"]]
    for field in fields(RunState):
        if not isinstance(state.get(field.name), field.type):
            raise ValueError(
                f"The file {path} holds no run that this version of the course can go on with: `{field.name}` is "
                f"missing or is no {field.type.__name__}. Choose another path, or move that file away."
            )
    if state["version"] != VERSION:
        raise ValueError(
            f"The checkpoint {path} holds a run in form {state['version']}; this version of the course goes on with "
            f"form {VERSION}. Use the version that wrote it, {ELSE}."
        )
    return RunState(**{field.name: state[field.name] for field in fields(RunState)})


def _compare_settings(old: dict, new: dict, free: Sequence[str], path: str | Path) -> None:
    shaping = [name for name in {**old, **new} if name not in free]
    for name in shaping:
        if name not in old or name not in new:
            where = "the checkpoint" if name in old else "this run"
            raise ValueError(
                f"The checkpoint {path} was made by another version of the course: only {where} has a setting {name}. "
                f"Use the version that wrote it, {ELSE}."
            )
        if old[name] != new[name]:
            raise ValueError(
                f"The checkpoint {path} was made with {name} = {old[name]!r}, now it is {new[name]!r}. Use the same "
                f"configuration, {ELSE}."
            )


def _compare_models(run: RunState, now: dict, trained: dict[str, nn.Parameter], path: str | Path) -> None:
    """Refuse another class, other trained parameters by name, shape or dtype, and other frozen weights."""
    advice = f"Load the model that the run was started with, {ELSE}."
    if run.model != now["model"]:
        raise ValueError(f"The checkpoint {path} is of a {run.model}, and this model is a {now['model']}. {advice}")

    difference = _difference(_kinds(run.parameters), _kinds(trained))
    if difference:
        raise ValueError(f"The checkpoint {path} has other trained parameters than this model: {difference}. {advice}")

    difference = _difference(run.frozen, now["frozen"])
    if difference:
        raise ValueError(
            f"The checkpoint {path} was made on other frozen weights (given by digest): {difference}. {advice}"
        )


def _kinds(tensors: Mapping[str, Tensor]) -> dict[str, str]:
    """Shape and dtype of each, like "(2, 3) float32"."""
    return {name: f"{tuple(t.shape)} {str(t.dtype).removeprefix('torch.')}" for name, t in tensors.items()}


def _difference(old: dict[str, str], new: dict[str, str]) -> str:
    """The first difference between two dicts in words, and how many there are; "" for none."""
    only_old = [name for name in old if name not in new]
    if only_old:
        return f"{only_old[0]} is only in the checkpoint ({len(only_old)} such)"
    only_new = [name for name in new if name not in old]
    if only_new:
        return f"{only_new[0]} is only in the model ({len(only_new)} such)"
    other = [name for name in old if old[name] != new[name]]
    if other:
        return f"{other[0]} is {old[other[0]]} in the checkpoint and {new[other[0]]} in the model ({len(other)} such)"
    return ""


def _compare_rows(run: RunState, now: dict, path: str | Path) -> None:
    advice = f"Use the rows that the run was started with, in their order, {ELSE}."
    if run.rows != now["rows"]:
        raise ValueError(
            f"The checkpoint {path} was made on {run.rows} rows, and this training set has {now['rows']}. {advice}"
        )
    if run.rows_digest != now["rows_digest"]:
        raise ValueError(
            f"The checkpoint {path} was made on other rows: as many ({run.rows}), of other content or in another "
            f"order. {advice}"
        )


def _compare_optimizers(run: RunState, model: nn.Module, optimizer: Optimizer, path: str | Path) -> None:
    advice = f"Use the version of the course that wrote it, {ELSE}."
    if run.optimizer_class != type(optimizer).__name__:
        raise ValueError(
            f"The checkpoint {path} was made with the optimiser {run.optimizer_class}, now it is "
            f"{type(optimizer).__name__}. {advice}"
        )
    if run.optimizer_groups != _groups(model, optimizer):
        raise ValueError(f"The checkpoint {path} was made with other groups of parameters in the optimiser. {advice}")


def _load_optimizer(saved: dict, optimizer: Optimizer) -> None:
    """Load a state_dict onto the devices of the parameters; how to compute is left as it is on this machine."""
    groups = []
    for old, new in zip(saved["param_groups"], optimizer.param_groups, strict=True):
        kept = {name: new[name] for name in OF_THE_MACHINE if name in new}
        groups.append(old | kept)
    optimizer.load_state_dict({"state": saved["state"], "param_groups": groups})
