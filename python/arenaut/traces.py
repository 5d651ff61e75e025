"""Traces of other people's allocators, as the files that arenaut reads (docs/traces.md):

    python -m arenaut.traces snapshot.pickle -o step.trace.csv   # torch.cuda.memory._dump_snapshot
    python -m arenaut.traces ggml.log -o graph.trace.csv         # ggml's log with its allocator's debug lines
    arenaut size step.trace.csv
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import pickle
import re
import sys
from collections.abc import Iterable, Mapping

from arenaut.deferred import typed
from arenaut.errors import InputError


COLUMNS = ("event", "time", "address", "size", "device", "stream", "tag")


class Writer:
    """Collects events, one a line."""

    def __init__(self):
        self.text = io.StringIO()
        self.csv = csv.writer(self.text, lineterminator="\n")
        self.csv.writerow(COLUMNS)

    def add(self, event, address=None, size=None, time=None, device=None, stream=None, tag=None):
        self.csv.writerow([event, *("" if cell is None else cell for cell in (
            time, None if address is None else hex(address), size, device, stream, tag))])


# ---- PyTorch ----

#: What PyTorch calls an event, and what it is here; the others say nothing of memory.
TORCH_EVENTS = {"alloc": "alloc", "free_completed": "free", "segment_alloc": "reserve",
                "segment_map": "reserve", "segment_free": "release", "segment_unmap": "release"}


def author_line(frames: Iterable[Mapping[str, typed.Any]]) -> str | None:
    """The innermost line that is not PyTorch's own."""
    shown = [frame for frame in frames if frame.get("filename", "").endswith(".py")]
    own = [frame for frame in shown if f"{os.sep}torch{os.sep}" not in frame["filename"]]
    for frame in own or shown:
        return f"{os.path.basename(frame['filename'])}:{frame['line']} {frame['name']}"
    return None


class TorchDevice:
    """The history of one device. It may begin in the middle of a run: what was there before is seen
    by its release, or by its being there at the end, and is asked for in front of all else."""

    def __init__(self, number, events, segments):
        self.number, self.events = number, events
        self.segments = [segment for segment in segments if segment.get("device", 0) == number]

    def earlier(self):
        """(address, size, stream) of blocks, and (size, stream) of what was reserved, from before."""
        out, blocks, reserved = {}, [], {}
        for event in self.events:
            kind, stream = TORCH_EVENTS.get(event["action"]), event.get("stream", 0)
            if kind == "alloc":
                out[event["addr"]] = event
            elif kind == "free" and out.pop(event["addr"], None) is None:
                blocks.append((event["addr"], event["size"], stream))
            elif kind in ("reserve", "release"):
                sign = -1 if kind == "reserve" else 1
                reserved[stream] = reserved.get(stream, 0) + sign * event["size"]
        for segment in self.segments:
            stream, address = segment.get("stream", 0), segment["address"]
            reserved[stream] = reserved.get(stream, 0) + segment["total_size"]
            for block in segment["blocks"]:
                if block["state"] != "inactive" and address not in out:
                    blocks.append((address, block.get("requested_size", block["size"]), stream))
                address += block["size"]
        return blocks, sorted((size, stream) for stream, size in reserved.items() if size > 0)

    def write(self, writer):
        blocks, reserved = self.earlier()
        for size, stream in reserved:
            writer.add("reserve", size=size, device=self.number, stream=stream, tag="earlier")
        for address, size, stream in blocks:
            writer.add("alloc", address, size, device=self.number, stream=stream, tag="earlier")
        for event in self.events:
            kind = TORCH_EVENTS.get(event["action"])
            if kind:
                writer.add(kind, event["addr"], event["size"], event.get("time_us"), self.number,
                           event.get("stream", 0),
                           author_line(event.get("frames", ())) if kind == "alloc" else None)


