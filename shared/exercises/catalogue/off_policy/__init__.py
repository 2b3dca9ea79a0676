"""The exercises about several updates on one rollout."""
