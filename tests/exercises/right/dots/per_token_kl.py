"""Right ways to write k3."""

import torch

from shared.kl import per_token_kl


def ORACLE(logps, ref_logps):
    return per_token_kl(logps, ref_logps, "k3")


def plain(logps, ref_logps):
    return (logps - ref_logps) + torch.exp(ref_logps - logps) - 1.0


def with_expm1(logps, ref_logps):
    return torch.expm1(ref_logps - logps) - (ref_logps - logps)


def in_double(logps, ref_logps):
    log_r = ref_logps.double() - logps.double()
    return log_r.exp() - log_r - 1


def as_a_quotient(logps, ref_logps):
    return ref_logps.exp() / logps.exp() - 1 + logps - ref_logps


def token_by_token(logps, ref_logps):
    rows = []
    for row, ref_row in zip(logps, ref_logps):
        rows.append(torch.stack([torch.exp(r - p) - (r - p) - 1 for p, r in zip(row, ref_row)]))
    return torch.stack(rows)


def mapped(logps, ref_logps):
    def of_token(logp, ref_logp):
        return torch.exp(ref_logp - logp) - (ref_logp - logp) - 1

    return torch.vmap(torch.vmap(of_token))(logps, ref_logps)


def in_place_on_a_copy(logps, ref_logps):
    log_r = ref_logps.clone()
    log_r -= logps
    result = log_r.exp()
    result = result - log_r
    result -= 1
    return result


RIGHT = [plain, with_expm1, in_double, as_a_quotient, token_by_token, mapped, in_place_on_a_copy]

UNTOLD = {("without_minus_one", "one_taken_off_twice"): "one 1 more and one less"}