def from_torch(snapshot: Mapping[str, typed.Any], device: int | None = None) -> str:
    """A trace from the result of torch.cuda.memory._snapshot().

    Parameters
    ----------
    snapshot : mapping of str, Any
        Recorded with torch.cuda.memory._record_memory_history(); it has "device_traces"
        and "segments".
    device : int, optional
        The number of the only device that is wanted; None: the only one that has a history.

    Returns
    -------
    str
        CSV. Times are microseconds, sizes bytes as they were asked for, tags the author's lines.

    Raises
    ------
    InputError
        There is no history, or more than one device has one; or a part is missing.
    """
    try:
        traces, segments = snapshot["device_traces"], snapshot.get("segments", [])
        with_history = [number for number, events in enumerate(traces) if events]
        if device is None and len(with_history) > 1:
            raise InputError(f"devices {with_history} have a history; choose one of them")
        chosen = device if device is not None else with_history[0] if with_history else None
        if chosen is None or chosen not in with_history:
            raise InputError("the snapshot has no history; call "
                             "torch.cuda.memory._record_memory_history() before the run")
        writer = Writer()
        TorchDevice(chosen, traces[chosen], segments).write(writer)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"the snapshot is not as PyTorch writes it: {error!r}") from error
    return writer.text.getvalue()


class PlainUnpickler(pickle.Unpickler):
    """Dicts, lists, numbers and text: a pickle from somebody else must run nothing."""

    def find_class(self, module, name):
        raise InputError(f"the pickle holds a {module}.{name}; a snapshot has plain values only")


def load_torch(data: bytes) -> typed.Any:
    """The snapshot in the bytes of a pickle.

    Raises
    ------
    InputError
        They are no pickle, are cut off, or hold more than plain values.
    """
    try:
        return PlainUnpickler(io.BytesIO(data)).load()
    except InputError:
        raise
    except Exception as error:  # whatever the bytes make pickle do
        raise InputError(f"this is no whole pickle: {error}") from error


# ---- ggml ----

GGML_ALLOC = re.compile(r"allocating (?P<name>.*) \((?P<size>\d+) bytes\) - .*?offset (?P<at>\d+)")
GGML_FREE = re.compile(r"freeing (?P<name>.*) at (?P<at>\d+) \(\d+ bytes\)")


def from_ggml(log: str) -> str:
    """A trace from the log of a program that was built with ggml's allocator's debug lines
    (AT_PRINTF in ggml-alloc.c). Where a graph is measured anew before its tensors are free, what was
    logged so far is dropped.

    Raises
    ------
    InputError
        There is no such line.
    """
    events: list[tuple[str, int, int | None, str]] = []
    live: set[int] = set()
    for line in log.splitlines():
        if found := GGML_ALLOC.search(line):
            at = int(found["at"])
            if at in live:  # a graph that is measured anew
                events, live = [], set()
            live.add(at)
            events.append(("alloc", at, int(found["size"]), found["name"]))
        elif (found := GGML_FREE.search(line)) and int(found["at"]) in live:
            live.remove(int(found["at"]))
            events.append(("free", int(found["at"]), None, ""))
    if not events:
        raise InputError("the log has no line 'allocating … bytes … offset …': ggml-alloc.c writes them "
                         "where AT_PRINTF is defined to print")
    writer = Writer()
    for event, address, size, name in events:
        writer.add(event, address, size, tag=name or None)
    return writer.text.getvalue()


# ---- the command ----

def convert(data: bytes, device: int | None = None) -> str:
    """A trace from the bytes of a file, of whichever kind it is."""
    if data[:1] == b"\x80":
        return from_torch(load_torch(data), device)
    return from_ggml(data.decode(errors="replace"))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m arenaut.traces", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="a memory snapshot of PyTorch, or a log of ggml")
    parser.add_argument("-o", "--output", help="where the trace goes; else it is printed")
    parser.add_argument("--device", type=int, help="the number of the device, where there are several")
    given = parser.parse_args(arguments)
    try:
        with open(given.file, "rb") as file:
            text = convert(file.read(), given.device)
        if given.output:
            with open(given.output, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        else:
            sys.stdout.write(text)
    except (InputError, OSError) as error:
        sys.exit(f"arenaut: {given.file}: {error}")


if __name__ == "__main__":
    main()
