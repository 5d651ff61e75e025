"""plan_many and sweep, in processes, threads, pools and on a Dask cluster."""

import errno
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from concurrent import futures
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor

import pytest
from conftest import DATA

import arenaut
from arenaut import many

PATHS = sorted([*DATA.glob("*.tflite"), *(DATA / "pte").glob("*.pte")])


def problems(n):
    return [arenaut.Problem([50 + k, 20, 30], [0, 1, 2], [2, 3, 4]) for k in range(n)]


def planned(results):
    return [row.planned for row in results.rows]


@pytest.fixture(scope="module")
def alone():
    return [arenaut.open(path).plan().planned for path in PATHS]


def test_in_processes(alone):
    results = arenaut.plan_many(PATHS)
    assert planned(results) == alone
    assert {row.name for row in results} == set(map(str, PATHS))
    assert results.totals["files"] == len(PATHS) and results.totals["failed"] == 0
    assert results.totals["planned"] == sum(alone)


def test_in_threads_and_pools(alone):
    with ThreadPoolExecutor(3) as executor:
        assert planned(arenaut.plan_many(PATHS, executor)) == alone
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert planned(arenaut.plan_many(PATHS, pool)) == alone
    with pytest.raises(arenaut.InputError, match="executor is 3"):
        list(arenaut.plan_many(PATHS, 3))


def test_problems_and_options_of_each():
    one, two = problems(2)
    with ThreadPoolExecutor(1) as executor:
        results = arenaut.plan_many([(one, {"planner": "naive"}), two], executor, seed=3)
        assert planned(results) == [100, 71]
        with pytest.raises(arenaut.InputError, match=r"work\[0\] is 5"):
            arenaut.plan_many([5], executor)
        assert arenaut.plan_many([], executor).rows == []


def test_rows_come_as_they_are_done():
    with ThreadPoolExecutor(2) as executor:
        results = arenaut.plan_many(problems(50), executor)
        first = next(iter(results))
        assert first.planned and "1 of 50 done" in repr(results)
        assert len(results.rows) == 50 and "50 of 50 done, 0 failed" in repr(results)


def test_rows_have_the_order_of_the_work(tmp_path):
    """Also where two items are alike, and whichever was done first: here the last."""
    class Backwards(ThreadPoolExecutor):
        def submit(self, function, job):
            return super().submit(lambda: (time.sleep(0.1 * (3 - job.number)), function(job))[1])

    one, two = PATHS[:2]
    resume = tmp_path / "done"
    with Backwards(4) as executor:
        for _ in range(2):  # then from the file
            results = arenaut.plan_many([one, two, one, (one, {"align": 64})], executor, resume=resume)
            assert [row.name for row in results.rows] == [str(one), str(two), str(one), str(one)]
            assert [row.options for row in results.rows] == [{}, {}, {}, {"align": 64}]


def test_failures_are_rows(tmp_path):
    broken = tmp_path / "broken.tflite"
    broken.write_bytes(b"TFL3")
    with ThreadPoolExecutor(2) as executor:
        results = arenaut.plan_many([PATHS[0], broken, tmp_path / "absent.pte"], executor)
        assert [row.status for row in results.rows][1:] == ["failed", "failed"]
        assert results.rows[1].error.startswith("InputError: ")
        assert results.rows[2].error.startswith("FileNotFoundError: ")
        assert results.totals["failed"] == 2
        assert "FileNotFoundError" in results.to_csv() and len(results.to_csv().splitlines()) == 4


def test_plans_are_saved(tmp_path):
    foreign, plain = DATA / "foreign_plan_float.tflite", DATA / "mobilenet_v1_025_96_int8.tflite"
    work = [path for path in PATHS if path.suffix == ".pte"][:2] + [plain, foreign, *problems(2), DATA / "fragmented.csv"]
    kept = tmp_path / "done.jsonl"
    with ThreadPoolExecutor(2) as executor:
        results = arenaut.plan_many(work, executor, save_to=tmp_path / "out", resume=kept)
        assert [row.error for row in results.rows] == [None] * len(work)
        for row in results.rows:
            if row.saved.endswith(".plan.json"):
                assert arenaut.Model.parse(open(row.saved, "rb").read()).problem is not None
            elif row.outcome is None:
                arenaut.open(row.saved).check()
                assert arenaut.open(row.saved).plan().now == row.planned
            else:
                assert open(row.saved, "rb").read() == open(row.name, "rb").read()
        assert "another tool's plan" in results.rows[3].outcome and results.rows[2].outcome is None
        os.unlink(results.rows[0].saved)
        assert arenaut.plan_many(work, executor, save_to=tmp_path / "out", resume=kept).rows[0].saved
        assert os.path.exists(results.rows[0].saved)
        with pytest.raises(arenaut.InputError, match=r"work\[1\].*work\[0\] has the same"):
            arenaut.plan_many([plain, (plain, {"inplace": True})], executor, save_to=tmp_path / "out")


