"""The exercises about a format to think in: its reward, a step in parts, greedy evaluation."""
