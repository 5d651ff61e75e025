"""Keyword arguments as options of the library's planners and pipeline."""

from __future__ import annotations

import ctypes
import os

from arenaut import arrays, documents, records
from arenaut.errors import InputError
from arenaut.library import C, check, text_of
from arenaut.problem import pool_records, pools_of, rows_of, separate, whole

#: Options of `open` and `plan` of a model besides the planner's own: see Model.
FILE = ("format", "target", "kernels", "unmeasured", "method", "passes", "share", "shapes", "scratch",
        "scratch_model", "dims", "inplace", "inplace_ops", "overlap", "preserve_inputs", "alloc_io",
        "align", "tensor_align", "op_align", "pools", "pins", "split", "rounding", "budget", "max_ops", "max_macs",
        "reorder", "recompute", "fit", "costs", "device", "compact")
REPORT = ("width", "top", "color", "unicode", "steps", "compare", "replan")
PLANNER = ("planner", "effort", "time", "seed", "capacity", "threads", "settings")


def check_names(given, known):
    for name in given:
        if name not in known:
            import difflib
            near = difflib.get_close_matches(name, known, 1)
            raise TypeError(f"there is no option '{name}'"
                            + (f": did you mean '{near[0]}'?" if near else ""))


def table(kind, rows):
    """An array of structs for a member, NULL for none."""
    return (kind * len(rows))(*rows) if rows else None


def planner_options(given, watch):
    """arenaut_plan_options, and the objects that must live as long."""
    settings = table(records.Setting, rows("settings", given, setting))
    effort = given.get("effort")
    if effort is not None:
        effort = at_least_one("effort", effort)
    elif given.get("time") is not None:
        effort = records.NO_EFFORT_LIMIT
    planner = given.get("planner")
    if planner is not None:
        documents.named("planner", planner)
    capacity = given.get("capacity")
    options = records.PlanOptions(
        planner=planner.encode() if planner else None, effort=effort or 0,
        seed=whole("seed", given.get("seed") or 0, 2**64 - 1),
        capacity=0 if capacity is None else at_least_one("capacity", capacity),
        threads=1 if given.get("threads") is None else at_least_one("threads", given["threads"], 1024),
        progress=watch.callback, settings=settings, n_settings=len(settings or ()))
    return options, (settings, watch)


def setting(name, value):
    return arrays.encoded(name, "settings"), arrays.encoded(str(value), "settings")


def time_limit(time):
    """The limit of time, if there is one: 0 or more, and a number."""
    if time is not None and not (hasattr(time, "__float__") and time >= 0):
        arrays.refuse("time", None, time, "seconds, 0 or more")
    return time


def at_least_one(name, value, high=2**63 - 1):
    if not arrays.is_whole(value) or not 1 <= value <= high:
        arrays.refuse(name, None, value, f"whole numbers from 1 to {high}")
    return int(value)


def pipeline_options(given, path, watch):
    """arenaut_pipeline_options, and the objects that must live as long."""
    check_names(given, FILE + PLANNER)
    plan, kept = planner_options(given, watch)
    options = records.PipelineOptions(path=os.fsencode(path), plan=plan)
    keep = [kept]
    for name in ("format", "target"):
        if given.get(name) is not None:
            setattr(options, name, ctypes.pointer(documents.named(name, given[name])))
    if given.get("kernels") is not None:
        keep.append(KernelSet(given["kernels"]))
        options.kernels = keep[-1].pointer
    for name in ("unmeasured", "overlap", "preserve_inputs", "compact"):
        setattr(options, name, switch(name, given))
    options.exclude_io = not switch("alloc_io", given, default=True)
    for name in ("method", "scratch_model"):
        if given.get(name) is not None:
            setattr(options, name, arrays.encoded(given[name], name))
    for name in ("passes", "share"):
        options_text(options, name, given.get(name))
    for name in ("shapes", "scratch"):
        if given.get(name) is not None:
            text = side_file(name, given[name])
            setattr(options, name, records.SideFile(text, len(text)))
    options.overwrite = overwrite(given.get("inplace"))
    options.splitting = splitting(given, keep)
    options.reordering.on = switch("reorder", given)
    options.recomputing = recomputing(given, options.splitting.options.max_ops)
    if given.get("align") is not None:
        options.align = at_least_one("align", given["align"])
    set_tables(options, given, keep)
    return options, keep


