"""The exercises about open answers: rewards, leakage between sets, errors of pairs."""
