"""Oracles: TRL's GKD loss on plain padded passes of one row each; sums over a small vocabulary."""

from dataclasses import replace

import pytest
import torch
from trl.experimental.gkd import GKDTrainer

from shared import distill
from shared.constrain import answer_trie
from shared.distill import TEACHER_PROMPT, Distillation, DistillConfig, below_both, below_prompts, train
from shared.engine.contexts import prompt_beginnings
from shared.engine.processes import Share
from shared.experience import RolloutConfig
from shared.guard import Gap, GuardReport, UntrustedModel
from shared.kl import distillation_divergence, exact_kl
from shared.logps import completion_logps, plain_logps
from shared.models import add_lora, frozen_copy
from shared.reference import starting_policy
from shared.rollout import sample
from tests.conftest import few_of
from tests.fakes import tiny_gpt2, tiny_llama
from tests.line import parameters
from tests.second_device import DEVICE, second_device

ROWS = [
    {"prompt": prompt, TEACHER_PROMPT: teacher_prompt}
    for prompt, teacher_prompt in [("abc", "jjabc"), ("d", "jhgd"), ("efg", "a"), ("d", "jhgd")]
]
CONFIG = DistillConfig(steps=3, prompts_per_step=4, num_generations=3, max_new_tokens=5, log_every=0)
ALPHAS = (0.0, 0.3, 1.0)


def length(prompts, completions, **columns):
    return [float(len(completion)) for completion in completions]


def distillation(model, tokenizer, config=CONFIG, **options):
    return Distillation(model, tokenizer, length, config, **{"reference": tiny_llama(1).eval()} | options)


def logits_below(model, tokenizer, prompt, completion_ids):
    """The logits of each token of one completion, from one row without padding: the definition."""
    prompt_ids = tokenizer(prompt)["input_ids"]
    ids = torch.tensor([prompt_ids + completion_ids])
    return model(ids).logits[0, len(prompt_ids) - 1 : -1]


def by_trl(model, teacher, tokenizer, rows, experience, alpha, teacher_temperature=1.0):
    """TRL's loss on the experience's completions, each below both prompts."""
    rollout = experience.rollout
    logits, teacher_logits = [], []
    for row, completion, count in zip(rollout.repeated(rows), rollout.completion_ids, rollout.lengths):
        tokens = completion[:count].tolist()
        logits.append(logits_below(model, tokenizer, row["prompt"], tokens))
        teacher_logits.append(logits_below(teacher, tokenizer, row[TEACHER_PROMPT], tokens) / teacher_temperature)
    labels = torch.zeros(1, int(rollout.lengths.sum()), dtype=torch.long)
    return GKDTrainer.generalized_jsd_loss(
        torch.cat(logits)[None], torch.cat(teacher_logits)[None], labels=labels, beta=alpha
    )


@pytest.mark.parametrize("sampled_by", ["student", "teacher"])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_loss_and_gradient_are_those_of_trl(alpha, sampled_by, tokenizer):
    """Catches directions the wrong way round, and a teacher that reads the student's prompt or stands one token off.

    Catches a mean over the padding, too, a gradient of the teacher's, and contexts shared below one of the prompts alone.
    """
    model = tiny_llama().eval()
    config = replace(CONFIG, distillation_alpha=alpha, sampled_by=sampled_by, teacher_temperature=0.7)
    ours = distillation(model, tokenizer, config)
    experience = ours.experience(ROWS, step=0)
    assert experience.rollout.lengths.unique().numel() > 1  # there is padding
    loss, metrics = ours.loss(experience)
    oracle = by_trl(model, ours.reference, tokenizer, ROWS, experience, alpha, teacher_temperature=0.7)
    torch.testing.assert_close(loss, oracle, rtol=1e-4, atol=1e-5)
    gradients = [torch.autograd.grad(value, list(model.parameters())) for value in (loss, oracle)]
    torch.testing.assert_close(*gradients, rtol=1e-3, atol=1e-5)
    reverse = by_trl(model, ours.reference, tokenizer, ROWS, experience, 1.0, teacher_temperature=0.7)
    torch.testing.assert_close(metrics["kl"], reverse.detach(), rtol=1e-4, atol=1e-5)
    assert not metrics["loss"].requires_grad and not metrics["kl"].requires_grad


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_divergence_is_trls_for_each_token(alpha):
    logits, teacher = torch.randn(2, 4, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    oracle = [GKDTrainer.generalized_jsd_loss(a[None], b[None], beta=alpha) for a, b in zip(logits, teacher)]
    torch.testing.assert_close(distillation_divergence(logits, teacher, alpha), torch.stack(oracle))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_what_both_forbid_has_no_part_in_it_and_no_gradient(alpha):
    """Catches a nan of 0 x -inf, in the value or only on the way back."""
    logits, teacher = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))
    without = distillation_divergence(logits, teacher, alpha)
    shut = torch.full((3, 2), -torch.inf)
    logits = torch.cat([logits, shut], dim=1).requires_grad_()
    divergence = distillation_divergence(logits, torch.cat([teacher, shut], dim=1), alpha)
    torch.testing.assert_close(divergence, without)
    gradient = torch.autograd.grad(divergence.sum(), logits)[0]
    assert gradient.isfinite().all() and (gradient[:, 5:] == 0).all()


