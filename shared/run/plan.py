"""A plan made from the command line, checked before anything is loaded."""

from dataclasses import dataclass
from pathlib import Path

from transformers import PreTrainedTokenizerBase

from shared.distill import TEACHER_PROMPT
from shared.engine.files import refuse_unwritable
from shared.experience import RolloutConfig
from shared.model_classes import EMBEDDED, class_of
from shared.recipes import Recipe, teacher_header_of
from shared.run import loggers
from shared.run.algorithms import ALGORITHMS, config_for
from shared.saving import refuse_to_overwrite

CHECKPOINT_EVERY = 10


@dataclass(frozen=True)
class Plan:
    """The run that the command line asked for.

    settings: those of the algorithm that were given; the others are the recipe's, and then the configuration's.
    model: a folder or hub name, None for the embedded one.
    lora: whether adapters are trained; None trains what the recipe says.
    checkpoint, save, result: paths, None for none.    logs: see `shared.run.loggers`.
    engine: "course", or "trl" for the hand-over of `shared/run/hand_over.py`; the rest is for that one alone.
    use_vllm, vllm_server: vLLM beside the training processes, or a server's address.
    trl_options: for `trl.GRPOConfig`, as they were written behind `--`.
    """

    recipe: Recipe
    algorithm: str
    settings: dict[str, object]
    model: str | None = None
    lora: bool | None = None
    load_in_4bit: bool = False
    checkpoint: Path | None = None
    save: Path | None = None
    result: Path | None = None
    logs: tuple[str, ...] = ()
    engine: str = "course"
    use_vllm: bool = False
    vllm_server: str | None = None
    trl_options: tuple[str, ...] = ()

    @property
    def trained(self) -> str:
        """The weights that are trained, a key of `shared.recipes.TRAINED`."""
        if self.load_in_4bit or self.lora:
            return "lora"
        return self.recipe.trained if self.lora is None else "all"

    def config(self, max_new_tokens: int, tokenizer: PreTrainedTokenizerBase | None = None) -> RolloutConfig:
        """The settings in force, those of the tokenizer's class of model. Raises ValueError for one that the algorithm
        lacks or refuses.
        """
        config_class = ALGORITHMS[self.algorithm].config
        kind = EMBEDDED if tokenizer is None else class_of(tokenizer, self.trained)
        settings = self.recipe.settings_of(self.algorithm, config_class, kind) | {"max_new_tokens": max_new_tokens}
        if self.checkpoint is not None:
            settings["checkpoint_every"] = CHECKPOINT_EVERY
        return config_for(self.algorithm, settings | self.settings)


def check(plan: Plan) -> None:
    """Tell a mistake before a model is loaded, and not after a night of training. Raises ValueError or OSError."""
    if TEACHER_PROMPT in ALGORITHMS[plan.algorithm].algorithm.columns:
        teacher_header_of(plan.recipe)
    plan.config(max_new_tokens=1)
    for where in plan.logs:
        loggers.check(where)
    if plan.save is not None:
        refuse_to_overwrite(plan.save)
    files = [plan.result, *(loggers.file_of(where) for where in plan.logs)]
    for file in filter(None, files):
        if file.is_dir():
            raise ValueError(f"{file} is a folder; give a file.")
    for place in filter(None, (*files, plan.save)):
        refuse_unwritable(place)
