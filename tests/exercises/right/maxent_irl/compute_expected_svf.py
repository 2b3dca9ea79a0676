"""Right forward passes."""

from shared import irl


def ORACLE(P, p_initial, terminal, reward):
    return irl.compute_expected_svf(P, p_initial, terminal, reward)


EQUIVALENT = {"chain: chain = moving": "nothing reads the matrix again that is changed in place"}
UNTOLD = {
    ("one_count_more", "one_count_less"): "one more and one less make the right number",
    ("last_time_only", "setting_off_again"): "where the walkers of every time are in the end is the sum over times",
}
