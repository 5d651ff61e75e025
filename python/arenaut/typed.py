"""Types of arguments and results, for type checkers. The package reads this only if a program
looks at its annotations (deferred.py); programs may, to name their types: `from arenaut.typed import Column`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any as Any, Literal, Protocol, SupportsIndex, TypedDict

from arenaut.model import Model as Model
from arenaut.planning import Plan as Plan
from arenaut.problem import Pool, Problem

if TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack as Unpack
else:  # of Python 3.12 and 3.11; before, and without typing_extensions, something less exact that means the same
    try:
        from typing_extensions import Buffer, Unpack
    except ImportError:
        import collections.abc
        import typing

        Buffer = getattr(collections.abc, "Buffer", bytes | bytearray | memoryview)
        Unpack = getattr(typing, "Unpack", typing.Union)


class HasArray(Protocol):
    """What makes a numpy array of itself: columns of pandas and polars, tensors of torch."""

    def __array__(self) -> Any: ...


class Column(Protocol):
    """Whole numbers: a numpy array where one was handed in, else an `array.array`."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[int]: ...
    def __getitem__(self, position: Any, /) -> Any: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def tolist(self) -> list[int]: ...


class Executor(Protocol):
    """As those of concurrent.futures."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any: ...


class DaskClient(Protocol):
    def get_executor(self, **options: Any) -> Any: ...


class WorkerPool(Protocol):
    """As those of multiprocessing and Ray."""

    def apply_async(self, function: Callable[..., Any], arguments: Any = ..., /) -> Any: ...


Path = str | os.PathLike[str]
#: A column of whole numbers.
Numbers = Iterable[SupportsIndex] | Buffer | HasArray
#: The same with None where there is none.
OptionalNumbers = Iterable[SupportsIndex | None] | Buffer | HasArray
#: Pools, fastest first: of each a Pool, what makes one, or a name; or {name: capacity}.
Pools = Iterable[Pool | str | tuple[Any, ...]] | Mapping[str, int | None]
#: `progress(best, bound, seconds)`, which stops the search by returning False; or whether to show a line.
Progress = Callable[[int | None, int, float], object] | bool | None
Kind = Literal["intermediate", "input", "output", "state", "scratch", "constant"]
Status = Literal["optimal", "feasible"]
StoppedBy = Literal["proof", "effort", "time", "interrupt", "end"]
#: A size: a value, a range, several.
Dim = int | tuple[int, int] | list[int]
SplitMode = Literal["channels", "rows", "kept", "rows+calls", "kept+calls", "cropped", "kept-cropped",
                    "fitted", "fitted-over"]


class Constraints(TypedDict, total=False):
    """What arenaut.plan takes for the Problem that it makes, besides the columns and `align`."""

    lifetimes: Iterable[Iterable[tuple[int, int]]] | None
    pools: Pools | None
    allowed: Iterable[Iterable[str] | None] | None
    fixed: OptionalNumbers | None
    hints: OptionalNumbers | None
    same_base: OptionalNumbers | None
    inside: OptionalNumbers | None
    inside_delta: Numbers | None
    kinds: Iterable[Kind | None] | None
    uses: Numbers | None
    names: Iterable[str | None] | None
    conflicts: Iterable[tuple[int, int]]
    separations: Iterable[tuple[int, int, int]]
    reserved: Iterable[tuple[int, int, int]]
    tokens: bool


class PlannerOptions(TypedDict, total=False):
    """How a plan is looked for: see arenaut.plan."""

    planner: str | None
    effort: int | None
    time: float | None
    seed: int
    capacity: int | None
    threads: int
    settings: Mapping[str, object] | None


class ModelOptions(PlannerOptions, total=False):
    """And what is planned of a model: see Model.plan."""

    format: str | None
    target: str | None
    kernels: Path | None
    unmeasured: bool
    method: str | None
    passes: str | Sequence[str] | None
    share: bool | str | Sequence[str] | None
    shapes: Path | Mapping[str, Sequence[int]] | None
    scratch: Path | None
    scratch_model: str | None
    dims: Mapping[str, Dim] | None
    inplace: bool | Literal["only"] | None
    inplace_ops: Mapping[str, int | tuple[int, int]] | None
    overlap: bool
    preserve_inputs: bool
    alloc_io: bool
    align: int | None
    tensor_align: Mapping[str, int] | None
    op_align: Mapping[str, int] | None
    pools: Pools | None
    pins: Mapping[str, str | tuple[str, int | None]] | None
    split: bool | Iterable[tuple[int, int, int, SplitMode]] | None
    rounding: Literal["refuse", "allow"] | None
    budget: int | None
    max_ops: int | None
    max_macs: int | None
    reorder: bool
    recompute: bool
    fit: int | None
    costs: Path | None
    device: str | tuple[int, int] | None
    compact: bool


#: What plan_many plans: a path or a Problem, or a pair of one and options of its own.
Work = Path | Problem | tuple[Path | Problem, ModelOptions]


class Finding(TypedDict):
    """A counter-example of the checker's. None: that has no meaning for this rule."""

    rule: str
    message: str
    step: int
    first: int
    end: int
    a: int | None
    b: int | None
    op: int | None
    method: int | None
    pool: int | None


class Witness(TypedDict):
    """Why no plan exists: buffers that are alive at one step, and too much for their pool."""

    step: int
    buffers: list[int]
    names: list[str]
    pool: str | None
    bytes_over: int


class Totals(TypedDict):
    """Sums over rows, in bytes but for the first four."""

    files: int
    failed: int
    retried: int
    minimal: int
    now: int
    planned_of_those: int
    planned: int
    bound: int


class TorchOptions(TypedDict, total=False):
    """How a PyTorch program is run: see arenaut.torch.executor.Options."""

    outputs: Literal["apart", "arena"]
    record: bool | None
    smallest_block: int | None
    keep_arena: bool
    fold_constants: bool
    fold_batch_norms: bool
    pointwise_as_product: bool
    most_shapes: int


class ReportOptions(TypedDict, total=False):
    """How a report looks: see Plan.report."""

    width: int
    top: int
    color: bool
    unicode: bool
    steps: tuple[int, int] | None
    compare: Mapping[str, Plan] | None
    replan: bool
