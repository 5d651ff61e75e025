"""Every command line of the pages is run here, or has a test of its own, which is named here.

A command line is a line of an indented block that begins with "$ " or with the name of a program. Those of `arenaut` run
in the order of their page, in a folder of that page, on files that ship, under the names that the page gives them. The
output of lines with "$ " is compared by test_tflite_guide.py. Of programs that are named in the text, the flags exist.
"""

import os
import re
import shutil
import subprocess

import pytest
from conftest import COMMAND, DATA, ROOT
from test_tflite_guide import TRANSCRIPTS

PAGES = sorted(path.stem for path in (ROOT / "docs").glob("*.md"))
PROGRAMS = r"arenaut(?:-changes)?|make|cmake|pip|python3?|build/[^ ]+|\./[^ ]+|node|west|iree-compile|cd|cp|cat|ls"
LINE = re.compile(rf"^    (?:\$ )?((?:[A-Z_]+=(?:\$\([^)]*\)|[^ ]+) )*(?:{PROGRAMS}) .*|(?:[A-Z_]+=\S+ )+\./.*)$", re.M)
FENCED = re.compile(r"^```.*?^```", re.M | re.S)
COMMENT = re.compile(r" +#.*| \\$")


#: Files that ship, by the names that pages give them, in folders of the test data; of all pages model.tflite.
MODEL = "mobilenet_v1_025_96_int8.tflite"
FILES = {
    "diff": dict.fromkeys(("planned.tflite", "a0.tflite", "b0.tflite", "a1.tflite", "b1.tflite"), MODEL),
    "executorch": {"model.pte": "pte/kv_decoder.pte"},
    "files": {"model.pte": "pte/kv_decoder.pte"},
    "iree": {"model.stream.mlir": "iree/dense.mlir"},
    "recompute": {"step.program.json": "json/branches.program.json"},
    "split": {"model.onnx": "onnx/images.onnx"},
    "torch": {"model.pt2": "pt2/parts.pt2", "sizes.pt2": "pt2/sizes.pt2", "prefill.pt2": "pt2/decode.pt2",
              "decode.pt2": "pt2/decode.pt2"},
    "traces": {"step.trace.csv": "two_streams.trace.csv"},
    "tvm": {"deploy.json": "tvm/branches.json"},
    "xla": {"dump/module_0004.jit_step.cpu_after_optimizations.hlo.pb": "xla/transformer.hlo.pb"},
}
#: Where a command says no, with this exit code.
ANSWERS = {"arenaut plan model.tflite --split on --budget 64K -o split.tflite": 1}

#: What is run elsewhere: how the line begins, the test, and what is to be found there.
ELSEWHERE = {
    "arenaut check dump.": ("pytest/test_check_foreign.py", "test_the_files_of_the_guide"),
    "arenaut check problem.json plan.json": ("pytest/test_check_foreign.py", "test_the_files_of_the_guide"),
    "arenaut-changes --base=origin/main": ("pytest/test_changes.py", "--base"),
    "arenaut plan prefill.pte decode.pte forget.pte": ("pytest/test_joint_pte.py", "\"--share\", \"auto\""),
    "arenaut check planned/prefill.pte": ("pytest/test_joint_pte.py", "\"--share\", \"auto\""),
    "arenaut plan model.pte --inplace on --inplace-op": ("golden/plan-inplace-op/cmd", "--inplace-op"),
    "arenaut check small.pte --inplace-op": ("golden/plan-inplace-op/cmd", "--inplace-op"),
    "pip install arenaut-": ("pytest/test_wheel.py", "pip"),
    "pip install arenaut[": ("pytest/test_wheel.py", "pip"),
    "pip install .": ("pytest/test_wheel.py", "pip"),
    "iree-compile": ("pytest/test_host_formats.py", "make_iree"),
    "python examples/dilate_pointwise.py": ("pytest/test_overlap_arm.py", "dilate_pointwise"),
    "arenaut plan dilated.tflite": ("pytest/test_overlap_arm.py", "dilate_pointwise"),
    "build/venv/bin/python bench/order_formats.py": ("pytest/test_order_table.py", "order_formats"),
    "build/venv/bin/python bench/order_table.py": ("pytest/test_order_table.py", "order_table"),
    "python bench/timm_graphs.py": ("pytest/test_timm_graphs.py", "timm_graphs"),
    "build/venv/bin/python bench/training.py": ("pytest/test_training.py", "training"),
    "build/venv/bin/python -m pytest tests/pytest/test_recompute_pt2.py": ("pytest/test_recompute_pt2.py", "training_step"),
    "make browser": ("../explorer/test/command.test.js", "build"),
    "cmake -S . -B build/windows": ("../Makefile", "scripts/windows.sh"),
    "cmake --build build/windows": ("../Makefile", "scripts/windows.sh"),
    "python -m arenaut.preload": ("python/test_package.py", "arenaut.preload"),
    "LD_PRELOAD=$(python -m arenaut.preload)": ("python/test_package.py", "LD_PRELOAD"),
    "ARENAUT_TRACE=run.trace.csv": ("preloaded/test_trace_file.py", "ARENAUT_TRACE"),
    "python -m arenaut.traces": ("python/test_traces.py", "traces.main"),
    "west build": ("pytest/test_firmware_builds.py", "zephyr"),
    "cd examples/esp_idf_model && idf.py": ("pytest/test_firmware_builds.py", "esp_idf"),
}
#: What needs what no test has: networks from outside, hours, a GPU. Their flags are looked for in the program.
NOT_RUN = {
    "arenaut size light_densenet121.onnx": "a model of the corpus",
    "arenaut plan mp_pose_detection.tflite": "a model of the corpus",
    "arenaut size FOLDER/": "a network of timm",
    "arenaut plan FOLDER/": "a network of timm",
    "pip install --no-deps -r bench/requirements-networks.txt": "an index of packages",
    "python bench/training_gpu.py": "a GPU",
    "build/venv/bin/python bench/remat_table.py": "an hour",
    "build/venv/bin/python bench/recompute_table.py": "an hour",
    "build/venv/bin/python bench/tangled_table.py": "the corpus, and a quarter of an hour",
}


