"""The making of `models/course-lm`: a tokenizer and a small Llama-shaped model, pretrained on the tasks' own documents.

    python -m shared.pretrain             train, or go on where an interrupted run stopped
    python -m shared.pretrain --probe     what the saved model earns on each task's evaluation split

Left out, against a real pretraining: real text, several epochs of tuning, evaluation during training. The data is
an endless seeded mixture of synthetic documents (`MIXTURE`), each one starting at position 0; nothing of any task's
evaluation split is in it. Most tasks come twice: as answer keys that are always right, and in the very format of the
task's prompt with right, wrong and off-format continuations mixed. So the model knows more than it shows, as a real
base model does, and reinforcement learning has something to bring out.
"""

import argparse
import hashlib
import math
import random
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor
from tqdm.auto import tqdm
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from shared.engine import checkpoint
from shared.evaluate import evaluate
from shared.models import COURSE_MODEL, load_policy
from shared.plots import BLUE, smooth
from shared.prompts import max_new_tokens_for
from shared.tables import show
from shared.tasks import addition, analogies, countdown, dots, poker, sentences
from shared.tasks.documents import ANSWER_KEY
from shared.tasks.tags import TAGS
from shared.tokens import completion_ids

SEED = 0
TASKS = {task.__name__.split(".")[-1]: task for task in (dots, poker, analogies, addition, countdown, sentences)}
# The share of each task among the documents.
MIXTURE = {"dots": 0.08, "poker": 0.38, "analogies": 0.15, "addition": 0.15, "countdown": 0.16, "sentences": 0.08}

PAD = "<pad>"
EOS = "<eos>"
CONTEXT = 512
DOCUMENTS_OF_THE_TOKENIZER = 60_000  # whose pieces it counts
DOCUMENTS_IN_A_POOL = 8192  # documents drawn, sorted by length and cut into batches at a time
POOLS = 110
TOKENS_IN_A_PART = 2048  # documents of like length; a batch is several parts, so that it mixes the tasks
PARTS_IN_A_BATCH = 4
LEARNING_RATE = 3e-3
WARMUP_BATCHES = 200

# A word, a digit or a symbol, each with the one space before it if there is one; or a white-space character.
PIECE = r" ?[A-Za-z]+| ?[0-9]| ?[^\sA-Za-z0-9]|\s"


def documents(rng: random.Random) -> Iterator[str]:
    """The endless mixture of all tasks' documents."""
    streams = {name: TASKS[name].documents(rng) for name in MIXTURE}
    while True:
        (name,) = rng.choices(list(MIXTURE), list(MIXTURE.values()))
        yield next(streams[name])


def build_tokenizer(corpus: list[str], most_pieces: int) -> PreTrainedTokenizerFast:
    """A tokenizer whose vocabulary is the most frequent pieces of the corpus; all other text falls back to bytes.

    Every word of the corpus is one token, with its leading space; so is each digit, suit, operator and tag. Any text
    comes back unchanged from `decode(encode(text))`.
    """
    counts = Counter(piece for text in corpus for piece in re.findall(PIECE, _without_tags(text)))
    pieces = [piece for piece, _ in sorted(counts.most_common(most_pieces))]
    characters = [chr(code) for code in range(32, 127) if chr(code) not in pieces]
    vocabulary = [(PAD, 0.0), (EOS, 0.0)]
    vocabulary += [(piece, math.log(counts[piece] / counts.total())) for piece in pieces]
    # Far below any frequency: a word that is known whole is never spelt.
    vocabulary += [(character, -30.0) for character in characters]
    vocabulary += [(f"<0x{byte:02X}>", -60.0) for byte in range(256)]

    core = Tokenizer(models.Unigram(vocabulary, unk_id=0, byte_fallback=True))
    core.pre_tokenizer = pre_tokenizers.Split(Regex(PIECE), behavior="isolated")
    core.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    core.add_special_tokens([PAD, EOS])
    core.add_tokens([AddedToken(tag, normalized=False) for tag in TAGS])
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token=PAD,
        eos_token=EOS,
        padding_side="left",
        model_max_length=CONTEXT,
        clean_up_tokenization_spaces=False,
    )


def _without_tags(text: str) -> str:
    for tag in TAGS:
        text = text.replace(tag, "")
    return text


def build_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """The untrained model."""
    torch.manual_seed(SEED)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=160,
            intermediate_size=448,
            num_hidden_layers=4,
            num_attention_heads=5,
            num_key_value_heads=5,
            max_position_embeddings=CONTEXT,
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
        )
    )


Part = list[list[int]]


def documents_digest() -> str:
    """A hash of the documents of pool 0, 16 hexadecimal digits, which the model's card has.

    A document is drawn by the split of its items. So a hash that has changed says that splits, items or documents are no
    longer those that the model was trained on, and that held-out items may be among what it knows: train it again.
    """
    texts = islice(documents(_chance_of_pool(0)), DOCUMENTS_IN_A_POOL)
    return hashlib.sha256("\n\n".join(texts).encode()).hexdigest()[:16]


def _chance_of_pool(pool: int) -> random.Random:
    return random.Random(f"{SEED} {pool}")


def batches_of_pool(pool: int, tokenizer: PreTrainedTokenizerFast) -> list[list[Part]]:
    """The token ids of one pool of documents, each ending in EOS, in batches of parts of similar length.

    Without the parts, sorting by length would give every batch to one task. The pool's number seeds its documents,
    so that a resumed run sees what an uninterrupted one sees.
    """
    rng = _chance_of_pool(pool)
    texts = list(islice(documents(rng), DOCUMENTS_IN_A_POOL))
    encoded = sorted((completion_ids(tokenizer, text, [tokenizer.eos_token_id]) for text in texts), key=len)
    parts = [[]]
    for ids in encoded:
        if (len(parts[-1]) + 1) * len(ids) > TOKENS_IN_A_PART:
            parts.append([])
        parts[-1].append(ids)
    rng.shuffle(parts)
    return [parts[i : i + PARTS_IN_A_BATCH] for i in range(0, len(parts), PARTS_IN_A_BATCH)]


