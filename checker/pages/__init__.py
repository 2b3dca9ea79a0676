"""A notebook as one HTML file: folded code, a contents list, pictures and mathematics, all of it inside.

What is on a page, and where that is decided:

- `rendering`: pages as files, the index of many, and which engine shows a notebook;
- `body`: the cells of a notebook, whichever engine shows them: places, headings, limits;
- `builtin`, `quarto`: the two engines; `cells`: what a code cell says of itself, its fold, its captions;
- `card`: what the notebook's header and outputs say of it, above its cells and in the gallery;
- `markdown`, `formulas`, `parts`, `sanitise`: a stranger's text, made fit to look at;
- `templates`: the `.j2` templates, all on `layout.html.j2`, with the style and the scripts that lie beside it.
"""
