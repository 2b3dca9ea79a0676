"""The uploads of a class: all that was handed in, whose it is, and which notebooks resemble each other."""
