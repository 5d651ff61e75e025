"""ExecuTorch programs of Cortex-M's quantized operators: scratch that is no operand, rights to write in place, and how
far results of windows reach into images.

No wheel runs these kernels: results are not compared here. Rights in place were read in the kernels' loops. Distances are
measured: CMSIS-NN's functions are called as ExecuTorch's operators call them, on a Cortex-M that QEMU plays, and every
load and store is seen. Operators are called as its export does, without its quantizer, which needs another package."""

import re
import shutil
import subprocess
import sys

import arm_runtime
import pytest
from conftest import COMMAND, ROOT
from drawn import NIGHT

torch = pytest.importorskip("torch", reason="the stock wheels are not installed: make venv")
pytest.importorskip("executorch", reason="the stock wheels are not installed: make venv")
import pte_runtime  # noqa: E402
import yaml  # noqa: E402
from executorch import exir  # noqa: E402
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge  # noqa: E402
from executorch.exir.dialects._ops import ops as exir_ops  # noqa: E402
from torch import nn  # noqa: E402

SIDE = 64
SCHEMAS = [one["func"] for one in yaml.safe_load(
    (pte_runtime.wheel() / "backends" / "cortex_m" / "ops" / "operators.yaml").read_text())]
LIBRARY = torch.library.Library("cortex_m", "DEF")
ops = torch.ops.cortex_m


def define(schema):
    """An operator and its out variant, by the wheel's schema; its result has the shape of the first operand."""
    name = re.match(r"cortex_m::(\w+)\.out", schema)[1]
    LIBRARY.define(schema.removeprefix("cortex_m::"))
    LIBRARY.define(re.sub(r", \*, Tensor\(a!\) out\) -> Tensor\(a!\)", ") -> Tensor",
                          schema.removeprefix("cortex_m::").replace(".out(", "(")))
    torch.library.register_fake(f"cortex_m::{name}", lambda x, *_: torch.empty_like(x), lib=LIBRARY)
    torch.library.register_fake(f"cortex_m::{name}.out", lambda x, *_, out: out, lib=LIBRARY)


for one in SCHEMAS:
    define(one)


class Elements(nn.Module):
    """Sums and products of images, an activation by table, a softmax."""

    def forward(self, x, y, table):
        a = ops.quantized_add(x, 0, 2**30, 0, y, 0, 2**30, 0, 0, 2**30, 0, -128, 127)
        b = ops.quantized_mul(a, 0, y, 0, 0, 2**30, 0)
        c = ops.quantized_activation(ops.maximum(b, y), table)
        return ops.softmax(c, -1, 0, -128, 2**30, 0, -100)


class Products(nn.Module):
    """Two products of matrices, whose kernel has scratch."""

    def forward(self, x, y):
        scratch = torch.zeros(1024, dtype=torch.uint8)
        a = ops.quantized_batch_matmul(x, 0, y, 0, 0, 2**30, 0, scratch)
        return ops.quantized_batch_matmul(a, 0, y, 0, 0, 2**30, 0, scratch)


def windows(x, weights, channels):
    """A convolution, a convolution of each channel by itself, and two pools, as the kernels take them."""
    numbers, one, scratch = torch.ones(channels, dtype=torch.int32), [1, 1], torch.zeros(256, dtype=torch.int8)
    a = ops.quantized_conv2d(x, weights[0], None, one, one, one, 0, 0, numbers, numbers, -128, 127, scratch)
    b = ops.quantized_depthwise_conv2d(a, weights[1], None, one, one, one, 1, 0, 0, numbers, numbers, -128, 127, scratch)
    c = ops.quantized_max_pool2d(b, [3, 3], one, one, one, False, 0, 0, -128, 127)
    return ops.quantized_avg_pool2d(c, [3, 3], one, one, False, 0, 1, 0, scratch)


