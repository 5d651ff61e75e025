"""What PyTorch's operators do beside making results, by their tags and schemas: the planner and the checker hold those that
draw random numbers in their sequence, each by a list of its own, and the reader knows the operands that are written."""

import json
import subprocess
import zipfile

import pytest
from conftest import COMMAND, DATA

torch = pytest.importorskip("torch", reason="torch is not installed: no operator can be asked")

from exported_graphs import model_of  # noqa: E402
from torch._inductor import inductor_prims  # noqa: E402, F401 (registers operators)

BYTES = {"x": 64, "a": 6400, "b": 64, "c": 6400, "d": 64, "y": 64}

#: Tagged, though they draw nothing: a softmax, a choice of kernels, and attention that takes no dropout.
TAGGED_IN_VAIN = {"aten::_nested_tensor_softmax_with_shape", "aten::_fused_sdp_choice",
                  "aten::_scaled_dot_product_flash_attention_for_cpu"}
#: Operators of graphs and objects that draw or may have an effect, which no tag tells.
OF_HIGHER_ORDER = [f"higher_order::{name}" for name in (
    "call_torchbind", "run_and_save_rng_state", "run_with_rng_state", "graphsafe_run_with_rng_state", "invoke_leaf_function",
    "print")]
#: They change what a tensor is, not an element of it.
OF_NO_ELEMENT = {"aten::set_data", "aten::retain_grad", "aten::record_stream", "prims::as_strided"}


def operators():
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        library, _, rest = name.partition("::")
        packet, _, overload = rest.partition(".")
        if library in ("aten", "prims"):
            found = getattr(getattr(getattr(torch.ops, library), packet, None), overload or "default", None)
            if found is not None:
                yield name, found


def drawing():
    """But for gradients, some of which are tagged as well: what was drawn is an operand of them."""
    return [name for name, operator in operators()
            if torch.Tag.nondeterministic_seeded in operator.tags and name not in TAGGED_IN_VAIN and "_backward" not in name]


def write(path, name, **facts):
    """Wide values of this operator, of which each is narrow again behind both."""
    ops = [(name, ["x"], "a"), (name, ["x"], "c"), (name, ["a"], "b"), (name, ["c"], "d"), ("aten::add.Tensor", ["b", "d"], "y")]
    path.write_text(json.dumps({
        "schema": "arenaut.program/1", "dialect": "aten", "inputs": ["x"], "outputs": ["y"],
        "tensors": [{"name": each, "bytes": size} for each, size in BYTES.items()],
        "ops": [{"name": name, "inputs": inputs, "outputs": [output], **facts} for name, inputs, output in ops]}))
    return path


@pytest.fixture(scope="module")
def another_order(arenaut, tmp_path_factory):
    """A plan for the narrow values in front."""
    folder = tmp_path_factory.mktemp("order")
    arenaut("plan", write(folder / "pure.program.json", "aten::relu", pure=True), "--reorder", "on", "-o", folder / "a.plan.json")
    return folder / "a.plan.json"


def test_operators_that_draw_keep_their_sequence(arenaut, arenaut_json, another_order, tmp_path):
    moved, accepted, names = [], [], [*drawing(), *OF_HIGHER_ORDER]
    assert len(names) > 100
    for name in names:
        path = write(tmp_path / "x.program.json", name)
        order = arenaut_json("plan", path, "--reorder", "on")["order"]
        moved += [name] if order["best"] != order["given"] else []
        done = subprocess.run([COMMAND, "check", path, another_order], capture_output=True, text=True, check=False)
        accepted += [name] if done.returncode == 0 else []
        assert done.returncode == 0 or "may have side effects, and runs in another sequence" in done.stderr
    assert not moved
    assert not accepted


@pytest.mark.parametrize("name", [
    "aten::relu", "aten::_foreach_pow.ScalarAndTensor", "aten::lstm_cell", "aten::native_dropout_backward",
    "aten::_standard_gamma_grad", "aten::special_gammaln", "aten::poisson_nll_loss"])
