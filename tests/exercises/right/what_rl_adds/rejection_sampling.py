"""Right loops of rejection sampling; what they call is a notebook's."""

ORACLE = None


EQUIVALENT = {
    "drawn: pairs = [(row, text) for row in batch for text in model_now.says(row['prompt'], 2.0, G)]": "a speaker says the same at any temperature above 0",
}
