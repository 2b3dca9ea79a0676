"""The exercises of the first notebook: one GRPO step, part by part, and the reward of dots."""
