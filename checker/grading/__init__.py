"""Grading a class: what students handed in is collected, run in isolation, judged by hidden cases and written down.

`commands/grade.py` does this, without its options and messages:

    this_class = class_of(folder, isolation)         # class.yml: rules, worked notebooks, class list         classes.py
    work = collected(paths, this_class)              # a job for each notebook; the other files are ungraded  work.py
    measure_limits(work, this_class, place, threads) # what the worked notebooks take on this machine         work.py
    work = with_limits(work, this_class, place)      # limits of time and memory for each job                 work.py
    results = list(graded(work, folder, run_jobs))   # for each job its points, findings and page             results.py
    write_class(this_class, work, results, ...)      # table, pages, feedback, gradebooks                     writing.py

`run_jobs` (`judge/scheduling.py`) calls `grade` (`judge/one_notebook.py`) for each job. The words:

    submission        a file that a student handed in
    worked notebook   a notebook of the course with its solutions: the exercises and their points
    job               one notebook to grade: its text, its worked notebook, its student and its limits
    work              all jobs of a class, the ungraded files with the reason of each, and who is missing
    box               a sandbox: processes without network, with limits, in which students' code runs

For one student it may go like this. Ann hands in dots.ipynb twice and a day late; `loss` is worth 2 points, a question 3:

    collected      a job for the later of the two files; the other is ungraded
    with_limits    240 s and 3,000 MB: the worked notebook took 60 s and 1,500 MB on this machine
    graded         `loss` gets 3/4 of its hidden cases right: 1.5 of 2 points; the question waits for the instructor
    write_class    ann: 1.5 points, a question open, 1 day late

With one exercise judged anew `regraded` stands in the place of `graded`. `collect/` knows the platforms, `box/` the
isolation, `judge/` the points of one notebook, `table/` the files of a class. `challenge.py` ranks settings that were
handed in, apart from all of it. The programs of `box/inside/` and `judge/oracle/` run in processes of their own; they
alone may import torch.
"""
