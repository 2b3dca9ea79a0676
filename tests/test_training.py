"""The loop: which rows it learns from, in which order, at which rate, in which precision."""

from dataclasses import replace
from functools import partial

import pytest
import torch

from shared import supervised, training, updates
from shared.algorithm import Algorithm, TrainingConfig
from shared.engine import chance
from shared.engine.chance import MINIBATCHES, permutation
from shared.engine.chance import ROWS as ROWS_NUMBER
from shared.grpo import GRPO, GRPOConfig
from shared.training import plain_train, rows_of_step, train
from tests.algorithms import TEXTS, longer_is_better
from tests.fakes import letter_tokenizer, tiny_llama
from tests.line import CONFIG, ROWS, Line, Points, parameters


def test_two_methods_are_enough_to_be_trained():
    """The loop knows no reward, group or rollout: a line is fitted."""
    line = Line()
    history = train(line, ROWS, replace(CONFIG, steps=300), progress=False)
    assert history[-1]["loss"] < 1e-4 < 100 < history[0]["loss"]
    assert line.model.weight.item() == pytest.approx(3, abs=1e-3)


def test_training_is_what_the_plain_loop_defines():
    """Catches a definition, which is read first, that goes through other minibatches or makes other updates."""
    size = {"steps": 3, "prompts_per_step": 4, "num_iterations": 2, "minibatches": 2, "weight_decay": 0.1}
    config = GRPOConfig(**size, num_generations=4, max_new_tokens=4, beta=0.1, warmup_steps=0, log_every=0, bf16=False)
    trained = []
    for loop in (plain_train, partial(train, progress=False)):
        line = Line()
        policy = GRPO(tiny_llama().eval(), letter_tokenizer(), longer_is_better, config, reference=tiny_llama(9).eval())
        loop(line, ROWS, replace(CONFIG, **size, max_grad_norm=0.5))
        loop(policy, TEXTS, config)
        trained.append(parameters(line.model) + parameters(policy.model))
    torch.testing.assert_close(*trained)
    assert not all(map(torch.equal, trained[0][2:], parameters(tiny_llama())))


def test_every_row_is_learned_from_in_each_iteration():
    """Catches a loop that makes only the first minibatch's update, or that never makes a new order."""
    line = Line()
    train(line, ROWS, replace(CONFIG, steps=1, num_iterations=3, minibatches=2), progress=False)
    batch = sorted(row["x"] for row in rows_of_step(ROWS, 6, 0, 0))
    epochs = [line.seen[i] + line.seen[i + 1] for i in (0, 2, 4)]
    assert len(line.seen) == 6 and all(sorted(epoch) == batch for epoch in epochs)
    assert epochs[0] != epochs[1] and epochs[1] != epochs[2]


def test_a_run_that_is_told_to_stop_does_so_after_its_step_and_keeps_it(tmp_path):
    """Catches a cluster's warning that is not heard, or that costs the step in which it came."""
    told = iter([False, False, True])
    path = tmp_path / "run.pt"
    config = replace(CONFIG, steps=9, checkpoint_every=100)
    history = train(Line(), ROWS, config, checkpoint_path=path, stop=lambda: next(told), progress=False)
    assert [record["step"] for record in history] == [1, 2, 3]
    resumed = train(Line(), ROWS, replace(config, steps=4), checkpoint_path=path, progress=False)
    assert resumed[:3] == history and len(resumed) == 4


def test_a_step_in_which_no_row_teaches_still_decays_the_weights():
    """Catches None as a gradient, at which the optimiser passes by, and a loss that nobody computed."""

    class Idle(Line):
        def rows_with_gradient(self, points):
            return []

    line = Idle()
    before = parameters(line.model)
    history = train(line, ROWS, replace(CONFIG, steps=1, weight_decay=0.1), progress=False)
    assert history[0]["loss"] == 0 and not line.seen
    torch.testing.assert_close(parameters(line.model), [(1 - 0.1 * CONFIG.learning_rate) * p for p in before])


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

    for module in (training, updates):
        monkeypatch.setattr(module, "permutation", order)
    train(Line(), ROWS, replace(CONFIG, steps=2, num_iterations=3, minibatches=2, seed=8), progress=False)
    orders = dict.fromkeys(call for call in asked if call[3] == MINIBATCHES)
    assert list(orders) == [(6, 8, number, MINIBATCHES) for number in range(6)]
    assert {call for call in asked if call[3] != MINIBATCHES} == {(12, 8, 0, chance.ROWS)}


