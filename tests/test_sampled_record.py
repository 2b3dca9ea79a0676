"""The record that `sample` writes beside the tokens: each field against its definition, and none computed unasked."""

import pytest
import torch

from shared import rollout
from shared.constrain import answer_trie
from shared.engine import completions
from shared.engine.contexts import number_contexts, prompt_beginnings
from shared.engine.sampling import Sampling
from shared.rollout import sample
from tests.fakes import tiny_llama

PROMPTS = ["abcd", "d", "abc", "d"]
ANSWERS = ["ab", "abcdef", "j", "jcd", "ddhhhh"]


def real(drawn, values) -> list[list]:
    """The values of each completion's own tokens."""
    return [row[:length].tolist() for row, length in zip(values, drawn.lengths.tolist())]


class Table:
    """A decoder that reads the probabilities of the next letter in a table; a dot is EOS. It replaces the model alone."""

    def __init__(self, probabilities: dict[str, dict[str, float]], nodes: list[str]):
        self.probabilities = probabilities
        self.go_to(nodes)

    def go_to(self, nodes: list[str]) -> None:
        self.nodes = nodes
        probs = torch.zeros(len(nodes), 12)
        for row, node in enumerate(nodes):
            for letter, probability in self.probabilities[node].items():
                probs[row, ".abcdefghij".index(letter) + 1] = probability
        self.logits = probs.log()

    def step(self, tokens: list[int], parents: list[int]) -> None:
        letters = [".abcdefghij"[token - 1] for token in tokens]
        self.go_to([self.nodes[parent] + letter for parent, letter in zip(parents, letters)])


def test_the_drawing(tokenizer, monkeypatch):
    """Catches a drawing in the docstring of `shared.rollout` that nobody computed."""
    end_or_g = {".": 0.75, "g": 0.25}
    probabilities = {
        "ab": {"d": 0.6, "e": 0.4},
        "c": {".": 0.8, "d": 0.2},
        "abd": {"e": 0.5, "f": 0.5},
        "cd": {".": 1.0},
        "abde": end_or_g,
        "abdf": end_or_g,
    }
    table = Table(probabilities, ["ab", "c"])
    u = torch.tensor([[0.31, 0.20, 0.62], [0.05, 0.70, 0.80], [0.40, 0, 0], [0.90, 0.44, 0]])
    monkeypatch.setattr(completions, "start_decoding", lambda *arguments, **options: (table, [0, 0, 1, 1]))
    monkeypatch.setattr(rollout, "uniforms", lambda *arguments: u)
    drawn = sample(tiny_llama(), tokenizer, ["ab", "c"], 2, Sampling(3), seed=0)
    assert drawn.completions == ["de", "dfg", "", "d"] and table.nodes == ["abde", "abdf"]
    assert drawn.lengths.tolist() == [3, 3, 1, 2] and drawn.truncated.tolist() == [False, True, False, False]
    probs = torch.tensor([[0.6, 0.5, 0.75], [0.6, 0.5, 0.25], [0.8, 1, 1], [0.2, 1, 1]])
    torch.testing.assert_close(drawn.old_logps, probs.log())


def test_contexts_are_those_of_the_tokens(model, tokenizer):
    """Catches a rollout that does not know what its completions have in common: scoring would compute all of it."""
    drawn = sample(model, tokenizer, PROMPTS, 8, Sampling(4), seed=0)
    prompt_of = [number for number in (0, 1, 2, 1) for _ in range(8)]  # the same prompt twice is one
    assert real(drawn, drawn.contexts) == number_contexts(prompt_of, real(drawn, drawn.completion_ids))
    assert torch.equal(drawn.beginnings, prompt_beginnings(drawn.prompt_ids.cpu(), drawn.prompt_mask.cpu()))


