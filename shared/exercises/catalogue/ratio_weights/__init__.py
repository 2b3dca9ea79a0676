"""The exercises about what multiplies the gradient."""
