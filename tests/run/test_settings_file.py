"""The options of a run, read from its result."""

import json

from shared.run.settings_file import overridden, read_options

RESULT = {
    "task": "dots",
    "algorithm": "grpo",
    "engine": "course",
    "trained": "upper half",
    "load_in_4bit": False,
    "constrained": False,
    "train_rows": 8,
    "eval_rows": 4,
    "settings": {"steps": 2, "reward_weights": None},
}


def model_in(folder, name, revision=None):
    """The option for the model of a run with this one."""
    file = folder / "run.json"
    file.write_text(json.dumps(RESULT | {"model": {"name": name, "revision": revision}}), encoding="utf-8")
    return read_options(file)["model"]


def test_a_model_is_called_as_the_run_called_it(tmp_path):
    """Catches a revision that is lost: the newest weights instead of those of the run."""
    assert model_in(tmp_path, "name/of-a-hub") == "name/of-a-hub"
    assert model_in(tmp_path, "name/of-a-hub", "0123abc") == "name/of-a-hub@0123abc"


def test_a_run_with_another_model_is_told_whose_settings_it_keeps(tmp_path):
    """Catches a real model that takes the embedded one's rate, a hundred times its own, without a word."""
    kept = {"model": "models/course-lm", "steps": 2}
    assert "settings stay those of models/course-lm" in overridden(kept, {"model": "smollm2"}, tmp_path)
    assert "settings stay" not in overridden(kept, {"steps": 3}, tmp_path)
    assert "settings stay" not in overridden(kept, {"model": "models/course-lm", "steps": 3}, tmp_path)
