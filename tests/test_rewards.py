import functools

import pytest
import torch
from tokenizers.processors import TemplateProcessing
from transformers import BertConfig, BertModel, PreTrainedModel

from shared.rewards import (
    JUDGE_PROMPT,
    add_up,
    columns_of,
    functions_of,
    model_as_judge,
    name_of,
    score,
    semantic_similarity,
    text_embedder,
)
from shared.tasks.matching import exact_match
from tests.fakes import tiny_gpt2, tiny_llama
from tests.second_device import DEVICE, second_device


def length(prompts, completions, **columns):
    return [float(len(c)) for c in completions]


def test_each_function_gets_a_column():
    rewards = score([length, exact_match], ["p", "p"], ["abc", " B \nnoise"], {"answer": ["x", "b"]})
    assert rewards.tolist() == [[3.0, 0.0], [9.0, 1.0]]


def test_a_reward_function_is_called_with_lists_by_name_and_stands_alone_or_with_others():
    """TRL's signature: a function that changes its list must not change the caller's, nor that of the next function."""

    def spoil(prompts, completions, **columns):
        assert columns == {}
        prompts.clear()
        completions[0] = "spoiled"
        return [1.0, 2.0]

    texts = ["abc", "d"]
    assert score([spoil, length], ("p", "q"), texts).tolist() == [[1.0, 3.0], [2.0, 1.0]] and texts == ["abc", "d"]
    assert functions_of(length) == [length] and functions_of((length, spoil)) == [length, spoil]
    with pytest.raises(ValueError, match="at least one reward function"):
        functions_of([])
    assert name_of(length) == "length" and name_of(functools.partial(length)).startswith("functools.partial")


def test_weights_add_up():
    rewards = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert add_up(rewards).tolist() == [3.0, 7.0]
    assert add_up(rewards, [1.0, 0.5]).tolist() == [2.0, 5.0]
    with pytest.raises(ValueError, match="1 reward weights were given for 2 reward functions"):
        add_up(rewards, [1.0])


def test_exact_match_refuses_substrings():
    """Catches `answer in completion`: "3" is not "13", and "one pair" is not "not one pair"."""
    assert exact_match(["p"] * 4, ["13", "3", " 3 ", "3 or 4"], answer=["3"] * 4) == [0.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "returned, words",
    [
        (None, " returned nothing for 2"),
        ([1.0], " returned 1 rewards for 2"),
        ([1.0] * 3, " returned 3 rewards"),
        (1.0, " returned 1.0 for 2"),
        ([1.0, float("nan")], "the reward nan to the completion 'b'"),
        (["good", 1.0], "the reward 'good' to the completion 'a'"),
        ("no", "the reward 'n' to the completion 'a'"),
        ([[1.0], 1.0], r"the reward \[1.0\]"),
        (torch.tensor(1.0), r" returned tensor\(1.\) for 2"),
        ({"a": 1.0, "b": 0.0}, " returned {'a': 1.0, 'b': 0.0} for 2"),
        ({1.0, 0.0}, r" returned {.*} for 2"),
    ],
)
def test_a_broken_reward_is_named(returned, words):
    def my_reward(prompts, completions, **columns):
        return returned

    with pytest.raises(ValueError, match=f"my_reward.*{words}"):
        score(my_reward, ["p", "p"], ["a", "b"])


def for_letters(prompts, completions, **columns):
    return [1.0 if completion.isalpha() else None for completion in completions]


def for_digits(prompts, completions, **columns):
    return [0.5 if completion.isdigit() else None for completion in completions]


def one_for_all(prompts, completions, **columns):
    return [1.0] * len(completions)


