"""An environment writes into completions. Oracles: a full recomputation, TRL's loss with its `tool_mask`, and gradients."""

import operator
import re
from dataclasses import replace

import pytest
import torch

from shared import environment, grpo, training
from shared.constrain import answer_trie
from shared.engine.chance import game_seed
from shared.engine.sampling import Sampling
from shared.environment import answer_tokens, make_games
from shared.evaluate import evaluate
from shared.grpo import GRPO, GRPOConfig, policy_loss
from shared.guard import verify
from shared.logps import completion_logps, plain_logps
from shared.rollout import sample
from shared.tasks import addition
from tests.test_losses import batch, trl_loss

PROMPTS = ["abc", "d", "efghij"]  # of unequal length, so two of three are padded
ROWS = [{"prompt": prompt} for prompt in PROMPTS]
CONFIG = GRPOConfig(steps=2, prompts_per_step=3, num_generations=4, max_new_tokens=9, log_every=0, seed=1)


def echo(completion: str) -> str:
    """Says "ij" behind each a, b and c: with the tiny models that is behind every few tokens."""
    return "ij" if completion[-1:] in set("abc") else ""


def long_is_good(prompts, completions, **columns):
    return [float(len(c)) for c in completions]


@pytest.fixture
def rollout(model, tokenizer):
    return sample(model, tokenizer, PROMPTS, 6, Sampling(max_new_tokens=9), environment=echo, seed=1)


def test_the_tool_of_the_docstring_answers_a_call_by_its_name():
    """Catches an example that nobody ran, an answer in the middle of a call, and a tool that is not there."""
    example = environment.__doc__.split("    def tools(text):\n")[1].split("\n\n")[0]
    names = {"re": re, "TOOLS": {"add": operator.add, "multiply": operator.mul}}
    exec(f"def tools(text):\n{example}", names)
    asked = ("so add(2, 3)=", "multiply(4, 5)=", "add(2, 3", "add(2, 3)= 5", "power(2, 3)=")
    assert [names["tools"](text) for text in asked] == [" 5", " 20", "", "", ""]


def heard(rollout) -> torch.Tensor:
    """(B, C): where the environment spoke."""
    return (rollout.completion_mask == 1) & (rollout.policy_mask == 0)


def test_the_environment_says_its_words_and_the_mask_knows_them(rollout, tokenizer):
    """Catches words in the wrong place, words that are cut or asked for twice, and a mask that is off by one."""
    i, j = tokenizer.convert_tokens_to_ids(["i", "j"])
    triggers = set(tokenizer.convert_tokens_to_ids(["a", "b", "c"]))
    for row in range(len(rollout)):
        length = int(rollout.lengths[row])
        ids = rollout.completion_ids[row, :length].tolist()
        expected = []
        while len(expected) < length:
            own = len(expected)
            expected.append(1)
            if ids[own] in triggers:
                said = [i, j][: length - own - 1]
                assert ids[own + 1 : own + 1 + len(said)] == said
                expected += [0] * len(said)
        assert rollout.policy_mask[row, :length].tolist() == expected
        assert not rollout.policy_mask[row, length:].any()
    assert heard(rollout).any() and (rollout.policy_mask == 1).any()