def padded(part: Part, pad: int) -> tuple[Tensor, Tensor]:
    """Right-padded ids and labels, both (B, T); the label of padding is -100, which the loss ignores."""
    width = max(map(len, part))
    ids = torch.tensor([row + [pad] * (width - len(row)) for row in part])
    lengths = torch.tensor([[len(row)] for row in part])
    return ids, ids.masked_fill(torch.arange(width) >= lengths, -100)


def learning_rate(progress: float, batch: int) -> float:
    """Linear warm-up over the first batches, then half a cosine down to a hundredth at progress 1."""
    cosine = 0.01 + 0.99 * (1 + math.cos(math.pi * progress)) / 2
    return LEARNING_RATE * cosine * min(1.0, (batch + 1) / WARMUP_BATCHES)


def train(folder: Path, pools: int = POOLS, progress: bool = True) -> list[float]:
    """Train for so many pools and save model, tokenizer and loss curve in `folder`; the loss of every batch.

    An unfinished run leaves `folder/training.pt` and is taken up there by the next call.
    """
    corpus = list(islice(documents(random.Random(SEED)), DOCUMENTS_OF_THE_TOKENIZER))
    tokenizer = build_tokenizer(corpus, most_pieces=3000)
    model = build_model(tokenizer)
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.05},
            # Norms are vectors that begin at 1, and decay would pull them to 0.
            {"params": [p for p in model.parameters() if p.dim() <= 1], "weight_decay": 0.0},
        ],
        betas=(0.9, 0.98),
    )
    unfinished = folder / "training.pt"
    losses, done = _resume(unfinished, model, optimizer)

    bar = tqdm(range(done, pools), initial=done, total=pools, desc="pretraining", unit="pool", disable=not progress)
    for pool in bar:
        batches = batches_of_pool(pool, tokenizer)
        for i, batch in enumerate(batches):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate((pool + i / len(batches)) / pools, len(losses))
            losses.append(train_on(model, optimizer, batch, tokenizer.pad_token_id))
        bar.set_postfix(loss=f"{sum(losses[-len(batches) :]) / len(batches):.4f}")
        checkpoint.save(
            unfinished,
            {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "losses": losses, "pools": pool + 1},
        )
    save(folder, model, tokenizer, losses)
    unfinished.unlink(missing_ok=True)
    return losses


def train_on(model: LlamaForCausalLM, optimizer: torch.optim.Optimizer, batch: list[Part], pad: int) -> float:
    """One update on a batch; its mean loss over all predicted tokens."""
    predicted = sum(len(ids) - 1 for part in batch for ids in part)
    optimizer.zero_grad(set_to_none=True)
    total = 0.0
    for part in batch:
        ids, labels = padded(part, pad)
        loss = model(input_ids=ids, labels=labels, num_items_in_batch=predicted, use_cache=False).loss
        loss.backward()
        total += loss.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return total


def _resume(unfinished: Path, model: LlamaForCausalLM, optimizer: torch.optim.Optimizer) -> tuple[list[float], int]:
    """Load an unfinished run into model and optimiser; its losses and the number of pools done, ([], 0) for none."""
    state = checkpoint.load(unfinished)
    if state is None:
        return [], 0
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["losses"], state["pools"]


def save(folder: Path, model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, losses: list[float]) -> None:
    """The model, the tokenizer and the picture `loss.png`."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    axes.plot(losses, color="0.85", linewidth=0.6)
    axes.plot(smooth(losses, 100), color=BLUE)
    axes.set(xlabel="batch", ylabel="loss (nats per token)", title="Pretraining loss", yscale="log")
    figure.savefig(folder / "loss.png", dpi=120)
    plt.close(figure)


def probe(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, n: int = 64) -> list[dict]:
    """Measure what the model shows and what it knows, on n prompts of each task's evaluation split.

    Returns a record for each task: `sampled`, the mean reward at temperature 1; `equal_groups`, the share of groups
    of 8 completions whose rewards are all equal; `greedy`; and `key`, greedy below the answer-key header (nan for
    sentences, which have no right answer).
    """
    records = []
    for name, task in TASKS.items():
        rows = task.dataset("eval", n, seed=SEED)
        headed = [row | {"prompt": ANSWER_KEY + row["prompt"]} for row in rows]
        measured = partial(evaluate, max_new_tokens=max_new_tokens_for(tokenizer, task), progress=False)
        sampled = measured(model, tokenizer, rows, task.reward, temperature=1.0, num_generations=8)
        key = math.nan if task is sentences else measured(model, tokenizer, headed, task.reward).mean
        records.append(
            {
                "task": name,
                "sampled": sampled.mean,
                "equal_groups": sampled.frac_reward_zero_std,
                "greedy": measured(model, tokenizer, rows, task.reward).mean,
                "key": key,
            }
        )
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], prog="python -m shared.pretrain")
    parser.add_argument("--folder", type=Path, default=COURSE_MODEL, help="where the model is saved")
    parser.add_argument(
        "--pools", type=int, default=POOLS, help=f"pools of {DOCUMENTS_IN_A_POOL} documents to train on"
    )
    parser.add_argument("--probe", action="store_true", help="measure the saved model instead of training one")
    options = parser.parse_args()
    if options.probe:
        show(probe(*load_policy(options.folder), n=150), forms={"equal_groups": ".2f"})
    else:
        train(options.folder, options.pools)


if __name__ == "__main__":
    main()
