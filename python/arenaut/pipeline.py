"""One run of the library's pipeline over files, include/arenaut/pipeline.h: its stages, and their errors."""

import ctypes
import os

from arenaut import records
from arenaut.errors import error_of
from arenaut.library import C, borrowed, check, text_of
from arenaut.options import pipeline_options, time_limit
from arenaut.planning import failure
from arenaut.problem import Problem
from arenaut.watch import Watch, now

#: Options that no field of the library's tells from those that were not given, where they are off.
RIGHTS = "inplace", "overlap", "split", "reorder", "recompute"
NOTE = dict(records.PipelineOptions._fields_)["note"]
#: Options by the names of the command's flags, which the pipeline knows.
NAMES = {"dim": "dims", "pin": "pins", "pool": "pools"}


class Pipeline:
    """One run of the pipeline, and all that its C side borrows."""

    def __init__(self, files, given, progress=False):
        self.watch = Watch(progress, time_limit(given.get("time")))
        self.files, self.given = files, given
        self.options, self.kept = pipeline_options(given, files[0][0], self.watch)
        self.notes = notes = []  # by a name of its own: with `self` it would wait for the garbage collector
        self.options.note = NOTE(lambda _, text: notes.append(text_of(text)))
        self.pointer = ctypes.POINTER(records.Pipeline)()

    def __del__(self):
        if getattr(self, "pointer", None):
            C.arenaut_pipeline_free(self.pointer)

    @property
    def record(self):
        """The same as the library has it, which lives as long as this object."""
        record = self.pointer.contents
        record.owner = self
        return record

    def call(self, stage, *arguments):
        """A stage before there is a plan to keep: Ctrl-C raises KeyboardInterrupt behind it."""
        error = records.Error()
        with self.watch:
            status = stage(self.pointer, *arguments, error)
        if self.watch.interrupted:
            raise KeyboardInterrupt
        self.check_raised()
        if status != records.OK:
            raise self.failure(status, error)

    def check_raised(self):
        if self.watch.raised:
            raised, self.watch.raised = self.watch.raised, None
            raise raised

    def failure(self, status, error):
        """The exception for the status of a stage, with the option that is to blame."""
        fault, message = self.record.fault, text_of(error.msg)
        sizes = tuple(text_of(fault.open[k]) for k in range(min(fault.n_open, records.MAX_OPEN_SIZES)))
        about = {"position": error.at or None, "open_sizes": sizes}
        if sizes:
            about["option"] = "dims"
            message += f", e.g. with dims={{'{sizes[0]}': 1}}"
        elif fault.option:
            about["option"] = NAMES.get(text_of(fault.option), text_of(fault.option))
        return error_of(status, f"{self.files[fault.file][0]}: {message}", **about)

    def read(self):
        """Options may be changed before."""
        check(C.arenaut_pipeline_new, self.options, None, ctypes.byref(self.pointer))
        self.borrowed = (records.PipelineFile * len(self.files))(*(
            (os.fsencode(name), borrowed(data), len(data)) for name, data in self.files))
        self.call(C.arenaut_pipeline_read, self.borrowed, len(self.files))
        return self

    def prepare(self):
        self.call(C.arenaut_pipeline_prepare)
        return self

    def plan(self):
        """From the prepared problem to a checked plan, beside the runtime's own."""
        return self._search(C.arenaut_pipeline_plan)

    def describe(self, or_better):
        """The same, but that a file which holds a right plan is described by that one, unless rights were
        given or refused."""
        if any(self.given.get(right) is not None for right in RIGHTS):
            return self.plan()
        return self._search(C.arenaut_pipeline_describe, or_better)

    def _search(self, stage, *arguments):
        error = records.Error()
        began = now()
        with self.watch:  # it watches the runtime's own planner as well
            status = C.arenaut_pipeline_find_baseline(self.pointer, error)
            if status == records.OK:
                status = stage(self.pointer, *arguments, error)
        self.seconds = now() - began
        self.check_raised()
        if status == records.NO_PLAN and self.record.plan:
            raise failure(status, error, self.record.plan, Problem._copy(self.record.problem.contents))
        if status != records.OK:
            raise self.failure(status, error)
        return self
