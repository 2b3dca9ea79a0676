"""The completions of a run as one page: `python -m shared.run.rollouts FILE`.

`data.py` is what the page is given, `page.py` the file, `page.html`, `page.css` and `page.js` its parts.
"""