def recomputing(given, max_ops):
    """arenaut_recomputing; options of it alone are refused without it."""
    made = records.Recomputing(on=switch("recompute", given))
    made.options.max_ops = max_ops
    for name in ("fit", "costs", "device"):
        if given.get(name) is not None and not made.on:
            raise TypeError(f"'{name}' is of recompute=True")
    if given.get("fit") is not None:
        made.options.budget = at_least_one("fit", given["fit"])
    if given.get("costs") is not None:
        text = side_file("costs", given["costs"])
        made.costs = records.SideFile(text, len(text))
    if given.get("device") is not None:
        made.options.device = roofline(given["device"])
    return made


def roofline(device):
    """By its name, or (operations, bytes) in a second."""
    known = C.arenaut_roofline_find(device.encode()) if isinstance(device, str) else None
    if known:
        return known.contents
    if not isinstance(device, (tuple, list)) or len(device) != 2:
        arrays.refuse("device", None, device, "a100, h100, cpu, or a pair of rates")
    operations, moved = (at_least_one("device", rate) for rate in device)
    return records.Roofline(b"the device given", operations, moved, 0)


def switch(name, given, default=False):
    """True or False, for which the command's "off" would be taken easily: it is no empty text."""
    value = given.get(name)
    if value is not None and value not in (True, False):
        arrays.refuse(name, None, value, "True or False")
    return default if value is None else bool(value)


class KernelSet:
    """One of the library's by its name, or one of the user's, by the path of its file."""

    def __init__(self, given):
        self.read = None
        if isinstance(given, str) and not given.endswith(".json"):
            self.pointer = ctypes.pointer(documents.named("kernel set", given))
            return
        text = side_file("kernels", given)
        self.pointer = ctypes.POINTER(records.KernelSet)()
        check(C.arenaut_kernel_set_read, text, len(text), None, ctypes.byref(self.pointer))
        self.read = self.pointer

    def __del__(self):
        if self.read:
            C.arenaut_kernel_set_free(self.read)


def options_text(options, name, value):
    """Names in a list, or as the command takes them: "a,b"; True is every one that is shared."""
    if value is None or value is False:
        return
    try:
        text = "auto" if value is True else value if isinstance(value, str) else ",".join(value)
    except TypeError:
        arrays.refuse(name, None, value, "a list of names")
    setattr(options, name, arrays.encoded(text, name))


def side_file(name, value):
    """The text of a file, by its path; for shapes also {tensor: sizes}."""
    if name == "shapes" and hasattr(value, "items"):
        return b"".join(rows("shapes", {"shapes": value}, shape))
    with open(os.fspath(value), "rb") as file:
        return file.read()


def overwrite(value):
    words = {None: records.OVERWRITE_BY_RULES, True: records.OVERWRITE_ON,
             False: records.OVERWRITE_OFF, "only": records.OVERWRITE_ONLY}
    for word, code in words.items():
        if value is word or value == word == "only":
            return code
    return arrays.refuse("inplace", None, value, "True, False or 'only'")


def splitting(given, keep):
    """Whether ops are tiled: True, or tile groups as (first op, last op, pieces, mode)."""
    limits = {name: records.OptionalId(given.get(name) is not None,
                                       whole(name, given.get(name) or 0, 2**32 - 2))
              for name in ("max_ops", "max_macs")}
    made = records.Splitting(bool(given.get("split")),
                             options=records.SplitOptions(rounding=rounding(given.get("rounding"), given.get("split")), **limits))
    if given.get("budget") is not None:
        made.budget = at_least_one("budget", given["budget"])
    if given.get("split") not in (None, True, False):
        if isinstance(given["split"], str):
            arrays.refuse("split", None, given["split"], "True, False, or a list of stages")
        stages = table(records.SplitStage, [stage(one) for one in separate("split", given["split"])])
        made.stages, made.n_stages = stages, len(stages)
        keep.append(stages)
    return made


def rounding(value, split):
    """Whether tiles may round otherwise than the whole."""
    if value not in (None, "refuse", "allow"):
        arrays.refuse("rounding", None, value, "'refuse' or 'allow'")
    if value == "allow" and not split:
        arrays.refuse("rounding", None, value, "None: nothing is tiled, since split is not given")
    return value == "allow"


