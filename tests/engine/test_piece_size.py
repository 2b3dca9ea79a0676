"""The size of a piece by the memory that is free, on a GPU that is made up: here is none."""

import pytest
import torch

from shared import updates
from shared.engine import piece_size
from shared.engine.piece_size import LOGITS_AT_ONCE, PeakMemory, logits_at_once
from tests.line import CONFIG, ROWS, Line, Points

CUDA = torch.device("cuda")
GIGABYTE = 1 << 30


class FakeMemory:
    """A card's memory in bytes: `used` by tensors, `kept` by torch for the next ones, and the rest."""

    def __init__(self, size: int):
        self.size = size
        self.used = self.kept = self.peak = self.peaks_put_back = 0

    def take(self, number: int) -> None:
        self.used += number
        self.peak = max(self.peak, self.used)
        self.kept = max(self.kept, self.used)

    def give_back(self, number: int) -> None:
        self.used -= number


@pytest.fixture
def card(monkeypatch) -> FakeMemory:
    card = FakeMemory(80 * GIGABYTE)

    def reset_peak(device):
        card.peak = card.used
        card.peaks_put_back += 1

    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (card.size - card.kept, card.size))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: card.kept)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: card.used)
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda device: card.peak)
    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", reset_peak)
    return card


def test_a_piece_takes_a_part_of_what_is_free(card):
    """Catches memory that torch keeps for later and that counts as taken, and a size that follows every megabyte."""
    card.take(40 * GIGABYTE)
    card.give_back(24 * GIGABYTE)  # 64 GB are free: an eighth is 8 GB
    assert logits_at_once(CUDA, 8 * GIGABYTE / (4 * LOGITS_AT_ONCE)) == 4 * LOGITS_AT_ONCE
    assert logits_at_once(CUDA, 8 * GIGABYTE / (7.9 * LOGITS_AT_ONCE)) == 4 * LOGITS_AT_ONCE
    assert logits_at_once(CUDA, 8 * GIGABYTE / (0.6 * LOGITS_AT_ONCE)) == LOGITS_AT_ONCE // 2
    assert logits_at_once(CUDA, 0.0) == LOGITS_AT_ONCE, "nothing was measured"


def test_peak_memory_is_what_a_block_took(card):
    """Catches a peak from before the block, and what was in use already."""
    card.take(30)
    card.give_back(20)
    with PeakMemory(CUDA) as peak:
        card.take(7)
        card.give_back(7)
    assert peak.bytes == 7
    with PeakMemory(torch.device("cpu")) as peak:
        pass
    assert peak.bytes == 0


def test_the_first_update_is_measured_and_the_next_ones_are_cut_by_it(card, monkeypatch):
    """Catches a measure that is never taken or taken anew, and one for the update in the place of one for a logit.

    Taken anew, it would put back the peak of whoever measures a run, at every update.
    """
    monkeypatch.setattr(piece_size, "LOGITS_AT_ONCE", 3)
    card.size = 160 * GIGABYTE
    algorithm = Line()
    points = Points(ROWS, {})
    sizes = []
    loss = algorithm.loss

    def counted(piece):
        sizes[-1].append(len(piece))
        card.take(GIGABYTE * piece.num_places)
        card.give_back(GIGABYTE * piece.num_places)
        return loss(piece)

    monkeypatch.setattr(algorithm, "loss", counted)
    monkeypatch.setattr(piece_size, "is_measured", lambda device: True)
    for _ in range(3):
        sizes.append([])
        updates.add_up_gradient(algorithm, points, CONFIG)
    assert algorithm.bytes_per_logit == GIGABYTE and card.peaks_put_back == 1
    first, second, third = map(len, sizes)
    assert first > second == third
