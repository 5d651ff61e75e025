"""The benchmark still runs: its short mode, its generator, its tables and its plot."""

import csv
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from conftest import COMMAND, DATA, ROOT

BENCH = ROOT / "bench"


def compare(folder, **environment):
    """The rows that the short mode writes, and what it says on standard error."""
    results = folder / "results.jsonl"
    done = subprocess.run([sys.executable, BENCH / "compare.py", "--smoke", "--out", results],
                          env=os.environ | {"ARENAUT": str(COMMAND)} | environment,
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in results.read_text().splitlines()], done.stderr


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    rows, said = compare(folder)
    return folder, rows, said


def test_every_plan_of_the_short_benchmark_passes_the_checker(smoke):
    _, rows, said = smoke
    runs = [row for row in rows if row["kind"] == "run" and "arena" in row]
    assert {"auto", "command", "exact", "local-search"} <= {row["contestant"] for row in runs}
    assert all(row["checked"] for row in runs), said
    assert not [row for row in rows if row["kind"] == "not_run"]


def test_no_run_is_below_the_bound(smoke):
    _, rows, _ = smoke
    bounds = {row["problem"]: row["bound"] for row in rows if row.get("contestant") == "auto"}
    assert bounds
    for row in rows:
        if "arena" in row:
            assert row["arena"] >= bounds[row["problem"]], row


def test_each_peer_has_runs_or_is_reported_missing(smoke):
    _, rows, said = smoke
    ran = {row["contestant"] for row in rows if row["kind"] == "run"}
    missing = {row["peer"] for row in rows if row["kind"] == "missing"}
    for peer in ("supermalloc-6", "greedy_by_size", "omni", "hillclimb"):
        assert (peer in ran) != (peer in missing)
        assert (f"PEER MISSING: {peer}" in said) == (peer in missing)


def test_a_peer_that_cannot_be_imported_is_reported_in_the_tables(tmp_path):
    for module in ("omnimalloc", "ethosu"):
        (tmp_path / f"{module}.py").write_text(f"raise ImportError('no {module} here')\n")
    compare(tmp_path, PYTHONPATH=str(tmp_path), ARENAUT_CORPUS=str(tmp_path / "no corpus"))
    text = render(tmp_path)
    assert "PEER MISSING: supermalloc-6 (no omnimalloc here)" in text
    assert "PEER MISSING: hillclimb (no ethosu here)" in text


def render(folder):
    subprocess.run([sys.executable, BENCH / "render.py", folder / "results.jsonl", "--markdown",
                    folder / "benchmarks.md", "--svg", folder / "benchmarks.svg"], check=True)
    return (folder / "benchmarks.md").read_text()


def test_tables_and_plot_are_made_from_the_results(smoke):
    folder, rows, _ = smoke
    text = render(folder)
    for row in rows:
        if row["kind"] == "run" and row["group"] == "generated":
            assert f"| {row['problem']} |" in text
    assert "rejected: none" in text
    drawn = ElementTree.parse(folder / "benchmarks.svg").getroot()
    assert [mark for mark in drawn if mark.tag.endswith(("rect", "circle"))]


def test_the_generator_makes_the_same_problem_each_time_and_tells_its_measures(smoke):
    folder, _, _ = smoke
    runs = [subprocess.run([folder / "generate", "-n", "4000", "-s", seed], check=True,
                           capture_output=True, text=True) for seed in ("7", "7", "8")]
    assert runs[0].stdout == runs[1].stdout != runs[2].stdout
    told = json.loads(runs[0].stderr)
    rows = [[int(value) for value in row.values()]
            for row in csv.DictReader(runs[0].stdout.splitlines())]
    loads, counts = [0] * told["steps"], [0] * told["steps"]
    for _, lower, upper, size in rows:
        for step in range(lower, upper):
            loads[step] += size
            counts[step] += 1
    assert len(rows) == told["buffers"] == 4000
    assert max(loads) == told["bound"]
    assert max(counts) == told["most_alive"] >= 1000
    assert sum(loads) / max(loads) / len(loads) == pytest.approx(told["fill"], abs=1e-3)
    assert told["fill"] > 0.5


def table_cells(script, *arguments):
    """The rows of the Markdown table that a script prints."""
    done = subprocess.run([sys.executable, BENCH / script, *arguments], capture_output=True,
                          text=True, timeout=120, check=True,
                          env=os.environ | {"ARENAUT": str(COMMAND)})
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    head, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(head, row)) for row in rows]


def test_the_tables_of_models_are_made():
    model = DATA / "resnet_int8.tflite"
    [plain] = table_cells("tflite_table.py", "--overlap", model)
    [split] = table_cells("split_table.py", "--runtime", model)
    assert plain["head today"] == split["today"] and plain["overlap"] == split["overlap"]
    assert split["outputs"] == "the same" and float(split["time"]) > 0
    assert int(split["both"].replace(",", "")) < int(split["overlap"].replace(",", ""))


def test_many_buffers_take_little_memory(tmp_path):
    """Ten million fit in 4 GiB: fewer take a little more each, for what is there once."""
    n = 300_000
    done = subprocess.run([sys.executable, BENCH / "scale.py", "--least", str(n), "--most", str(n), "--folder", tmp_path],
                          env=os.environ | {"ARENAUT": str(COMMAND)}, capture_output=True, text=True, check=True)
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines()[2:]]
    assert rows and all(float(row[-1]) >= 1 for row in rows)
    assert {row[1].strip() for row in rows} == {f"{n:,}"}
    most = {"generated": 390, "repeated": 445}
    assert all(int(row[-2]) <= most[row[0].strip()] for row in rows), done.stdout
