"""Maximum-entropy IRL: the handout's loops over states and actions against `shared.irl`, on the same worlds.

    python -m benchmarks.irl > benchmarks/irl.md

Both compute the expected state visitation under reward 0.1 everywhere; they must agree before anything is
timed. The time is the median of several calls (of one for loops over more than 25 states) after one that is not
counted, in the same process. Larger worlds, where the loops would take minutes, are timed with `shared.irl`
alone. Prints a Markdown table.
"""

import statistics
import time
from collections.abc import Callable
from itertools import product

import numpy as np

from shared.irl import compute_expected_svf, grid_world

SIZES = (3, 5, 8, 10)
BEYOND = (20, 50)  # only for shared.irl


def expected_svf_with_loops(p_transition, p_initial, terminal, reward) -> np.ndarray:
    """The handout's formulation written out: three loops backward, three forward, 2 S sweeps each."""
    n_states, _, n_actions = p_transition.shape
    sweeps = 2 * n_states

    z = np.zeros(n_states)
    z[list(terminal)] = 1.0
    for _ in range(sweeps):
        z_action = np.zeros((n_states, n_actions))
        for state, action in product(range(n_states), range(n_actions)):
            for following in range(n_states):
                z_action[state, action] += (
                    p_transition[state, following, action] * np.exp(reward[state]) * z[following]
                )
        z = z_action.sum(axis=1)
    policy = z_action / z[:, None]

    visits = np.zeros((sweeps, n_states))
    visits[0] = p_initial
    moving = [state for state in range(n_states) if state not in terminal]
    for t in range(1, sweeps):
        for following in range(n_states):
            for state, action in product(moving, range(n_actions)):
                p = p_transition[state, following, action]
                visits[t, following] += visits[t - 1, state] * policy[state, action] * p
    return visits.sum(axis=0)


def seconds(function: Callable, *arguments, repeats: int) -> float:
    """The median time of a call, after one call that is not counted."""
    function(*arguments)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def problem(size: int) -> tuple:
    """An icy world that starts in the first state and ends in the last: the arguments of both functions."""
    world = grid_world(size, slip=0.2)
    p_initial = np.zeros(world.n_states)
    p_initial[0] = 1.0
    return world, p_initial, [world.n_states - 1], np.full(world.n_states, 0.1)


def main() -> None:
    print("| world | states | loops (s) | shared.irl (s) | ratio |\n|---|---|---|---|---|")
    for size in (*SIZES, *BEYOND):
        world, *rest = problem(size)
        ours = seconds(compute_expected_svf, world, *rest, repeats=5)
        row = f"| {size} x {size} | {size * size} |"
        if size in BEYOND:
            print(f"{row} not run | {ours:.4f} | |")
            continue
        table = world.table()
        np.testing.assert_allclose(
            compute_expected_svf(world, *rest, eps=0.0),
            expected_svf_with_loops(table, *rest),
            rtol=1e-6,
            atol=1e-9,
        )
        loops = seconds(expected_svf_with_loops, table, *rest, repeats=1 if size > 5 else 5)
        print(f"{row} {loops:.3f} | {ours:.4f} | {loops / ours:,.0f} |")


if __name__ == "__main__":
    main()