class Windows(nn.Module):
    """Images with channels inside; all have one shape, which is that of the first operand."""

    def __init__(self, channels=8):
        super().__init__()
        self.channels = channels
        self.register_buffer("deep", torch.ones(channels, 3, 3, channels, dtype=torch.int8))
        self.register_buffer("each", torch.ones(1, 3, 3, channels, dtype=torch.int8))

    def forward(self, x):
        return windows(x, (self.deep, self.each), self.channels)


def image(*dims):
    return torch.ones(dims, dtype=torch.int8)


ELEMENTS = Elements(), (image(1, SIDE, SIDE), image(1, SIDE, SIDE), image(256))
PRODUCTS = Products(), (image(1, SIDE, SIDE), image(1, SIDE, SIDE))
WINDOWS = Windows(), (image(1, 8, SIDE, SIDE).to(memory_format=torch.channels_last),)


def with_scratch(program):
    """Memory for each kernel that wants some, as Cortex-M's passes allocate it."""
    graph = program.graph_module.graph
    for node in list(graph.nodes):
        if node.target != exir_ops.edge.cortex_m.quantized_batch_matmul.default:
            continue
        with graph.inserting_before(node):
            scratch = graph.create_node("call_function", exir.memory.alloc, (((1024,), torch.uint8),))
        scratch.meta["val"] = torch.empty(1024, dtype=torch.uint8, device="meta")
        node.args = (*node.args[:7], scratch)
    graph.eliminate_dead_code()
    program.graph_module.recompile()


def exported(example, memory=None):
    module, inputs = example
    edge = to_edge(torch.export.export(module, inputs, strict=True),
                   compile_config=EdgeCompileConfig(_check_ir_validity=False))
    with_scratch(edge.exported_program())
    chosen = {"memory_planning_pass": memory} if memory else {}
    return edge.to_executorch(ExecutorchBackendConfig(**chosen))


def total(program):
    return sum(program.executorch_program.execution_plan[0].non_const_buffer_sizes)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cortex_m")
    for name, example in (("elements", ELEMENTS), ("products", PRODUCTS), ("windows", WINDOWS)):
        (folder / f"{name}.pte").write_bytes(exported(example).buffer)
    return folder


def test_scratch_is_alive_for_its_op_alone(arenaut, arenaut_json, files):
    """It was taken for a view of a dead value before, and kept that alive."""
    planned = arenaut_json("plan", files / "products.pte")
    assert planned["result"]["arena"] == 3 * SIDE * SIDE + 1024
    assert planned["result"]["arena"] <= planned["baseline"]["arena"]
    assert "ok" in arenaut("check", files / "products.pte").stdout
    spans = [buffer["end"] - buffer["first"] for buffer in planned["buffers"] if buffer["size"] == 1024]
    assert spans == [1, 1]


def test_elements_are_written_over_operands(arenaut, arenaut_json, files, tmp_path):
    """By the library's own kernels alone: the portable ones have no such operators."""
    def arena(*flags):
        return arenaut_json("plan", files / "elements.pte", *flags)["result"]["arena"]
    image_bytes = SIDE * SIDE
    assert arena("--inplace", "on") == arena() == 3 * image_bytes + 256
    assert arena("--inplace", "on", "--kernels", "cortex-m") == 2 * image_bytes + 256
    arenaut("plan", files / "elements.pte", "--inplace", "on", "--kernels", "cortex-m", "-o", tmp_path / "small.pte")
    assert "as the kernels 'cortex-m' allow" in arenaut("check", tmp_path / "small.pte", "--kernels", "cortex-m").stdout
    assert "which nothing allows" in arenaut("check", tmp_path / "small.pte", exit=1).stdout


def test_the_pass_knows_the_library(ours):
    sizes = [total(exported(ELEMENTS, ours.MemoryPlanningPass(inplace="safe", kernels=kernels)))
             for kernels in (None, "cortex-m")]
    assert sizes == [3 * SIDE * SIDE + 256, 2 * SIDE * SIDE + 256]
    assert total(exported(PRODUCTS, ours.MemoryPlanningPass(inplace="safe"))) == 3 * SIDE * SIDE + 1024