def test_a_reward_may_leave_a_completion_to_another():
    """TRL's meaning: None counts neither in the sum nor in the function's own mean."""
    rewards = score([for_letters, for_digits, one_for_all], ["p"] * 2, ["a", "7"])
    assert rewards.isnan().tolist() == [[False, True, False], [True, False, False]]
    assert add_up(rewards).tolist() == [2.0, 1.5]
    assert add_up(rewards, [2.0, 2.0, 0.0]).tolist() == [2.0, 1.0]
    assert add_up(score([for_letters, for_digits], ["p"] * 2, ["a", "?"])).isnan().tolist() == [False, True]


def test_a_reward_that_does_not_tell_its_arguments_is_called():
    """Catches Python's own words for a function that is written in C."""
    with pytest.raises(ValueError, match="^dict returned .* for 1 completions; return a list, one for each[.]$"):
        score(dict, ["p"], ["abc"])


def test_what_a_reward_is_not_given_is_a_sentence():
    """Catches the TypeError of a call that the student never wrote; an error inside the function stays its own."""

    def without_columns(prompts, completions):
        return [0.0] * len(completions)

    def asks(prompts, completions, solution, weight=1.0, **columns):
        raise TypeError("of its own")

    given = {"answer": ["a"]}
    with pytest.raises(ValueError, match=r"without_columns does not take 'answer'.*\*\*columns\)"):
        score(without_columns, ["p"], ["a"], given)
    with pytest.raises(ValueError, match="asks asks for 'solution'.* prompts, completions, answer"):
        score(asks, ["p"], ["a"], given)
    with pytest.raises(TypeError, match="of its own"):
        score(asks, ["p"], ["a"], {"solution": ["a"]})


@pytest.mark.parametrize("name", ["prompts", "completions"])
def test_a_column_does_not_take_the_place_of_what_is_rewarded(name):
    """Catches a column of reference completions that is rewarded in the place of what the policy wrote."""
    with pytest.raises(ValueError, match=f"a column '{name}'.*rename it"):
        score(one_for_all, ["p"], ["a"], {name: ["b"]})


@pytest.mark.parametrize(
    "functions, words",
    [("dots", "'dots'"), (None, "None"), (["exact"], "'exact'"), ([one_for_all, 1.0], "1.0"), ([0.5], "0.5")],
)
def test_what_is_no_reward_function_is_named(functions, words):
    """Catches TRL's name of a model, and a function that was called where it should have been handed over."""
    with pytest.raises(ValueError, match=f"reward_funcs has {words}, which cannot be called"):
        functions_of(functions)


def test_columns_of_a_data_set():
    assert columns_of([{"prompt": "p", "answer": 1}, {"prompt": "q", "answer": 2}]) == {"answer": [1, 2]}
    assert columns_of([{"prompt": "p", "answer": 1}]) == {"answer": [1]}
    with pytest.raises(ValueError, match="Row 1.*'answer'"):
        columns_of([{"prompt": "p", "answer": 1}, {"prompt": "q"}])


def compass(texts):
    """A fake embedder: four words at right angles or opposite."""
    vectors = {" north": (0.0, 1.0), " south": (0.0, -1.0), " east": (1.0, 0.0), " northeast": (0.6, 0.8)}
    return torch.tensor([vectors.get(text, (-1.0, 0.0)) for text in texts])


def test_similarity_is_the_cosine_scaled_to_0_and_1_for_the_nearest_answer():
    """Catches an unscaled cosine, which punishes opposites with -1, and a comparison with the first answer only."""
    similarity = semantic_similarity(compass)
    answers = [["north"], ["north"], ["north"], ["south", "east"], ["north"], ["north"]]
    rewards = similarity(["p"] * 6, [" north", " south\n", "east", " northeast", "", "  \n"], answers=answers)
    assert rewards == pytest.approx([1.0, 0.0, 0.5, 0.8, 0.0, 0.0])


def test_an_embedding_model_is_loaded_by_name(model, tokenizer, tmp_path):
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert torch.allclose(text_embedder(str(tmp_path))(["abc"]), text_embedder(model, tokenizer)(["abc"]), atol=1e-5)


