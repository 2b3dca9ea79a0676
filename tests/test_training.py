"""The loop, with an algorithm that has no language model: fitting a line by least squares, one row at a time."""

import math
from dataclasses import dataclass, replace

import pytest
import torch
from torch import nn

from shared import grpo, ppo, rloo, supervised, training
from shared.algorithm import Algorithm, TrainingConfig
from shared.engine import chance
from shared.engine.chance import MINIBATCHES, permutation
from shared.grpo import GRPOConfig
from shared.constrain import answer_trie
from shared.logps import completion_logps
from shared.models import frozen_copy
from shared.ppo import ActorCritic, PPOConfig
from shared.rloo import RLOOConfig
from shared.rollout import sample
from shared.training import NonFiniteTraining, rows_of_step, train
from tests.conftest import tiny_llama
from tests.second_device import DEVICE, second_device

ROWS = [{"x": float(i), "y": 3.0 * i - 1.0, "weight": 1 + i % 3} for i in range(12)]
CONFIG = TrainingConfig(steps=4, prompts_per_step=6, learning_rate=0.05, log_every=0, warmup_steps=0)


@dataclass(frozen=True)
class Points:
    """Rows as tensors; a row counts as many "tokens" as it weighs."""

    rows: list[dict]
    metrics: dict

    def __len__(self):
        return len(self.rows)

    @property
    def row_tokens(self):
        return torch.tensor([row["weight"] for row in self.rows])

    @property
    def num_tokens(self):
        return int(self.row_tokens.sum())

    num_places = num_tokens

    def take(self, rows):
        return Points([self.rows[i] for i in rows], self.metrics)


class Line(Algorithm):
    """Weighted least squares; it remembers what it was shown."""

    name = "line"
    vocab_size = 1

    def __init__(self, spoil=lambda step: False):
        torch.manual_seed(0)
        self.model = nn.Linear(1, 1)
        self.spoil = spoil
        self.step = -1
        self.seen = []
        self.stop_at = math.inf

    def experience(self, rows, step):
        self.step = step
        return Points(list(rows), {"reward": float(step)})

    def loss(self, points):
        self.seen.append([row["x"] for row in points.rows])
        x = torch.tensor([[row["x"]] for row in points.rows])
        y = torch.tensor([[row["y"]] for row in points.rows])
        error = (self.model(x) - y).square()[:, 0] * points.row_tokens
        loss = error.sum() / points.num_tokens
        if self.spoil(self.step):
            loss = loss * math.nan
        return loss, {"error": error.detach().sum() / points.num_tokens}

    def enough(self, metrics):
        return len(self.seen) >= self.stop_at


def parameters(model):
    return [p.detach().clone() for p in model.parameters()]


def test_two_methods_are_enough_to_be_trained():
    """The loop knows no reward, group or rollout: a line is fitted."""
    line = Line()
    history = train(line, ROWS, replace(CONFIG, steps=300), progress=False)
    assert history[-1]["loss"] < 1e-4 < 100 < history[0]["loss"]
    assert line.model.weight.item() == pytest.approx(3, abs=1e-3)


def test_every_row_is_learned_from_in_each_iteration():
    """Catches a loop that makes only the first minibatch's update, or that never makes a new order."""
    line = Line()
    train(line, ROWS, replace(CONFIG, steps=1, num_iterations=3, minibatches=2), progress=False)
    batch = sorted(row["x"] for row in rows_of_step(ROWS, 6, 0, 0))
    epochs = [line.seen[i] + line.seen[i + 1] for i in (0, 2, 4)]
    assert len(line.seen) == 6 and all(sorted(epoch) == batch for epoch in epochs)
    assert epochs[0] != epochs[1] and epochs[1] != epochs[2]


def test_an_experience_that_is_not_split_is_learned_from_in_each_iteration():
    line = Line()
    train(line, ROWS, replace(CONFIG, steps=2, num_iterations=3), progress=False)
    first, second = ([row["x"] for row in rows_of_step(ROWS, 6, step, 0)] for step in (0, 1))
    assert line.seen == [first] * 3 + [second] * 3


