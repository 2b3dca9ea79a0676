"""`completion_logps` against the ten plain lines beside it, and in the settings that a real model is trained in."""

from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import nn
from transformers.modeling_layers import GradientCheckpointingLayer

from shared.constrain import answer_trie
from shared.engine.recompute import scoring_mode
from shared.engine.sampling import Sampling, sampling_logits
from shared.logps import completion_logps, plain_logps
from shared.models import add_lora
from shared.rollout import sample
from tests.conftest import few_of
from tests.fakes import tiny_gpt2, tiny_llama

PROMPTS = ["abc", "d", "efghij", "ab", "d"]


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def with_lora(model):
    model = add_lora(model, r=4)
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            nn.init.normal_(parameter, std=0.05, generator=seeded())  # adapters that do something
    return model


MODELS = {
    "llama": tiny_llama,
    "gpt2": tiny_gpt2,
    "llama with lora": lambda **options: with_lora(tiny_llama(**options)),
    "gpt2 with lora": lambda **options: with_lora(tiny_gpt2(**options)),
}


@pytest.fixture(params=MODELS)
def make(request):
    return MODELS[request.param]


def move(model) -> None:
    """Away from the weights that sampled."""
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=seeded(), dtype=parameter.dtype)
            parameter.add_(0.2 * parameter.std() * noise)


def gradients(model, loss) -> list[torch.Tensor]:
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return list(torch.autograd.grad(loss, trained, allow_unused=True))


SAMPLINGS = [Sampling(10), Sampling(10, 0.7), Sampling(10, 1.3, top_k=4), Sampling(10, 1.0, top_p=0.6)]
FEW_SAMPLINGS = [(SAMPLINGS[1], True), (SAMPLINGS[2], False)]  # and whether it is constrained


@pytest.mark.parametrize("case", few_of(product(SAMPLINGS, [False, True]), FEW_SAMPLINGS))
def test_scoring_equals_the_plain_lines_in_value_and_gradient(make, tokenizer, case):
    """Catches gradients that stop at the prompt, or that count it once instead of once per completion.

    Twice the same prompt, completions of different lengths and with equal beginnings; float64, so that only float32
    inside the norms rounds. The model has moved since it sampled, so that top-k and top-p cut sampled tokens off: each
    is kept for itself, and for no other token of its context.
    """
    sampling, constrained = case
    trie = answer_trie(tokenizer, ["ab", "abc", "j", "dd"]) if constrained else None
    model = make().eval().double()
    rollout = sample(model, tokenizer, PROMPTS, 4, sampling, constraint=trie, seed=0)
    move(model)
    weight = torch.randn(rollout.old_logps.shape, generator=seeded(1), dtype=torch.float64)
    fast, _ = completion_logps(model, rollout)
    plain = plain_logps(model, rollout)
    torch.testing.assert_close(fast, plain, rtol=0, atol=1e-5)
    torch.testing.assert_close(
        gradients(model, (fast * weight).sum()), gradients(model, (plain * weight).sum()), rtol=1e-5, atol=1e-5
    )


class Kept:
    """A count of the numbers that autograd keeps for the way back while the block runs, parameters apart."""

    def __init__(self, model):
        self.parameters = {parameter.data_ptr() for parameter in model.parameters()}
        self.numbers = 0

    def __enter__(self):
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.pack, lambda tensor: tensor)
        self.hooks.__enter__()
        return self

    def pack(self, tensor):
        if tensor.data_ptr() not in self.parameters:
            self.numbers += tensor.numel()
        return tensor

    def __exit__(self, *error):
        self.hooks.__exit__(*error)


@pytest.mark.parametrize("reentrant", [False, True])
def test_gradient_checkpointing_keeps_less_and_changes_no_gradient(make, tokenizer, reentrant):
    """Catches checkpointing that is asked for and ignored, and dropout that acts when a block is computed again.

    The model is in training mode with much dropout, and the way back runs after scoring has ended.
    """
    model = make(dropout=0.5).double().train()
    rollout = sample(model, tokenizer, PROMPTS, 4, Sampling(10), seed=0)
    with Kept(model) as kept:
        logps, _ = completion_logps(model, rollout)
    whole = gradients(model, logps.sum())

    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": reentrant})
    with Kept(model) as kept_with_checkpoints:
        recomputed, _ = completion_logps(model, rollout)
    model.zero_grad()
    recomputed.sum().backward()  # the reentrant kind knows no autograd.grad
    again = [parameter.grad for parameter in model.parameters() if parameter.requires_grad]
    torch.testing.assert_close(recomputed, logps, rtol=0, atol=1e-5)
    torch.testing.assert_close(again, whole, rtol=1e-5, atol=1e-5)
    assert kept_with_checkpoints.numbers < 0.7 * kept.numbers
    assert all(module.training for module in model.modules())


