"""The training loop in several processes: what one of them meets, all of them do. And evaluation, shared out."""

import shutil
import time
from dataclasses import replace

import pytest
import torch

from shared import training
from shared.engine.processes import ALONE
from shared.evaluate import evaluate
from tests.conftest import few_of
from tests.fakes import letter_tokenizer, tiny_llama
from tests.line import CONFIG as LINE_CONFIG
from tests.line import ROWS as POINTS
from tests.line import Line
from tests.several import in_processes
from tests.watched import ROWS, algorithm_of, grpo, uneven


def test_a_loss_that_is_not_finite_in_one_process_is_skipped_in_all():
    def train_here(processes):
        line = Line(spoil=lambda step: step == 1 and processes.rank == 1)
        history = training.train(line, POINTS, LINE_CONFIG, progress=False, processes=processes)
        return [record["skipped"] for record in history], line.model.weight.item()

    (skipped, weight), (other, other_weight) = in_processes(2, train_here)
    assert skipped == other == [0, 1, 0, 0] and weight == other_weight


def test_the_first_process_alone_prints_and_tells(capfd):
    def train_here(processes):
        told = []
        config = replace(LINE_CONFIG, log_every=1)
        training.train(Line(), POINTS, config, on_step=told.append, progress=True, processes=processes)
        return len(told)

    assert in_processes(2, train_here) == [4, 0]
    printed = capfd.readouterr()
    assert printed.out.count("step   1 ") == 1 and printed.err.count("4/4") >= 1


def test_who_leaves_waits_for_the_others_first():
    """Catches a process that ends while another still needs it, which aborts that one after all its work is done."""

    def late(processes):
        started = time.monotonic()
        if processes.first:
            time.sleep(0.5)
        processes.leave()
        return time.monotonic() - started, torch.distributed.is_initialized()

    waited, still_together = zip(*in_processes(2, late))
    assert min(waited) > 0.4 and not any(still_together)


def test_what_begins_at_random_begins_alike():
    """Catches adapters and value heads that each process draws for itself."""

    def train_here(processes):
        torch.manual_seed(processes.rank)
        line = Line()
        torch.nn.init.normal_(line.model.weight)
        training.train(line, POINTS, replace(LINE_CONFIG, steps=1), progress=False, processes=processes)
        return line.model.weight.item()

    first, second = in_processes(2, train_here)
    assert first == second


def test_one_process_asks_to_stop_and_all_do(tmp_path):
    """Catches a Ctrl-C that reaches one process, after which the others wait for it."""

    def train_here(processes):
        done = []
        stop = lambda: done.append(1) or (processes.rank == 1 and len(done) == 2)  # noqa: E731
        path = tmp_path / "run.pt"
        history = training.train(
            Line(), POINTS, LINE_CONFIG, progress=False, processes=processes, stop=stop, checkpoint_path=path
        )
        return len(history)

    assert in_processes(2, train_here) == [2, 2]
    assert len(training.train(Line(), POINTS, LINE_CONFIG, progress=False, checkpoint_path=tmp_path / "run.pt")) == 4


def trained(processes, steps=2, path=None):
    """The parameters after so many steps, on from the checkpoint where there is one."""
    kind, config = grpo(minibatches=2, steps=steps, checkpoint_every=1)
    algorithm = algorithm_of(kind, config, torch.float64)
    training.train(algorithm, ROWS, config, progress=False, checkpoint_path=path, processes=processes)
    return torch.cat([p.detach().flatten() for p in algorithm.model.parameters()])


@pytest.fixture(scope="module")
def halfway(tmp_path_factory):
    """(what two processes come to in two steps, the checkpoint of two processes after one)."""
    path = tmp_path_factory.mktemp("halfway") / "run.pt"
    whole = in_processes(2, trained)[0]
    in_processes(2, lambda processes: trained(processes, steps=1, path=path))
    return whole, path


@pytest.mark.parametrize("second", few_of([2, 1, 3], [2]))
def test_a_run_goes_on_in_as_many_processes_bit_for_bit_and_in_others_nearly(second, halfway, tmp_path):
    whole, saved = halfway
    path = shutil.copy(saved, tmp_path)
    if second == 1:
        resumed = [trained(ALONE, path=path)]
    else:
        resumed = in_processes(second, lambda processes: trained(processes, path=path))
    if second == 2:
        assert all(torch.equal(parameters, whole) for parameters in resumed)
    # AdamW divides a gradient by its own size, so what is rounded in one near 0 comes out larger.
    assert (resumed[0] - whole).norm() <= 1e-8 * whole.norm()


def test_a_checkpoint_that_cannot_be_read_is_a_sentence_in_all(tmp_path):
    """Catches a process that learns of it alone, while the others wait."""
    path = tmp_path / "run.pt"
    path.write_text("something else")

    def train_here(processes):
        with pytest.raises(ValueError, match="not a checkpoint"):
            training.train(Line(), POINTS, LINE_CONFIG, progress=False, checkpoint_path=path, processes=processes)
        return True

    assert in_processes(2, train_here) == [True, True]


@pytest.mark.parametrize("count", [2, 3])
def test_evaluation_is_shared_out_and_all_get_the_whole(count):
    """Sampled: catches completions of another place, an order of the processes, a process that gets only its part."""

    def evaluate_here(processes):
        calls = []
        model, tokenizer = tiny_llama().eval().double(), letter_tokenizer()
        hook = model.register_forward_pre_hook(lambda *args: calls.append(1))
        result = evaluate(
            model, tokenizer, ROWS[:4], uneven, temperature=1.0, num_generations=2, batch_size=3, processes=processes
        )
        hook.remove()
        return result.completions, result.rewards.tolist()

    alone = evaluate_here(ALONE)
    assert in_processes(count, evaluate_here) == [alone] * count
