"""One row at a time: what every other pass is measured with, so it is measured with none of them."""

import torch

from shared.engine.unpadded import RowByRow, base_model
from shared.models import add_lora
from tests.fakes import tiny_gpt2, tiny_llama


def test_the_model_below_adapters_is_found():
    model = tiny_llama()
    assert base_model(model) is model
    lora = add_lora(model)
    assert base_model(lora) is lora.get_base_model() is model


def test_a_padded_batch_comes_out_as_its_rows_alone():
    """Catches padding that is passed on, logits in another row's places, and anything but 0 in the padding's."""
    model = tiny_gpt2().eval()  # learned positions: a row that is passed with its padding comes out otherwise
    ids = torch.tensor([[7, 7, 2, 3, 4], [5, 6, 7, 8, 9], [2, 3, 7, 7, 7]])
    mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
    logits = RowByRow(model)(ids, attention_mask=mask, position_ids=None, logits_to_keep=1).logits
    assert logits.shape == (3, 5, 12)
    assert not logits[mask == 0].any()
    for row in range(3):
        real = mask[row].bool()
        torch.testing.assert_close(logits[row, real], model(ids[row, real][None]).logits[0])


def test_no_cache_is_kept():
    model = tiny_llama().eval()
    seen = []
    model.register_forward_pre_hook(lambda module, args, options: seen.append(options["use_cache"]), with_kwargs=True)
    RowByRow(model)(torch.tensor([[2, 3]]), torch.ones(1, 2, dtype=torch.long))
    assert seen == [False]