def test_an_embedding_model_given_by_name_goes_to_the_device_in_use(tokenizer, tmp_path, monkeypatch):
    """Catches a judge that stays on the CPU beside a policy on the GPU. There is no second device here: the moves are
    written down instead of made."""
    tiny_llama().save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    moves = []

    def written_down(model, device):
        moves.append(str(device))
        return model

    monkeypatch.setattr(PreTrainedModel, "to", written_down)
    monkeypatch.setattr("shared.rewards.best_device", lambda: torch.device("cuda"))
    text_embedder(str(tmp_path))
    text_embedder(str(tmp_path), device="cuda:1")
    text_embedder(tiny_llama(), tokenizer)
    assert moves == ["cuda", "cuda:1"]


def test_a_missing_embedding_model_is_a_sentence(tmp_path):
    with pytest.raises(ValueError, match="There is no folder"):
        text_embedder(str(tmp_path / "nothing here"))


def test_the_judge_is_the_probability_of_yes_against_no(model, tokenizer):
    """Catches reading the logits at the last column instead of the last real token, and a softmax over all words."""
    judge = model_as_judge(model, tokenizer, "{prompt}{completion}{hint}", yes="a", no="b")
    rewards = judge(["cd", "c"], ["efg", " d "], hint=["h", "i"])
    for text, reward in zip(["cdefgh", "cdi"], rewards):
        logits = model(**tokenizer(text, return_tensors="pt", return_token_type_ids=False)).logits[0, -1]
        assert reward == pytest.approx(logits[[2, 3]].softmax(dim=-1)[0].item(), abs=1e-5)


def test_the_judge_is_asked_in_the_words_of_the_course(model, tokenizer):
    """Word for word, for another question is another reward; and its own answers begin with different tokens."""
    asked = "Question: {prompt}\nAnswer: {completion}\nIs this answer right, yes or no?"
    by_default = model_as_judge(model, tokenizer, yes="a", no="b")(["cab"], ["bad"])
    assert by_default == model_as_judge(model, tokenizer, asked, yes="a", no="b")(["cab"], ["bad"])
    assert JUDGE_PROMPT == asked
    with pytest.raises(ValueError, match="^This tokenizer cannot write ' yes'"):
        model_as_judge(model, tokenizer)  # letters say neither


def test_the_judge_reads_answers_without_a_bos_and_texts_with_one(model, tokenizer):
    """Catches yes and no that both begin with the BOS, and so could not be told apart."""
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="<eos> $A", special_tokens=[("<eos>", 1)])
    (reward,) = model_as_judge(model, tokenizer, "{completion}", yes="c", no="d")(["p"], ["ab"])
    logits = model(input_ids=torch.tensor([[1, 2, 3]])).logits[0, -1]
    assert reward == pytest.approx(logits[[4, 5]].softmax(dim=-1)[0].item(), abs=1e-5)


@pytest.mark.parametrize("pad", ["<pad>", None, "c"])
def test_padding_is_not_read_whatever_it_is(model, tokenizer, pad):
    tokenizer.pad_token = pad
    judge = model_as_judge(model, tokenizer, "{completion}", yes="a", no="b")
    together = judge(["p", "p"], ["cdefgh", "e"])
    assert together == pytest.approx(judge(["p"], ["cdefgh"]) + judge(["p"], ["e"]), abs=1e-5)
    embed = text_embedder(model, tokenizer)
    torch.testing.assert_close(embed(["cdefgh", "e"])[1], embed(["e"])[0], rtol=1e-4, atol=1e-5)


def test_an_embedding_is_the_mean_of_the_last_hidden_states(model, tokenizer):
    """Oracle: one text at a time, without padding. Catches the embeddings of the words in place of the model's."""
    hidden = model(torch.tensor([[2, 3, 4]]), output_hidden_states=True).hidden_states[-1][0].mean(dim=0)
    embedded = text_embedder(model, tokenizer)(["abc"])[0]
    torch.testing.assert_close(embedded, hidden / hidden.norm(), rtol=1e-4, atol=1e-5)
    assert not embedded.requires_grad


