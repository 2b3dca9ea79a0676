"""Several processes make the update of one: gradients, parameters and metrics, for every algorithm.

One process trains first and its rollouts are kept; the others are given their rows of these, for a number within
rounding of a boundary may flip a token and then there is nothing to compare. That processes draw what one would is a
test of its own, in float64.
"""

from dataclasses import replace
from unittest import mock

import pytest
import torch

from shared import experience, training
from shared.algorithm import TrainingConfig
from shared.constrain import answer_trie
from shared.critic import ActorCritic
from shared.dpo import DPO, DPOConfig
from shared.engine.processes import ALL_ROWS, ALONE, Processes, Share, _parcels
from shared.evaluate import evaluate
from shared.grpo import GRPO, GRPOConfig
from shared.models import add_lora
from shared.ppo import PPO, PPOConfig
from shared.rloo import RLOO, RLOOConfig
from shared.supervised import Supervised
from tests.conftest import letter_tokenizer, tiny_gpt2, tiny_llama
from tests.line import CONFIG as LINE_CONFIG
from tests.line import ROWS as POINTS
from tests.line import Line
from tests.several import in_processes

PROMPTS = ("abc", "d", "efghijab", "ab", "hij", "dd", "cab", "f")
ROWS = [
    {"prompt": prompt, "completion": prompt[::-1] + "a", "chosen": prompt[::-1], "rejected": "ba" + prompt}
    for prompt in PROMPTS
]
SAMPLED = dict(steps=3, num_generations=3, max_new_tokens=5, log_every=0, learning_rate=1e-3, weight_decay=0.1)
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
# transformers computes Llama's norms in float32 whatever the model is, where a difference of 1e-16 may be rounded to one
# of 1e-7: what is to agree to 1e-10 is another model.
MODELS = {torch.float32: tiny_llama, torch.float64: tiny_gpt2}
KINDS = {"grpo": (GRPO, GRPOConfig), "rloo": (RLOO, RLOOConfig), "ppo": (PPO, PPOConfig)}


def uneven(prompts, completions, **columns):
    """Rewards that differ between and within groups; of one prompt all are equal."""
    return [1.0 if p == "d" else float(len(c) + 2 * c.count("a")) for p, c in zip(prompts, completions)]


def algorithm_of(kind, config, dtype, lora=False, constrained=False):
    tokenizer = letter_tokenizer()
    make = MODELS[dtype]
    model = make(0).eval().to(dtype)
    if lora:
        torch.manual_seed(1)
        model = add_lora(model, init_lora_weights=False, r=2, lora_alpha=2).to(dtype)
    if kind == "supervised":
        return Supervised(model, tokenizer)
    if kind == "dpo":
        return DPO(model, tokenizer, config, reference=make(1).eval().to(dtype))
    trained = model
    if kind == "ppo":
        trained = ActorCritic(model).to(dtype)
        torch.nn.init.normal_(trained.value_head[-1].weight, generator=torch.Generator().manual_seed(2))
    reference = make(1).eval().to(dtype) if config.beta and not lora else None
    trie = answer_trie(tokenizer, ["a", "ab", "b", "ccc", "aaaa"]) if constrained else None
    return KINDS[kind][0](trained, tokenizer, uneven, config, reference=reference, constraint=trie)


class Watched:
    """A training whose gradients are kept, and whose rollouts are kept or given."""

    def __init__(self, algorithm, config, rollouts=None):
        self.algorithm = algorithm
        self.config = config
        self.given = rollouts
        self.rollouts = []
        self.gradients = []

    def sample(self, model, tokenizer, prompts, *args, step, places, **options):
        if self.given is None:
            self.rollouts.append(
                self.really_sample(model, tokenizer, prompts, *args, step=step, places=places, **options)
            )
            return self.rollouts[-1]
        part = self.given[step].take(places)
        assert part.prompts == prompts
        return part

    def guarded_step(self, model, *args):
        gradients = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
        self.gradients.append(torch.cat(gradients).double())
        return self.really_step(model, *args)

    def train(self, processes):
        self.really_sample = experience.sample
        self.really_step = training.guarded_step
        with (
            mock.patch.object(experience, "sample", self.sample),
            mock.patch.object(training, "guarded_step", self.guarded_step),
        ):
            history = training.train(self.algorithm, ROWS, self.config, progress=False, processes=processes)
        parameters = torch.cat([p.detach().flatten() for p in self.algorithm.model.parameters()])
        return history, self.gradients, parameters


