"""Networks of timm as graphs of ops, in the form of the corpus's, for bench/order_table.py --graphs.

    pip install --no-deps -r bench/requirements-networks.txt
    python bench/timm_graphs.py FOLDER [NAME...]       # one NAME.json each
    python bench/timm_graphs.py --pt2 FOLDER [NAME...]  # exported programs, as `arenaut size` reads them

Graphs are traced with fake tensors, one image of the network's own size, in eval mode: no weights are
made, and nothing is computed. Ops and their order are those of PyTorch's tracer of 32-bit floats on the
processor. Exported programs have random weights. A network that cannot be traced is reported, and the
command ends with 1.
"""

import argparse
import functools
import json
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch._functorch.aot_autograd import aot_export_module
from torch._subclasses import FakeTensorMode

#: Searched, branching and densely joined ones, and plain ones to hold them against.
NETWORKS = """
    crossvit_15_240 pnasnet5large nasnetalarge swin_tiny_patch4_window7_224 crossvit_9_240 crossvit_18_240
    crossvit_base_240 coat_tiny hrnet_w18_small_v2 dla60_res2net dpn68 xcit_nano_12_p16_224
    efficientformer_l1 xception71 inception_v3 res2net101_26w_4s densenetblur121d inception_resnet_v2
    vovnet39a cspresnext50 skresnet18 resnest14d ghostnet_100 mixnet_s mobileone_s0 repvgg_a0 fastvit_t8
    mobilevit_s focalnet_tiny_srf davit_tiny maxvit_tiny_rw_224 coatnet_0_rw_224 twins_svt_small pvt_v2_b1
    tnt_s_legacy_patch16_224 volo_d1_224 levit_128s poolformer_s12 mixer_s16_224 gmlp_s16_224 edgenext_small
    convit_tiny vit_tiny_patch16_224 mvitv2_tiny nf_resnet50 swinv2_tiny_window8_256 inception_next_tiny
""".split()
#: Its schema does not say so, but its result lies in its operand.
UNSAID_VIEWS = {"_unsafe_view"}


@functools.cache
def let_torchvision_load():
    """PyPI's torchvision is built for CUDA. Beside a torch for the processor its compiled ops do not
    load, and it asks for two that none of these networks has."""
    ops = torch.library.Library("torchvision", "FRAGMENT")
    ops.define("nms(Tensor boxes, Tensor scores, float threshold) -> Tensor")
    ops.define("qnms(Tensor boxes, Tensor scores, float threshold) -> Tensor")
    import torchvision  # noqa: F401
    return ops  # they are there as long as this is


def made(name):
    let_torchvision_load()
    import timm
    return timm.create_model(name, pretrained=False).eval()


class InTuple(nn.Module):
    """The form that the tracer requires: results in a tuple."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, image):
        results = self.network(image)
        return tuple(results) if isinstance(results, (tuple, list)) else (results,)


def faked(network):
    """Tensors without memory, of the processor: which kernels a tracer chooses depends on the device."""
    fakes = {}
    for module in network.modules():
        for tensors in module._parameters, module._buffers:
            for name, tensor in tensors.items():
                if tensor is None:
                    continue
                fake = fakes.setdefault(id(tensor), torch.empty_like(tensor, device="cpu"))
                weight = isinstance(tensor, nn.Parameter)
                tensors[name] = nn.Parameter(fake, requires_grad=False) if weight else fake
    return network


def traced(network, size):
    """The graph of a network's ops, and which of its inputs are weights."""
    with torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True):
        image = torch.empty(1, *size)
        module, signature = aot_export_module(InTuple(faked(network)), (image,), trace_joint=False)
    return module.graph, {*signature.inputs_to_parameters, *signature.inputs_to_buffers}


def is_view(op):
    return op.name().split("::")[1] in UNSAID_VIEWS or any(
        result.alias_info is not None and not result.alias_info.is_write for result in op._schema.returns)


class _Builder:
    def __init__(self, name, graph, weights):
        self.tensors, self.ops, self.inputs, self.outputs = [], [], [], []
        self.ids = {}  # of a node: its tensors
        self.weights = weights
        for node in graph.nodes:
            getattr(self, "add_" + node.op)(node)
        self.graph = {"name": f"{name}_inf_b1", "tensors": self.tensors, "ops": self.ops, "inputs": self.inputs,
                      "outputs": self.outputs, "grad_of": {}}

    def add_tensor(self, value, kind, producer=None, view_of=None):
        self.tensors.append({
            "id": len(self.tensors), "bytes": math.prod(value.shape) * value.element_size(), "kind": kind,
            "producer": producer, "is_view_of": view_of, "shape": list(value.shape),
            "dtype": str(value.dtype).removeprefix("torch.")})
        return self.tensors[-1]["id"]

    def add_placeholder(self, node):
        kind = "param" if node.name in self.weights else "input"
        self.ids[node] = [self.add_tensor(node.meta["val"], kind)]
        self.inputs += self.ids[node]

    def add_get_attr(self, node):
        """A constant of the network's code."""
        value = getattr(node.graph.owning_module, node.target)
        self.ids[node] = [self.add_tensor(value, "buffer")]

    def add_call_function(self, node):
        if node.target.__name__ == "getitem":
            of, k = node.args
            self.ids[node] = [self.ids[of][k]]
            return
        if not node.target._schema.returns:
            return  # a check of its operands makes nothing
        read = [i for of in node.all_input_nodes for i in self.ids[of][:1]]
        base = read[0] if is_view(node.target) else None
        results = node.meta["val"]
        values = results if isinstance(results, (tuple, list)) else [results]
        self.ids[node] = [self.add_tensor(value, "act", len(self.ops), base) for value in values]
        op = node.target.name().split("::")[1].split(".")[0]
        self.ops.append({"id": len(self.ops), "name": node.name, "op": op, "inputs": read,
                         "outputs": self.ids[node]})

    def add_output(self, node):
        self.outputs += [i for of in node.all_input_nodes for i in self.ids[of]]


def graph_of(name, network, size):
    return _Builder(name, *traced(network, size)).graph


def write_graph(folder, name):
    with torch.device("meta"):
        network = made(name)
    graph = graph_of(name, network, network.default_cfg["input_size"])
    (folder / f"{graph['name']}.json").write_text(json.dumps(graph))


def write_program(folder, name):
    network = made(name)
    with torch.no_grad():
        image = torch.zeros(1, *network.default_cfg["input_size"])
        program = torch.export.export(network, (image,), strict=False)
    torch.export.save(program, folder / f"{name}.pt2")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--pt2", action="store_true", help="write exported programs instead of graphs")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in given.names or NETWORKS:
        try:
            (write_program if given.pt2 else write_graph)(given.folder, name)
        except RuntimeError as why:  # timm's and the tracer's, of an unsupported network
            print(f"{name}: {type(why).__name__}: {str(why).splitlines()[0]}", file=sys.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
