"""Peak memory and time of PyTorch models: eager, frozen TorchScript, Static Runtime, ONNX
Runtime, and on planned memory.

    python bench/torch_compare.py [MODEL…] [--rounds N] [--seconds S]

Every model gets a process of its own, in which all executors take turns in ever new order,
one thread each. Bytes are those of malloc's family above the weights, the same meter for all
(heap_meter.c): the highest point of one run over where it began, and the bytes held between
runs, which is the arena for ours and the memory that ONNX Runtime took since its session was made.
Results are compared with eager's first. Times are medians of the thread's own CPU time, since
the machine may be busy; 2 % is a tie. A peer that is not installed is reported.
"""

import argparse
import ctypes
import io
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = Path(os.environ.get("ARENAUT_BUILD", ROOT / "build"))
NAMES = ("eager", "frozen", "static", "onnxruntime", "ours", "apart")
TITLES = {"frozen": "TorchScript, frozen", "static": "Static Runtime", "onnxruntime":
          "ONNX Runtime", "ours": "planned", "apart": "planned, outputs apart"}


# --- in the process of one model -------------------------------------------------------------

def eager(module, inputs):
    return module, lambda: 0


def frozen(module, inputs):
    import torch
    traced = torch.jit.freeze(torch.jit.trace(module, inputs, strict=False))
    return traced, lambda: 0


def static(module, inputs):
    import torch
    traced = torch.jit.freeze(torch.jit.trace(module, inputs, strict=False))
    runtime = torch._C._jit_to_static_module(traced._c)
    return (lambda *given: runtime(*given)), lambda: 0


def onnxruntime(module, inputs):
    import onnxruntime as ort
    import torch
    file = io.BytesIO()
    torch.onnx.export(module, inputs, file, dynamo=False, verbose=False)
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = ort.InferenceSession(file.getvalue(), options, ["CPUExecutionProvider"])
    file.close()
    names = [i.name for i in session.get_inputs()]
    start = meter().heap_meter_live()  # weights are in; its arena comes with the first run

    def run(*given):
        return session.run(None, {n: x.numpy() for n, x in zip(names, given)})
    return run, lambda: meter().heap_meter_live() - start


def ours(module, inputs, outputs="arena"):
    import arenaut.torch
    planned = arenaut.torch.compile(module, inputs, outputs=outputs)
    run = lambda *given: planned(*given)
    run.planned = planned
    return run, lambda: planned.figures().arena


def apart(module, inputs):
    return ours(module, inputs, "apart")


def meter():
    process = ctypes.CDLL(None)
    process.heap_meter_live.restype = process.heap_meter_peak.restype = ctypes.c_longlong
    return process


def peak(run, inputs, held):
    """The highest point of a run over its beginning, and the bytes held all the time."""
    heap = meter()
    highest = []
    for _ in range(3):
        start = heap.heap_meter_live()
        heap.heap_meter_reset()
        result = run(*inputs)
        highest.append(heap.heap_meter_peak() - start)
        del result
    return min(highest) + held()


def differs(found, wanted):
    import torch
    from torch.utils import _pytree as pytree
    pairs = list(zip(pytree.tree_leaves(found), pytree.tree_leaves(wanted)))
    return max(float((torch.as_tensor(a) - b).abs().max()) for a, b in pairs)


def measure(name, rounds, seconds, small):
    import torch
    sys.path.insert(0, str(ROOT / "tests" / "models"))
    sys.path.insert(0, str(ROOT / "python"))
    from torch_zoo import SMALL, ZOO
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    module, inputs = (SMALL if small else ZOO)[name]()
    wanted = module(*inputs)
    executors, rows = {}, {}
    for kind in NAMES:
        try:
            run, held = globals()[kind](module, inputs)
            for _ in range(4):
                result = run(*inputs)
        except Exception as missing:  # a peer may fail in its own way; that is the finding
            rows[kind] = {"missing": f"{type(missing).__name__}: {str(missing)[:200]}"}
            continue
        rows[kind] = {"difference": differs(result, wanted)}
        del result
        rows[kind]["peak"] = peak(run, inputs, held)
        executors[kind] = run
    times = {kind: [] for kind in executors}
    began = time.perf_counter()
    while len(times["eager"]) < rounds and (time.perf_counter() - began < seconds
                                            or len(times["eager"]) < 5):
        order = list(executors)
        random.Random(len(times["eager"])).shuffle(order)  # who comes after whom matters to caches
        for kind in order:
            run = executors[kind]
            started = time.thread_time()
            result = run(*inputs)
            times[kind].append(time.thread_time() - started)
            del result
    for kind, found in times.items():
        rows[kind]["ms"] = statistics.median(found) * 1e3
    figures = executors["ours"].planned.figures()
    return {"model": name, "rows": rows, "rounds": len(times["eager"]),
            "arena": figures.arena, "bound": figures.lower_bound, "in_place": figures.in_place,
            "managed": figures.managed, "recorded": figures.recorded,
            "fallbacks": figures.fallbacks, "strayed": figures.strayed,
            "folded": figures.folded_bytes, "unmanaged": figures.unmanaged,
            "largest_block": figures.largest_block}


