"""Right ways to add up a gradient in parts; `sequence_logps`, `gspo_loss` and the numbers are a notebook's."""

ORACLE = None


EQUIVALENT = {
    "weighted: return [mean * share for mean, share in zip(shares, means)]": "of two numbers or truths, in any order",
    "parts is always 1": "all parts together make the gradient of the whole batch; parts save memory",
    "chunks: return [chosen.flatten() for chosen in torch.arange(len(advantages)).view(-1, G)]": "the parts of any cut add up to the same",
    "chunks: return [chosen.flatten() for chosen in torch.arange(len(advantages)).chunk(parts)]": "the parts of any cut add up to the same",
    "chunks: return [chosen.flatten() for chosen in torch.arange(len(advantages)).view(G, -1).chunk(parts)]": "the parts of any cut add up to the same",
}
