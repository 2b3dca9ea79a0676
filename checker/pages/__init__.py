"""A notebook as one HTML file: folded code, a contents list, pictures and mathematics, all of it inside.

`site` writes pages and their index; a page is made by `quarto` where Quarto is installed, and by `builtin`, which needs
only Python, elsewhere. `formulas` and `sanitise` make what a stranger wrote fit to look at; `templates` reads the
templates, the style and the scripts that lie beside it.
"""