def test_every_epoch_of_every_step_has_its_own_order(monkeypatch):
    """Catches orders that come again from step to step, and minibatches in the order of another seed or of the rows."""
    asked = []

    def order(n, seed, number, purpose):
        asked.append((n, seed, number, purpose))
        return permutation(n, seed, number, purpose)

    monkeypatch.setattr(training, "permutation", order)
    train(Line(), ROWS, replace(CONFIG, steps=2, num_iterations=3, minibatches=2, seed=8), progress=False)
    assert [call for call in asked if call[3] == MINIBATCHES] == [(6, 8, number, MINIBATCHES) for number in range(6)]
    assert {call for call in asked if call[3] != MINIBATCHES} == {(12, 8, 0, chance.ROWS)}


def test_rows_of_like_length_share_a_piece(monkeypatch):
    """Catches pieces in the order of the rows: each would be padded to the longest of all."""
    points = Points([ROWS[i] for i in (2, 0, 5, 3, 1)], {})  # weights 3, 1, 3, 1, 2
    monkeypatch.setattr(training, "LOGITS_AT_ONCE", 2 * 7 * 10 // 5)  # 10 tokens in 5 rows of 7 logits: 2 rows a piece
    assert [piece.row_tokens.tolist() for piece in training.pieces(points, 7)] == [[1, 1], [2, 3], [3]]
    monkeypatch.setattr(training, "LOGITS_AT_ONCE", 7 * 10)
    assert training.pieces(points, 7) == [points], "what fits is not cut"


def test_the_gradient_in_pieces_is_that_of_the_whole(monkeypatch):
    """Catches pieces that weigh by their rows where the loss divides by tokens: the rows here weigh 1, 2 and 3."""
    results = []
    for at_once in (10**6, 1):
        monkeypatch.setattr(training, "LOGITS_AT_ONCE", at_once)
        line = Line()
        history = train(line, ROWS, CONFIG, progress=False)
        results.append((parameters(line.model), [record["loss"] for record in history], len(line.seen)))
    (whole, losses, calls), (in_pieces, losses_in_pieces, more_calls) = results
    assert calls == 4 and more_calls == 4 * 6
    torch.testing.assert_close(in_pieces, whole)
    assert losses_in_pieces == pytest.approx(losses, rel=1e-5)


def test_a_metric_of_pieces_is_a_mean_over_tokens(monkeypatch):
    monkeypatch.setattr(training, "LOGITS_AT_ONCE", 1)
    record = train(Line(), ROWS, replace(CONFIG, steps=1), progress=False)[0]
    assert record["error"] == pytest.approx(record["loss"], rel=1e-6)


def test_the_learning_rate_warms_up_linearly_from_its_first_share():
    """Catches a warm-up that begins at 0 and wastes the first step, or that ends a step late."""
    history = train(Line(), ROWS, replace(CONFIG, steps=6, warmup_steps=4, learning_rate=0.4), progress=False)
    assert [record["learning_rate"] for record in history] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4, 0.4])


@pytest.mark.parametrize("warmup_steps", [0, 1])
def test_no_warm_up_and_one_of_one_step_begin_at_the_full_rate(warmup_steps):
    history = train(Line(), ROWS, replace(CONFIG, steps=1, warmup_steps=warmup_steps), progress=False)
    assert history[0]["learning_rate"] == 0.05


def test_the_learning_rate_in_the_record_is_the_one_that_acts(monkeypatch):
    seen = []
    real = torch.optim.AdamW.step

    def step(self, *args, **kwargs):
        seen.append([group["lr"] for group in self.param_groups])
        return real(self, *args, **kwargs)

    monkeypatch.setattr(torch.optim.AdamW, "step", step)
    history = train(Line(), ROWS, replace(CONFIG, steps=3, warmup_steps=2), progress=False)
    assert [lr for (lr,) in seen] == [record["learning_rate"] for record in history]


def test_a_step_that_is_not_finite_changes_nothing_and_is_marked():
    line = Line(spoil=lambda step: step == 1)
    seen = []
    history = train(line, ROWS, CONFIG, progress=False, on_step=lambda record: seen.append(parameters(line.model)))
    assert [record["skipped"] for record in history] == [0, 1, 0, 0]
    assert all(map(torch.equal, seen[0], seen[1])) and not all(map(torch.equal, seen[1], seen[2]))


