"""The outputs of a notebook: rewards, the results of checks, and whether they bear out what it claims."""
