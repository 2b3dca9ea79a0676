"""One file for each exercise: `EXERCISE`, with its reference in steps, its slips and how its arguments are drawn."""
