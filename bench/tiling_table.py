"""Whole and tiled models in real runtimes: peaks of memory, time of the processor, and bits.

    build/venv/bin/python bench/tiling_table.py [MODEL[:SIZE[@WHOLE]]…] [--manual] [--levels all,off] [--folder FOLDER]

Models are those of bench/tiling_models.py; the tiled ones are what `arenaut plan MODEL --split on` writes, and run
as they are in the unmodified ONNX Runtime, on one thread, each in a process of its own. A level `pytorch` runs
exported programs (.pt2) in PyTorch instead. Prints Markdown:

    peak          MiB above the process with the model loaded and its input made: the high-water mark of
                  resident memory, with the runtime's arena
    heap          the same of malloc's family (bench/heap_meter.c, preloaded), without the arena: the tensors
                  and working buffers that the runtime asks for
    without reuse with enable_mem_reuse off: ONNX Runtime keeps a buffer that several values of one known size
                  use in turn from the first of them to the last, tiled or not
    loaded        MiB that loading the model adds, weights and copies of them; and the processor's seconds for it
    time          of the processor, of the fastest run, divided by that of the whole model, for as many pixels
    results       the same bits; or how many elements differ, by how many units in the last place in the median and at
                  most (of elements near zero many, and of their own size much), at most in those of the largest result,
                  absolutely, and how much that is of the results' range

WHOLE is the side of the image that the whole model gets, if that of SIZE needs more than the machine has: results are
not compared then. --manual adds the model cut into squares by a script, with an overlap of 0 and of 16 pixels, and for the decoder
of latent images blended tiles, as diffusers has them.
"""

import argparse
import ctypes
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
COMMAND = Path(os.environ.get("ARENAUT", ROOT / "build" / "arenaut"))
LEVELS = {"all": "ORT_ENABLE_ALL", "extended": "ORT_ENABLE_EXTENDED", "basic": "ORT_ENABLE_BASIC", "off": "ORT_DISABLE_ALL"}
TORCH = "pytorch"  # instead of a level
RUNS = {True: 2, False: 1}  # with the runtime's arena, for the time; and without it
MIB = 1 << 20
TILES = 4  # of a manual script, along each side
PIXELS = 16  # of overlap


# In the process that is measured

def resident():
    """Bytes of memory that are there, and that were there at most."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return [int(fields[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM")]


class Meter:
    """What a call needs at most above this moment: resident memory, and the heap where its meter is preloaded."""

    def __init__(self):
        self.heap = ctypes.CDLL(None)
        self.metered = hasattr(self.heap, "heap_meter_live")
        for name in ("heap_meter_live", "heap_meter_peak") if self.metered else ():
            getattr(self.heap, name).restype = ctypes.c_longlong
        self.heap.malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # the high-water mark falls to what is there
        self.before = resident()[0]
        if self.metered:
            self.heap.heap_meter_reset()
            self.live = self.heap.heap_meter_live()

    def peaks(self):
        heap = self.heap.heap_meter_peak() - self.live if self.metered else 0
        return {"resident": resident()[1] - self.before, "heap": heap}


def timed(run, runs):
    """The first call's results and peaks, and the least time of the processor of all."""
    meter = Meter()
    times, kept = [], None
    for _ in range(runs):
        start = time.process_time()
        results = run()
        times.append(time.process_time() - start)
        if kept is None:
            kept, peaks = results, meter.peaks()
        del results
    return kept, peaks | {"seconds": min(times)}


def session(path, level, arena, reuse=True):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, LEVELS[level])
    options.enable_cpu_mem_arena = arena
    options.enable_mem_reuse = reuse
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def onnx_runner(path, level, arena, reuse):
    running = session(path, level, arena, reuse)
    return lambda value: running.run(None, {running.get_inputs()[0].name: value})


def torch_runner(path):
    """An exported program, eagerly."""
    import torch
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    module = torch.export.load(path).module()

    def run(value):
        made = module(torch.from_numpy(value))
        return [each.numpy() for each in (made if isinstance(made, (list, tuple)) else [made])]

    return run


