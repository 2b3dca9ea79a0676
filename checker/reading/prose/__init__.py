"""The text of Markdown cells: read by a parser, with the formulas of notebooks and what Quarto adds to Markdown."""
