"""Grading a class: what students handed in is collected, run in isolation, checked with hidden cases and given points.

`collect/` finds what was handed in and whose it is, `box/` runs it in isolation, `judge/` gives points to one submission
after the other, `table/` writes down what a class gets; `classes.py` leads a class through all four. The programs of
`box/inside/` and `judge/oracle/` run in processes of their own; they alone may import torch.
"""