def test_windows_reach_into_images(arenaut, arenaut_json, files, ours, tmp_path):
    """A result lies where its operand does, but for a few rows; the pass plans as the command does."""
    flags = ("--overlap", "on", "--kernels", "cortex-m")
    image_bytes, small = 8 * SIDE * SIDE, tmp_path / "small.pte"
    planned = arenaut_json("plan", files / "windows.pte", *flags)
    assert planned["baseline"]["arena"] > 2 * image_bytes > 4 / 3 * planned["result"]["arena"] > 4 / 3 * image_bytes
    arenaut("plan", files / "windows.pte", *flags, "-o", small)
    assert "as the kernels 'cortex-m' allow" in arenaut("check", small, *flags).stdout
    assert "which nothing allows" in arenaut("check", small, exit=1).stdout
    program = exported(WINDOWS, ours.MemoryPlanningPass(overlap=True, kernels="cortex-m"))
    assert total(program) == planned["result"]["arena"]
    assert total(exported(WINDOWS, ours.MemoryPlanningPass(overlap=True))) > 2 * image_bytes


SOURCES = arm_runtime.SOURCES / "cmsis-nn"
MEASURE = ROOT / "examples" / "measure_kernels"


@NIGHT
@pytest.mark.parametrize("cpu, kernels", [("cortex-m7", "cortex-m"), ("cortex-m55", "cortex-m-mve")])
def test_every_load_and_store_bears_out_the_rules(tmp_path, cpu, kernels):
    """CMSIS-NN's functions on random shapes, called as ExecuTorch's operators call them."""
    missing = [tool for tool in ("arm-none-eabi-gcc", "qemu-system-arm", "gcc") if not shutil.which(tool)]
    if missing or not SOURCES.is_dir():
        pytest.skip(f"not installed: {missing}" if missing else f"no sources of CMSIS-NN: {arm_runtime.HINT}")
    program, calls, rules = tmp_path / "calls.elf", tmp_path / "calls.jsonl", tmp_path / "set.kernels.json"
    sources = [path for path in (SOURCES / "Source").rglob("*.c") if path.stem[-4:] not in ("_f16", "_f32")]
    script = MEASURE / "cortex_m.sh"
    subprocess.run([script, "build", cpu, program, "-Ofast", "-ffunction-sections", "-Wl,--gc-sections",
                    f"-I{SOURCES / 'Include'}", MEASURE / "cortex_m_calls.c", *sources], check=True)
    subprocess.run([script, "trace", cpu, program, calls, "7"], check=True)
    rules.write_text(subprocess.run([COMMAND, "kernels", kernels, "--json"], check=True, stdout=subprocess.PIPE,
                                    text=True).stdout)
    said = subprocess.run([sys.executable, MEASURE / "measure.py", "confirm", rules, calls], check=False, text=True,
                          stdout=subprocess.PIPE, env={"ARENAUT": str(COMMAND)})
    assert said.returncode == 0, said.stdout
    rows = [line.split()[:5] for line in said.stdout.splitlines()[1:]]
    assert all(int(calls) > 5 for op, _, calls, *_ in rows if op.startswith("cortex_m::quantized_"))
    assert len(rows) >= 8


def test_scratch_is_where_the_schemas_have_it():
    """The rows of the table of operators, against the schemas of the wheel: arguments called scratch stand last."""
    rows = dict(re.findall(r'EXECUTORCH\("(cortex_m::[\w.]+)",.*, (\d+)\)', (ROOT / "src/ops/ops.def").read_text()))
    wanted = {}
    for schema in SCHEMAS:
        name, arguments = re.match(r"([\w:.]+)\((.*), \*, ", schema).groups()
        named = [one.split()[-1] for one in re.sub(r"\[[^\]]*\]", "", arguments).split(", ")]
        own = [k for k, one in enumerate(named) if "scratch" in one]
        assert own == list(range(len(named) - len(own), len(named)))
        if own:
            wanted[name] = str(own[0])
    assert {name: at for name, at in rows.items() if at != "0"} == wanted
    assert set(rows) <= {re.match(r"[\w:.]+", schema)[0] for schema in SCHEMAS}
