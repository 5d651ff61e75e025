"""Training steps of published sizes on a GPU, within less memory, by arenaut.torch.fit and by PyTorch's own ways.

    python bench/training_gpu.py [NAME...] [--inductor NAME...] [--scale 1]    # some minutes; a GPU of 100 GB
    python bench/training_gpu.py --same-bits [NAME...]
    python bench/training_gpu.py --out-of-memory 12

Each network has a process of its own: first operators are measured (arenaut.torch.profile), one process at a
time; then all ways are compiled, each process beside the others; then steps are timed, one process at a time.
Bytes are those of the step: what was there before it (parameters, inputs, cuBLAS's workspace) is taken off.
"""

import argparse
import contextlib
import copy
import fcntl
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import torch

import joint_graphs
import training  # which finds the package
from training import Budgeted, checkpointed, selective

import arenaut.torch
from arenaut.torch import costs
from arenaut.torch.meter import Meter

PERCENT = "100%", "80%", "60%", "50%", "40%"
BUDGETS = 0.5, 0.3
WARM, STEPS = 2, 10
aten = torch.ops.aten
training.DEAR |= {aten._scaled_dot_product_flash_attention.default, aten._scaled_dot_product_efficient_attention.default,
                  aten._scaled_dot_product_cudnn_attention.default}