@pytest.mark.parametrize("warmup_steps, rates", [(4, [0.1, 0.2, 0.3, 0.4, 0.4, 0.4]), (0, [0.4]), (1, [0.4])])
def test_the_learning_rate_warms_up_linearly_from_its_first_share(warmup_steps, rates):
    """Catches a warm-up that begins at 0 and wastes the first step, or that ends a step late."""
    config = replace(CONFIG, steps=len(rates), warmup_steps=warmup_steps, learning_rate=0.4)
    assert [record["learning_rate"] for record in train(Line(), ROWS, config, progress=False)] == pytest.approx(rates)


def test_the_learning_rate_in_the_record_is_the_one_that_acts(monkeypatch):
    seen = []
    real = torch.optim.AdamW.step

    def step(self, *args, **kwargs):
        seen.append([group["lr"] for group in self.param_groups])
        return real(self, *args, **kwargs)

    monkeypatch.setattr(torch.optim.AdamW, "step", step)
    history = train(Line(), ROWS, replace(CONFIG, steps=3, warmup_steps=2), progress=False)
    assert [lr for (lr,) in seen] == [record["learning_rate"] for record in history]


@pytest.mark.parametrize("bf16", [True, False])
def test_sampling_and_loss_run_in_the_precision_that_is_asked_for(bf16):
    """Catches a policy that samples in one precision and is scored in another: the first ratio would not be 1."""
    seen = []

    class Watched(Line):
        def experience(self, rows, step, *share):
            seen.append(torch.is_autocast_enabled("cpu"))
            return super().experience(rows, step, *share)

        def loss(self, points):
            seen.append(torch.is_autocast_enabled("cpu"))
            return super().loss(points)

    train(Watched(), ROWS, replace(CONFIG, steps=1, bf16=bf16), progress=False)
    assert seen == [bf16, bf16]


def test_an_algorithm_needs_to_say_no_more_than_two_things():
    """The others have a default: nothing is ever enough, no advice, all parameters at the one learning rate."""
    algorithm = Algorithm()
    algorithm.model = tiny_llama()
    algorithm.model.lm_head.requires_grad_(False)
    assert algorithm.name == "training" and algorithm.numbers_per_place == 12
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


def test_the_order_is_that_of_the_generator_and_is_kept_for_its_epoch(monkeypatch):
    """Catches an order kept beyond its epoch, seed or number of rows, and one that is drawn anew at every step."""
    drawn = []
    monkeypatch.setattr(training, "permutation", lambda *key: drawn.append(key) or permutation(*key))
    training.order_of_epoch.cache_clear()
    for count, seed in ((7, 0), (7, 1), (5, 1)):
        orders = [permutation(count, seed, epoch, ROWS_NUMBER).tolist() for epoch in range(4)]
        expected = [number for order in orders for number in order]
        seen = [row for step in range(4) for row in rows_of_step(range(count), 3, step, seed)]
        assert seen == expected[:12]
    assert drawn == [(7, 0, 0, 1), (7, 0, 1, 1), (7, 1, 0, 1), (7, 1, 1, 1), (5, 1, 0, 1), (5, 1, 1, 1), (5, 1, 2, 1)]


def test_each_group_of_parameters_rises_to_a_rate_of_its_own():
    """Catches a value head that learns at the rate of the model below it."""
    weights = [torch.nn.Parameter(torch.zeros(1)) for _ in range(2)]
    optimizer = torch.optim.SGD([{"params": [weight], "lr": 1.0} for weight in weights])
    training.warm_up(optimizer, [0.1, 0.4], 4, step=1)
    assert [group["lr"] for group in optimizer.param_groups] == pytest.approx([0.05, 0.2])


@pytest.mark.parametrize("dtype, rate, told", [("bfloat16", 1e-7, 1), ("bfloat16", 1e-1, 0), ("float32", 1e-7, 0)])
def test_weights_that_no_update_moves_are_told_once(dtype, rate, told, capsys):
    """Catches a run in bfloat16 that goes to its end and learns nothing, and a word on the small steps of a warm-up."""
    config = TrainingConfig(steps=4, warmup_steps=2, prompts_per_step=2, learning_rate=rate, log_every=0)
    supervised.train(tiny_llama().to(getattr(torch, dtype)), letter_tokenizer(), TEXTS, config, progress=False)
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("changed in step 2: they are 16-bit numbers") == said.count("16-bit") == told