def test_two_bad_steps_then_a_good_one_start_the_count_anew():
    """Catches a counter of skipped steps that is never reset."""
    history = train(Line(lambda step: step % 3 != 2), ROWS, replace(CONFIG, steps=9), progress=False)
    assert len(history) == 9 and sum(record["skipped"] for record in history) == 6


def test_three_bad_steps_in_a_row_stop_with_the_last_good_weights():
    line = Line(lambda step: step >= 1)
    good = []
    with pytest.raises(NonFiniteTraining, match=r"3 steps in a row \(up to step 4\)") as stopped:
        train(line, ROWS, replace(CONFIG, steps=9), progress=False, on_step=lambda r: good.append(parameters(line.model)))
    assert len(stopped.value.history) == 4 and all(map(torch.equal, good[0], parameters(line.model)))


def test_enough_leaves_the_update_and_the_further_ones_out():
    """Catches a step that is made before the test whether the policy has moved too far."""
    line = Line()
    line.stop_at = 2
    after_first = Line()
    train(after_first, ROWS, replace(CONFIG, steps=1, num_iterations=1), progress=False)
    train(line, ROWS, replace(CONFIG, steps=1, num_iterations=5), progress=False)
    assert len(line.seen) == 2
    assert all(map(torch.equal, parameters(line.model), parameters(after_first.model)))


def test_the_gradient_norm_is_clipped_and_told_before_clipping():
    line = Line()
    before = parameters(line.model)
    x = torch.tensor([[row["x"]] for row in rows_of_step(ROWS, 6, 0, 0)])
    optimizer = torch.optim.SGD(line.model.parameters(), lr=1.0)
    loss = line.model(x).sum() * 100
    norm = training.apply_gradient(loss, line.model, optimizer, 0.5)
    moved = torch.cat([(b - a).flatten() for a, b in zip(before, parameters(line.model))]).norm()
    assert norm > 100 and moved.item() == pytest.approx(0.5, rel=1e-4)
    assert all(p.grad is None for p in line.model.parameters())


@pytest.mark.parametrize("spoiled", [math.nan, math.inf])
def test_apply_gradient_refuses_what_is_not_finite(spoiled):
    line = Line()
    before = parameters(line.model)
    loss = line.model(torch.ones(1, 1)).sum() * spoiled
    norm = training.apply_gradient(loss, line.model, torch.optim.SGD(line.model.parameters(), lr=1.0), 1.0)
    assert math.isnan(norm) and all(map(torch.equal, before, parameters(line.model)))


def test_a_loss_or_a_gradient_alone_that_is_not_finite_is_enough():
    """Catches a guard that asks for both: the root of 0 has an infinite slope, and a constant has none."""
    for spoil in (lambda loss: loss + math.inf, lambda loss: (loss - loss.detach()).sqrt()):
        line = Line()
        before = parameters(line.model)
        optimizer = torch.optim.SGD(line.model.parameters(), lr=1.0)
        norm = training.apply_gradient(spoil(line.model(torch.ones(1, 1)).sum()), line.model, optimizer, 1.0)
        assert math.isnan(norm) and all(map(torch.equal, before, parameters(line.model)))


def test_listeners_and_evaluation_come_at_their_steps(capsys):
    seen, again = [], []
    config = replace(CONFIG, eval_every=2, log_every=2)
    history = train(Line(), ROWS, config, evaluate=lambda model: 0.25, on_step=[seen.append, again.append], progress=False)
    assert seen == again == history and ["eval_reward" in record for record in history] == [False, True, False, True]
    assert all(record["step_time"] > 0 for record in history)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and "average reward  0.500" in lines[0] and "average reward  2.500" in lines[1]
    assert all("held-out 0.250" in line for line in lines)


