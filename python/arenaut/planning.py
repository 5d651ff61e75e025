"""Planning a list of buffers."""

import ctypes
from ctypes import (POINTER, Structure, c_bool, c_char_p, c_int, c_int64, c_uint32, c_uint64,
                    c_void_p)
from dataclasses import dataclass

from arenaut.library import ErrorRecord, check, declare

ERROR = POINTER(ErrorRecord)


class Interval(Structure):
    _fields_ = [("first", c_int64), ("end", c_int64)]


class OptionalId(Structure):
    _fields_ = [("given", c_bool), ("id", c_uint32)]


class OptionalOffset(Structure):
    _fields_ = [("given", c_bool), ("bytes", c_uint64)]


class BufferRecord(Structure):
    """arenaut_buffer; what is not named stays zero: left out."""

    _fields_ = [("size", c_uint64), ("align", c_uint64), ("lifetimes", POINTER(Interval)),
                ("n_lifetimes", c_uint32), ("cls", c_int), ("pools", c_uint64),
                ("fixed_offset", OptionalOffset), ("hint", OptionalOffset),
                ("same_base", OptionalId), ("inside", OptionalId), ("inside_delta", c_uint64),
                ("method", OptionalId),
                ("name", c_char_p), ("op", c_char_p), ("source", c_char_p),
                ("release", c_uint32), ("uses", c_uint32)]


class PlanRecord(Structure):
    """The front of arenaut_plan, as far as it is read here."""

    _fields_ = [("n_buffers", c_uint32), ("n_pools", c_uint32), ("pool", POINTER(c_uint32)),
                ("offset", POINTER(c_uint64)), ("arena", POINTER(c_uint64)),
                ("lower_bound", POINTER(c_uint64)), ("total", c_uint64),
                ("total_bound", c_uint64), ("spill", c_uint64), ("spill_bound", c_uint64),
                ("quality", c_int)]


class OptionsRecord(Structure):
    """The front of arenaut_plan_options; what is not named stays zero, the default."""

    _fields_ = [("planner", c_char_p), ("custom", c_void_p), ("effort", c_uint64),
                ("seed", c_uint64), ("capacity", c_uint64), ("threads", c_uint32),
                ("progress", c_void_p), ("progress_context", c_void_p), ("settings", c_void_p),
                ("n_settings", ctypes.c_size_t)]


problem_new = declare("arenaut_problem_new", c_void_p, POINTER(c_void_p), ERROR)
problem_free = declare("arenaut_problem_free", c_void_p, returns=None)
add_buffer = declare("arenaut_problem_add_buffer", c_void_p, POINTER(BufferRecord), c_void_p, ERROR)
problem_finish = declare("arenaut_problem_finish", c_void_p, ERROR)
plan_make = declare("arenaut_plan_make", c_void_p, POINTER(OptionsRecord), c_void_p,
                    POINTER(POINTER(PlanRecord)), ERROR)
plan_free = declare("arenaut_plan_free", c_void_p, returns=None)
check_plan = declare("arenaut_check_plan", c_void_p, c_void_p, c_void_p, c_void_p, ERROR)
quality_name = declare("arenaut_quality_name", c_int, returns=c_char_p)


@dataclass(frozen=True)
class Buffer:
    """`size` bytes, alive from step `first` up to, not including, step `end`.

    `same_base`: the number of a buffer whose place this one may take at the one step at which
    both are alive (an operation that writes its result over its operand).
    """

    size: int
    first: int
    end: int
    align: int = 64
    same_base: int | None = None
    name: str | None = None


@dataclass(frozen=True)
class Plan:
    """Offsets in the order of the buffers, and the bytes of the arena that holds them all."""

    offsets: tuple
    arena: int
    lower_bound: int
    quality: str


def record_of(buffer):
    lifetime = Interval(buffer.first, buffer.end)
    base = OptionalId() if buffer.same_base is None else OptionalId(True, buffer.same_base)
    return BufferRecord(
        size=buffer.size, align=buffer.align, lifetimes=ctypes.pointer(lifetime), n_lifetimes=1,
        same_base=base, name=buffer.name.encode() if buffer.name else None)


def plan(buffers, planner=None, effort=0):
    """Plans `buffers` into one arena and has the plan checked. ArenautError says what is wrong."""
    problem, made = c_void_p(), POINTER(PlanRecord)()
    check(problem_new, None, ctypes.byref(problem))
    try:
        for buffer in buffers:
            check(add_buffer, problem, ctypes.byref(record_of(buffer)), None)
        check(problem_finish, problem)
        options = OptionsRecord(planner=planner.encode() if planner else None, effort=effort)
        check(plan_make, problem, ctypes.byref(options), None, ctypes.byref(made))
        finding = ctypes.create_string_buffer(1024)  # arenaut_finding: its text is in the error
        check(check_plan, problem, made, None, finding)
        answer = made.contents
        return Plan(tuple(answer.offset[:answer.n_buffers]), answer.total, answer.total_bound,
                    quality_name(answer.quality).decode())
    finally:
        plan_free(made)
        problem_free(problem)
