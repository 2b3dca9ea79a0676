"""One update: the gradient in pieces, its norm, and what is done where it is not finite."""

import math
from dataclasses import replace

import pytest
import torch

from shared import training, updates
from shared.engine import piece_size
from shared.training import NonFiniteTraining, rows_of_step, train
from tests.line import CONFIG, ROWS, Line, Points, parameters


def test_rows_of_like_length_share_a_piece(monkeypatch):
    """Catches pieces in the order of the rows: each would be padded to the longest of all."""
    points = Points([ROWS[i] for i in (2, 0, 5, 3, 1)], {})  # weights 3, 1, 3, 1, 2
    two_rows = 2 * 7 * 10 // 5  # 10 tokens in 5 rows of 7 logits
    assert [piece.row_tokens.tolist() for piece in updates.pieces(points, 7, two_rows)] == [[1, 1], [2, 3], [3]]
    assert updates.pieces(points, 7, 7 * 10) == [points], "what fits is not cut"


def test_the_gradient_in_pieces_is_that_of_the_whole(monkeypatch):
    """Catches pieces that weigh by their rows where the loss and the metric divide by tokens: the rows weigh 1, 2 and 3."""
    results = []
    for at_once in (10**6, 1):
        monkeypatch.setattr(piece_size, "LOGITS_AT_ONCE", at_once)
        line = Line()
        history = train(line, ROWS, CONFIG, progress=False)
        assert all(record["error"] == pytest.approx(record["loss"], rel=1e-6) for record in history)
        results.append((parameters(line.model), [record["loss"] for record in history], len(line.seen)))
    (whole, losses, calls), (in_pieces, losses_in_pieces, more_calls) = results
    assert calls == 4 and more_calls == 4 * 6
    torch.testing.assert_close(in_pieces, whole)
    assert losses_in_pieces == pytest.approx(losses, rel=1e-5)


def test_an_update_is_what_the_plain_one_defines():
    """Catches a definition, which is read first, whose pieces weigh alike: they have 1, 5 and 18 tokens."""
    line, plain = Line(), Line()
    points = Points(ROWS, {})
    pieces = [points.take(range(*ends)) for ends in ((0, 1), (1, 3), (3, 12))]
    updates.update(line, points, CONFIG, torch.optim.SGD(line.model.parameters(), lr=0.1))
    updates.plain_update(plain, pieces, torch.optim.SGD(plain.model.parameters(), lr=0.1), CONFIG.max_grad_norm)
    torch.testing.assert_close(parameters(line.model), parameters(plain.model))


def test_a_step_that_is_not_finite_changes_nothing_and_is_marked():
    line = Line(spoil=lambda step: step == 1)
    seen = []
    history = train(line, ROWS, CONFIG, progress=False, on_step=lambda record: seen.append(parameters(line.model)))
    assert [record["skipped"] for record in history] == [0, 1, 0, 0]
    assert all(map(torch.equal, seen[0], seen[1])) and not all(map(torch.equal, seen[1], seen[2]))


def test_one_minibatch_that_is_not_finite_marks_the_step(monkeypatch):
    """Catches a step that counts as good because one of its updates was."""
    several = [{"loss": 1.0, "grad_norm": norm} for norm in (1.0, math.nan)]
    monkeypatch.setattr(training, "learn", lambda *_: several)
    line = Line()
    assert training.one_step(line, ROWS, CONFIG, 0, None)["skipped"] == 1
    several.pop()
    assert training.one_step(line, ROWS, CONFIG, 0, None)["skipped"] == 0


def test_two_bad_steps_then_a_good_one_start_the_count_anew():
    """Catches a counter of skipped steps that is never reset."""
    history = train(Line(lambda step: step % 3 != 2), ROWS, replace(CONFIG, steps=9), progress=False)
    assert len(history) == 9 and sum(record["skipped"] for record in history) == 6


