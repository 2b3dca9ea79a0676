"""Checks that fit any task: of the rows, the cases and the reward of a task of one's own, and whether it can be learnt.

There is no reference to compare with. What is asked for is what holds for every task, and what somebody who designs one
is told best before training: a reward that reads the prompt, one that no completion ever earns, rows that are trained on
and held out. What cannot be known to be wrong, such as a reward that pays for all answers at once, is said and no flaw.
"""
