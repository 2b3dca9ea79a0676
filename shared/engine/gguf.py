"""A GGUF file, the format of llama.cpp, as a model of transformers.

transformers turns the packed numbers into floats and rebuilds the tokenizer. Two things it leaves to us. Some kinds of
tokenizer cut a text into words in a way that it does not know, and takes GPT-2's way for: "x, two line ends, 3" then
becomes other tokens than those the model was trained on, in silence. And a model that came from a GGUF file says
that its weights are packed after they no longer are.
"""

import math
from pathlib import Path

from tokenizers import pre_tokenizers
from transformers import PreTrainedModel, PreTrainedTokenizerBase

SUFFIX = ".gguf"
# Each digit by itself, the rest as GPT-2 has it.
EACH_DIGIT = pre_tokenizers.Sequence(
    [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
)
OWN_SPLITS = {"smollm": EACH_DIGIT}
GPT2_SPLITS = ("gpt-2", "default")


class UnknownKind(ValueError):
    """The file is of a kind that cannot be read rightly; the message says which part."""


def parameters_in(path: Path) -> int:
    """The number of weights in a file, read from its list of tensors.

    Raises UnknownKind: the file is not whole, or of a kind that transformers or this module does not know.
    """
    from gguf import GGUFReader

    try:
        reader = GGUFReader(path)
        kind = reader.fields["general.architecture"].contents()
    except Exception as error:
        raise UnknownKind(f"{path.name} is not a whole GGUF file ({type(error).__name__}). Fetch it again.") from error
    _refuse_kind(path, kind)
    return sum(math.prod(map(int, tensor.shape)) for tensor in reader.tensors)


def _refuse_kind(path: Path, kind: str) -> None:
    from transformers.integrations.gguf import GGUF_ARCHS
    from transformers.modeling_gguf_pytorch_utils import GGUF_SUPPORTED_ARCHITECTURES

    known = sorted({*GGUF_ARCHS, *GGUF_SUPPORTED_ARCHITECTURES} - {"general", "tokenizer"})
    if kind not in known:
        raise UnknownKind(
            f"{path.name} holds a model of the kind {kind!r}, which transformers cannot make of a GGUF file. It knows "
            f"{', '.join(known)}."
        )


def split_as_trained(tokenizer: PreTrainedTokenizerBase, path: Path) -> PreTrainedTokenizerBase:
    """The tokenizer of a GGUF file, which cuts a text into words the way that the file names.

    Raises UnknownKind for a way that neither transformers nor this module knows.
    """
    from transformers.integrations.gguf import read_gguf_metadata
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

    metadata, _ = read_gguf_metadata(str(path))
    way = metadata.get("tokenizer.ggml.pre", "default")
    if way in OWN_SPLITS:
        tokenizer.backend_tokenizer.pre_tokenizer = OWN_SPLITS[way]
    elif metadata["tokenizer.ggml.model"] == "gpt2" and way not in (*GPT2_SPLITS, *GGUF_PRE_TOKENIZER_SPLITS):
        raise UnknownKind(
            f"The tokenizer in {path.name} cuts texts into words in the way {way!r}, which is not known here. Put the "
            "tokenizer.json that the model was trained with beside it."
        )
    return tokenizer


def as_floats(model: PreTrainedModel) -> PreTrainedModel:
    """A model that was read from a GGUF file, as any other: it can be trained and saved."""
    model.hf_quantizer.remove_quantization_config(model)
    return model