def test_a_line_of_the_log_shows_the_average_of_what_is_there():
    """Word for word: a metric under another name would be missing from the log, and nobody would be told."""
    first = {
        "step": 9, "reward": 0.0, "loss": -1.0, "value_loss": 2.0, "kl": 0.1, "entropy": 1.5,
        "frac_reward_zero_std": 0.25, "completions/mean_length": 11.0, "skipped": 1.0, "grad_norm": 7.0,
    }
    second = first | {"step": 10, "eval_reward": 0.75}
    third = first | {"step": 11, "reward": 1.0, "kl": 0.4, "eval_reward": 0.125}
    assert training.log_line([first, second, third]) == (
        "step   11 | average reward  0.333 | average loss -1.000 | value loss  2.000 | kl  0.200 | entropy  1.500 | "
        "equal groups  0.250 | length 11.000 | held-out 0.125 | skipped 3"
    )
    assert training.log_line([{"step": 1000, "loss": 0.5, "skipped": 0.0}]) == "step 1000 | average loss  0.500"
    assert training.log_line([{"step": 1, "kl": 1.0, "skipped": 0.0}, {"step": 2, "skipped": 0.0}]) == "step    2 | kl  1.000"


def test_what_comes_every_third_step_comes_at_steps_3_and_6(monkeypatch, tmp_path, capsys):
    """Catches a count that begins at 0, or that is one off: every second step would hide some of that."""
    saved = []
    monkeypatch.setattr(training.RunFile, "save", lambda run_file, history: saved.append(len(history)))
    config = replace(CONFIG, steps=7, eval_every=3, log_every=3, checkpoint_every=3)
    history = train(Line(), ROWS, config, evaluate=lambda model: 1.0, checkpoint_path=tmp_path / "run.pt", progress=False)
    assert [record["step"] for record in history if "eval_reward" in record] == [3, 6] and saved == [3, 6]
    lines = capsys.readouterr().out.splitlines()
    assert [line[:11] for line in lines] == ["step    3 |", "step    6 |"] and "average reward  4.000" in lines[1]


def test_no_evaluation_and_no_checkpoint_unless_asked(tmp_path):
    def never(model):
        raise AssertionError("evaluated")

    path = tmp_path / "run.pt"
    history = train(Line(), ROWS, CONFIG, evaluate=never, checkpoint_path=path, progress=False)
    assert len(history) == 4 and not path.exists()
    assert "eval_reward" not in train(Line(), ROWS, replace(CONFIG, eval_every=1), progress=False)[0]


def test_one_listener_is_enough_and_evaluation_sees_the_model():
    line = Line()
    seen = []
    config = replace(CONFIG, steps=1, eval_every=1)
    history = train(line, ROWS, config, evaluate=lambda model: model is line.model, on_step=seen.append, progress=False)
    assert seen == history and history[0]["eval_reward"] == 1.0


def test_the_time_of_a_step_is_from_its_begin_to_its_end(monkeypatch):
    """A clock that is one second later whenever it is looked at."""
    clock = iter(range(100, 200))
    monkeypatch.setattr(training.time, "perf_counter", lambda: float(next(clock)))
    assert [record["step_time"] for record in train(Line(), ROWS, CONFIG, progress=False)] == [1.0] * 4


class Bar:
    """What the loop asks of tqdm's bar, written down."""

    def __init__(self, **options):
        self.options = options
        self.updates = 0
        self.shown = {}
        self.closed = False

    def update(self):
        self.updates += 1

    def set_postfix(self, shown):
        self.shown = shown

    def close(self):
        self.closed = True


@pytest.mark.parametrize("progress", [True, False])
def test_the_bar_counts_the_steps_and_shows_reward_and_loss(progress, monkeypatch, tmp_path):
    """Catches a bar that begins at 0 after a resumed run, or that is shown although it is switched off."""
    bars = []

    def make(**options):
        bars.append(Bar(**options))
        return bars[-1]

    monkeypatch.setattr(training, "tqdm", make)
    config = replace(CONFIG, steps=2, checkpoint_every=1)
    train(Line(), ROWS, config, checkpoint_path=tmp_path / "run.pt", progress=progress)
    history = train(Line(), ROWS, replace(config, steps=4), checkpoint_path=tmp_path / "run.pt", progress=progress)
    options = {"desc": "line", "unit": "step", "disable": not progress}
    assert bars[0].options == options | {"total": 2, "initial": 0}
    assert bars[1].options == options | {"total": 4, "initial": 2}
    assert [bar.updates for bar in bars] == [2, 2] and all(bar.closed for bar in bars)
    assert bars[1].shown == {"reward": "3.000", "loss": f"{history[-1]['loss']:.3f}"}


