"""Programs that run in processes of their own. `python -m checker.grading.apart` is what runs inside a box."""

# Records that a box sends of itself: its job is ready to run what was handed in, and it came to its end.
BEGUN = "begun"
FINISHED = "finished"
