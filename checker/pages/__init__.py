"""A notebook as one HTML file: folded code, a contents list, pictures and mathematics, all of it inside.

What is on a page, and where that is decided:

- `site`: pages as files, the index of many, and which engine shows a notebook;
- `body`: the cells of a notebook, whichever engine shows them: places, headings, limits;
- `builtin`, `quarto`: the two engines; `cells`: what a code cell says of itself, its fold, its captions;
- `markdown`, `formulas`, `parts`, `sanitise`: a stranger's text, made fit to look at;
- `course`: the course site without Quarto, and `crossings`, its numbered equations and figures;
- `website`, `finish`, `pieces`, `pruned`: what the site is, and what its pages get whichever engine made them;
- `templates`: the `.j2` templates, all on `layout.html.j2`, with the style and the scripts that lie beside it.
"""
