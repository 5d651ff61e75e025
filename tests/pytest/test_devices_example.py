"""The example on two devices: a driver that stands in for CUDA's and PoCL as OpenCL, in one program under ASan.

The stand-in (tests/drivers/fake_cuda.c) holds its callers to the rules of the driver, and its memory is the host's, so
that ASan sees all that is written past it. Without an OpenCL loader and device the test skips."""

import ctypes.util
import json
import os
import subprocess

import pytest
from conftest import ROOT

EXAMPLE = ROOT / "examples" / "devices"
RUNTIME = [ROOT / "src" / "runtime" / f"{name}.c" for name in (
    "device_buffer", "device_registry", "fault", "fault_text", "memory_devices", "memory_manager", "static_program",
    "hosted/cuda_allocator", "hosted/host_allocator", "hosted/hosted", "hosted/library", "hosted/opencl_allocator")]
STRICT = ["cc", "-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined",
          "-fno-sanitize-recover=undefined"]
#: The compiler behind OpenCL keeps its allocations until the process ends.
KEPT = "\n".join(f"leak:{name}" for name in ("libpocl", "libLLVM", "libclang", "libOpenCL", "libstdc++"))


@pytest.fixture(scope="module")
def program(arenaut, tmp_path_factory):
    if not (ctypes.util.find_library("OpenCL") and os.path.exists("/usr/include/CL/cl.h")):
        pytest.skip("there is no OpenCL to build against: apt install ocl-icd-opencl-dev pocl-opencl-icd")
    folder = tmp_path_factory.mktemp("devices")
    arenaut("export", EXAMPLE / "network.program.json", "--as", "header", "-o", folder / "network.h")
    subprocess.run([*STRICT, f"-I{folder}", f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}", EXAMPLE / "devices.c", *RUNTIME,
                    "-lOpenCL", "-ldl", "-lm", "-o", folder / "devices"], check=True)
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{ROOT / 'tests'}", f"-I{ROOT / 'include'}",
                    ROOT / "tests" / "drivers" / "fake_cuda.c", "-o", folder / "libfake_cuda.so"], check=True)
    return folder


def run(folder, *libraries):
    (folder / "kept.txt").write_text(KEPT)
    environment = {**os.environ, "LSAN_OPTIONS": f"suppressions={folder / 'kept.txt'}:print_suppressions=0",
                   "ASAN_OPTIONS": "detect_leaks=1"}
    return subprocess.run([folder / "devices", *libraries], capture_output=True, text=True, timeout=300, check=False,
                          env=environment)


def test_two_devices_in_one_program(program, arenaut_json):
    """Memories by the plan's metadata, results as on the host, and as many copies as the plan counts."""
    if not os.path.isdir("/etc/OpenCL/vendors") or not os.listdir("/etc/OpenCL/vendors"):
        pytest.skip("there is no OpenCL device: apt install pocl-opencl-icd")
    done = run(program, program / "libfake_cuda.so")
    assert (done.returncode, done.stderr) == (0, "")
    planned = arenaut_json("plan", EXAMPLE / "network.program.json")
    sizes = [pool["arena"] for pool in planned["pools"]]
    devices = [pool["device"] for pool in planned["pools"]]
    assert {(d["type"], d["index"]) for d in devices} == {(0, 0), (1, 0), (2, 0)}
    lines = [f"memory {k}: {size} bytes on device {device['type']}.{device['index']}"
             for k, (size, device) in enumerate(zip(sizes, devices))]
    copies = planned["copies"]
    assert done.stdout.splitlines() == [*lines, f"right twice; {copies['ops']} copies of {copies['bytes']} bytes a call"]


def test_a_device_that_is_not_there_is_told(program):
    done = run(program, "no_such_library.so")
    assert done.returncode == 1
    assert "no_such_library" in done.stderr or "driver" in done.stderr or "library" in done.stderr


def test_copies_are_counted_between_devices_alone(arenaut, arenaut_json, tmp_path):
    assert "copies     6 ops from one device to another: 24,000 bytes" in arenaut(
        "plan", EXAMPLE / "network.program.json").stdout
    host = json.loads((EXAMPLE / "network.program.json").read_text())
    for tensor in host["tensors"]:
        tensor.pop("device", None)
    (tmp_path / "host.program.json").write_text(json.dumps(host))
    assert "copies" not in arenaut_json("plan", tmp_path / "host.program.json")


