"""Memory planning inside TVM's Relax compiler.

    import arenaut.tvm
    built = tvm.compile(module, "llvm", relax_pipeline=arenaut.tvm.pipeline("llvm"))

TVM decides which tensors get memory ahead of a run, and gives each one of several storages, in which it begins
at 0: generated code wants it so. Here the same tensors share storages in the fewest bytes that this allows;
what TVM does not plan (results, sizes that nothing bounds) stays as it was, and so do functions with conditions.
Every plan is checked, and used only where it is smaller.
"""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from typing import Any

import tvm
from tvm import relax
from tvm.relax.backend.cpu_generic import pipeline as cpu

import arenaut

#: The version whose programs were run; with another one the compiler's own pass is used.
TVM = "0.27."
#: Search steps, for each function and device.
EFFORT = 100_000
NAME = "StaticPlanBlockMemory"


def pipeline(target: Any = "llvm", plan: Any = None) -> Any:
    """TVM's default pipeline for the CPU, with our pass in the place of its own.

    Parameters
    ----------
    target : Any, optional
        A tvm.target.Target, or what makes one; of the kind llvm. For others, put
        static_plan_block_memory() into their lists.
    plan : Any, optional
        The pass that plans memory; None for static_plan_block_memory().

    Raises
    ------
    UnsupportedError
        The target is of another kind.
    """
    target = tvm.target.Target(target)
    if target.kind.name != "llvm":
        raise arenaut.UnsupportedError(f"the pipeline for {target.kind.name} is not known; allowed: llvm. Put "
                                       "arenaut.tvm.static_plan_block_memory() into the lists of that one")
    plan = plan or static_plan_block_memory()
    last = [plan if one.info.name == NAME else one
            for one in cpu.finalize_passes(target)]
    passes = [*cpu.library_dispatch_passes(target), *cpu.legalize_passes(target),
              *cpu.dataflow_lower_passes(target), *last]

    @tvm.transform.module_pass(opt_level=0)
    def planned(module, _context):
        with target:
            return tvm.transform.Sequential(passes)(module)
    return planned


def static_plan_block_memory(effort: int = EFFORT) -> Any:
    """A pass to be put where `relax.transform.StaticPlanBlockMemory()` stands."""
    if not tvm.__version__.startswith(TVM):
        warnings.warn(f"arenaut.tvm is for TVM {TVM}x, and this is {tvm.__version__}: TVM's own pass plans",
                      RuntimeWarning, stacklevel=2)
        return relax.transform.StaticPlanBlockMemory()

    @tvm.transform.module_pass(opt_level=0, name="ArenautPlanBlockMemory")
    def planned(module, _context):
        module = relax.transform.StaticPlanBlockMemory()(module)
        for name, function in module.functions_items():
            if isinstance(function, relax.Function):
                module.update_func(name, Allocations(module, function).planned(effort))
        return module
    return planned


def figures(module: Any) -> dict[str, int]:
    """Bytes of all storages of each Relax function of a module whose memory has been planned."""
    return {name.name_hint: sum(one.size for one in Allocations(module, function).storages.values())
            for name, function in module.functions_items() if isinstance(function, relax.Function)}


class Storage:
    """Memory that TVM allocates: bytes, and on which device and in which scope."""

    def __init__(self, binding):
        shape, device, scope, _dtype = binding.value.args
        self.binding, self.size = binding, shape.values[0].value
        self.place = device.value, scope.value


class Tensor:
    """A tensor in a storage: bytes, alive from the step `first` up to, not including, `end`."""

    def __init__(self, binding, storage, step):
        self.binding, self.storage = binding, storage
        self.size = bytes_of(binding.value, storage)
        self.first, self.end = step, step + 1


