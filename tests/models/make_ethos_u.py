"""Makes the ExecuTorch program with partitions for Ethos-U that the tests ship: two convolutions, of which a sum along
rows, which the compiler for that processor refuses, keeps the portable kernels busy in between.

    pip install --no-deps --target FOLDER -r tests/requirements-ethos-u.txt
    PYTHONPATH=FOLDER python tests/models/make_ethos_u.py         writes tests/data/ethos_u.pte

The commands for the processor are the compiler's own; where another version makes other ones, calls, values and places
stay the same."""

import sys
from pathlib import Path

import torch
from executorch.backends.arm.ethosu import EthosUCompileSpec, EthosUPartitioner
from executorch.backends.arm.quantizer import EthosUQuantizer, get_symmetric_quantization_config
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge_transform_and_lower
from make_pte import values, with_weights
from torch import nn
from torch.export import export
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

FILE = Path(__file__).parents[1] / "data" / "ethos_u.pte"


class Between(nn.Module):
    """A partition, kernels of this machine, another partition."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 2, 3, padding=1)

    def forward(self, x):
        x = torch.relu(self.first(x))
        x = torch.fmod(torch.cumsum(x, -1), 3.0)
        return self.second(x)


def exported(memory=None):
    """The program, with a memory planning pass of one's own, or ExecuTorch's."""
    inputs = (values((1, 3, 16, 16)),)
    chosen = EthosUCompileSpec("ethos-u55-128")
    quantizer = EthosUQuantizer(chosen)
    quantizer.set_global(get_symmetric_quantization_config())
    prepared = prepare_pt2e(export(with_weights(Between()).eval(), inputs).module(), quantizer)
    prepared(*inputs)
    edge = to_edge_transform_and_lower(export(convert_pt2e(prepared), inputs),
                                       partitioner=[EthosUPartitioner(chosen)],
                                       compile_config=EdgeCompileConfig(_check_ir_validity=False))
    given = {"memory_planning_pass": memory} if memory else {}
    return edge.to_executorch(ExecutorchBackendConfig(**given))


if __name__ == "__main__":
    FILE.write_bytes(bytes(exported().buffer))
    sys.stdout.write(f"{FILE}\n")
