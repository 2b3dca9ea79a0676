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

With one exercise judged anew `regraded` stands in the place of `graded`. A *sheet* is the worked notebook with the points of
its exercises, a *box* a process without network and files, what is set *aside* is not graded, *references* are right functions.

`collect/` knows the platforms, `box/` the isolation, `judge/` the points of one notebook, `table/` the files of a class.
`challenge.py` ranks settings that were handed in, apart from all of it.
The programs of `box/inside/` and `judge/oracle/` run in processes of their own; they alone may import torch.
"""
