"""The web site of the course, by Quarto or without it."""
