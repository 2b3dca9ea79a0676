import copy
from dataclasses import replace

import pytest
import torch

from shared.advantages import group_advantages
from shared.constrain import answer_trie
from shared.grpo import GRPO, GRPOConfig, collect, grpo_step, policy_loss, train
from shared.kl import k1
from shared.logps import completion_logps
from shared.losses import grpo_loss
from shared.models import add_lora, frozen_copy
from tests.conftest import tiny_llama

ROWS = [{"prompt": p, "answer": a} for p, a in [("abc", "a"), ("d", "b"), ("efg", "c"), ("hi", "d")]]
CONFIG = GRPOConfig(steps=3, prompts_per_step=4, num_generations=4, max_new_tokens=5, log_every=0)


def first_letter(prompts, completions, answer, **columns):
    """Pays for a completion that begins with the row's answer."""
    return [float(c.startswith(a)) for c, a in zip(completions, answer)]


def longer_is_better(prompts, completions, **columns):
    return [float(len(c)) for c in completions]


def same_for_all(prompts, completions, **columns):
    return [1.0] * len(completions)


def parameters(model):
    return [p.detach().clone() for p in model.parameters()]


def run(model, tokenizer, reward=first_letter, config=CONFIG, **options):
    return train(model, tokenizer, ROWS, reward, config, progress=False, **options)


def test_the_step_shows_its_parts_and_changes_nothing(model, tokenizer):
    before = parameters(model)
    loss, experience, metrics = grpo_step(model, tokenizer, ROWS, first_letter, CONFIG)
    assert experience.advantages.shape == (16,) and experience.rewards_per_func.shape == (16, 1)
    assert loss.requires_grad and metrics["ratio"] == pytest.approx(1, abs=1e-5)
    assert all(map(torch.equal, before, parameters(model)))


def test_columns_stand_beside_their_own_completions(model, tokenizer):
    """Catches answers that are not repeated G times and so meet other prompts' completions."""
    seen = {}

    def spy(prompts, completions, answer, **columns):
        seen.update(prompts=prompts, answer=answer)
        return [0.0] * len(completions)

    collect(model, tokenizer, ROWS, spy, CONFIG)
    truth = {row["prompt"]: row["answer"] for row in ROWS}
    assert [truth[p] for p in seen["prompts"]] == seen["answer"] and len(seen["answer"]) == 16


def test_parameters_move_with_a_signal(model, tokenizer):
    before = parameters(model)
    history = run(model, tokenizer, longer_is_better)
    assert any(not torch.equal(a, b) for a, b in zip(before, parameters(model)))
    assert [record["step"] for record in history] == [1, 2, 3]


def test_parameters_stay_bit_equal_without_one(model, tokenizer):
    """Equal rewards give advantages of exactly 0; with beta 0 and no weight decay nothing may move."""
    before = parameters(model)
    history = run(model, tokenizer, same_for_all)
    assert all(map(torch.equal, before, parameters(model)))
    assert history[0]["frac_reward_zero_std"] == 1.0


@pytest.mark.usefixtures("shapes_unchecked")
def test_training_reaches_the_known_optimum(tokenizer):
    """Each prompt has one right letter; the optimum is to say it always. Catches anything that breaks learning."""
    model = tiny_llama(initializer_range=0.02).eval()
    config = GRPOConfig(
        steps=60, prompts_per_step=4, num_generations=16, max_new_tokens=1, learning_rate=1e-2, log_every=0
    )
    history = run(model, tokenizer, config=config)
    assert sum(r["reward"] for r in history[:3]) / 3 < 0.4
    assert sum(r["reward"] for r in history[-10:]) / 10 > 0.95


def test_a_constraint_is_respected_in_training(tokenizer):
    model = tiny_llama().eval()
    trie = answer_trie(tokenizer, ["a", "ab", "b", "c", "d"])
    experience = collect(model, tokenizer, ROWS, first_letter, CONFIG, constraint=trie)
    assert set(experience.rollout.completions) <= {"a", "ab", "b", "c", "d"}
    _, metrics = policy_loss(model, experience, CONFIG)
    assert metrics["ratio"] == pytest.approx(1, abs=1e-5)


@pytest.mark.usefixtures("shapes_unchecked")
@pytest.mark.parametrize("kl_in", ["loss", "reward"])
def test_a_kl_penalty_holds_the_policy_near_the_reference(kl_in, tokenizer):
    distance = {}
    for beta in (1e-6, 3.0):
        model = tiny_llama().eval()
        config = GRPOConfig(
            steps=25,
            prompts_per_step=4,
            num_generations=8,
            max_new_tokens=3,
            learning_rate=5e-3,
            beta=beta,
            kl_in=kl_in,
            log_every=0,
        )
        history = run(model, tokenizer, config=config, reference=frozen_copy(model))
        distance[beta] = sum(r["kl"] for r in history[-5:]) / 5
    assert distance[3.0] < 0.5 * distance[1e-6]


