"""A program as a list of steps, each of which says what it does to memory."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Ref:
    """The value of this number, in the arguments of a step."""

    value: int


@dataclass
class Step:
    """One call. What it does to memory:

    view   its result lies in its first argument, or is no tensor
    out    writes its results into memory that it is given, through the keywords in `outs`
    place  its result is memory that later steps write; shape and strides as `fn` makes them
           on the meta device
    write  writes its first argument; no result
    make   brings memory of its own, or none
    """

    kind: str
    op: str
    fn: object
    args: tuple
    kwargs: dict = field(default_factory=dict)
    results: tuple = ()
    outs: tuple = ()
    in_place: bool = False
    plain: object = None  # the same with memory of its own; None: `fn`, without its outs

    def reads(self):
        """The values among its arguments."""
        found = []
        walk((self.args, self.kwargs), lambda ref: found.append(ref.value))
        return found


def walk(thing, visit):
    """Calls `visit` for each Ref, and returns the same structure with its answers in place."""
    if isinstance(thing, Ref):
        return visit(thing)
    if isinstance(thing, (list, tuple)):
        parts = [walk(part, visit) for part in thing]
        return parts if isinstance(thing, list) else tuple(parts)
    if isinstance(thing, dict):
        return {key: walk(part, visit) for key, part in thing.items()}
    if isinstance(thing, slice):
        return slice(*(walk(part, visit) for part in (thing.start, thing.stop, thing.step)))
    return thing


@dataclass
class Program:
    """Steps over numbered values; inputs come first."""

    n_values: int = 0
    inputs: list = field(default_factory=list)
    input_metas: list = field(default_factory=list)
    constants: dict = field(default_factory=dict)  # value -> tensor
    steps: list = field(default_factory=list)
    outputs: list = field(default_factory=list)    # a Ref or a plain value for each result
    mutated: list = field(default_factory=list)    # (tensor, or number of an input; Ref)
    out_spec: object = None
    folded_bytes: int = 0

    def new_value(self):
        self.n_values += 1
        return self.n_values - 1

    def constant(self, tensor):
        value = self.new_value()
        self.constants[value] = tensor
        return Ref(value)

    def add(self, kind, op, fn, args, kwargs=None, outs=(), in_place=False, results=1,
            plain=None):
        """Adds a step; the Ref of its result, or a list of them if there are several."""
        refs = [Ref(self.new_value()) for _ in range(results)]
        self.steps.append(Step(kind, op, fn, tuple(args), kwargs or {},
                               tuple(ref.value for ref in refs), outs, in_place, plain))
        return refs[0] if results == 1 else refs
