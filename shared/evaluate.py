"""Before and after, on examples that training never saw.

`evaluate` measures one model; `compare` shows two measurements of the same rows side by side: the two rewards as
lines, and tables of their intervals and of examples.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from jaxtyping import Float
from torch import Tensor
from tqdm.auto import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared import tables
from shared.constrain import AnswerTrie
from shared.engine.chance import EVALUATION
from shared.engine.processes import ALONE, Processes
from shared.engine.sampling import Sampling
from shared.environment import Environment, EnvironmentFactory
from shared.rewards import RewardFunction, add_up, columns_of, environments_of, functions_of, name_of, score
from shared.rollout import sample
from shared.rows import check_rows
from shared.statistics import Interval, gain_interval, mean_interval
from shared.tables import INTERVAL, mean_row


@dataclass(frozen=True)
class Evaluation:
    """The outcome of a model on a set of rows: prompts, completions and rewards, B each.

    With `num_generations` above 1 the B = N x G completions of one prompt stand next to each other. `environments` are
    the completions' games, None where an `environment_factory` made none.
    """

    name: str
    prompts: list[str]
    completions: list[str]
    rewards: Float[Tensor, "B"]
    rewards_per_func: Float[Tensor, "B F"]
    num_generations: int = 1
    environments: list | None = None

    @property
    def mean(self) -> float:
        """The average reward."""
        return self.rewards.mean().item()

    @property
    def per_prompt(self) -> Float[Tensor, "N"]:
        """The average reward of each prompt."""
        return self.rewards.view(-1, self.num_generations).mean(dim=1)

    def interval(self, confidence: float = 0.95, clusters: Sequence[Hashable] | None = None) -> Interval:
        """The interval of the average reward, each prompt one piece of evidence, or each cluster of prompts."""
        return mean_interval(self.per_prompt, confidence, clusters)

    @property
    def frac_reward_zero_std(self) -> float:
        """The fraction of prompts all of whose completions got the same reward; 1.0 for one completion each."""
        groups = self.rewards.view(-1, self.num_generations)
        return (groups == groups[:, :1]).all(dim=1).float().mean().item()


def evaluate(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    *,
    name: str = "",
    max_new_tokens: int = 16,
    temperature: float = 0.0,
    num_generations: int = 1,
    constraint: AnswerTrie | None = None,
    environment: Environment | None = None,
    environment_factory: EnvironmentFactory | None = None,
    reward_weights: Sequence[float] | None = None,
    batch_size: int = 64,
    seed: int = 0,
    step: int = EVALUATION,
    progress: bool = False,
    processes: Processes = ALONE,
) -> Evaluation:
    """Complete every row's prompt and reward it.

    Args:
        rows: the named split, for instance `dots.dataset("eval", 200, seed=1)`.
        temperature: 0 is greedy; 1 samples from the model as it is.
        num_generations: completions for each prompt; only useful when sampling.
        batch_size: prompts at a time; what is sampled does not depend on it.
        seed, step: with a row's index, what chance depends on; training's own numbers are others. Step 0 gives the
            draws that `sample` gives when a notebook calls it for all rows itself.
        processes: those that share the rows; all of them call this, and all get the whole. Games travel between them
            by pickle.

    Raises ValueError when there are no rows or others than `check_rows` takes, and what `sample` and `score` refuse.
    """
    check_rows(rows, "prompt")
    if not len(rows):
        raise ValueError("There are no rows to evaluate on.")
    sampling = Sampling(max_new_tokens, temperature)
    # Prompts of like length share a batch, so that little is padding; the order of the rows is kept.
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]["prompt"]))
    by_row: dict[int, list[str]] = {}
    games_by_row: dict[int, list] = {}
    batches = [order[start : start + batch_size] for start in range(0, len(rows), batch_size)]
    for batch in tqdm(share_of(batches, processes), desc=f"evaluate {name}".strip(), disable=not progress):
        rollout = sample(
            model,
            tokenizer,
            [rows[i]["prompt"] for i in batch],
            num_generations,
            sampling,
            constraint=constraint,
            environment=environment,
            environment_factory=environment_factory,
            rows=[rows[i] for i in batch],
            seed=seed,
            step=step,
            places=batch,
        )
        for place, i in enumerate(batch):
            group = slice(place * num_generations, (place + 1) * num_generations)
            by_row[i] = rollout.completions[group]
            if rollout.environments is not None:
                games_by_row[i] = rollout.environments[group]
    for part in processes.gather(by_row):
        by_row |= part
    completions = [c for i in range(len(rows)) for c in by_row[i]]
    environments = None
    if environment_factory is not None:
        for part in processes.gather(games_by_row):
            games_by_row |= part
        environments = [game for i in range(len(rows)) for game in games_by_row[i]]
    prompts = [row["prompt"] for row in rows for _ in range(num_generations)]
    columns = {k: [v for v in column for _ in range(num_generations)] for k, column in columns_of(rows).items()}
    rewards_per_func = score(reward_funcs, prompts, completions, columns | environments_of(environments))
    rewards = add_up(rewards_per_func, reward_weights)
    for i in rewards.isnan().nonzero().flatten().tolist():
        names = " and ".join(map(name_of, functions_of(reward_funcs)))
        raise ValueError(
            f"{names} gave None to completion {i}, {completions[i]!r}; where a model is measured, one must give it a number."
        )
    return Evaluation(name, prompts, completions, rewards, rewards_per_func, num_generations, environments)


def share_of(batches: Sequence[list[int]], processes: Processes) -> list[list[int]]:
    """Every n-th row of each batch for each of n processes; no batch without rows."""
    parts = [batch[processes.rank :: processes.count] for batch in batches]
    return [part for part in parts if part]


def compare(
    before: Evaluation,
    after: Evaluation,
    *,
    examples: int = 5,
    clusters: Sequence[Hashable] | None = None,
    show: bool = True,
) -> dict[str, float]:
    """Print baseline and fine-tuned reward, and show their 95 % intervals and examples (prompt, outputs, reward).

    Args:
        before, after: evaluations of the same rows with the same settings.
        examples: how many rows to show, spread evenly over the set.
        clusters: a name for each row; rows with the same name are one piece of evidence. By default each stands alone.

    Returns:
        `baseline`, `fine-tuned`, `gain`, and the interval of the paired gain, `gain_low` and `gain_high`.

    Raises:
        ValueError: the two were made on different prompts.
    """
    if before.prompts != after.prompts:
        raise ValueError("The two evaluations are of different prompts; evaluate both models on the same rows.")
    gain_low, gain_high = gain_interval(before.per_prompt, after.per_prompt, clusters=clusters)
    result = {
        "baseline": before.mean,
        "fine-tuned": after.mean,
        "gain": after.mean - before.mean,
        "gain_low": gain_low,
        "gain_high": gain_high,
    }
    if show:
        rows = [
            mean_row("baseline reward", before.per_prompt, clusters),
            mean_row("fine-tuned reward", after.per_prompt, clusters),
        ]
        for row in rows:
            print(f"{row['measured']:<18} {row['reward']:.3f}")
        tables.show([*rows, {"measured": "gain", "reward": result["gain"], INTERVAL: (gain_low, gain_high)}])
        if examples:
            tables.show(example_rows(before, after, examples), ".2f")
    return result


def example_rows(before: Evaluation, after: Evaluation, examples: int = 5, width: int = 58) -> list[dict]:
    """A few rows, spread evenly over the set: the prompt, the output before and after, and the reward of each.

    width: the characters of an output; a longer one is cut in the middle.
    """
    count = min(examples, len(before.per_prompt))
    G = before.num_generations
    picks = [G * (i * len(before.per_prompt) // count) for i in range(count)]
    shared = shared_lines(before.prompts)
    return [
        {
            "prompt": question_in(before.prompts[i], shared, 90),
            "before": one_line(before.completions[i], width),
            "after": one_line(after.completions[i], width),
            "reward before": before.rewards[i].item(),
            "reward after": after.rewards[i].item(),
        }
        for i in picks
    ]


def shared_lines(prompts: Sequence[str]) -> tuple[int, int]:
    """The number of lines that all prompts begin with, and that they end with: a chat template, worked examples."""
    lines = [prompt.splitlines() for prompt in prompts]

    def alike(columns: Iterable[tuple[str, ...]]) -> int:
        return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))

    return alike(zip(*lines)), alike(zip(*map(reversed, lines)))


def question_in(prompt: str, shared: tuple[int, int], width: int) -> str:
    """The prompt on one line; of one that is longer than `width`, the lines that are its own, if it has any."""
    begins, ends = shared
    lines = prompt.splitlines()
    own = "\n".join(lines[begins : len(lines) - ends])
    return one_line(own if own and len(prompt) > width else prompt, width)


def one_line(text: str, width: int = 58) -> str:
    """The text on one line of at most `width` characters, line breaks written as \\n, cut in the middle."""
    text = text.replace("\n", "\\n")
    half = (width - 5) // 2
    return text if len(text) <= width else f"{text[:half]} ... {text[-half:]}"
