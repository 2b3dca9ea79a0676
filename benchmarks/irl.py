"""Maximum-entropy IRL: the handout's loops and plain sweeps against `shared.irl`, on the same worlds.

    OMP_NUM_THREADS=1 python -m benchmarks.irl > benchmarks/irl.md

Whatever is compared must agree before it is timed. Times are CPU seconds of one thread, which other work on the machine
hardly changes: the median of five calls, of one where a call takes seconds, after one that is not counted. Where the
loops, or sweeps in logarithms, would take minutes, `shared.irl` is timed alone. Prints Markdown.
"""

import statistics
import time
import warnings
from collections.abc import Callable
from itertools import product

import numpy as np

from shared import irl
from shared.irl.logarithms import logsumexp, normalised

LOOPS = (3, 5, 8, 10)
SIZES = (20, 50, 100)
FITTED = (20, 50)  # where a fit by sweeps in logarithms takes minutes, not hours
ITERATIONS = 100
MAX_STEPS = 100_000


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
                z_action[state, action] += p_transition[state, following, action] * np.exp(reward[state]) * z[following]
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


def policy_in_logarithms(world, terminal, reward, eps: float = 1e-10) -> np.ndarray:
    """2 S backward sweeps, each in logarithms; they end early when log Z grows by the same amount everywhere."""
    log_z = np.full(world.n_states, -np.inf)
    log_z[terminal] = 0.0
    for _ in range(2 * world.n_states):
        log_za = reward[:, None] + world.log_expect(log_z)
        new = logsumexp(log_za)
        with np.errstate(invalid="ignore"):  # -inf - -inf
            growth = new - log_z
        log_z = new
        if np.ptp(growth) < eps:
            break
    return normalised(log_za, log_z)


def visits_step_by_step(world, policy, p_initial, terminal, steps: int, eps: float = 1e-8) -> tuple[np.ndarray, float]:
    """The sum over `steps` times, and the probability that is then still on its way."""
    chain = world.under(policy)
    chain[terminal] = 0.0
    mass = p_initial
    total = mass.copy()
    for _ in range(1, steps):
        mass = world.push(mass, chain)
        total += mass
        moving = mass.sum() - mass[terminal].sum()
        if moving < eps:
            break
    return total, moving


def fit_in_logarithms(world, terminal, demonstrations, optim, iterations: int) -> np.ndarray:
    """`irl.maxent_irl` with one-hot features and first weights 1, by the two functions above."""
    target = irl.feature_expectation_from_trajectories(np.eye(world.n_states), demonstrations)
    p_initial = irl.initial_probabilities_from_trajectories(world.n_states, demonstrations)
    reward = np.ones(world.n_states)
    for k in range(iterations):
        policy = policy_in_logarithms(world, terminal, reward)
        visits, _ = visits_step_by_step(world, policy, p_initial, terminal, steps=2 * world.n_states)
        reward = optim(reward, target - visits, k)
    return reward


def seconds(function: Callable, *arguments, repeats: int = 5) -> float:
    """The median CPU time of a call, after one call that is not counted."""
    function(*arguments)
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function(*arguments)
        times.append(time.process_time() - start)
    return statistics.median(times)


def once(function: Callable, *arguments, **settings) -> tuple[float, object]:
    """The CPU time of a single call, and what it returned."""
    start = time.process_time()
    found = function(*arguments, **settings)
    return time.process_time() - start, found


def problem(size: int, reward: float = 0.1) -> tuple:
    """An icy world that starts in the first state and ends in the last, with the same reward everywhere."""
    world = irl.grid_world(size, slip=0.2)
    p_initial = np.zeros(world.n_states)
    p_initial[0] = 1.0
    return world, p_initial, [world.n_states - 1], np.full(world.n_states, reward)


