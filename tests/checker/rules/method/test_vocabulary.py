"""The names that people use, and those that only resemble them."""

import ast

import pytest

from checker.reading.syntax.expressions import mentions
from checker.rules.method import vocabulary
from checker.rules.method.vocabulary import cuts_columns, is_generation, is_reference


def expression(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


NAMES = {
    "REFERENCE": (
        "ref_logps my_ref reference base base_model frozen_lm sft init initial_policy ref2 reflogp refprob refmodel"
        " refpolicy logpi_ref logprobs_ref prob_ref pref log_ref_logps",
        "refs prefer preference baseline based logps policy reflect initialise softmax xpref logps_refs",
    ),
    "POLICY": (
        "logps logp log_probs logprob lp lp_new policy new_logps cur_logps current theta per_token_logps",
        "ref old rewards help adv mask ids log ppo",
    ),
    "ADVANTAGE": (
        "adv advs advantage advantages my_adv A A_i A_hat a atarg gae gaes x_A",
        "advance Ax reward advertise b data aa",
    ),
    "GROUP_SIZE": (
        "G K num_generation num_generations self_num_generations selfnum_generations group_size num_completions"
        " n_completions num_samples n_samples samples_per_prompt completions_per_prompt responses_per_prompt num_rollouts"
        " num_return_sequences num_responses n_candidates num_responses_per_prompt n_candidates_per_prompt",
        "n batch_size my_num_samples num_samples_seen prompts_per_step group k2 rollouts"
        " num_return samples_per_prompts",
    ),
    "MODEL": (
        "model my_models policy actor lm my_lm llm net peft student student_2",
        "lms planet filmed students x peftx",
    ),
}


@pytest.mark.parametrize("pattern", NAMES)
def test_each_name_is_known_and_no_other_is_taken_for_one(pattern):
    """Catches a name that drops out of a list, and one that is found inside of another word."""
    known, others = (words.split() for words in NAMES[pattern])
    fits = {name for name in known + others if mentions(ast.Name(name), getattr(vocabulary, pattern))}
    assert fits == set(known)


@pytest.mark.parametrize(
    ("source", "is_one"),
    [
        *(
            (f"{owner}.generate(x)", True)
            for owner in ("model", "self.policy", "trainer.model", "llm", "accelerator.unwrap_model(m)")
        ),
        *((f"x.generate(y, {told}=3)", True) for told in ("max_new_tokens", "max_length", "do_sample")),
        *(
            (source, False)
            for source in ("text.generate(y)", "x.generate(y, top=3)", "generate(model)", "generate(y, do_sample=True)")
        ),
        *((source, False) for source in ("model.sample(y)", "model.generate", "model")),
    ],
)
def test_a_models_own_generate(source, is_one):
    """Catches a function of the notebook's own called `generate`, which may cut the prompt off, taken for it."""
    assert is_generation(expression(source)) is is_one


@pytest.mark.parametrize(
    ("source", "is_one"),
    [
        ("ref_logps", True),
        ("f(ref_model, x)", True),
        ("ref_logps - old_logps", False),
        ("ref_new", False),
        ("ref - cur", False),
        ("ref_policy", False),
        ("ref + current", False),
        ("logps", False),
        ("ref - policy_logps", False),
        ("ref_renewed", True),
    ],
)
def test_what_is_of_the_reference_alone(source, is_one):
    assert is_reference(expression(source)) is is_one


@pytest.mark.parametrize(
    ("source", "is_one"),
    [
        ("x[:, n:]", True),
        ("x[i, n:]", True),
        ("x[n:]", True),
        ("x[:, n:m]", True),
        ("x[:n]", False),
        ("x[:]", False),
        ("x[n]", False),
        ("x[i, n]", False),
        ("x[:, :n]", False),
        ("x", False),
        ("f(n)", False),
    ],
)
def test_a_part_behind_a_length_is_cut_off(source, is_one):
    assert cuts_columns(expression(source)) is is_one
