"""Right masks of completions that are near."""

from shared.losses import sampler_correction


def ORACLE(start_logps, sampler_logps, completion_mask, bound):
    weight = sampler_correction(start_logps, sampler_logps, completion_mask, "sequence_mask", bound, 1 / bound)
    return (weight[:, 0] > 0).float()


EQUIVALENT = {
    "difference: return sampler_logps - start_logps": "the range is the same upside down",
    "start_logps and sampler_logps exchanged": "the range is the same upside down",
    "near: return (ratio < bound) & (ratio >= 1 / bound)": "no ratio lies at the bound, where rounding would decide",
    "near: return (ratio <= bound) & (ratio > 1 / bound)": "no ratio lies at the bound, where rounding would decide",
}
