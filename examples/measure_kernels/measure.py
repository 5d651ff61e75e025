#!/usr/bin/env python3
"""Finds how far a kernel's output may reach into its input, and whether a kernel set says so.
The kernel's calls are those of a program made with measure_kernels.h.

    measure.py trace [-o FOUND.jsonl] PROGRAM…           exactly, by valgrind
    measure.py trace --with 'qemu-system-arm …' PROGRAM  the same by QEMU and trace_plugin.so
    measure.py confirm SET.json FOUND… [-o NEW.json]     is each rule of the set right?

A line of FOUND is a call and its `distance`: how many bytes the input must begin above the output
at least, or "any" where nothing is read once anything is written. The output of a program in mode
`scan`, on a device too, is read as well.

`confirm` asks arenaut (ARENAUT names the command) how far each call's output may reach under the
set's rules. A call that needs more proves a rule wrong, and the status is then 1. In NEW the rules
that calls bore out are `measured`, all others `read`."""

import argparse
import itertools
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

LACKEY = "valgrind --tool=lackey --trace-mem=yes --log-file={trace}"

# Traces. valgrind's lackey writes " L address,size" for a load, S for a store, M for both;
# trace_plugin.c writes the same.

def skip_silence(lines, said):
    """Reads on until the program has said something: none of its calls is made before."""
    for _ in lines:
        if os.fstat(said.fileno()).st_size:
            return


def calls_in(lines, mark):
    """The accesses between each two stores to the mark."""
    digits, inside = f"{mark:x},", None
    for line in lines:
        if line[0] != " ":
            continue  # an instruction
        if digits in line and line[1] == "S" and int(line[3:line.index(",")], 16) == mark:
            if inside is not None:
                yield inside
            inside = [] if inside is None else None
        elif inside is not None:
            inside.append(line)
    if inside is not None:
        raise ValueError("the trace ends within a call")


def accesses(lines):
    """(writes?, address, its end) of each line, the load of an M before its store."""
    for line in lines:
        address, size = line[3:].split(",")
        first = int(address, 16)
        if line[1] in "LM":
            yield False, first, first + int(size)
        if line[1] in "SM":
            yield True, first, first + int(size)


def distance(events, call):
    """Over all writes of the output, their end less the lowest byte of the input that is read
    later, both from the start of their tensor."""
    spans = [(at, at + size) for at, size in zip(call["at"], call["bytes"], strict=True)]
    lowest = most = None
    for writes, first, end in reversed(list(events)):
        start, stop = spans[writes]
        if writes and first < spans[0][1] and end > spans[0][0]:
            raise ValueError(f"{call['op']} writes into its input: {call}")
        if first >= stop or end <= start:
            continue
        if not writes:
            read = max(first, start) - start
            lowest = read if lowest is None else min(lowest, read)
        elif lowest is not None:
            reach = min(end, stop) - start - lowest
            most = reach if most is None else max(most, reach)
    return "any" if most is None else most


def traced(lines, said):
    """Each call that the program makes, with its distance, while the program runs."""
    skip_silence(lines, said)
    call = json.loads(said.readline())
    for events in calls_in(lines, call["mark"]):
        call = call or json.loads(said.readline())
        found = distance(accesses(events), call)
        yield {key: call[key] for key in call if key not in ("at", "mark")} | {"distance": found}
        call = None


def trace(arguments):
    with tempfile.TemporaryDirectory() as folder, arguments.out as out:
        stream, said = Path(folder, "trace"), Path(folder, "said")
        os.mkfifo(stream)
        command = f"{arguments.under} {shlex.join(arguments.program)}".format(trace=stream)
        with said.open("w") as to:
            running = subprocess.Popen(shlex.split(command), stdout=to)
        with stream.open() as lines, said.open() as says:
            for call in traced(lines, says):
                out.write(json.dumps(call) + "\n")
        if running.wait():
            sys.exit(f"measure.py: status {running.returncode} of: {command}")


# Arenaut's figures for the same calls.

def reads(call):
    """The description of each input: type, shape, numbers if the op depends on them."""
    dtypes = [call["dtype"]] * len(call["inputs"])
    inputs = [{"dtype": t, "dims": d} for t, d in zip(dtypes, call["inputs"], strict=True)]
    for index, given in enumerate(inputs):
        if index != call.get("input", 0):
            given["class"] = "constant"
    if "values" in call:
        numbers = call["values"]
        shape = [len(numbers)] + ([2] if isinstance(numbers[0], list) else [])
        flat = list(itertools.chain.from_iterable(numbers)) if len(shape) == 2 else numbers
        inputs.append({"dtype": "int32", "dims": shape, "class": "constant", "values": flat})
    return inputs


def attribute(name, value):
    return {"name": name, "text": value} if isinstance(value, str) else \
        {"name": name, "numbers": value}


