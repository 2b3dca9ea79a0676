"""The commands that work before anything is installed: the environment, a real model, a student's own copy. Standard library alone."""
