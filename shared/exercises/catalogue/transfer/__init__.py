"""The exercises about what carries over: accuracy by length, an environment, and which tokens a loss is about."""
