"""Running a notebook of one's own from top to bottom, in a fresh kernel."""
