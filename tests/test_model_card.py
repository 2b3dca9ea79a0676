"""The whole text of a model card, from records as `save_policy` keeps them."""

import pytest
import yaml

from shared.engine.named import EMBEDDED
from shared.saving import model_card

COMMIT = "0123abc"
MODEL = {
    "task": "dots",
    "base": {"name": "someone/tiny", "revision": COMMIT},
    "adapters": False,
    "license": None,
    "measured": {"baseline": 0.25, "fine-tuned": 0.98765},
    "settings": {"steps": 300000, "learning_rate": 1e-4, "note": "a | b\nc"},
}
MODEL_CARD = r"""---
license: other
license_name: that-of-the-base-model
license_link: https://huggingface.co/someone/tiny
library_name: transformers
pipeline_tag: text-generation
base_model: someone/tiny
base_model_relation: finetune
tags:
- reinforcement-learning
- tiny-grpo
---

# my-dots

Tuned from `someone/tiny` at revision `0123abc`, trained by reinforcement learning on the task: dots. An exercise of the Tiny GRPO course; do not use it for anything else.

## Measured

| | |
|---|---|
| baseline | 0.25 |
| fine-tuned | 0.9877 |

## Settings

| | |
|---|---|
| steps | 300000 |
| learning_rate | 0.0001 |
| note | a \| b c |

## Loading

```python
from shared.models import load_policy

model, tokenizer = load_policy("my-dots")
```
"""
ADAPTERS = {
    "task": "dots",
    "base": {"name": EMBEDDED, "revision": None},
    "adapters": True,
    "license": None,
    "measured": {},
    "settings": {},
}
ADAPTERS_CARD = """---
license: mit
library_name: peft
pipeline_tag: text-generation
tags:
- reinforcement-learning
- tiny-grpo
- lora
---

# my-dots

LoRA adapters for `models/course-lm`, trained by reinforcement learning on the task: dots. An exercise of the Tiny GRPO course; do not use it for anything else.

## Loading

```python
from shared.models import load_policy

model, tokenizer = load_policy("my-dots")
```
"""


def header_of(card: str) -> dict:
    return yaml.safe_load(card.split("---\n")[1])


def test_the_card_of_a_tuned_model():
    """Catches a table broken by | or by a line's end, a number in digits without end, and a header in other words than
    the hub's, which then shows neither the base nor the licence.
    """
    assert model_card(MODEL, "my-dots") == MODEL_CARD


def test_the_card_of_adapters():
    """Catches adapters that look like a whole model, a revision that there is none of, and tables without a row."""
    assert model_card(ADAPTERS, "my-dots") == ADAPTERS_CARD


def test_adapters_of_a_model_of_the_hub_say_so_in_the_header():
    """Catches adapters that the hub lists among the models tuned as a whole."""
    assert header_of(model_card(MODEL | {"adapters": True}, "my-dots")) == {
        "license": "other",
        "license_name": "that-of-the-base-model",
        "license_link": "https://huggingface.co/someone/tiny",
        "library_name": "peft",
        "pipeline_tag": "text-generation",
        "base_model": "someone/tiny",
        "base_model_relation": "adapter",
        "tags": ["reinforcement-learning", "tiny-grpo", "lora"],
    }


def test_a_base_in_a_folder_is_no_model_of_the_hub(tmp_path):
    """Catches a link to a page that does not exist, and the names of this machine's folders on a public page."""
    base = {"name": str(tmp_path / "tiny"), "revision": None}
    card = model_card(MODEL | {"base": base}, "my-dots")
    assert "Tuned from `tiny`, trained" in card and str(tmp_path) not in card
    assert header_of(card) == {
        "license": "other",
        "license_name": "that-of-the-base-model",
        "library_name": "transformers",
        "pipeline_tag": "text-generation",
        "tags": ["reinforcement-learning", "tiny-grpo"],
    }


@pytest.mark.parametrize("name", ["someone/tiny", EMBEDDED])
def test_a_licence_that_is_named_stands_alone(name):
    """Catches a card with two licences, the base's beside the one that was asked for."""
    header = header_of(model_card(MODEL | {"license": "apache-2.0", "base": {"name": name}}, "my-dots"))
    assert {key: value for key, value in header.items() if key.startswith("license")} == {"license": "apache-2.0"}
