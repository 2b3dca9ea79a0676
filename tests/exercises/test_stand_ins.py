"""Stand-ins beside a student's function while it is judged: models that say what they are told, kinds of results."""

import pytest
import torch

import shared.evaluate
import shared.rollout
from shared.engine.sampling import Sampling
from shared.exercises.calling import call
from shared.exercises.catalogue.game import play
from shared.exercises.drawing import Draw
from shared.exercises.results import NotAResult
from shared.exercises.stand_ins.documents import Documents
from shared.exercises.stand_ins.games import Played
from shared.exercises.stand_ins.letters import letters
from shared.exercises.stand_ins.scored import Scored
from shared.exercises.stand_ins.speaking import (
    MOST,
    Speaker,
    drawn_speaker,
    rollout_of,
    speak,
    standing_in,
    stays_behind,
)
from shared.exercises.stand_ins.tiny_model import TinyModel
from shared.exercises.stand_ins.tokens import END, TOKENIZER

FLOATS = torch.tensor([1.0, 0.5])


def document(prompt: object, completion: object) -> dict:
    return {"prompt": prompt, "completion": completion}


def test_documents_are_compared_whatever_the_order_of_their_prompts():
    """Catches a right function that goes through its prompts in another order, and lost order within one prompt."""
    read, complaint = Documents().read([document("q", "z"), document("p", " 3"), document("q", "a")])
    assert (read, complaint) == ("'p' -> ' 3'\n'q' -> 'z'\n'q' -> 'a'", "")
    assert Documents().read((document(3, "a"), document("2", "b")))[0] == "'2' -> 'b'\n3 -> 'a'"
    assert Documents().read([]) == ("no documents", "")


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (None, "`return` missing"),
        ({"prompt": "p", "completion": "c"}, "it returns a dict.*; return a list of documents"),
        (["p"], "'prompt' and 'completion'"),
        ([document("p", "c"), {"prompt": "p"}], "'prompt' and 'completion'"),
        ([document("p", "c") | {"reward": 1.0}], "'prompt' and 'completion'"),
    ],
)
def test_what_is_no_list_of_documents_is_told(result, said):
    """Catches a traceback of the judge's own in the place of what the function returned."""
    with pytest.raises(NotAResult, match=said):
        Documents().read(result)


def test_scored_completions_are_read_as_one_text():
    """Catches rewards that stand beside another completion, and a long completion that fills the page."""
    assert Scored().read(([" 3", " 4"], FLOATS)) == ("' 3' earns 1, ' 4' earns 0.5", "")
    assert Scored().read((("a", "b"), FLOATS, 1 - FLOATS))[0] == "'a' earns 1 and 0, 'b' earns 0.5 and 0.5"
    long = Scored().read((["x" * 60], FLOATS[:1]))[0]
    assert long.startswith("'xxxxxxxxxx") and long.endswith("earns 1") and len(long) < 45


def test_rewards_of_another_number_than_the_completions_are_read_too():
    """Catches an error of the judge's own where a reward is missing, and a surplus one that is passed over."""
    text, complaint = Scored().read((["a", "b", "c"], FLOATS, torch.ones(1)))
    assert text == "3 completions and rewards for 2 and 1: 1, 0.5, 1" and complaint == ""


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (FLOATS, "it returns .*tensor.*; return the completions"),
        ((["a", "b"],), "it returns .*; return the completions"),
        (("ab", FLOATS), "its completions are 'ab'; return a list"),
        (([1, 2], FLOATS), "its completions are a list of ints; return a list"),
    ],
)
def test_what_holds_no_completions_and_rewards_is_told(result, said):
    with pytest.raises(NotAResult, match=said):
        Scored().read(result)


@pytest.mark.parametrize(
    ("rewards", "said"),
    [
        ([1.0, 0.5], "it returns a list of floats as rewards; return a tensor of floats"),
        (torch.tensor([1, 0]), "it returns a tensor of shape (2,) as rewards; return a tensor of floats"),
        (FLOATS.clone().requires_grad_(), "rewards carry a gradient. An evaluation"),
    ],
    ids=["a list", "integers", "with a gradient"],
)
def test_rewards_of_a_wrong_type_are_told_and_compared_all_the_same(rewards, said):
    """Catches a mean that fails in the cell below, and a graph that is kept alive for nothing."""
    text, complaint = Scored().read((["a", "b"], rewards))
    assert text.startswith("'a' earns 1, 'b' earns ") and complaint.startswith(("it returns", "its rewards"))
    assert said in complaint