def attend(self, x):
    """As joint_graphs.Block does, but with an unbind: eager mode unpacks `q, k, v = …` with one, and tracing with three
    selects, whose gradients are added up."""
    b, n, width = x.shape
    q, k, v = self.qkv(x).view(b, n, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
    return self.out(y.transpose(1, 2).reshape(b, n, width))


joint_graphs.Block.attend = attend


def network(name, scale, device):
    """A module, the class of its blocks, the arguments of a step, and whether it runs in bfloat16."""
    def batch(n):
        return max(1, int(n * scale))

    def image(n, side, classes, whole=False):
        return (torch.randn(batch(n), 3, side, side),
                torch.randint(classes, (batch(n), side, side) if whole else (batch(n),)))

    def text(n, length, many, each):
        return (torch.randint(many, (batch(n), length)),
                torch.randint(many if each else 2, (batch(n), length) if each else (batch(n),)))

    torch.manual_seed(0)
    make, blocks, inputs, half = {
        "resnet50": lambda: (joint_graphs.ResNet, joint_graphs.Bottleneck, image(128, 224, 1000), False),
        "unet": lambda: (joint_graphs.UNet, torch.nn.Sequential, image(32, 256, 2, whole=True), False),
        "gpt2": lambda: (functools.partial(joint_graphs.Language, 50257, 1024, True, True), joint_graphs.Block,
                         text(16, 1024, 50257, True), True),
        "vit": lambda: (joint_graphs.ViT, joint_graphs.Block, image(192, 224, 1000), True),
        "small": lambda: (functools.partial(joint_graphs.Language, 97, 32, True, True, 32, 3, 4), joint_graphs.Block,
                          text(64, 32, 97, True), True),  # to try this file on any machine
        "bert": lambda: (functools.partial(joint_graphs.Language, 30522, 512, False, False), joint_graphs.Block,
                         text(64, 512, 30522, False), True),
    }[name]()
    with torch.device(device):
        module = make().train()
    return module, blocks, tuple(one.to(device) for one in inputs), half


def twin(base):
    """A module of its own with the same parameters and buffers."""
    return copy.deepcopy(base, {id(one): one for one in (*base.parameters(), *base.buffers())})


class Inductor:
    """torch.compile as it comes, with an activation_memory_budget."""

    def __init__(self, model, budget):
        self.budget, self.run = budget, torch.compile(model, backend=self.backend, fullgraph=True, dynamic=False)

    def backend(self, graph, inputs):
        from torch._inductor.compile_fx import compile_fx
        with torch._functorch.config.patch(activation_memory_budget=self.budget):
            return compile_fx(graph, inputs)

    def __call__(self, *arguments):
        return self.run(*arguments)


class Bench:
    """The ways of one network, and what they come to."""

    def __init__(self, name, scale, device, folder, names):
        self.name, self.device, self.folder, self.names = name, device, folder, names
        self.base, self.blocks, self.inputs, self.half = network(name, scale, device)
        self.rows, self.runs, self.costs = [], [], folder / f"{name}.csv"

    # ---- processes beside one another ----

    @contextlib.contextmanager
    def alone(self):
        with open(self.folder / "lock", "a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                self.wait()

    def together(self, stage):
        """Waits until all networks are there, or have failed."""
        (self.folder / f"{self.name}.{stage}").touch()
        while not all((self.folder / f"{name}.{stage}").exists() or (self.folder / f"{name}.ended").exists()
                      for name in self.names):
            time.sleep(0.1)

    # ---- steps ----

    def wait(self):
        if self.device == "cuda":
            torch.cuda.synchronize()

    def autocast(self):
        return torch.autocast(self.device, torch.bfloat16, enabled=self.half)

    def step(self, run):
        with self.autocast():
            loss = run(*self.inputs)
        loss.backward()
        return loss.detach()

    def forget(self, model):
        for one in model.parameters():
            one.grad = None

    def peaks(self, run, model):
        """Bytes of a step: asked of the allocator at once, handed out by it, and reserved."""
        if self.device != "cuda":
            return 0, 0, 0
        self.forget(model)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        before, asked = torch.cuda.memory_allocated(), torch.cuda.memory_stats()["requested_bytes.all.current"]
        torch.cuda.reset_peak_memory_stats()
        self.step(run)
        torch.cuda.synchronize()
        return (torch.cuda.memory_stats()["requested_bytes.all.peak"] - asked, torch.cuda.max_memory_allocated() - before,
                torch.cuda.max_memory_reserved() - before)

    def counted(self, run, model):
        """Bytes of storages."""
        self.forget(model)
        meter = Meter()
        if isinstance(run, Budgeted):
            run.meter = meter
            self.step(run)
            run.meter = None
        else:
            with meter:
                self.step(run)
        return meter.peak

    def look(self, title, make):
        """Adds a way: `make` gives what is called, and its model."""
        start = time.perf_counter()
        try:
            run, model = make()
            self.step(run)
            took = time.perf_counter() - start
            row = {"way": title, "compile": took}
            if isinstance(run, arenaut.torch.Step):
                row.update(run.fitted._asdict())
            elif not isinstance(run, Inductor):
                row["counted"] = self.counted(run, model)
            row["asked"], row["allocated"], row["reserved"] = self.peaks(run, model)
        except Exception as failed:  # of one way, which must not end the others
            row = {"way": title, "failed": f"{type(failed).__name__}: {str(failed)[:300]}"}
        else:
            self.runs.append((row, run, model))
        self.forget(self.base)
        self.rows.append(row)
        print(f"{self.name}: {title}", file=sys.stderr, flush=True)
        return row

    def fit(self, memory):
        model = twin(self.base)
        with self.autocast():
            return arenaut.torch.fit(model, memory, self.inputs, costs=self.costs), model

    def time(self):
        """Milliseconds of a step of each way, the median, between events of the device."""
        for row, run, model in self.runs:
            self.forget(self.base)
            if self.device == "cuda":
                torch.cuda.empty_cache()
            took = []
            for _ in range(WARM + STEPS):
                self.forget(model)
                self.wait()
                took.append(milliseconds(lambda run=run: self.step(run), self.device))
            row["ms"] = statistics.median(took[WARM:])

    # ---- in all ----

    def ways(self, inductor):
        def within(row):
            if row.get("counted"):
                self.look(f"fit within {row['way']}", lambda: self.fit(row["counted"]))

        self.look("eager", lambda: (self.base, self.base))
        for memory in PERCENT:
            self.look(f"fit {memory}", lambda memory=memory: self.fit(memory))
        for title, wrap in ("checkpoint per block", checkpointed), ("selective checkpoint", selective):
            model = wrap(twin(self.base), self.blocks)
            within(self.look(title, lambda model=model: (model, model)))
        for budget in BUDGETS:
            model = twin(self.base)
            within(self.look(f"activation_memory_budget {budget}", lambda model=model, budget=budget:
                             (Budgeted(model, budget), model)))
        for budget in (1.0, 0.5) if inductor else ():
            model = twin(self.base)
            self.look(f"inductor, activation_memory_budget {budget}", lambda model=model, budget=budget:
                      (Inductor(model, budget), model))

    def profile(self):
        measure = costs.nanoseconds_of

        def alone(*arguments):
            with self.alone():
                return measure(*arguments)

        costs.nanoseconds_of = alone
        start = time.perf_counter()
        with self.autocast():
            arenaut.torch.profile(self.base, self.inputs, self.costs)
        return time.perf_counter() - start

    def all(self, inductor):
        self.step(self.base)
        took = self.profile()
        self.together("profiled")
        self.ways(inductor)
        self.together("built")
        with self.alone():
            self.time()
        return {"name": self.name, "profile": took, "rows": self.rows}


def milliseconds(step, device):
    if device != "cuda":
        start = time.perf_counter()
        step()
        return 1000 * (time.perf_counter() - start)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    step()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


# ---- the same bits ----

def losses_and_all(run, model, inputs, autocast, turns=3):
    """Losses, gradients, parameters and buffers of a loop with AdamW."""
    torch.manual_seed(1)
    optimizer, found = torch.optim.AdamW(model.parameters(), lr=1e-3), []
    for _ in range(turns):
        optimizer.zero_grad()
        with autocast():
            loss = run(*inputs)
        loss.backward()
        found += [loss.detach(), *(p.grad.clone() for p in model.parameters())]
        optimizer.step()
    return [*found, *(one.detach().clone() for one in (*model.parameters(), *model.buffers()))]


def same_bits(name, scale, device):
    """Whether a step within 50 % has the bits of eager mode, and of aot_eager."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    base, _, inputs, half = network(name, scale, device)

    def autocast():
        return torch.autocast(device, torch.bfloat16, enabled=half)

    def fitted(model):
        with autocast():
            return arenaut.torch.fit(model, "50%", inputs)

    found = {}
    for title, make in (("eager", lambda model: model), ("eager again", lambda model: model), ("fit 50%", fitted),
                        ("aot_eager", lambda model: torch.compile(model, backend="aot_eager"))):
        model = copy.deepcopy(base)
        found[title] = losses_and_all(make(model), model, inputs, autocast)
    def same(one, other):
        return sum(torch.equal(a, b) for a, b in zip(found[one], found[other])), len(found[one])

    return {"name": name, "loss": found["eager"][0].item(),
            **{f"{one} = {other}": same(one, other) for one, other in (
                ("eager again", "eager"), ("fit 50%", "eager"), ("fit 50%", "aot_eager"), ("aot_eager", "eager"))}}


# ---- what people want ----

def out_of_memory(gigabytes, scale):
    """GPT-2 and AdamW on a device of so many gigabytes: without, and with fit."""
    torch.cuda.set_per_process_memory_fraction(gigabytes * 10**9 / torch.cuda.get_device_properties(0).total_memory)
    model, _, inputs, _ = network("gpt2", scale, "cuda")
    optimizer = torch.optim.AdamW(model.parameters())

    def train(run):
        for _ in range(3):
            optimizer.zero_grad()
            with torch.autocast("cuda", torch.bfloat16):
                loss = run(*inputs)
            loss.backward()
            optimizer.step()
        return loss.item()

    try:
        print(f"eager: loss {train(model)}")
    except torch.OutOfMemoryError as failed:
        print(f"eager: {type(failed).__name__}: {str(failed).splitlines()[0]}")
    optimizer.zero_grad()
    for group in optimizer.param_groups:
        optimizer.state.update({p: {"step": torch.tensor(0.0), "exp_avg": torch.zeros_like(p),
                                    "exp_avg_sq": torch.zeros_like(p)} for p in group["params"]})
    torch.cuda.empty_cache()
    memory = int(0.85 * (gigabytes * 10**9 - torch.cuda.memory_allocated()))
    with torch.autocast("cuda", torch.bfloat16):
        step = arenaut.torch.fit(model, memory, inputs)
    torch.cuda.reset_peak_memory_stats()
    print(f"fit(model, {memory}): loss {train(step)}; {step.fitted}; allocated {torch.cuda.max_memory_allocated():,}, "
          f"reserved {torch.cuda.max_memory_reserved():,} of {int(gigabytes * 10**9):,}")


# ---- tables ----

def megabytes(value):
    return "" if not value else f"{value / 1e6:,.0f}"


def table(answer):
    rows = {row["way"]: row for row in answer["rows"]}
    eager, once = rows["eager"], rows["fit 100%"]
    print(f"\n| {answer['name']} | MB asked for | allocated | reserved | of eager | ms | of eager | reruns: measured, "
          "predicted, at least | fit within that peak |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for way, row in rows.items():
        if "failed" in row:
            print(f"| {way} | {row['failed']} |")
        elif not way.startswith("fit within"):
            within = rows.get(f"fit within {way}")
            print(f"| {way} | {megabytes(row['asked'])} | {megabytes(row['allocated'])} | {megabytes(row['reserved'])} | "
                  f"{share(row['asked'], eager['asked'])} | {row['ms']:.1f} | {share(row['ms'], eager['ms'])} | "
                  f"{reruns(row, once) if 'time' in row else ''} | "
                  f"{fitted(within, eager, once) if within and 'ms' in within else ''} |")
    print(f"Operators measured in {answer['profile']:.0f} s: {once['time'] / 1e6:.1f} ms, each once", flush=True)


def share(part, whole):
    return f"{100 * part / max(whole, 1):.1f} %"


def reruns(row, once):
    """Of the time of a step without."""
    said = f"{100 * (row['ms'] / once['ms'] - 1):.1f}, {share(row['added_time'], row['time'])[:-2]}, "
    near = row["kept"] and max(abs(row[one] - row["planned"]) for one in ("counted", "asked")) <= 1e-4 * row["planned"]
    exact = "" if near else f"; {row['planned']:,} planned, {row['counted']:,} counted"
    return said + share(row["least_time"], row["time"]) + exact


def fitted(row, eager, once):
    return f"{megabytes(row['asked'])}, {row['ms']:.1f} ms, {share(row['ms'], eager['ms'])}: {reruns(row, once)}"


def worker(given):
    name, folder = given.worker, Path(given.folder)
    torch._dynamo.config.recompile_limit = 64
    warnings.simplefilter("ignore", FutureWarning)
    torch.set_float32_matmul_precision("high")
    try:
        bench = Bench(name, given.scale, given.device, folder, given.names)
        (folder / f"{name}.json").write_text(json.dumps(bench.all(name in given.inductor)))
    finally:
        (folder / f"{name}.ended").touch()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="of " + ", ".join(joint_graphs.NAMES))
    parser.add_argument("--inductor", nargs="*", default=[], metavar="NAME", help="networks to compile with inductor too")
    parser.add_argument("--scale", type=float, default=1, help="of the batches")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--same-bits", action="store_true")
    parser.add_argument("--out-of-memory", type=float, metavar="GIGABYTES")
    parser.add_argument("--folder", help="to keep what was measured")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.names = given.names or list(joint_graphs.NAMES)
    if given.worker and given.same_bits:
        print(json.dumps(same_bits(given.worker, given.scale, given.device)), flush=True)
    elif given.worker:
        worker(given)
    elif given.out_of_memory:
        out_of_memory(given.out_of_memory, given.scale)
    else:
        with tempfile.TemporaryDirectory() as folder:
            spread(given, Path(given.folder or folder))


def spread(given, folder):
    """A process for each network."""
    folder.mkdir(exist_ok=True, parents=True)
    environment = {**os.environ, "CUBLAS_WORKSPACE_CONFIG": ":4096:8"} if given.same_bits else None
    device = torch.cuda.get_device_name() if given.device == "cuda" else given.device
    print(f"{device}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}", flush=True)
    options = ["--scale", str(given.scale), "--device", given.device, "--folder", str(folder),
               *(["--same-bits"] if given.same_bits else []), *(["--inductor", *given.inductor] if given.inductor else [])]
    running = [subprocess.Popen([sys.executable, __file__, *given.names, *options, "--worker", name], env=environment)
               for name in given.names]
    for one in running:
        one.wait()
    for name in given.names:
        if (folder / f"{name}.json").exists():
            table(json.loads((folder / f"{name}.json").read_text()))


if __name__ == "__main__":
    main()
