"""arenaut.traces, and what the command says of a trace: held against a model of PyTorch's caching
allocator that writes a snapshot as PyTorch does."""

import json
import pickle
import random
import subprocess
import sys

import pytest
from conftest import DATA

import arenaut
from arenaut import traces

MIB = 1 << 20
COMMAND = [sys.executable, "-m", "arenaut"]


def up(number, grain):
    return -(-number // grain) * grain


class Caching:
    """PyTorch's allocator, from its description (CUDACachingAllocator.cpp): no code is shared with
    src/planners/runtimes/torch_caching.c, and all is searched from end to end."""

    def __init__(self, expandable):
        self.expandable, self.segments, self.events, self.reserved, self.top = expandable, [], [], 0, 0
        self.where = {}

    def event(self, action, address, size, stream):
        self.events.append({"action": action, "addr": address, "size": size, "stream": stream,
                            "time_us": len(self.events), "frames": [
                                {"filename": "/lib/torch/nn.py", "line": 1, "name": "forward"},
                                {"filename": "/home/model.py", "line": 7, "name": "step"}]})

    def grow(self, stream, large, size):
        if not self.expandable:
            bytes_ = 2 * MIB if not large else 20 * MIB if size < 10 * MIB else up(size, 2 * MIB)
            segment = {"stream": stream, "large": large, "blocks": [[self.top, bytes_, None]]}
            self.segments.append(segment)
            self.event("segment_alloc", self.top, bytes_, stream)
            self.top += up(bytes_, 1 << 30)  # drivers leave gaps
            self.reserved += bytes_
            return segment, 0
        segment = next((s for s in self.segments if s["large"] == large and s["stream"] == stream), None)
        if not segment:
            segment = {"stream": stream, "large": large, "blocks": [],
                       "end": (1 << 40) + (2 * stream + large) * (1 << 42)}
            self.segments.append(segment)
        blocks, last = segment["blocks"], segment["blocks"][-1:]
        have = last[0][1] if last and last[0][2] is None else 0
        more = up(size - have, (20 if large else 2) * MIB)
        self.event("segment_map", segment["end"], more, stream)
        if have:
            last[0][1] += more
        else:
            blocks.append([segment["end"], more, None])
        segment["end"] += more
        self.reserved += more
        return segment, len(blocks) - 1

    def best(self, stream, large, size):
        fits = []
        for segment in self.segments:
            for index, block in enumerate(segment["blocks"]):
                if (segment["stream"], segment["large"]) == (stream, large) and block[2] is None and block[1] >= size:
                    fits.append((block[1], block[0], index, segment))
        fits.sort(key=lambda fit: fit[:2])
        if self.expandable and len(fits) > 1 and fits[0][2] == len(fits[0][3]["blocks"]) - 1:
            fits.pop(0)
        return (fits[0][3], fits[0][2]) if fits else None

    def alloc(self, name, asked, stream):
        size = max(512, up(asked, 512))
        large = size > MIB
        segment, index = self.best(stream, large, size) or self.grow(stream, large, size)
        block = segment["blocks"][index]
        rest = block[1] - size
        if rest > MIB if large and not self.expandable else rest >= 512:
            segment["blocks"].insert(index + 1, [block[0] + size, rest, None])
            block[1] = size
        block[2] = asked
        self.where[name] = (segment, block)
        self.event("alloc", block[0], asked, stream)

    def free(self, name):
        segment, block = self.where.pop(name)
        self.event("free_requested", block[0], block[2], segment["stream"])
        self.event("free_completed", block[0], block[2], segment["stream"])
        block[2] = None
        joined = []
        for one in segment["blocks"]:
            if joined and joined[-1][2] is None and one[2] is None:
                joined[-1][1] += one[1]
            else:
                joined.append(one)
        segment["blocks"] = joined

    def snapshot(self, events=None):
        segments = [{"device": 0, "address": s["blocks"][0][0], "stream": s["stream"],
                     "total_size": sum(b[1] for b in s["blocks"]),
                     "blocks": [{"size": size, "requested_size": asked or 0,
                                 "state": "inactive" if asked is None else "active_allocated"}
                                for _, size, asked in s["blocks"]]} for s in self.segments]
        return {"device_traces": [self.events if events is None else events], "segments": segments}


def run(seed, expandable, n=200, streams=1):
    rng = random.Random(seed)
    allocator, live, peak = Caching(expandable), {}, 0
    for k in range(n):
        while live and rng.random() < 0.45:
            name = rng.choice(sorted(live))
            del live[name]
            allocator.free(name)
        live[k] = rng.choice([1, 512, rng.randint(1, 3000), rng.randint(1, MIB), MIB, MIB + 1,
                              rng.randint(MIB, 12 * MIB), 10 * MIB, rng.randint(1, 70 * MIB)])
        allocator.alloc(k, live[k], rng.randrange(streams))
        peak = max(peak, sum(live.values()))
    return allocator, live, peak


def answers(text, tmp_path, *arguments):
    path = tmp_path / "run.trace.csv"
    path.write_text(text)
    done = subprocess.run([*COMMAND, "size", "--json", *arguments, str(path)], capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("expandable", [False, True], ids=["fixed", "expandable"])
@pytest.mark.parametrize("seed", range(6))
def test_the_replay_reserves_what_the_allocator_did(seed, expandable, tmp_path):
    allocator, live, peak = run(seed, expandable)
    answer = answers(traces.from_torch(allocator.snapshot()), tmp_path)
    trace = answer["trace"]
    assert trace["asked"]["peak"] == peak and trace["held"] == len(live)
    assert trace["reserved"]["peak"] == allocator.reserved
    assert trace["caching"]["expandable" if expandable else "fixed"] == allocator.reserved
    assert int(answer["result"]["lower_bound"]) == peak <= int(answer["result"]["arena"])
    assert answer["baseline_plan"]["wrong"] is None
    assert {buffer["op"] for buffer in answer["buffers"]} == {"model.py:7 step"}


@pytest.mark.parametrize("expandable", [False, True], ids=["fixed", "expandable"])
@pytest.mark.parametrize("seed", range(4))
def test_streams_have_segments_of_their_own(seed, expandable, tmp_path):
    """What one stream gives back is of no use to another: each is replayed by itself, and sums are theirs."""
    allocator, _, peak = run(seed, expandable, streams=3)
    answer = answers(traces.from_torch(allocator.snapshot()), tmp_path)
    trace = answer["trace"]
    assert trace["asked"]["peak"] == peak
    assert trace["reserved"]["peak"] == trace["caching"]["expandable" if expandable else "fixed"] == allocator.reserved
    assert {pool["name"] for pool in answer["pools"]} == {f"device 0 stream {k}" for k in range(3)}
    assert answer["baseline_plan"]["wrong"] is None


@pytest.mark.parametrize("seed", range(4))
def test_a_history_that_begins_in_the_middle(seed, tmp_path):
    allocator, live, _ = run(seed, False)
    events = allocator.events[len(allocator.events) // 2:]
    answer = answers(traces.from_torch(allocator.snapshot(events)), tmp_path)
    assert answer["trace"]["reserved"]["peak"] == allocator.reserved
    assert answer["trace"]["held"] == len(live)
    assert answer["baseline_plan"]["wrong"] is None


def test_a_plan_of_a_trace(tmp_path):
    allocator, *_ = run(1, False)
    model = arenaut.Model.parse(traces.from_torch(allocator.snapshot()).encode(), "run.trace.csv")
    assert model.format == "trace"
    plan = model.plan()
    plan.check()
    assert plan.arena < plan.now


@pytest.mark.parametrize("name", ["two_streams.trace.csv", "json/everything.trace.json"])
def test_python_has_what_the_command_says_of_a_trace(name):
    done = subprocess.run([*COMMAND, "size", "--json", str(DATA / name)], capture_output=True, text=True,
                          timeout=60, check=True)
    theirs, ours = json.loads(done.stdout)["trace"], arenaut.open(DATA / name).trace
    number = lambda value: None if value is None else int(value)
    assert (ours.events, ours.requests, ours.held) == tuple(theirs[key] for key in ("events", "requests", "held"))
    for peak, column, said in ((ours.most_asked, ours.asked, theirs["asked"]),
                               (ours.most_reserved, ours.reserved, theirs.get("reserved"))):
        assert peak == number(said and said["peak"])
        assert (said is None) == (column is None) and (column is None or column.index(peak) == said["step"])
    caching = theirs.get("caching", {})
    assert (ours.caching, ours.caching_expandable) == (number(caching.get("fixed")), number(caching.get("expandable")))
    assert [list(row) for row in zip(range(ours.requests), *filter(None, (ours.asked, ours.reserved)))] == [
        list(map(int, row)) for row in theirs["curve"]]
    assert pickle.loads(pickle.dumps(ours)) == ours


def test_only_traces_have_one():
    assert arenaut.open(DATA / "fragmented.csv").trace is None
    empty = arenaut.Model.parse(b"event,id,size\n", "run.trace.csv").trace
    assert (empty.requests, list(empty.asked), empty.reserved, empty.most_reserved) == (0, [], None, None)
    wide = arenaut.Model.parse(b"event,id,size,alignment\nalloc,a,1,1024\n", "run.trace.csv").trace
    assert (wide.most_asked, wide.held, wide.caching) == (1, 1, None)


def test_streams_are_pools(tmp_path):
    text = ("event,address,size,device,stream\nalloc,0x100,100,0,a\nalloc,0x100,50,1,a\nfree,0x100,,0,\n"
            "alloc,0x180,10,0,b\n")
    answer = answers(text, tmp_path)
    assert [pool["name"] for pool in answer["pools"]] == ["device 0 stream a", "device 1 stream a",
                                                           "device 0 stream b"]
    assert [pool["arena"] for pool in answer["pools"]] == [100, 50, 10]


@pytest.mark.parametrize("text, message", [
    ("event,size\nalloc,1\n", "of no known format"),
    ("event,address,size\nalloc,0x10,8\nalloc,0x17,8\n",
     "line 3: 8 bytes at 0x17 overlap the 8 bytes at 0x10 of line 2, which are not freed"),
    ("event,address,size\nalloc,0x17,8\nalloc,0x10,8\n", "line 3: 8 bytes at 0x10 overlap the 8 bytes at 0x17"),
    ("event,address,size\nalloc,16,8\nfree,16,\nfree,16,\n",
     "line 4: 'free' of address 0x10, which is free since line 3"),
    ("event,address,size\nfree,16,\n", "line 2: 'free' of address 0x10, for which nothing has asked before"),
    ("event,address,size\nalloc,16,8\nfree,16,9\n", "line 3: 'free' of 9 bytes; line 2 asked for 8"),
    ("event,id,size\nalloc,a,8\nalloc,a,8\n", "line 3: id 'a' is that of line 2, which is not freed"),
    ("event,id,address,size\nalloc,a,1,8\nalloc,,20,8\n", "line 3: the blocks of this trace go by their ids"),
    ("event,id,size,time\nalloc,a,8,5\nfree,a,,4\n", "line 3: the time goes back from 5 to 4"),
    ("event,id,size\nalloc,a,\n", "line 2: 'alloc' without a size"),
    ("event,id,size\nmalloc,a,1\n", "line 2: column 'event': found 'malloc'; expected alloc, free"),
    ("event,address,size\nalloc,0x1g,1\n", "line 2: column 'address': found '0x1g'"),
    ("event,address,size\nalloc,9223372036854775807,1\n", "end past"),
    ("event,id,size\nalloc,a,9223372036854775807\nalloc,b,9223372036854775807\n", "more than 2^63 - 1"),
    ("event,id,size\nalloc,a,1,2\n", "line 2: 4 cells; the header names 3 columns"),
    ("event,id,size,size\n", "line 1: column 'size': found 'size'; expected each column once"),
    ("event,id,size\nalloc,a,1\nrelease,,5\n", "line 3: 'release' of 5 bytes; 0 are reserved"),
    ("event,id,size,alignment\nalloc,a,1,3\n", "line 2: "),
    ("event,id,size,stream\n" + "".join(f"alloc,{k},1,{k}\n" for k in range(65)), "a stream more than the 64"),
    ('{"schema": "arenaut.trace/1", "events": [{"event": "alloc", "id": 1, "size": 8},\n'
     '{"event": "free", "id": 2}]}', "line 2, event 2: 'free' of id '2', for which nothing has asked"),
    ('{"schema": "arenaut.trace/1", "events": [{"event": "alloc", "id": 1, "size": -8}]}', "size"),
    ('{"schema": "arenaut.trace/1"}', "events"),
    ('{"schema": "arenaut.trace/2", "events": []}', "arenaut.trace"),
])
def test_what_cannot_have_happened(text, message):
    with pytest.raises(arenaut.ArenautError) as caught:
        arenaut.Model.parse(text.encode(), "bad").plan()
    assert message in str(caught.value)


def test_csv_and_json_say_the_same(tmp_path):
    text = "event,time,address,size,stream,tag,alignment\nalloc,3,0x40,100,s,t,64\nfree,4,0x40,,s,,\nalloc,4,64,3,s,u,\n"
    events = [{"event": "alloc", "time": 3, "address": "0x40", "size": 100, "stream": "s", "tag": "t",
               "alignment": 64}, {"event": "free", "time": 4, "address": 64, "stream": "s"},
              {"event": "alloc", "time": 4, "address": "64", "size": 3, "stream": "s", "tag": "u"}]
    as_json = json.dumps({"schema": "arenaut.trace/1", "events": events})
    ours, theirs = answers(text, tmp_path), answers(as_json, tmp_path)
    assert ours["buffers"] == theirs["buffers"] and ours["trace"] == theirs["trace"]
    assert ours["result"]["arena"] == 100


def test_an_empty_trace(tmp_path):
    answer = answers("event,id,size\n", tmp_path)
    assert answer["trace"]["requests"] == 0 and answer["result"]["arena"] == 0


def test_ggml():
    log = ("ggml_dyn_tallocr_alloc: allocating old (32 bytes) - block 0, offset 0\n"
           "ggml_dyn_tallocr_alloc: allocating a b (c) (1024 bytes) - block 0, offset 0\n"
           "max_size = 0.00 MB: tensors: a [0-400] (0.00 MB)\n"
           "ggml_dyn_tallocr_alloc: allocating x (512 bytes) - block 0, offset 1024\n"
           "ggml_dyn_tallocr_free_tensor: freeing a b (c) at 0 (1024 bytes) - n_free_blocks = 1\n"
           "ggml_dyn_tallocr_alloc: allocating y (2048 bytes) - block 1, offset 1536\n")
    model = arenaut.Model.parse(traces.from_ggml(log).encode(), "log")
    size = model.size()
    assert (size.now, size.planned) == (3584, 2560)
    with pytest.raises(arenaut.InputError, match="AT_PRINTF"):
        traces.from_ggml("nothing here")


class Evil:
    def __reduce__(self):
        return print, ("run",)


@pytest.mark.parametrize("data, message", [
    (pickle.dumps(Evil()), "plain values only"),
    (pickle.dumps({"device_traces": [[]], "segments": []}), "no history"),
    (pickle.dumps({"device_traces": [[{"action": "alloc"}]]}), "not as PyTorch writes it"),
    (pickle.dumps([1]), "not as PyTorch writes it"),
    (pickle.dumps({"device_traces": [[1], [1]]}), "choose one"),
    (pickle.dumps({"a": "b"})[:-3], "no whole pickle"),
    (b"\x80\x04garbage", "no whole pickle"),
    (b"", "AT_PRINTF"),
])
def test_files_that_are_no_traces(data, message, tmp_path, capsys):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(SystemExit) as caught:
        traces.main([str(path), "-o", str(tmp_path / "out")])
    assert message in str(caught.value) and "run" not in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


def test_from_a_snapshot_to_an_answer(tmp_path):
    allocator, *_ = run(2, True)
    snapshot, trace = tmp_path / "snapshot.pickle", tmp_path / "step.trace.csv"
    snapshot.write_bytes(pickle.dumps(allocator.snapshot()))
    traces.main([str(snapshot), "-o", str(trace)])
    done = subprocess.run([*COMMAND, "size", str(trace)], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 0 and "reserved at most" in done.stdout, done.stderr