def test_a_file_that_a_worker_cannot_open_is_named_with_its_folder(tmp_path):
    with ThreadPoolExecutor(1) as executor:
        [row] = arenaut.plan_many(["absent.tflite"], executor).rows
    assert f"'absent.tflite' (looked for in {os.getcwd()} of " in row.error


def plan_or_die(job):
    """In the place of plan_one: a worker that the system kills, once or always."""
    mark = job.options.pop("mark", None)
    if mark == "always" or (mark and not os.path.exists(mark)):
        if mark != "always":
            open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return PLAN_ONE(job)


PLAN_ONE = many.plan_one


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_workers_that_die(tmp_path, monkeypatch):
    monkeypatch.setattr(many, "plan_one", plan_or_die)
    work = [(one, {}) for one in problems(12)]
    work[3] = (work[3][0], {"mark": str(tmp_path / "once")})
    work[7] = (work[7][0], {"mark": "always"})
    results = arenaut.plan_many(work)
    assert [row.status == "failed" for row in results.rows] == [k == 7 for k in range(12)]
    assert "BrokenProcessPool" in results.rows[7].error
    assert results.rows[7].attempts == 3 and results.rows[3].attempts > 1 and results.rows[0].attempts >= 1
    assert results.totals["retried"] == sum(row.attempts > 1 for row in results.rows) >= 2
    assert re.fullmatch(r"<Results: 12 of 12 done, 1 failed, \d+ tried again>", repr(results))


@pytest.mark.parametrize("error", [OSError(errno.EBADF, "Bad file descriptor"), EOFError()], ids=repr)
def test_a_pool_that_breaks_while_it_starts_a_worker_is_replaced(monkeypatch, error):
    """Its files are closed by then, which is the only thing that is told."""
    errors, submit = [error], many.OwnProcesses.submit

    def break_once(processes, function, *arguments):
        if errors and arguments[0].name.endswith(" 3"):
            raise errors.pop()
        return submit(processes, function, *arguments)

    monkeypatch.setattr(many.OwnProcesses, "submit", break_once)
    assert planned(arenaut.plan_many(problems(8))) == planned(arenaut.plan_many(problems(8)))
    assert not errors


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_an_executor_that_breaks_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(many, "plan_one", plan_or_die)
    work = [(one, {}) for one in problems(40)]
    work[3] = (work[3][0], {"mark": str(tmp_path / "once")})
    with ProcessPoolExecutor(2, many.context()) as executor, pytest.warns(RuntimeWarning, match="has lost a worker"):
        results = arenaut.plan_many(work, executor)
        assert planned(results) == planned(arenaut.plan_many(problems(40)))
    assert results.rows[3].attempts == 2 and not results.totals["failed"]


def test_finished_rows_are_not_planned_again(tmp_path, monkeypatch):
    kept = tmp_path / "done.jsonl"
    with ThreadPoolExecutor(2) as executor:
        work = [*problems(5), PATHS[0], tmp_path / "absent.pte"]
        first = arenaut.plan_many(work, executor, resume=kept).rows
        assert len(kept.read_text().splitlines()) == 6
        with open(kept, "ab") as file:
            file.write(b'{"key": "cut o')
        done = []
        monkeypatch.setattr(many, "plan_one", lambda job: (done.append(job.name), PLAN_ONE(job))[1])
        again = arenaut.plan_many([*work, problems(6)[5]], executor, resume=kept).rows
        assert again[:7] == first and set(done) == {"problem 7", str(tmp_path / "absent.pte")}
        assert len(arenaut.plan_many(work[:1], executor, resume=kept, effort=77).rows) == 1
        lines = [line for line in kept.read_text().splitlines() if not line.endswith("cut o")]
        assert len({json.loads(line)["key"] for line in lines}) == len(lines) == 8  # of other options, too


def test_a_file_of_other_things_is_not_written_to(tmp_path):
    path = tmp_path / "model.tflite"
    for data in PATHS[0].read_bytes(), b"5\n", b"\n{}\n", b'{"key": "k"}\n[]\n':
        path.write_bytes(data)
        with ThreadPoolExecutor(1) as executor, pytest.raises(arenaut.InputError, match="is none that plan_many writes"):
            list(arenaut.plan_many(problems(1), executor, resume=path))
        assert path.read_bytes() == data