def run_model(path, level, arena, image, results, reuse=True):
    """The whole file on one image."""
    value = np.load(image)
    if level == TORCH:
        importlib.import_module("torch.export")  # its memory is none of the model's
    before, began = resident()[0], time.process_time()
    run = torch_runner(path) if level == TORCH else onnx_runner(path, level, arena, reuse)
    loaded = {"loaded": resident()[0] - before, "loading": time.process_time() - began}
    made, found = timed(lambda: run(value), RUNS[arena])
    np.savez(results, *made)
    return found | loaded


def windows(side, tile, overlap):
    """(first row of the window, first and end of the rows that are kept of it): windows of one size."""
    width = min(side, tile + 2 * overlap)
    for first in range(0, side, tile):
        low = min(max(0, first - overlap), side - width)
        yield low, first, min(side, first + tile)


def run_manual(path, level, arena, image, results, tile, overlap):
    """A model of windows, over the image, window by window."""
    value = np.load(image)
    running = session(path, level, arena)
    name, width = running.get_inputs()[0].name, running.get_inputs()[0].shape[2]
    side, scale = value.shape[2], running.get_outputs()[0].shape[2] // width

    def run():
        whole = np.empty((1, running.get_outputs()[0].shape[1], side * scale, side * scale), np.float32)
        for y, top, bottom in windows(side, tile, overlap):
            for x, left, right in windows(side, tile, overlap):
                part = running.run(None, {name: np.ascontiguousarray(value[:, :, y:y + width, x:x + width])})[0]
                rows, columns = slice((top - y) * scale, (bottom - y) * scale), slice((left - x) * scale, (right - x) * scale)
                whole[:, :, top * scale:bottom * scale, left * scale:right * scale] = part[:, :, rows, columns]
        return [whole]

    made, found = timed(run, 1)
    np.savez(results, *made)
    return found


def run_blended(path, level, arena, image, results):
    """Windows that overlap by a half, blended where they do: AutoencoderKL.tiled_decode of diffusers, where it is
    a quarter."""
    value = np.load(image)
    running = session(path, level, arena)
    name, width = running.get_inputs()[0].name, running.get_inputs()[0].shape[2]
    scale, step, side = running.get_outputs()[0].shape[2] // width, width // 2, value.shape[2]
    blend = (width - step) * scale

    def blended(before, after, axis):
        """`after`, with its first `blend` elements along the axis mixed with the last ones of `before`."""
        ramp = np.linspace(0, 1, blend, endpoint=False, dtype=np.float32).reshape([-1 if i == axis else 1 for i in range(4)])
        first = [slice(None)] * axis + [slice(0, blend)]
        last = [slice(None)] * axis + [slice(before.shape[axis] - blend, None)]
        after[tuple(first)] = before[tuple(last)] * (1 - ramp) + after[tuple(first)] * ramp

    def run():
        places = range(0, side - width + 1, step)
        whole = np.empty((1, running.get_outputs()[0].shape[1], side * scale, side * scale), np.float32)
        above = [None] * len(places)
        for y in places:
            before = None
            for column, x in enumerate(places):
                part = running.run(None, {name: np.ascontiguousarray(value[:, :, y:y + width, x:x + width])})[0]
                if above[column] is not None:
                    blended(above[column], part, 2)
                if before is not None:
                    blended(before, part, 3)
                above[column] = before = part
                whole[:, :, y * scale:(y + width) * scale, x * scale:(x + width) * scale] = part
        return [whole]

    made, found = timed(run, 1)
    np.savez(results, *made)
    return found


# In the process that prints

