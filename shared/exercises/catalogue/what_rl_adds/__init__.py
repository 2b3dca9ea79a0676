"""The exercises about what a run adds: pass@k, and what is kept of samples and learnt in rounds."""