def commands_of(page):
    """Those that no transcript has."""
    text = FENCED.sub("", (ROOT / "docs" / f"{page}.md").read_text())
    lines = [found for found in LINE.finditer(text) if not (page in TRANSCRIPTS and found[0].startswith("    $ "))]
    return [COMMENT.sub("", found[1]) for found in lines]


def row_of(table, command):
    return next((value for begin, value in table.items() if command.startswith(begin)), None)


def given(folder, page):
    for name, source in {"model.tflite": MODEL, **FILES.get(page, {})}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(DATA / source, folder / name)
    for name in "tests", "data":
        (folder / name).symlink_to(ROOT / name)
    (folder / "model.onnx").exists() or (folder / "model.onnx").write_bytes(model_of_open_sizes())


def field(number, value):
    """A field of a protobuf: a number, or what has a length."""
    return bytes([8 * number, value]) if isinstance(value, int) else bytes([8 * number + 2, len(value)]) + value


def model_of_open_sizes():
    """y = relu(x) of [batch, seq] floats, as ONNX."""
    dims = b"".join(field(1, field(2, name)) for name in (b"batch", b"seq"))
    values = {number: field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))
              for number, name in ((11, b"x"), (12, b"y"))}
    node = field(1, b"x") + field(2, b"y") + field(4, b"Relu")
    graph = field(1, node) + field(2, b"g") + b"".join(field(*each) for each in values.items())
    return field(1, 8) + field(7, graph) + field(8, field(2, 13))


@pytest.mark.parametrize("page", [page for page in PAGES if commands_of(page)])
def test_the_commands_of_a_page(page, tmp_path):
    given(tmp_path, page)
    environment = {**os.environ, "PATH": f"{COMMAND.resolve().parent}{os.pathsep}{os.environ['PATH']}"}
    if page == "kernels":
        (tmp_path / "other.json").write_text(subprocess.run([COMMAND, "kernels", "reference", "--json"], check=True,
                                                            capture_output=True, text=True).stdout)
    made = set()
    for command in commands_of(page):
        if row_of(ELSEWHERE, command) or row_of(NOT_RUN, command):
            continue
        for output in re.findall(r" -o (\S+)", command):  # the next one of the page writes it anew
            if output in made:
                (tmp_path / output).unlink()
            made.add(output)
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True,
                              timeout=120, check=False)
        assert done.returncode == ANSWERS.get(command, 0), f"{command}\n{done.stdout}{done.stderr}"


def test_what_is_run_elsewhere_is_there_and_nothing_more_is_left_out():
    commands = [command for page in PAGES for command in commands_of(page)]
    for table in ELSEWHERE, NOT_RUN:
        assert not [begin for begin in table if not any(command.startswith(begin) for command in commands)]
    for path, text in ELSEWHERE.values():
        assert text in (ROOT / "tests" / path).read_text(), f"{path} has no {text}"


PROSE = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
FLAG = re.compile(r"(?<=[ \[])--[a-z][a-z-]+")


def spans(path):
    """Code in the text, and lines of blocks."""
    text = path.read_text()
    return [*re.findall(r"`([^`]+)`", FENCED.sub("", text)), *re.findall(r"^    (?:\$ )?(.*)$", text, re.M)]


def test_flags_in_the_text_are_flags_of_the_command():
    verbs = subprocess.run([COMMAND, "help"], check=True, capture_output=True, text=True).stdout
    verbs = set(re.findall(r"^  ([a-z]+)  ", verbs, re.M)) - {"help", "version", "completion", "manual"}
    known = {verb: set(FLAG.findall(subprocess.run([COMMAND, "help", verb, "--all"], check=True, capture_output=True,
                                                   text=True).stdout)) for verb in verbs}
    wrong, seen = [], 0
    for path in PROSE:
        for span in spans(path):
            words = " ".join(span.split()).removeprefix("build/").removeprefix("arenaut ").split(" | ")[0].split()
            if words and words[0] in verbs:
                flags = FLAG.findall(COMMENT.sub("", " ".join(words)))
                seen += len(flags)
                wrong += [f"{path.name}: {words[0]} {flag}" for flag in flags if flag not in known[words[0]]]
    assert not wrong and seen > 120


def test_programs_in_the_text_are_there_and_have_the_flags():
    program = re.compile(r"((?:bench|scripts|examples|fuzz|tests|tools|explorer)/[\w/]+\.(?:py|sh|mjs))((?: [^ ].*)?)")
    wrong, seen = [], 0
    for path in PROSE:
        for span in spans(path):
            for name, rest in program.findall(" ".join(span.split())):
                seen += 1
                source = (ROOT / name).read_text() if (ROOT / name).is_file() else None
                wrong += [f"{path.name}: {name}"] if source is None else \
                    [f"{path.name}: {name} {flag}" for flag in FLAG.findall(COMMENT.sub("", rest)) if flag not in source]
    assert not wrong and seen > 40


def test_targets_in_the_text_are_those_of_make():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    named = {target for path in PROSE for span in spans(path) for target in re.findall(r"^make ([a-z][\w-]*)", span)}
    assert len(named) > 15 and not named - targets
