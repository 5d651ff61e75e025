"""A stranger adds a planner, a format, a pass, a transform and an operator with CONTRIBUTING.md alone: the toys of
tests/stranger go into a copy of the sources, with one line each in a table, and nothing else; the
operator is two lines. What
the recipes say they touch is exactly that, and then the command lists the toys and uses them."""

import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import DATA, ROOT

from drawn import at_night

TOYS = ROOT / "tests" / "stranger"
WORK = ROOT / "build" / "stranger"  # kept, so that a second run compiles little
ROWS = {"planner": ("src/planners/planners.def", "PLANNER", "toy_stack"),
        "format": ("src/formats/formats.def", "FORMAT", "toy_lines"),
        "pass": ("src/passes/passes.def", "PASS", "toy_no_softmax"),
        "transform": ("src/rewrite/transforms.def", "TRANSFORM", "toy_swap")}

# An operator: a row before that of the next name, and a right that a kernel set gives.
OPERATOR = {
    "src/ops/ops.def": ('TFLITE("UNIDIRECTIONAL_SEQUENCE_LSTM"',
                        'CUSTOM("ToyGate", ELEMENTWISE, PURE, DEAR, NONE, WHOLE, NONE, FIRST, NULL)'),
    "src/kernels/reference_kernels.c": ('    {"RESHAPE", 0, 0, true},', '    {"ToyGate", 0, 0, false},')}


def recipe_of(kind):
    recipe = re.search(rf"^## Adding an? {kind}\b.*?^Touches (.*?)\.$",
                       (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL | re.MULTILINE)
    return set(re.findall(r"`([^`]+)`", recipe[1]))


def test_the_recipe_of_an_operator_names_two_files():
    assert recipe_of("operator") == set(OPERATOR)


def test_the_checker_reads_no_row_of_operators():
    sources = [*(ROOT / "src/check").rglob("*.[ch]")]
    assert sources and not [path for path in sources if '"ops/' in path.read_text()]


def add_operator(tree):
    for path, (behind, line) in OPERATOR.items():
        text = (tree / path).read_text()
        assert text.count(behind) == 1
        (tree / path).write_text(text.replace(behind, f"{line}\n{behind}"))


@pytest.mark.parametrize("kind", ROWS)
def test_the_recipe_names_what_a_toy_touches(kind):
    table, _, toy = ROWS[kind]
    named = {path.replace("<id>", toy) for path in recipe_of(kind)}
    made = {str(path.relative_to(TOYS)) for path in TOYS.rglob("*.c") if path.stem == toy}
    assert named == made | {table}


@pytest.fixture(scope="module", params=[at_night("with the toys")])
def command():
    tree = WORK / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    for name in ("CMakeLists.txt", "cmake", "explorer/dist", "gpu", "include", "preload", "src", "tools"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, tree / name)
    shutil.copytree(TOYS, tree, dirs_exist_ok=True)
    for table, macro, toy in ROWS.values():
        with open(tree / table, "a", encoding="utf-8") as rows:
            rows.write(f"{macro}({toy})\n")
    add_operator(tree)
    launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    for step in (["-S", tree, "-B", WORK / "out", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_RULE_MESSAGES=OFF", *launcher,
                  "-DCMAKE_C_FLAGS=-O0", "-DARENAUT_WERROR=ON"],
                 ["--build", WORK / "out", "--target", "arenaut_tool", f"-j{os.cpu_count()}"]):
        done = subprocess.run(["cmake", *step], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def run(*arguments, exit=0):
        done = subprocess.run([WORK / "out" / "arenaut", *arguments], capture_output=True,
                              text=True, timeout=60, check=False)
        assert done.returncode == exit, done.stdout + done.stderr
        return done

    return run


@pytest.mark.parametrize("verb, name", [("planners", "toy-stack"), ("formats", "toy"),
                                        ("passes", "toy-no-softmax")])
def test_a_toy_is_listed(command, verb, name):
    assert re.search(rf"^{name} ", command(verb).stdout, re.MULTILINE)


def test_the_format_is_read_and_written_and_the_planner_plans(command, tmp_path):
    problem, plan = tmp_path / "problem", tmp_path / "plan.toy"
    problem.write_text("toy 1\n0 2 64\n1 3 32\n2 4 64\n")
    command("plan", problem, "--planner", "toy-stack", "-o", plan)
    assert plan.read_text() == "toy 1\n0\n64\n96\n"
    problem.write_text("toy 1\n0 2 sixty\n")
    assert "the line at byte 6 must be three numbers" in command("size", problem, exit=3).stderr


def test_auto_tries_the_planner(command):
    assert "toy-stack is tried" in command("plan", DATA / "fragmented.csv", "-o", "-").stderr


def test_the_pass_runs_where_it_is_asked_for(command):
    model = DATA / "mobilenet_v1_025_96_int8.tflite"
    command("size", model)
    refusal = command("size", model, "--passes", "toy-no-softmax", exit=3).stderr
    assert "is a softmax, and a toy has none" in refusal


def test_the_transform_is_tried_and_taken_where_a_plan_needs_less(command, arenaut, tmp_path):
    """a and b are both large, and read soon: a → c before b → d needs room for one of them."""
    path, output = tmp_path / "toy.program.json", tmp_path / "swapped.program.json"
    sizes = {"x": 1, "a": 4096, "b": 4096, "c": 1, "d": 1, "y": 1}
    tensors = [{"name": name, "dtype": "int8", "dims": [size]} for name, size in sizes.items()]
    ops = [{"name": "op", "pure": True, "inputs": [*inputs], "outputs": [output]}
           for inputs, output in (("x", "a"), ("x", "b"), ("a", "c"), ("b", "d"), ("cd", "y"))]
    path.write_text(json.dumps({"schema": "arenaut.program/1", "inputs": ["x"], "outputs": ["y"],
                                "tensors": tensors, "ops": ops}))
    before, after = (json.loads(run("size", path, "--json").stdout)["result"]["arena"] for run in (arenaut, command))
    assert before >= 2 * 4096 > after
    command("plan", path, "-o", output)
    command("check", output)


def test_the_operator_is_known_and_writes_over_its_operand(command, arenaut, tmp_path):
    path = tmp_path / "toy.program.json"
    tensors = [{"name": name, "dtype": "int8", "dims": [64]} for name in "xaby"]
    ops = [{"name": name, "inputs": [x], "outputs": [y]}
           for name, x, y in (("RELU", "x", "a"), ("ToyGate", "a", "b"), ("RELU", "b", "y"))]
    path.write_text(json.dumps({"schema": "arenaut.program/1", "inputs": ["x"], "outputs": ["y"],
                                "tensors": tensors, "ops": ops}))
    flags = ("size", path, "--target", "tflite-micro", "--inplace", "on", "--json")
    before, after = json.loads(arenaut(*flags).stdout), json.loads(command(*flags).stdout)
    assert before["runtime"]["runs"] is False and "ToyGate" in before["runtime"]["refused"]
    assert after["runtime"]["runs"] is None
    assert (before["result"]["arena"], after["result"]["arena"]) == (128, 64)