def test_a_speaker_says_one_thing_when_greedy_and_others_by_chance():
    speaker = Speaker({"p": "sure"}, {"p": ["one", "two"]})
    assert speaker.says("p", 0, 2) == ["sure", "sure"]
    assert speaker.says("p", 1.0, 3) == ["one", "two", "one"] and speaker.says("p", 0.5, 3) == ["two", "one", "two"]
    assert speaker.eval() is speaker.train() is speaker, "as a right function may ask of its model"


def test_what_speaks_is_sampled_in_the_order_of_the_prompts():
    """Catches completions that stand beside another prompt, and a temperature that is not asked for."""
    speaker = Speaker({"p": "P", "q": "Q"}, {"p": ["p1", "p2"], "q": ["q1", "q2"]})
    sampling = Sampling(MOST)
    rollout = speak(speaker, TOKENIZER, ("p", "q"), 2, sampling, seed=3)
    assert (rollout.prompts, rollout.completions) == (["p", "q"], ["p1", "p2", "q1", "q2"])
    assert rollout.num_generations == 2 and rollout.sampling is sampling
    assert speak(speaker, TOKENIZER, ["q"], 1, Sampling(MOST, temperature=0)).completions == ["Q"]


@pytest.mark.parametrize(
    ("model", "prompt", "sampling", "said"),
    [
        (object(), "p", Sampling(MOST), "`sample` does not get the model"),
        (Speaker({"p": "P"}, {"p": ["p1"]}), "p ", Sampling(MOST), "samples the prompt 'p ', which no row has"),
        (Speaker({"p": "P"}, {"p": ["p1"]}), "p", Sampling(16), "max_new_tokens=16.*`MAX_NEW_TOKENS`"),
        (Speaker({"p": "P"}, {"p": ["p1"]}), "p", Sampling(MOST, top_p=0.5), "top_p=0.5"),
    ],
    ids=["another model", "another prompt", "another length", "a cut"],
)
def test_a_setting_that_a_speaker_cannot_show_is_told(model, prompt, sampling, said):
    """Catches a sampling that is not the notebook's, and an error of the stand-in's own that is told as the student's."""
    with pytest.raises(NotAResult, match=said):
        speak(model, TOKENIZER, [prompt], 1, sampling)


def test_a_rollout_of_texts_has_one_token_for_each():
    """Catches tensors of a shape or a type that a real rollout does not have, on which a right function fails."""
    rollout = rollout_of(["p", "q"], ["a", "b", "c", "d"], 2, Sampling(MOST))
    for ids, mask, count in (
        (rollout.prompt_ids, rollout.prompt_mask, 2),
        (rollout.completion_ids, rollout.completion_mask, 4),
    ):
        assert ids.tolist() == [[place] for place in range(count)] and mask.tolist() == [[1]] * count
        assert ids.dtype == mask.dtype == torch.long
    assert rollout.old_logps.tolist() == [[-1.0]] * 4, "the logarithm of a probability"
    for lengths, count in ((rollout.prompt_lengths, 2), (rollout.lengths, 4)):
        assert lengths.tolist() == [1] * count and lengths.dtype == torch.long
    assert rollout.truncated.tolist() == [False] * 4 and rollout.truncated.dtype == torch.bool


def notebook() -> dict:
    """A notebook's variables: its own `tokenizer`, no `sample`, and a function that looks for both, and for one more."""
    variables = {"tokenizer": "own"}
    exec("def found():\n    return {**globals()}", variables)
    return variables


def test_a_function_finds_the_stand_ins_under_the_names_of_its_notebook():
    """Catches a notebook whose own `sample` is lost after a check, and one that keeps a stand-in for good."""
    variables = notebook()
    before = dict(variables)
    samplers = shared.rollout.sample, shared.evaluate.sample
    with pytest.raises(ZeroDivisionError), standing_in(variables["found"], policy="a policy"):
        inside = variables["found"]()
        assert (inside["sample"], inside["policy"], inside["tokenizer"]) == (speak, "a policy", TOKENIZER)
        assert inside["SAMPLING"].max_new_tokens == inside["MAX_NEW_TOKENS"]
        assert shared.rollout.sample is shared.evaluate.sample is speak, "found by the library's functions too"
        raise ZeroDivisionError
    assert variables == before and (shared.rollout.sample, shared.evaluate.sample) == samplers


