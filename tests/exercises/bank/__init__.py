"""Functions of students that nobody wrote who had seen a check: ten readers of the blank editions alone.

`reader_1.txt` ... hold them. A block begins with a line `# === wrong | chapter | check | the mistake` or
`# === right | chapter | check | the style`; below it stands the code. Half of the blocks is for mending the checks, the
other half is held out: nobody reads it before the mending is over. `reading.py` reads them, `holding.py` holds them
against the checks, `corrections.yml` lists what their authors took for wrong and is right, or the reverse.
"""
