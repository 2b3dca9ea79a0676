"""Right ways to write k3."""

from shared.kl import per_token_kl


def ORACLE(logps, ref_logps):
    return per_token_kl(logps, ref_logps, "k3")


def in_double(logps, ref_logps):
    log_r = ref_logps.double() - logps.double()
    return log_r.exp() - log_r - 1


RIGHT = [in_double]

UNTOLD = {("without_minus_one", "one_taken_off_twice"): "one 1 more and one less"}
