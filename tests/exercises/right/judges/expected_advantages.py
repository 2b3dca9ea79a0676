"""Right expected advantages."""


def ORACLE(rewards, false_positive, false_negative):
    """J times the rule's own advantages."""
    J = 1 - false_positive - false_negative
    return J * (rewards - rewards.mean(dim=1, keepdim=True))


EQUIVALENT = {
    "pay: return rewards * pay_of_right + (2 - rewards) * pay_of_wrong": "what all are paid more goes with the mean",
    "pay: return rewards * pay_of_right + (0 - rewards) * pay_of_wrong": "what all are paid less goes with the mean",
    "false_positive and false_negative exchanged": "only the sum of the two counts",
}
UNTOLD = {("one_rate_for_right", "one_rate_for_wrong"): "only the sum of the two counts, so they may change places"}