class Bench:
    """Files of one model, and runs of them in processes of their own."""

    def __init__(self, folder, meter, name, size, whole):
        self.folder, self.meter, self.name, self.size, self.whole = Path(folder), meter, name, size, whole

    def models(self, size, suffix=".onnx"):
        """The file of the model for images of this side."""
        path = self.folder / f"{self.name}_{size}{suffix}"
        if not path.exists():
            subprocess.run([sys.executable, ROOT / "bench" / "tiling_models.py", self.folder, f"{self.name}:{size}"],
                           check=True, capture_output=True)
        return path

    def image(self, size):
        path = self.folder / f"{self.name}_{size}.npy"
        if not path.exists():
            import tiling_models
            np.save(path, np.random.RandomState(1).standard_normal(tiling_models.shape(self.name, size)).astype(np.float32))
        return path

    def tiled(self, suffix, extra):
        """The tiled model, and what `plan` says of it."""
        whole = self.models(self.size, suffix)
        path = whole.with_suffix(f".tiled{suffix}")
        start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([COMMAND, "plan", whole, "--json", "-q", "--split", "on", *extra, "-f", "-o", path],
                              check=True, capture_output=True, text=True)
        said = json.loads(done.stdout)
        return path, said, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start

    def run(self, kind, path, level, arena, label, *more):
        """What one process finds; and the file of its results."""
        results = self.folder / f"{label}.npz"
        image = self.image(self.whole if label == "whole" else self.size)
        call = json.dumps([kind, str(path), level, arena, str(image), str(results), *more])
        done = subprocess.run([sys.executable, __file__, "--measure", call], capture_output=True, text=True,
                              env=os.environ | {"LD_PRELOAD": str(self.meter)})
        if done.returncode:
            raise RuntimeError(f"{label}: exit {done.returncode}: {done.stderr[-800:]}")
        return json.loads(done.stdout.splitlines()[-1]), results

    def row(self, kind, path, level, label, *more):
        """Both runs: with the arena, and without it."""
        with_arena, results = self.run(kind, path, level, True, label, *more)
        without, _ = self.run(kind, path, level, False, label, *more)
        return with_arena | {"heap": without["heap"]}, results


def bits(number):
    """Floats as whole numbers in the same order, one apart where they are neighbours."""
    whole = number.view(np.int32).astype(np.int64)
    return np.where(whole < 0, -(whole & 0x7fffffff), whole)


def difference(whole, other):
    with np.load(whole) as one, np.load(other) as two:
        pairs = [(one[key], two[key]) for key in one]
        if all(np.array_equal(a.view(np.int32), b.view(np.int32)) for a, b in pairs):
            return "the same bits"
        one, two = (np.concatenate([pair[k].ravel() for pair in pairs]) for k in (0, 1))
    apart, size = np.abs(one.astype(np.float64) - two), one != two
    steps = np.abs(bits(one) - bits(two))[size]
    most = apart.max() / np.spacing(np.abs(one).max())
    relative = (apart[size] / np.maximum(np.abs(one), np.abs(two))[size]).max()
    return (f"{100 * size.mean():.2g} % differ, median {np.median(steps):,.0f} ulp, at most {steps.max():,} ulp ({relative:.1g} "
            f"relative), ≤ {most:,.0f} ulp of the largest, {apart.max():.1g} absolute, {100 * apart.max() / np.ptp(one):.1g} % of the range")


def error(whole, other):
    """The largest of an approximation."""
    with np.load(whole) as one, np.load(other) as two:
        apart = max(float(np.abs(one[key] - two[key]).max() / np.ptp(one[key])) for key in one)
    return f"wrong by {100 * apart:.2g} % of the range"


def cells(model, options, kind, found, whole, result):
    mib = [f"{found[key] / MIB:,.1f}" for key in ("resident", "heap")]
    loaded = f"{found['loaded'] / MIB:,.1f}, {found['loading']:.1f} s" if "loaded" in found else ""
    ratio = f"({found['seconds']:.2f} s)" if kind == "whole" else f"{found['seconds'] / whole['seconds']:.2f}"
    return "| " + " | ".join([model, options, kind, *mib, loaded, ratio, result]) + " |"


HEAD = "| model | optimization | run | peak | heap | loaded | time | results |\n|---|---|---|--:|--:|--:|--:|---|"


