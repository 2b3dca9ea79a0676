"""Grading a class: what students handed in is collected, run in isolation, judged by hidden cases and written down.

One line leads through it, each step a function that can be called alone. `commands/grade.py` calls those at the left:

    class_of        the folder's class.yml          -> the class: rules, worked notebooks, roster       classes.py
    collected       folders and zips, the class     -> the work: notebooks and what was set aside       work.py
    bounded         the work                        -> the same, each notebook within its limits        work.py
    graded          the work                        -> a result for each notebook                       results.py
      judge, run    a notebook                      -> verdicts on its functions, its outputs           judge/submission.py
      result_of     both                            -> points, findings, page                           judge/submission.py
    write_class     the work, its results           -> table, pages, feedback, gradebooks               writing.py
      lines_of      the work, its results           -> a line for each student                          lines.py

For one student it may go like this. Ann hands in dots.ipynb twice and a day late; `loss` is worth 2 points, a question 3:

    collected    the later of the two files; the other is set *aside*, which is: not graded, with the reason
    bounded      240 s and 3,000 MB: the worked notebook took 60 s and 1,500 MB on this machine
    judge, run   `loss` is wrong in some hidden cases and earns 3/4 of its points; the notebook runs to its end
    result_of    1.5 of 2 points for `loss`; the question waits for the instructor
    lines_of     ann: 1.5 points, a question open, 1 day late

With one exercise judged anew `regraded` stands in the place of `graded`. A *sheet* is the worked notebook with the points of
its exercises, a *box* the processes without network in which a submission runs, *references* are right functions.

`collect/` knows the platforms, `box/` the isolation, `judge/` the points of one notebook, `table/` the files of a class.
`challenge.py` ranks settings that were handed in, apart from all of it.
The programs of `box/inside/` and `judge/oracle/` run in processes of their own; they alone may import torch.
"""