@pytest.mark.parametrize("work, text", [("ab", "work is 'ab'; allowed: a list"), (None, "work is None"),
                                        ([(PATHS[0], 3)], r"work\[0\] is 3; allowed: a dictionary"),
                                        ([(PATHS[0], {}, {})], r"work\[0\] is ")])
def test_work_that_is_none(work, text):
    with pytest.raises(arenaut.InputError, match=text):
        arenaut.plan_many(work)


def test_options_that_do_not_exist():
    with pytest.raises(TypeError, match="did you mean 'align'"):
        arenaut.plan_many(PATHS, aling=16)
    with pytest.raises(arenaut.InputError, match=r"dims\['n'\] is 5; allowed: a list"):
        arenaut.sweep(PATHS[0], {"dims": {"n": 5}})
    with pytest.raises(TypeError, match="there is no option 'dim': did you mean 'dims'"):
        arenaut.sweep(PATHS[0], {"dim": {"n": [5]}})
    with pytest.raises(arenaut.InputError, match=r"over is \['dims'\]; allowed: a dictionary"):
        arenaut.sweep(PATHS[0], ["dims"])
    with pytest.raises(arenaut.InputError, match=r"over\['dims'\] is \[5\]; allowed: a dictionary"):
        arenaut.sweep(PATHS[0], {"dims": [5]})
    with pytest.raises(arenaut.InputError, match="align is 64; allowed: a list"):
        arenaut.sweep(PATHS[0], {"align": 64})


INTERRUPTED = """
import os, signal, sys, threading
import arenaut

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    columns = eval(sys.stdin.read())
    slow = [(arenaut.Problem(*columns), {"time": 300, "seed": k}) for k in range(20)]
    results = arenaut.plan_many([arenaut.Problem([7], [0], [1]), *slow])
    rows = iter(results)
    print(next(rows).planned)
    threading.Timer(0.5, os.killpg, (os.getpgid(0), signal.SIGINT)).start()  # as a terminal: to all processes
    try:
        next(rows)
    except KeyboardInterrupt:
        print("stopped", results.totals["files"], results.totals["failed"], [row.planned for row in results.rows])
"""


@pytest.mark.skipif(os.name == "nt", reason="there no process can send itself SIGINT alone")
def test_an_interrupt_ends_the_workers_and_keeps_what_is_done(hard, tmp_path):
    program = tmp_path / "interrupted.py"
    program.write_text(INTERRUPTED)
    done = subprocess.run([sys.executable, program], input=repr(hard), capture_output=True, text=True, timeout=120,
                          check=False, start_new_session=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "7\nstopped 21 0 [7]\n", "")


def test_workers_leave_interrupts_to_the_process_that_waits_for_them():
    processes = many.OwnProcesses(1)
    assert processes.submit(signal.getsignal, signal.SIGINT).result() == signal.SIG_IGN
    processes.end(at_once=True)


def test_a_file_beside_the_model_counts_as_well(tmp_path):
    kept, scratch = tmp_path / "done.jsonl", tmp_path / "scratch.csv"
    path, planned = DATA / "inception_int8.tflite", []
    for needed in 0, 100_000, 100_000:
        scratch.write_text(f"method,op,bytes\nmain,0,{needed}\n")
        with ThreadPoolExecutor(1) as executor:
            [row] = arenaut.plan_many([path], executor, resume=kept, scratch=str(scratch)).rows
        planned.append(row.planned)
    assert planned[0] < 100_000 < planned[1] == planned[2] and len(kept.read_text().splitlines()) == 2


def test_a_sweep():
    with ThreadPoolExecutor(2) as executor:
        results = arenaut.sweep(DATA / "pt2" / "count.pt2",
                                {"dims": {"*": [2, 4, 8]}, "align": [16, 256]}, executor)
        rows = results.rows
        assert [row.options for row in rows][:2] == [{"dims": {"*": 2}, "align": 16},
                                                     {"dims": {"*": 2}, "align": 256}]
        assert len(rows) == 6 and not results.totals["failed"], results.to_csv()
        assert results.deciding.planned == results.shared == max(row.planned for row in rows)
        assert results.fits(results.shared) == rows and not results.fits(0)
        assert results.to_csv().startswith("name,align,dims.*,now,planned,")


