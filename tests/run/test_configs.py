"""The files of `configs/`, by accelerate's own loader: a key that it does not know is refused there."""

from pathlib import Path

import pytest
from accelerate.commands.config.config_args import load_config_from_file
from accelerate.commands.launch import _validate_launch_command, launch_command_parser

FILES = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))
EXPECTED = {
    "cpu": ("MULTI_CPU", 2),
    "ddp": ("MULTI_GPU", 4),
    "fsdp": ("FSDP", 8),
    "zero3": ("DEEPSPEED", 8),
    "two_machines": ("FSDP", 16),
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_accelerate_reads_it(file):
    config = load_config_from_file(str(file))
    assert (config.distributed_type.value, config.num_processes) == EXPECTED[file.stem]


@pytest.mark.parametrize("name", ["ddp", "fsdp", "two_machines"])
def test_the_launcher_takes_it_from_the_file(name):
    """Catches keys that the loader keeps and the launcher does not understand. (ZeRO asks for deepspeed here.)"""
    file = next(file for file in FILES if file.stem == name)
    parser = launch_command_parser()
    args = parser.parse_args(["--config_file", str(file), "-m", "shared.run", "dots"])
    args, defaults, _ = _validate_launch_command(args)
    assert args.num_processes == EXPECTED[name][1] and defaults.num_machines == args.num_machines
    assert bool(args.use_fsdp) == (EXPECTED[name][0] == "FSDP")
    if args.use_fsdp:
        assert str(args.fsdp_version) == "2" and args.fsdp_state_dict_type == "FULL_STATE_DICT"


def test_no_file_is_left_out():
    assert {file.stem for file in FILES} == EXPECTED.keys()
