"""Optional reading: what makes training fast, exact and robust. It takes tensors and models, never a `Rollout`."""
