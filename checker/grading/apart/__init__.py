"""Programs that run in processes of their own. `python -m checker.grading.apart` is what runs inside a box."""