def test_an_embedding_model_that_looks_both_ways_does_not_see_the_padding(tokenizer):
    """Catches a mask that is not passed on: a causal model never sees what stands behind, and hides the mistake."""
    torch.manual_seed(0)
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    embed = text_embedder(BertModel(BertConfig(vocab_size=12, initializer_range=0.5, **size)).eval(), tokenizer)
    torch.testing.assert_close(embed(["ab", "abcdefghij"])[0], embed(["ab"])[0], rtol=1e-4, atol=1e-5)


def test_texts_are_read_where_the_model_is(tokenizer):
    """Catches ids that stay on the CPU, which only a second device shows."""
    with second_device():
        model = tiny_llama().eval().to(DEVICE)
        assert text_embedder(model, tokenizer)(["ab", "c"]).device == DEVICE
        (reward,) = model_as_judge(model, tokenizer, "{completion}", yes="a", no="b")(["p"], ["ab"])
        assert 0 < reward < 1


def test_an_embedding_model_by_name_does_not_drop_out(tokenizer, tmp_path):
    tiny_gpt2(dropout=0.5).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    embed = text_embedder(str(tmp_path), device="cpu")
    assert torch.equal(embed(["abc"]), embed(["abc"]))


def test_a_half_precision_model_embeds_in_single(tokenizer):
    assert text_embedder(tiny_llama().to(torch.bfloat16), tokenizer)(["abc"]).dtype == torch.float32


def test_answers_may_be_numbers_and_blanks_do_not_count():
    """Catches a blank that makes another token of the same word."""
    seen = []

    def embed(texts):
        seen.extend(texts)
        return torch.eye(len(texts))

    rewards = semantic_similarity(embed)(["p", "p"], ["  7 ", " x"], answers=[[7], [" y "]], relation=["r", "r"])
    assert rewards == [1.0, 0.5] and seen == [" 7", " x", " y"]


def test_the_judge_is_asked_in_a_chat_where_the_tokenizer_has_a_template(model, tokenizer):
    plain = model_as_judge(model, tokenizer, "c{completion}d", yes="a", no="b")(["p"], ["ef"])
    tokenizer.chat_template = "{% for m in messages %}c{{ m.content }}d{% endfor %}"
    chat = model_as_judge(model, tokenizer, "{completion}", yes="a", no="b")
    assert chat(["p"], ["ef"]) == pytest.approx(plain)


def test_a_judge_in_a_chat_is_shown_one_bos(model, tokenizer):
    """Catches the template's BOS together with the one that the tokenizer adds."""
    tokenizer.bos_token = "<eos>"
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="<eos> $A", special_tokens=[("<eos>", 1)])
    tokenizer.chat_template = "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}"
    (reward,) = model_as_judge(model, tokenizer, "{completion}", yes="c", no="d")(["p"], ["ab"])
    logits = model(input_ids=torch.tensor([[1, 2, 3]])).logits[0, -1]
    assert reward == pytest.approx(logits[[4, 5]].softmax(dim=-1)[0].item(), abs=1e-5)


def test_a_judge_that_cannot_choose_is_refused(model, tokenizer):
    with pytest.raises(ValueError, match="same token"):
        model_as_judge(model, tokenizer, yes="ab", no="ac")


def test_both_learnt_rewards_have_the_common_signature(model, tokenizer):
    """They run through `score` beside a rule, columns and all."""
    functions = [
        semantic_similarity(text_embedder(model, tokenizer)),
        model_as_judge(model, tokenizer, "{completion}", yes="a", no="b"),
    ]
    rewards = score(functions, ["c", "d"], ["e", "f"], {"answers": [["e"], ["g", "h"]], "relation": ["x", "y"]})
    assert rewards.shape == (2, 2) and rewards[0, 0] == pytest.approx(1.0) and ((rewards >= 0) & (rewards <= 1)).all()
