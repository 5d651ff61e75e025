"""The iteration planner: include/arenaut/runtime_iteration.h, with all of its protocol, over places from
any planner.

    it = Iteration(values, take, give, outputs="apart")
    arena = it.allocate()
    ...                                  # run: value v lies at arena + it.offset(v)
    it.deallocate()
    address, size = it.output(v)         # until it.release_outputs()

Addresses are integers. Exceptions of Python functions that C calls (sources, hooks) are raised
when C comes back.
"""

import ctypes
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char, c_char_p, c_int,
                    c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)

from arenaut import arrays
from arenaut.library import OK, ArenautError, declare
from arenaut.records import Error as ErrorRecord
from arenaut.records import PlanOptions

NO_VALUE = NO_GROUP = 0xFFFFFFFF
NO_OFFSET = ctypes.c_size_t(-1).value
#: Kinds of values (arenaut_value_kind).
EXTERNAL, MANAGED, OUTPUT, UNMANAGED, BORROWED, SCALAR = range(6)


class ValueRecord(Structure):
    _fields_ = [("kind", c_uint8), ("returned", c_uint8), ("first", c_uint32),
                ("last", c_uint32), ("storage", c_uint32), ("over", c_uint32)]


class OptionsRecord(Structure):
    _fields_ = [("out_variants", c_bool), ("manage_outputs", c_bool),
                ("optimise_memory", c_bool), ("keep_buffer", c_bool),
                ("outputs_in_arena", c_bool), ("fall_back", c_bool), ("poison", c_bool),
                ("grouping", c_uint8),
                ("slack", c_uint16), ("align", c_size_t), ("reserved", c_uint64 * 4)]


ALLOCATE = CFUNCTYPE(c_void_p, c_void_p, c_size_t, c_size_t, c_void_p)
RELEASE = CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)
HOOK = CFUNCTYPE(None, c_void_p, c_uint32)


class DeviceRecord(Structure):
    _fields_ = [("type", c_uint16), ("index", c_uint16)]


class SourceRecord(Structure):
    _fields_ = [("allocate", ALLOCATE), ("release", RELEASE), ("context", c_void_p),
                ("device", DeviceRecord)]


class HooksRecord(Structure):
    _fields_ = [("release", HOOK), ("forget", HOOK), ("retain", HOOK), ("context", c_void_p)]


class Storage(Structure):
    """arenaut_storage: where a value's bytes lie. `swap` borrows one, so keep it until `deallocate`,
    that of an output until that is released. Without a source it owns nothing."""

    _fields_ = [("data", c_void_p), ("bytes", c_size_t), ("source", POINTER(SourceRecord))]


class ConfigRecord(Structure):
    _fields_ = [("value", POINTER(ValueRecord)), ("n_values", c_uint32),
                ("options", OptionsRecord), ("source", SourceRecord), ("arena", SourceRecord),
                ("place", c_void_p), ("place_context", c_void_p), ("hooks", HooksRecord)]


class PlannerRecord(Structure):
    """arenaut_iteration_planner: the context of its callback, and where its answer's worth is."""

    _fields_ = [("options", POINTER(PlanOptions)), ("allocator", c_void_p),
                ("error", ErrorRecord), ("lower_bound", c_uint64), ("quality", c_int),
                ("effort", c_uint64)]


class FaultRecord(Structure):
    _fields_ = [("reason", c_uint32), ("object", c_uint32), ("found", c_size_t),
                ("allowed", c_size_t)]


class Figures(Structure):
    """arenaut_iteration_figures."""

    _fields_ = [("managed", c_uint32), ("reused", c_uint32), ("managed_outputs", c_uint32),
                ("unmanaged_scalars", c_uint32), ("unmanaged_non_scalars", c_uint32),
                ("unmanaged", c_uint32), ("managed_bytes", c_size_t),
                ("output_bytes", c_size_t), ("overflows", c_uint32),
                ("overflow_bytes", c_size_t), ("largest_overflow", c_size_t),
                ("runs_without_buffer", c_uint32)]


FAULT = POINTER(FaultRecord)
STORAGE = POINTER(Storage)


class Number(c_uint32):
    """The number of a value, as an argument."""

    @classmethod
    def from_param(cls, value):
        return c_uint32(arrays.whole("the number of a value", value, "I"))