def test_a_model_that_gives_all_logits_is_cut_to_the_completions(tokenizer):
    """Catches the prompt scored with the answer, by a model that does not know `logits_to_keep`."""
    model = tiny_gpt2().eval()
    rollout = sample(model, tokenizer, PROMPTS, 2, Sampling(4), seed=0)
    expected, entropy = completion_logps(model, rollout)
    assert entropy is None, "nobody asked for it"
    forward = model.forward
    model.forward = lambda logits_to_keep, **options: forward(**options)
    torch.testing.assert_close(completion_logps(model, rollout)[0], expected)


@pytest.mark.parametrize("mode", [True, False])
def test_a_model_is_after_scoring_what_it_was_before(make, mode):
    """Catches blocks that stay in training mode, or keep the function that was theirs while scoring."""
    model = make(dropout=0.5).train(mode)
    model.gradient_checkpointing_enable()
    blocks = [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]
    functions = [block._gradient_checkpointing_func for block in blocks]
    with scoring_mode(model):
        assert all(block.training for block in blocks)
    assert [block._gradient_checkpointing_func for block in blocks] == functions
    assert {module.training for module in model.modules()} == {mode}


def test_a_block_with_dropout_of_its_own_has_none_while_it_is_scored():
    """Some blocks (OPT's) ask their own `training` flag for dropout, the flag that turns checkpointing on."""
    from transformers import OPTConfig, OPTForCausalLM

    config = OPTConfig(
        vocab_size=12,
        hidden_size=16,
        ffn_dim=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=32,
        word_embed_proj_dim=16,
        dropout=0.5,
        init_std=0.3,
    )
    model = OPTForCausalLM(config).train()
    model.gradient_checkpointing_enable()
    ids = torch.arange(2, 10)[None]
    with scoring_mode(model):
        first = model(input_ids=ids, use_cache=False).logits
        assert torch.equal(first, model(input_ids=ids, use_cache=False).logits)


def test_half_precision_passes_agree_with_each_other(make, tokenizer):
    """Float32 weights under autocast. Catches two types that meet in one product, and a softmax of bfloat16 logits."""
    model = make().eval()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rollout = sample(model, tokenizer, PROMPTS, 8, Sampling(12), seed=0)
        logps, entropy = completion_logps(model, rollout, with_entropy=True)
    assert logps.dtype == entropy.dtype == rollout.old_logps.dtype == torch.float32
    log_ratio = (logps - rollout.old_logps)[rollout.completion_mask.bool()]
    assert log_ratio.abs().mean() < 2e-2
    gradient = torch.cat([g.flatten() for g in gradients(model, logps.sum()) if g is not None])
    exact = torch.cat([g.flatten() for g in gradients(model, plain_logps(model, rollout).sum()) if g is not None])
    assert gradient.dtype == torch.float32 and torch.cosine_similarity(gradient, exact, dim=0) > 0.99


@pytest.mark.parametrize("dtype", few_of([torch.bfloat16, torch.float16], [torch.bfloat16]))
def test_half_precision_weights_are_scored_as_they_were_sampled(make, tokenizer, dtype):
    model = make().eval().to(dtype)
    rollout = sample(model, tokenizer, PROMPTS, 8, Sampling(12), seed=0)
    logps, _ = completion_logps(model, rollout)
    log_ratio = (logps - rollout.old_logps)[rollout.completion_mask.bool()]
    assert logps.dtype == torch.float32 and log_ratio.abs().mean() < 5e-2


@pytest.mark.parametrize("constrained", [False, True])
def test_scoring_reads_nothing_back_from_the_device(tokenizer, constrained):
    """Catches a mask as an index, or a number taken out of a tensor: each makes the host wait for a GPU.

    On the meta device tensors have shapes and no values, so whatever asks for a value raises.
    """
    trie = answer_trie(tokenizer, ["ab", "abc", "j", "dd"]) if constrained else None
    model = tiny_llama().eval()
    rollout = sample(model, tokenizer, PROMPTS, 4, Sampling(10, 0.7, top_k=4), constraint=trie, seed=0)
    moved = {
        name: getattr(rollout, name).to("meta")
        for name in ("prompt_ids", "prompt_mask", "completion_ids", "completion_mask", "old_logps")
    }
    constraint = trie.to("meta") if constrained else None
    model = model.to("meta")
    logps, _ = completion_logps(model, replace(rollout, **moved, constraint=constraint), with_entropy=True)
    logps.sum().backward()
    assert logps.shape == rollout.completion_ids.shape


def test_the_worked_numbers_of_the_docstring():
    """Catches a token that is scored at temperature 1, or among all tokens, though it was drawn otherwise."""
    logits = torch.tensor([2.0, 1.0, 0.0])
    samplings = [Sampling(), Sampling(temperature=0.5), Sampling(top_k=2)]
    logps = torch.stack([sampling_logits(logits, sampling).log_softmax(dim=-1)[1] for sampling in samplings])
    assert logps.tolist() == pytest.approx([-1.41, -2.14, -1.31], abs=5e-3)
    assert logps.exp().tolist() == pytest.approx([0.24, 0.12, 0.27], abs=5e-3)