def test_kl_in_the_reward_is_subtracted_before_normalisation(model, tokenizer):
    reference = tiny_llama(seed=1).eval()
    config = GRPOConfig(
        prompts_per_step=4, num_generations=4, max_new_tokens=5, beta=0.5, kl_in="reward", scale_rewards="none"
    )
    experience = collect(model, tokenizer, ROWS, first_letter, config, reference=reference)
    penalty = k1(experience.rollout.old_logps, experience.ref_logps).sum(dim=1)
    returns = (experience.rewards - 0.5 * penalty).view(4, 4)
    torch.testing.assert_close(experience.advantages, (returns - returns.mean(1, keepdim=True)).flatten())
    assert experience.metrics["reward"] == pytest.approx(experience.rewards.mean().item())


def test_kl_in_the_reward_is_not_in_the_loss_too(tokenizer):
    """Catches a KL that is paid twice."""
    model = tiny_llama().eval()
    config = replace(CONFIG, beta=0.5, kl_in="reward")
    experience = collect(model, tokenizer, ROWS, first_letter, config, reference=tiny_llama(1).eval())
    loss, metrics = policy_loss(model, experience, config)
    without, _ = policy_loss(model, replace(experience, ref_logps=None), replace(config, beta=0.0))
    assert torch.equal(loss, without) and "kl" not in metrics and experience.metrics["kl"] > 0


def test_the_kl_in_the_reward_is_logged_a_token(tokenizer):
    """As in the loss: nats a token, not a completion."""
    config = replace(CONFIG, beta=0.5, kl_in="reward")
    experience = collect(tiny_llama().eval(), tokenizer, ROWS, first_letter, config, reference=tiny_llama(1).eval())
    mask = experience.rollout.completion_mask.bool()
    oracle = (experience.rollout.old_logps - experience.ref_logps)[mask].mean().item()
    assert experience.metrics["kl"] == pytest.approx(oracle, rel=1e-5)
    in_loss = collect(
        tiny_llama().eval(),
        tokenizer,
        ROWS,
        first_letter,
        replace(config, kl_in="loss"),
        reference=tiny_llama(1).eval(),
    )
    assert "kl" not in in_loss.metrics, "the loss measures it"


@pytest.mark.parametrize("scale", ["group", "batch", "none"])
def test_the_settings_reach_the_advantages(tokenizer, scale):
    config = replace(CONFIG, scale_rewards=scale, advantage_eps=0.5)
    experience = collect(tiny_llama().eval(), tokenizer, ROWS, longer_is_better, config)
    oracle, metrics = group_advantages(experience.rewards, 4, scale, 0.5)
    assert torch.equal(experience.advantages, oracle) and oracle.any()
    assert metrics.items() <= experience.metrics.items() and "rewards/longer_is_better/mean" in experience.metrics


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 0.05},
        {"epsilon_high": 0.05},
        {"importance_sampling_level": "sequence"},
        {"loss_type": "dapo"},
        {"loss_type": "dr_grpo", "max_new_tokens": 9},
        {"beta": 0.3, "kl_estimator": "k2"},
        {"entropy_coef": 0.7},
    ],
)
def test_the_settings_reach_the_loss(tokenizer, options):
    """Catches a setting that is read and never passed on: the loss would be that of the default."""
    model, reference = tiny_llama().eval(), tiny_llama(1).eval()
    config = replace(CONFIG, **options)
    experience = collect(model, tokenizer, ROWS, longer_is_better, replace(CONFIG, beta=0.1), reference=reference)
    experience.rollout.old_logps[:, ::2] += 0.1  # or nothing would be clipped
    experience.rollout.old_logps[:, 1::2] -= 0.1
    loss, metrics = policy_loss(model, experience, config)
    rollout = experience.rollout
    logps, entropy = completion_logps(model, rollout, with_entropy=True)
    settings = {name: value for name, value in options.items() if name != "max_new_tokens"}
    arguments = (
        logps,
        rollout.old_logps,
        experience.advantages,
        rollout.completion_mask,
        experience.ref_logps if "beta" in options else None,
        entropy if "entropy_coef" in options else None,
    )
    oracle, expected = grpo_loss(*arguments, **settings, max_completion_length=options.get("max_new_tokens"))
    torch.testing.assert_close(loss, oracle)
    assert metrics.keys() == expected.keys() and not torch.isclose(loss, grpo_loss(*arguments)[0])
    parameter = model.lm_head.weight
    ours, theirs = (torch.autograd.grad(value, parameter, retain_graph=True)[0] for value in (loss, oracle))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("loss_type, weight", [("grpo", 16), ("dr_grpo", 16), ("dapo", 43)])
