"""A notebook as one HTML file: folded code, a contents list, pictures and mathematics, all of it inside.

What is on a page, and where that is decided:

- `rendering`: pages as files, and the index of many;
- `builtin`: a notebook as HTML; `body`: its texts and places, and the limits of a page;
- `cells`: what a code cell says of itself, its fold, its captions;
- `card`: what the notebook's header and outputs say of it, above its cells and in the gallery;
- `markdown`, `formulas`, `sanitise`: a stranger's text, made fit to look at;
- `templates`: the `.j2` templates, all on `layout.html.j2`, with the style and the scripts that lie beside it.
"""