def stage(given):
    try:
        first, last, pieces, mode = given
    except (TypeError, ValueError):
        arrays.refuse("split", None, given, "(first op, last op, pieces, mode)")
    words = [text_of(C.arenaut_split_mode_name(k)) for k in range(records.SPLIT_MODE_COUNT)]
    if mode not in words:
        arrays.refuse("split", None, mode, ", ".join(words))
    first = whole("split", first, 2**32 - 2)
    if not arrays.is_whole(last) or last < first:
        arrays.refuse("split", None, last, f"an op from {first} on")
    return first, whole("split", last, 2**32 - 2) - first + 1, whole("split", pieces, 2**32 - 2), words.index(mode)


def report_options(given):
    """arenaut_report_options."""
    check_names(given, REPORT)
    made = records.ReportOptions(width=whole("width", given.get("width", 0), 2**32 - 1),
                                 top=whole("top", given.get("top", 0), 2**32 - 1),
                                 color=bool(given.get("color")), unicode=bool(given.get("unicode")),
                                 replan=bool(given.get("replan")))
    if given.get("steps") is not None:
        [(first, end)] = rows_of("steps", [given["steps"]], records.Interval, ("first", "end"))
        if first >= end:
            arrays.refuse("steps", None, given["steps"], "a step, and one above it")
        made.steps = records.Interval(first, end)
    others = rows("compare", given, compared)
    made.variants, made.n_variants = table(records.Variant, others), len(others)
    return made


def compared(name, plan):
    if not hasattr(plan, "_result"):
        raise TypeError
    return arrays.encoded(name, "compare"), None, plan.arena, ctypes.pointer(plan._result())


def dim(name, value):
    """A size: one number, a range as (low, high), or several as a list."""
    values = [value] if arrays.is_whole(value) else list(value)
    if not values or not all(arrays.is_whole(one) and 0 <= one < 2**63 - 1 for one in values):
        arrays.refuse(f"dims['{name}']", None, value, "a whole number, (low, high), or a list of them")
    if max(values) == 0:
        arrays.refuse(f"dims['{name}']", None, value, "at least 1: a size of 0 leaves nothing to plan")
    return arrays.encoded(name, "dims"), min(values), max(values)


def pin(tensor, where):
    pool, offset = (where, None) if isinstance(where, str) else where
    optional = records.OptionalOffset(offset is not None, whole("pins", offset or 0))
    return arrays.encoded(tensor, "pins"), arrays.encoded(pool, "pins"), optional


def in_place_rule(op, where):
    value, output = (where, 0) if arrays.is_whole(where) else where
    return (arrays.encoded(op, "inplace_ops"), whole("inplace_ops", value, 2**32 - 2),
            whole("inplace_ops", output, 2**32 - 2), False)


def shape(tensor, sizes):
    """A line of the file of shapes, where the last comma counts."""
    if "\n" in tensor or tensor.startswith("#"):
        arrays.refuse("shapes", None, tensor, "names of one line, which does not begin with #")
    return arrays.encoded(f"{tensor},{'x'.join(str(whole('shapes', one)) for one in sizes)}\n", "shapes")


def aligned(name, value):
    return arrays.encoded(name, "align"), at_least_one("align", value)


#: What the values of a dictionary may be.
VALUES = {"settings": "a number or a word", "dims": "a whole number, (low, high), or a list of them",
          "shapes": "sizes, a list of whole numbers", "pins": "a pool's name, or (pool, offset)",
          "inplace_ops": "an input, or (input, output)", "compare": "a Plan"}


def rows(name, given, make):
    """What is made of each entry of an option that is a dictionary."""
    made, values = [], given.get(name) or {}
    if not hasattr(values, "items"):
        raise InputError(f"{name} is {values!r}; allowed: a dictionary", option=name)
    for key, value in values.items():
        try:
            made.append(make(key, value))
        except InputError:
            raise
        except (AttributeError, TypeError, ValueError):
            arrays.refuse(f"{name}[{key!r}]", None, value, VALUES[name])
    return made


def set_tables(options, given, keep):
    """The members that are lists, from dictionaries."""
    tables = {"in_place_rules": (records.InPlaceRule, "inplace_ops", in_place_rule),
              "align_rules": (records.AlignRule, "op_align", aligned),
              "tensor_aligns": (records.TensorAlign, "tensor_align", aligned),
              "pins": (records.Pin, "pins", pin), "dims": (records.Dim, "dims", dim)}
    for member, (kind, name, make) in tables.items():
        made = rows(name, given, make)
        setattr(options, member, table(kind, made))
        setattr(options, f"n_{member}", len(made))
    if given.get("pools") is not None:
        pools = pools_of(given["pools"])
        made = pool_records(pools)
        keep.append(made)
        options.pools, options.n_pools = made, len(pools)