def test_training_and_a_bar_are_shown_by_default(monkeypatch):
    bars = []
    monkeypatch.setattr(training, "tqdm", lambda **options: bars.append(Bar(**options)) or bars[-1])
    train(Line(), ROWS, CONFIG)
    assert not bars[0].options["disable"]


@pytest.mark.parametrize("bf16", [True, False])
def test_sampling_and_loss_run_in_the_precision_that_is_asked_for(bf16):
    """Catches a policy that samples in one precision and is scored in another: the first ratio would not be 1."""
    seen = []

    class Watched(Line):
        def experience(self, rows, step):
            seen.append(torch.is_autocast_enabled("cpu"))
            return super().experience(rows, step)

        def loss(self, points):
            seen.append(torch.is_autocast_enabled("cpu"))
            return super().loss(points)

    train(Watched(), ROWS, replace(CONFIG, steps=1, bf16=bf16), progress=False)
    assert seen == [bf16, bf16]


def test_no_gradient_is_left_behind(monkeypatch):
    """Catches a first backward pass after training that adds to the last one's gradient. The interrupt comes between two
    pieces, when there is one."""
    line = Line()
    train(line, ROWS, CONFIG, progress=False)
    assert all(p.grad is None for p in line.model.parameters())
    monkeypatch.setattr(training, "LOGITS_AT_ONCE", 1)
    stopped = Line()
    real_loss = stopped.loss

    def loss(points):
        if stopped.seen:
            assert stopped.model.weight.grad is not None
            raise KeyboardInterrupt
        return real_loss(points)

    stopped.loss = loss
    assert train(stopped, ROWS, CONFIG, progress=False) == []
    assert all(p.grad is None for p in stopped.model.parameters())


def test_a_gradient_that_was_there_is_not_learned_from():
    line, plain = Line(), Line()
    (1e6 * line.model(torch.ones(1, 1)).sum()).backward()
    train(line, ROWS, replace(CONFIG, steps=1), progress=False)
    train(plain, ROWS, replace(CONFIG, steps=1), progress=False)
    assert all(map(torch.equal, parameters(line.model), parameters(plain.model)))
    norms = []
    for before in (0.0, 1e6):
        model = Line().model
        (before * model(torch.ones(1, 1)).sum()).backward()
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        norms.append(training.apply_gradient(model(torch.ones(1, 1)).sum(), model, optimizer, 1.0))
    assert norms[0] == norms[1]


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    """Catches what tells runs apart and does not reach the file: the algorithm, the data, the settings."""
    path = tmp_path / "run.pt"
    config = replace(CONFIG, steps=1, checkpoint_every=1)
    train(Line(), ROWS, config, checkpoint_path=path, progress=False)
    another = Line()
    another.name = "curve"
    with pytest.raises(ValueError, match="line.*curve|curve.*line"):
        train(another, ROWS, config, checkpoint_path=path, progress=False)
    with pytest.raises(ValueError, match="rows|data"):
        train(Line(), ROWS[:-1], config, checkpoint_path=path, progress=False)
    with pytest.raises(ValueError, match="learning_rate"):
        train(Line(), ROWS, replace(config, learning_rate=1.0), checkpoint_path=path, progress=False)


def test_advice_is_given_once(capsys):
    line = Line()
    line.advice = lambda history: "nothing to learn" if len(history) >= 2 else None
    train(line, ROWS, CONFIG, progress=False)
    assert capsys.readouterr().out.count("nothing to learn") == 1


def test_an_interrupt_returns_what_was_learned(capsys):
    line = Line()

    def stop(record):
        if record["step"] == 2:
            raise KeyboardInterrupt

    assert len(train(line, ROWS, CONFIG, progress=False, on_step=stop)) == 2
    assert "Interrupted after 2 of 4" in capsys.readouterr().out