class Bytes(c_size_t):
    """A size, as an argument."""

    @classmethod
    def from_param(cls, size):
        return c_size_t(arrays.whole("size", size, "Q"))


def fallible(name, *argument_types):
    """A call on an iteration that returns a status, its last argument a fault."""
    return declare(f"arenaut_iteration_{name}", c_void_p, *argument_types, FAULT)


def question(name, *argument_types, returns=c_bool):
    return declare(f"arenaut_iteration_{name}", c_void_p, *argument_types, returns=returns)


iteration_bytes = declare("arenaut_iteration_bytes", c_uint32, returns=c_size_t)
iteration_init = declare("arenaut_iteration_init", c_void_p, c_size_t, POINTER(ConfigRecord),
                         POINTER(c_void_p), FAULT)
iteration_close = fallible("close")
iteration_allocate = fallible("allocate")
iteration_deallocate = fallible("deallocate")
iteration_abort = fallible("abort")
iteration_forget = fallible("forget")
iteration_plan = fallible("plan")
iteration_release_outputs = fallible("release_outputs")
iteration_release_output = fallible("release_output", Number)
iteration_disable = fallible("disable_managed_outputs")
iteration_learn = fallible("learn", Number, Bytes)
iteration_resize = fallible("resize", Number, Bytes, POINTER(c_void_p))
iteration_swap = fallible("swap", Number, STORAGE)
iteration_take = fallible("take", Number, STORAGE)
iteration_output = fallible("output", Number, STORAGE)
iteration_storage = question("storage", Number, returns=STORAGE)
iteration_buffer = question("buffer", returns=c_void_p)
iteration_output_buffer = question("output_buffer", returns=c_void_p)
iteration_offset = question("offset", Number, returns=c_size_t)
iteration_size = question("size", Number, returns=c_size_t)
iteration_group = question("group", Number, returns=c_uint32)
iteration_group_count = question("group_count", returns=c_uint32)
iteration_group_size = question("group_size", c_uint32, returns=c_size_t)
iteration_group_members = question("group_members", c_uint32, POINTER(c_uint32), c_uint32,
                                   returns=c_uint32)
iteration_is_managed_output = question("is_managed_output", Number)
iteration_is_held = question("is_held", Number)
iteration_outputs_are_held = question("outputs_are_held")
iteration_is_running = question("is_running")
iteration_in_buffer = question("in_buffer", c_void_p)
iteration_in_output_buffer = question("in_output_buffer", c_void_p)
iteration_plan_number = question("plan_number", returns=c_uint32)
iteration_count = question("count", returns=Figures)
iteration_defaults = declare("arenaut_iteration_defaults", returns=OptionsRecord)
place_with_planner = declare("arenaut_iteration_place", c_void_p, c_void_p)
fault_text = declare("arenaut_fault_text", FAULT, c_char_p, c_size_t, returns=c_char_p)


class Value:
    """Memory alive from step `first` to step `last`, both included, `size` bytes at most; None: its
    size is learned from the runs.

    It may take the place of value number `over`, whose last step is its first, or lie in the
    storage of value number `storage`. `kind` is MANAGED, OUTPUT or another one of this module;
    `returned` is an unmanaged value that belongs to the caller.
    """

    __slots__ = ("first", "kind", "last", "over", "returned", "size", "storage")

    def __init__(self, size, first, last, over=None, kind=MANAGED, storage=None, returned=False):
        self.size, self.first, self.last, self.over = size, first, last, over
        self.kind, self.storage, self.returned = kind, storage, returned

    def record(self):
        storage, over = (NO_VALUE if other is None else arrays.whole(name, other, "I")
                         for name, other in (("storage", self.storage), ("over", self.over)))
        return ValueRecord(arrays.whole("kind", self.kind, "B"), self.returned,
                           arrays.whole("first", self.first, "I"),
                           arrays.whole("last", self.last, "I"), storage, over)


class Guard:
    """What a Python function raises while C calls it waits here for C to come back."""

    def __init__(self):
        self.raised = None

    def around(self, function):
        def guarded(*arguments):
            try:
                return function(*arguments)
            except BaseException as error:  # KeyboardInterrupt, too: C could not pass it on
                self.raised = self.raised or error
                return None
        return guarded


