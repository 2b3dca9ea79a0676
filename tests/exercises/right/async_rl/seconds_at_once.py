"""Right bills of two machines."""


def ORACLE(sampling, learning, updates):
    """The two machines, rollout by rollout and update by update."""
    learnt = 0.0
    for update in range(updates):
        sampled = (update + 1) * sampling
        learnt = max(sampled, learnt) + learning
    return learnt


EQUIVALENT = {
    "beat: return max(learning, sampling)": "the larger of two is the same in any order",
    "sampling and learning exchanged": "the bill is the same whichever half is the longer one",
}
