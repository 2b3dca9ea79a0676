"""Checks that fit any task: of the rows, the cases and the reward of a task of one's own, and whether it can be learnt.

There is no reference to compare with. A flaw is what is wrong in every task, and is best told before training: a reward
that reads the prompt, one that no completion ever earns, rows that are trained on and held out. What the author may
want, such as a reward that pays for all answers at once, is no flaw: a warning tells of it.
"""
