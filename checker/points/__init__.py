"""Points: the checks that earn them, what a person gives, and what they come to."""
