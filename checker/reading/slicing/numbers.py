"""Numbers of what only a run of a notebook makes: `len(train_rows)`, `model.config.vocab_size`.

The program of one function has neither rows nor model. The notebook as it was handed out makes them, so its number is put
in the place of such an expression. The form is fixed, and only a number counts: no text of a solution passes through.

    the notebook                     the program of `step_of`
    train_rows = dataset(64)         left out: grading does not run it
    XX = len(train_rows)             XX = 64
    def step_of(rows):               def step_of(rows):
        return rows[:XX]                 return rows[:XX]
"""

import ast
from collections.abc import Collection, Iterator, Mapping


def measured(node: ast.AST, names: Collection[str]) -> Iterator[ast.expr]:
    """The expressions in a node that may be a number of one of these names: its length, or an attribute."""
    methods = {part.func for part in ast.walk(node) if isinstance(part, ast.Call)}
    for part in ast.walk(node):
        if isinstance(part, ast.expr) and part not in methods and root_of(part) in names:
            yield part


def root_of(node: ast.expr) -> str:
    """`x` of `len(x)` and of `x.a.b`; "" for an expression of another form."""
    if isinstance(node, ast.Call):
        is_length = isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1
        inner = node.args[0] if is_length and not node.keywords else None
        return inner.id if isinstance(inner, ast.Name) else ""
    is_attribute = isinstance(node, ast.Attribute)
    while isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and not node.attr.startswith("_"):
        node = node.value
    return node.id if is_attribute and isinstance(node, ast.Name) else ""


def with_numbers(source: str, numbers: Mapping[str, float]) -> ast.stmt:
    """A statement with numbers in the place of expressions.

    Raises:
        SyntaxError, ValueError, RecursionError: the source cannot be read.
    """

    class Put(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            known = isinstance(node, (ast.Call, ast.Attribute)) and ast.unparse(node) in numbers
            return ast.Constant(numbers[ast.unparse(node)]) if known else self.generic_visit(node)

    return ast.fix_missing_locations(Put().visit(ast.parse(source).body[0]))
