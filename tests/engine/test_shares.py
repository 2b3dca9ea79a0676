"""The rows of a step, and the gradients taken at once, that belong to each process: no process is started here."""

import pytest
import torch

from shared.engine.processes import ALL_ROWS, ALONE, Processes, Share, _parcels


@pytest.mark.parametrize("rows, count", [(7, 2), (16, 3), (8, 8), (3, 4)])
def test_rows_are_dealt_out_evenly_whatever_part_is_looked_at(rows, count):
    """Each row to one process, and of every stretch of the order as many to each, or one less."""
    order = torch.randperm(rows, generator=torch.Generator().manual_seed(0)).tolist()
    shares = [Processes(rank, count).share(order) for rank in range(count)]
    assert sorted(place for share in shares for place in share.own) == list(range(rows))
    for stretch in (order, order[: rows // 2], order[rows // 2 :]):
        sizes = [len(share.rows_among(stretch)) for share in shares]
        assert max(sizes) - min(sizes) <= 1
    for share in shares:
        assert share.places == (share.own or [order[0]]) and share.rows_of_step(1) == rows


def test_rows_of_a_share_are_numbered_as_it_has_them():
    share = Share(places=[2, 5, 9], own=[2, 5, 9], count=12)
    assert share.rows_among([9, 1, 2]) == [2, 0] and share.of(list("abcdefghijkl")) == ["c", "f", "j"]
    values = torch.arange(24.0).view(24, 1)
    assert share.mine(values)[:, 0].tolist() == [4, 5, 10, 11, 18, 19]


def test_one_process_has_everything():
    assert ALONE.share([2, 0, 1]) is ALL_ROWS and ALL_ROWS.of("abc") == ["a", "b", "c"]
    values = torch.rand(3)
    assert ALL_ROWS.whole(values) is values and ALL_ROWS.mine(values) is values and ALL_ROWS.rows_of_step(3) == 3
    assert ALL_ROWS.rows_among([2, 0]) == [2, 0] and ALONE.total([1.5]) == [1.5] and not ALONE.any(False)


def test_gradients_travel_in_parcels_of_one_type(monkeypatch):
    monkeypatch.setattr("shared.engine.processes.PARCEL", 10)
    sizes = [4, 6, 1, 30, 2, 2]
    parameters = [torch.nn.Parameter(torch.zeros(size)) for size in sizes]
    parameters[-1] = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
    parcels = [[p.numel() for p in parcel] for parcel in _parcels(parameters)]
    assert parcels == [[4, 6], [1], [30], [2], [2]] and list(_parcels([])) == []