def test_a_piece_weighs_as_its_loss_divides(tokenizer, loss_type, weight):
    """dapo divides by tokens, the other two by completions. Catches wrong weights of the pieces of a gradient."""
    experience = collect(tiny_llama().eval(), tokenizer, ROWS, longer_is_better, CONFIG)
    experience.rollout.lengths[:] = torch.tensor([2, 3, 2, 3] * 3 + [2, 3, 2, 6])
    algorithm = GRPO(tiny_llama(), tokenizer, longer_is_better, replace(CONFIG, loss_type=loss_type))
    assert algorithm.weight(experience) == weight


def test_a_step_that_is_written_out_takes_what_collect_takes(tokenizer):
    model, reference, trie = tiny_llama().eval(), tiny_llama(1).eval(), answer_trie(tokenizer, ["a", "ab", "b"])
    config = replace(CONFIG, beta=0.2)
    options = {"reference": reference, "constraint": trie, "step": 3}
    loss, experience, metrics = grpo_step(model, tokenizer, ROWS, longer_is_better, config, **options)
    alone = collect(model, tokenizer, ROWS, longer_is_better, config, **options)
    assert experience.rollout.completions == alone.rollout.completions
    assert set(alone.rollout.completions) <= {"a", "ab", "b"}
    assert metrics.keys() == {"loss", "kl", "clip_ratio", "ratio"} | alone.metrics.keys()
    assert metrics["loss"] == pytest.approx(loss.item()) and metrics["reward"] == alone.metrics["reward"]
    first = collect(model, tokenizer, ROWS, longer_is_better, config, reference=reference, constraint=trie, step=0)
    by_default = collect(model, tokenizer, ROWS, longer_is_better, config, reference=reference, constraint=trie)
    assert by_default.rollout.completions == first.rollout.completions


def test_each_reward_function_has_its_own_mean_in_the_record(tokenizer):
    rewards = [first_letter, longer_is_better]
    record = run(tiny_llama().eval(), tokenizer, rewards, replace(CONFIG, steps=1, reward_weights=(2.0, 0.5)))[0]
    first, second = record["rewards/first_letter/mean"], record["rewards/longer_is_better/mean"]
    assert record["reward"] == pytest.approx(2 * first + 0.5 * second)
    assert record["completions/min_length"] <= record["completions/mean_length"] <= record["completions/max_length"]


def test_the_reference_under_lora_is_the_model_without_its_adapters(tokenizer):
    """Catches `disable_adapter()` outside `with`: the KL would stay 0 however far the adapters move."""
    model = add_lora(tiny_llama().eval(), r=4)
    config = GRPOConfig(
        steps=8, prompts_per_step=4, num_generations=4, max_new_tokens=4, beta=0.01, learning_rate=2e-2, log_every=0
    )
    history = run(model, tokenizer, config=config)
    assert history[0]["kl"] == pytest.approx(0, abs=1e-6) and history[-1]["kl"] > 1e-3
    base = {n: p for n, p in model.named_parameters() if not p.requires_grad}
    assert all(
        torch.equal(
            p, dict(tiny_llama().named_parameters())[n.split("base_model.model.")[1].replace(".base_layer", "")]
        )
        for n, p in base.items()
    )


def test_no_reference_is_a_sentence(model, tokenizer):
    with pytest.raises(ValueError, match="frozen_copy"):
        grpo_step(model, tokenizer, ROWS, first_letter, GRPOConfig(beta=0.1, max_new_tokens=3))


def test_the_policy_is_no_reference_of_its_own(tokenizer):
    """In a step that is written out as well, where no algorithm looks at it."""
    model = tiny_llama().eval()
    with pytest.raises(ValueError, match="reference is the policy itself"):
        collect(model, tokenizer, ROWS, first_letter, replace(CONFIG, beta=0.1), reference=model)


def test_several_epochs_move_the_ratio_and_clip(tokenizer):
    model = tiny_llama().eval()
    config = GRPOConfig(
        steps=2,
        prompts_per_step=4,
        num_generations=8,
        max_new_tokens=4,
        num_iterations=6,
        minibatches=2,
        learning_rate=2e-2,
        warmup_steps=0,
        log_every=0,
    )
    assert any(record["clip_ratio"] > 0 for record in run(model, tokenizer, config=config))


