"""The results of a class: the table of grades, a page for each student, and the folder that holds both."""
