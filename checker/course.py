"""What a notebook of the course needs beside itself, wherever it is run: here, in a box, on Gradescope, at a student's."""

# Folders of the project. The sweeps are the recorded runs that `shared.recorded` reads, with the programs that made them.
NEEDED = ("checker", "shared", "models", "benchmarks/sweeps")
