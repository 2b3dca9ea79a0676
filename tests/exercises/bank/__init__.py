"""Functions of students that nobody wrote who had seen a check: ten readers of the blank editions alone.

`reader_1.txt` ... hold the wrong ones. A block begins with a line `# === wrong | chapter | check | the mistake`; below it
stands the code. The right ones of the same readers, `# === right | chapter | check | the style`, lie in
`tests/exercises/literal/`. Half of the blocks is for mending the checks, the other half is held out: nobody reads it
before the mending is over. `reading.py` reads them, `holding.py` holds them against the checks, `corrections.yml` lists
what their authors took for wrong and is right, or the reverse.

`later/` holds further banks, each held against the checks before anybody read it (`benchmarks/checks.md` has what came of
it): `reader_11.txt` to `reader_15.txt`, and `reader_16.txt` to `reader_20.txt`, who were asked to leave out the commonest
mistakes; `reader_21.txt` and `reader_22.txt`; `reader_23.txt`; `reader_24.txt`; `reader_25.txt` to `reader_32.txt`, without
what they wrote for `own_task`, whose checks are of another kind; `reader_33.txt` to `reader_35.txt`.
`unnamed.yml` lists what still has no name in any bank, with the reason: it is not to grow.
"""
