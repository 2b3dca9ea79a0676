import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from shared.engine import capacity
from shared.engine.capacity import NoRoom, check_disk, check_memory, free_memory, weights_take

CPU = torch.device("cpu")
CUDA = torch.device("cuda", 1)


@pytest.fixture
def free(monkeypatch):
    """Set how many bytes are free on each kind of device."""
    sizes = {"cpu": 10**12, "cuda": 10**12}
    monkeypatch.setattr(capacity, "free_memory", lambda device: sizes[device.type])
    return sizes


def test_weights_of_each_type():
    assert weights_take(1000, torch.float32) == 4000
    assert weights_take(1000, torch.bfloat16) == 2000
    assert weights_take(1000, torch.float32, four_bit=True) == 562


def test_what_does_not_fit_is_refused_with_sizes_and_a_way_out(free):
    free["cpu"] = 5 * 10**9
    with pytest.raises(NoRoom, match="6.00 GB as float32; 5.00 GB.*'cpu'.*bfloat16"):
        check_memory(1_500_000_000, CPU, torch.float32)
    check_memory(1_500_000_000, CPU, torch.bfloat16, all_trained=False)


def test_a_gpu_has_memory_of_its_own_and_the_machines_is_passed_through(free):
    """Catches a check of the machine's memory alone, or of the GPU's alone."""
    free["cuda"] = 10
    with pytest.raises(NoRoom, match="'cuda:1'"):
        check_memory(100, CUDA, torch.float32)
    free.update(cuda=10**12, cpu=10)
    with pytest.raises(NoRoom, match="'cpu'"):
        check_memory(100, CUDA, torch.float32)
    check_memory(100, CUDA, torch.float32, four_bit=True)  # made on the GPU, file by file


def test_a_model_that_loads_and_cannot_be_trained_warns(free):
    free["cpu"] = 1000
    with pytest.warns(UserWarning, match="lora=True"):
        check_memory(100, CPU, torch.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_memory(100, CPU, torch.float32, all_trained=False)
        check_memory(50, CPU, torch.float32)


def test_what_just_fits_is_taken(free):
    """Catches `>=`, and another count of copies: weights, gradients and two averages are four. 100 weights are 400 bytes."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        free["cpu"] = 400
        check_memory(100, CPU, torch.float32, all_trained=False)
        free["cpu"] = 1600
        check_memory(100, CPU, torch.float32)
    free["cpu"] = 1599
    with pytest.warns(UserWarning, match="on 'cpu'") as warned:
        check_memory(100, CPU, torch.float32)
    caller = Path(warned[0].filename).name  # or what checks shapes on the way
    assert caller in (Path(__file__).name, "_decorator.py"), "the warning points at the line that loads the model"


def test_four_bits_take_what_four_bits_take(free):
    """Catches a model refused by its size in float32 that is loaded in 4 bits, and a sentence about another type."""
    free["cuda"] = 56
    check_memory(100, CUDA, torch.float32, four_bit=True, all_trained=False)
    free["cuda"] = 55
    with pytest.raises(NoRoom, match="as 4-bit numbers; 0.00 GB"):
        check_memory(100, CUDA, torch.float32, four_bit=True)


def test_a_gpu_is_asked_for_its_own_free_memory(monkeypatch):
    """Catches the size of the GPU for what is free of it, and the first GPU for another."""
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (7 + device.index, 100))
    assert free_memory(CUDA) == 8


def test_a_container_has_what_its_groups_leave(tmp_path):
    """Catches a check of the whole machine's memory inside a job that may use a part of it, or counts cached files."""
    (tmp_path / "job" / "step").mkdir(parents=True)
    write_group(tmp_path / "job", limit="5000", used=3000, cached=500)
    write_group(tmp_path / "job" / "step", limit="max", used=100, cached=0)
    own = tmp_path / "cgroup"
    own.write_text("0::/job/step\n")
    assert capacity._left_to_groups(tmp_path, own) == [2500]
    (tmp_path / "job" / "step" / "memory.max").unlink()  # a group of another kind, such as one of threads
    (tmp_path / "job" / "memory.stat").write_text("anon 1\n")
    assert capacity._left_to_groups(tmp_path, own) == [2000]
    own.write_text("0::/\n")
    assert capacity._left_to_groups(tmp_path, own) == []
    assert capacity._left_to_groups(tmp_path, tmp_path / "nothing here") == []


def write_group(folder, limit, used, cached):
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 1\ninactive_file {cached}\n")


def test_this_machine_has_some_memory():
    assert capacity.CGROUPS == Path("/sys/fs/cgroup")
    assert 0 < free_memory(CPU) < 10**15


def test_a_download_that_the_disk_cannot_hold_is_refused(tmp_path):
    check_disk(1000, tmp_path / "not" / "there" / "yet")
    with pytest.raises(NoRoom, match="disk of '.*yet'.*HF_HOME"):
        check_disk(10**18, tmp_path / "not" / "there" / "yet")


def test_a_download_that_just_fits_is_begun(tmp_path, monkeypatch):
    monkeypatch.setattr(capacity.shutil, "disk_usage", lambda folder: SimpleNamespace(free=1000))
    check_disk(1000, tmp_path)
    with pytest.raises(NoRoom):
        check_disk(1001, tmp_path)
