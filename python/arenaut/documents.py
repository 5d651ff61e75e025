"""Problems and plans as text, pictures and files: what the formats and reports of the library make
of them."""

from __future__ import annotations

import ctypes
import os

from arenaut import arrays, records
from arenaut.errors import InputError, RefusedError
from arenaut.library import C, check, text_of, took


class Text(str):
    """Text that a prompt and a notebook show as it is."""

    def __repr__(self):
        return str(self)


def named(kind, name):
    """A row of one of the library's tables: formats, reports, planners, targets, kernel sets."""
    row = FIND[kind](arrays.encoded(name, kind))
    if row:
        return row.contents
    count, at = TABLES[kind]
    names = [text_of(at(k).contents.name) for k in range(count())]
    import difflib
    near = difflib.get_close_matches(name, names, 1)
    raise InputError(f"there is no {kind} '{name}'" + (f": did you mean '{near[0]}'?" if near else
                     f"; there are {', '.join(names)}"), records.BAD_ARGUMENT, found=name,
                     allowed=", ".join(names))


FIND = {"format": C.arenaut_format_find, "report": C.arenaut_report_find,
        "planner": C.arenaut_planner_find, "target": C.arenaut_target_find,
        "kernel set": C.arenaut_kernel_set_find}
TABLES = {"format": (C.arenaut_format_count, C.arenaut_format_at),
          "report": (C.arenaut_report_count, C.arenaut_report_at),
          "planner": (C.arenaut_planner_count, C.arenaut_planner_at),
          "target": (C.arenaut_target_count, C.arenaut_target_at),
          "kernel set": (C.arenaut_kernel_set_count, C.arenaut_kernel_set_at)}


def result_of(problem, plan=None):
    """A result about a bare problem and the record of its plan, for writers and reports."""
    made = records.Result(path=b"problem", format=b"problem-json", problem=ctypes.pointer(problem._record),
                          plan=ctypes.pointer(plan) if plan is not None else None, seconds=-1)
    kernels, made.given_kernels.unmeasured, made.n_rounded, ops, certificate = problem._stated
    made.given_kernels.name = None if kernels is None else kernels.encode()
    made.kept = Certified(certificate) if certificate else None
    if certificate:
        made.rematerialization = made.kept.document.rematerialization
    for name, rows in ops.items():
        kind = OPS[name]
        count = len(rows) // ctypes.sizeof(kind)
        setattr(made.given_ops, name, (kind * count).from_buffer_copy(rows))
        setattr(made.given_ops, f"n_{name}", count)
    return made


class Certified:
    """A plan's file, read for its certificate of rematerialization."""

    def __init__(self, data):
        self.document = records.Document()
        check(C.arenaut_read, data, len(data), None, None, None, ctypes.byref(self.document))

    def __del__(self):
        C.arenaut_document_free(ctypes.byref(self.document))


#: Lists of an arenaut_given_ops, by what their rows are.
OPS = {"tiles": records.SplitStage, "copied": ctypes.c_uint32, "schedule": ctypes.c_uint32, "joined": ctypes.c_uint32}


def ops_of(given):
    """The bytes of each list that is stated."""
    return {name: ctypes.string_at(getattr(given, name), getattr(given, f"n_{name}") * ctypes.sizeof(kind))
            for name, kind in OPS.items() if getattr(given, name)}


def stated_by(result):
    """What a result says of its ops, as problem.NOTHING_STATED names it."""
    kernels = text_of(C.arenaut_result_kernels_name(result))
    given = result.unmeasured if result.kernels else result.given_kernels.unmeasured
    certificate = emit(named("format", "plan-json"), result) if result.rematerialization and result.plan else None
    return (kernels, bool(kernels and given), C.arenaut_result_rounded(result),
            ops_of(C.arenaut_result_ops(result)), certificate)


def emit(format_or_report, result, settings=None):
    """The bytes that a row of the tables of formats or reports makes of a result; `settings` is an
    arenaut_report_options."""
    if isinstance(format_or_report, records.Format):
        if not format_or_report.write:
            raise RefusedError(f"the format '{text_of(format_or_report.name)}' can only be read",
                               records.REFUSED)
        if format_or_report.needs_original and result.format != format_or_report.name:
            raise RefusedError(f"the format '{text_of(format_or_report.name)}' holds a plan only inside "
                               "a model of its own", records.REFUSED)
        return took(lambda sink: check(format_or_report.write, result, sink, None))
    return took(lambda sink: check(C.arenaut_report_emit, format_or_report, result, settings, sink,
                                   None))


def write(name, problem, plan=None):
    """A problem, with its plan, in the format of this name."""
    record = None if plan is None else plan._record
    return emit(named("format", name), result_of(problem, record))


def format_for(path):
    """The name of the format that a file is to be written in, by the file's name."""
    row = C.arenaut_format_for_path(os.fsencode(path))
    if not row:
        raise InputError(f"{os.fspath(path)}: no format has this extension", found=os.fspath(path))
    return text_of(row.contents.name)


def kind_for(path):
    """The report or format of a file to be written: .svg, .h, .json, .csv, .tflite, …"""
    extension = os.path.splitext(os.fspath(path))[1]
    for k in range(C.arenaut_report_count()):
        report = C.arenaut_report_at(k).contents
        if report.extension and text_of(report.extension) == extension:
            return report
    return named("format", format_for(path))


def write_file(path, data):
    """All of it or nothing: what was there stays until the new bytes are whole. Of two that write one
    file at once, one is whole in the end."""
    path = os.path.realpath(os.fsdecode(path))  # a link stays a link
    temporary = f"{path}.{os.urandom(4).hex()}.tmp"
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException as error:
        if os.path.exists(temporary):
            os.unlink(temporary)
        if isinstance(error, OSError):  # of the file that was meant
            raise OSError(error.errno, error.strerror, path) from None
        raise


def read_problem(cls, text):
    data = text.encode() if isinstance(text, str) else bytes(memoryview(text))
    document = records.Document()
    check(C.arenaut_read, data, len(data), None, None, None, ctypes.byref(document))
    try:
        if not document.problem:
            raise InputError("this is a model, not a problem: arenaut.open reads it")
        kernels, proven = document.kernels, document.rematerialization
        ops = document.ops
        if proven and not ops.schedule:
            ops.schedule, ops.n_schedule = proven.contents.runs, proven.contents.n_runs
        return cls._copy(document.problem.contents, (text_of(kernels.name), kernels.unmeasured, document.n_rounded,
                                                     ops_of(ops), data if proven else None))
    finally:
        C.arenaut_document_free(ctypes.byref(document))