def turned(image):
    """An image as ExecuTorch describes it: channels second in its shape, innermost in memory."""
    n, h, w, c = image["dims"]
    return image | {"dims": [n, c, h, w], "strides": [h * w * c, 1, w * c, c]}


def program(calls):
    """One op for each call, on tensors of its own."""
    tensors, ops, inputs, outputs = [], [], [], []
    for number, call in enumerate(calls):
        names = []
        for index, given in enumerate(reads(call)):
            names.append(f"c{number}i{index}")
            if "class" not in given:
                inputs.append(names[-1])
                given = turned(given) if call.get("channels_last") else given
            tensors.append({"name": names[-1]} | given)
        outputs.append(f"c{number}o")
        made = {"dtype": call.get("output_dtype", call["dtype"]), "dims": call["output"]}
        made = turned(made) if call.get("channels_last") else made
        tensors.append({"name": outputs[-1]} | made)
        ops.append({"name": call["op"], "inputs": names, "outputs": [outputs[-1]],
                    "attributes": [attribute(*item) for item in call.get("attributes", {}).items()]})
    return {"schema": "arenaut.program/1", "tensors": tensors, "inputs": inputs,
            "outputs": outputs, "ops": ops}


def distances(calls, kernels):
    """The distance of each call by a kernel set; its output's size where they must be disjoint."""
    with tempfile.TemporaryDirectory() as folder:
        graph, rules = Path(folder, "calls.json"), Path(folder, "kernels.json")
        graph.write_text(json.dumps(program(calls)))
        rules.write_text(json.dumps(kernels | {"name": "candidate"}))
        done = subprocess.run(
            [os.environ.get("ARENAUT", "arenaut"), "export", graph, "--as", "problem",
             "--target", "tflite-micro", "--kernels", rules, "--unmeasured", "--overlap", "on",
             "--dump-after", "overlaps", "--quiet"], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    dumped, end = json.JSONDecoder().raw_decode(done.stderr)
    if done.stderr[end:].strip():
        print(done.stderr[end:].strip(), file=sys.stderr)
    ops = dumped["methods"][0]["ops"]
    return [stated(op, call) for op, call in zip(ops, calls, strict=True)]


def stated(op, call):
    for overlap in op.get("overlaps", []):
        if overlap["input"] == call.get("input", 0):
            return int(overlap["distance"])
    return call["bytes"][1]


def governed(calls, kernels, index):
    """Which calls a rule is about: those that may overlap when it allows all, and no other any."""
    rules = [rule | {"order": "any" if k == index else "none"}
             for k, rule in enumerate(kernels["rules"])]
    found = distances(calls, kernels | {"rules": rules, "in_place": [], "base": None})
    return [call for call, distance in zip(calls, found, strict=True)
            if distance < call["bytes"][1]]


def needed(call):
    least = -call["bytes"][0]
    found = call["distance"] if "distance" in call else call["scan"]
    found = found[0] if isinstance(found, list) else found
    return least if found == "any" else max(found, least)


def judge(rule, calls, kernels):
    """Prints how a rule's calls compare with it; the first call that it is wrong about, or none."""
    pairs = list(zip(calls, distances(calls, kernels) if calls else [], strict=True))
    equal = sum(needed(call) == distance for call, distance in pairs)
    wrong = [(call, distance) for call, distance in pairs if needed(call) > distance]
    print(f"{rule['op']:<28} {rule['order']:<15} {len(calls):>6} {equal:>6} {len(wrong):>6}  "
          f"{json.dumps(rule.get('when') or {})}")
    return wrong[:1]


def confirm(arguments):
    kernels = json.loads(arguments.set.read_text())
    calls = [json.loads(line) for name in arguments.found for line in name.read_text().splitlines()]
    print(f"{'op':<28} {'order':<15} {'calls':>6} {'equal':>6} {'wrong':>6}  when")
    wrong = []
    for index, rule in enumerate(kernels["rules"]):
        about = governed(calls, kernels, index)
        wrong += judge(rule, about, kernels)
        rule["evidence"] = "measured" if about else "read"
    for call, distance in wrong:
        print(f"\nwrong: distance {distance} where {needed(call)} is needed, for\n{call}")
    if wrong:
        sys.exit(1)
    if arguments.out:
        arguments.out.write_text(json.dumps(kernels, indent=2) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("trace")
    verb.add_argument("--under", default=LACKEY, help="command that runs the program and writes {trace}")
    verb.add_argument("-o", dest="out", type=argparse.FileType("w"), default=sys.stdout)
    verb.add_argument("program", nargs=argparse.REMAINDER)
    verb.set_defaults(run=trace)
    verb = verbs.add_parser("confirm")
    verb.add_argument("set", type=Path)
    verb.add_argument("found", type=Path, nargs="+")
    verb.add_argument("-o", dest="out", type=Path)
    verb.set_defaults(run=confirm)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
