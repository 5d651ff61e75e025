"""Problems: buffers with sizes and lifetimes, the pools they may lie in, and the relations that tie them
together. include/arenaut/problem.h describes each part."""

from __future__ import annotations

import ctypes
from array import array
from collections import namedtuple
from collections.abc import Iterable

from arenaut import arrays, documents, records
from arenaut.deferred import typed
from arenaut.errors import InputError
from arenaut.library import C, check, text_of


#: Of each column: the code of its elements, and what stands for "none".
COLUMNS = {"size": ("Q", None), "align": ("Q", None), "pools": ("Q", None),
           "fixed_offset": ("Q", records.UNPLACED), "hint": ("Q", records.UNPLACED),
           "same_base": ("I", records.NONE), "inside": ("I", records.NONE),
           "inside_delta": ("Q", None), "cls": ("B", None), "uses": ("I", None),
           "method": ("I", records.NONE), "release": ("I", None)}
ELEMENTS = {"Q": ctypes.c_uint64, "q": ctypes.c_int64, "I": ctypes.c_uint32, "H": ctypes.c_uint16,
            "B": ctypes.c_uint8}
CODES = {element: code for code, element in ELEMENTS.items()}
TEXTS = ("name", "op", "source")
# By a plan's file or a result: the kernels that it stands on, whether rules of theirs that were only read count, how
# many ops may be rounded otherwise, its ops (documents.ops_of), as far as they are not the file's, and the plan's file
# as JSON, if it has a certificate of rematerialization.
NOTHING_STATED = (None, False, 0, {}, None)
#: Lists of structs: the record, and its members in the order of a tuple.
LISTS = {"conflict": (records.Conflict, ("a", "b")),
         "separation": (records.Separation, ("upper", "lower", "distance")),
         "reserved": (records.Reserved, ("pool", "first", "end"))}


class Pool(namedtuple("Pool", "name capacity align device")):
    """Memory to place buffers in.

    Parameters
    ----------
    name : str
        Its name.
    capacity : int, optional
        Bytes; None for no limit.
    align : int, optional
        Bytes, a power of two, that its size is a multiple of.
    device : (int, int), optional
        A type and an index, (0, 0) for the host.
    """

    __slots__ = ()
    name: str
    capacity: int | None
    align: int
    device: tuple[int, int]

    def __new__(cls, name: str, capacity: int | None = None, align: int = 1,
                device: tuple[int, int] = (0, 0)) -> Pool:
        return super().__new__(cls, name, capacity, align, device)


def pools_of(given):
    """Pools from a list of Pool, tuples and names, or from {name: capacity}; fastest first."""
    if hasattr(given, "items"):
        given = given.items()
    pools = [pool_of(position, one) for position, one in enumerate(separate("pools", given))]
    if len(pools) > records.MAX_POOLS:
        raise InputError(f"pools: {len(pools)} are more than {records.MAX_POOLS}",
                         found=len(pools), allowed=f"at most {records.MAX_POOLS}")
    names = [pool.name for pool in pools]
    for position, name in enumerate(names):
        if name in names[:position]:
            arrays.refuse("pools", position, name, "names that are all different")
    return pools


def pool_of(position, one):
    try:
        return Pool(one) if isinstance(one, str) else Pool(*one)
    except TypeError:
        return arrays.refuse("pools", position, one, "a Pool, its name, or a tuple of what makes one")


def separate(name, values):
    """A list of values, for which a text, a list of letters, is taken easily."""
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        arrays.refuse(name, None, values, "a list")
    return list(values)


def pool_records(pools):
    """The array of arenaut_pool, whose names the caller keeps alive with it."""
    made = (records.Pool * max(1, len(pools)))()
    for position, (record, pool) in enumerate(zip(made, pools)):
        record.name = arrays.encoded(pool.name, "pools", position)
        record.capacity = records.UNLIMITED if pool.capacity is None else whole("capacity", pool.capacity)
        record.align = whole("align", pool.align)
        record.closed = pool.capacity == 0
        [device] = rows_of("device", [pool.device], records.Device, ("type", "index"))
        record.device = records.Device(*device)
    return made


def whole(name, value, high=2**63 - 1):
    if not arrays.is_whole(value) or not 0 <= value <= high:
        arrays.refuse(name, None, value, f"whole numbers from 0 to {high}")
    return int(value)


def class_words():
    return [text_of(C.arenaut_class_name(k)) for k in range(records.CLASS_COUNT)]


