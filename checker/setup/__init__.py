"""The commands that work before anything is installed: the environment, a student's own copy. Standard library alone."""
