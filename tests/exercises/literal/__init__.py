"""The TODO of every exercise, implemented by somebody who had read its blank edition and nothing of a check.

`reader_1.txt` ... are of ten readers: each implemented a TODO once as it is worded and once in another style. `open.txt` is
of another reader, who took what a page leaves open either way: the first word ends at a space or at any white space, a
number comes back as a tensor, a terminal row is filled in by the formula as well. `author.txt` is of the authors of chapters,
who knew the checks, until such readers have had its edition. All of them have to pass. Those
of `reader_20.txt` are of a reader of ratio_weights and distillation. The exercises of own_task have no one right function; `tests/exercises/test_own_task.py` tries whole tasks on them.
"""