def test_sizes_without_which_a_file_cannot_be_read():
    with ThreadPoolExecutor(2) as executor:
        results = arenaut.sweep(DATA / "iree" / "dynamic_batch.mlir", {"dims": {"dynamic.arg0.0": [1, 4]}}, executor)
        assert [row.planned for row in results.rows] == [41088, 4 * 41088]
        assert results.shared == 4 * 41088


def test_the_picture_of_a_sweep(tmp_path):
    with ThreadPoolExecutor(2) as executor:
        work = {"dims": {"N": [2, 8, "<&>"]}}
        results = arenaut.sweep(DATA / "onnx" / "control.onnx", work, executor)
        picture = results._repr_svg_()
        results.save(tmp_path / "sizes.svg")
        results.save(tmp_path / "sizes.csv")
        with pytest.raises(arenaut.InputError, match="ends in .svg or .csv"):
            results.save(tmp_path / "sizes.png")
        empty = arenaut.sweep(DATA / "onnx" / "control.onnx", {"dims": {"N": []}}, executor)
        assert "One arena for all 0: 0 bytes" in empty._repr_svg_()
        many = arenaut.plan_many(problems(101), executor)._repr_svg_()
    drawn = ElementTree.fromstring(picture)
    bars = [rect for rect in drawn.iter() if rect.get("class") in ("bar", "most")]
    assert [bar.get("class") for bar in bars] == ["bar", "most"]
    assert float(bars[0].get("width")) < float(bars[1].get("width")) == 420
    assert f"One arena for all 3: {results.shared:,} bytes, decided by N 8" in picture
    assert "failed: InputError" in picture and "&lt;&amp;&gt;" in picture
    assert (tmp_path / "sizes.svg").read_text() == picture
    assert (tmp_path / "sizes.csv").read_text() == results.to_csv()
    assert sorted(os.listdir(tmp_path)) == ["sizes.csv", "sizes.svg"]
    assert "(the first 100 are shown)" in many and many.count('class="bar"') == 100


def test_a_table():
    pandas = pytest.importorskip("pandas", reason="this environment is one without pandas")
    with ThreadPoolExecutor(1) as executor:
        table = arenaut.plan_many(problems(3), executor).table()
    assert isinstance(table, pandas.DataFrame) and list(table["planned"]) == [70, 71, 72]


def test_more_processors_than_windows_waits_for(monkeypatch):
    with monkeypatch.context() as windows:
        windows.setattr(sys, "platform", "win32")
        processes = many.OwnProcesses(100)
    assert processes.pool._max_workers == 61
    processes.end(at_once=False)


def test_an_executor_of_ones_own_stays_open():
    with ProcessPoolExecutor(1) as executor:
        assert len(arenaut.plan_many(problems(2), executor).rows) == 2
        assert executor.submit(os.getpid).result() != os.getpid()


def test_a_dask_cluster_that_loses_a_worker():
    distributed = pytest.importorskip("distributed", reason="this environment is one without Dask")
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None,
                                  host="127.0.0.1") as cluster, distributed.Client(cluster) as client:
        work = [(problem, {}) for problem in problems(60)]
        results = arenaut.plan_many(work, client)
        rows = iter(results)
        next(rows)
        victim = next(iter(client.run(os.getpid).values()))
        os.kill(victim, signal.SIGKILL)
        assert planned(results) == planned(arenaut.plan_many(work))
        deadline = time.monotonic() + 120
        while len(set(client.run(os.getpid).values()) - {victim}) < 2:
            assert time.monotonic() < deadline


def test_a_ray_pool_that_loses_a_worker():
    """Without options of Ray's the worker stays dead, and its pool goes on to give it work in turn."""
    ray = pytest.importorskip("ray", reason="this environment is one without Ray")
    from ray.util.multiprocessing import Pool
    ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False)
    try:
        with Pool(2) as pool:
            victim = pool.apply(os.getpid)
            work = [(problem, {}) for problem in problems(60)]
            results = arenaut.plan_many(work, pool)
            os.kill(victim, signal.SIGKILL)  # before any work, all of which could else be done by then
            assert planned(results) == list(range(70, 130)), results.to_csv()
            assert results.totals["retried"] > 0 and "tried again" in repr(results)
    finally:
        ray.shutdown()


class InTurn:
    """A pool that gives work to its workers in turn, some of which are dead, as those of Ray do."""

    def __init__(self, *alive):
        self.alive, self.turn = alive, -1

    def apply_async(self, function, arguments, callback, error_callback):
        self.turn = (self.turn + 1) % len(self.alive)
        if self.alive[self.turn]:
            callback(function(*arguments))
        else:
            error_callback(RuntimeError("the actor died"))