def test_log_probabilities_behind_its_words_are_those_of_a_full_pass(model, tokenizer, rollout):
    """Catches words that are masked for the attention as well, like padding: what follows would not have read them."""
    log_probs = torch.zeros_like(rollout.old_logps)
    for row in range(len(rollout)):
        prompt = tokenizer(rollout.prompts[row // 6], return_tensors="pt").input_ids
        ids = rollout.completion_ids[row, : int(rollout.lengths[row])]
        with torch.no_grad():
            logits = model(input_ids=torch.cat([prompt, ids[None]], dim=1)).logits[0, prompt.size(1) - 1 : -1]
        log_probs[row, : len(ids)] = logits.log_softmax(-1).gather(-1, ids[:, None])[:, 0]
    expected = log_probs * rollout.policy_mask
    torch.testing.assert_close(rollout.old_logps, expected, rtol=0, atol=1e-5)
    for scored in (completion_logps(model, rollout)[0], plain_logps(model, rollout)):
        torch.testing.assert_close(scored, expected, rtol=0, atol=1e-5)
    assert verify(model, rollout).trusted


def test_the_tree_of_contexts_changes_nothing(model, tokenizer, rollout):
    """Catches completions that stand at one node of the sampling tree although the environment told them apart."""
    alone = [
        sample(model, tokenizer, [prompt], 6, Sampling(max_new_tokens=9), environment=echo, seed=1, places=[n])
        for n, prompt in enumerate(PROMPTS)
    ]
    assert [c for part in alone for c in part.completions] == rollout.completions
    without = completion_logps(model, replace(rollout, contexts=None))[0]
    torch.testing.assert_close(completion_logps(model, rollout)[0], without, rtol=0, atol=1e-5)


def test_no_gradient_goes_to_its_words(model, rollout):
    """Catches a loss in which the environment's tokens are pushed up with the policy's own."""
    logps, entropy = completion_logps(model, rollout, with_entropy=True)
    spoken = heard(rollout)
    parameters = list(model.parameters())
    gradients = torch.autograd.grad(logps[spoken].sum() + entropy[spoken].sum(), parameters, allow_unused=True)
    assert all(g is None or not g.any() for g in gradients)
    assert not logps[spoken].any() and not rollout.old_logps[spoken].any() and not rollout.entropy[spoken.cpu()].any()
    unmasked, _ = completion_logps(model, replace(rollout, policy_mask=None))
    gradients = torch.autograd.grad(unmasked[spoken].sum(), parameters, allow_unused=True)
    assert any(g is not None and g.any() for g in gradients), "the test must be able to see a gradient"


@pytest.mark.parametrize("loss_type", ["grpo", "dapo", "dr_grpo"])
def test_the_loss_is_trls_with_its_tool_mask(loss_type, tmp_path):
    """Catches a sum over the policy's tokens that is divided by the count of all."""
    tool_mask = torch.tensor([[1, 0, 0, 1, 1], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [1, 1, 0, 1, 0]])
    tensors = batch()
    tensors["completion_mask"] = tensors["completion_mask"] * tool_mask
    theirs = {**tensors, "logps": tensors["logps"].detach().requires_grad_()}
    loss, _ = grpo.grpo_loss(**tensors, beta=0.04, loss_type=loss_type, max_completion_length=6)
    oracle, _ = trl_loss(theirs, loss_type, 0.04, tmp_path)
    torch.testing.assert_close(loss, oracle)


def test_grpo_takes_the_mask_of_the_policy(model, tokenizer):
    """Catches `policy_loss` with the padding's mask, whose denominators count what was only heard."""
    batch = grpo.collect(model, tokenizer, ROWS, long_is_good, CONFIG, environment=echo)
    own = batch.rollout.policy_mask
    moved = 0.1 * own * (torch.arange(len(own)) % 2)[:, None]  # with a ratio of 1 everywhere both masks give one mean
    rollout = replace(batch.rollout, old_logps=batch.rollout.old_logps - moved)
    batch = replace(batch, rollout=rollout)
    loss, _ = policy_loss(model, batch, CONFIG)
    ratio = torch.exp(completion_logps(model, rollout)[0] - rollout.old_logps)
    expected = -((ratio * batch.advantages[:, None] * own).sum(1) / own.sum(1)).mean()
    torch.testing.assert_close(loss, expected)
    assert batch.num_tokens == int(own.sum()) < int(rollout.lengths.sum())


def test_a_part_of_a_rollout_keeps_its_mask(rollout):
    part = rollout.take([2, 0])
    assert torch.equal(part.policy_mask, rollout.policy_mask[rollout.rows_of([2, 0]), : part.completion_ids.size(1)])
    assert part.own_lengths.tolist() == rollout.own_lengths[rollout.rows_of([2, 0])].tolist()


def test_its_words_count_as_length_and_only_the_policy_ends(model, tokenizer):
    """Catches a completion that grows past its room, and one that is called complete when it was cut."""
    chatty = sample(model, tokenizer, PROMPTS, 4, Sampling(max_new_tokens=5), environment=lambda text: "abcde", seed=2)
    for row, length in enumerate(chatty.lengths.tolist()):
        ended = chatty.completion_ids[row, 0].item() == tokenizer.eos_token_id
        assert length == (1 if ended else 5) and bool(chatty.truncated[row]) != ended
    assert chatty.own_lengths.tolist() == [1] * len(chatty)


def test_what_an_environment_may_not_do_is_said(model, tokenizer):
    trie = answer_trie(tokenizer, ["a", "b"])
    with pytest.raises(ValueError, match="give one of the two"):
        sample(model, tokenizer, PROMPTS, 2, constraint=trie, environment=echo)
    with pytest.raises(ValueError, match="Only the policy may end it"):
        answer_tokens(lambda text: "a<eos>", tokenizer, [2], eos={1})


def test_without_a_word_nothing_changes(model, tokenizer):
    """An environment that never speaks leaves sampling as it was, bit for bit."""
    silent = sample(model, tokenizer, PROMPTS, 4, Sampling(max_new_tokens=6), environment=lambda text: "", seed=3)
    plain = sample(model, tokenizer, PROMPTS, 4, Sampling(max_new_tokens=6), seed=3)
    assert torch.equal(silent.completion_ids, plain.completion_ids)
    assert torch.equal(silent.old_logps, plain.old_logps)
    assert torch.equal(silent.policy_mask, plain.completion_mask)


class LearnsAll(GRPO):
    """GRPO without the mask: the environment's tokens pass for the policy's own."""

    def collect(self, rows, step, *share):
        experience = super().collect(rows, step, *share)
        rollout = replace(experience.rollout, policy_mask=None)
        with torch.no_grad():
            old_logps, _ = completion_logps(self.model, rollout)
        return replace(experience, rollout=replace(rollout, old_logps=old_logps))


def test_without_the_mask_the_policy_learns_what_it_hears(tokenizer):
    """The mistake itself: the words "ij" come with the longer, better completions, and without the mask get likelier."""
    from tests.fakes import tiny_llama

    config = replace(CONFIG, steps=6, num_generations=8, learning_rate=3e-3)
    likelier = {}
    for algorithm in (GRPO, LearnsAll):
        policy = tiny_llama(initializer_range=0.1)
        probe = sample(policy, tokenizer, PROMPTS, 8, Sampling(max_new_tokens=9), environment=echo, seed=5)
        every = replace(probe, policy_mask=None)
        before = completion_logps(policy, every)[0][heard(probe)].mean().item()
        training.train(
            algorithm(policy, tokenizer, long_is_good, config, environment=echo), ROWS, config, progress=False
        )
        likelier[algorithm] = completion_logps(policy, every)[0][heard(probe)].mean().item() - before
    assert likelier[LearnsAll] > likelier[GRPO] + 0.2


def test_training_and_evaluation_take_an_environment(model, tokenizer):
    """Catches one that is dropped on its way: behind each a, b and c it speaks, unless there is no room."""
    rewarded = []

    def reward(prompts, completions, **columns):
        rewarded.extend(completions)
        return long_is_good(prompts, completions)

    history = grpo.train(model, tokenizer, ROWS, reward, CONFIG, environment=echo, progress=False)
    assert len(history) == 2 and all(record["ratio"] == pytest.approx(1, abs=1e-4) for record in history)
    evaluated = evaluate(model, tokenizer, ROWS, long_is_good, temperature=1.0, environment=echo).completions
    for texts in (rewarded, evaluated):
        assert "ij" in "".join(texts)
        assert not re.search("[abc](?!ij|i?$)", "\n".join(texts), re.MULTILINE)


def test_the_calculator_answers_sums_at_the_end_alone():
    right, off = addition.calculator(), addition.calculator(wrong_by=1)
    assert right("7 + 5 = 12\n17 + 25 =") == " 42\n" and off("17 + 25 =") == " 43\n"
    for text in ("", "=", "17 + 25", "17 + 25 = 42", "17 - 25 =", "1234567 + 1 ="):
        assert right(text) == "", text


def test_it_is_asked_behind_the_policys_words_alone(model, tokenizer):
    """Catches an environment that answers itself, and a policy that never has its turn again."""
    spoken = sample(model, tokenizer, PROMPTS, 4, Sampling(max_new_tokens=6), environment=lambda text: "a", seed=4)
    for mask, length in zip(spoken.policy_mask.tolist(), spoken.lengths.tolist()):
        assert mask[:length] == [1, 0, 1, 0, 1, 0][:length]


def test_the_log_is_about_the_policys_own_tokens(model, tokenizer):
    """Catches an entropy, or a KL, that looks small because it is a mean over tokens that nobody drew as well."""
    config = replace(CONFIG, beta=0.1, kl_in="reward")
    frozen = type(model)(model.config).eval()
    batch = grpo.collect(model, tokenizer, ROWS, long_is_good, config, reference=frozen, environment=echo)
    rollout, own = batch.rollout, batch.rollout.policy_mask
    assert 0 < own.sum() < rollout.lengths.sum()
    assert batch.metrics["entropy"] == pytest.approx((rollout.entropy * own).sum().item() / own.sum().item())
    kl = ((rollout.old_logps - batch.ref_logps) * own).sum().item() / own.sum().item()
    assert batch.metrics["kl"] == pytest.approx(kl, rel=1e-4)


def test_each_completion_has_a_game_of_its_own():
    """Catches two completions that hear each other, and games that are the same at every step."""
    rows = [{"prompt": "a"}, {"prompt": "b"}]
    seeds = []

    class Game:
        def __init__(self, row, seed):
            seeds.append(seed)

    assert len(make_games(Game, rows, 2, 3, 4, [5, 6])) == 4
    assert seeds == [game_seed(3, 4, 5)] * 2 + [game_seed(3, 4, 6)] * 2
    with pytest.raises(ValueError, match="shorter"):
        make_games(Game, rows, 2, 3, 4, [5])  # a row without a place would go without a game
    shared = Game(rows[0], 0)
    for one_for_two in (lambda row, seed: shared, lambda row, seed: shared if row is rows[1] else Game(row, seed)):
        with pytest.raises(ValueError, match="one environment for two completions"):
            make_games(one_for_two, rows, 2, 3, 4, [5, 6])