def test_weight_decay_acts():
    free, decayed = Line(), Line()
    train(free, ROWS, CONFIG, progress=False)
    train(decayed, ROWS, replace(CONFIG, weight_decay=5.0), progress=False)
    assert decayed.model.weight.abs() < free.model.weight.abs()


def test_what_is_told_of_a_step_is_the_mean_over_its_updates():
    assert training.mean_metrics([{"a": 1.0}, {"a": 3.0}, {"a": 8.0}]) == {"a": 4.0}


def test_an_algorithm_needs_to_say_no_more_than_two_things():
    """The others have a default: nothing is ever enough, no advice, all parameters at the one learning rate."""
    algorithm = Algorithm()
    algorithm.model = tiny_llama()
    algorithm.model.lm_head.requires_grad_(False)
    assert algorithm.name == "training" and algorithm.vocab_size == 12
    assert algorithm.enough({"loss": 1e9}) is False and algorithm.advice([{"loss": 1e9}] * 99) is None
    assert algorithm.weight(Points(ROWS[:2], {})) == 1 + 2
    (group,) = algorithm.parameter_groups(replace(CONFIG, learning_rate=0.25))
    assert group.keys() == {"params", "lr"} and group["lr"] == 0.25
    trained = [p for p in algorithm.model.parameters() if p.requires_grad]
    assert [id(p) for p in group["params"]] == [id(p) for p in trained] and len(trained) > 1
    with pytest.raises(NotImplementedError):
        algorithm.experience(ROWS, 0)
    with pytest.raises(NotImplementedError):
        algorithm.loss(Points(ROWS, {}))


