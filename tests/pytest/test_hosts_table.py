"""bench/hosts_table.py, which docs/hosts.md has its table from: on the files that ship, it says what is known of them."""

import csv
import os
import subprocess
import sys

from conftest import COMMAND, DATA, ROOT


def tables(*arguments):
    """The rows of the two tables, by host, and by host and network."""
    done = subprocess.run([sys.executable, ROOT / "bench" / "hosts_table.py", "--shipped", *arguments], text=True,
                          capture_output=True, check=False, env={**os.environ, "ARENAUT": str(COMMAND)})
    assert done.returncode == 0 and "passed over" not in done.stderr, done.stderr
    hosts, networks = ([[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()[2:]]
                       for part in done.stdout.split("\n\n"))
    return {row[0]: row for row in hosts}, {(row[0], row[1]): row for row in networks}


def number(cell):
    return int(cell.replace(",", ""))


def test_every_host_has_a_row():
    hosts, networks = tables()
    text = (ROOT / "docs" / "hosts.md").read_text()
    for name, row in hosts.items():
        assert f"| {name} | {row[1]} |" in text, "docs/hosts.md has another table"
        measured = [one for host, one in networks if host == name]
        assert row[2].startswith("not measured: ") if not measured else int(row[2]) == len(measured)
    assert {"IREE", "XLA", "ExecuTorch", "tflite-micro"} <= {host for host, _ in networks}


def test_what_iree_gave_its_slabs():
    _, networks = tables("IREE")
    with open(DATA / "iree" / "compiled.csv") as file:
        known = {row["file"].removesuffix(".mlir"): int(row["bytes"]) for row in csv.DictReader(file)}
    for name in ("branches", "dense"):
        theirs, ours = map(number, networks["IREE", name][2:4])
        assert theirs == known[name] > ours
        assert networks["IREE", name][4:] == [f"{100 * ours / theirs - 100:+.1f} %", "minimal"]


def test_no_such_host():
    done = subprocess.run([sys.executable, ROOT / "bench" / "hosts_table.py", "Nobody"], text=True, capture_output=True,
                          check=False)
    assert done.returncode == 2 and "no such host: Nobody" in done.stderr
