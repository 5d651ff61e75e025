"""The second run: managed tensors have memory of their own, and everything that kernels
allocate beside them is put on a tape. Lives of both are counted in the ticks of that tape."""

import torch

from arenaut.iteration import MANAGED, OUTPUT, Value
from arenaut.tape import Tape
from arenaut.torch.emit import Emitter
from arenaut.torch.learn import tensors_in


class Misbehaved(Exception):
    """A kernel gave a tensor that it was to write another shape, other strides or other memory."""

    def __init__(self, step):
        super().__init__(f"step {step}")
        self.step = step


class Watch:
    """Stands beside the function while it is recorded."""

    def __init__(self, learned, tape, stays):
        self.learned, self.tape, self.stays = learned, tape, stays
        self.expected = {}  # what managed tensors must look like after each step
        self.started = {}   # step -> tick
        self.ended = {}     # step -> the last tick at which it is still at work
        self.current = None
        self.blocks = {}    # root -> block of the tape
        self.time = 0

    def tick(self):
        if self.tape:
            return self.tape.tick()
        self.time += 1
        return self.time - 1

    def before(self, number):
        now = self.tick()
        if self.current is not None:
            self.ended[self.current] = now - 1
        self.started[number], self.current = now, number

    def after(self, number, results):
        for value, result in results:
            if value in self.expected and state_of(result) != self.expected[value]:
                raise Misbehaved(number)
            if self.tape:
                self.find_blocks(value, result)

    def find_blocks(self, value, result):
        found = tensors_in(result)
        for number, tensor in enumerate(found):
            name = (value, number) if len(found) > 1 else value
            root = self.learned.roots.get(name)
            if root is not None and root.kind == "made":
                self.blocks[name] = self.tape.find(tensor.untyped_storage().data_ptr())

    def finish(self, results):
        """Before what stays in the arena is let go: the caller of this run gets copies, of
        which the tape knows nothing."""
        self.end = self.tick()
        if self.current is not None:
            self.ended[self.current] = self.end - 1
        if self.tape:
            self.tape.pause()
        self.results = [self.copy_of(r) for r in results]
        if self.tape:
            self.tape.resume()

    def copy_of(self, result):
        is_ours = isinstance(result, torch.Tensor) and self.stays
        return result.clone() if is_ours else result


def state_of(tensor):
    return tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype


class Recording:
    """What a plan is made of: managed roots and blocks, with sizes and lives."""

    def __init__(self, program, learned, demoted, inputs, options):
        self.learned = learned
        self.apart = options.outputs == "apart"
        self.managed, self.fresh = learned.managed(self.apart)
        self.tape = Tape(min_size=options.smallest_block) if options.record else None
        self.watch = self.run(program, demoted, inputs)
        self.sizes = [learned.roots[name].bytes for name in self.managed]
        self.blocks = self.tape.blocks() if self.tape else []
        self.over = [self.candidate(n) if n in self.learned.in_place else None
                     for n in self.managed]

    def run(self, program, demoted, inputs):
        tensors = {}

        def own_memory(value):
            shape, strides, dtype = self.learned.roots[value].tensor
            tensors[value] = torch.empty_strided(shape, strides, dtype=dtype)
            return tensors[value]

        self.stays = {name for name, root in self.learned.roots.items()
                      if root.kind == "made" and root.output and self.tape and not self.apart}
        watch = Watch(self.learned, self.tape, self.stays)
        function = Emitter(program, self.learned, demoted, own_memory, self.fresh, self.stays,
                           watch=watch).function()
        watch.expected = {value: state_of(t) for value, t in tensors.items()}
        if self.tape:
            self.tape.record()
        try:
            self.results = function(*inputs)
        finally:
            if self.tape:
                self.tape.end()
        return watch

    def steps_of(self, root):
        """The steps that touch a storage while the program runs; views of managed memory are
        made beforehand."""
        return [s for s in (root.step, *root.readers) if s in self.watch.started]

    def candidate(self, name):
        """Whom a managed root may be written over: somebody who dies with that very step."""
        root = self.learned.roots[name]
        end = self.watch.ended[root.step]
        for other in self.learned.in_place.get(name, ()):
            there = self.learned.roots[other]
            if there.output or max(self.steps_of(there)) != root.step:
                continue
            block = self.watch.blocks.get(other)
            if other in self.managed or (block is not None and self.blocks[block].end == end + 1):
                return other
        return None

    def values(self, sizes, block_sizes, over):
        """Managed roots and then blocks, for the iteration planner; and which blocks."""
        planned = [k for k, b in enumerate(self.blocks) if b.released]
        number = {name: k for k, name in enumerate(self.managed)}
        blocks = {block: name for name, block in self.watch.blocks.items()}
        number.update((blocks[k], len(self.managed) + at) for at, k in enumerate(planned)
                      if k in blocks)
        values = [Value(size, *self.life(name, other), number.get(other), self.kind(name))
                  for name, size, other in zip(self.managed, sizes, over)]
        stretch = self.stretches(over)
        for k in planned:
            first, last = self.blocks[k].first, self.blocks[k].end - 1
            values.append(Value(block_sizes[k], first, max(last, stretch.get(first, 0)),
                                kind=self.kind(blocks.get(k))))
        return values, planned

    def kind(self, name):
        """Results in the arena are held there when the run is over."""
        root = self.learned.roots.get(name)
        return OUTPUT if root is not None and root.output and not self.apart else MANAGED

    def life(self, name, other=None):
        """What is written over something else appears at the last tick of its step, the only
        one that the two may share."""
        root = self.learned.roots[name]
        steps = self.steps_of(root)
        last = self.watch.end if root.output else max(self.watch.ended[s] for s in steps)
        start = self.watch.started if other is None else self.watch.ended
        return start[min(steps)], last

    def stretches(self, over):
        """Since what is written in place appears late in its step, what its kernel allocates
        stays until then: they must not meet. The tick of each such request, and its last."""
        stretch = {}
        for name, other in zip(self.managed, over):
            if other is not None:
                step = self.learned.roots[name].step
                for tick in range(self.watch.started[step] + 1, self.watch.ended[step] + 1):
                    stretch[tick] = self.watch.ended[step]
        return stretch

    def largest(self, program):
        """The operator that asked for the largest block, and its bytes."""
        if not self.blocks:
            return None
        block = max(self.blocks, key=lambda b: b.size)
        asking = max((s for s, t in self.watch.started.items() if t <= block.first),
                     key=self.watch.started.get)
        return program.steps[asking].op, block.size

    def flow(self):
        """What two recordings must share to be planned as one."""
        return tuple(self.managed), [self.life(name) for name in self.managed]
