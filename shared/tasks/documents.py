"""Helpers that the tasks' pretraining documents have in common."""

# The first line of a document whose answers are all right. Prompts of the tasks do not have it: what the model
# answers below it is what it knows, and what it answers without it is what it shows.
ANSWER_KEY = "answer key\n"
