"""The iteration planner: include/arenaut/runtime_iteration.h, over places from any planner."""

import ctypes
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char, c_char_p, c_int,
                    c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)

from arenaut.library import OK, ArenautError, declare
from arenaut.records import Error as ErrorRecord

NO_VALUE = 0xFFFFFFFF
MANAGED = 1


class ValueRecord(Structure):
    _fields_ = [("kind", c_uint8), ("returned", c_uint8), ("first", c_uint32),
                ("last", c_uint32), ("storage", c_uint32), ("over", c_uint32)]


class OptionsRecord(Structure):
    _fields_ = [("out_variants", c_bool), ("manage_outputs", c_bool),
                ("optimise_memory", c_bool), ("keep_buffer", c_bool),
                ("outputs_in_arena", c_bool), ("poison", c_bool), ("grouping", c_uint8),
                ("slack", c_uint16), ("align", c_size_t)]


ALLOCATE = CFUNCTYPE(c_void_p, c_void_p, c_size_t, c_size_t, c_void_p)
RELEASE = CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)


class DeviceRecord(Structure):
    _fields_ = [("type", c_uint16), ("index", c_uint16)]


class SourceRecord(Structure):
    _fields_ = [("allocate", ALLOCATE), ("release", RELEASE), ("context", c_void_p),
                ("device", DeviceRecord)]


class HooksRecord(Structure):
    _fields_ = [("release", c_void_p), ("forget", c_void_p), ("retain", c_void_p),
                ("context", c_void_p)]


class ConfigRecord(Structure):
    _fields_ = [("value", POINTER(ValueRecord)), ("n_values", c_uint32),
                ("options", OptionsRecord), ("source", SourceRecord), ("arena", SourceRecord),
                ("place", c_void_p), ("place_context", c_void_p), ("hooks", HooksRecord)]


class PlannerRecord(Structure):
    """arenaut_iteration_planner: the context of its callback, and where its answer's worth is."""

    _fields_ = [("options", c_void_p), ("allocator", c_void_p), ("error", ErrorRecord),
                ("lower_bound", c_uint64), ("quality", c_int)]


class FaultRecord(Structure):
    _fields_ = [("reason", c_uint32), ("object", c_uint32), ("found", c_size_t),
                ("allowed", c_size_t)]


class Figures(Structure):
    """arenaut_iteration_figures."""

    _fields_ = [("managed", c_uint32), ("reused", c_uint32), ("managed_outputs", c_uint32),
                ("unmanaged_scalars", c_uint32), ("unmanaged_non_scalars", c_uint32),
                ("unmanaged", c_uint32), ("managed_bytes", c_size_t),
                ("output_bytes", c_size_t), ("overflows", c_uint32),
                ("overflow_bytes", c_size_t), ("largest_overflow", c_size_t)]


FAULT = POINTER(FaultRecord)
iteration_bytes = declare("arenaut_iteration_bytes", c_uint32, returns=c_size_t)
iteration_init = declare("arenaut_iteration_init", c_void_p, c_size_t, POINTER(ConfigRecord),
                         POINTER(c_void_p), FAULT)
iteration_close = declare("arenaut_iteration_close", c_void_p, FAULT)
iteration_allocate = declare("arenaut_iteration_allocate", c_void_p, FAULT)
iteration_deallocate = declare("arenaut_iteration_deallocate", c_void_p, FAULT)
iteration_learn = declare("arenaut_iteration_learn", c_void_p, c_uint32, c_size_t, FAULT)
iteration_plan = declare("arenaut_iteration_plan", c_void_p, FAULT)
iteration_buffer = declare("arenaut_iteration_buffer", c_void_p, returns=c_void_p)
iteration_offset = declare("arenaut_iteration_offset", c_void_p, c_uint32, returns=c_size_t)
iteration_count = declare("arenaut_iteration_count", c_void_p, returns=Figures)
iteration_defaults = declare("arenaut_iteration_defaults", returns=OptionsRecord)
place_with_planner = declare("arenaut_iteration_place", c_void_p, c_void_p)
fault_text = declare("arenaut_fault_text", FAULT, c_char_p, c_size_t, returns=c_char_p)


def check(call, *arguments):
    """Calls a function whose last argument is a fault; raises its sentence."""
    fault = FaultRecord()
    status = call(*arguments, byref(fault))
    if status != OK:
        text = ctypes.create_string_buffer(320)
        fault_text(byref(fault), text, len(text))
        raise ArenautError(text.value.decode(), status)


def nothing(_context, _size, _align, _fault):
    """The default source: all sizes are learned before the first run, so nobody asks it."""


class Value:
    """Memory alive from step `first` to step `last`, both included, `size` bytes at most.

    It may take the place of value number `over`, whose last step is its first.
    """

    __slots__ = ("first", "last", "over", "size")

    def __init__(self, size, first, last, over=None):
        self.size, self.first, self.last, self.over = size, first, last, over


class Iteration:
    """Values planned into one arena. `take(size, align)` gives an address, `give(address)` takes
    it back."""

    def __init__(self, values, take, give, keep=True, poison=False, align=64):
        records = (ValueRecord * max(1, len(values)))(*(
            ValueRecord(MANAGED, 0, v.first, v.last, NO_VALUE,
                        NO_VALUE if v.over is None else v.over) for v in values))
        self.planner = PlannerRecord()
        # What C calls back, and reads, must outlive this call.
        self.callbacks = (ALLOCATE(nothing), ALLOCATE(lambda _, size, a, fault: take(size, a)),
                          RELEASE(lambda _, address, size: give(address)))
        default, allocate, release = self.callbacks
        options = iteration_defaults()
        options.manage_outputs = False
        options.keep_buffer, options.poison, options.align = keep, poison, align
        config = ConfigRecord(
            records, len(values), options, SourceRecord(default, release, None),
            SourceRecord(allocate, release, None),
            c_void_p.from_buffer(place_with_planner), ctypes.addressof(self.planner))
        self.values = values
        size = iteration_bytes(len(values))
        self.room = (c_char * size)()
        self.handle = c_void_p()
        check(iteration_init, self.room, size, byref(config), byref(self.handle))
        for number, value in enumerate(values):
            check(iteration_learn, self.handle, number, value.size)
        self.plan()

    def plan(self):
        try:
            check(iteration_plan, self.handle)
        except ArenautError as error:
            reason = self.planner.error.msg.decode()
            raise ArenautError(f"{error}: {reason}" if reason else str(error), error.status) \
                from None

    def allocate(self):
        """Before a run: the address of the arena."""
        if iteration_allocate(self.handle, None) != OK:
            check(iteration_allocate, self.handle)
        return iteration_buffer(self.handle)

    def deallocate(self):
        """After a run."""
        if iteration_deallocate(self.handle, None) != OK:
            check(iteration_deallocate, self.handle)

    def __del__(self):
        if getattr(self, "handle", None):
            iteration_close(self.handle, None)

    def offset(self, value):
        return iteration_offset(self.handle, value)

    def figures(self):
        return iteration_count(self.handle)

    @property
    def arena(self):
        return self.figures().managed_bytes

    @property
    def lower_bound(self):
        return self.planner.lower_bound
