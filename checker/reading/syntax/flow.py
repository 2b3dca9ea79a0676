"""The flow of a value through a notebook: a test for every expression that is made of it.

    ids = model.generate(prompt_ids)        origin: a call of `generate`
    rows = [row[n:] for row in ids]         made of it, as are `rows` and `pad(rows)`
    texts = tokenizer.batch_decode(rows)    stop: a call of `batch_decode` lets nothing of it through

The value is followed through assignments, loops, comprehensions, `append` and the notebook's own functions.
"""

import ast
from collections.abc import Callable

from checker.reading.syntax.code import Code, Variable
from checker.reading.syntax.expressions import parameters, plain_name

Test = Callable[[ast.AST], bool]
MOST_ROUNDS = 5  # of following variables to variables; a longer chain gives up


class Flow:
    """A test for expressions that are made of a value.

    origin: recognises an expression that is the value.      stop: recognises one that lets nothing of it through.

    A variable counts only when all that it is bound to does (but empty lists and None), and a parameter only when all
    that is passed for it does.
    """

    def __init__(self, code: Code, origin: Test, stop: Test):
        self.code = code
        self.origin = origin
        self.stop = stop
        self.variables: set[Variable] = set()  # made of the value, all that they are bound to
        self.makers: set[str] = set()  # functions of the notebook that return what is made of it, at every return
        self._is_followed = False

    def __call__(self, node: ast.AST) -> bool:
        if not self._is_followed:
            self._is_followed = True
            self._follow()
        return self._is_made_of_it(node)

    def _follow(self) -> None:
        """Find the variables and the makers: a variable may be made of another, so again until none is added."""
        for _ in range(MOST_ROUNDS):
            known = len(self.variables) + len(self.makers)
            for variable, values in self.code.given.items():
                if variable not in self.variables and all(map(self._is_made_of_it, values)):
                    self.variables.add(variable)
            for name, values in self.code.returned.items():
                if all(not isinstance(value, ast.Tuple) and self._is_made_of_it(value) for value in values):
                    self.makers.add(name)
            if len(self.variables) + len(self.makers) == known:
                break

    def _is_made_of_it(self, node: ast.AST) -> bool:
        """True if the value is in the expression, in no part that stops it."""
        waiting = [node]
        while waiting:
            part = waiting.pop()
            if self.origin(part) or (isinstance(part, ast.Call) and plain_name(part.func) in self.makers):
                return True
            if self.stop(part):
                continue
            if isinstance(part, ast.Name):
                in_force = self.code.binding_in_force(part)
                if in_force is not None:
                    waiting.append(in_force.value)
                elif self.variables and self.code.variable(part) in self.variables:
                    return True
            if isinstance(part, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
                waiting.append(part.elt)  # what it goes over is no part of the result
            elif not self._is_field_of_parameter(part):
                waiting.extend(self.code.children(part))
        return False

    def _is_field_of_parameter(self, node: ast.AST) -> bool:
        """True for `batch.ids` of a parameter `batch`: one field of what was passed, not the whole of it."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return False
        variable = self.code.variable(node.value)
        parent = self.code.parent(node)
        is_method = isinstance(parent, ast.Call) and parent.func is node
        return variable.name in parameters(variable.scope) and variable not in self.code.bindings and not is_method