def compare(kind, config, count, dtype, **build):
    """Train in one process and in `count`; assert that nobody can tell which was which."""
    with_one = Watched(algorithm_of(kind, config, dtype, **build), config)
    history, gradients, parameters = with_one.train(ALONE)
    rollouts = with_one.rollouts or None

    def train_here(processes):
        return Watched(algorithm_of(kind, config, dtype, **build), config, rollouts).train(processes)

    results = in_processes(count, train_here)
    for there, grads, params in results:
        assert torch.equal(params, results[0][2])  # bit for bit among themselves
        assert len(grads) == len(gradients) and all(gradient.norm() > 0 for gradient in gradients)
        for ours, one in zip(grads, gradients):
            assert (ours - one).norm() <= TOLERANCE[dtype] * one.norm()
        assert (params - parameters).norm() <= 10 * TOLERANCE[dtype] * parameters.norm()
        for record, expected in zip(there, history):
            assert record.keys() == expected.keys()
            told = {name: value for name, value in record.items() if name != "step_time"}
            assert told == pytest.approx({name: expected[name] for name in told}, rel=1e-4, abs=1e-5)


def grpo(**settings):
    return "grpo", GRPOConfig(**SAMPLED | {"prompts_per_step": 7} | settings)


SMALL = {
    "grpo in minibatches": (
        grpo(minibatches=2, num_iterations=2, scale_rewards="batch", beta=0.1, loss_type="dapo"),
        {},
    ),
    "ppo": (("ppo", PPOConfig(**SAMPLED | {"prompts_per_step": 7, "beta": 0.05, "target_kl": 0.0})), {}),
}
MATRIX = {
    f"grpo {loss_type} {scale} {kl} {parts}": (
        grpo(loss_type=loss_type, scale_rewards=scale, beta=beta, kl_in=kl, num_iterations=parts, minibatches=parts),
        {},
    )
    for loss_type in ("grpo", "dapo", "dr_grpo")
    for scale in ("group", "batch", "none")
    for kl, beta in (("loss", 0.1), ("reward", 0.1), ("loss", 0.0))
    for parts in (1, 2)
} | {
    "grpo entropy": (grpo(entropy_coef=0.01, minibatches=3), {}),
    "grpo constraint": (grpo(minibatches=2, beta=0.1), {"constrained": True}),
    "grpo lora": (grpo(minibatches=2, beta=0.1), {"lora": True}),
    "grpo bf16 off": (grpo(bf16=False), {}),
    "rloo": (("rloo", RLOOConfig(**SAMPLED | {"prompts_per_step": 7, "beta": 0.1})), {}),
    "reinforce": (("rloo", RLOOConfig(**SAMPLED | {"prompts_per_step": 7, "baseline": "none"})), {}),
    "ppo in reward": (("ppo", PPOConfig(**SAMPLED | {"prompts_per_step": 7, "kl_in": "reward", "minibatches": 3})), {}),
    "ppo lora": (("ppo", PPOConfig(**SAMPLED | {"prompts_per_step": 5, "beta": 0.05})), {"lora": True}),
    "dpo": (("dpo", DPOConfig(steps=3, prompts_per_step=5, minibatches=2, num_iterations=2, log_every=0)), {}),
    "supervised": (
        ("supervised", TrainingConfig(steps=3, prompts_per_step=5, minibatches=2, num_iterations=2, log_every=0)),
        {},
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_two_processes_make_the_update_of_one(name):
    """Seven prompts on two processes: catches a mean of means, a share that is counted twice, a norm of one share."""
    (kind, config), build = SMALL[name]
    compare(kind, config, 2, torch.float64, **build)


def test_a_process_without_a_row_takes_part():
    """Three prompts on four processes, two in a minibatch: catches a process that the others wait for."""
    kind, config = grpo(prompts_per_step=3, minibatches=2, steps=2)
    compare(kind, config, 4, torch.float32)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("name", SMALL | MATRIX)
def test_the_whole_matrix(name, count, dtype):
    (kind, config), build = (SMALL | MATRIX)[name]
    compare(kind, config, count, dtype, **build)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL | MATRIX)
def test_four_processes_and_three_prompts(name):
    (kind, config), build = (SMALL | MATRIX)[name]
    minibatches = min(config.minibatches, 3)
    compare(kind, replace(config, prompts_per_step=3, minibatches=minibatches), 4, torch.float64, **build)


@pytest.mark.parametrize("kind", KINDS)
def test_processes_draw_what_one_would(kind):
    """The tokens themselves: catches places that are counted within a share, and seeds of a process."""
    config = KINDS[kind][1](**SAMPLED | {"prompts_per_step": 5})

    def train_here(processes):
        algorithm = algorithm_of(kind, config, torch.float64)
        watched = Watched(algorithm, config)
        watched.train(processes)
        share = algorithm.share
        texts = dict(zip(watched.rollouts[0].prompts, _groups(watched.rollouts[0])))
        return texts, share.places

    drawn = in_processes(2, train_here)
    alone, _ = train_here(ALONE)
    assert drawn[0][0] | drawn[1][0] == alone and len(drawn[0][0]) + len(drawn[1][0]) == len(alone)


def _groups(rollout):
    G = rollout.num_generations
    return [tuple(rollout.completions[i : i + G]) for i in range(0, len(rollout), G)]


# --- the loop


def test_a_loss_that_is_not_finite_in_one_process_is_skipped_in_all():
    def train_here(processes):
        line = Line(spoil=lambda step: step == 1 and processes.rank == 1)
        history = training.train(line, POINTS, LINE_CONFIG, progress=False, processes=processes)
        return [record["skipped"] for record in history], line.model.weight.item()

    (skipped, weight), (other, other_weight) = in_processes(2, train_here)
    assert skipped == other == [0, 1, 0, 0] and weight == other_weight


def test_the_first_process_alone_prints_and_tells(capfd):
    def train_here(processes):
        told = []
        config = replace(LINE_CONFIG, log_every=1)
        training.train(Line(), POINTS, config, on_step=told.append, progress=True, processes=processes)
        return len(told)

    assert in_processes(2, train_here) == [4, 0]
    printed = capfd.readouterr()
    assert printed.out.count("step    1 |") == 1 and printed.err.count("4/4") >= 1


def test_what_begins_at_random_begins_alike():
    """Catches adapters and value heads that each process draws for itself."""

    def train_here(processes):
        torch.manual_seed(processes.rank)
        line = Line()
        torch.nn.init.normal_(line.model.weight)
        training.train(line, POINTS, replace(LINE_CONFIG, steps=1), progress=False, processes=processes)
        return line.model.weight.item()

    first, second = in_processes(2, train_here)
    assert first == second


def test_one_process_asks_to_stop_and_all_do(tmp_path):
    """Catches a Ctrl-C that reaches one process, after which the others wait for it."""

    def train_here(processes):
        done = []
        stop = lambda: done.append(1) or (processes.rank == 1 and len(done) == 2)  # noqa: E731
        path = tmp_path / "run.pt"
        history = training.train(
            Line(), POINTS, LINE_CONFIG, progress=False, processes=processes, stop=stop, checkpoint_path=path
        )
        return len(history)

    assert in_processes(2, train_here) == [2, 2]
    assert len(training.train(Line(), POINTS, LINE_CONFIG, progress=False, checkpoint_path=tmp_path / "run.pt")) == 4


@pytest.mark.parametrize("second", [2, 1, 3])
def test_a_run_goes_on_in_as_many_processes_bit_for_bit_and_in_others_nearly(second, tmp_path):
    kind, config = grpo(minibatches=2, steps=4, checkpoint_every=1)

    def train_here(processes, steps=4, path=None):
        algorithm = algorithm_of(kind, config, torch.float64)
        short = replace(config, steps=steps)
        training.train(algorithm, ROWS, short, progress=False, checkpoint_path=path, processes=processes)
        return torch.cat([p.detach().flatten() for p in algorithm.model.parameters()])

    path = tmp_path / "run.pt"
    whole = in_processes(2, train_here)[0]
    in_processes(2, lambda processes: train_here(processes, steps=2, path=path))
    resumed = in_processes(second, lambda processes: train_here(processes, path=path)) if second > 1 else [
        train_here(ALONE, path=path)
    ]  # fmt: skip
    if second == 2:
        assert all(torch.equal(parameters, whole) for parameters in resumed)
    # AdamW divides a gradient by its own size, so what is rounded in one near 0 comes out larger.
    assert (resumed[0] - whole).norm() <= 1e-8 * whole.norm()


def test_a_checkpoint_that_cannot_be_read_is_a_sentence_in_all(tmp_path):
    """Catches a process that learns of it alone, while the others wait."""
    path = tmp_path / "run.pt"
    path.write_text("something else")

    def train_here(processes):
        with pytest.raises(ValueError, match="not a checkpoint"):
            training.train(Line(), POINTS, LINE_CONFIG, progress=False, checkpoint_path=path, processes=processes)
        return True

    assert in_processes(2, train_here) == [True, True]


@pytest.mark.parametrize("count", [2, 3])
def test_evaluation_is_shared_out_and_all_get_the_whole(count):
    """Sampled: catches completions of another place, an order of the processes, a process that gets only its part."""

    def evaluate_here(processes):
        calls = []
        model, tokenizer = tiny_llama().eval().double(), letter_tokenizer()
        hook = model.register_forward_pre_hook(lambda *args: calls.append(1))
        result = evaluate(
            model, tokenizer, ROWS[:4], uneven, temperature=1.0, num_generations=2, batch_size=3, processes=processes
        )
        hook.remove()
        return result.completions, result.rewards.tolist()

    alone = evaluate_here(ALONE)
    assert in_processes(count, evaluate_here) == [alone] * count


# --- shares


@pytest.mark.parametrize("rows, count", [(7, 2), (16, 3), (8, 8), (3, 4)])
def test_rows_are_dealt_out_evenly_whatever_part_is_looked_at(rows, count):
    """Each row to one process, and of every stretch of the order as many to each, or one less."""
    order = torch.randperm(rows, generator=torch.Generator().manual_seed(0)).tolist()
    shares = [Processes(rank, count).share(order) for rank in range(count)]
    assert sorted(place for share in shares for place in share.own) == list(range(rows))
    for stretch in (order, order[: rows // 2], order[rows // 2 :]):
        sizes = [len(share.rows_among(stretch)) for share in shares]
        assert max(sizes) - min(sizes) <= 1
    for share in shares:
        assert share.places == (share.own or [order[0]]) and share.rows_of_step(1) == rows


def test_rows_of_a_share_are_numbered_as_it_has_them():
    share = Share(places=[2, 5, 9], own=[2, 5, 9], count=12)
    assert share.rows_among([9, 1, 2]) == [2, 0] and share.of(list("abcdefghijkl")) == ["c", "f", "j"]
    values = torch.arange(24.0).view(24, 1)
    assert share.mine(values)[:, 0].tolist() == [4, 5, 10, 11, 18, 19]


def test_one_process_has_everything():
    assert ALONE.share([2, 0, 1]) is ALL_ROWS and ALL_ROWS.of("abc") == ["a", "b", "c"]
    values = torch.rand(3)
    assert ALL_ROWS.whole(values) is values and ALL_ROWS.mine(values) is values and ALL_ROWS.rows_of_step(3) == 3
    assert ALL_ROWS.rows_among([2, 0]) == [2, 0] and ALONE.total([1.5]) == [1.5] and not ALONE.any(False)


def test_gradients_travel_in_parcels_of_one_type(monkeypatch):
    monkeypatch.setattr("shared.engine.processes.PARCEL", 10)
    sizes = [4, 6, 1, 30, 2, 2]
    parameters = [torch.nn.Parameter(torch.zeros(size)) for size in sizes]
    parameters[-1] = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
    parcels = [[p.numel() for p in parcel] for parcel in _parcels(parameters)]
    assert parcels == [[4, 6], [1], [30], [2], [2]] and list(_parcels([])) == []
