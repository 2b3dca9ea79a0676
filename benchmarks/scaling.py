"""On paper: how a step grows with processes and parameters, where each process holds the whole model.

Nothing here was measured on a GPU. The rates are round numbers of the kind that makers publish for a GPU of 80 GB, at
the fraction that training reaches; whoever has a cluster puts in its own and runs `python -m benchmarks.scaling`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cluster:
    """The assumptions about the GPUs.

    flops: operations a second that a GPU reaches in a training pass.
    layer_seconds: of a layer, for one more token of all running completions.
    near, far: bytes a second that a GPU sends to others, inside a machine of 8 and between machines.
    memory: bytes of a GPU.
    """

    flops: float = 4e14
    layer_seconds: float = 5e-4
    near: float = 2e11
    far: float = 4e10
    memory: float = 8e10


@dataclass(frozen=True)
class Model:
    name: str
    parameters: float
    layers: int


# A step of 512 prompts x 8 completions, prompt and completion of 256 and 512 tokens.
COMPLETIONS = 512 * 8
PROMPT_TOKENS = 256
COMPLETION_TOKENS = 512
MODELS = (Model("0.5B", 0.5e9, 24), Model("7B", 7.6e9, 28))
COUNTS = (1, 8, 64, 512)
BYTES_HELD = 20  # a parameter in float32: itself, its gradient, AdamW's two moments, the reference


def seconds(model: Model, processes: int, cluster: Cluster) -> dict[str, float]:
    """The parts of a step.

    passes: policy forward and backward (6 operations a parameter and token) and reference (2), shared out.
    sampling: a token for every running completion takes `layer_seconds` for each layer however few there are, so it
        is not shared out. That is the Python loop of `shared/engine/decoding.py`, one small operation after another.
    exchange: every process sends and receives 2 (n - 1) / n of the gradient, 4 bytes a parameter.
    """
    tokens = COMPLETIONS * (PROMPT_TOKENS + COMPLETION_TOKENS)
    bandwidth = cluster.near if processes <= 8 else cluster.far
    return {
        "passes": 8 * model.parameters * tokens / processes / cluster.flops,
        "sampling": COMPLETION_TOKENS * model.layers * cluster.layer_seconds
        + 2 * model.parameters * tokens / processes / cluster.flops,
        "exchange": 2 * (processes - 1) / processes * 4 * model.parameters / bandwidth,
    }


def paper(cluster: Cluster = Cluster()) -> str:
    """The table, and what follows from it."""
    lines = [
        "## More processes and larger models, on paper",
        "",
        f"Assumed, not measured: {cluster.flops / 1e12:.0f} TFLOP/s reached by a GPU, {cluster.near / 1e9:.0f} GB/s "
        f"between GPUs of one machine and {cluster.far / 1e9:.0f} between machines, {1000 * cluster.layer_seconds:g} ms "
        f"a layer for each token that is sampled. A step is {COMPLETIONS:,} completions of {COMPLETION_TOKENS} tokens "
        f"after prompts of {PROMPT_TOKENS}. `python -m benchmarks.scaling` makes the table for other numbers.",
        "",
        "| parameters | processes | seconds of passes | sampling | exchange | a step | of an even share |",
        "|---|---|---|---|---|---|---|",
    ]
    for model in MODELS:
        alone = sum(seconds(model, 1, cluster).values())
        for processes in COUNTS:
            parts = seconds(model, processes, cluster)
            total = sum(parts.values())
            lines.append(
                f"| {model.name} | {processes} | {parts['passes']:.3g} | {parts['sampling']:.3g} | "
                f"{parts['exchange']:.3g} | {total:.3g} | {alone / processes / total:.0%} |"
            )
    held = {model.name: BYTES_HELD * model.parameters / 1e9 for model in MODELS}
    gigabytes = cluster.memory / 1e9
    fits = ", ".join(
        f"{name} needs {needed:.0f} GB and {'fits' if needed < gigabytes else 'does not fit'}"
        for name, needed in held.items()
    )
    lines += [
        "",
        f"With weights, gradients, both moments and the reference in float32 on each GPU of {gigabytes:.0f} GB: {fits}. "
        "What does not fit is handed over to TRL with FSDP or ZeRO, whatever the speed; with LoRA the frozen weights "
        "are held once and the exchange is that of the adapters.",
        "",
        "What does not shrink with more processes is sampling, a token after another. The hand-over to TRL with vLLM "
        "begins to pay where that is more than the rest of the step, which is "
        + " and ".join(
            f"from {_first_where_sampling_leads(model, cluster)} processes at {model.name}" for model in MODELS
        )
        + ", and on any number of them for completions of thousands of tokens.",
    ]
    return "\n".join(lines)


def _first_where_sampling_leads(model: Model, cluster: Cluster) -> int:
    """The smallest power of two of processes at which sampling takes more than passes and exchange together."""
    processes = 1
    while processes < 2**20:
        parts = seconds(model, processes, cluster)
        if parts["sampling"] > parts["passes"] + parts["exchange"]:
            return processes
        processes *= 2
    raise ValueError(f"Sampling never leads at {model.name} with these rates.")


if __name__ == "__main__":
    print(paper())
