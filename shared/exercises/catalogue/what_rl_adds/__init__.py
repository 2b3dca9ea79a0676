"""The exercises about what a run adds: pass@k, what is kept of samples and learnt in rounds, a reward for near misses."""