def test_nothing_to_train_is_a_sentence():
    line = Line()
    line.model.requires_grad_(False)
    with pytest.raises(ValueError, match="nothing to train"):
        train(line, ROWS, CONFIG)
    with pytest.raises(ValueError, match="empty"):
        train(Line(), [], CONFIG)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"steps": 0}, "steps is 0"),
        ({"learning_rate": math.inf}, "learning_rate"),
        ({"warmup_steps": -1}, "warmup_steps"),
        ({"weight_decay": -0.1}, "weight_decay"),
        ({"max_grad_norm": 0.0}, "max_grad_norm"),
        ({"minibatches": 99}, "99 minibatches"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_settings_are_refused_with_a_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        TrainingConfig(**options)


def test_every_row_is_seen_once_before_any_comes_again():
    """Catches an order that is drawn anew each step, or the same in every epoch."""
    rows = [{"prompt": str(i)} for i in range(6)]
    seen = [row["prompt"] for step in range(3) for row in rows_of_step(rows, 4, step, seed=0)]
    assert sorted(seen[:6]) == sorted(seen[6:]) == list("012345") and seen[:6] != seen[6:]
    assert seen != [row["prompt"] for step in range(3) for row in rows_of_step(rows, 4, step, seed=1)]


# --- every algorithm on the loop

TEXTS = [{"prompt": p, "completion": c} for p, c in [("abc", "de"), ("d", "b"), ("efg", "hhh"), ("hi", "j")]]


def longer_is_better(prompts, completions, **columns):
    return [float(len(completion)) for completion in completions]


def start(name: str, seed: int = 0):
    """A model, and the training of it by one of the algorithms as a function of the settings."""
    model = tiny_llama(seed).eval()
    reference = tiny_llama(9).eval()
    size = {"prompts_per_step": 3, "log_every": 0, "learning_rate": 1e-2, "minibatches": 1}
    sampled = {"max_new_tokens": 4, "num_generations": 4, "beta": 0.01}
    if name == "supervised":
        return model, lambda tokenizer, **options: supervised.train(
            model, tokenizer, TEXTS, TrainingConfig(**size | options.pop("settings")), progress=False, **options
        )
    if name == "PPO":
        policy = ActorCritic(model)
        torch.nn.init.normal_(policy.value_head[-1].weight, generator=torch.Generator().manual_seed(seed))
        return policy, lambda tokenizer, **options: ppo.train(
            policy, reference, tokenizer, TEXTS, longer_is_better,
            PPOConfig(**size | sampled | {"minibatches": 2} | options.pop("settings")), progress=False, **options,
        )
    kind, config = {"GRPO": (grpo, GRPOConfig), "RLOO": (rloo, RLOOConfig)}[name]
    return model, lambda tokenizer, **options: kind.train(
        model, tokenizer, TEXTS, longer_is_better, config(**size | sampled | options.pop("settings")),
        reference=reference, progress=False, **options,
    )


def without_seconds(history):
    return [{name: value for name, value in record.items() if name != "step_time"} for record in history]


@pytest.mark.parametrize("name", ["GRPO", "RLOO", "PPO", "supervised"])
def test_resuming_continues_the_same_trajectory_bit_for_bit(name, tokenizer, tmp_path):
    """Catches optimiser state, warm-up, sampling seed or order of prompts that start over, and a head that is not kept."""
    whole, run_whole = start(name)
    uninterrupted = run_whole(tokenizer, settings={"steps": 6})
    path = tmp_path / "a folder" / "run.pt"
    _, run_first = start(name)
    run_first(tokenizer, settings={"steps": 4, "checkpoint_every": 2}, checkpoint_path=path)
    resumed, run_rest = start(name, seed=5)  # other weights: all must come from the checkpoint
    continued = run_rest(tokenizer, settings={"steps": 6, "checkpoint_every": 2}, checkpoint_path=path)
    assert without_seconds(continued) == without_seconds(uninterrupted)
    assert all(map(torch.equal, parameters(whole), parameters(resumed)))


@pytest.mark.parametrize("name", ["GRPO", "RLOO", "PPO", "supervised"])
def test_every_algorithm_passes_the_loops_options_on(name, tokenizer):
    """Catches a checkpoint, an evaluation or a listener that is asked for and never comes."""
    seen = []
    _, run = start(name)
    run(tokenizer, settings={"steps": 1, "eval_every": 1}, evaluate=lambda model: 0.5, on_step=seen.append)
    assert [record["eval_reward"] for record in seen] == [0.5]


@pytest.mark.parametrize("name", ["GRPO", "RLOO", "PPO", "supervised"])
def test_every_algorithm_has_what_the_loop_gives(name, tokenizer):
    model, run = start(name)
    before = parameters(model)
    history = run(tokenizer, settings={"steps": 4, "eval_every": 2, "warmup_steps": 2}, evaluate=lambda model: 0.5)
    assert [record["step"] for record in history] == [1, 2, 3, 4]
    assert history[1]["eval_reward"] == 0.5 and history[0]["learning_rate"] == pytest.approx(5e-3)
    assert all(math.isfinite(value) for record in history for value in record.values())
    assert any(not torch.equal(a, b) for a, b in zip(before, parameters(model)))


@pytest.mark.parametrize("name", ["GRPO", "RLOO", "PPO"])
def test_each_step_samples_its_own_completions_as_seed_step_and_constraint_say(name, tokenizer):
    """Catches the same noise at every step, a seed that is ignored, and a constraint or reference that is lost."""
    model, reference = tiny_llama().eval(), tiny_llama(9).eval()
    trie = answer_trie(tokenizer, ["a", "ab", "bb", "ccc", "dd", "e"])
    kind, config, policy = {
        "GRPO": (grpo.GRPO, GRPOConfig, model),
        "RLOO": (rloo.RLOO, RLOOConfig, model),
        "PPO": (ppo.PPO, PPOConfig, ActorCritic(model)),
    }[name]
    settings = config(prompts_per_step=4, minibatches=1, num_generations=4, max_new_tokens=4, beta=0.1, seed=6)
    for constraint in (None, trie):
        algorithm = kind(policy, tokenizer, longer_is_better, settings, reference=reference, constraint=constraint)
        for step in (0, 1):
            experience = algorithm.experience(TEXTS, step)
            prompts = [row["prompt"] for row in TEXTS]
            oracle = sample(
                model, tokenizer, prompts, 4, settings.sampling, constraint=constraint, seed=6, step=step
            )
            assert experience.rollout.completions == oracle.completions
            assert experience.rewards.tolist() == longer_is_better(prompts, oracle.completions)
            logps = completion_logps(reference, oracle)[0]
            torch.testing.assert_close(experience.ref_logps, logps, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["GRPO", "RLOO", "PPO"])
def test_advantages_are_where_the_policy_is(name, tokenizer):
    """Rewards are counted on the CPU. Catches advantages that stay there, which only a second device shows."""
    with second_device():
        model = tiny_llama().eval().to(DEVICE)
        kind, config, policy = {
            "GRPO": (grpo.GRPO, GRPOConfig, model),
            "RLOO": (rloo.RLOO, RLOOConfig, model),
            "PPO": (ppo.PPO, PPOConfig, ActorCritic(model)),
        }[name]
        settings = config(prompts_per_step=4, num_generations=2, minibatches=1, max_new_tokens=2, beta=0.0)
        experience = kind(policy, tokenizer, longer_is_better, settings).collect(TEXTS, 0)
        assert experience.advantages.device == experience.rollout.old_logps.device == DEVICE
        assert experience.rewards.device.type == "cpu"


@pytest.mark.parametrize("name", ["GRPO", "RLOO", "PPO"])
def test_a_run_keeps_to_its_constraint_and_shows_its_name(name, tokenizer, capsys):
    model = tiny_llama().eval()
    kind, config, policy = {
        "GRPO": (grpo, GRPOConfig, model), "RLOO": (rloo, RLOOConfig, model), "PPO": (ppo, PPOConfig, ActorCritic(model))
    }[name]
    said = set()

    def spy(prompts, completions, **columns):
        said.update(completions)
        return longer_is_better(prompts, completions)

    arguments = [policy, tokenizer, TEXTS, spy, config(steps=2, prompts_per_step=2, minibatches=1, max_new_tokens=4)]
    options = {"constraint": answer_trie(tokenizer, ["a", "bb"])}
    if name == "PPO":
        arguments.insert(1, frozen_copy(model))
    kind.train(*arguments, **options)
    assert said == {"a", "bb"} and f"{name}:" in capsys.readouterr().err


def test_a_spoiled_value_head_stops_training(tokenizer):
    """Catches six silent steps of nan loss."""
    policy = ActorCritic(tiny_llama().eval())
    torch.nn.init.constant_(policy.value_head[-1].bias, math.nan)
    config = PPOConfig(steps=6, prompts_per_step=2, max_new_tokens=3, log_every=0)
    with pytest.raises(NonFiniteTraining):
        ppo.train(policy, frozen_copy(policy.model), tokenizer, TEXTS, longer_is_better, config, progress=False)


@pytest.mark.parametrize("kind, config", [(grpo, GRPOConfig), (rloo, RLOOConfig)])
def test_the_policy_as_its_own_reference_is_refused(kind, config, tokenizer):
    """The KL would be 0 for ever: the mistake this course teaches against."""
    model = tiny_llama().eval()
    with pytest.raises(ValueError, match="reference is the policy itself"):
        kind.train(model, tokenizer, TEXTS, longer_is_better, config(steps=1, beta=0.1), reference=model)
    policy = ActorCritic(model)
    with pytest.raises(ValueError, match="reference is the policy itself"):
        ppo.train(policy, model, tokenizer, TEXTS, longer_is_better, PPOConfig(steps=1))


def test_a_run_that_cannot_learn_says_so(tokenizer, capsys):
    """A model that never earns a reward trained 80 steps at 0.000 and ended green."""

    def never(prompts, completions, **columns):
        return [0.0] * len(completions)

    settings = {"steps": 12, "prompts_per_step": 2, "num_generations": 2, "max_new_tokens": 2, "log_every": 0}
    grpo.train(tiny_llama().eval(), tokenizer, TEXTS, never, GRPOConfig(**settings), progress=False)
    said = capsys.readouterr().out
    assert said.count("nothing to learn from") == 1 and "(average 0.000)" in said
    grpo.train(tiny_llama().eval(), tokenizer, TEXTS, never, GRPOConfig(**settings | {"steps": 9}), progress=False)
    policy = ActorCritic(tiny_llama().eval())
    ppo.train(policy, None, tokenizer, TEXTS, never, PPOConfig(**settings | {"beta": 0.0}), progress=False)
    assert capsys.readouterr().out.count("nothing to learn from") == 1, "not after nine steps; and PPO says it as well"