def test_the_gradients_by_the_students_logits_are_those_of_the_docstring():
    logits, teacher = torch.randn(2, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    logits.requires_grad_()
    pi, p = logits.detach().softmax(-1), teacher.softmax(-1)
    log_ratio = pi.log() - p.log()
    expected = {0.0: pi - p, 1.0: pi * (log_ratio - exact_kl(logits.detach(), teacher))}
    for alpha, oracle in expected.items():
        gradient = torch.autograd.grad(distillation_divergence(logits, teacher, alpha), logits)[0]
        torch.testing.assert_close(gradient, oracle)


def test_between_the_ends_the_divergence_is_bounded_and_symmetric():
    logits, teacher = 20 * torch.randn(2, 50, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    entropy = -(0.3 * torch.tensor(0.3).log() + 0.7 * torch.tensor(0.7).log())
    divergence = distillation_divergence(logits, teacher, 0.3)
    assert 0.5 < divergence.max() <= entropy and divergence.min() >= 0
    torch.testing.assert_close(divergence, distillation_divergence(teacher, logits, 0.7))


def test_the_sampler_reads_its_own_prompt_at_its_own_temperature(tokenizer):
    """Catches a header that reaches the student, a teacher without it, and one that is sampled too hot."""
    model, teacher = tiny_llama().eval(), tiny_llama(1).eval()
    for who, sampler, column, temperature in (
        ("student", model, "prompt", 1.0),
        ("teacher", teacher, TEACHER_PROMPT, 0.5),
    ):
        config = replace(CONFIG, sampled_by=who, teacher_temperature=0.5, seed=3)
        experience = distillation(model, tokenizer, config, reference=teacher).experience(ROWS, step=2)
        sampling = replace(config.sampling, temperature=temperature)
        oracle = sample(sampler, tokenizer, [row[column] for row in ROWS], 3, sampling, seed=3, step=2)
        assert experience.rollout.completions == experience.taught.completions == oracle.completions
        assert experience.rollout.prompts == [row["prompt"] for row in ROWS]
        assert experience.taught.prompts == [row[TEACHER_PROMPT] for row in ROWS]
        assert experience.rollout.sampling.temperature == 1.0 and experience.taught.sampling.temperature == 0.5
        assert experience.metrics["reward"] == pytest.approx(torch.tensor(length([], oracle.completions)).mean().item())


@pytest.mark.parametrize("make", [tiny_llama, tiny_gpt2])
def test_the_completions_below_other_prompts_are_scored_as_the_plain_lines_score_them(make, tokenizer):
    """Catches beginnings or padding of the prompts that were there before."""
    model = make().eval()
    rollout = sample(model, tokenizer, [row["prompt"] for row in ROWS], 3, CONFIG.sampling, seed=0)
    other = below_prompts(rollout, tokenizer, [row[TEACHER_PROMPT] for row in ROWS])
    torch.testing.assert_close(completion_logps(model, other)[0], plain_logps(model, other), rtol=1e-4, atol=1e-5)
    assert (completion_logps(model, other)[0] - rollout.old_logps).abs().max() > 0.1
    assert below_prompts(rollout, tokenizer, rollout.prompts) is rollout
    assert torch.equal(other.beginnings, prompt_beginnings(other.prompt_ids, other.prompt_mask)), "read once, as before"


def test_contexts_carry_over_where_prompts_come_in_pairs_and_only_there(tokenizer):
    """Catches one student's context that two teachers' distributions are mixed up in, and the reverse."""
    model = tiny_llama().eval()
    pairs = ROWS
    two_teachers = [row | {TEACHER_PROMPT: f"{'abcd'[i]}{row['prompt']}"} for i, row in enumerate(ROWS)]
    one_teacher = [row | {"prompt": f"{'abcd'[i]}{row['prompt']}"} for i, row in enumerate(ROWS)]
    for rows, carried in ((pairs, True), (two_teachers, False), (one_teacher, False)):
        ours = distillation(model, tokenizer, replace(CONFIG, num_generations=8))
        experience = ours.collect(rows, step=0)
        contexts = (experience.rollout.contexts, experience.taught.contexts)
        assert [each is not None for each in contexts] == [carried, carried]
        oracle = by_trl(model, ours.reference, tokenizer, rows, experience, 1.0)
        torch.testing.assert_close(ours.loss(experience)[0], oracle, rtol=1e-4, atol=1e-5)


def test_a_part_of_the_experience_is_that_part_below_both_prompts(tokenizer):
    """Catches minibatches whose teacher's completions belong to other rows."""
    ours = distillation(tiny_llama().eval(), tokenizer)
    whole = ours.collect(ROWS, step=0)
    parts = [whole.take([3, 1]), whole.take([0]), whole.take([2])]
    assert parts[0].taught.prompts == [ROWS[3][TEACHER_PROMPT], ROWS[1][TEACHER_PROMPT]]
    weights = [ours.weight(part) for part in parts]
    losses = torch.stack([ours.loss(part)[0] for part in parts])
    together = (losses * torch.tensor(weights)).sum() / ours.weight(whole)
    torch.testing.assert_close(ours.loss(whole)[0], together, rtol=1e-4, atol=1e-5)


def test_one_of_several_processes_has_its_rows_of_the_same_step(tokenizer):
    """Catches processes that sample the first rows' chance anew, each for itself, so that their number changes a run."""
    ours = distillation(tiny_llama().eval(), tokenizer)
    whole = ours.collect(ROWS, step=1).take([2, 1])
    part = ours.collect([ROWS[2], ROWS[1]], 1, Share([2, 1]))
    assert part.rollout.completions == whole.rollout.completions
    assert part.taught.prompts == [ROWS[2][TEACHER_PROMPT], ROWS[1][TEACHER_PROMPT]]


@pytest.mark.parametrize("wrong", ["student", "teacher", None])
def test_when_either_leaves_a_fast_pass_that_was_wrong_the_step_is_sampled_again(wrong, tokenizer, monkeypatch):
    """Catches the teacher's wrong pass forgotten over the student's right one: a step is learnt from its tokens."""
    ours = distillation(tiny_llama().eval(), tokenizer, replace(CONFIG, sampled_by="teacher"))
    models = {"student": ours.model, "teacher": ours.reference}
    none = Gap(0.0, 0.0)
    looked_at = []

    def verify(model, rollout):
        looked_at.append(model)
        return GuardReport(none, none, none, fell_back=model is models.get(wrong))

    monkeypatch.setattr(distill, "verify", verify)
    report = ours.verify(ours.collect(ROWS, step=0))
    assert report.fell_back == (wrong is not None)
    assert looked_at == [ours.reference, ours.model]


def test_a_constraint_holds_for_both(tokenizer):
    """The teacher's distribution is over the answers that are allowed as well, or the KL counts what nobody may say."""
    model = tiny_llama().eval()
    trie = answer_trie(tokenizer, ["a", "ab", "bb", "ccc", "dd", "e"])
    for alpha in ALPHAS:
        ours = distillation(model, tokenizer, replace(CONFIG, distillation_alpha=alpha), constraint=trie)
        experience = ours.experience(ROWS, step=0)
        loss = ours.loss(experience)[0]
        loss.backward()
        gradients = [p.grad for p in model.parameters()]
        assert 0 < loss < 20 and all(gradient.isfinite().all() for gradient in gradients)
    same = distillation(frozen_copy(model), tokenizer, constraint=trie, reference=model)
    rows = [{"prompt": row["prompt"], TEACHER_PROMPT: row["prompt"]} for row in ROWS]
    torch.testing.assert_close(same.loss(same.collect(rows, 0))[0], torch.tensor(0.0), rtol=0, atol=1e-6)


def test_the_words_of_an_environment_are_not_learnt(tokenizer):
    """They are in no loss, whatever the two models think of them."""

    def says_jj(completion):
        return "jj" if completion.endswith("c") else ""

    ours = distillation(tiny_llama().eval(), tokenizer, replace(CONFIG, max_new_tokens=12), environment=says_jj)
    experience = ours.experience(ROWS, step=0)
    mask = experience.rollout.loss_mask
    assert (mask.sum() < experience.rollout.completion_mask.sum()).item()
    both = [plain_divergences(ours, experience, row) for row in range(len(mask))]
    oracle = torch.cat([each[: len(own)][own.bool()] for each, own in both]).mean()
    torch.testing.assert_close(ours.loss(experience)[0], oracle, rtol=1e-4, atol=1e-5)
    assert ours.weight(experience) == mask.sum()


class Listens:
    """A game that says nothing."""

    def __init__(self, row, seed):
        self.prompt = row["prompt"]
        self.done = False

    def say(self, text):
        return ""


def test_training_hands_on_what_answers_and_what_is_allowed(tokenizer):
    """Catches a constraint, an environment or its factory that is dropped on its way into the training."""
    words = ["a", "ab", "bb", "ccc", "dd", "e"]

    def seen_with(**option):
        seen = {}

        def reward(prompts, completions, **columns):
            seen.update(columns, completions=completions)
            return length(prompts, completions)

        config = replace(CONFIG, steps=1, max_new_tokens=4)
        model, teacher = tiny_llama().eval(), tiny_llama(1).eval()
        train(model, tokenizer, ROWS, reward, config, teacher=teacher, progress=False, **option)
        return seen

    assert set(seen_with(constraint=answer_trie(tokenizer, words))["completions"]) <= set(words)
    answered = [text for text in seen_with(environment=lambda text: "jjj")["completions"] if text]
    assert answered and all(text[1:] == "jjj" for text in answered)
    games = seen_with(environment_factory=Listens)["environments"]
    assert sorted(game.prompt for game in games) == sorted(row["prompt"] for row in ROWS for _ in range(3))


def plain_divergences(ours, experience, row):
    """The reverse KL of each token of one completion, by the definition, and which of them the policy drew."""
    count = int(experience.rollout.lengths[row])
    tokens = experience.rollout.completion_ids[row, :count].tolist()
    prompts = [each.repeated(each.prompts)[row] for each in (experience.rollout, experience.taught)]
    logits = [logits_below(m, ours.tokenizer, p, tokens) for m, p in zip((ours.model, ours.reference), prompts)]
    return exact_kl(*logits), experience.rollout.loss_mask[row, :count]


def test_with_adapters_the_teacher_is_the_model_without_them(tokenizer):
    """Catches a teacher that learns along, and a student that samples with its adapters off."""
    model = add_lora(tiny_llama().eval(), r=2, lora_alpha=8)
    for parameter in filter(lambda p: p.requires_grad, model.parameters()):
        torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(0))
    plain = tiny_llama().eval()
    for who in ("student", "teacher"):
        config = replace(CONFIG, sampled_by=who)
        adapted = distillation(model, tokenizer, config, reference=None)
        separate = distillation(model, tokenizer, config, reference=plain)
        experience = adapted.experience(ROWS, step=0)
        assert experience.rollout.completions == separate.experience(ROWS, step=0).rollout.completions
        torch.testing.assert_close(adapted.loss(experience)[0], separate.loss(experience)[0], rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="no reference"):
        train(plain, tokenizer, ROWS, length, CONFIG, progress=False)


def test_a_policy_as_it_was_may_teach(tokenizer):
    """Catches a look at the teacher's room that takes a `StartingPolicy` for a model."""
    model = add_lora(tiny_llama().eval(), r=2)
    distillation(model, tokenizer, reference=starting_policy(model)).check(ROWS)


@pytest.mark.parametrize("alpha", few_of(ALPHAS, [0.3]))
@pytest.mark.parametrize("sampled_by", ["student", "teacher"])
def test_the_student_comes_nearer_to_the_teacher_and_the_teacher_stays(alpha, sampled_by, tokenizer):
    """Catches a loss with the sign turned, and a teacher in the optimiser."""
    model, teacher = tiny_llama().eval(), frozen_copy(tiny_llama(1))
    before = parameters(teacher)
    config = replace(
        CONFIG, steps=40, distillation_alpha=alpha, sampled_by=sampled_by, learning_rate=1e-2, num_generations=8
    )
    history = train(model, tokenizer, ROWS, length, config, teacher=teacher, progress=False)
    first, last = (sum(record["kl"] for record in part) for part in (history[:5], history[-5:]))
    assert last < first / 2
    assert all(map(torch.equal, before, parameters(teacher)))


def test_equal_rewards_are_no_reason_to_worry(tokenizer, capsys):
    """Catches GRPO's advice, that nothing can be learnt, where a teacher teaches."""

    def flat(prompts, completions, **columns):
        return [0.0] * len(completions)

    config = replace(CONFIG, steps=12, learning_rate=1e-2)
    model = tiny_llama().eval()
    before = parameters(model)
    train(model, tokenizer, ROWS, flat, config, teacher=tiny_llama(1).eval(), progress=False)
    assert not any(map(torch.equal, before, parameters(model)))
    assert "nothing to learn" not in capsys.readouterr().out


@pytest.mark.parametrize("sampled_by", ["student", "teacher"])
def test_a_student_whose_passes_disagree_is_refused(sampled_by, tokenizer):
    """A student that does not sample is trained on all the same, so it is looked at too."""

    class Shifted(type(tiny_gpt2())):
        def forward(self, *arguments, position_ids=None, **options):
            return super().forward(*arguments, **options)  # it takes no notice of the padding

    torch.manual_seed(0)
    model = Shifted(tiny_gpt2().config).eval()
    with pytest.raises(UntrustedModel):
        distillation(model, tokenizer, replace(CONFIG, sampled_by=sampled_by)).experience(ROWS, step=0)


@pytest.mark.parametrize(
    "wrong, says",
    [
        ({"distillation_alpha": 1.5}, "from 0"),
        ({"distillation_alpha": -0.1}, "distillation_alpha"),
        ({"teacher_temperature": 0.0}, "teacher_temperature"),
        ({"sampled_by": "both"}, "student, teacher"),
        ({"top_k": 3}, "top_k"),
        ({"top_p": 0.9}, "top_p"),
        ({"beta": 0.1}, "beta"),
    ],
)
def test_settings_that_mean_nothing_are_refused(wrong, says):
    with pytest.raises(ValueError, match=says):
        DistillConfig(**wrong)


def test_rows_without_a_teachers_prompt_and_a_teacher_that_learns_are_refused(tokenizer):
    model = tiny_llama().eval()
    with pytest.raises(ValueError, match="teacher_prompt"):
        train(model, tokenizer, [{"prompt": "a"}], length, CONFIG, teacher=tiny_llama(1), progress=False)
    with pytest.raises(ValueError, match="policy itself"):
        train(model, tokenizer, ROWS, length, CONFIG, teacher=model, progress=False)
    long = [row | {TEACHER_PROMPT: "j" * 60} for row in ROWS]
    with pytest.raises(ValueError, match="positions"):
        train(model, tokenizer, long, length, CONFIG, teacher=tiny_llama(1).eval(), progress=False)


def test_rows_are_refused_by_a_sentence_without_the_training_loop_too(tokenizer):
    """Catches a KeyError for a row without a teacher's prompt, where a notebook collects by itself."""
    with pytest.raises(ValueError, match="Row 1 has no 'teacher_prompt'"):
        distillation(tiny_llama().eval(), tokenizer).collect([ROWS[0], {"prompt": "a"}], 0)


def test_a_training_with_few_words_is_a_distillation(tokenizer, capsys):
    """Catches other algorithms' settings taken for these, a bar under another name, no teacher asked of the command's
    settings, and completions that are paid for although none is compared with another."""
    model, teacher = tiny_llama().eval(), tiny_llama(1).eval()
    with pytest.raises(ValueError, match="such as DistillConfig"):
        train(model, tokenizer, ROWS, length, RolloutConfig(steps=1), teacher=teacher)
    config = DistillConfig(steps=1, prompts_per_step=4, max_new_tokens=2)
    seen = []
    train(model, tokenizer, ROWS, length, config, teacher=teacher, on_rollout=seen.extend)
    assert "distillation:" in capsys.readouterr().err
    assert len(seen) == 4
    assert config.needs_reference and not RolloutConfig().needs_reference


def test_both_rollouts_are_on_the_device(tokenizer):
    with second_device():
        model, teacher = tiny_llama().eval().to(DEVICE), tiny_llama(1).eval().to(DEVICE)
        ours = distillation(model, tokenizer, reference=teacher)
        experience = ours.collect(ROWS, 0)
        assert experience.taught.prompt_ids.device == experience.advantages.device == DEVICE
        assert experience.taught.prompt_mask.device == DEVICE
        assert ours.loss(experience)[0].device == DEVICE


def test_a_rollout_below_two_lists_of_prompts_keeps_its_tokens(tokenizer):
    rollout = sample(tiny_llama().eval(), tokenizer, ["abc", "d"], 2, CONFIG.sampling, seed=0)
    both = below_both(rollout, tokenizer, ROWS[:2], [{"prompt": "jj"}, {"prompt": "ga"}])
    for read, prompts in zip(both, (["abc", "d"], ["jj", "ga"])):
        assert read.prompts == prompts and torch.equal(read.completion_ids, rollout.completion_ids)
        assert torch.equal(read.contexts, rollout.contexts)
