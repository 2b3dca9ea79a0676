"""Distillation: a student learns a teacher's distribution at every token (GKD, Agarwal et al. 2023, arXiv:2306.13649).

A rewarded completion has one number for all its tokens. A teacher gives a number for each token, or a whole
distribution: the loss is the distance of the student's distribution from the teacher's where each token was drawn, with
the tokens before it as they were sampled. No reward is learnt from; reward functions are measured for the log alone.

The teacher reads another prompt than the student, the row's `teacher_prompt`. So it may be the same model, frozen, that
is told more than the student: self-distillation (Shenfeld et al. 2026, arXiv:2601.19897). Of the prompts `a b` and `? a b`
and the completion `x .` two distributions are compared, one after each line of a column:

    student reads      a b          a b x
    teacher reads      ? a b        ? a b x
    drawn there        x            .

The loss is derived in `shared.kl.distillation_divergence` and held to the one of TRL's GKDTrainer, which was read for it
beside the abstracts of the two papers. Left out of that: mixtures of the student's samples and others. Left out of TRL's
self-distillation: a teacher that follows the student. The gradient is that of the distributions after the tokens that
were sampled, and not of what these tokens lead to (`shared/kl.py`).
`notebooks/distillation.ipynb` writes the divergences and a step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared import training
from shared.algorithm import Metrics, require_at_least, require_positive
from shared.engine.positions import check_fit
from shared.engine.processes import ALL_ROWS, Share
from shared.experience import Experience, RolloutAlgorithm, RolloutConfig, rewarded_rollout, take_sampling_options
from shared.guard import GuardReport, verify
from shared.kl import distillation_divergence, exact_kl
from shared.logps import by_completion, completion_logps, distributions
from shared.losses import masked_mean
from shared.reference import Reference, reference_model
from shared.rewards import RewardFunction
from shared.rollout import Rollout, read_prompts
from shared.rows import check_rows
from shared.tokens import prompt_ids

TEACHER_PROMPT = "teacher_prompt"  # the column of a row that the teacher reads


@dataclass(frozen=True)
class DistillConfig(RolloutConfig):
    """Settings of a distillation: those of `TrainingConfig` and `RolloutConfig`, and these.

    num_generations: completions for each prompt; one is enough, since none is compared with another.
    temperature: of the student's distribution, when it is sampled and when it is compared.
    teacher_temperature: the same of the teacher's. Below 1 it is surer than the model: near 0 all that the teacher says
        is its likeliest token, and the reverse KL grows without bound.
    distillation_alpha: 0 is the forward KL, of the teacher from the student; 1 the reverse; between them the generalised
        Jensen-Shannon divergence.
    sampled_by: whose completions the two are compared on, the "student"'s or the "teacher"'s; TRL's lmbda 1 and 0.
    """

    num_generations: int = 1
    teacher_temperature: float = 1.0
    distillation_alpha: float = 1.0
    sampled_by: Literal["student", "teacher"] = "student"

    def __post_init__(self):
        super().__post_init__()
        require_at_least(self, 0, "distillation_alpha")
        require_positive(self, "teacher_temperature")
        if self.distillation_alpha > 1:
            raise ValueError(
                f"distillation_alpha is {self.distillation_alpha}; it goes from 0, forward, to 1, reverse."
            )
        if self.sampling.cuts_tokens:
            raise ValueError(
                "top_k and top_p cut tokens off, and of a token that one of the two models never says the KL is "
                "infinite: leave them out."
            )
        if self.beta:
            raise ValueError(
                "beta is a penalty towards a reference, and here all of the loss draws to one: leave it 0."
            )

    @property
    def needs_reference(self) -> bool:
        """The reference is the teacher."""
        return True


@dataclass(frozen=True)
class TaughtExperience(Experience):
    """The same completions below both prompts: `rollout` as the student reads them, `taught` as the teacher does.

    `old_logps` are those of the model that sampled. The advantages are 0: nothing is learnt from rewards.
    """

    taught: Rollout

    def parts(self, prompts: Sequence[int], rollout: Rollout) -> dict:
        return super().parts(prompts, rollout) | {"taught": self.taught.take(prompts)}


class Distillation(RolloutAlgorithm[PreTrainedModel, TaughtExperience, DistillConfig]):
    """Distillation as the training loop takes it; its `reference` is the teacher."""

    name = "distillation"
    config_class = DistillConfig
    columns = ("prompt", TEACHER_PROMPT)
    reference_is = "teacher"

    def check(self, rows: Sequence[dict]) -> None:
        super().check(rows)
        teacher = self.reference if isinstance(self.reference, nn.Module) else self.model
        read = prompt_ids(self.tokenizer, [row[TEACHER_PROMPT] for row in rows])
        check_fit(teacher, self.tokenizer, read, self.config.max_new_tokens)

    def collect(self, rows: Sequence[dict], step: int, share: Share = ALL_ROWS) -> TaughtExperience:
        check_rows(rows, *self.columns)
        rows_of_teacher = [row | {"prompt": row[TEACHER_PROMPT]} for row in rows]
        of_teacher = replace(self.config, temperature=self.config.teacher_temperature)
        if self.config.sampled_by == "student":
            collected = self.sampled(self.model, rows, self.config, step, share)
        else:
            with reference_model(self.model, self.reference) as teacher:
                collected = self.sampled(teacher, rows_of_teacher, of_teacher, step, share)
        sampled, rewards_per_func, rewards, metrics = collected
        rollout, taught = below_both(sampled, self.tokenizer, rows, rows_of_teacher)
        return TaughtExperience(
            rollout=replace(rollout, sampling=self.config.sampling),
            rewards_per_func=rewards_per_func,
            rewards=rewards,
            advantages=torch.zeros_like(rewards).to(rollout.old_logps.device),
            ref_logps=None,
            metrics=metrics,
            taught=replace(taught, sampling=of_teacher.sampling),
        )

    def sampled(
        self, model: PreTrainedModel, rows: Sequence[dict], config: DistillConfig, step: int, share: Share
    ) -> tuple[Rollout, Float[Tensor, "B F"], Float[Tensor, "B"], Metrics]:
        """Completions of this model below the rows' prompts, and what the rewards make of them."""
        return rewarded_rollout(
            model, self.tokenizer, rows, self.reward_funcs, config, step, share, **self.sampled_with
        )

    def verify(self, experience: TaughtExperience) -> GuardReport:
        """The student is looked at in any case, the teacher where it sampled.

        What the student did not sample is scored by it, and that is held against its own pass alone.
        """
        if self.config.sampled_by == "student":
            return super().verify(experience)
        with reference_model(self.model, self.reference) as teacher:
            report = verify(teacher, experience.taught)
        with torch.no_grad():
            scored = completion_logps(self.model, experience.rollout)[0]
        own = verify(self.model, replace(experience.rollout, old_logps=scored))
        return replace(own, fell_back=own.fell_back or report.fell_back)

    def loss(self, experience: TaughtExperience) -> tuple[Float[Tensor, ""], dict[str, Tensor]]:
        """The mean over the sampled tokens of the divergence between the two distributions; `kl` is the reverse one."""
        rollout = experience.rollout
        logits, row_of_token, token_places = distributions(self.model, rollout)  # (R, W), (L,), (L,)
        with torch.no_grad(), reference_model(self.model, self.reference) as teacher:
            teacher_logits = distributions(teacher, experience.taught)[0]  # (R, W)

        def mean_of(divergence: Float[Tensor, "R"]) -> Float[Tensor, ""]:
            of_tokens = by_completion(divergence.index_select(0, row_of_token), token_places, rollout)  # (B, C)
            return masked_mean(of_tokens, rollout.loss_mask)

        loss = mean_of(distillation_divergence(logits, teacher_logits, self.config.distillation_alpha))
        with torch.no_grad():
            kl = mean_of(exact_kl(logits, teacher_logits))
        return loss, {"loss": loss.detach(), "kl": kl}

    def weight(self, experience: TaughtExperience) -> float:
        return experience.num_tokens

    def without_signal(self, record: Metrics) -> bool:
        """A teacher teaches whatever the rewards are."""
        return False


