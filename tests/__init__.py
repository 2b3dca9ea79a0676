# jaxtyping's option imports the first name of `tests.shapes_checked` only.
from tests.shapes import shapes_checked as shapes_checked
