"""Groups that have no gradient are left out of the pass, and no one can tell by the result; in float64.

The oracle is the same algorithm that computes every row, `everything`.
"""

from dataclasses import replace
from itertools import product

import pytest
import torch

from shared import training, updates
from shared.critic import ActorCritic
from shared.engine import piece_size
from shared.grpo import GRPO, GRPOConfig
from shared.losses import CLIP_RATIOS
from shared.ppo import PPO, PPOConfig
from shared.rloo import RLOO, RLOOConfig
from tests.conftest import few_of
from tests.fakes import letter_tokenizer, tiny_llama

pytestmark = pytest.mark.usefixtures("shapes_unchecked")
TOKENIZER = letter_tokenizer()
FLAT = {"abc": True, "d": False, "efg": True, "hij": False}  # whether a prompt's completions have equal rewards
ROWS = [{"prompt": prompt} for prompt in FLAT]
SETTINGS = {"steps": 3, "prompts_per_step": 4, "num_generations": 3, "max_new_tokens": 6, "log_every": 0}
OPTIMISER = {"learning_rate": 1e-3, "weight_decay": 0.1, "warmup_steps": 0}
CONFIG = GRPOConfig(**SETTINGS, **OPTIMISER)
RLOO_CONFIG = RLOOConfig(**SETTINGS, **OPTIMISER)
LOSS_TYPES = ("grpo", "dapo", "dr_grpo")
SCALES = ("group", "batch", "none")
PARTS = {
    "minibatches": {"minibatches": 4},
    "iterations": {"num_iterations": 3},
    "both": {"minibatches": 2, "num_iterations": 2},
}
ALL_ARE_FLAT_IN = 1  # the step between the first and the last


class Watched:
    """A mixin that keeps what an algorithm passes to its loss, to compare it with itself; it comes before the algorithm's class."""

    everything = False

    def collect(self, rows, step, *share):
        self.reward_funcs.all_are_flat = step == ALL_ARE_FLAT_IN
        return super().collect(rows, step, *share)

    def loss(self, experience):
        self.passed.append(experience.rollout.prompts)
        return super().loss(experience)

    def rows_with_gradient(self, experience):
        return range(len(experience)) if self.everything else super().rows_with_gradient(experience)


class WatchedGRPO(Watched, GRPO):
    pass


class WatchedRLOO(Watched, RLOO):
    pass


class WatchedPPO(Watched, PPO):
    pass


class Reward:
    """1 for all where the rewards are to be flat, else never the same twice."""

    __name__ = "reward"
    all_are_flat = False

    def __call__(self, prompts, completions, **columns):
        flat = [self.all_are_flat or FLAT[prompt] for prompt in prompts]
        return [1.0 if is_flat else float(i % 5) for i, is_flat in enumerate(flat)]


def made(kind, config, everything=False, with_reference=False):
    model = tiny_llama().eval().double()
    reference = tiny_llama(1).eval().double() if with_reference else None
    policy = ActorCritic(model).double() if kind is WatchedPPO else model
    algorithm = kind(policy, TOKENIZER, Reward(), config, reference=reference)
    algorithm.everything = everything
    algorithm.passed = []
    return algorithm


def trained(algorithm):
    """Parameters, history, and the prompts of each pass."""
    history = training.train(algorithm, ROWS, algorithm.config, progress=False)
    return [p.detach() for p in algorithm.model.parameters()], history, algorithm.passed


def assert_same_but_for_the_passes(kind, config, **options):
    ours, history, passed = trained(made(kind, config, **options))
    oracle, expected, all_passed = trained(made(kind, config, everything=True, **options))
    torch.testing.assert_close(ours, oracle, rtol=0, atol=1e-10)
    for record, other in zip(history, expected):
        assert record.keys() == other.keys()
        for name in record.keys() - {"step_time", "ratio", "clip_ratio"}:
            assert record[name] == pytest.approx(other[name], abs=1e-6), name
    return passed, all_passed


@pytest.mark.parametrize(
    "names", few_of(product(LOSS_TYPES, SCALES), zip(LOSS_TYPES, SCALES)), ids=lambda names: "-".join(names)
)
def test_parameters_are_those_of_the_whole_batch(names):
    """Catches means over what is left in place of the whole batch, and a flat step that momentum does not see."""
    loss_type, scale_rewards = names
    config = replace(CONFIG, loss_type=loss_type, scale_rewards=scale_rewards)
    passed, all_passed = assert_same_but_for_the_passes(WatchedGRPO, config)
    assert [sorted(prompts) for prompts in passed] == [["d", "hij"]] * 2, "the second step has nothing to compute"
    assert [len(prompts) for prompts in all_passed] == [4, 4, 4]


