"""What `export` writes for other programs: a trace whose lanes hold one buffer at a time, and a
graph that Graphviz draws where it is installed."""

import json
import shutil
import subprocess

import pytest
from conftest import COMMAND, DATA

MODELS = ["mobilenet_v1_025_96_int8.tflite", "if_while_float.tflite", "pte/two_methods.pte",
          "json/everything.problem.json", "fragmented.csv"]


def export(name, form):
    return subprocess.run([COMMAND, "export", DATA / name, "--as", form], check=True,
                          capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", MODELS)
def test_a_trace_has_every_lifetime_in_a_lane_of_its_own(name):
    trace = json.loads(export(name, "perfetto"))["traceEvents"]
    plan = json.loads(export(name, "json"))
    lanes = {}
    for event in trace:
        if event["ph"] == "X":
            lanes.setdefault((event["pid"], event["tid"]), []).append(
                (event["ts"], event["ts"] + event["dur"]))
    for lane in lanes.values():
        ordered = sorted(lane)
        assert all(a[1] <= b[0] for a, b in zip(ordered, ordered[1:]))
    placed = [b for b in plan["buffers"] if b["pool"] is not None and int(b["size"])]
    assert sum(map(len, lanes.values())) == sum(len(b.get("lifetimes", [0])) for b in placed)
    origin = min(life[0] for b in plan["buffers"]
                 for life in b.get("lifetimes", [[b.get("first"), b.get("end")]]))
    counts = [(event["ts"] + origin, event["args"]["bytes"]) for event in trace
              if event["ph"] == "C"]
    at_peak = [bytes_alive for step, bytes_alive in counts if step <= plan["peak"]["step"]][-1]
    assert at_peak == int(plan["peak"]["live_bytes"]) and counts[-1][1] == 0
    # No more lanes of a pool than buffers of it are alive at once.
    for pid in {pid for pid, _ in lanes}:
        spans = [span for lane, all_spans in lanes.items() if lane[0] == pid for span in all_spans]
        most = max(sum(a <= step < b for a, b in spans) for step, _ in spans)
        assert len([lane for lane in lanes if lane[0] == pid]) == most


@pytest.mark.parametrize("name", MODELS[:3])
def test_graphviz_draws_the_graph(name):
    if not shutil.which("dot"):
        pytest.skip("Graphviz is not installed")
    drawn = subprocess.run(["dot", "-Tsvg"], input=export(name, "dot"), check=True,
                           capture_output=True, text=True)
    assert drawn.stderr == ""
    assert drawn.stdout.count('class="node"') >= 3


def test_a_bare_problem_has_no_graph():
    done = subprocess.run([COMMAND, "export", DATA / "fragmented.csv", "--as", "dot"], check=False,
                          capture_output=True, text=True)
    assert done.returncode == 3 and "bare problem" in done.stderr