class Problem:
    """Buffers to be placed, and their relations. All arguments but `sizes` may be left out.

    Problems do not change. They can be pickled, and used by several threads at once. Columns are
    lists, numpy arrays, or anything that has a buffer, of one dimension and as long as `sizes`.

    Parameters
    ----------
    sizes : array_like of int, shape (n,)
        Bytes of each of n buffers.
    first : array_like of int, shape (n,), optional
        The step from which each is alive.
    end : array_like of int, shape (n,), optional
        The step up to which, not included, each is alive.
    align : int or array_like of int, shape (n,), optional
        Bytes, a power of two: one number for all, or n.
    lifetimes : iterable of iterables of (int, int), optional
        Instead of first and end: for each buffer a list of pairs of them.
    pools : list of Pool or mapping of str, int, optional
        Where they may lie: a list of Pool, fastest first, or {name: capacity}. None: one
        without a limit.
    allowed : iterable of iterables of str, or None, optional
        Of each buffer the names of its pools; None for all.
    fixed : array_like of int or None, shape (n,), optional
        An offset in bytes that each must have; None or -1 where there is none.
    hints : array_like of int or None, shape (n,), optional
        An offset that each had before; None or -1 where there is none.
    same_base : array_like of int or None, shape (n,), optional
        A buffer whose place each may take at the step at which both are alive; None or -1.
    inside : array_like of int or None, shape (n,), optional
        A buffer that each lies in; None or -1.
    inside_delta : array_like of int, shape (n,), optional
        Bytes from the start of that buffer.
    kinds : iterable of str or None, optional
        "intermediate", "input", "output", "state", "scratch" or "constant".
    uses : array_like of int, shape (n,), optional
        How often all its bytes are written or read, which counts where there are several pools.
    names : iterable of str or None, optional
        Of the buffers, for reports.
    conflicts : iterable of (int, int), optional
        Pairs of buffers that must not share bytes, although their lifetimes would allow it.
    separations : iterable of (int, int, int), optional
        (upper, lower, distance): the two may overlap at offsets so many bytes apart.
    reserved : iterable of (int, int, int), optional
        (pool, first, end): bytes of a pool, by its number, that nothing may lie in.
    tokens : bool, optional
        True: memory comes in whole blocks: two buffers begin at the same address or have no byte
        in common, at any time.

    Raises
    ------
    InputError
        An argument is not well formed; position, found and allowed say which and why.

    Examples
    --------
    >>> problem = arenaut.Problem([4096, 512], [0, 1], [2, 3], names=["image", "conv"])
    >>> len(problem), problem.bound
    (2, 4608)
    >>> problem.plan(planner="first-fit").offsets.tolist()
    [0, 4096]
    """

    __slots__ = ("_parts", "_record")

    def __init__(self, sizes: typed.Numbers, first: typed.Numbers | None = None, end: typed.Numbers | None = None, *,
                 align: int | typed.Numbers = 1,
                 lifetimes: Iterable[Iterable[tuple[int, int]]] | None = None,
                 pools: typed.Pools | None = None, allowed: Iterable[Iterable[str] | None] | None = None,
                 fixed: typed.OptionalNumbers | None = None, hints: typed.OptionalNumbers | None = None,
                 same_base: typed.OptionalNumbers | None = None, inside: typed.OptionalNumbers | None = None,
                 inside_delta: typed.Numbers | None = None, kinds: Iterable[typed.Kind | None] | None = None,
                 uses: typed.Numbers | None = None, names: Iterable[str | None] | None = None,
                 conflicts: Iterable[tuple[int, int]] = (),
                 separations: Iterable[tuple[int, int, int]] = (),
                 reserved: Iterable[tuple[int, int, int]] = (), tokens: bool = False) -> None:
        self._fill(sizes, first, end, align=align, lifetimes=lifetimes, pools=pools, allowed=allowed,
                   fixed=fixed, hints=hints, same_base=same_base, inside=inside,
                   inside_delta=inside_delta, kinds=kinds, uses=uses, names=names,
                   conflicts=conflicts, separations=separations, reserved=reserved, tokens=tokens)
        check(C.arenaut_problem_validate, self._record)

    def _fill(self, sizes, first=None, end=None, *, align=1, lifetimes=None, pools=None,
              allowed=None, fixed=None, hints=None, same_base=None, inside=None,
              inside_delta=None, kinds=None, uses=None, names=None, conflicts=(),
              separations=(), reserved=(), tokens=False):
        size = arrays.column(sizes, "Q", "sizes")
        parts = {"size": size, **lives(len(size), first, end, lifetimes)}
        n = len(size)
        if arrays.is_whole(align):
            align = arrays.filled(whole("align", align), n, "Q") if align != 1 else None
        words = class_words()
        given = {"align": align, "fixed_offset": fixed, "hint": hints, "same_base": same_base,
                 "inside": inside, "inside_delta": inside_delta, "uses": uses,
                 "cls": None if kinds is None else [
                     word_index("kinds", k, words, words[0] if kind is None else kind)
                     for k, kind in enumerate(separate("kinds", kinds))]}
        if (inside is None) != (inside_delta is None):
            if inside is None:
                raise InputError("inside_delta is where in another buffer, and inside, which names that, is missing")
            given["inside_delta"] = arrays.filled(0, n, "Q")
        for name, values in given.items():
            if values is not None:
                code, missing = COLUMNS[name]
                parts[name] = same_length(name, arrays.column(values, code, name, missing), n)
        parts["pool"] = pools_of(pools) if pools is not None else [Pool("arena")]
        if allowed is not None:
            parts["pools"] = masks(same_length("allowed", separate("allowed", allowed), n), parts)
        if names is not None:
            parts["name"] = same_length("names", separate("names", names), n)
        pairs = rows_of("conflicts", conflicts, *LISTS["conflict"])
        parts["conflict"] = sorted({(min(pair), max(pair)) for pair in pairs})
        parts["separation"] = sorted(rows_of("separations", separations, *LISTS["separation"]))
        parts["reserved"] = sorted(rows_of("reserved", reserved, *LISTS["reserved"]))
        parts["traits"] = records.PROBLEM_TOKENS if tokens else 0
        self._take(parts)

    def _take(self, parts):
        """From now on this is the problem of these parts."""
        self._parts = parts
        record = self._record = records.Problem(
            n_buffers=len(parts["size"]), n_pools=len(parts["pool"]), traits=parts.get("traits", 0),
            n_lifetimes=len(parts["lifetime"]) // 2)
        for name, (code, _) in [*COLUMNS.items(), ("lifetime_start", ("I", None))]:
            if name in parts:
                setattr(record, name, arrays.pointer(parts[name], ELEMENTS[code]))
        record.lifetime = arrays.pointer(parts["lifetime"], records.Interval)
        for name in TEXTS:
            if name in parts:
                setattr(record, name, c_strings(parts[name]))
        for name, (kind, _) in LISTS.items():
            rows = parts[name]
            setattr(record, f"n_{name}{'' if name == 'reserved' else 's'}", len(rows))
            if rows:
                setattr(record, name, (kind * len(rows))(*rows))
        record.pool = pool_records(parts["pool"])
        if "method_name" in parts:
            record.n_methods = len(parts["method_name"])
            record.method_name = c_strings(parts["method_name"])

    @classmethod
    def _unchecked(cls, sizes, first, end, **constraints):
        """For planners, which look at the whole themselves."""
        problem = cls.__new__(cls)
        problem._fill(sizes, first, end, **constraints)
        return problem

    @classmethod
    def _of(cls, parts):
        problem = cls.__new__(cls)
        problem._take(parts)
        return problem

    @classmethod
    def _copy(cls, record, stated=NOTHING_STATED):
        """Of a problem that the library owns, with what its file or result states of the ops."""
        return cls._of({**parts_of(record), "stated": stated})

    @property
    def _stated(self):
        return self._parts.get("stated", NOTHING_STATED)

    @classmethod
    def parse(cls, text: str | bytes) -> Problem:
        """A problem from JSON (arenaut.problem/1, arenaut.plan/1) or CSV, or the bytes of any other file.

        Parameters
        ----------
        text : str or bytes_like
            All of the file.

        Returns
        -------
        Problem
            With n buffers, whose columns are `array.array`.
        """
        return documents.read_problem(cls, text)

    def __reduce__(self):
        return Problem._of, (self._parts,)

    def __len__(self) -> int:
        return self._record.n_buffers

    def __repr__(self) -> str:
        pools = f", {self._record.n_pools} pools" if self._record.n_pools > 1 else ""
        return f"<Problem: {len(self)} buffers, {sum(self.sizes.tolist())} bytes{pools}>"

    def _column(self, name, default):
        values = self._parts.get(name)
        return arrays.filled(default, len(self), COLUMNS[name][0]) if values is None else values

    @property
    def sizes(self) -> typed.Column:
        """Bytes of each buffer."""
        return self._parts["size"]

    @property
    def align(self) -> typed.Column:
        """The alignment of each buffer."""
        return self._column("align", 1)

    @property
    def lifetimes(self) -> list[list[tuple[int, int]]]:
        """Of each buffer its pairs (first, end)."""
        starts, flat = self._parts["lifetime_start"].tolist(), self._parts["lifetime"].tolist()
        return [[(flat[2 * k], flat[2 * k + 1]) for k in range(a, b)]
                for a, b in zip(starts, starts[1:])]

    @property
    def names(self) -> list[str]:
        """Of each buffer its name, "bufferK" where it has none."""
        given = self._parts.get("name") or [None] * len(self)
        return [name if name is not None else f"buffer{k}" for k, name in enumerate(given)]

    @property
    def kinds(self) -> list[typed.Kind]:
        """The kind of each buffer's content."""
        words = class_words()
        return [words[k] for k in self._column("cls", 0)]

    @property
    def same_base(self) -> list[int | None]:
        """Of each buffer the one whose place it may take; None."""
        return [None if k == records.NONE else k
                for k in self._column("same_base", records.NONE).tolist()]

    @property
    def fixed(self) -> list[int | None]:
        """Of each buffer the offset that it must have; None."""
        return [None if at == records.UNPLACED else at
                for at in self._column("fixed_offset", records.UNPLACED).tolist()]

    @property
    def pools(self) -> list[Pool]:
        """The pools, fastest first."""
        return self._parts["pool"]

    @property
    def conflicts(self) -> list[tuple[int, int]]:
        """Pairs of buffers that must not share bytes."""
        return self._parts["conflict"]

    @property
    def separations(self) -> list[tuple[int, int, int]]:
        """Pairs (upper, lower) that may overlap at offsets so many bytes apart, with these bytes."""
        return self._parts["separation"]

    @property
    def tokens(self) -> bool:
        """Whether memory comes in whole blocks."""
        return bool(self._record.traits & records.PROBLEM_TOKENS)

    @property
    def fingerprint(self) -> int:
        """A number for sizes, alignments, lifetimes, kinds and methods; the same in every version."""
        return C.arenaut_problem_fingerprint(self._record)

    @property
    def bound(self) -> int:
        """Bytes below which no plan can be. O(n log n)."""
        found = ctypes.c_uint64()
        check(C.arenaut_lower_bound, self._record, None, ctypes.byref(found), None)
        return found.value

    def plan(self, *, progress: typed.Progress = None, **options: typed.Unpack[typed.PlannerOptions]) -> typed.Plan:
        """The plan of this problem.

        Parameters
        ----------
        progress : Progress, optional
            As of arenaut.plan.
        **options : keywords of typed.PlannerOptions
            As of arenaut.plan.

        Returns
        -------
        Plan
            Which has been checked.
        """
        from arenaut.planning import plan
        return plan(self, progress=progress, **options)

    def to_json(self) -> str:
        """The problem as arenaut.problem/1 (docs/formats.md).

        Returns
        -------
        str
            JSON.
        """
        return documents.write("problem-json", self).decode()

    def to_csv(self) -> str:
        """The problem as a row for each buffer.

        Returns
        -------
        str
            CSV, with a head.
        """
        return documents.write("csv", self).decode()

    def save(self, path: typed.Path) -> None:
        """Writes the problem in the format of the file's name. All or nothing.

        Parameters
        ----------
        path : path_like
            Of .json or .csv.
        """
        name = documents.format_for(path)
        name = "problem-json" if name == "plan-json" else name  # both are .json
        documents.write_file(path, documents.write(name, self))


def parts_of(record):
    """All that a problem of the library's holds, in columns and lists of our own."""
    n, k = record.n_buffers, record.n_lifetimes
    parts = {name: arrays.copied(getattr(record, name), n, code)
             for name, (code, _) in COLUMNS.items() if getattr(record, name)}
    parts.setdefault("size", arrays.filled(0, 0, "Q"))
    parts["lifetime_start"] = (arrays.copied(record.lifetime_start, n + 1, "I") if n
                               else arrays.filled(0, 1, "I"))
    parts["lifetime"] = arrays.copied(record.lifetime, 2 * k, "q")
    parts["traits"] = record.traits
    parts["pool"] = [Pool(text_of(pool.name), None if pool.capacity == records.UNLIMITED
                          else pool.capacity, pool.align, (pool.device.type, pool.device.index))
                     for pool in record.pool[:record.n_pools]]
    for name, (_, members) in LISTS.items():
        rows = getattr(record, name)[:getattr(record, f"n_{name}{'' if name == 'reserved' else 's'}")]
        parts[name] = [tuple(getattr(row, member) for member in members) for row in rows]
    for name in TEXTS:
        if getattr(record, name):
            parts[name] = list(map(text_of, getattr(record, name)[:n]))
    if record.n_methods:
        parts["method_name"] = list(map(text_of, record.method_name[:record.n_methods]))
    return parts


def lives(n, first, end, lifetimes):
    """The columns lifetime and lifetime_start."""
    if lifetimes is None:
        if first is None or end is None:
            raise InputError("lifetimes are missing: give first and end, or lifetimes")
        first = same_length("first", arrays.column(first, "q", "first"), n)
        end = same_length("end", arrays.column(end, "q", "end"), n)
        wrong = arrays.first_not_below(first, end)
        if wrong is not None:
            arrays.refuse("first", wrong, int(first[wrong]), f"below end, which is {int(end[wrong])}")
        return {"lifetime": arrays.interleaved(first, end),
                "lifetime_start": arrays.counting(n + 1, arrays.is_numpy(first))}
    if first is not None or end is not None:
        raise InputError("first and end say what lifetimes says: give one or the other")
    starts, flat = [0], []
    for position, pairs in enumerate(same_length("lifetimes", separate("lifetimes", lifetimes), n)):
        for a, b in merged(position, pairs):
            flat += [a, b]
        starts.append(len(flat) // 2)
    return {"lifetime": arrays.column(flat, "q", "lifetimes"),
            "lifetime_start": arrays.column(starts, "I", "lifetimes")}


def merged(position, pairs):
    """The pairs in order, those that touch or overlap as one."""
    joined = []
    for a, b in sorted(rows_of(f"lifetimes[{position}]", pairs, records.Interval, ("first", "end"))):
        if a >= b:
            arrays.refuse("lifetimes", position, (a, b), "pairs whose first is below their end")
        if joined and a <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(b, joined[-1][1]))
        else:
            joined.append((a, b))
    return joined


def same_length(name, values, n):
    if len(values) != n:
        raise InputError(f"{name} has {len(values)} entries; allowed: {n}, one for each buffer",
                         found=len(values), allowed=f"{n} entries")
    return values


def rows_of(name, given, kind, members):
    """A list of tuples that are structs of this kind, in whose members numbers would wrap around."""
    codes = [CODES[dict(kind._fields_)[member]] for member in members]
    given = separate(name, given)
    try:
        columns = list(zip(*given, strict=True)) or [()] * len(members)
        return list(zip(*(array(code, column) for code, column in zip(codes, columns, strict=True))))
    except (TypeError, ValueError, OverflowError):
        position, row = next((k, row) for k, row in enumerate(given) if not is_row(row, codes))
        limits = ", ".join("{} from {} to {}".format(member, *arrays.RANGES[code])
                           for member, code in zip(members, codes))
        return arrays.refuse(name, position, row, f"a tuple of whole numbers: {limits}")


def is_row(row, codes):
    try:
        return all(array(code, [value]) for value, code in zip(row, codes, strict=True))
    except (TypeError, ValueError, OverflowError):
        return False


def word_index(name, position, words, word):
    if word not in words:
        arrays.refuse(name, position, word, ", ".join(words))
    return words.index(word)


def masks(allowed, parts):
    """Bits of the pools that each buffer may lie in; one inside another has the pools of that."""
    names = [pool.name for pool in parts["pool"]]
    every = 2**len(names) - 1
    found = [every if one is None else mask(k, one, names) for k, one in enumerate(allowed)]
    hosts = parts.get("inside")
    for k, one in enumerate(allowed):
        host, seen = k, 0
        while one is None and hosts is not None and hosts[host] < len(found) and seen < len(found):
            host, seen = int(hosts[host]), seen + 1
        found[k] = found[host]
    return arrays.column(found, "Q", "allowed")


def mask(position, one, names):
    bits = {word_index("allowed", position, names, name) for name in separate("allowed", one)}
    if not bits:
        arrays.refuse("allowed", position, one, "at least one pool, or None for all")
    return sum(1 << bit for bit in bits)


def c_strings(texts):
    return (ctypes.c_char_p * max(1, len(texts)))(*(
        None if text is None else arrays.encoded(text, "names", k) for k, text in enumerate(texts)))
