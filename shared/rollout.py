"""Sample G completions for each prompt into one `Rollout` record.

`model.generate` would do, but gives neither the log-probabilities of the distribution that was sampled nor
exact masks, and prefills every prompt G times. Here each distinct prompt is read once, completions that have drawn the
same so far are one row of the batch, and those that have ended none (`shared.engine.decoding`). What is left out:
beams, repetition penalties, streaming.
`notebooks/gradients.ipynb` writes the simple version.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from shared.constrain import AnswerTrie, Walk
from shared.engine.chance import fresh_seed, uniforms
from shared.engine.contexts import number_contexts, prompt_beginnings
from shared.engine.decoding import start
from shared.engine.positions import check_room
from shared.engine.sampling import Sampling, next_token, refuse_nan
from shared.environment import Environment, Speech
from shared.models import eos_token_ids, eval_mode


@dataclass(frozen=True)
class Rollout:
    """G completions for each of N prompts; B = N x G rows, those of one prompt next to each other.

    prompts: N texts.                          completions: B texts, without EOS.
    prompt_ids, prompt_mask: (N, P), padded on the left.
    completion_ids: (B, C), padded on the right, C the longest completion.
    completion_mask: (B, C), 1 up to and including the first EOS.
    old_logps: (B, C), log-probabilities under the distribution that was sampled (temperature, top-k, top-p and
        constraint included), 0 where `loss_mask` is.
    prompt_lengths: (N,), and lengths: (B,), how many tokens are real; on the CPU, so that no one waits for a GPU.
    truncated: (B,), which completions were cut by max_new_tokens before an EOS; on the CPU.
    entropy: (B, C), on the CPU, in nats, of the distribution that each token was drawn from, 0 where `loss_mask` is. None
        when it is not known.
    contexts: (B, C), on the CPU, a number for each token's prompt and tokens before it: equal numbers were drawn from
        one distribution (`shared.engine.contexts`). None when it is not known; whoever puts other prompts or tokens
        into a rollout makes it None.
    beginnings: (N, P), on the CPU, a number for each token of a prompt and those before it, or None, in the same way.
    free_lengths: (B,), on the CPU, after how many tokens a constraint left each completion one way to end; None where
        it is not known. What follows has log-probability 0. It belongs to `contexts`, and counts only beside them.
    policy_mask: (B, C), 1 for the tokens that the policy drew itself, 0 in the padding and where an environment spoke;
        None when the policy drew all of them. The model reads what `completion_mask` holds and learns from `loss_mask`.
    """

    prompts: list[str]
    completions: list[str]
    num_generations: int
    prompt_ids: Int[Tensor, "N P"]
    prompt_mask: Int[Tensor, "N P"]
    completion_ids: Int[Tensor, "B C"]
    completion_mask: Int[Tensor, "B C"]
    old_logps: Float[Tensor, "B C"]
    prompt_lengths: Int[Tensor, "N"]
    lengths: Int[Tensor, "B"]
    truncated: Bool[Tensor, "B"]
    sampling: Sampling
    constraint: AnswerTrie | None = None
    entropy: Float[Tensor, "B C"] | None = None
    contexts: Int[Tensor, "B C"] | None = None
    beginnings: Int[Tensor, "N P"] | None = None
    free_lengths: Int[Tensor, "B"] | None = None
    policy_mask: Int[Tensor, "B C"] | None = None

    def __post_init__(self):
        if self.contexts is not None and self.contexts.shape != self.completion_ids.shape:
            raise ValueError(
                f"contexts is {tuple(self.contexts.shape)} and completion_ids {tuple(self.completion_ids.shape)}: they "
                "must belong to the same tokens. Use `take`, or give contexts=None."
            )

    def __len__(self) -> int:
        return len(self.completion_ids)

    @property
    def loss_mask(self) -> Int[Tensor, "B C"]:
        """1 for the tokens that a loss is about: the policy's own."""
        return self.completion_mask if self.policy_mask is None else self.policy_mask

    @cached_property
    def own_lengths(self) -> Int[Tensor, "B"]:
        """How many tokens of each completion the policy drew itself, on the CPU."""
        return self.lengths if self.policy_mask is None else self.policy_mask.sum(dim=1).cpu()

    @property
    def uncertain_lengths(self) -> Int[Tensor, "B"]:
        """How many tokens of each completion, from its first, have a log-probability to be computed; on the CPU."""
        return self.lengths if self.contexts is None or self.free_lengths is None else self.free_lengths

    @cached_property
    def states(self) -> Int[Tensor, "B C"] | None:
        """The constraint's state in which each token was chosen; None without one."""
        return None if self.constraint is None else self.constraint.states(self.completion_ids)

    @cached_property
    def choices(self) -> Int[Tensor, "B C"]:
        """Where each token stands among those that could be chosen: its id, or its column in the constraint's row."""
        if self.constraint is None:
            return self.completion_ids
        return self.constraint.columns(self.completion_ids, self.states)

    def repeated(self, column: Sequence) -> list:
        """A column of the N prompts as a column of the B completions."""
        return [value for value in column for _ in range(self.num_generations)]

    @property
    def length_metrics(self) -> dict[str, float]:
        return length_metrics(self.lengths, self.truncated)

    def rows_of(self, prompts: Sequence[int]) -> Int[Tensor, "R"]:
        """Which of the B rows belong to these prompts."""
        G = self.num_generations
        return (torch.as_tensor(prompts, dtype=torch.long)[:, None] * G + torch.arange(G)).flatten()

    def take(self, prompts: Sequence[int]) -> "Rollout":
        """The part of the rollout that belongs to these prompts, for minibatches; to none, in a process without work."""
        chosen = torch.as_tensor(prompts, dtype=torch.long)
        rows = self.rows_of(prompts)
        longest_prompt = longest(self.prompt_lengths[chosen])
        width = longest(self.lengths[rows])
        return replace(
            self,
            prompts=[self.prompts[i] for i in chosen.tolist()],
            completions=[self.completions[i] for i in rows.tolist()],
            prompt_ids=self.prompt_ids[chosen, -longest_prompt:],
            prompt_mask=self.prompt_mask[chosen, -longest_prompt:],
            completion_ids=self.completion_ids[rows, :width],
            completion_mask=self.completion_mask[rows, :width],
            old_logps=self.old_logps[rows, :width],
            prompt_lengths=self.prompt_lengths[chosen],
            lengths=self.lengths[rows],
            truncated=self.truncated[rows],
            entropy=None if self.entropy is None else self.entropy[rows, :width],
            contexts=None if self.contexts is None else self.contexts[rows, :width],
            beginnings=None if self.beginnings is None else self.beginnings[chosen, -longest_prompt:],
            free_lengths=None if self.free_lengths is None else self.free_lengths[rows],
            policy_mask=None if self.policy_mask is None else self.policy_mask[rows, :width],
        )


