"""The tests. jaxtyping's option imports the first name of `tests.shapes_checked` only, and asks it for the second."""


def __getattr__(name: str):
    """`shapes_checked`, whose imports take a while, when it is asked for: `make test` does not."""
    if name != "shapes_checked":
        raise AttributeError(f"module 'tests' has no attribute {name!r}")
    from tests.shapes import shapes_checked

    return shapes_checked
