"""Documents to train on, as a result that can be compared."""

from dataclasses import dataclass

from shared.exercises.results import RETURN_MISSING, NotAResult, Text, named


@dataclass(frozen=True)
class Documents(Text):
    """A list of dicts, read as a text of one line for each; those of one prompt in their order."""

    def read(self, result) -> tuple[str, str]:
        if result is None:
            raise NotAResult(RETURN_MISSING)
        if not isinstance(result, (list, tuple)):
            raise NotAResult(f"it returns {named(result)}; return a list of documents.")
        for document in result:
            if not isinstance(document, dict) or set(document) != {"prompt", "completion"}:
                raise NotAResult(
                    "its list has an entry that is no document; each is a dict with the keys 'prompt' and 'completion'."
                )
        ordered = sorted(result, key=lambda document: str(document["prompt"]))
        lines = [f"{document['prompt']!r} -> {document['completion']!r}" for document in ordered]
        return "\n".join(lines) or "no documents", ""
