"""The tape that PyTorch's GPU memory is put on, on a CUDA driver that is none (tests/drivers), as this
machine need have no GPU. What lies in a block must be there until it is given back."""

import ctypes
import os
import random
import subprocess
import sys
import threading

import pytest

from conftest import COMMAND, ROOT
from drawn import NIGHT

pytestmark = pytest.mark.skipif(not (COMMAND.parent / "libarenaut-gpu.so").is_file(),
                                reason="libarenaut-gpu.so is built for Linux, without a sanitizer")
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("ARENAUT_LIBRARY", str(COMMAND.parent / "libarenaut.so"))
os.environ.setdefault("ARENAUT_GPU", str(COMMAND.parent / "libarenaut-gpu.so"))

from arenaut import ArenautError, RefusedError, gpu  # noqa: E402


class Driver(ctypes.Structure):
    """fake_cuda_state of tests/drivers/fake_cuda.h."""

    _fields_ = [("n_devices", ctypes.c_int), ("fail_init", ctypes.c_int), ("fail_next", ctypes.c_int),
                ("live", ctypes.c_size_t), ("retained", ctypes.c_int), ("depth", ctypes.c_int),
                ("misalign", ctypes.c_int), ("broken_rules", ctypes.c_int)]


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    library = tmp_path_factory.mktemp("driver") / "fake_cuda.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-I", ROOT / "tests", ROOT / "tests/drivers/fake_cuda.c", "-o",
                    library], check=True)
    gpu.use_driver(str(library))
    state = ctypes.CDLL(str(library)).fake_cuda_own_state
    state.restype = ctypes.POINTER(Driver)
    return state().contents


@pytest.fixture(autouse=True)
def clean(driver):
    gpu.forget()
    yield
    gpu.forget()
    assert driver.live == 0 and driver.broken_rules == 0 and driver.depth == 0
    assert gpu.figures().driver == 0


class Block:
    """Memory with a pattern in it."""

    def __init__(self, size, device=0, stream=None, seed=0):
        self.size, self.device, self.stream = size, device, stream
        self.address = gpu.library().arenaut_gpu_malloc(size, device, stream)
        assert self.address and self.address % 256 == 0
        self.byte = (size + seed) % 251
        ctypes.memset(self.address, self.byte, size)

    def free(self):
        assert ctypes.string_at(self.address, self.size) == bytes([self.byte]) * self.size
        gpu.library().arenaut_gpu_free(self.address, self.size, self.device, self.stream)


def step(seed=3, n=120, keep=0, **options):
    """The requests of a training step; returns the last `keep` blocks, unreleased."""
    rng, live = random.Random(seed), []
    for k in range(n):
        while live and rng.random() < 0.45:
            live.pop(rng.randrange(len(live))).free()
        live.append(Block(rng.choice([4, 512, 4000, 65536, 300000]), seed=k, **options))
    while len(live) > keep:
        live.pop(0).free()
    return live


def test_a_step_is_served_from_one_arena(driver):
    with gpu.record(0, 0):
        step()
    planned = gpu.plan()
    assert 0 < planned.bound <= planned.arena and driver.live == 1
    calls = gpu.figures().driver_calls
    for _ in range(5):
        with gpu.play():
            step()
    done = gpu.figures()
    assert done.driver_calls == calls and done.runs == 5 and done.astray == done.fallbacks == 0
    assert done.served == 5 * 120 and driver.live == 1


def test_blocks_that_outlive_the_step_come_from_the_driver(driver):
    with gpu.record(0, 0):
        kept = step(keep=4)
    gpu.plan()
    for _ in range(3):
        for block in kept:
            block.free()
        with gpu.play():
            kept = step(keep=4)
    done = gpu.figures()
    assert done.heap == 3 * 4 and done.astray == 0
    for block in kept:
        block.free()


def test_another_step_is_right_too(driver):
    with gpu.record(0, 0):
        step(seed=1)
    gpu.plan()
    for seed in 1, 2, 1:
        with gpu.play():
            step(seed=seed)
    done = gpu.figures()
    assert done.astray == 1 and done.fallbacks > 0


def test_other_streams_and_devices_are_left_alone(driver):
    with gpu.record(0, 0):
        step()
    gpu.plan()
    with gpu.play():
        others = step(seed=9, keep=3, stream=64) + step(seed=8, keep=2, device=1)
        step()
    done = gpu.figures()
    assert done.astray == 0 and done.served == 120
    for block in others:
        block.free()


def test_a_block_of_the_arena_is_released_after_the_run(driver):
    with gpu.record(0, 0):
        late = Block(4096)
        step()
        late.free()
    gpu.plan()
    with gpu.play():
        late = Block(4096)
        step()
    with pytest.raises(RefusedError):
        gpu.forget()
    late.free()


def test_threads_take_turns(driver):
    """A forward and a backward thread, as PyTorch has them."""
    def run():
        first = step(seed=4, keep=5)
        def backward():
            step(seed=5)
            for block in first:
                block.free()
        thread = threading.Thread(target=backward)
        thread.start()
        thread.join()
    with gpu.record(0, 0):
        run()
    gpu.plan()
    for _ in range(4):
        with gpu.play():
            run()
    assert gpu.figures().astray == 0


def test_what_is_asked_in_the_wrong_order(driver):
    for wrong in gpu.plan, gpu.play().__enter__:
        with pytest.raises(ArenautError):
            wrong()
    with gpu.record(0, 0):
        with pytest.raises(RefusedError, match="under way"), gpu.record(0, 0):
            pass
        step()
    gpu.plan()
    with gpu.play(), pytest.raises(RefusedError, match="under way"):
        gpu.forget()
    with pytest.raises(RefusedError, match="open already"):
        gpu.use_driver("other.so")


def test_no_memory(driver):
    library = gpu.library()
    driver.fail_next = 2
    assert library.arenaut_gpu_malloc(64, 0, None) is None
    with gpu.record(0, 0):
        step()
    driver.fail_next = 2
    with pytest.raises(ArenautError, match="memory"):
        gpu.plan()
    assert library.arenaut_gpu_malloc(0, 0, None) is None
    assert library.arenaut_gpu_malloc(64, 7, None) is None
    library.arenaut_gpu_free(None, 64, 0, None)


def test_without_a_gpu_pytorch_is_told(driver):
    torch = pytest.importorskip("torch", reason="torch is not installed; nothing to tell")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU: bench/gpu_training.py is for that")
    with pytest.raises(ArenautError, match="no CUDA device"):
        gpu.install()


@NIGHT
def test_the_benchmark_says_what_it_lacks():
    torch = pytest.importorskip("torch", reason="torch is not installed; the benchmark is of it")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU: run bench/gpu_training.py itself")
    done = subprocess.run([sys.executable, ROOT / "bench" / "gpu_training.py"], capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 1 and "needs a GPU" in done.stderr and not done.stdout
    done = subprocess.run([sys.executable, ROOT / "bench" / "gpu_training.py", "--networks"],
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "resnet50       25,557,032 parameters" in done.stdout
    assert "gpt2          124,439,808 parameters" in done.stdout