class Deadly(InTurn):
    """Such a pool, of which a worker dies of some work, for good."""

    def apply_async(self, function, arguments, callback, error_callback):
        if arguments[0].own.get("deadly"):
            self.alive = tuple(one and k != (self.turn + 1) % len(self.alive) for k, one in enumerate(self.alive))
        super().apply_async(function, arguments, callback, error_callback)


@pytest.mark.parametrize("workers", [2, 8])
def test_work_that_kills_its_worker_is_tried_on_others(workers):
    """On `retries` more, which are dead then for good, and with all of them the rest of the work (docs/python.md)."""
    pool = Deadly(*[True] * workers)
    work = [(one, {}) for one in problems(9)]
    work[0][1]["deadly"] = True
    rows = arenaut.plan_many(work, pool).rows
    assert rows[0].error and rows[0].attempts == 3 and pool.alive.count(False) == min(workers, 3)
    assert workers == 2 or not any(row.error for row in rows[1:])


@pytest.mark.parametrize("alive", [(False, True), (True, False), (False, True, True), (True, True, False)])
def test_dead_workers_that_are_given_work_in_turn(alive):
    results = arenaut.plan_many(problems(41), InTurn(*alive))
    assert planned(results) == list(range(70, 111))
    assert results.totals["retried"] == sum(row.attempts > 1 for row in results.rows) > 0
    dead = arenaut.plan_many(problems(3), InTurn(False, False))
    assert [row.error for row in dead.rows] == ["RuntimeError: the actor died"] * 3
    assert [row.attempts for row in dead.rows] == [3, 3, 3]


def test_lost_jobs_are_tried_in_the_order_of_the_work():
    """All of one broken pool fail at one moment, which is no order."""
    class Breaks:
        def __init__(self):
            self.given = []

        def submit(self, function, job):
            future = futures.Future()
            self.given.append((job.number, job.attempts))
            if job.attempts == 0 or (job.number == 5 and job.attempts == 1):
                future.set_exception(BrokenExecutor("lost"))
            else:
                future.set_result(function(job))
            return future

    breaks = Breaks()
    rows = arenaut.plan_many(problems(20), breaks, retries=2).rows
    assert [row.attempts for row in rows] == [3 if k == 5 else 2 for k in range(20)]
    again = [(k, 1) for k in range(20)]
    again.insert(6, (5, 2))
    assert breaks.given == [(k, 0) for k in range(20)] + again


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_worker_that_begins_while_its_pool_breaks_is_ended():
    runner = many.Runner(None, 0)
    victim = runner.executor.submit(os.getpid).result()
    os.kill(victim, signal.SIGKILL)
    with pytest.raises(BrokenExecutor):
        for _ in range(1000):
            runner.executor.submit(os.getpid).result()
    late = many.context().Process(target=time.sleep, args=(600,))
    late.start()
    runner.executor.pool._processes[late.pid] = late
    runner.close()
    late.join(30)
    assert late.exitcode == -signal.SIGKILL


PIPES = """
import os, signal, threading, time
import arenaut
from arenaut import many

PLAN_ONE = many.plan_one

def plan_or_die(job):
    if job.options.pop("dies", False):
        os.kill(os.getpid(), signal.SIGKILL)
    return PLAN_ONE(job)

def open_and_close(stop, lost):
    while not stop.is_set():
        ends = [end for _ in range(8) for end in os.pipe()]
        time.sleep(0.0002)
        for end in ends:
            try:
                os.close(end)
            except OSError:
                lost.append(end)

if __name__ == "__main__":
    many.plan_one = plan_or_die
    stop, lost = threading.Event(), []
    thread = threading.Thread(target=open_and_close, args=(stop, lost))
    thread.start()
    n = 4000
    long = arenaut.Problem([1] * n, list(range(n)), list(range(3, n + 3)))  # for a pipe
    for _ in range(4):
        work = [(long, {"effort": 1, "dies": k == 3}) for k in range(12)]
        rows = arenaut.plan_many(work).rows
        print([k for k, row in enumerate(rows) if row.error])
    stop.set()
    thread.join()
    print(len(lost))
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_no_file_of_others_is_closed_when_a_worker_dies(tmp_path):
    program = tmp_path / "pipes.py"
    program.write_text(PIPES)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[3]\n" * 4 + "0\n", "")
