"""Right ways to write the KL of completions."""

from shared import kl


def ORACLE(logits, ref_logits, completion_mask):
    return kl.completion_kl(logits, ref_logits, completion_mask)