def bytes_of(call, storage):
    """What alloc_tensor asks for; of sizes that vary, as much as TVM knows that they become."""
    shape, kind = call.args[2].values, tvm.DataType(call.args[3].value)
    if not all(isinstance(one, tvm.tirx.IntImm) for one in shape):
        return storage.size
    return -(-math.prod(one.value for one in shape) * kind.bits * kind.lanes // 8)


def is_call(value, name):
    return isinstance(value, relax.Call) and isinstance(value.op, tvm.ir.Op) and value.op.name == name


class Allocations:
    """The storages and tensors of a Relax function that TVM has planned. A step is the number of a binding."""

    def __init__(self, module, function):
        self.module, self.function = module, function
        self.bindings = [one for block in function.body.blocks for one in block.bindings]
        self.storages, self.tensors = {}, {}  # by their variables
        self.reach = defaultdict(set)  # of a variable: the tensors whose bytes it may lead to
        for step, binding in enumerate(self.bindings):
            self.see(step, binding)
        self.touch(function.body.body, len(self.bindings))

    def see(self, step, binding):
        value = binding.value
        if is_call(value, ALLOC_STORAGE) and isinstance(value.args[0].values[0], tvm.tirx.IntImm):
            self.storages[binding.var] = Storage(binding)
        elif is_call(value, ALLOC_TENSOR) and value.args[0] in self.storages:
            tensor = Tensor(binding, self.storages[value.args[0]], step)
            self.tensors[binding.var] = tensor
            self.reach[binding.var] = {tensor}
        else:
            reached = self.touch(value, step)
            if not self.is_kernel(value):  # what comes of it may be a view
                self.reach[binding.var] = reached

    def is_kernel(self, value):
        """Whether it is a call of generated code, which gives nothing back."""
        return (isinstance(value, relax.Call) and isinstance(value.op, tvm.ir.GlobalVar)
                and isinstance(self.module[value.op], tvm.tirx.PrimFunc))

    def touch(self, value, step):
        """The tensors that an expression leads to, which live until after it. A storage that is named
        other than to allocate a tensor in it stays as it is."""
        reached = set()
        for variable in relax.analysis.free_vars(value):
            reached |= self.reach[variable]
            self.storages.pop(variable, None)
        for tensor in reached:
            tensor.end = max(tensor.end, step + 1)
        return reached

    def planned(self, effort):
        """The function with its tensors in fewer bytes of storage, where that can be."""
        if any(isinstance(one.value, relax.If) for one in self.bindings):
            return self.function  # could not be tried: TVM's own programs with conditions do not run
        places = defaultdict(list)
        for storage in self.storages.values():
            places[storage.place].append(storage)
        changed = {}  # of a variable: the bindings that take the place of its own
        for storages in places.values():
            changed |= self.shared(storages, effort)
        if not changed:
            return self.function
        bindings = [made for one in self.bindings for made in changed.get(one.var, (one,))]
        body = relax.SeqExpr([relax.BindingBlock(bindings)], self.function.body.body)
        return relax.Function(self.function.params, body, self.function.ret_ty, self.function.is_pure,
                              self.function.attrs)

    def shared(self, storages, effort):
        """The bindings that change where tensors share these storages otherwise; none where that gains
        nothing."""
        tensors = [one for one in self.tensors.values() if one.storage in storages]
        plan = arenaut.plan([one.size for one in tensors], [one.first for one in tensors],
                            [one.end for one in tensors], effort=effort, progress=False, tokens=True,
                            names=[one.binding.var.name for one in tensors])
        if plan.arena >= sum(one.size for one in storages):
            return {}
        changed = dict.fromkeys((one.binding.var for one in storages), ())
        blocks = defaultdict(list)
        for one, offset in zip(tensors, plan.offsets.tolist()):
            blocks[offset].append(one)
        for block in blocks.values():
            size = relax.ShapeExpr([max(one.size for one in block)])
            call = with_argument(block[0].storage.binding.value, 0, size)
            storage = relax.VarBinding(relax.Var("storage", relax.AnyType()), call)
            for one in block:
                moved = with_argument(one.binding.value, 0, storage.var)
                changed[one.binding.var] = (relax.VarBinding(one.binding.var, moved),)
            first = block[0].binding.var  # tensors are in the order of the program
            changed[first] = (storage, *changed[first])
        return changed


ALLOC_STORAGE, ALLOC_TENSOR = "relax.memory.alloc_storage", "relax.memory.alloc_tensor"


def with_argument(call, position, value):
    arguments = list(call.args)
    arguments[position] = value
    return relax.Call(call.op, arguments, call.attrs, call.ty_args)
