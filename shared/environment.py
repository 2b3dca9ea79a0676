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


class Speech:
    """What an environment says in each of B completions, token by token, while they are sampled.

    own: for each completion a list with 1 for each token that the policy drew and 0 for each of the environment's.
    """

    def __init__(self, environment: Environment, tokenizer: PreTrainedTokenizerBase, count: int, eos: Collection[int]):
        self.environment = environment
        self.tokenizer = tokenizer
        self.eos = eos
        self.own: list[list[int]] = [[] for _ in range(count)]
        self.to_say: list[list[int]] = [[] for _ in range(count)]

    def in_place_of(self, drawn: int, row: int, before: list[int]) -> int:
        """The next token of a completion: the environment's where it has something to say, else the one drawn.

        The environment is asked after each token of the policy's, and never before its first.

        Args:
            drawn: what the policy would say.
            row: which of the B completions.
            before: its token ids so far.
        """
        if self.own[row] and self.own[row][-1]:
            self.to_say[row] = self.answer_to(before)
        if not self.to_say[row]:
            self.own[row].append(1)
            return drawn
        self.own[row].append(0)
        return self.to_say[row].pop(0)

    def answer_to(self, before: list[int]) -> list[int]:
        """The tokens that the environment puts behind these. ValueError when they hold an end of the completion."""
        text = self.tokenizer.decode(before, skip_special_tokens=True)
        said = self.environment(text)
        ids = self.tokenizer(said, add_special_tokens=False)["input_ids"] if said else []
        if any(token in self.eos for token in ids):
            raise ValueError(
                f"After {text!r} the environment said {said!r}, which holds the token that ends a completion. Only the "
                "policy may end it: leave that token out."
            )
        return ids