def length_metrics(lengths: Int[Tensor, "B"], truncated: Bool[Tensor, "B"]) -> dict[str, float]:
    """How long completions are, and which share was cut off."""
    lengths = lengths.float()
    return {
        "completions/mean_length": lengths.mean().item(),
        "completions/min_length": lengths.min().item(),
        "completions/max_length": lengths.max().item(),
        "completions/clipped_ratio": truncated.float().mean().item(),
    }


def longest(lengths: Int[Tensor, "R"]) -> int:
    """The largest of these lengths; 0 of none."""
    return int(lengths.max()) if len(lengths) else 0


def length_mask(lengths: Int[Tensor, "B"], width: int) -> Int[Tensor, "B C"]:
    """1 for the first `lengths` positions of each row. Masks come from lengths: pad may be the same id as EOS."""
    return (torch.arange(width, device=lengths.device) < lengths[:, None]).long()


def encode_prompts(tokenizer: PreTrainedTokenizerBase, prompts: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Token ids and mask of the prompts, (N, P) each, padded on the left whatever the tokenizer's own setting.

    Raises ValueError for no prompts or one without tokens.
    """
    if not len(prompts):
        raise ValueError("There are no prompts to sample from.")
    rows = tokenizer(list(prompts))["input_ids"]
    for prompt, ids in zip(prompts, rows):
        if not ids:
            raise ValueError(f"The prompt {prompt!r} has no tokens: a completion needs something to follow.")
    width = max(map(len, rows))
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    ids = torch.tensor([[pad or 0] * (width - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
    return ids, mask


@torch.no_grad()
def sample(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[str],
    num_generations: int,
    sampling: Sampling = Sampling(),
    *,
    constraint: AnswerTrie | None = None,
    environment: Environment | None = None,
    seed: int | None = None,
    step: int = 0,
    places: Sequence[int] | None = None,
) -> Rollout:
    """Sample `num_generations` completions for each prompt.

    Args:
        model: any causal language model; dropout is off while it samples.
        prompts: N texts, duplicates welcome.
        constraint: restrict every completion to the answers of a trie.
        environment: what puts tokens of its own into a completion (`shared.environment`); they count in
            `max_new_tokens`, and only the policy ends a completion.
        seed, step, places: what is drawn depends on these alone (`shared.engine.chance`); a training loop gives its
            step, or every step would draw the same numbers. No seed takes one from torch's generator; `places` are
            the prompts' places among the step's rows, 0 to N - 1 unless given.

    Raises:
        ValueError: no prompts, an empty prompt, one that leaves no room for `max_new_tokens`, `num_generations` < 1,
            a model whose logits are not finite, or an environment beside a constraint.
    """
    if environment is not None and constraint is not None:
        raise ValueError(
            "A constraint allows only its own answers, so an environment cannot speak: give one of the two."
        )
    if num_generations < 1:
        raise ValueError(f"num_generations is {num_generations}; at least one completion is needed for each prompt.")
    device = next(model.parameters()).device
    B = len(prompts) * num_generations
    C = sampling.max_new_tokens
    prompt_ids, prompt_mask = encode_prompts(tokenizer, prompts)
    prompt_lengths = prompt_mask.sum(dim=1)
    beginnings = prompt_beginnings(prompt_ids, prompt_mask)
    check_room(model, prompt_lengths.tolist(), C)
    constraint = constraint.to(device) if constraint is not None else None
    u = None
    if not sampling.greedy:
        seed = fresh_seed() if seed is None else seed
        places = range(len(prompts)) if places is None else places
        u = uniforms(seed, step, places, num_generations, C).to(device)  # (B, C)

    eos = set(eos_token_ids(model, tokenizer))
    completion_ids: list[list[int]] = [[] for _ in range(B)]
    speech = None if environment is None else Speech(environment, tokenizer, B, eos)
    ended = [False] * B

    with eval_mode(model):
        distinct, numbers = _distinct(prompts)
        prompt_of = [number for number in numbers for _ in range(num_generations)]  # (B,), among the distinct
        decoder, node = start(
            model,
            prompt_ids[distinct].to(device),
            prompt_mask[distinct].to(device),
            prompt_lengths[distinct],
            prompt_of,
            room=C,
            beginnings=beginnings[distinct],
        )
        old_logps = torch.zeros(B, C, device=device, dtype=torch.promote_types(decoder.logits.dtype, torch.float32))
        entropy = torch.zeros_like(old_logps)
        running = list(range(B))  # the completions that have not ended
        # `node` says where each of them stands: those that have drawn the same so far stand at one node.
        walk = None if constraint is None else Walk(constraint, len(decoder.logits), eos)
        free_lengths = [0] * B  # of the completions that a constraint left one way to end
        for t in range(C):
            place = torch.tensor(running, device=device)
            drawn_from = torch.tensor(node, device=device)
            u_now = None if u is None else u[place, t]
            state = None if walk is None else torch.tensor(walk.state, device=device)
            token, logp, of_node = next_token(decoder.logits, drawn_from, sampling, constraint, state, u_now)
            old_logps[place, t] = logp.to(old_logps.dtype)
            entropy[place, t] = of_node[drawn_from].to(entropy.dtype)

            children: dict[tuple[int, int], int] = {}  # (parent, token) to the number of the new node
            still_running = []
            next_node = []
            for row, parent, drawn in zip(running, node, token.tolist()):  # the one transfer to the host for each token
                if speech is not None:
                    drawn = speech.in_place_of(drawn, row, completion_ids[row])
                completion_ids[row].append(drawn)
                if drawn in eos:
                    ended[row] = True
                    continue
                only_end = None if walk is None else walk.end_after(parent, drawn)
                if only_end is not None:
                    free_lengths[row] = t + 1
                    completion_ids[row] += only_end[: C - t - 1]
                    ended[row] = len(completion_ids[row]) == t + 1 + len(only_end)
                    continue
                still_running.append(row)
                next_node.append(children.setdefault((parent, drawn), len(children)))
            if t + 1 == C or not children:
                break
            parents = [parent for parent, _ in children]
            tokens = [drawn for _, drawn in children]
            if walk is not None:
                walk.step(tokens, parents)
            decoder.step(tokens, parents)
            running = still_running
            node = next_node

    lengths = torch.tensor([len(ids) for ids in completion_ids])
    width = int(lengths.max())
    on_host = torch.stack([old_logps, entropy]).cpu()  # in one transfer
    refuse_nan(on_host[0], lengths, prompts, num_generations)
    pad = tokenizer.pad_token_id or 0
    contexts = number_contexts(prompt_of, completion_ids)
    completion_mask = length_mask(lengths, width)  # on the host, as the lengths are
    policy_mask = None
    if speech is not None:
        policy_mask = torch.tensor([own + [0] * (width - len(own)) for own in speech.own])
    not_drawn = (completion_mask if policy_mask is None else policy_mask) == 0
    return Rollout(
        prompts=list(prompts),
        completions=tokenizer.batch_decode(completion_ids, skip_special_tokens=True),
        num_generations=num_generations,
        prompt_ids=prompt_ids.to(device),
        prompt_mask=prompt_mask.to(device),
        completion_ids=torch.tensor([ids + [pad] * (width - len(ids)) for ids in completion_ids]).to(device),
        completion_mask=completion_mask.to(device),
        old_logps=old_logps[:, :width].masked_fill(not_drawn.to(device), 0.0),
        prompt_lengths=prompt_lengths,
        lengths=lengths,
        truncated=~torch.tensor(ended),
        sampling=sampling,
        constraint=constraint,
        entropy=on_host[1, :, :width].masked_fill(not_drawn, 0.0),
        contexts=torch.tensor([row + [0] * (width - len(row)) for row in contexts]),
        beginnings=beginnings,
        free_lengths=torch.tensor([free or len(ids) for free, ids in zip(free_lengths, completion_ids)]),
        policy_mask=None if policy_mask is None else policy_mask.to(device),
    )


def _distinct(prompts: Sequence[str]) -> tuple[list[int], list[int]]:
    """The rows at which the distinct prompts first stand, and for each prompt which of the distinct ones it is."""
    first: dict[str, int] = {}
    for row, prompt in enumerate(prompts):
        first.setdefault(prompt, row)
    number = {prompt: i for i, prompt in enumerate(first)}
    return list(first.values()), [number[prompt] for prompt in prompts]
