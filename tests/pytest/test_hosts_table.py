"""bench/hosts_table.py, which docs/hosts.md has its table from: on the files that ship, it says what is known of them."""

import csv
import json
import os
import subprocess
import sys

from conftest import COMMAND, DATA, ROOT


def tables(keep, *arguments):
    """The rows of the two tables, by host, and by host and network."""
    done = subprocess.run([sys.executable, ROOT / "bench" / "hosts_table.py", "--shipped", "--keep", keep, *arguments],
                          text=True, capture_output=True, check=False, env={**os.environ, "ARENAUT": str(COMMAND)})
    assert done.returncode == 0 and "passed over" not in done.stderr, done.stderr
    hosts, networks = ([[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()[2:]]
                       for part in done.stdout.split("\n\n"))
    return {row[0]: row for row in hosts}, {(row[0], row[1]): row for row in networks}


def number(cell):
    return int(cell.replace(",", ""))


def test_every_host_has_a_row(tmp_path):
    hosts, networks = tables(tmp_path)
    text = (ROOT / "docs" / "hosts.md").read_text()
    for name, row in hosts.items():
        assert f"| {name} | {row[1]} |" in text, "docs/hosts.md has another table"
        measured = [one for host, one in networks if host == name]
        assert row[2].startswith("not measured: ") if not measured else int(row[2]) == len(measured)
    assert {"IREE", "XLA", "ExecuTorch", "tflite-micro"} <= {host for host, _ in networks}


def test_what_iree_gave_its_slabs(tmp_path):
    _, networks = tables(tmp_path, "IREE")
    with open(DATA / "iree" / "compiled.csv") as file:
        known = {row["file"].removesuffix(".mlir"): int(row["bytes"]) for row in csv.DictReader(file)}
    for name in ("branches", "dense"):
        theirs, ours = map(number, networks["IREE", name][2:4])
        assert theirs == known[name] > ours
        assert networks["IREE", name][4:] == [f"{100 * ours / theirs - 100:+.1f} %", "minimal"]


def test_hosts_that_are_measured_one_after_the_other_make_one_table(tmp_path):
    hosts, networks = tables(tmp_path, "IREE")
    assert hosts["XLA"][2] == "not measured: not asked for" and {host for host, _ in networks} == {"IREE"}
    hosts, joined = tables(tmp_path, "XLA")
    assert hosts["tinygrad"][2] == "not measured: not asked for"
    assert {host for host, _ in joined} == {"IREE", "XLA"} and networks.items() <= joined.items()


def test_what_is_kept_counts_for_its_build_alone(tmp_path):
    _, networks = tables(tmp_path, "IREE")
    path = tmp_path / "iree.json"
    record = json.loads(path.read_text())
    assert {row[0] for row in record["networks"]} == {name for _, name in networks}
    record["networks"] = [["kept", 20, 10, True]]
    path.write_text(json.dumps(record))
    hosts, found = tables(tmp_path, "IREE")
    assert list(found) == [("IREE", "kept")] and hosts["IREE"][2:7] == ["1", "1", "50.0 %", "50.0 %", "1"]
    path.write_text(json.dumps({**record, "build": "another"}))
    hosts, found = tables(tmp_path, "XLA")
    assert hosts["IREE"][2] == "not measured: the kept results are by another build" and ("IREE", "kept") not in found
    path.write_text(json.dumps(record))
    assert {key: row for key, row in tables(tmp_path, "--again", "IREE")[1].items() if key[0] == "IREE"} == networks


def test_a_plan_of_ours_that_is_larger_is_an_error(tmp_path):
    tables(tmp_path, "IREE")
    path = tmp_path / "iree.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "networks": [["worse", 10, 20, False]]}))
    done = subprocess.run([sys.executable, ROOT / "bench" / "hosts_table.py", "--shipped", "--keep", tmp_path, "IREE"],
                          text=True, capture_output=True, check=False, env={**os.environ, "ARENAUT": str(COMMAND)})
    assert done.returncode == 1 and "| IREE | worse | 10 | 20 | +100.0 % |  |" in done.stdout


def test_no_such_host():
    done = subprocess.run([sys.executable, ROOT / "bench" / "hosts_table.py", "Nobody"], text=True, capture_output=True,
                          check=False)
    assert done.returncode == 2 and "no such host: Nobody" in done.stderr