def test_operators_of_like_names_may_move(arenaut, arenaut_json, another_order, tmp_path, name):
    path = write(tmp_path / "x.program.json", name)
    order = arenaut_json("plan", path, "--reorder", "on")["order"]
    assert order["proven"] and order["best"] < order["given"]
    arenaut("check", path, another_order)


class Calls:
    """A graph with one call of each operator, on tensors that are all inputs."""

    def __init__(self):
        self.inputs, self.nodes, self.values, self.written = [], [], {}, {}

    def value(self, name):
        self.values[name] = {"dtype": 7, "sizes": [{"as_int": 4}], "requires_grad": False, "strides": [{"as_int": 1}],
                             "device": {"type": "cpu", "index": None}, "storage_offset": {"as_int": 0}, "layout": 7}
        return {"name": name}

    def argument(self, call, argument):
        kind, name = str(argument.type), f"{call}_{argument.name}"
        if "Tensor" not in kind:
            return {"as_none": True} if kind != "bool" else {"as_bool": True}
        self.inputs.append({"as_tensor": self.value(name)})
        if argument.alias_info and argument.alias_info.is_write:
            self.written[name] = call
        return {"as_tensors": [{"name": name}]} if "List" in kind else {"as_tensor": {"name": name}}

    def call(self, name, operator):
        call = name.replace("::", "_").replace(".", "_")
        schema = operator._schema
        inputs = [{"name": each.name, "arg": self.argument(call, each), "kind": 2 if each.kwarg_only else 1}
                  for each in schema.arguments]
        results = [f"{call}_made_{k}" for k, each in enumerate(schema.returns) if str(each.type) == "Tensor"]
        self.nodes.append({"target": f"torch.ops.{str(operator)}", "inputs": inputs, "metadata": {}, "name": call,
                           "outputs": [{"as_tensor": self.value(each)} for each in results], "is_hop_single_tensor_return": None})

    def save(self, path):
        model = model_of(DATA / "pt2" / "chain.pt2")
        graph = model["graph_module"]["graph"]
        graph.update(inputs=self.inputs, nodes=self.nodes, outputs=[], tensor_values=self.values)
        model["graph_module"]["signature"] = {"input_specs": [{"user_input": {"arg": each}} for each in self.inputs],
                                              "output_specs": []}
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("all/models/model.json", json.dumps(model))


def updated(arenaut, path):
    """The operands of ops that write in place, as the file is read."""
    text = arenaut("plan", path, "-q", "--dump-after", "tuples", "--effort", 1).stderr
    program = json.loads(text[text.index("{"):])
    tensors = [each["name"] for each in program["tensors"]]
    ops = [op for method in program["methods"] for op in method["ops"]]
    return {tensors[each] if isinstance(each, int) else each for op in ops if op["kind"] == "in_place" for each in op["inputs"]}


def test_operands_that_schemas_call_written_are_updated(arenaut, tmp_path):
    calls = Calls()
    for name, operator in operators():
        if operator._schema.is_mutable and name not in OF_NO_ELEMENT:
            calls.call(name, operator)
    calls.save(tmp_path / "all.pt2")
    assert len(calls.written) > 1400
    found = updated(arenaut, tmp_path / "all.pt2")
    assert not {call for name, call in calls.written.items() if name not in found}


@pytest.mark.parametrize(("name", "updates"), [
    ("batch_norm", True), ("native_batch_norm", True), ("cudnn_batch_norm", True), ("instance_norm", True),
    ("batch_norm_gather_stats", True), ("batch_norm_update_stats", True), ("_native_batch_norm_legit_no_training", False),
    ("_batch_norm_no_update", False), ("native_batch_norm_backward", False), ("_native_batch_norm_legit_functional", False)])
def test_statistics_that_no_schema_calls_written_are_updated(arenaut, tmp_path, name, updates):
    calls = Calls()
    calls.call(name, getattr(torch.ops.aten, name).default)
    calls.save(tmp_path / "one.pt2")
    assert updated(arenaut, tmp_path / "one.pt2") == ({f"{name}_running_mean", f"{name}_running_var"} if updates else set())
