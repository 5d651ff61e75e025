"""ExecuTorch programs on our memory manager and allocators (examples/executorch/client.cpp)."""

import subprocess

import pytest
from conftest import COMMAND, DATA

pytest.importorskip("torch", reason="the stock wheels are not installed: make venv")
import pte_runtime  # noqa: E402

RUNTIME = COMMAND.parent / "libarenaut-runtime.a"
PROGRAMS = {
    "branches": "forward", "condition": "forward", "dynamic_batch": "forward",
    "kv_decoder": "forward", "lists": "forward", "two_methods": "add", "xnnpack_mixed": "forward",
}


@pytest.fixture(scope="module")
def client():
    return pte_runtime.build("client", pte_runtime.ROOT / "examples/executorch", RUNTIME)


@pytest.mark.parametrize("where", ["host", "device"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_planned_memory_comes_from_our_allocators(client, name, where, tmp_path):
    planned = tmp_path / f"{name}.pte"
    subprocess.run([COMMAND, "plan", "-q", DATA / "pte" / f"{name}.pte", "-o", planned],
                   check=True)
    for program in [DATA / "pte" / f"{name}.pte", planned]:
        ran = subprocess.run([client, program, PROGRAMS[name], where], capture_output=True,
                             text=True, timeout=60, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert ran.stdout.rstrip().endswith("outputs agree")
        assert ("on the device" in ran.stdout) == (where == "device")


def test_a_method_that_is_not_there_is_an_error(client):
    ran = subprocess.run([client, DATA / "pte/branches.pte", "nowhere"], capture_output=True,
                         text=True, timeout=60, check=False)
    assert ran.returncode == 3 and "nowhere" in ran.stderr
