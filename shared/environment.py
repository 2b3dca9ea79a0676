"""An environment writes into a completion: a calculator that fills in after "=", a search engine, a game.

    environment(text) -> text     from the completion so far to what is put behind it; "" leaves the word to the policy

The policy reads what the environment wrote as it reads its own tokens, so both stand in the completion and both are
attended to. But the policy did not draw them: they are no actions, have no log-probability that could be raised, and
are left out of every loss. `Rollout.policy_mask` says which is which; it is another mask than the one of the padding,
which nobody reads. TRL calls it `env_mask`. `notebooks/transfer.ipynb` shows what happens without it.
"""

from collections.abc import Callable, Collection

from transformers import PreTrainedTokenizerBase

Environment = Callable[[str], str]


def answer_tokens(
    environment: Environment, tokenizer: PreTrainedTokenizerBase, completion_ids: list[int], eos: Collection[int]
) -> list[int]:
    """The tokens that the environment puts behind a completion so far; [] leaves the next one to the policy.

    Raises ValueError when they hold one of `eos`, which would end the completion.
    """
    text = tokenizer.decode(completion_ids, skip_special_tokens=True)
    said = environment(text)
    ids = tokenizer(said, add_special_tokens=False)["input_ids"] if said else []
    if any(token in eos for token in ids):
        raise ValueError(
            f"After {text!r} the environment said {said!r}, which holds the token that ends a completion. Only the "
            "policy may end it: leave that token out."
        )
    return ids
