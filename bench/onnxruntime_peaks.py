"""Memory of ONNX Runtime for a model's values, beside arenaut's plan of them.

    gcc -shared -fPIC -O2 -Ipreload bench/heap_meter.c preload/real.c -o heap_meter.so
    python bench/onnxruntime_peaks.py --meter heap_meter.so --arenaut build/arenaut FOLDER \
        bert_base:batch=1,seq=128 vit_tiny:batch=1 ...

FOLDER holds NAME.onnx. Weights that lie in another file need not be there: zeros take their
place (a file full of holes), since no size depends on them. Every setting runs in a process
of its own, on one thread, with weights that do not count (they are in memory before the run
begins). Bytes are those of malloc's family: the highest point of the last of three runs over
where it began, results included; and the bytes still held behind it. Inputs do not count on
either side: the caller has them. Beside these stand our plans of all that is computed, with
the results' bytes on top, since they are handed out; nothing of them is shared.

needs onnx and onnxruntime; prints a table in Markdown.
"""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile

SETTINGS = {
    # name: (arena, memory pattern, reuse of tensors of one shape)
    "live": (False, False, True),
    "live, no reuse": (False, False, False),
    "pattern": (False, True, True),
    "held": (True, True, True),
}


def feeds_of(session, dims):
    """Ones: token numbers that exist, masks that let through."""
    import numpy as np
    types = {"tensor(float)": "float32", "tensor(int64)": "int64", "tensor(int32)": "int32",
             "tensor(bool)": "bool", "tensor(double)": "float64", "tensor(uint8)": "uint8"}
    feeds = {}
    for argument in session.get_inputs():
        shape = [d if isinstance(d, int) and d > 0 else dims.get(d, dims.get("*", 1)) for d in argument.shape]
        feeds[argument.name] = np.ones(shape, types[argument.type])
    return feeds


def measure(path, dims, setting):
    """In the process that the meter was loaded into."""
    import onnxruntime as ort
    arena, pattern, reuse = SETTINGS[setting]
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = arena
    options.enable_mem_pattern = pattern
    options.enable_mem_reuse = reuse
    options.add_session_config_entry("session.use_device_allocator_for_initializers", "1")
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    heap = ctypes.CDLL(None)
    heap.heap_meter_live.restype = heap.heap_meter_peak.restype = ctypes.c_longlong
    feeds = feeds_of(session, dims)
    before = heap.heap_meter_live()
    for _ in range(3):
        start = heap.heap_meter_live()
        heap.heap_meter_reset()
        results = session.run(None, feeds)
        peak = heap.heap_meter_peak() - start
        result_bytes = sum(r.nbytes for r in results)
        del results
    return {"peak": peak, "held": heap.heap_meter_live() - before, "results": result_bytes}


def with_weights(path, folder):
    """A copy beside a file of zeros, as long as the model's weights reach."""
    import onnx
    model = onnx.load(path, load_external_data=False)
    ends = {}

    def visit(graph):
        tensors = list(graph.initializer)
        for node in graph.node:
            for attribute in node.attribute:
                tensors += [attribute.t] if attribute.HasField("t") else []
                if attribute.HasField("g"):
                    visit(attribute.g)
        for tensor in tensors:
            where = {e.key: e.value for e in tensor.external_data}
            if where:
                end = int(where.get("offset", 0)) + int(where["length"])
                ends[where["location"]] = max(ends.get(where["location"], 0), end)

    visit(model.graph)
    for name, end in ends.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.truncate(end)
    copy = os.path.join(folder, os.path.basename(path))
    onnx.save(model, copy)
    return copy


def in_process(meter, *arguments):
    done = subprocess.run([sys.executable, __file__, "--measure", *arguments], text=True, capture_output=True,
                          env={**os.environ, "LD_PRELOAD": os.path.abspath(meter)})
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


def planned(arenaut, path, dims, *flags):
    given = [f for name, size in dims.items() for f in ("--dim", f"{name}={size}")]
    done = subprocess.run([arenaut, "plan", "--json", "-q", path, *given, *flags], text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["result"]


def row(options, spec):
    name, _, text = spec.partition(":")
    dims = {k: int(v) for k, v in (part.split("=") for part in text.split(",") if part)}
    path = os.path.join(options.folder, name + ".onnx")
    with tempfile.TemporaryDirectory() as folder:
        copy = with_weights(path, folder)
        found = {s: in_process(options.meter, copy, json.dumps(dims), s) for s in SETTINGS}
    ours = planned(options.arenaut, path, dims, "--no-alloc-io")
    inside = planned(options.arenaut, path, dims, "--no-alloc-io", "--inplace", "on")
    results = found["held"]["results"]
    cells = [name, found["held"]["held"], found["pattern"]["peak"], found["live"]["peak"], found["live, no reuse"]["peak"],
             results + ours["arena"], results + inside["arena"], results]
    proven = "yes" if ours["status"] == inside["status"] == "optimal" else "no"
    return "| " + " | ".join(str(c) if isinstance(c, str) else f"{c:,}" for c in cells) + f" | {proven} |"


def main():
    if sys.argv[1:2] == ["--measure"]:
        path, dims, setting = sys.argv[2:]
        print(json.dumps(measure(path, json.loads(dims), setting)))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--meter", required=True)
    parser.add_argument("--arenaut", required=True)
    parser.add_argument("folder")
    parser.add_argument("models", nargs="+", metavar="NAME[:DIM=N,...]")
    options = parser.parse_args()
    print("| model | ONNX Runtime: held | peak with pattern | peak without | the same, no reuse | planned | in place | of that, results | proven |")
    print("|---|---|---|---|---|---|---|---|---|")
    for spec in options.models:
        print(row(options, spec), flush=True)


if __name__ == "__main__":
    main()
