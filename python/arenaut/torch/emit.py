"""From what was learned to a Python function: straight-line calls, and nothing else.

Whatever is the same in every run is bound to a name beforehand: weights, numbers, managed
tensors, and views of those. Everything else is a local variable, deleted after its last use.
"""

import math

import torch

from arenaut.torch.steps import Ref, walk


class Emitter:
    """`tensor_of(root)` makes the tensor of a managed root; roots in `fresh` get memory of their
    own in each run. `stays` are results whose memory a kernel allocates in the arena: the caller
    gets a tensor that is made beforehand, by `result_of`, and what the kernel returned is let go
    when the run ends. With a `watch` (see record.py) the function reports to it step by step."""

    def __init__(self, program, learned, demoted, tensor_of, fresh=(), stays=(), result_of=None,
                 watch=None):
        self.program, self.learned, self.demoted = program, learned, demoted
        self.tensor_of, self.fresh, self.watch = tensor_of, fresh, watch
        self.stays, self.result_of = stays, result_of
        self.known = dict(program.constants)
        self.namespace = {"watch": watch, "empty_strided": torch.empty_strided}
        self.names = {}
        self.lines = []  # (text, values read, values made)

    # --- what is known beforehand ---

    def is_known(self, values):
        return all(v in self.known for v in values)

    def settle(self, number, step):
        """Whether the step needs no call at run time. Fills in what is known by then."""
        reads = step.reads()
        if step.kind == "view":
            plain = step.results[0] in self.learned.plain
            numbers = [v for v in reads if v in self.learned.plain]
            if plain and self.is_known(numbers):
                self.known[step.results[0]] = self.learned.plain[step.results[0]]
                return True
            if self.is_known(reads):
                args, kwargs = walk((step.args, step.kwargs), lambda ref: self.known[ref.value])
                made = step.fn(*args, **kwargs)
                if not self.is_new(step.results[0]):
                    self.known[step.results[0]] = made
                    return True
        for value in self.managed(number, step):
            self.known[value] = self.tensor_of(value)
        return step.kind == "place" and bool(self.managed(number, step))

    def is_new(self, value):
        """Whether a view turned out to be a copy: a reshape of what is not contiguous."""
        return value in self.learned.roots

    def managed(self, number, step):
        roots = self.learned.roots
        return [v for v in step.results if v in roots and roots[v].kind == "managed"
                and v not in self.fresh and number not in self.demoted]

    # --- text ---

    def name(self, thing):
        """A global name bound to this object."""
        key = id(thing)
        if key not in self.names:
            self.names[key] = f"k{len(self.names)}"
            self.namespace[self.names[key]] = thing
        return self.names[key]

    def text(self, thing):
        if isinstance(thing, Ref):
            if thing.value in self.known:
                return self.text(self.known[thing.value])
            return f"v{thing.value}"
        if thing is None or isinstance(thing, (bool, int, str)):
            return repr(thing)
        if isinstance(thing, float) and math.isfinite(thing):
            return repr(thing)
        if isinstance(thing, list):
            return "[" + ", ".join(map(self.text, thing)) + "]"
        if isinstance(thing, tuple):
            return "(" + "".join(self.text(part) + ", " for part in thing) + ")"
        if isinstance(thing, dict):
            return "{" + ", ".join(f"{k!r}: {self.text(v)}" for k, v in thing.items()) + "}"
        if isinstance(thing, slice):
            return f"slice({self.text(thing.start)}, {self.text(thing.stop)}, " \
                   f"{self.text(thing.step)})"
        return self.name(thing)

    def call(self, fn, args, keywords):
        parts = [self.text(a) for a in args] + [f"{k}={t}" for k, t in keywords.items()]
        return f"{self.name(fn)}({', '.join(parts)})"

    def add(self, text, reads=(), made=()):
        self.lines.append((text, [v for v in reads if v not in self.known],
                           [v for v in made if v not in self.known]))

    def step(self, number, step):
        if self.settle(number, step):
            return
        reads = step.reads()
        if self.watch:
            self.add(f"watch.before({number})")
        keywords = {k: self.text(a) for k, a in step.kwargs.items()}
        own = [v for v in step.results if v in self.learned.roots]
        out = step.kind == "out" and len(own) == len(step.results) and number not in self.demoted
        if out or (step.kind == "place" and own and own[0] in self.fresh):
            for value in own:
                if value in self.fresh:
                    self.add_fresh(value)
        if out:
            keywords.update(zip(step.outs, (self.text(Ref(v)) for v in step.results)))
            self.add(self.call(step.fn, step.args, keywords), [*reads, *step.results])
        elif step.kind == "write":
            self.add(self.call(step.fn, step.args, keywords), reads)
        elif step.kind != "place" or not own or own[0] not in self.fresh:
            self.add_make(step, keywords, reads)
        if self.watch:
            self.add(f"watch.after({number}, {self.text(self.seen(step))})", step.results)

    def seen(self, step):
        return tuple((v, Ref(v)) for v in step.results)

    def add_fresh(self, value):
        shape, strides, dtype = self.learned.roots[value].tensor
        self.add(f"v{value} = empty_strided({shape!r}, {strides!r}, dtype={self.name(dtype)})",
                 made=[value])

    def add_make(self, step, keywords, reads):
        call = self.call(step.plain or step.fn, step.args, keywords)
        targets = ", ".join(f"v{v}" for v in step.results)
        self.add(f"{targets} = {call}" if targets else call, reads, step.results)

    # --- the function ---

    def function(self):
        for number, step in enumerate(self.program.steps):
            self.step(number, step)
        returned = [*self.program.outputs, *(ref for _, ref in self.program.mutated)]
        text = self.body(*self.handed_out(returned))
        exec(compile(text, "<planned>", "exec"), self.namespace)
        return self.namespace["run"]

    def handed_out(self, returned):
        """The text of the results, and the local variables among them."""
        if self.watch:
            self.add(f"watch.finish({self.text(returned)})",
                     [ref.value for ref in returned if isinstance(ref, Ref)])
            return "watch.results", [r for r in returned if not self.is_in_arena(r)]
        for ref in returned:
            if self.is_in_arena(ref):
                # Held to the end, as it was when recorded.
                self.add(f"v{ref.value}", [ref.value])
        returned = [self.result_of(ref.value) if self.is_in_arena(ref) else ref
                    for ref in returned]
        return self.text(returned), returned

    def is_in_arena(self, ref):
        return isinstance(ref, Ref) and ref.value not in self.known \
            and self.learned.layouts.get(ref.value, (None,))[0] in self.stays

    def body(self, returned, refs):
        """`refs` are returned, and so not deleted."""
        last = {}
        for number, (_, reads, made) in enumerate(self.lines):
            for value in (*reads, *made):
                last[value] = number
        kept = {*self.program.inputs}
        walk(refs, lambda ref: kept.add(ref.value))
        done = {}
        for value, number in last.items():
            if value not in kept:
                done.setdefault(number, []).append(value)
        text = [f"def run({', '.join(f'v{v}' for v in self.program.inputs)}):"]
        for number, (line, _, _) in enumerate(self.lines):
            text.append("    " + line)
            if number in done:
                text.append("    del " + ", ".join(f"v{v}" for v in done[number]))
        text.append(f"    return {returned}")
        return "\n".join(text)

