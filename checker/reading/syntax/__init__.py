"""The code of a notebook as syntax trees, for the method rules. Nothing is executed.

`trees` parses the cells, `bindings` says what a statement binds names to, `expressions` names what an expression is,
and `code` puts the cells together and follows values from name to name.
"""
