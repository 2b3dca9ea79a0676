"""Right weights of SAPO."""

from shared.losses import ratio_weight


def ORACLE(ratio, advantages, tau_pos, tau_neg):
    temperatures = {"sapo_temperature_pos": tau_pos, "sapo_temperature_neg": tau_neg}
    return ratio_weight(ratio.log(), advantages, "sapo", **temperatures)


EQUIVALENT = {"distance: return 1 - ratio": "the slope of the sigmoid is the same on both sides of 0"}
