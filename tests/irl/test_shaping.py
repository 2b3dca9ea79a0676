"""Potential-based payments leave the best policy the best (Ng, Harada and Russell 1999)."""

import numpy as np

from shared import irl
from shared.exercises.catalogue.common.worlds import fork
from shared.exercises.catalogue.maxent_irl import potential_shaping

DISCOUNT = 0.8
payments = potential_shaping.EXERCISE.reference()


def action_values(P, terminal, reward, paid, sweeps=200):
    """Q(s, a), (S, A), of the best policy where a step from s to s' is paid `paid[s, s']` besides the reward of s."""
    value = np.zeros(len(P))
    for _ in range(sweeps):
        value[terminal] = reward[terminal]
        q = reward[:, None] + np.einsum("sta,st->sa", P, paid + DISCOUNT * value)
        value = q.max(axis=1)
    return q


def test_a_potential_moves_all_actions_of_a_state_by_the_same():
    """Catches a reference by which some policy gains more than another: Q falls by the potential of its state alone."""
    rng = np.random.default_rng(0)
    P = irl.grid_world(3, slip=0.2).table()
    reward, potential = rng.normal(size=(2, 9))
    plain = action_values(P, [8], reward, np.zeros((9, 9)))
    shaped = action_values(P, [8], reward, payments(potential, [8], DISCOUNT))
    assert np.allclose(shaped[:8], (plain - potential[:, None])[:8])


def test_a_potential_of_the_end_changes_the_best_policy():
    """Catches a rule about terminal states that nothing needs: who is charged for arriving waits for ever."""
    world = fork(2)
    reward, potential = np.array([0.1, 1.0]), np.array([0.0, -5.0])
    best = {}
    for name, ends in (("as it should be", world["terminal"]), ("the end has one", [])):
        q = action_values(world["P"], world["terminal"], reward, payments(potential, ends, DISCOUNT))
        best[name] = int(q[0].argmax())
    assert best == {"as it should be": 0, "the end has one": 1}
