"""The preloaded hook by itself: allocations of code that knows nothing of it."""

import ctypes
import gc
import threading

import pytest
import torch

from arenaut import ArenautError
from arenaut.tape import ALIGNED, MALLOC, Tape

libc = ctypes.CDLL(None)
libc.malloc.restype = libc.realloc.restype = libc.calloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
libc.realloc.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.free.argtypes = libc.malloc_usable_size.argtypes = [ctypes.c_void_p]
libc.memcmp.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
libc.malloc_usable_size.restype = ctypes.c_size_t


def recorded(run, **options):
    tape = Tape(**options)
    tape.record()
    run()
    tape.end()
    tape.arena = tape.plan()
    return tape


def convolve():
    """Allocations of the kernel's own, from a library that torch calls."""
    with torch.no_grad():
        return torch.nn.functional.conv2d(IMAGE, FILTER, padding=1).relu().sum()


IMAGE, FILTER = torch.randn(1, 32, 28, 28), torch.randn(64, 32, 3, 3)


def test_eager_torch_is_played_back_without_a_difference():
    for _ in range(2):
        wanted = convolve()
    results = []
    tape = recorded(lambda: results.append(convolve()))
    for _ in range(10):
        tape.play()
        results.append(convolve())
        assert tape.stop()
    assert all(torch.equal(found, wanted) for found in results)
    counts = tape.counts()
    assert counts.planned >= 2 and counts.served == 10 * counts.planned
    assert counts.astray == counts.fallbacks == 0
    assert tape.arena == tape.bound()


def test_numbers_and_lists_that_c_cannot_hold_are_refused():
    tape = Tape()
    tape.record()
    convolve()
    tape.end()
    n = len(tape.blocks())
    for call, said in ((lambda: tape.keep(2**32), "block is 4294967296"),
                       (lambda: tape.place([0] * (n - 1), 64), f"a list of {n - 1}.*one offset for each of {n} blocks"),
                       (lambda: tape.place([2**64] * n, 64), r"offsets\[0\] is 18446744073709551616"),
                       (lambda: tape.place([0] * n, -1), "size is -1"),
                       (lambda: Tape(align=2**64 + 64), "align is 18446744073709551680")):
        with pytest.raises(ArenautError, match=said):
            call()
    assert tape.plan() > 0


def test_there_is_no_bound_before_a_plan():
    tape = Tape()
    tape.record()
    torch.empty(5000)
    tape.end()
    with pytest.raises(RuntimeError, match="no plan yet"):
        tape.bound()
    assert tape.plan() >= tape.bound() >= 0


def test_the_same_flow_has_the_same_addresses():
    def work():
        a = torch.empty(5000)
        b = torch.empty(7000)
        where.append((a.data_ptr(), b.data_ptr()))
        del a
        c = torch.empty(5000)
        where.append(c.data_ptr())

    where = []
    tape = recorded(work)
    where.clear()
    for _ in range(10):
        tape.play()
        work()
        assert tape.stop()
    assert len(set(where[0::2])) == len(set(where[1::2])) == 1


@pytest.mark.parametrize("first", [True, False])
def test_another_flow_is_answered_by_the_heap_or_an_error(first):
    def work(branch):
        a = torch.empty(5000)
        return torch.empty(9000).sum() if branch else torch.empty(100, 50).sum() + a.sum()

    for strict in (False, True):
        tape = recorded(lambda: work(first), strict=strict)
        tape.play()
        if strict:
            with pytest.raises(RuntimeError):
                work(not first)
            with pytest.raises(ArenautError, match="not the run that was recorded"):
                tape.end()
        else:
            work(not first)
            assert not tape.stop()
            assert tape.counts().fallbacks > 0
        gc.collect()
        tape.play()
        work(first)
        assert tape.stop()


def test_other_threads_are_left_alone():
    def meanwhile():
        addresses.append(torch.empty(5000).data_ptr())

    def work():
        a = torch.empty(5000)
        other = threading.Thread(target=meanwhile)
        other.start()
        other.join()
        return a.sum()

    addresses = []
    tape = recorded(work)
    assert tape.counts().planned <= 2
    tape.play()
    work()
    assert tape.stop()


def test_allocations_that_outlive_their_run_are_freed_by_their_holder():
    held = []
    tape = recorded(lambda: held.append(torch.ones(5000)))
    for _ in range(5):
        tape.play()
        held.append(torch.ones(5000))
        assert tape.stop()
    assert all(float(t.sum()) == 5000 for t in held)
    del tape
    gc.collect()
    assert all(float(t.sum()) == 5000 for t in held)


def test_an_arena_stays_until_a_kept_result_is_freed_by_another_thread():
    tape = Tape()
    tape.record()
    first = torch.ones(5000)
    tape.keep(tape.find(first.data_ptr()))
    tape.end()
    del first
    tape.plan()
    tape.play()
    held = [torch.ones(5000)]
    assert tape.stop()
    del tape  # retired with a block out
    assert float(held[0].sum()) == 5000
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert not held


def test_malloc_and_its_relatives_are_served_where_asked_for():
    zeros, letters = bytes(7000), b"A" * 5000  # what Python itself takes counts too

    def work():
        a = libc.malloc(5000)
        ctypes.memset(a, 65, 5000)
        b = libc.calloc(10, 700)
        assert libc.memcmp(b, zeros, 7000) == 0
        ctypes.memset(b, 66, 7000)
        assert libc.malloc_usable_size(a) >= 5000
        c = libc.realloc(a, 9000)
        assert libc.memcmp(c, letters, 5000) == 0
        d = libc.realloc(None, 6000)
        for block in (b, c, d):
            libc.free(block)

    tape = recorded(work, what=ALIGNED | MALLOC, min_size=4096)
    assert tape.counts().planned == 4
    for _ in range(5):
        tape.play()
        work()
        assert tape.stop()
    assert tape.counts().served == 20


def test_one_run_of_a_thread_at_a_time():
    tape, other = Tape(), Tape()
    tape.record()
    with pytest.raises(ArenautError, match="already"):
        other.record()
    tape.end()
    with pytest.raises(ArenautError):
        tape.play()  # nothing is planned


def test_onnx_runtime_is_played_back():
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed, so that the "
                              "hook is not seen under it")
    onnx = pytest.importorskip("onnx", reason="onnx is not installed: no model for onnxruntime")
    from onnx import TensorProto, helper
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["b"]),
             helper.make_node("MatMul", ["b", "w"], ["y"])]
    shape = [256, 256]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [helper.make_tensor("w", TensorProto.FLOAT, shape,
                            torch.randn(shape).flatten().tolist())])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    session = ort.InferenceSession(model.SerializeToString(), options)
    x = torch.randn(shape).numpy()
    wanted = session.run(None, {"x": x})[0]
    session.run(None, {"x": x})
    results = []

    def run():
        results.append(session.run(None, {"x": x})[0])

    tape = recorded(run, what=ALIGNED | MALLOC, min_size=65536)
    for _ in range(5):
        tape.play()
        run()
        assert tape.stop()
    assert all((found == wanted).all() for found in results)
    assert onnx and tape.counts().served > 0