@pytest.mark.parametrize(
    "names", few_of(product(LOSS_TYPES, PARTS), [("dr_grpo", "both")]), ids=lambda names: "-".join(names)
)
def test_so_they_are_with_minibatches_and_iterations(names):
    """One prompt a minibatch: half of them have nothing to compute, and each is an update of the optimiser."""
    loss_type, parts = names
    config = replace(CONFIG, loss_type=loss_type, **PARTS[parts])
    passed, all_passed = assert_same_but_for_the_passes(WatchedGRPO, config)
    assert not any(FLAT[prompt] for prompts in passed for prompt in prompts)
    assert sum(map(len, passed)) == sum(map(len, all_passed)) / 3


@pytest.mark.parametrize("loss_type", few_of(LOSS_TYPES, ["dapo"]))
def test_so_they_are_in_pieces(loss_type, monkeypatch):
    """Catches a piece's share of what is left in place of its share of the whole."""
    monkeypatch.setattr(piece_size, "LOGITS_AT_ONCE", 1)
    passed, all_passed = assert_same_but_for_the_passes(WatchedGRPO, replace(CONFIG, loss_type=loss_type))
    assert len(passed) == 4 and len(all_passed) == 12


@pytest.mark.parametrize("options", [{"baseline": "leave_one_out"}, {"baseline": "none"}])
def test_rloo_leaves_out_what_has_no_advantage(options):
    """Without a baseline equal rewards teach as well: nothing is left out then."""
    passed, _ = assert_same_but_for_the_passes(WatchedRLOO, replace(RLOO_CONFIG, **options))
    assert [len(prompts) for prompts in passed] == ([2, 2] if options["baseline"] == "leave_one_out" else [4, 4, 4])


@pytest.mark.parametrize(
    "kind, config",
    [
        (WatchedGRPO, replace(CONFIG, beta=0.1)),
        (WatchedGRPO, replace(CONFIG, entropy_coef=0.1)),
        (WatchedGRPO, replace(CONFIG, beta=0.1, kl_in="reward")),
        (WatchedRLOO, replace(RLOO_CONFIG, beta=0.1)),
        (WatchedPPO, PPOConfig(**SETTINGS, minibatches=1, num_iterations=1)),
    ],
)
def test_what_another_term_acts_on_is_not_left_out(kind, config):
    """Catches a group of equal rewards that the penalty, the bonus or the value loss should have moved."""
    passed, all_passed = assert_same_but_for_the_passes(kind, config, with_reference=config.beta > 0)
    assert passed == all_passed and [len(prompts) for prompts in passed] == [4, 4, 4]


def test_a_step_without_work_hands_zeros_to_the_optimiser():
    """Catches None as a gradient, with which AdamW skips a parameter: its weight decay and momentum with it."""
    algorithm = made(WatchedGRPO, CONFIG)
    experience = algorithm.collect(ROWS, ALL_ARE_FLAT_IN)
    metrics = updates.add_up_gradient(algorithm, experience, CONFIG)
    assert algorithm.passed == []
    assert all(torch.equal(p.grad, torch.zeros_like(p)) for p in algorithm.model.parameters())
    idle = {"loss": 0.0, "clip_ratio": 0.0, "ratio": 1.0} | dict.fromkeys(CLIP_RATIOS, 0.0)
    assert {name: value.item() for name, value in metrics.items()} == idle


def test_a_frozen_parameter_gets_no_gradient():
    algorithm = made(WatchedGRPO, CONFIG)
    frozen = algorithm.model.model.embed_tokens.weight
    frozen.requires_grad_(False)
    updates.add_up_gradient(algorithm, algorithm.collect(ROWS, ALL_ARE_FLAT_IN), CONFIG)
    assert frozen.grad is None and algorithm.model.model.norm.weight.grad is not None


def test_the_metrics_of_a_step_without_work_are_those_of_any_step():
    """Catches a column that comes and goes: a table of steps and a resumed run want the same names in each."""
    _, history, _ = trained(made(WatchedGRPO, replace(CONFIG, minibatches=2)))
    assert history[0].keys() == history[1].keys() == history[2].keys()
    assert history[1]["loss"] == history[1]["grad_norm"] == history[1]["skipped"] == 0
    assert history[1]["entropy"] > 0, "entropy is of all that was sampled, whatever was learned from"


def test_ratios_are_of_the_tokens_that_are_learned_from():
    """As `add_up_gradient` says. Catches a share of the whole batch, with which the mean of ratios would be below 1."""
    algorithm = made(WatchedGRPO, CONFIG)
    metrics = updates.add_up_gradient(algorithm, algorithm.collect(ROWS, 0), CONFIG)
    assert metrics["ratio"].item() == pytest.approx(1, abs=1e-9)
