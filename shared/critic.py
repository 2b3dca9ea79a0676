"""A value head on a language model: what PPO needs beside the policy. `notebooks/ppo.ipynb` trains with it."""

from pathlib import Path

from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from shared.engine import checkpoint
from shared.engine.sampling import sampling_logits
from shared.engine.scoring import padded, real_tokens
from shared.logps import context_logits_and_hidden, contexts_of
from shared.rollout import Rollout

VALUE_HEAD = "value_head.pt"


def logits_and_hidden(
    model: PreTrainedModel, rollout: Rollout
) -> tuple[Float[Tensor, "B C K"], Float[Tensor, "B C D"]]:
    """For each completion token the logits it was drawn from, and the final hidden state they came from.

    K is the vocabulary, or the trie's width. Both are 0 in the padding. Tokens of one context share the pass.
    """
    B, C = rollout.completion_ids.shape
    device = rollout.completion_ids.device
    real = real_tokens(rollout.lengths, C).to(device)  # (L,), among B x C
    contexts = contexts_of(rollout, rollout.lengths)
    row = contexts.of_token.to(device)  # (L,), of each token among the contexts
    logits, hidden = context_logits_and_hidden(model, rollout, contexts)

    choice = rollout.choices.flatten().index_select(0, real)
    state = None if rollout.states is None else rollout.states.flatten().index_select(0, real)
    logits = sampling_logits(logits.index_select(0, row), rollout.sampling, rollout.constraint, state, choice)
    return padded(logits, real, B, C), padded(hidden.index_select(0, row), real, B, C)


class ActorCritic(nn.Module):
    """A causal language model with a value head on its final hidden states.

    The head is a two-layer MLP whose last layer starts at 0, so that the first values are 0 and not noise.
    """

    def __init__(self, model: PreTrainedModel):
        super().__init__()
        self.model = model
        hidden = model.config.get_text_config().hidden_size
        first, last = nn.Linear(hidden, hidden), nn.Linear(hidden, 1)
        self.value_head = nn.Sequential(first, nn.Tanh(), last)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self.value_head.to(next(model.parameters()).device)

    @property
    def config(self):
        """The language model's configuration."""
        return self.model.config

    def forward(self, rollout: Rollout) -> tuple[Float[Tensor, "B C K"], Float[Tensor, "B C"]]:
        """Logits of each completion token, and the value of the state before it: what prompt and earlier tokens say."""
        logits, hidden = logits_and_hidden(self.model, rollout)
        return logits, self.value_head(hidden.to(next(self.value_head.parameters()).dtype))[..., 0]

    def save_pretrained(self, folder: str | Path) -> None:
        """The model as transformers saves it, and the value head beside it."""
        self.model.save_pretrained(folder)
        checkpoint.save(Path(folder) / VALUE_HEAD, self.value_head.state_dict())

    @classmethod
    def from_pretrained(cls, folder: str | Path, model: PreTrainedModel) -> "ActorCritic":
        """`model`, loaded from the folder, with the value head that was saved there. ValueError when there is none."""
        state = checkpoint.load(Path(folder) / VALUE_HEAD)
        if state is None:
            raise ValueError(f"{folder} holds no {VALUE_HEAD}: it was not saved by ActorCritic.save_pretrained.")
        policy = cls(model)
        policy.value_head.load_state_dict(state)
        return policy
