"""Random PyTorch modules of elementwise ops, views, joins, products, norms, a state that is updated, and branches:
exported once, as a .pt2 and as an ExecuTorch program."""

import random
import warnings

import torch

import exported_graphs

SIDE = 8


class Net(torch.nn.Module):
    """Draws the same ops each time that it is traced, from its seed."""

    def __init__(self, seed, n_ops, branches):
        super().__init__()
        self.seed, self.n_ops, self.branches = seed, n_ops, branches
        self.register_buffer("state", torch.linspace(-1, 1, SIDE * SIDE).reshape(SIDE, SIDE))
        self.linear = torch.nn.Linear(SIDE, SIDE)
        self.norm = torch.nn.LayerNorm(SIDE)

    def update(self, a, b):
        self.state.mul_(0.9).add_(a.clamp(-1, 1))
        return self.state + b

    def branch(self, a, b):
        if not self.branches:
            return a.sin() * b
        return torch.cond(a.sum() > 0, lambda a, b: a.sin() * b, lambda a, b: (a + b).cos() + 1, (a, b)) * 1.0

    def kinds(self):
        return [lambda a, b: a + b, lambda a, b: a * b, lambda a, b: a - 0.5 * b, lambda a, b: torch.relu(a),
                lambda a, b: torch.sigmoid(a), lambda a, b: torch.tanh(a) + b, lambda a, b: a / (b.abs() + 1),
                lambda a, b: torch.softmax(a, -1), lambda a, b: self.norm(a), lambda a, b: self.linear(a),
                lambda a, b: a.t() + b, lambda a, b: torch.cat([a[:4], b[4:]], 0),
                lambda a, b: torch.cat([a, b], 1)[:, 4:4 + SIDE], lambda a, b: a + b.sum(0, keepdim=True),
                lambda a, b: 0.1 * (a @ b), lambda a, b: a * self.state,
                lambda a, b: a.reshape(4, 2 * SIDE).view(SIDE, SIDE) * b, lambda a, b: torch.where(a > b, a, b * 2), lambda a, b: a.expand(2, SIDE, SIDE).mean(0), self.update, self.branch]

    def forward(self, x, y):
        rng = random.Random(self.seed)
        values = [x, y]
        kinds = self.kinds()
        for _ in range(self.n_ops):
            a, b = (values[-1] if rng.random() < 0.5 else rng.choice(values) for _ in range(2))
            values.append(rng.choice(kinds)(a, b))
        return values[-1] * 1, values[len(values) // 2] + 0


def exported(rng, branches):
    """The program of a random net that is exported, whose weights are random too."""
    torch.manual_seed(rng.randrange(2 ** 31))
    net = Net(rng.randrange(2 ** 31), rng.randint(4, 24), branches)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return torch.export.export(net.eval(), inputs(0), strict=False)


def inputs(seed):
    numbers = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(SIDE, SIDE, generator=numbers) for _ in range(2))


def save_pt2(program, path):
    exported_graphs.save(program, path)


def save_pte(program, path):
    from executorch.exir import EdgeCompileConfig, to_edge
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        edge = to_edge(program, compile_config=EdgeCompileConfig(_check_ir_validity=False))
        path.write_bytes(edge.to_executorch().buffer)
