"""Right ways to score episodes; `sample`, `REWARDS` and `G` are a notebook's."""

ORACLE = None


EQUIVALENT = {
    "completions: return [text for row in rows for text in model.says(row['prompt'], 2.0, G)]": "the speaker says the same at every temperature but 0",
}