def below_both(rollout: Rollout, tokenizer: PreTrainedTokenizerBase, *both: Sequence[dict]) -> tuple[Rollout, ...]:
    """The completions of a rollout below the prompts of these rows, as a rollout for each list of N rows.

    Two tokens with one context below one prompt have one below the other, so that the contexts are the same, if the
    prompts belong together in pairs. Where a prompt of one list has two partners in the other, contexts are left out:
    then each completion is computed on its own.
    """
    asked = [[row["prompt"] for row in rows] for rows in both]
    pairs = len(set(zip(*asked)))
    in_pairs = all(len(set(prompts)) == pairs for prompts in asked)
    contexts = rollout.contexts if in_pairs else None
    return tuple(below_prompts(replace(rollout, contexts=contexts), tokenizer, prompts) for prompts in asked)


def below_prompts(rollout: Rollout, tokenizer: PreTrainedTokenizerBase, prompts: Sequence[str]) -> Rollout:
    """The same completions below other prompts, N of them; all that belongs to the completions stays."""
    if list(prompts) == rollout.prompts:
        return rollout
    encoded = read_prompts(tokenizer, prompts)
    device = rollout.prompt_ids.device
    return replace(
        rollout,
        prompts=list(prompts),
        prompt_ids=encoded.ids.to(device),
        prompt_mask=encoded.mask.to(device),
        prompt_lengths=encoded.lengths,
        beginnings=encoded.beginnings,
    )


def train(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    rows: Sequence[dict],
    reward_funcs: RewardFunction | Sequence[RewardFunction],
    config: DistillConfig = DistillConfig(),
    *,
    teacher: Reference | None = None,
    **options,
) -> list[Metrics]:
    """Train `model` in place; a record of metrics for each step. `options` are those of `shared.grpo.train`.

    Args:
        rows: with `prompt`, which the student reads, and `teacher_prompt`.
        reward_funcs: measured for the log; the loss does not know them.
        teacher: a frozen model with the student's vocabulary, such as `frozen_copy(model)` made before; None with LoRA,
            for the model as it is now.
    """
    sampled_with = take_sampling_options(options)
    algorithm = Distillation(model, tokenizer, reward_funcs, config, reference=teacher, **sampled_with)
    return training.train(algorithm, rows, config, **options)
