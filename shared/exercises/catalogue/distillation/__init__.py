"""The exercises about distillation: the teacher's prompt, two divergences, an estimate of one, and the loss of a step."""
