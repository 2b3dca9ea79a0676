"""Right backward passes."""

from shared import irl


def ORACLE(P, terminal, reward):
    return irl.local_action_probabilities(P, terminal, reward)


EQUIVALENT = {
    "start: z[terminal] = 2.0": "sweeps are linear: all of Z is twice as large, and the policy is a quotient of two Z",
    "partition: z = z_action.mean(axis=1)": "all of Z is divided by the number of actions in each sweep; the quotient stays",
}
UNTOLD = {("one_sweep_less", "one_sweep_more"): "one less and one more make the right number"}