def compare(bench, level, extra, manual):
    """Prints the rows of one model at one level; gives a line on its tiles."""
    import tiling_models
    axes, suffix = tiling_models.AXES.get(bench.name, 2), ".pt2" if level == TORCH else ".onnx"
    title, power = f"{bench.name} {bench.size}", {1: "", 2: "²", 3: "³"}[axes]
    title += power
    tiled, plan, seconds = bench.tiled(suffix, extra)
    whole, wanted = bench.row("model", bench.models(bench.whole, suffix), level, "whole")
    print(cells(f"{bench.name} {bench.whole}{power}", level, "whole", whole, whole, ""), flush=True)
    whole = whole | {"seconds": whole["seconds"] * (bench.size / bench.whole) ** axes}
    for label, *reuse in [("tiled",)] + [("tiled, without reuse", False)] * (level != TORCH):
        found, results = bench.row("model", tiled, level, label, *reuse)
        said = difference(wanted, results) if bench.whole == bench.size else ""
        print(cells(title, level, label, found, whole, said), flush=True)
    if manual and level != TORCH:
        compare_manual(bench, level, whole, wanted)
    return (f"- {title}, {suffix}: {stages(plan)}; planned {plan['result']['arena'] / MIB:,.1f} MiB "
            f"in {seconds:.1f} s")


def compare_manual(bench, level, whole, wanted):
    title = f"{bench.name} {bench.size}²"
    if bench.name == "vae_decoder":
        found, results = bench.row("blended", bench.models(bench.size // 2), level, "blended")
        print(cells(title, level, "blended, overlap of a half", found, whole, error(wanted, results)), flush=True)
        return
    for overlap in (0, PIXELS):
        tile = bench.size // TILES
        windows_of = bench.models(min(bench.size, tile + 2 * overlap))
        found, results = bench.row("manual", windows_of, level, f"manual {overlap}", tile, overlap)
        print(cells(title, level, f"by a script, overlap {overlap}", found, whole, error(wanted, results)), flush=True)


def stages(said):
    split = said.get("split")
    if not split:
        return "nothing is tiled"
    added = 100 * (split["macs"] / max(1, split["macs_before"]) - 1)
    names = ",".join(f"{s['first_op']}-{s['last_op']}/{s['pieces']}:{s['mode']}" for s in split["stages"])
    return f"{split['ops_before']} → {split['ops']} ops, +{added:.1f} % multiplications, {names}"


#: Models whose results are images, which scripts can cut.
CUT = {"unet", "unet_bilinear", "rrdb", "srvgg", "deeplab_v3", "vae_decoder"}


def build_meter(folder):
    meter = Path(folder) / "heap_meter.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", f"-I{ROOT / 'preload'}", ROOT / "bench" / "heap_meter.c",
                    ROOT / "preload" / "real.c", "-o", meter], check=True)
    return meter


def measured(call):
    kind, *arguments = json.loads(call)
    print(json.dumps({"model": run_model, "manual": run_manual, "blended": run_blended}[kind](*arguments)))


def sizes(names):
    import tiling_models
    for given in names or tiling_models.MODELS:
        name, _, size = given.partition(":")
        size, _, whole = size.partition("@")
        size = int(size or tiling_models.MODELS[name][1])
        yield name, size, int(whole or size)


def main():
    if sys.argv[1:2] == ["--measure"]:
        measured(sys.argv[2])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", metavar="MODEL[:SIZE[@WHOLE]]")
    parser.add_argument("--levels", default="all,off", help="of all, extended, basic, off; and pytorch")
    parser.add_argument("--manual", action="store_true")
    parser.add_argument("--plan", default="", help="more flags of `arenaut plan`")
    parser.add_argument("--folder", help="keep the models there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder, said = Path(options.folder or scratch), []
        folder.mkdir(parents=True, exist_ok=True)
        meter = build_meter(folder)
        print(HEAD)
        for name, size, whole in sizes(options.models):
            bench = Bench(folder, meter, name, size, whole)
            said += [compare(bench, level, options.plan.split(), options.manual and name in CUT)
                     for level in options.levels.split(",")]
        print("\n" + "\n".join(dict.fromkeys(said)))


if __name__ == "__main__":
    main()