class Source:
    """Two Python functions as an arenaut_source: `take(size, align)` gives an address, or None where
    there is no memory; `give(address)` takes it back."""

    def __init__(self, take, give, guard):
        self.callbacks = (ALLOCATE(guard.around(lambda _, size, align, fault: take(size, align))),
                          RELEASE(guard.around(lambda _, address, size: give(address))))
        self.record = SourceRecord(*self.callbacks, None)


class Iteration:
    """Values planned into one arena, and results managed until they are released.

    Parameters
    ----------
    values
        A list of Value.
    take, give
        Where planned buffers come from: see Source.
    keep
        Whether they stay between runs.
    poison
        Fills them with 0x7f when they are given up.
    align
        Of places and sizes.
    outputs
        Of values of kind OUTPUT: "apart", in a buffer of their own; "arena", planned with
        all else; None: not managed, and the caller's.
    default
        Two functions as `take` and `give`, for values without a place: the first run if
        sizes are not known, values that outgrow theirs, and, for `resize`, runs for which no
        buffer could be had. None: there is no such memory, and a buffer that cannot be had is
        an error.
    release, forget, retain
        Functions of a value's number, called by `deallocate` for values
        that are UNMANAGED, BORROWED, and BORROWED and returned.
    groups
        Share memory by storage groups, as Static Runtime does, rather than by offsets.
    slack
        In percent, the growth of a value in the next plan that outgrew its place.
    options
        arenaut_plan_options (arenaut.options.planner_options) for the planner; None: those
        for a live loop. A record with nothing set searches as long as it does offline.
    """

    def __init__(self, values, take, give, keep=True, poison=False, align=64, *, outputs="apart",
                 default=None, release=None, forget=None, retain=None, groups=False, slack=0,
                 options=None):
        if outputs not in ("apart", "arena", None):
            raise ValueError(f"outputs are 'apart', in the 'arena' or None, not {outputs!r}")
        self.values, self.guard, self.fault = values, Guard(), FaultRecord()
        # What C calls back, and reads, must outlive this call.
        self.planner = PlannerRecord(ctypes.pointer(options) if options else None)
        self.sources = [Source(*(default or (lambda size, align: None, give)), self.guard),
                        Source(take, give, self.guard)]
        self.hooks = HooksRecord(*(
            HOOK(self.guard.around(lambda _, value, call=call: call(value))) if call else HOOK()
            for call in (release, forget, retain)), None)
        chosen = iteration_defaults()
        chosen.keep_buffer, chosen.poison = keep, poison
        chosen.align, chosen.slack = arrays.whole("align", align, "Q"), arrays.whole("slack", slack, "H")
        chosen.manage_outputs, chosen.outputs_in_arena = outputs is not None, outputs == "arena"
        chosen.grouping, chosen.fall_back = groups, default is not None
        records = (ValueRecord * max(1, len(values)))(*(v.record() for v in values))
        config = ConfigRecord(records, len(values), chosen, *(s.record for s in self.sources),
                              c_void_p.from_buffer(place_with_planner),
                              ctypes.addressof(self.planner), self.hooks)
        size = iteration_bytes(len(values))
        self.room = (c_char * size)()
        self.handle = c_void_p()
        self.check(iteration_init(self.room, size, byref(config), byref(self.handle), self.fault))
        for number, value in enumerate(values):
            if value.size is not None:
                self.learn(number, value.size)
        self.plan()

    def check(self, status):
        """Raises what a function of ours raised in C's call, or else the sentence of its fault."""
        if self.guard.raised is not None:
            error, self.guard.raised = self.guard.raised, None
            raise error
        if status != OK:
            text = ctypes.create_string_buffer(320)
            fault_text(self.fault, text, len(text))
            raise ArenautError(text.value.decode(), status)

    def __del__(self):
        if not getattr(self, "handle", None):
            return
        if iteration_is_running(self.handle):
            iteration_abort(self.handle, None)
        iteration_release_outputs(self.handle, None)
        iteration_close(self.handle, None)

    # --- before and after runs ---

    def plan(self):
        """Makes the plan now rather than in the next `allocate`, if one is due."""
        try:
            self.check(iteration_plan(self.handle, self.fault))
        except ArenautError as error:
            reason = self.planner.error.msg.decode()
            raise ArenautError(f"{error}: {reason}" if reason else str(error), error.status) \
                from None

    def allocate(self):
        """Before a run: the address of the arena; None where there is none."""
        self.check(iteration_allocate(self.handle, self.fault))
        return iteration_buffer(self.handle)

    def deallocate(self):
        """After a run: outputs are held from now on."""
        self.check(iteration_deallocate(self.handle, self.fault))

    def abort(self):
        """Ends a run that went wrong: nothing is held, and nothing learned."""
        self.check(iteration_abort(self.handle, self.fault))

    def release_outputs(self):
        """Frees the held outputs."""
        self.check(iteration_release_outputs(self.handle, self.fault))

    def release_output(self, value):
        self.check(iteration_release_output(self.handle, value, self.fault))

    def disable_managed_outputs(self):
        """From the next run on outputs are the caller's."""
        self.check(iteration_disable(self.handle, self.fault))

    def forget(self):
        """Forgets all sizes, and gives back the buffers: the next run begins anew."""
        self.check(iteration_forget(self.handle, self.fault))

    # --- during a run ---

    def learn(self, value, size):
        """Says that a value needs so many bytes; at any time."""
        self.check(iteration_learn(self.handle, value, size, self.fault))

    def resize(self, value, size):
        """The address of so many bytes for a value; None for none."""
        data = c_void_p()
        self.check(iteration_resize(self.handle, value, size, byref(data), self.fault))
        return data.value

    def storage(self, value):
        """The storage that a managed value uses now, which is C's; None for others."""
        found = iteration_storage(self.handle, value)
        return found.contents if found else None

    def swap(self, value, storage):
        """Gives a value another storage for this run."""
        self.check(iteration_swap(self.handle, value, byref(storage), self.fault))

    def take(self, value):
        """The memory that a value owns, as (address, bytes), which is the caller's to give back."""
        taken = Storage()
        self.check(iteration_take(self.handle, value, byref(taken), self.fault))
        return taken.data, taken.bytes

    # --- questions ---

    def output(self, value):
        """Where a held output lies: (address, bytes); the address of no bytes may be None."""
        found = Storage()
        self.check(iteration_output(self.handle, value, byref(found), self.fault))
        return found.data, found.bytes

    def is_held(self, value):
        return iteration_is_held(self.handle, value)

    def is_managed_output(self, value):
        return iteration_is_managed_output(self.handle, value)

    def in_arena(self, address):
        return iteration_in_buffer(self.handle, address)

    def in_output_buffer(self, address):
        return iteration_in_output_buffer(self.handle, address)

    @property
    def outputs_are_held(self):
        return iteration_outputs_are_held(self.handle)

    @property
    def buffer(self):
        """The address of the arena while there is one."""
        return iteration_buffer(self.handle)

    @property
    def output_buffer(self):
        return iteration_output_buffer(self.handle)

    def offset(self, value):
        """Where a value is planned: NO_OFFSET for none; of an output apart in the output buffer."""
        return iteration_offset(self.handle, value)

    def size(self, value):
        """The largest size seen, rounded up."""
        return iteration_size(self.handle, value)

    def groups(self):
        """Storage groups as (bytes, numbers of values); [] where memory is shared by offsets."""
        found = []
        for group in range(iteration_group_count(self.handle)):
            members = (c_uint32 * len(self.values))()
            n = iteration_group_members(self.handle, group, members, len(members))
            found.append((iteration_group_size(self.handle, group), members[:n]))
        return found

    def group(self, value):
        """The number of a value's storage group; NO_GROUP for none."""
        return iteration_group(self.handle, value)

    def figures(self):
        return iteration_count(self.handle)

    @property
    def plan_number(self):
        """Goes up with every new plan; 0: there is none yet."""
        return iteration_plan_number(self.handle)

    @property
    def arena(self):
        return self.figures().managed_bytes

    @property
    def lower_bound(self):
        return self.planner.lower_bound

    @property
    def effort(self):
        """Search steps of the last plan."""
        return self.planner.effort
