"""Driving the stock tflite-micro wheel: load, feed, run, and read the arena it reports.

The wheel tells its arena only on the C library's standard error, and a failure's reason
likewise; `Machine` catches both. An abort inside the runtime cannot be caught, so models that
nobody has run before go through `survives`, in a process of their own.
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
from tflite_micro import runtime

import tflite_file

ARENA = 64 << 20
ARENA_UNSHARED = 512 << 20  # where no two tensors may share memory

# Of the models that tests read: what the wheel and its builds for ARM refuse, since they lack an op, or an
# op for that type (test_runnable.py, test_kernel_memory.py).
REFUSED = {"custom_op_planned", "float16_weights", "litert_dynamic_shapes", "mlperf_kws_float",
           "mp_face_detection_full_sparse", "mp_face_detection_short", "mp_face_landmark",
           "mp_face_landmark_attention", "mp_hand_landmark_lite", "mp_palm_detection_lite",
           "mp_pose_detection", "person_detect_vela"}


@contextlib.contextmanager
def standard_error():
    """What C code prints to standard error meanwhile, as a function that returns the text."""
    sys.stderr.flush()
    saved = os.dup(2)
    with tempfile.TemporaryFile() as sink:
        os.dup2(sink.fileno(), 2)

        def printed():
            sink.seek(0)
            return sink.read().decode(errors="replace")

        try:
            yield printed
        finally:
            os.dup2(saved, 2)
            os.close(saved)


class Refused(RuntimeError):
    """The runtime does not take this model; the message is its own."""


class Machine:
    """One model in the runtime. With `keep_all`, every tensor keeps its memory, so that
    `tensor` can read intermediates after a run; the arena is then not the usual one."""

    def __init__(self, data, arena=None, keep_all=False):
        config = (runtime.InterpreterConfig.kPreserveAllTensors if keep_all
                  else runtime.InterpreterConfig.kAllocationRecording)
        main = tflite_file.schema.Model.GetRootAs(data, 0).Subgraphs(0)
        self.n_outputs = main.OutputsLength()
        self.inputs = [self._describe(main.Tensors(main.Inputs(i)))
                       for i in range(main.InputsLength())]
        with standard_error() as printed:
            try:
                self._runtime = runtime.Interpreter.from_bytes(
                    data, intrepreter_config=config,
                    arena_size=arena or (ARENA_UNSHARED if keep_all else ARENA))
            except RuntimeError as why:
                raise Refused(f"{why}: {printed().strip()}") from None

    @staticmethod
    def _describe(tensor):
        return (tuple(tensor.Shape(i) for i in range(tensor.ShapeLength())),
                tflite_file.NUMPY[tflite_file.TYPE_NAMES[tensor.Type()]])

    def run(self, values):
        """One invocation; copies of all outputs, as raw arrays."""
        for index, value in enumerate(values):
            self._runtime.set_input(value, index)
        with standard_error() as printed:
            try:
                self._runtime.invoke()
            except RuntimeError as why:
                raise Refused(f"{why}: {printed().strip()}") from None
        return [np.array(self._runtime.get_output(i)) for i in range(self.n_outputs)]

    def tensor(self, number, subgraph=0):
        return np.array(self._runtime.GetTensor(number, subgraph)["tensor_data"])

    def arena(self):
        """Bytes of head and of tail. The head is the plan; the tail is everything else."""
        with standard_error() as printed:
            self._runtime.print_allocations()
            text = printed()
        return tuple(int(re.search(rf"allocation {part} (\d+) bytes", text)[1])
                     for part in ("head", "tail"))


def random_inputs(inputs, seed):
    """Inputs for a model, over the whole range of their types; floats within ±4."""
    random = np.random.RandomState(seed)
    values = []
    for shape, dtype in inputs:
        if dtype == np.bool_:
            values.append(random.rand(*shape) < 0.5)
        elif np.issubdtype(dtype, np.integer):
            limits = np.iinfo(dtype)
            low, high = (limits.min, limits.max) if limits.bits <= 16 else (-1000, 1000)
            values.append(random.randint(low, high + 1, shape).astype(dtype))
        else:
            values.append(random.uniform(-4, 4, shape).astype(dtype))
    return [np.asarray(v, dtype) for v, (_, dtype) in zip(values, inputs)]


def survives(path, seconds=120):
    """Whether a fresh process can load and run a model: (True, "") or (False, the reason)."""
    done = subprocess.run([sys.executable, __file__, path], capture_output=True, text=True,
                          timeout=seconds, check=False)
    if done.returncode == 0:
        return True, ""
    lines = (done.stderr.strip() or f"exit {done.returncode}").splitlines()
    return False, f"exit {done.returncode}: {lines[-1]}"


def loads_in(data, arena):
    """Whether the runtime loads a model into that many bytes. In a process of its own: with too
    few it may crash instead of refusing."""
    child = os.fork()
    if child == 0:
        try:
            Machine(data, arena)
            os._exit(0)
        except Refused:
            os._exit(1)
        finally:
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0


def smallest_arena(data):
    """The fewest bytes with which the runtime still loads a model, to a multiple of 16. More
    than head and tail: what it needs while it plans counts too."""
    low = sum(Machine(data).arena()) // 16
    high = 2 * low + 4096
    while low < high:
        middle = (low + high) // 2
        if loads_in(data, middle * 16):
            high = middle
        else:
            low = middle + 1
    return low * 16


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        machine = Machine(file.read())
    machine.run(random_inputs(machine.inputs, 0))
    print(*machine.arena())