@pytest.mark.parametrize("room", [3, 7])
def test_a_completion_is_free_until_one_answer_is_left(room, model, tokenizer):
    """Catches a count that is off by one, and certain tokens that are written beyond the room there is.

    The longest answers have six letters and an end: seven tokens are their room, three cut them.
    """
    trie = answer_trie(tokenizer, ANSWERS)
    drawn = sample(model, tokenizer, PROMPTS, 32, Sampling(room), constraint=trie, seed=0)
    answers = [tokenizer(answer).input_ids + [tokenizer.eos_token_id] for answer in ANSWERS]
    seen = set()
    for ids, free, cut in zip(real(drawn, drawn.completion_ids), drawn.free_lengths.tolist(), drawn.truncated.tolist()):
        (answer,) = (answer for answer in answers if answer[: len(ids)] == ids)
        left = [sum(other[:n] == ids[:n] for other in answers) for n in range(1, len(ids) + 1)]
        assert ids == answer[:room] and cut == (len(answer) > room)
        assert free == left.index(1) + 1
        seen.add((free, len(ids)))
    assert seen == {3: {(1, 3), (2, 2), (2, 3), (3, 3)}, 7: {(1, 7), (2, 2), (2, 4), (3, 3), (3, 7)}}[room]


def test_without_a_constraint_all_tokens_are_free(model, tokenizer):
    drawn = sample(model, tokenizer, PROMPTS, 4, Sampling(5), seed=0)
    assert torch.equal(drawn.free_lengths, drawn.lengths)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_log_probabilities_are_as_precise_as_the_model_and_never_of_half_precision(dtype, model, tokenizer):
    """Catches ratios of log-probabilities with three digits, and a model in float64 whose numbers are cut."""
    drawn = sample(model.to(dtype), tokenizer, PROMPTS, 2, Sampling(3), seed=0)
    wide = torch.promote_types(dtype, torch.float32)
    assert drawn.old_logps.dtype == drawn.entropy.dtype == wide
    if dtype == torch.float64:
        assert not torch.equal(drawn.old_logps, drawn.old_logps.float().double())


def test_the_prompt_at_which_a_model_computes_nothing_sensible_is_named(tokenizer):
    """Catches a sentence about another prompt, and a model that is sampled on although its logits are not numbers."""
    model = tiny_llama().eval()
    with torch.no_grad():
        model.get_input_embeddings().weight[tokenizer("d").input_ids] = torch.nan
    with pytest.raises(ValueError, match="not finite.*'d'"):
        sample(model, tokenizer, ["abc", "d"], 3, Sampling(2), seed=0)


def test_what_prompts_begin_with_is_read_once(tokenizer):
    """Catches prompts that are read whole although an example that all begin with is most of them."""
    model = tiny_llama().eval()
    seen = []
    model.get_input_embeddings().register_forward_pre_hook(lambda module, args: seen.append(args[0].numel()))
    sample(model, tokenizer, ["abcdefa", "abcdefb"], 2, Sampling(1), seed=0)
    assert seen == [len("abcdef") + len("a") + len("b")]


def test_nothing_is_computed_behind_the_last_token(tokenizer, monkeypatch):
    """Catches one more pass of the model whose logits nobody reads."""
    steps = []
    start_decoding = completions.start_decoding

    def counted(*arguments, **options):
        decoder, node = start_decoding(*arguments, **options)
        step = decoder.step
        decoder.step = lambda tokens, parents: steps.append(len(tokens)) or step(tokens, parents)
        return decoder, node

    monkeypatch.setattr(completions, "start_decoding", counted)
    drawn = sample(tiny_llama().eval(), tokenizer, PROMPTS, 4, Sampling(3), seed=0)
    assert drawn.truncated.any() and len(steps) == 2


def test_a_part_knows_how_its_prompts_begin(tokenizer):
    """Catches minibatches whose prompts are read whole, since their part forgot what they have in common."""
    drawn = sample(tiny_llama().eval(), tokenizer, PROMPTS, 2, Sampling(3), seed=0)
    assert torch.equal(drawn.take([2, 1]).beginnings, drawn.beginnings[[2, 1], -len("abc") :])


def test_a_part_of_no_prompts_is_a_rollout_too(tokenizer):
    """Catches an index made of an empty list, which is no index, in a process that has no work in a step."""
    drawn = sample(tiny_llama().eval(), tokenizer, PROMPTS, 2, Sampling(3), seed=0)
    part = drawn.take([])
    assert len(part) == 0 and part.prompts == part.completions == []
    assert part.completion_ids.shape == (0, 0) and part.prompt_ids.size(0) == 0
