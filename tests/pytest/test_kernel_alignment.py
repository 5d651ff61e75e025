"""Alignment by operator: the kernel set qnn-direct, on a program of the exporter's, and beside ExecuTorch's sources."""

import json
import os
import re
from pathlib import Path

import pytest

pytest.importorskip("executorch", reason="the stock wheels are not installed: make venv")
import make_pte  # noqa: E402
from executorch.exir._serialize._program import deserialize_pte_binary, serialize_pte_binary  # noqa: E402

SOURCES = Path(os.environ.get("EXECUTORCH_SOURCES", ""))
#: Loads and stores that fault, and promises to the compiler, where an address is no multiple of a vector.
ALIGNED = re.compile(r"_mm\d*_(?:load|store|stream)_(?:ps|pd|si\d+|epi\d+)\b|assume_aligned|__builtin_assume|_Alignas\(|alignas\(")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Three delegated graphs and kernels between them; no partitioner of QNN's runs here, so they are XNNPACK's, renamed."""
    file = deserialize_pte_binary(make_pte.xnnpack_mixed().bytes())
    for delegate in file.program.execution_plan[0].delegates:
        delegate.id = "QnnBackend"
    path = tmp_path_factory.mktemp("qnn") / "mixed.pte"
    path.write_bytes(bytes(serialize_pte_binary(file)))
    return path


def test_arguments_of_qnn_lie_in_blocks_of_64_bytes_of_their_own(arenaut, arenaut_json, program, tmp_path):
    arenaut("plan", program, "--kernels", "qnn-direct", "-o", tmp_path / "aligned.pte")
    arenaut("check", tmp_path / "aligned.pte", "--kernels", "qnn-direct")
    buffers = arenaut_json("plan", program, "--kernels", "qnn-direct")["buffers"]
    theirs = [row for row in buffers if row["name"] != "v9"]  # which is one kernel's for another
    assert len(theirs) > 4 and all(row["offset"] % 64 == row["size"] % 64 == 0 for row in theirs)


def test_a_set_of_ones_own_states_alignments_and_check_holds_places_against_them(arenaut, program, tmp_path):
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps({"schema": "arenaut.kernels/1", "name": "mine", "base": "portable",
                                "align": [{"op": "QnnBackend", "bytes": 4096}]}))
    arenaut("check", program)
    done = arenaut("check", program, "--kernels", mine, exit=1)
    assert "which is not a multiple of 4096" in done.stdout + done.stderr
    arenaut("plan", program, "--kernels", mine, "-o", tmp_path / "aligned.pte")
    arenaut("check", tmp_path / "aligned.pte", "--kernels", mine)


@pytest.mark.skipif("EXECUTORCH_SOURCES" not in os.environ, reason="set EXECUTORCH_SOURCES=FOLDER to ExecuTorch's sources")
def test_the_table_is_that_of_the_sources(arenaut_json):
    qnn = SOURCES / "backends/qualcomm/aot/wrappers"
    blocks = int(re.search(r"#define QNN_TENSOR_ALIGNMENT (\d+)", (qnn / "TensorWrapper.h").read_text())[1])
    filled = (qnn / "TensorWrapper.cpp").read_text().split("FillDataBuffer")[1].split("#else")[0]
    assert "__hexagon__" in filled and re.search(r"align_size\(QNN_TENSOR_ALIGNMENT, bytes_\)", filled)
    assert arenaut_json("kernels", "qnn-direct")["align"] == [{"op": "QnnBackend", "bytes": blocks, "rounds": True}]
    assert "align" not in arenaut_json("kernels", "portable")
    kernels = [path for folder in ("portable", "optimized", "quantized") for kind in ("*.cpp", "*.h")
               for path in (SOURCES / "kernels" / folder).rglob(kind) if "test" not in path.parts]
    assert len(kernels) > 250
    assert not [str(path) for path in kernels if ALIGNED.search(path.read_text())]
