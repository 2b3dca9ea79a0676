"""An environment with a state, made for each completion: what it hears, how it ends, and all that must hold with it.

The game of these tests answers the first of the letters a, b and c with the row's own word, the second with the die that
its seed gave it, and is over then.
"""

import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from shared import grpo, ppo, supervised, training
from shared.advantages import gae
from shared.constrain import answer_trie
from shared.critic import ActorCritic
from shared.engine.chance import game_seed
from shared.engine.processes import ALONE
from shared.engine.sampling import Sampling
from shared.environment import LONGEST_ANSWER, game_tokens
from shared.evaluate import evaluate
from shared.grpo import GRPO, GRPOConfig
from shared.guard import verify
from shared.logps import completion_logps, plain_logps
from shared.rewards import score_rollout
from shared.rollout import sample
from shared.training import TrainingConfig
from tests.algorithms import SAMPLING, parts_of, without_seconds
from tests.fakes import letter_tokenizer, tiny_gpt2, tiny_llama
from tests.line import parameters
from tests.second_device_tensor import DEVICE
from tests.several import in_processes
from tests.test_second_device import equal, on_both

ROWS = [{"prompt": p, "word": w} for p, w in [("abc", "ij"), ("d", "h"), ("efgh", "gg"), ("d", "fe"), ("hi", "")]]
PROMPTS = [row["prompt"] for row in ROWS]
C = 9


class Dice:
    """The game."""

    def __init__(self, row: dict, seed: int):
        self.word = row["word"]
        self.die = "fghij"[np.random.default_rng(seed).integers(5)]
        self.heard: list[str] = []
        self.answers = 0
        self.done = False

    def say(self, text: str) -> str:
        self.heard.append(text)
        if text[-1:] not in set("abc"):
            return ""
        self.answers += 1
        self.done = self.answers == 2
        return self.die if self.answers == 2 else self.word


def played(rollout_or_evaluation) -> list[tuple]:
    return [(game.word, game.die, game.heard, game.done) for game in rollout_or_evaluation.environments]


def answers(prompts, completions, environments, **columns):
    """Reads the games: the answers that were heard, and a little for the letters."""
    return [game.answers + 0.1 * len(text) for game, text in zip(environments, completions, strict=True)]


def draw(model, tokenizer, rows=ROWS, num_generations=6, **options):
    options = {"environment_factory": Dice, "rows": rows, "seed": 1} | options
    return sample(model, tokenizer, [row["prompt"] for row in rows], num_generations, Sampling(C), **options)


@pytest.fixture
def rollout(model, tokenizer):
    return draw(model, tokenizer)


