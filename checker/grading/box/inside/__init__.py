"""The programs that run inside a box: `python -m checker.grading.box.inside` takes a job and does it."""

# Records that a box sends of itself: its job is ready to run what was handed in, and it came to its end.
BEGUN = "begun"
FINISHED = "finished"