def demonstrations_in(world: irl.Transitions, size: int) -> list[irl.Trajectory]:
    """200 walks of an expert that is paid in the last state and, less, on the way."""
    reward = np.zeros(world.n_states)
    reward[-1] = 1.0
    reward[size * (3 * size // 5) + 4 * size // 5] = 0.65
    value = irl.value_iteration(world, reward, discount=0.99)
    expert = irl.stochastic_policy_from_value(world, value, weighting=lambda v: (v / v.max()) ** 300)
    p_initial = np.eye(world.n_states)[0]
    return irl.generate_trajectories(200, world, expert, p_initial, [world.n_states - 1], np.random.default_rng(0))


def compare_with_loops() -> None:
    print("Expected visits under reward 0.1 everywhere, both passes, 2 S times each:\n")
    print("| world | states | loops (s) | shared.irl (s) | ratio |\n|---|---|---|---|---|")
    for size in (*LOOPS, *SIZES):
        world, *rest = problem(size)
        ours = seconds(irl.compute_expected_svf, world, *rest)
        row = f"| {size} x {size} | {size * size} |"
        if size not in LOOPS:
            print(f"{row} not run | {ours:.4f} | |", flush=True)
            continue
        table = world.table()
        np.testing.assert_allclose(
            irl.compute_expected_svf(world, *rest, eps=0.0),
            expected_svf_with_loops(table, *rest),
            rtol=1e-6,
            atol=1e-9,
        )
        loops = seconds(expected_svf_with_loops, table, *rest, repeats=1 if size > 5 else 5)
        print(f"{row} {loops:.3f} | {ours:.4f} | {loops / ours:,.0f} |", flush=True)


def compare_backward() -> None:
    print("\nThe backward pass alone, 2 S sweeps:\n")
    print("| world | all in logarithms (s) | shared.irl (s) | ratio | largest difference |\n|---|---|---|---|---|")
    for size in SIZES:
        world, _, terminal, reward = problem(size)
        plain, expected = once(policy_in_logarithms, world, terminal, reward)
        difference = np.abs(irl.local_action_probabilities(world, terminal, reward) - expected).max()
        assert difference < 1e-9
        ours = seconds(irl.local_action_probabilities, world, terminal, reward)
        print(
            f"| {size} x {size} | {plain:.2f} | {ours:.3f} | {plain / ours:.0f} | {difference:.0e} |",
            flush=True,
        )


def compare_arrival() -> None:
    print(
        "\nAll visits until arrival, under the policy of reward -2 everywhere; steps are summed until 1e-8 of the\n"
        f"probability is on its way, at most {MAX_STEPS:,}:\n"
    )
    print("| world | states in a walk | step by step (s) | still on its way | shared.irl (s) |\n|---|---|---|---|---|")
    for size in SIZES:
        world, p_initial, terminal, reward = problem(size, -2.0)
        policy = irl.local_action_probabilities(world, terminal, reward)
        stepwise, (summed, moving) = once(visits_step_by_step, world, policy, p_initial, terminal, MAX_STEPS)
        visits = irl.visitation(world, policy, p_initial, terminal)
        if moving < 1e-8:
            np.testing.assert_allclose(visits, summed, rtol=1e-6)
        ours = seconds(irl.visitation, world, policy, p_initial, terminal)
        print(
            f"| {size} x {size} | {visits.sum():,.0f} | {stepwise:.2f} | {moving:.0e} | {ours:.3f} |",
            flush=True,
        )


def compare_fits() -> None:
    warnings.simplefilter("ignore", irl.NotConverged)  # so many iterations are timed, not a fit to its end
    print(f"\nA fit of {ITERATIONS} iterations to 200 demonstrations with the handout's optimiser:\n")
    print("| world | sweeps in logarithms (s) | shared.irl (s) | feature gap |\n|---|---|---|---|")
    for size in SIZES:
        world, _, terminal, _ = problem(size)
        demonstrations = demonstrations_in(world, size)
        optim = irl.exponentiated_gradient(0.2, decay=1.0)
        records = []
        ours, fit = once(
            irl.maxent_irl,
            world,
            np.eye(world.n_states),
            terminal,
            demonstrations,
            optim,
            init=1.0,
            eps=0.0,
            max_iterations=ITERATIONS,
            on_step=records.append,
        )
        gap = f"{records[0]['gap']:.2f} to {records[-1]['gap']:.2f}"
        if size not in FITTED:
            print(f"| {size} x {size} | not run | {ours:.1f} | {gap} |", flush=True)
            continue
        plain, expected = once(fit_in_logarithms, world, terminal, demonstrations, optim, ITERATIONS)
        np.testing.assert_allclose(fit.reward, expected, rtol=1e-5)
        print(f"| {size} x {size} | {plain:.1f} | {ours:.1f} | {gap} |", flush=True)


def main() -> None:
    compare_with_loops()
    compare_backward()
    compare_arrival()
    compare_fits()


if __name__ == "__main__":
    main()