def retold(rollout, row: int, tokenizer) -> tuple[list[int], list[str], bool]:
    """The mask, what the game heard and whether it is over, as they should be: by playing a new game."""
    ids = rollout.completion_ids[row, : int(rollout.lengths[row])].tolist()
    game = Dice(ROWS[row // 6], game_seed(1, 0, row // 6))
    mask = []
    while len(mask) < len(ids):
        assert not game.done, "nothing follows the end of a game"
        mask.append(1)
        if ids[len(mask) - 1] == tokenizer.eos_token_id:
            break
        said = tokenizer(game.say(tokenizer.decode(ids[: len(mask)], True)), add_special_tokens=False)["input_ids"]
        said = said[: C - len(mask)]
        assert ids[len(mask) : len(mask) + len(said)] == said
        mask += [0] * len(said)
    return mask, game.heard, game.done


def test_each_completion_has_a_game_of_its_own_which_hears_every_token_and_ends_it(rollout, tokenizer):
    """Catches a game that hears another completion, misses a token or is asked after its own words, a mask that is off by
    one, and a completion that goes on behind its end."""
    ended = 0
    for row, game in enumerate(rollout.environments):
        mask, heard, done = retold(rollout, row, tokenizer)
        assert (
            rollout.policy_mask[row, : len(mask)].tolist() == mask and not rollout.policy_mask[row, len(mask) :].any()
        )
        assert game.heard == heard and game.done == done
        ended += done
        last = rollout.completion_ids[row, len(mask) - 1].item()
        if done and len(mask) < C:
            assert not rollout.truncated[row] and last != tokenizer.eos_token_id
        if not done:
            assert bool(rollout.truncated[row]) == (last != tokenizer.eos_token_id)
    assert ended and (rollout.lengths < C).any()


def test_one_prompt_with_two_secrets_parts_at_the_games_words(model, tokenizer):
    """Catches completions that stay at one node of the sampling tree although their games answered differently."""
    rows = [{"prompt": "abc", "word": word} for word in ("ij", "h", "ij")]
    together = draw(model, tokenizer, rows)
    alone = [draw(model, tokenizer, [row], places=[place]) for place, row in enumerate(rows)]
    assert together.completions == [text for part in alone for text in part.completions]
    assert together.old_logps.shape[1] == C
    torch.testing.assert_close(completion_logps(model, together)[0], together.old_logps, rtol=0, atol=1e-5)


def test_log_probabilities_are_those_of_a_full_pass_and_the_guard_trusts_them(model, rollout):
    """Catches last words of a game that are scored as the policy's own, and contexts that do not hold them."""
    assert verify(model, rollout).trusted
    for scored in (completion_logps(model, rollout)[0], plain_logps(model, rollout)):
        torch.testing.assert_close(scored, rollout.old_logps, rtol=0, atol=1e-5)
    without = completion_logps(model, replace(rollout, contexts=None))[0]
    torch.testing.assert_close(without, rollout.old_logps, rtol=0, atol=1e-5)
    assert not rollout.old_logps[rollout.policy_mask == 0].any()


def test_the_dice_are_of_seed_step_and_place_alone(model, tokenizer, rollout):
    """Catches dice that depend on the other rows, on the order of calls or on numpy's own generator, or are each step's."""
    np.random.seed(9)
    dice = [game.die for game in rollout.environments]
    assert all(dice[row] == dice[row - row % 6] for row in range(len(dice))), "a group has one seed"
    part = draw(model, tokenizer, [ROWS[3], ROWS[1]], places=[3, 1])
    assert played(part) == played(rollout)[18:24] + played(rollout)[6:12]
    later = draw(model, tokenizer, step=2)
    assert [game.die for game in later.environments[::6]] == [
        Dice(row, game_seed(1, 2, i)).die for i, row in enumerate(ROWS)
    ]
    seeds = {game_seed(seed, step, place) for seed in (0, 1) for step in (0, 1, 2**64 - 1) for place in (0, 1)}
    assert len(seeds) == 12 and all(0 <= seed < 2**63 for seed in seeds)


def test_a_greedy_completion_has_dice_too(model, tokenizer):
    torch.manual_seed(0)
    options = {"environment_factory": Dice, "rows": ROWS}
    first, second = (sample(model, tokenizer, PROMPTS, 1, Sampling(C, temperature=0.0), **options) for _ in range(2))
    assert first.environments[0].die is not None and len({g.die for r in (first, second) for g in r.environments}) > 1


def test_a_game_that_says_nothing_changes_nothing(model, tokenizer):
    class Silent:
        done = False

        def __init__(self, row, seed):
            pass

        def say(self, text):
            return ""

    silent = sample(model, tokenizer, PROMPTS, 4, Sampling(C), environment_factory=Silent, seed=3)
    plain = sample(model, tokenizer, PROMPTS, 4, Sampling(C), seed=3)
    assert torch.equal(silent.completion_ids, plain.completion_ids) and torch.equal(silent.old_logps, plain.old_logps)
    assert torch.equal(silent.truncated, plain.truncated) and torch.equal(silent.policy_mask, plain.completion_mask)
    assert plain.environments is None


def ends_with(word: str):
    """A game that says this after the second token and is over then."""

    class Ends:
        def __init__(self, row, seed):
            self.done = False
            self.asked = 0

        def say(self, text):
            self.asked += 1
            self.done = self.asked == 2
            return word if self.done else ""

    return Ends


@pytest.mark.parametrize("word, width, cut", [("", 2, False), ("ab", 4, False), ("abcd", 4, True)])
def test_last_words_that_do_not_fit_are_cut(word, width, cut, tokenizer):
    """Catches a completion that is called whole although its end is missing, and one that is cut off by its own end."""
    model = tiny_llama().eval()
    drawn = sample(model, tokenizer, PROMPTS, 4, Sampling(4), environment_factory=ends_with(word), seed=0)
    over = [row for row, game in enumerate(drawn.environments) if game.done]
    assert over and drawn.lengths[over].tolist() == [width] * len(over)
    assert drawn.truncated[over].tolist() == [cut] * len(over) and drawn.own_lengths[over].tolist() == [2] * len(over)
    at_the_brim = sample(model, tokenizer, PROMPTS, 4, Sampling(2), environment_factory=ends_with(""), seed=0)
    assert (at_the_brim.lengths == 2).any() and not at_the_brim.truncated.any(), (
        "a game that ends with the last token has ended"
    )


class Broken(Dice):
    """A game with one mistake."""

    def say(self, text):
        if self.word == "h":
            raise KeyError("no such guess")
        return ""


class Chatty(Dice):
    def say(self, text):
        return "a" * (LONGEST_ANSWER + 1)


class Slow(Dice):
    def say(self, text):
        time.sleep(0.03)
        return ""


class Mute(Dice):
    def say(self, text):
        return None


class DoneAsMethod(Dice):
    def __init__(self, row, seed):
        pass

    def done(self):
        return False

    def say(self, text):
        return ""


class SaysEnd(Dice):
    def say(self, text):
        return "a<eos>"


def fails(row, seed):
    raise RuntimeError("no board")


ONE_FOR_ALL = Dice(ROWS[0], 0)


@pytest.mark.parametrize(
    "factory, sentence",
    [
        (
            Broken,
            r"After '\w*', in the row \{'prompt': 'd', 'word': 'h'\}, .*`say` raised KeyError: 'no such guess'",
        ),
        (Chatty, r"in the row \{.*\}, the environment's `say` returned 201 tokens; 200 is the limit"),
        (Slow, r"After '\w*', in the row \{.*\}, the environment's `say` took \d+\.\d s"),
        (Mute, "returned None; return a text"),
        (DoneAsMethod, "it must be True or False, and is no method"),
        (SaysEnd, "Only the policy may end it"),
        (fails, r"No environment was made for the row \{'prompt': 'abc', 'word': 'ij'\}: RuntimeError: no board."),
        (lambda row, seed: ONE_FOR_ALL, "make a new one at each call"),
    ],
)
def test_a_game_that_breaks_its_contract_is_told_with_row_and_text(factory, sentence, tokenizer, monkeypatch):
    monkeypatch.setattr("shared.environment.SLOWEST_ANSWER", 0.02 if factory is Slow else 60.0)
    with pytest.raises(ValueError, match=sentence):
        sample(tiny_llama().eval(), tokenizer, PROMPTS, 2, Sampling(C), environment_factory=factory, rows=ROWS, seed=0)


@pytest.mark.parametrize("seconds, tokens, too_much", [(0.9, 200, False), (1.1, 1, True), (0.9, 201, True)])
def test_an_answer_may_be_as_long_and_as_slow_as_is_promised(seconds, tokens, too_much, tokenizer, monkeypatch):
    """Catches limits that are moved, and one that refuses what it allows: 200 tokens, 1 s, told by a clock of our own."""
    clock = [0.0]
    monkeypatch.setattr("shared.environment.time.monotonic", lambda: clock[0])

    class Ponders(Dice):
        def say(self, text):
            clock[0] += seconds
            return "a" * tokens

    heard = (Ponders(ROWS[0], 0), ROWS[0], tokenizer, [2], {tokenizer.eos_token_id})
    if too_much:
        with pytest.raises(ValueError, match="is the limit"):
            game_tokens(*heard)
    else:
        assert len(game_tokens(*heard)) == tokens


def test_what_cannot_go_together_is_refused(model, tokenizer):
    with pytest.raises(ValueError, match="give one of the two"):
        draw(model, tokenizer, constraint=answer_trie(tokenizer, ["a", "b"]))
    with pytest.raises(ValueError, match="environment and environment_factory would both answer"):
        draw(model, tokenizer, environment=lambda text: "")


def test_rewards_read_the_games_of_their_completions(rollout):
    """Catches games in another order than the completions, and a part of a rollout with the games of the whole."""
    rewards = score_rollout(answers, rollout, ROWS)[:, 0]
    expected = [game.answers + 0.1 * len(text) for game, text in zip(rollout.environments, rollout.completions)]
    torch.testing.assert_close(rewards, torch.tensor(expected))
    part = rollout.take([3, 0])
    torch.testing.assert_close(score_rollout(answers, part, [ROWS[3], ROWS[0]])[:, 0], rewards[rollout.rows_of([3, 0])])
    assert rollout.take([]).environments == []


SIZE = {"prompts_per_step": 4, "num_generations": 4, "max_new_tokens": C, "log_every": 0, "learning_rate": 1e-3}


def settings_of(name: str, config, **settings):
    return config(**SIZE | {"steps": 2, "minibatches": 1, "num_iterations": 1} | settings)


@pytest.mark.parametrize("name", SAMPLING)
def test_every_algorithm_plays_and_goes_on_from_a_checkpoint_bit_for_bit(name, tokenizer, tmp_path):
    """Catches an algorithm that loses the factory, and games that go on from the state of an earlier step."""

    def run(seed, **settings):
        torch.manual_seed(seed)
        model = tiny_llama(seed).eval()
        module, _, config, policy = parts_of(name, model)
        arguments = [policy, tokenizer, ROWS, answers, settings_of(name, config, **settings)]
        if name == "PPO":
            arguments.insert(1, None)
            arguments[-1] = replace(arguments[-1], beta=0.0)
        path = tmp_path / "run.pt" if "checkpoint_every" in settings else None
        history = module.train(*arguments, environment_factory=Dice, checkpoint_path=path, progress=False)
        return without_seconds(history), parameters(policy)

    uninterrupted, whole = run(0, steps=3)
    run(0, steps=2, checkpoint_every=1)
    continued, resumed = run(5, steps=3, checkpoint_every=1)
    assert continued == uninterrupted and all(map(torch.equal, whole, resumed))
    assert uninterrupted[0]["reward"] > 0 and uninterrupted[0]["grad_norm"] > 0


@pytest.mark.parametrize("name", SAMPLING)
def test_no_loss_reads_the_games_words(name, tokenizer):
    """Catches a KL, an entropy, a value or an advantage that is summed or averaged over them: whatever stands there, the
    loss and its metrics are the same."""
    model, reference = tiny_llama().eval(), tiny_llama(9).eval()
    _, kind, config, policy = parts_of(name, model)
    if name == "PPO":
        torch.nn.init.normal_(policy.value_head[-1].weight)
    settings = settings_of(name, config, beta=0.1)
    algorithm = kind(policy, tokenizer, answers, settings, reference=reference, environment_factory=Dice)
    experience = algorithm.collect(ROWS, 0)
    spoken = experience.rollout.policy_mask == 0
    assert (spoken & (experience.rollout.completion_mask == 1)).any()
    loss, metrics = algorithm.loss(experience)
    poison = {}
    for field in ("advantages", "ref_logps", "returns", "old_values", "ref_logits"):
        values = getattr(experience, field, None)
        if values is not None and values.ndim > 1:
            mask = spoken if values.ndim == 2 else spoken[..., None]
            poison[field] = values.masked_fill(mask, 1e3)
    old_logps = experience.rollout.old_logps.masked_fill(spoken, -1e3)
    poisoned = replace(experience, rollout=replace(experience.rollout, old_logps=old_logps), **poison)
    again, metrics_again = algorithm.loss(poisoned)
    torch.testing.assert_close((again, metrics_again), (loss, metrics))


def test_rows_without_signal_are_dropped_and_change_nothing(tokenizer):
    """Catches games that go to the rows beside theirs when flat groups are left out of the pass."""
    flat = lambda prompts, completions, environments, **c: [  # noqa: E731
        0.0 if game.word == "h" else value
        for game, value in zip(environments, answers(prompts, completions, environments))
    ]
    config = GRPOConfig(**SIZE | {"prompts_per_step": 5})
    algorithm = GRPO(tiny_llama().eval(), tokenizer, flat, config, environment_factory=Dice)
    experience = algorithm.collect(ROWS, 0)
    kept = algorithm.rows_with_gradient(experience)
    assert 1 not in kept and len(kept) > 1
    part = experience.take(kept)
    assert [game.word for game in part.rollout.environments[:: config.num_generations]] == [
        ROWS[r]["word"] for r in kept
    ]
    gradients = []
    for batch, weight in ((experience, 1.0), (part, len(kept) / len(ROWS))):
        loss, _ = algorithm.loss(batch)
        gradients.append(torch.autograd.grad(loss * weight, list(algorithm.model.parameters())))
    for whole, without in zip(*gradients):
        torch.testing.assert_close(without, whole, rtol=1e-4, atol=1e-6)


def test_advantages_step_over_the_words_of_a_game():
    """Worked by hand: own tokens at places 0, 1 and 4, values 0.5, 0.6, 0.9, reward 1: as if the hole were not there."""
    rewards = torch.tensor([[0.0, 0.0, 7.0, 7.0, 1.0, 7.0]])
    values = torch.tensor([[0.5, 0.6, 9.0, 9.0, 0.9, 9.0]])
    own = torch.tensor([[1, 1, 0, 0, 1, 0]])
    advantages, returns = gae(rewards, values, own, lam=0.5)
    assert advantages.tolist() == [pytest.approx([0.1 + 0.5 * 0.35, 0.3 + 0.5 * 0.1, 0, 0, 0.1, 0])]
    assert returns.tolist() == [pytest.approx([0.775, 0.95, 0, 0, 1.0, 0])]
    assert ppo.token_rewards(torch.tensor([2.0]), own).tolist() == [[0, 0, 0, 0, 2, 0]]


def test_ppo_is_paid_at_the_policys_last_token(tokenizer):
    """Catches a reward at the game's last word, where no action is, and a critic that is asked for values there."""
    policy = ActorCritic(tiny_llama().eval())
    torch.nn.init.normal_(policy.value_head[-1].weight)
    config = ppo.PPOConfig(**SIZE | {"beta": 0.0, "lam": 1.0, "whiten_advantages": False})
    experience = ppo.collect(policy, None, tokenizer, ROWS, answers, config, environment_factory=Dice)
    own = experience.rollout.policy_mask
    paid = experience.rewards[:, None].expand_as(own) * own
    torch.testing.assert_close(experience.returns, paid.float())
    torch.testing.assert_close(experience.advantages, (paid - experience.old_values) * own)


def test_the_same_games_on_a_second_device():
    """Catches a mask, or words, that stay on the CPU."""
    tokenizer = letter_tokenizer()

    def run(device):
        model = tiny_llama().eval().to(device)
        drawn = draw(model, tokenizer)
        history = grpo.train(
            model, tokenizer, ROWS, answers, GRPOConfig(**SIZE | {"steps": 2}), environment_factory=Dice, progress=False
        )
        policy = ActorCritic(model)
        config = ppo.PPOConfig(**SIZE | {"steps": 1, "beta": 0.0})
        history += ppo.train(policy, None, tokenizer, ROWS, answers, config, environment_factory=Dice, progress=False)
        assert drawn.policy_mask.device == device
        games = played(drawn)
        return [replace(drawn, environments=None), games, history, list(model.parameters())]

    assert DEVICE is not None and equal(*on_both(run))


def trained(processes):
    """The outcome of GRPO and of an evaluation with games, in float64 so that every process draws what one would."""
    model, tokenizer = tiny_gpt2().eval().double(), letter_tokenizer()
    config = GRPOConfig(**SIZE | {"prompts_per_step": 5, "steps": 2})
    algorithm = GRPO(model, tokenizer, answers, config, environment_factory=Dice)
    history = training.train(algorithm, ROWS, config, progress=False, processes=processes)
    options = {"temperature": 1.0, "num_generations": 2, "max_new_tokens": C, "batch_size": 3}
    result = evaluate(model, tokenizer, ROWS, answers, environment_factory=Dice, processes=processes, **options)
    weights = torch.cat([p.detach().flatten() for p in model.parameters()])
    return [record["reward"] for record in history], weights, played(result), result.rewards


def test_two_processes_play_the_games_of_one():
    """Catches dice by rank, games of a share at other places, an evaluation whose games stay in their process."""
    rewards, weights, games, measured = trained(ALONE)
    for theirs in in_processes(2, trained):
        assert theirs[0] == pytest.approx(rewards) and theirs[2] == games and torch.equal(theirs[3], measured)
        assert (theirs[1] - weights).norm() <= 1e-9 * weights.norm()


def test_an_evaluation_in_batches_has_the_games_of_all_rows_in_their_order(tokenizer):
    """Catches rows that get the games of the batch's order, which is by length."""
    model = tiny_llama().eval()
    options = {"temperature": 1.0, "num_generations": 2, "max_new_tokens": C, "environment_factory": Dice}
    whole, parts = (evaluate(model, tokenizer, ROWS, answers, batch_size=n, **options) for n in (64, 2))
    assert played(whole) == played(parts) and torch.equal(whole.rewards, parts.rewards)
    assert [game.word for game in whole.environments] == [row["word"] for row in ROWS for _ in range(2)]
    assert all(game.heard[-1] in text for game, text in zip(whole.environments, whole.completions) if game.heard)
    assert (
        evaluate(model, tokenizer, ROWS, lambda prompts, completions, **c: [0.0] * len(completions)).environments
        is None
    )


@pytest.mark.parametrize("name", ["RLOO", "PPO"])
def test_the_kl_of_the_log_is_a_mean_over_own_tokens(name, tokenizer):
    """Catches a KL that looks smaller the more the games say."""
    reference = tiny_llama(9).eval()
    _, kind, config, policy = parts_of(name, tiny_llama().eval())
    settings = settings_of(name, config, beta=0.1)
    algorithm = kind(policy, tokenizer, answers, settings, reference=reference, environment_factory=Dice)
    experience = algorithm.collect(ROWS, 0)
    own = experience.rollout.policy_mask.bool()
    log_r = (completion_logps(reference, experience.rollout)[0] - experience.rollout.old_logps)[own]
    assert experience.metrics["kl"] == pytest.approx((log_r.exp() - 1 - log_r).mean().item(), rel=1e-4)


# --- supervised rows in which an environment spoke


def test_supervised_rows_say_where_the_environment_spoke(tokenizer):
    """Catches its words in the loss, an end that is learnt although the game was over, and spans that are off by one."""
    rows = [
        {"prompt": "ab", "completion": "cdefg", "spoken": [(1, 3)]},
        {"prompt": "ab", "completion": "cdefg", "spoken": [(1, 2), (4, 5)]},
        {"prompt": "ab", "completion": "cdefg"},
    ]
    batch = supervised.encode_documents(tokenizer, rows, torch.device("cpu"))
    assert batch.learned.tolist() == [[0, 0, 1, 0, 0, 1, 1, 1], [0, 0, 1, 0, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1, 1, 1]]
    assert batch.row_tokens.tolist() == [8, 7, 8] and batch.learned_tokens.tolist() == [4, 3, 6]
    assert tokenizer.decode(batch.ids[1, :7]) == "abcdefg"
    for spoken in ([(3, 1)], [(2, 4), (3, 5)], [(0, 6)], [(1, 1)]):
        with pytest.raises(ValueError, match="give .start, stop. of characters, in their order, from 0 to 5"):
            supervised.encode_documents(tokenizer, [rows[0] | {"spoken": spoken}], torch.device("cpu"))


def test_supervised_training_leaves_the_environments_words_alone(tokenizer):
    """The loss is the mean over own tokens of the log-probabilities of a plain pass."""
    model = tiny_llama().eval()
    row = {"prompt": "ab", "completion": "cdefg", "spoken": [(1, 3)]}
    algorithm = supervised.Supervised(model, tokenizer)
    loss, _ = algorithm.loss(algorithm.experience([row], 0))
    ids = tokenizer("abcdefg", return_tensors="pt").input_ids
    ids = torch.cat([ids, torch.tensor([[tokenizer.eos_token_id]])], dim=1)
    logps = model(ids).logits.log_softmax(-1)[0, :-1].gather(-1, ids[0, 1:, None])[:, 0]
    torch.testing.assert_close(loss, -logps[[1, 4, 5, 6]].mean())
    history = supervised.train(
        model, tokenizer, [row], TrainingConfig(steps=1, prompts_per_step=1, log_every=0), progress=False
    )
    assert history[0]["completions/mean_length"] == 4
