"""Grading a class: what students handed in is collected, run in isolation, checked with hidden cases and given points.

One idea a file. `apart/` holds the programs that run in processes of their own, in the box or beside it; they alone may
import torch.
"""
