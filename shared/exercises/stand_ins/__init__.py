"""Stand-ins beside a student's function while it is judged: models that say what they were told to, kinds of results.

Grading calls the function in a box, which may show these files. So none of them holds a reference, and none imports
the catalogue, where the references are.
"""
