"""Savings by the order of ops in model files: bytes to reserve as the runtime does today, planned in
the order of the file, and in the best order; and whether that is proven to be the least in any.

    build/venv/bin/python bench/order_formats.py [FILE...]

Without files: those of the corpus (ARENAUT_CORPUS) in pte/, tflite/, onnx/ and pt2/. Sizes that a
model leaves open are 1. Files that no order helps are counted only.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import corpus  # noqa: E402

COMMAND = os.environ.get("ARENAUT", ROOT / "build" / "arenaut")
FOLDERS = ("pte", "tflite", "onnx", "pt2")


def plan(path, *flags):
    """None if the file cannot be planned."""
    command = [COMMAND, "plan", path, "--json", "--dim", "*=1", *flags]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def row(path):
    """(today, planned, in the best order, alive in any order at least, views that are copies there, what
    is proven); None: no order."""
    given, ordered = plan(path), plan(path, "--reorder", "on")
    if not given or not ordered or not ordered.get("order"):
        return None
    baseline = (given.get("baseline") or {}).get("arena")
    order = ordered["order"]
    return (baseline, given["result"]["arena"], ordered["result"]["arena"], order["bound"],
            order.get("views", {"copied": 0})["copied"],
            "no" if not order["proven"] else "between jumps" if order.get("between_jumps") else "yes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    files = parser.parse_args().files
    if not files:
        if not corpus.FOLDER.is_dir():
            sys.exit(corpus.HINT)
        files = [path for folder in FOLDERS for path in sorted((corpus.FOLDER / folder).glob("*"))]
    rows = {path: row(path) for path in files}
    print("| file | today | planned | in the best order | at least, in any | copied views | proven |")
    print("|---|---|---|---|---|---|---|")
    known = {path: found for path, found in rows.items() if found}
    for path, (today, planned, ordered, bound, copied, proven) in known.items():
        if ordered < planned:
            print(f"| {path.name} | {today:,} | {planned:,} | {ordered:,} | {bound:,} | {copied} | {proven} |")
    helped = sum(ordered < planned for _, planned, ordered, *_ in known.values())
    said = [found[-1] for found in known.values()]
    print(f"\n{len(rows)} files: the orders of {len(known)} are known, an order helps {helped}, and "
          f"{said.count('yes')} of the best orders are proven, {said.count('between jumps')} more among those between jumps")


if __name__ == "__main__":
    main()
