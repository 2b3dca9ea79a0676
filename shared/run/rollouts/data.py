"""The data of the page: groups of completions, each prompt written once, and a sample where there are too many."""

import random
from collections.abc import Sequence

from shared.rollouts import groups_of, plain, that_fit

MOST = 10_000  # completions, with which a page opens in less than two seconds


def data_of(records: Sequence[dict], name: str, most: int = MOST) -> dict:
    """The completions of a run as the page takes them, JSON and no more.

    name: of the file.
    rewards: names of the reward functions.    prompts: each one once.
    completions, groups, steps: how many the file has; the page holds all groups or a sample.
    shown: groups with `step`, the number of their `prompt`, the `columns` of its row and their `completions`, each as
        text, rewards in the order of their names, reward, advantage, length, truncated.
    """
    groups = groups_of(records)
    shown = sample_of(groups, most)
    rewards = list(dict.fromkeys(name for group in shown for record in group for name in record["rewards"]))
    prompts = list(dict.fromkeys(group[0]["prompt"] for group in shown))
    number = {prompt: i for i, prompt in enumerate(prompts)}
    return {
        "name": name,
        "rewards": rewards,
        "prompts": prompts,
        "completions": len(records),
        "groups": len(groups),
        "steps": len({group[0]["step"] for group in groups}),
        "shown": [
            {
                "step": group[0]["step"],
                "prompt": number[group[0]["prompt"]],
                "columns": plain(group[0]["columns"]),
                "completions": [_completion(record, rewards) for record in group],
            }
            for group in shown
        ],
    }


def sample_of(groups: Sequence[list[dict]], most: int, seed: int = 0) -> list[list[dict]]:
    """Whole groups, drawn by chance and kept in their order, with at most so many completions; at least one group."""
    order = list(range(len(groups)))
    if sum(map(len, groups)) > most:
        random.Random(seed).shuffle(order)
    return that_fit(groups, order, most)


def _completion(record: dict, rewards: Sequence[str]) -> list:
    return plain(
        [
            record["completion"],
            [record["rewards"].get(name) for name in rewards],
            record["reward"],
            record["advantage"],
            record["length"],
            record["truncated"],
        ]
    )
