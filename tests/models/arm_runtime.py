"""The micro runtime built from its sources for 32-bit ARM, run by QEMU's user mode, and for a
Cortex-M55, run by its system mode.

`make micro-runtime` fills a folder with programs, with its own kernels and with those of libraries,
and with the sources that they were built from; ARENAUT_MICRO_RUNTIME names one that lies elsewhere. A run is
a process: a model, its inputs in files, its outputs in another.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import tflite_file

FOLDER = Path(os.environ.get("ARENAUT_MICRO_RUNTIME",
                             Path(__file__).parents[2] / "build" / "micro-runtime"))
SOURCES = FOLDER / "sources"
RUNNERS = {  # by the kernel set that speaks of them
    "reference": FOLDER / "tflm-arm",
    "cmsis-nn": FOLDER / "tflm-arm-cmsis-nn",
    "cmsis-nn-c": FOLDER / "tflm-arm-cmsis-nn-c",
    "cmsis-nn-mve": FOLDER / "tflm-m55-cmsis-nn",
    "cmsis-nn-dsp": FOLDER / "tflm-m55-cmsis-nn-dsp",  # the set cmsis-nn, on bare metal
    "esp-nn": FOLDER / "tflm-arm-esp-nn",
    "esp32-s3": FOLDER / "tflm-arm-esp32-s3",  # only loads models
}
# Ops of which a library has kernels of its own; all others run those of the runtime.
REPLACED = {"esp-nn": ("ADD", "AVERAGE_POOL_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED",
                       "MAX_POOL_2D", "MUL", "SOFTMAX")}
REPLACED["cmsis-nn"] = (*REPLACED["esp-nn"], "BATCH_MATMUL", "MAXIMUM", "MINIMUM", "PAD", "PADV2", "SVDF",
                        "TRANSPOSE", "TRANSPOSE_CONV", "UNIDIRECTIONAL_SEQUENCE_LSTM")
HINT = "run `make micro-runtime`, or name its folder in ARENAUT_MICRO_RUNTIME"
QEMU, QEMU_M55 = "qemu-arm-static", "qemu-system-arm"
M55 = [QEMU_M55, *"-M mps3-an547 -display none -monitor none -serial none".split()]
ARENA = 128 << 20


def is_bare(kernels):
    return RUNNERS[kernels].name.startswith("tflm-m55")


def missing(kernels="reference"):
    """Why nothing can be run here, or None."""
    if not RUNNERS[kernels].is_file():
        return f"{RUNNERS[kernels]} is not there: {HINT}"
    qemu = QEMU_M55 if is_bare(kernels) else QEMU
    return None if shutil.which(qemu) else f"not installed: {qemu}"


def command(kernels, *arguments, counting=False):
    """The process for a call of the runtime with these kernels; `counting`: on bare metal, its
    instructions, which takes longer."""
    runner, arguments = str(RUNNERS[kernels]), [str(argument) for argument in arguments]
    if not is_bare(kernels):
        return [QEMU, runner, *arguments]
    called = ",".join(f"arg={argument}" for argument in ["tflm_run", *arguments])
    machine = [*M55, *(("-icount", "shift=0") if counting else ())]
    return [*machine, "-semihosting-config", f"enable=on,target=native,{called}", "-kernel", runner]


def load(kernels, *arguments):
    """What the runtime says of a model that it only loads, or None where it refuses."""
    done = subprocess.run(command(kernels, "--load-only", *arguments), capture_output=True,
                          text=True, check=False, timeout=300)
    return json.loads(done.stdout) if done.returncode == 0 else None


def invoke(data, inputs, kernels, *options, counting=False, arena=ARENA):
    """The finished process of one invocation in an arena of so many bytes."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model.tflite")
        model.write_bytes(data)
        paths = [Path(folder, f"input{i}") for i in range(len(inputs))]
        for path, value in zip(paths, inputs):
            path.write_bytes(value.tobytes())
        return subprocess.run(command(kernels, *options, model, arena, *paths, counting=counting),
                              check=False, capture_output=True, text=True, timeout=300)


def called(data, inputs, kernels, *options, counting=False, arena=ARENA):
    """What the runtime prints of one invocation; `counting` its instructions, too."""
    options = [*options, "--count"] if counting else options
    done = invoke(data, inputs, kernels, *options, counting=counting, arena=arena)
    done.check_returncode()
    return json.loads(done.stdout)


def run(data, inputs, kernels="reference", arena=ARENA):
    """The bytes of all outputs of one invocation, one after another."""
    with tempfile.NamedTemporaryFile() as dump:
        called(data, inputs, kernels, "--dump", dump.name, arena=arena)
        return dump.read()


def every_result(data, inputs, kernels="reference"):
    """What each op of the main subgraph leaves in its outputs: these are all made outputs of the
    model, without a plan, so that they keep their memory."""
    table = tflite_file.drop_plan(tflite_file.unpack(data))
    main = table.subgraphs[0]
    results = [[t for t in tflite_file.items(op.outputs) if t >= 0] for op in main.operators]
    main.outputs = tflite_file.np.asarray(sum(results, []), tflite_file.np.int32)
    whole, at, found = run(tflite_file.pack(table), inputs, kernels), 0, []
    for tensors in results:
        size = sum(tflite_file.tensor_bytes(main.tensors[t]) for t in tensors)
        found.append(whole[at:at + size])
        at += size
    return found