def test_nothing_stands_in_where_no_notebook_is():
    """Catches a builtin that has no variables, and a reference whose module gets those of a notebook."""
    found = notebook()["found"]
    found.is_reference = True
    for function in (len, found):
        with standing_in(function):
            assert shared.rollout.sample is not speak
            assert "sample" not in found()


def test_a_drawn_speaker_has_something_to_say_to_each_prompt():
    speaker = drawn_speaker(Draw("speaker"), ["p", "q"], ["a", "b", "c"])
    assert set(speaker.sure) == set(speaker.unsure) == {"p", "q"}
    said = [*speaker.unsure["p"], *speaker.unsure["q"]]
    assert {*said, *speaker.sure.values()} <= {"a", "b", "c"} and len(set(said)) > 1
    assert len(speaker.unsure["p"]) == len(speaker.unsure["q"]) > 2


def test_what_stays_on_the_cpu_is_told():
    """Catches a right function that goes by the rollout's device, and one that the device without numbers stops."""
    speaker = Speaker({"a:": "1"}, {"a:": ["1"]})

    def of_the_rollout(model):
        return FLOATS.to(speak(model, TOKENIZER, ["a:"], 1, Sampling(MOST)).old_logps.device)

    assert stays_behind(speaker, lambda model: FLOATS)
    assert not stays_behind(speaker, lambda model: FLOATS.to(model.device))
    assert not stays_behind(speaker, of_the_rollout)
    assert not stays_behind(speaker, lambda model: FLOATS * float(FLOATS.to(model.device).sum()))


def test_a_game_hears_the_token_that_fills_the_room():
    """Catches a loop that ends before it listens: ids and mask are right, and a won game is called lost."""

    def deaf_at_the_end(draw, listen, max_new_tokens):
        ids, mask = [], []
        while len(ids) < max_new_tokens:
            ids, mask = [*ids, draw(ids)], [*mask, 1]
            if len(ids) < max_new_tokens:
                heard, _ = listen(ids)
                ids, mask = ids + heard, mask + [0] * len(heard)
        return ids, mask

    outcome = call(play.EXERCISE, deaf_at_the_end, {"draw": [1], "listen": {}, "max_new_tokens": 1})
    assert "does not hear every token" in outcome.complaint


def test_letters_stand_for_the_meaning_of_a_text():
    """Catches embeddings that no length divides, texts that all mean the same, and one that changes with its neighbours."""
    vectors = letters(["", "ab", "ba", "b", "c", "zzz"])
    assert vectors.shape == (6, 3) and torch.allclose(vectors.norm(dim=1), torch.ones(6))
    assert torch.allclose(vectors[1], vectors[2], atol=1e-6) and torch.equal(letters(["zzz"])[0], vectors[5])
    alike = vectors @ vectors.T
    assert max(alike[0, 1], alike[1, 5], alike[3, 4], alike[4, 5]) < 0.95


def test_a_game_once_more_shares_nothing_with_the_first():
    """Catches guesses of one call that stand in the next one's game."""
    game = Played(1, 9, 4, [3], True)
    again = game.fresh()
    assert again == game and again is not game
    again.guesses.append(5)
    assert game.guesses == [3] and Played(1, 9, 4).guesses == [] and Played(1, 9, 4).done is False
    assert (again.low, again.high, again.secret, again.done) == (1, 9, 4, True)
    assert repr(game).count("4") == 1 and "1 to 9" in repr(game) and "[3]" in repr(game)


def test_padding_is_the_end_as_with_most_models():
    """Catches a case in which a mask made from `ids != pad` is right."""
    assert TOKENIZER.pad_token_id == TOKENIZER.eos_token_id == END
    config = TinyModel(5).config
    assert (config.vocab_size, config.eos_token_id, config.pad_token_id) == (5, END, END)