# --- the table -------------------------------------------------------------------------------

def build_meter(folder):
    library = Path(folder) / "heap_meter.so"
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-fno-builtin",
                    f"-I{ROOT / 'preload'}", str(ROOT / "bench" / "heap_meter.c"),
                    str(ROOT / "preload" / "real.c"), "-o", str(library), "-ldl"], check=True)
    return library


def run_model(name, meter_library, arguments):
    shim = BUILD / "libarenaut-replay.so"
    environment = dict(os.environ, LD_PRELOAD=f"{shim}:{meter_library}")
    done = subprocess.run([sys.executable, "-W", "ignore", __file__, name, "--child", "--rounds",
                           str(arguments.rounds), "--seconds", str(arguments.seconds),
                           *(["--small"] if arguments.small else [])],
                          env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{name}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def show(results, out=sys.stdout):
    print(f"{'peak bytes above weights':28}" + "".join(f"{k:>13}" for k in NAMES) +
          f"{'arena':>13}{'bound':>13}", file=out)
    for r in results:
        cells = "".join(f"{r['rows'][k].get('peak', 'missing'):>13}" for k in NAMES)
        print(f"{r['model']:28}{cells}{r['arena']:>13}{r['bound']:>13}", file=out)
    print(f"\n{'median ms':28}" + "".join(f"{k:>13}" for k in NAMES) + f"{'rounds':>13}", file=out)
    for r in results:
        cells = "".join(f"{r['rows'][k]['ms']:>13.3f}" if "ms" in r["rows"][k] else
                        f"{'missing':>13}" for k in NAMES)
        print(f"{r['model']:28}{cells}{r['rounds']:>13}", file=out)
    print(f"\n{'in the arena':28}{'managed':>13}{'in place':>13}{'recorded':>13}{'folded':>13}"
          "   largest block that a kernel asks for", file=out)
    for r in results:
        operator, size = r["largest_block"] or ("", 0)
        print(f"{r['model']:28}{r['managed']:>13}{r['in_place']:>13}{r['recorded']:>13}"
              f"{r['folded']:>13}   {size} in {operator}", file=out)
    for r in results:
        for kind in NAMES:
            if "missing" in r["rows"][kind]:
                print(f"{r['model']}: {kind} is missing: {r['rows'][kind]['missing']}", file=out)


def arenas(name, small):
    """Memory of the managed tensors, by offsets and in Static Runtime's storage groups: without
    allocations of kernels, as that runtime counts."""
    import torch
    sys.path.insert(0, str(ROOT / "tests" / "models"))
    sys.path.insert(0, str(ROOT / "python"))
    import arenaut.torch
    from arenaut.planning import Buffer, plan
    from torch_zoo import SMALL, ZOO
    torch.set_grad_enabled(False)
    module, inputs = (SMALL if small else ZOO)[name]()
    planned = arenaut.torch.compile(module, inputs, outputs="arena", record=False)
    planned(*inputs)
    buffers = [Buffer(v.size, v.first, v.last + 1, same_base=v.over)
               for v in planned.plans[-1].iteration.values]
    return plan(buffers).arena, plan(buffers, "storage-groups").arena


def show_arenas(models, small):
    print(f"{'arena of managed tensors':28}{'offsets':>13}{'groups':>13}")
    for name in models:
        print(f"{name:28}" + "".join(f"{n:>13}" for n in arenas(name, small)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("models", nargs="*")
    parser.add_argument("--rounds", type=int, default=300, help="at most so many per executor")
    parser.add_argument("--seconds", type=float, default=20, help="about so long per model")
    parser.add_argument("--small", action="store_true", help="the tests' versions of the models")
    parser.add_argument("--arenas", action="store_true",
                        help="no runs: memory of managed tensors by offsets, and in groups")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(measure(arguments.models[0], arguments.rounds, arguments.seconds,
                                 arguments.small)))
        return
    models = arguments.models or ["dlrm", "resnet18", "mobilenetv3", "vit_tiny", "bert4", "gpt2",
                                  "whisper", "swin_tiny"]
    if arguments.arenas:
        show_arenas(models, arguments.small)
        return
    with tempfile.TemporaryDirectory() as folder:
        library = build_meter(folder)
        results = [run_model(name, library, arguments) for name in models]
    print(json.dumps(results, indent=1)) if arguments.json else show(results)


if __name__ == "__main__":
    main()
