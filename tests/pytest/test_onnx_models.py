"""ONNX models, as the command takes them: what a large file costs, and where our own come from."""

import json
import re
import resource
import shutil
import subprocess

import pytest
from conftest import COMMAND, DATA

from onnx_file import field, typed, varint


@pytest.fixture(scope="module")
def large_model(tmp_path_factory):
    """Fifty layers of 4 MiB of weights each, inside the file: 210 MB, most of them a hole."""
    path = tmp_path_factory.mktemp("large") / "large.onnx"
    layers, side = 50, 1024
    weights = 4 * side * side
    nodes = b"".join(
        field(1, field(1, f"r{i}") + field(1, f"w{i}") + field(2, f"m{i}") + field(4, "MatMul")) +
        field(1, field(1, f"m{i}") + field(2, f"r{i + 1}") + field(4, "Relu")) for i in range(layers))
    ends = field(11, typed("r0", "batch", side)) + field(12, typed(f"r{layers}", "batch", side))
    headers = []
    for i in range(layers):
        tensor = field(1, side) + field(1, side) + field(2, 1) + field(8, f"w{i}") + varint(9 << 3 | 2) + varint(weights)
        headers.append(varint(5 << 3 | 2) + varint(len(tensor) + weights) + tensor)
    size = len(nodes) + len(ends) + sum(len(h) + weights for h in headers)
    with open(path, "wb") as file:
        file.write(field(1, 8) + field(8, field(2, 20)) + varint(7 << 3 | 2) + varint(size) + nodes + ends)
        for header in headers:
            file.write(header)
            file.seek(weights, 1)
        file.truncate()
    return path


def test_a_large_model_takes_little_memory(large_model):
    """Its weights are mapped, not read: 16 MiB of memory of its own are plenty."""
    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (16 << 20, 16 << 20))

    done = subprocess.run([COMMAND, "plan", large_model, "--dim", "batch=8"], capture_output=True, text=True,
                          preexec_fn=None if sanitized() else limit)
    assert done.returncode == 0, done.stderr
    assert "proven minimal" in done.stdout


def test_a_large_model_takes_little_work(large_model):
    """Counted, since times are those of the machine: 3.3 million instructions. To look at each byte of its
    weights once would be tens of millions."""
    if sanitized():
        pytest.skip("a sanitizer build is slower by design")
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed: instructions are not counted")
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", COMMAND, "plan",
                           large_model, "--dim", "batch=8"], capture_output=True, text=True, check=True)
    [counted] = re.findall(r"Collected : (\d+)", done.stderr)
    assert int(counted) < 10_000_000


def sanitized():
    return b"__asan_init" in COMMAND.read_bytes()


def test_our_own_models_have_the_bytes_that_the_script_makes(tmp_path):
    pytest.importorskip("onnx", reason="onnx is not installed: the shipped models are not made again")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: the shipped models are not made again")
    import make_onnx
    for make in make_onnx.MODELS:
        make(str(tmp_path))
    shipped = sorted(path for path in (DATA / "onnx").iterdir() if path.name != "images.onnx")  # test_split_onnx
    assert [path.name for path in shipped] == sorted(path.name for path in tmp_path.iterdir())
    for path in shipped:
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


def test_a_budget_is_kept_only_if_all_sizes_were_looked_at(large_model):
    for values, fits, code in (("1..8", True, 0), ("1..2000", None, 1)):
        done = subprocess.run([COMMAND, "size", "--json", large_model, "--dim", f"batch={values}", "--budget", "1G"],
                              capture_output=True, text=True, check=False)
        assert (json.loads(done.stdout)["budget"]["fits"], done.returncode) == (fits, code)
        assert ("others a tensor may be larger" in done.stderr) == (fits is None)