def test_three_bad_steps_in_a_row_stop_with_the_last_good_weights():
    line = Line(lambda step: step >= 1)
    good = []
    with pytest.raises(NonFiniteTraining, match=r"3 steps in a row \(up to step 4\)") as stopped:
        train(
            line, ROWS, replace(CONFIG, steps=9), progress=False, on_step=lambda r: good.append(parameters(line.model))
        )
    assert len(stopped.value.history) == 4 and all(map(torch.equal, good[0], parameters(line.model)))


def test_enough_leaves_the_update_and_the_further_ones_out():
    """Catches a step that is made before the test whether the policy has moved too far."""
    line = Line()
    line.stop_at = 2
    after_first = Line()
    train(after_first, ROWS, replace(CONFIG, steps=1, num_iterations=1), progress=False)
    train(line, ROWS, replace(CONFIG, steps=1, num_iterations=5), progress=False)
    assert len(line.seen) == 2
    assert all(map(torch.equal, parameters(line.model), parameters(after_first.model)))


def test_the_gradient_norm_is_clipped_and_told_before_clipping():
    line = Line()
    before = parameters(line.model)
    x = torch.tensor([[row["x"]] for row in rows_of_step(ROWS, 6, 0, 0)])
    optimizer = torch.optim.SGD(line.model.parameters(), lr=1.0)
    loss = line.model(x).sum() * 100
    norm = updates.apply_gradient(loss, line.model, optimizer, 0.5)
    moved = torch.cat([(b - a).flatten() for a, b in zip(before, parameters(line.model))]).norm()
    assert norm > 100 and moved.item() == pytest.approx(0.5, rel=1e-4)
    assert all(p.grad is None for p in line.model.parameters())


SPOILT = [
    lambda loss: loss * math.nan,
    lambda loss: loss * math.inf,
    lambda loss: loss + math.inf,
    lambda loss: (loss - loss.detach()).sqrt(),
]


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_loss_or_a_gradient_alone_that_is_not_finite_is_enough(spoil):
    """Catches a guard that asks for both: the root of 0 has an infinite slope, and a constant has none."""
    line = Line()
    before = parameters(line.model)
    optimizer = torch.optim.SGD(line.model.parameters(), lr=1.0)
    norm = updates.apply_gradient(spoil(line.model(torch.ones(1, 1)).sum()), line.model, optimizer, 1.0)
    assert math.isnan(norm) and all(map(torch.equal, before, parameters(line.model)))


def test_no_gradient_is_left_behind(monkeypatch):
    """Catches a first backward pass after training that adds to the last one's gradient. The interrupt comes between two
    pieces, when there is one."""
    line = Line()
    train(line, ROWS, CONFIG, progress=False)
    assert all(p.grad is None for p in line.model.parameters())
    monkeypatch.setattr(piece_size, "LOGITS_AT_ONCE", 1)
    stopped = Line()
    real_loss = stopped.loss

    def loss(points):
        if stopped.seen:
            assert stopped.model.weight.grad is not None
            raise KeyboardInterrupt
        return real_loss(points)

    stopped.loss = loss
    assert train(stopped, ROWS, CONFIG, progress=False) == []
    assert all(p.grad is None for p in stopped.model.parameters())


def test_a_gradient_that_was_there_is_not_learned_from():
    line, plain = Line(), Line()
    (1e6 * line.model(torch.ones(1, 1)).sum()).backward()
    train(line, ROWS, replace(CONFIG, steps=1), progress=False)
    train(plain, ROWS, replace(CONFIG, steps=1), progress=False)
    assert all(map(torch.equal, parameters(line.model), parameters(plain.model)))
    norms = []
    for before in (0.0, 1e6):
        model = Line().model
        (before * model(torch.ones(1, 1)).sum()).backward()
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        norms.append(updates.apply_gradient(model(torch.ones(1, 1)).sum(), model, optimizer, 1.0))
    assert norms[0] == norms[1]
