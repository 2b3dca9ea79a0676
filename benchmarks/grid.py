"""A policy of the grid world while inverse RL finds its reward: the numbers behind the site's second "Watch it learn".

    python -m benchmarks.grid            fits 100 iterations and writes benchmarks/grid.json

World, demonstrations and algorithm (maximum causal entropy, gradient ascent) are those of `notebooks/maxent_irl.ipynb`.
"""

import json
from pathlib import Path

import numpy as np

from benchmarks.sweeps.maxent_irl import DISCOUNT, SIZE, TERMINAL, expert_in, true_reward, walks
from shared import irl

FILE = Path(__file__).parent / "grid.json"
COMMAND = "python -m benchmarks.grid"
LOOKS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 35, 50, 75, 100)


def recorded(looks: tuple[int, ...] = LOOKS) -> dict:
    """Fit, and look at reward and policy at these iterations."""
    world = irl.grid_world(SIZE, slip=0.2)
    S = world.n_states
    p_start = np.eye(S)[0]
    paid = true_reward(S)
    expert = expert_in(world)

    weights: list[np.ndarray] = []
    records: list[dict] = []
    ascend = irl.gradient_ascent(2.0)

    def step(current: np.ndarray, gradient: np.ndarray, k: int) -> np.ndarray:
        weights.append(current)
        return ascend(current, gradient, k)

    irl.maxent_causal_irl(
        world, np.eye(S), TERMINAL, walks(world, seed=0), step, 0.0, DISCOUNT, max_iterations=max(looks) + 1, on_step=records.append
    )  # fmt: skip

    def earned(policy: np.ndarray) -> float:
        return round(irl.expected_return(world, policy, p_start, TERMINAL, paid, DISCOUNT), 3)

    def seen(iteration: int) -> dict:
        policy, _ = irl.causal_policy(world, TERMINAL, weights[iteration], DISCOUNT)
        return {
            "iteration": iteration,
            "gap": round(records[iteration]["gap"], 3),
            "earned": earned(policy),
            "reward": _rounded(weights[iteration], 2),
            "policy": _rounded(policy, 3),
        }

    return {
        "made_by": COMMAND,
        "size": SIZE,
        "expert": {
            "earned": earned(expert),
            "reward": _rounded(paid, 2),
            "policy": _rounded(expert, 3),
        },
        "looks": [seen(iteration) for iteration in looks],
    }


def _rounded(values: np.ndarray, digits: int) -> list:
    return (np.round(values, digits) + 0.0).tolist()  # + 0.0: no negative zeros


def main() -> None:
    record = recorded()
    FILE.write_text(json.dumps(record) + "\n", encoding="utf-8")
    first, last = record["looks"][0], record["looks"][-1]
    print(f"earned {first['earned']} to {last['earned']}, the expert {record['expert']['earned']}; gap {last['gap']}")


if __name__ == "__main__":
    main()
