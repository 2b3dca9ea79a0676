"""Reading: a file into records. What a notebook's cells are, which section each is in, what its text comes to."""
