"""The editions of a notebook and of the course: blank, for Colab, and what a student gets."""
