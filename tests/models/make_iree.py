"""Makes the programs in tests/data/iree: what iree-compile 3.13.0 prints of small networks before it
lays out their slabs, and in compiled.csv the sizes that it then gave them.

    python tests/models/make_iree.py tests/data/iree
    python tests/models/make_iree.py build/iree MODEL.onnx...

needs iree-base-compiler[onnx]==3.13.0 (build/venv-hosts). The second makes the same of models of one's
own, for the table of docs/iree.md.
"""
import csv
import os
import re
import subprocess
import sys
import sysconfig
import tempfile

SCRIPTS = sysconfig.get_path("scripts")
COMPILER, IMPORTER = os.path.join(SCRIPTS, "iree-compile"), os.path.join(SCRIPTS, "iree-import-onnx")
PASS = "iree-stream-layout-slices"
FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
         "--iree-llvmcpu-target-cpu=generic", "--compile-to=stream", "--mlir-disable-threading",
         "--mlir-elide-elementsattrs-if-larger=8"]


class Network:
    """Writes a function of one image and its weights, op by op. `batch` may be "?"."""

    def __init__(self, name, side, batch=1):
        self.name, self.batch = name, batch
        self.lines, self.arguments, self.shapes = [], [], {}
        self.image = self.argument((side, side, 3))

    def type(self, dims, batch=None):
        return f"tensor<{'x'.join(map(str, (batch or self.batch, *dims)))}xf32>"

    def fresh(self, dims):
        name = f"%v{len(self.shapes)}"
        self.shapes[name] = dims
        return name

    def argument(self, dims):
        name = self.fresh(dims)
        self.arguments.append(f"{name}: {self.type(dims)}")
        return name

    def empty(self, dims):
        name = self.fresh(dims)
        size = "(%batch)" if self.batch == "?" else "()"
        self.lines.append(f"{name} = tensor.empty{size} : {self.type(dims)}")
        return name

    def zeroes(self, dims):
        empty, name = self.empty(dims), self.fresh(dims)
        self.lines.append(f"{name} = linalg.fill ins(%zero : f32) outs({empty} : {self.type(dims)}) "
                          f"-> {self.type(dims)}")
        return name

    def convolve(self, x, channels, kernel=1, stride=1):
        side, _, before = self.shapes[x]
        after = (side - kernel) // stride + 1
        weights = f"%w{len(self.arguments)}"
        kind = f"tensor<{kernel}x{kernel}x{before}x{channels}xf32>"
        self.arguments.append(f"{weights}: {kind}")
        dims = (after, after, channels)
        start, name = self.zeroes(dims), self.fresh(dims)
        self.lines.append(
            f"{name} = linalg.conv_2d_nhwc_hwcf {{strides = dense<{stride}> : tensor<2xi64>}} ins({x}, {weights} : "
            f"{self.type(self.shapes[x])}, {kind}) outs({start} : {self.type(dims)}) -> {self.type(dims)}")
        return name

    def join(self, *parts):
        side = self.shapes[parts[0]][0]
        dims = (side, side, sum(self.shapes[part][2] for part in parts))
        name = self.fresh(dims)
        self.lines.append(f"{name} = tensor.concat dim(3) {', '.join(parts)} : "
                          f"({', '.join(self.type(self.shapes[part]) for part in parts)}) -> {self.type(dims)}")
        return name

    def text(self, result):
        head = ["%zero = arith.constant 0.0 : f32"]
        if self.batch == "?":
            head += ["%first = arith.constant 0 : index",
                     f"%batch = tensor.dim %v0, %first : {self.type(self.shapes['%v0'])}"]
        body = "\n".join(f"  {line}" for line in [*head, *self.lines])
        kind = self.type(self.shapes[result])
        return (f"func.func @{self.name}({', '.join(self.arguments)}) -> {kind} {{\n{body}\n"
                f"  return {result} : {kind}\n}}\n")


def chain(name="chain", batch=1):
    n = Network(name, 24, batch)
    x = n.image
    for channels in (8, 16, 8, 24):
        x = n.convolve(x, channels, kernel=3)
    return n.text(n.convolve(x, 4))


def branches():
    """As an inception block: what the short ways made waits for the long one."""
    n = Network("branches", 32)
    x = n.convolve(n.image, 16, kernel=3, stride=2)
    for channels in (8, 12):
        wide = n.convolve(n.convolve(n.convolve(x, channels), 3 * channels), 2 * channels)
        deep = n.convolve(n.convolve(x, channels // 2), 4 * channels)
        x = n.join(n.convolve(x, channels), wide, deep)
        x = n.convolve(x, 4 * channels, kernel=3, stride=2)
    return n.text(n.convolve(x, 4))


def dense():
    """As a dense block: each layer reads all before it."""
    n = Network("dense", 20)
    x = n.convolve(n.image, 12, kernel=3)
    for growth in (4, 6, 8, 10, 12):
        x = n.join(x, n.convolve(n.convolve(x, 4 * growth), growth))
    return n.text(n.convolve(x, 5, kernel=3))


MODELS = {
    "branches": branches,
    "dense": dense,
    "two_functions": lambda: chain("first") + chain("second"),
    "dynamic_batch": lambda: chain("dynamic", "?"),
}


def dump(source, when, flags):
    """What the compiler prints before or after the pass."""
    done = subprocess.run([COMPILER, *FLAGS, *flags, f"--mlir-print-ir-{when}={PASS}", source, "-o", os.devnull],
                          capture_output=True, text=True, check=True)
    return done.stderr


def slabs(text):
    """Function and bytes of each slab that has a size by now."""
    found, constants, function = {}, {}, None
    for line in text.splitlines():
        if match := re.search(r"util\.func .*?@([\w$]+)\(", line):
            function, constants = match[1], {}
        if match := re.match(r"\s*(%\w+) = arith\.constant (\d+) : index", line):
            constants[match[1]] = int(match[2])
        match = re.search(r"stream\.resource\.alloca .*!stream\.resource<transient>\{(%\w+)\}", line)
        if match and match[1] in constants:
            found[function] = constants[match[1]]
    return found


def sources(models, folder):
    """Name, path of a source, and flags for the compiler, of each model."""
    for name, make in MODELS.items() if not models else ():
        path = f"{folder}/{name}.mlir"
        with open(path, "w") as source:
            source.write(make())
        yield name, path, []
    for model in models:
        name = os.path.splitext(os.path.basename(model))[0]
        path = f"{folder}/{name}.mlir"
        subprocess.run([IMPORTER, model, "--opset-version", "17", "-o", path], check=True)
        yield name, path, ["--iree-input-type=onnx"]


def main(out, *models):
    os.makedirs(out, exist_ok=True)
    with open(f"{out}/compiled.csv", "w", newline="") as file, tempfile.TemporaryDirectory() as folder:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["file", "slab", "bytes"])
        for name, source, flags in sources(models, folder):
            with open(f"{out}/{name}.mlir", "w") as printed:
                printed.write(dump(source, "before", flags))
            for slab, size in slabs(dump(source, "after", flags)).items():
                rows.writerow([f"{name}.mlir", slab, size])


if __name__ == "__main__":
    main(*sys.argv[1:])
