"""The exercises about estimators of the policy gradient, on tables of a few prompts and completions."""
