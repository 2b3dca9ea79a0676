"""Grid worlds and maximum-entropy inverse reinforcement learning, derived in notebooks/maxent_irl.ipynb.

Ziebart et al., "Maximum Entropy Inverse Reinforcement Learning" (AAAI 2008), in the form of the handout, and the
maximum causal entropy variant of Ziebart's thesis (2010). What a notebook uses is named here; the figures, which need
matplotlib, come from `shared.irl.figures`.
"""

from shared.irl.checks import check_problem
from shared.irl.demonstrations import generate_trajectories
from shared.irl.fitting import (
    Fit,
    NotConverged,
    Optimiser,
    exponentiated_gradient,
    feature_expectation_from_trajectories,
    feature_gap,
    gradient_ascent,
    initial_probabilities_from_trajectories,
    maxent_causal_irl,
    maxent_irl,
)
from shared.irl.planning import (
    causal_policy,
    compute_expected_svf,
    expected_return,
    local_action_probabilities,
    stochastic_policy_from_value,
    tilted_transitions,
    value_iteration,
    visitation,
)
from shared.irl.worlds import MOVES, PerState, Policy, Table, Transitions, as_transitions, grid_world
from shared.trajectory import Trajectory

__all__ = [
    "Fit",
    "MOVES",
    "NotConverged",
    "Optimiser",
    "PerState",
    "Policy",
    "Table",
    "Trajectory",
    "Transitions",
    "as_transitions",
    "causal_policy",
    "check_problem",
    "compute_expected_svf",
    "expected_return",
    "exponentiated_gradient",
    "feature_expectation_from_trajectories",
    "feature_gap",
    "generate_trajectories",
    "gradient_ascent",
    "grid_world",
    "initial_probabilities_from_trajectories",
    "local_action_probabilities",
    "maxent_causal_irl",
    "maxent_irl",
    "stochastic_policy_from_value",
    "tilted_transitions",
    "value_iteration",
    "visitation",
]