def test_no_piece_is_larger_than_it_may_be(tokenizer, monkeypatch):
    """Catches a cut into as many parts as fit on average, of which the larger ones do not."""
    from shared import training

    experience = collect(tiny_llama().eval(), tokenizer, ROWS * 2, longer_is_better, CONFIG)
    one_prompt = experience.rollout.completion_ids.numel() // 8 * 12
    monkeypatch.setattr(training, "LOGITS_AT_ONCE", int(1.5 * one_prompt))
    assert [len(piece.rollout.prompts) for piece in training.pieces(experience, 12)] == [1] * 8
    monkeypatch.setattr(training, "LOGITS_AT_ONCE", 3 * one_prompt)
    assert [len(piece.rollout.prompts) for piece in training.pieces(experience, 12)] == [3, 3, 2]


@pytest.mark.parametrize("loss_type", ["grpo", "dapo", "dr_grpo"])
def test_the_gradient_in_pieces_is_that_of_the_whole(loss_type, tokenizer, monkeypatch):
    """Catches pieces that all weigh the same although their completions or prompts differ in length."""
    from shared import training

    config = replace(CONFIG, loss_type=loss_type, beta=0.1, entropy_coef=0.01, max_new_tokens=8, prompts_per_step=3)
    rows = [{"prompt": prompt, "answer": "a"} for prompt in ("abcdef", "b", "cd")]
    results = []
    for at_once in (1 << 24, 1):
        model = tiny_llama().eval()
        experience = collect(model, tokenizer, rows, longer_is_better, config, reference=tiny_llama(1))
        monkeypatch.setattr(training, "LOGITS_AT_ONCE", at_once)
        assert len(training.pieces(experience, 12)) == (3 if at_once == 1 else 1)
        assert len(set(experience.rollout.lengths.view(3, 4).sum(dim=1).tolist())) > 1, (
            "or equal weights would be right"
        )
        algorithm = GRPO(model, tokenizer, longer_is_better, config)
        metrics = training.update(algorithm, experience, config, torch.optim.SGD(model.parameters(), lr=0.1))
        results.append((metrics, parameters(model)))
    (whole, moved), (pieces, moved_in_pieces) = results
    assert pieces == pytest.approx(whole, rel=1e-4, abs=1e-6)
    torch.testing.assert_close(moved_in_pieces, moved, rtol=0, atol=1e-6)


def test_a_checkpoint_of_other_settings_is_refused(tokenizer, tmp_path):
    config = dict(steps=2, prompts_per_step=2, num_generations=2, max_new_tokens=2, checkpoint_every=1, log_every=0)
    run(tiny_llama().eval(), tokenizer, config=GRPOConfig(**config), checkpoint_path=tmp_path / "run.pt")
    with pytest.raises(ValueError, match="seed = 0, now it is 1"):
        run(tiny_llama().eval(), tokenizer, config=GRPOConfig(**config, seed=1), checkpoint_path=tmp_path / "run.pt")


def test_the_log_tells_average_reward_and_loss(tokenizer, capsys):
    run(
        tiny_llama().eval(),
        tokenizer,
        config=GRPOConfig(steps=4, prompts_per_step=2, num_generations=2, max_new_tokens=2, log_every=2, eval_every=2),
        evaluate=lambda model: 0.25,
    )
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and all(
        "average reward" in l and "average loss" in l and "held-out 0.250" in l for l in lines
    )


@pytest.mark.parametrize(
    "options, words",
    [
        ({"num_generations": 1}, "num_generations"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"beta": -1.0}, "beta"),
        ({"loss_type": "ppo"}, "loss_type"),
        ({"temperature": 0.0}, "temperature"),
        ({"minibatches": 99}, "minibatches"),
        ({"max_new_tokens": 0}, "max_new_tokens"),
    ],
)
def test_bad_settings_are_refused_with_a_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        GRPOConfig(**options)


def test_unknown_settings_are_refused():
    with pytest.raises(TypeError, match="lr"):
        GRPOConfig(lr=1e-3)


def test_a_frozen_copy_never_changes(tokenizer):
    """Catches a reference that shares its weights with the policy: reference equal to policy, KL 0."""
    model = tiny_llama().eval()
    reference = frozen_copy(model)
    before = copy.deepcopy(parameters(reference))
    run(model, tokenizer, reference=reference)
    assert all(map(torch.equal, before, parameters(reference)))
