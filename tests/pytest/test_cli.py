"""The command, as its users see it: golden cases, and what a golden file cannot state.

A case is a folder of tests/golden with `cmd` (lines for sh, run in an empty folder in which
`data` is tests/data) and the expected `stdout`, `stderr` and `exit`; a missing file means
nothing, or 0. To write down what the command does now, after reading the difference:

    ARENAUT_UPDATE=1 python -m pytest tests/pytest/test_cli.py
"""

import hashlib
import json
import os
import random
import re
import resource
import signal
import stat
import struct
import subprocess
import time
from pathlib import Path

import pytest

from conftest import COMMAND, DATA, ROOT, default_signals, wait_until_handled

GOLDEN = ROOT / "tests" / "golden"
UPDATE = os.environ.get("ARENAUT_UPDATE")
VOLATILE = [
    (re.compile(r'("seconds": ?)[0-9.e-]+'), r"\1TIME"),
    (re.compile(r'("effort": ?)[0-9]+'), r"\1EFFORT"),
    (re.compile(r" +[0-9,]+ +[0-9.]+ ms"), " EFFORT TIME"),
    (re.compile(r'("version": ?)"[0-9.]+(-rc[0-9]+)?"'), r'\1"VERSION"'),
    (re.compile(r"arenaut [0-9]+\.[0-9]+\.[0-9]+(-rc[0-9]+)?"), "arenaut VERSION"),
    (re.compile(r"commit (unknown|[0-9a-f]{7,}(-dirty)?), (gcc|clang) .*"), "commit COMMIT, COMPILER"),
    (re.compile(r'"commit":(null|"[0-9a-f]{7,}(-dirty)?"),"compiler":"(gcc|clang) [^"]*"'),
     r'"commit":COMMIT,"compiler":COMPILER'),
    (re.compile(r"(search effort, in steps \(default: )[0-9,]+"), r"\1EFFORT"),
    # What the tables hold grows; that the lists walk them is tested below.
    (re.compile(r"((readable formats|its extension names no format; there are|no '\w+'; there are): ).*"),
     r"\1LIST"),
]
ENVIRONMENT = {"LANG": "C", "PATH": os.environ["PATH"], "HOME": "/nonexistent"}
ENVIRONMENT |= {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}


def settled(text):
    """Without what differs from run to run."""
    for pattern, replacement in VOLATILE:
        text = pattern.sub(replacement, text)
    return text


@pytest.fixture
def shell(tmp_path, tmp_path_factory):
    """Runs shell lines in an empty folder but for the models in data/."""
    if not COMMAND.is_file():
        pytest.fail(f"{COMMAND} is missing: run `make`, or name the command in ARENAUT")
    (tmp_path / "data").symlink_to(DATA)
    path = tmp_path_factory.mktemp("bin")
    (path / "arenaut").symlink_to(COMMAND.resolve())
    environment = dict(ENVIRONMENT, PATH=f"{path}:{os.environ['PATH']}")

    def run(lines, **options):
        return subprocess.run(["sh", "-c", lines], cwd=tmp_path, env=environment,
                              capture_output=True, text=True, timeout=120, check=False, **options)

    run.folder = tmp_path
    run.environment = environment
    return run


def expect(case, name, found, default):
    path = case / name
    if UPDATE:
        if found != default:
            path.write_text(found)
        else:
            path.unlink(missing_ok=True)
    assert found == (path.read_text() if path.exists() else default), f"{name} of {case.name}"


@pytest.mark.parametrize("case", sorted(GOLDEN.iterdir()), ids=lambda case: case.name)
def test_golden(case, shell):
    done = shell((case / "cmd").read_text())
    expect(case, "exit", f"{done.returncode}\n", "0\n")
    expect(case, "stderr", settled(done.stderr), "")
    expect(case, "stdout", settled(done.stdout), "")


def test_every_verb_has_golden_cases():
    verbs = re.findall(r"VERB\((\w+)\)", (ROOT / "tools" / "verbs.def").read_text())
    assert len(verbs) > 10
    cases = {case.name.split("-")[0] for case in GOLDEN.iterdir()}
    assert not set(verbs) - cases


def test_every_verb_shows_first_what_matters(shell):
    for verb in re.findall(r"VERB\((\w+)\)", (ROOT / "tools" / "verbs.def").read_text()):
        done = shell(f"arenaut {verb} --help")
        assert done.returncode == 0 and done.stdout.startswith(f"arenaut {verb}")
        assert done.stdout == shell(f"arenaut help {verb}").stdout
        lines = done.stdout.splitlines()
        assert len(lines) <= 40 and max(map(len, lines)) <= 110
        if "most used" in lines:
            assert lines.index("", lines.index("most used")) < 24
        whole = shell(f"arenaut help {verb} --all").stdout
        assert "exit codes; of several files the gravest counts" in whole
        for flag in re.findall(r"^ {2}(?:-\w,|   ) (--[a-z-]+)", whole, re.M):
            assert f"{flag} " in done.stdout or f"{flag}\n" in done.stdout


@pytest.mark.parametrize("flags", ["--all", "--help --all"])
def test_where_every_flag_is_described(shell, flags):
    done = shell(f"arenaut size {flags}")
    assert done.returncode == 2 and "'arenaut help size --all'" in done.stderr
    assert "the same from" not in shell("arenaut help --all; arenaut help size --all").stdout


def test_every_flag_of_help_has_help_and_is_accepted(shell):
    """A row of the table is all that a flag needs to be parsed, shown and completed."""
    values = {"--inplace": "on", "--overlap": "on", "--reorder": "on", "--recompute": "on", "--rounding": "allow",
              "--color": "never", "--time": "1s", "--seed": "3"}
    for verb in re.findall(r"VERB\((\w+)\)", (ROOT / "tools" / "verbs.def").read_text()):
        text = shell(f"arenaut help {verb} --all").stdout
        rows = re.findall(r"^ {2}(?:-\w,|   ) (--[a-z-]+)(?: (\S+))?(\s+)(\S.*)$", text, re.M)
        assert len(rows) == len(re.findall(r"^ {2}(?:-\w,|   ) --", text, re.M)) >= 4
        assert not [flag for flag, _, _, about in rows if about.startswith("-")]
        lines = [f"arenaut {verb} {flag}" + (f" {values.get(flag, 8)}" if value else "")
                 + " --help" for flag, value, _, _ in rows]
        done = shell("\n".join(f"{line} >/dev/null || echo '{line}'" for line in lines))
        assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("words, expected", [
    (["arenaut", "st"], "strip"),
    (["arenaut", "plan", "--planner", "tflm"], "tflm-greedy"),
    (["arenaut", "plan", "--inplace", "on"], "on only"),
    (["arenaut", "plan", "x.tflite", "--capa"], "--capacity"),
    (["arenaut", "size", "--outp"], ""),
])
def test_bash_completes_verbs_flags_and_values(shell, words, expected):
    done = shell(f"""arenaut completion bash > complete.sh
        bash -uc '. ./complete.sh; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}
                   _arenaut; echo "${{COMPREPLY[*]}}"'""")
    assert (done.returncode, done.stderr, done.stdout.strip()) == (0, "", expected)


def test_completions_and_manual_know_every_verb_and_flag(shell):
    texts = [shell(f"arenaut {words}").stdout.replace("\\-", "-")
             for words in ("completion bash", "completion zsh", "completion fish", "manual")]
    verbs = re.findall(r"VERB\((\w+)\)", (ROOT / "tools" / "verbs.def").read_text())
    flags = re.findall(r"--([a-z-]+)", shell("arenaut plan --help").stdout)
    assert len(flags) > 30
    for word in verbs + flags:
        assert all(re.search(rf"\b{word}\b", text) for text in texts), word


@pytest.mark.parametrize("text, line, message", [
    ("", 0, "holds no [[pool]]"),
    ("[pool]", 1, "the only table is [[pool]]"),
    ("[[pool]] x", 1, "the only table is [[pool]]"),
    ("size", 1, "neither [[pool]] nor KEY = VALUE"),
    ("size = 1", 1, "[[pool]] comes before 'size'"),
    ("[[pool]]", 1, "the pool has no name"),
    ("\n[[pool]]\nname = 'a'\n[[pool]]", 2, "the pool has no size"),
    ("[[pool]]\nspeed = 3", 2, "and no 'speed'"),
    ("[[pool]]\nsize = 1\nsize = 1", 3, "this pool has a second 'size'"),
    ("[[pool]]\nname = 'a", 2, "expected a whole number or a"),
    ('[[pool]]\nname = "a\\n"', 2, "expected a whole number or a"),
    ("[[pool]]\nsize = 1 2", 2, "expected a whole number or a"),
    ("[[pool]]\nsize = 1__0", 2, "expected a whole number or a"),
    ("[[pool]]\nsize = -1", 2, "expected a whole number or a"),
    ("[[pool]]\nsize = '4X'", 2, "neither a number of bytes nor 'unlimited'"),
    ("[[pool]]\nalign = 3", 2, "no power of two"),
    ("[[pool]]\ndevice = 'gpu'", 2, "the device is no number"),
    ("[[pool]]\nname = 'a=1'", 2, "there must be text without"),
    ("[[pool]]\nname = ''", 2, "there must be text without"),
    ("[[pool]]\nname='a'\nsize=1\n[[pool]]\nname='a'\nsize=1", 4, "an earlier pool is called 'a'"),
    ("[[pool]]\nname = 'a'\0", 0, "it holds a byte 0"),
])
def test_a_wrong_pools_file_is_refused_with_its_line(shell, tmp_path, text, line, message):
    (tmp_path / "board.toml").write_text(text)
    done = shell("arenaut size data/hello_world_int8.tflite --pools board.toml")
    assert (done.returncode, done.stdout) == (3, "")
    where = f"line {line}: " if line else ""
    assert done.stderr.startswith(f"arenaut: board.toml: {where}") and message in done.stderr


def test_pools_of_a_file_are_those_of_the_flag(shell, tmp_path):
    tables = ["name='a'\r\nsize='40K'\r\nalign='32'", "name = \"b\"\nsize = 262_144 # slow",
              "name = 'c'\n\n# far\nsize = 'unlimited'\ndevice = '1.2'"]
    (tmp_path / "board.toml").write_text("".join(f"  [[pool]]\n{table}\n" for table in tables))
    model = "arenaut plan --json data/mobilenet_v1_025_96_int8.tflite"
    done = shell(f"{model} --pools board.toml")
    flags = "--pool a=40K@32 --pool b=262144 --pool c=unlimited:1.2"
    assert done.returncode == 0
    assert settled(done.stdout) == settled(shell(f"{model} {flags}").stdout)


def test_json_says_what_the_contract_lists(shell):
    done = shell("arenaut plan --json --hash data/mobilenet_v1_025_96_int8.tflite")
    plan = json.loads(done.stdout)
    assert plan["schema"] == "arenaut.plan/1"
    model = DATA / "mobilenet_v1_025_96_int8.tflite"
    assert plan["input"]["sha256"] == hashlib.sha256(model.read_bytes()).hexdigest()
    assert plan["input"]["format"] == "tflite" and plan["input"]["methods"]
    result = plan["result"]
    assert result["status"] == "optimal" and result["stopped_by"] == "proof"
    assert result["lower_bound"] == result["arena"] <= plan["baseline"]["arena"]
    assert plan["scratch"] in ("none", "given", "unknown")
    ends = [b["offset"] + b["size"] for b in plan["buffers"]]
    assert max(ends) == plan["pools"][0]["arena"] == result["arena"]
    live = plan["peak"]["live"]
    assert plan["peak"]["live_bytes"] == sum(plan["buffers"][b]["size"] for b in live)


@pytest.mark.parametrize("size", [55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 100_000])
def test_sha256_is_the_known_one(shell, size):
    text = "id,lower,upper,size\na,0,1,16\n"
    text = text.replace("a", "a" * (size - len(text) + 1))
    assert len(text) == size
    (shell.folder / "p.csv").write_text(text)
    found = json.loads(shell("arenaut size p.csv --json --hash").stdout)["input"]["sha256"]
    assert found == hashlib.sha256(text.encode()).hexdigest()


def test_several_files_are_one_document_or_a_line_each(shell):
    files = "data/hello_world_int8.tflite data/resnet_int8.tflite"
    documents = json.loads(shell(f"arenaut size --json {files}").stdout)
    assert [d["input"]["path"] for d in documents] == files.split()
    lines = shell(f"arenaut size --jsonl {files}").stdout
    assert len([json.loads(line) for line in lines.splitlines() if line]) == 2


def test_planning_twice_gives_the_same_bytes(shell):
    model = "data/mobilenet_v1_025_96_int8.tflite"
    assert shell(f"arenaut plan {model} -o a.tflite && arenaut plan {model} -o b.tflite "
                 "&& cmp a.tflite b.tflite").returncode == 0


def test_a_planned_file_is_left_as_it_is(shell):
    shell("arenaut plan data/mobilenet_v1_025_96_int8.tflite -o a.tflite")
    before = (shell.folder / "a.tflite").read_bytes()
    done = shell("arenaut plan a.tflite -o a.tflite -f; arenaut plan a.tflite -o b.tflite")
    assert done.returncode == 0
    assert (shell.folder / "a.tflite").read_bytes() == before
    assert (shell.folder / "b.tflite").read_bytes() == before


def spoil_plan(path, offset=0):
    """Puts every tensor of the plan in a planned model at this offset, the mark untouched."""
    data = bytearray(path.read_bytes())
    for at in range(0, len(data) - 12, 4):
        version, subgraphs, n = struct.unpack_from("<3i", data, at)
        if version == 0 and subgraphs == 1 and n == 89:
            break
    else:
        pytest.fail("no plan found in the file")
    for i in range(n):
        if struct.unpack_from("<i", data, at + 12 + 4 * i)[0] > 0:
            struct.pack_into("<i", data, at + 12 + 4 * i, offset)
    path.write_bytes(data)


def test_a_wrong_plan_is_found_and_repaired(shell):
    model = "data/mobilenet_v1_025_96_int8.tflite"
    shell(f"arenaut plan {model} -o m.tflite && cp m.tflite good.tflite")
    spoil_plan(shell.folder / "m.tflite")
    done = shell("arenaut check m.tflite")
    assert done.returncode == 1 and "wrong (" in done.stdout
    found = json.loads(shell("arenaut check m.tflite --json").stdout)
    assert found["ok"] is False and found["finding"]["message"]
    done = shell("arenaut plan m.tflite -o fixed.tflite -f")
    assert done.returncode == 0 and "repaired" in done.stdout, done.stdout + done.stderr
    assert shell("arenaut check fixed.tflite").returncode == 0


@pytest.mark.parametrize("verb", ["plan", "check", "size"])
def test_an_offset_below_minus_one_is_named(shell, verb):
    shell("arenaut plan data/mobilenet_v1_025_96_int8.tflite -o m.tflite")
    spoil_plan(shell.folder / "m.tflite", -2)
    done = shell(f"arenaut {verb} m.tflite")
    assert done.returncode == 3 and "at offset -2; 0 or more" in done.stderr, done.stderr


@pytest.mark.parametrize("ops, fault", [
    ([("LATE", "b", "y"), ("EARLY", "x", "b")], "op 0 'LATE'"),
    ([("SELF", "x", "x"), ("LAST", "x", "y")], "op 0 'SELF'"),
    ([("ONLY", "x", "b")], "at the end needs 'y'"),
])
def test_a_program_no_plan_can_save_is_bad_input(shell, ops, fault):
    """Not a bug of ours (5): its own schedule reads what nobody wrote, or writes its operand."""
    program = {"schema": "arenaut.program/1", "inputs": ["x"], "outputs": ["y"],
               "tensors": [{"name": name, "bytes": 64} for name in "xby"],
               "ops": [{"name": name, "inputs": [reads], "outputs": [writes]}
                       for name, reads, writes in ops]}
    (shell.folder / "p.json").write_text(json.dumps(program))
    done = shell("arenaut plan p.json -o plan.json")
    assert done.returncode == 3 and fault in done.stderr, done.stdout + done.stderr
    assert not (shell.folder / "plan.json").exists()


def test_a_pipe_by_name_is_read_once(shell):
    done = shell("mkfifo p; cat data/elementwise_float.tflite > p & arenaut explain p")
    assert done.returncode == 0 and "--inplace on" in done.stdout


def test_planning_in_place_on_disk_is_safe(shell):
    original = (DATA / "mobilenet_v1_025_96_int8.tflite").read_bytes()
    path = shell.folder / "m.tflite"
    path.write_bytes(original)
    path.chmod(0o640)
    assert shell("arenaut plan m.tflite -o m.tflite").returncode == 4
    assert path.read_bytes() == original
    assert shell("arenaut plan m.tflite -o m.tflite -f && arenaut check m.tflite").returncode == 0
    assert path.read_bytes() != original
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert shell("arenaut strip m.tflite -o m.tflite -f").returncode == 0
    assert path.read_bytes() == original


def test_a_symbolic_link_stays_one(shell):
    model = "data/mobilenet_v1_025_96_int8.tflite"
    (shell.folder / "real.tflite").write_text("old")
    (shell.folder / "link.tflite").symlink_to("real.tflite")
    assert shell(f"arenaut plan {model} -o link.tflite").returncode == 4
    assert (shell.folder / "real.tflite").read_text() == "old"
    assert shell(f"arenaut plan {model} -o link.tflite -f").returncode == 0
    assert (shell.folder / "link.tflite").is_symlink()
    assert shell("arenaut check real.tflite").returncode == 0


def only_visible(folder):
    """No temporary file was left."""
    return sorted(p.name for p in folder.iterdir() if p.name != "data")


SMALL_DISK = "ulimit -f 1"  # writing more than a block fails, as on a full disk


def test_a_full_disk_leaves_nothing_behind(shell):
    done = shell(f"{SMALL_DISK}; arenaut plan data/inception_int8.tflite -o out.json")
    assert done.returncode == 4 and "out.json: cannot be written: File too large" in done.stderr
    assert only_visible(shell.folder) == []


def test_a_full_disk_leaves_the_old_file(shell):
    (shell.folder / "out.json").write_text("old")
    done = shell(f"{SMALL_DISK}; arenaut plan data/inception_int8.tflite -o out.json -f")
    assert done.returncode == 4
    assert only_visible(shell.folder) == ["out.json"]
    assert (shell.folder / "out.json").read_text() == "old"


def test_full_devices_are_reported(shell):
    assert shell("arenaut size data/hello_world_int8.tflite > /dev/full").returncode == 4
    export = "arenaut export data/hello_world_int8.tflite --as json"
    assert shell(f"{export} > /dev/full").returncode == 4
    model = "data/mobilenet_v1_025_96_int8.tflite"
    assert shell(f"arenaut plan {model} -o /dev/full").returncode == 4


def test_a_folder_that_cannot_be_written(shell):
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    (shell.folder / "closed").mkdir(mode=0o500)
    done = shell("arenaut export data/hello_world_int8.tflite --as json -o closed/x.json")
    assert done.returncode == 4 and "closed/x.json: cannot be written" in done.stderr


def test_a_pipe_is_read_to_its_end(shell):
    done = shell("cat data/mobilenet_v1_025_96_int8.tflite | arenaut size - --from tflite --json")
    direct = shell("arenaut size data/mobilenet_v1_025_96_int8.tflite --json")
    arenas = [json.loads(each.stdout)["result"]["arena"] for each in (done, direct)]
    assert arenas[0] == arenas[1]


def test_a_model_goes_to_a_pipe_but_not_to_a_terminal(shell):
    model = "data/mobilenet_v1_025_96_int8.tflite"
    assert shell(f"arenaut plan {model} -o - > p.tflite && arenaut check p.tflite").returncode == 0
    done = shell(f"script -qec 'arenaut plan {model} -o -' /dev/null < /dev/null")
    if "not found" in done.stderr:
        pytest.skip("no script(1) here, which would make a terminal")
    assert "not written to a terminal" in done.stdout and done.returncode == 2


def test_ctrl_c_while_waiting_for_input(shell):
    process = subprocess.Popen([COMMAND, "size", "-", "--from", "csv"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=shell.environment, preexec_fn=default_signals)
    wait_until_handled(process, signal.SIGINT)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    process.communicate()


def hard_problem(n=400):
    """Many overlapping buffers of odd sizes: no planner proves it minimal soon."""
    state, rows = 12345, ["id,lower,upper,size"]
    for i in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        first, length, size = state >> 40 & 255, (state >> 32 & 63) + 20, (state >> 20 & 4095) + 977
        rows.append(f"b{i},{first},{first + length},{size}")
    return "\n".join(rows) + "\n"


def pools_problem(buffers=80, pools=64):
    """Every buffer may lie in every pool."""
    rows = [{"size": 1 + k * 7 % 90, "first": k // 5, "end": k // 5 + 5} for k in range(buffers)]
    return json.dumps({"schema": "arenaut.problem/1", "buffers": rows,
                       "pools": [{"name": f"p{k}"} for k in range(pools)]})


def test_ctrl_c_writes_the_best_plan_so_far(shell):
    (shell.folder / "p.problem.json").write_text(pools_problem(2000))
    process = subprocess.Popen([COMMAND, "plan", "p.problem.json", "-o", "p.plan.json", "--effort",
                                "1000000000000"], cwd=shell.folder, env=shell.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=default_signals)
    wait_until_handled(process, signal.SIGINT)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert shell("arenaut check p.problem.json p.plan.json").returncode == 0
    assert only_visible(shell.folder) == ["p.plan.json", "p.problem.json"]


def test_effort_counts_what_bounds_of_many_pools_cost(shell):
    """Each of tens of thousands of bounds looked at all buffers for one unit: 16 seconds, 0.4 now."""
    (shell.folder / "p.problem.json").write_text(pools_problem(2000))
    done = subprocess.run([COMMAND, "plan", "p.problem.json", "--effort", "100000"], cwd=shell.folder,
                          capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (6, 6)))
    assert done.returncode == 0 and "ok: 2000 buffers lie apart" in done.stdout


def dissect(random, rows, first, end, low, high, depth):
    """A rectangle of memory over time as buffers that fill it."""
    if depth == 0 or end - first < 2 and random.random() < 0.3:
        rows.append((first, end, high - low))
        return
    if random.random() < 0.5 and end - first >= 2:
        at = random.randrange(first + 1, end)
        dissect(random, rows, first, at, low, high, depth - 1)
        dissect(random, rows, at, end, low, high, depth - 1)
    else:
        at = random.randrange(low + 1, high)
        dissect(random, rows, first, end, low, at, depth - 1)
        dissect(random, rows, first, end, at, high, depth - 1)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="there is one core")
@pytest.mark.parametrize("flags, several", [([], True), (["-j", "1"], False)])
def test_a_hard_problem_is_searched_on_all_cores(shell, flags, several):
    """Once it has turned out to be hard: the first runs are one thread's."""
    rows = []
    dissect(random.Random(0), rows, 0, 12, 0, 1000000, 7)
    (shell.folder / "hard.csv").write_text("id,lower,upper,size\n" + "".join(
        f"{k},{first},{end},{size}\n" for k, (first, end, size) in enumerate(rows)))
    process = subprocess.Popen([COMMAND, "plan", "hard.csv", "--planner", "exact", "--effort", "2000000", *flags],
                               cwd=shell.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    most = 0
    while process.poll() is None:
        found = re.findall(r"Threads:\s*(\d+)", Path(f"/proc/{process.pid}/status").read_text())
        most = max(most, *map(int, found), 0)
        time.sleep(0.01)
    assert process.communicate()[1] == b""
    assert (most > 1) == several and most >= 1


@pytest.mark.parametrize("target", [1, 2], ids=["on every way", "on one way"])
def test_a_program_that_reads_what_nobody_has_written_is_refused(shell, target):
    """It is wrong wherever its buffers lie: no bug of the planner's."""
    ops = [{"name": "jump_false", "kind": "jump_false", "target": target, "inputs": ["x"]},
           {"name": "F", "inputs": ["x"], "outputs": ["a" if target == 2 else "b"]},
           {"name": "F", "inputs": ["a"], "outputs": ["y"]}]
    (shell.folder / "p.json").write_text(json.dumps({
        "schema": "arenaut.program/1", "inputs": ["x"], "outputs": ["y"], "ops": ops,
        "tensors": [{"name": name, "bytes": 64} for name in "xaby"]}))
    done = shell("arenaut plan p.json")
    assert done.returncode == 3 and "the program itself is wrong, however its buffers are placed" in done.stderr


def test_time_is_a_cap(shell):
    (shell.folder / "p.problem.json").write_text(pools_problem(2000))
    start = time.monotonic()
    done = shell("arenaut plan p.problem.json --effort 1000000000000 --time 500ms --json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["result"]["stopped_by"] == "time"
    assert time.monotonic() - start < 30


def star_problem(buffers=4000):
    """All may lie on the first buffer, and no two on each other: long work in which no plan is
    found for a while."""
    rows = [{"size": 8, "first": 0, "end": buffers}]
    rows += [{"size": 8, "first": buffers - 1, "end": buffers + k, "same_base_as": 0}
             for k in range(1, buffers)]
    return json.dumps({"schema": "arenaut.problem/1", "buffers": rows})


MOST_SECONDS = 20  # a third of a second on an idle machine; what this is to find took minutes


def cpu_seconds_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize("problem", [star_problem, pools_problem])
def test_time_ends_work_that_is_no_search(shell, problem):
    (shell.folder / "p.problem.json").write_text(problem())
    before = cpu_seconds_of_children()
    done = shell("arenaut plan p.problem.json --time 300ms --json")
    assert done.returncode == 0, done.stderr
    assert cpu_seconds_of_children() - before < MOST_SECONDS


def test_a_signal_ends_work_that_is_no_search(shell):
    (shell.folder / "p.problem.json").write_text(pools_problem(2000))
    before = cpu_seconds_of_children()
    with subprocess.Popen([COMMAND, "plan", "p.problem.json", "--time", "100s"],
                          cwd=shell.folder, stdout=subprocess.DEVNULL,
                          preexec_fn=default_signals) as process:
        wait_until_handled(process, signal.SIGTERM)
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
    assert process.returncode == 130
    assert cpu_seconds_of_children() - before < MOST_SECONDS


def test_time_alone_lifts_the_effort_limit(shell):
    (shell.folder / "p.problem.json").write_text(pools_problem(2000))
    limited = json.loads(shell("arenaut plan p.problem.json --effort 1000 --json").stdout)["result"]
    assert limited["stopped_by"] == "effort"
    before, start = cpu_seconds_of_children(), time.monotonic()
    done = json.loads(shell("arenaut plan p.problem.json --time 2s --json").stdout)["result"]
    assert done["stopped_by"] == "time"
    assert time.monotonic() - start >= 2 and cpu_seconds_of_children() - before < MOST_SECONDS


def test_threads_and_repetition_change_nothing(shell):
    (shell.folder / "p.csv").write_text(hard_problem(60))
    plans = [shell(f"arenaut plan p.csv -o - --effort 20000 {flags}").stdout
             for flags in ("", "-j 1", "-j 4", "")]
    assert len(set(plans)) == 1 and plans[0].startswith("id,")


def test_names_cannot_drive_the_terminal(shell):
    evil = "\x1b]0;owned\x07\x1b[2J"
    (shell.folder / "e.csv").write_text(f"id,lower,upper,size\n{evil},0,2,16\nb,0,2,16\n")
    for verb in ("explain e.csv", "view e.csv --ascii", "plan e.csv --capacity 16", "size e.csv",
                 "plan e.csv --pin nosuch=arena", "view e.csv --svg",
                 "export e.csv --as header", "plan e.csv --json"):
        done = shell(f"arenaut {verb}")
        assert "\x1b" not in done.stdout + done.stderr and "\x07" not in done.stdout, verb


def test_that_a_planner_finds_no_plan_is_a_negative_answer(shell):
    """Not so if it cannot express the problem."""
    (shell.folder / "n.csv").write_text("id,lower,upper,size\na,0,2,16\nb,1,3,16\nc,2,4,16\n")
    for verb in ("plan", "size", "explain", "view"):
        done = shell(f"arenaut {verb} n.csv --planner naive --capacity 32")
        assert done.returncode == 1 and "found no plan within the capacities of the pools, although there may be one" in done.stderr
    assert shell("arenaut plan n.csv --planner naive --capacity 48").returncode == 0
    assert "found no plan" in shell("arenaut bench n.csv --planner naive,auto --capacity 32").stdout
    (shell.folder / "i.json").write_text(json.dumps({"schema": "arenaut.problem/1", "pools": [{"name": "a"}, {"name": "b"}], "buffers": [
        {"size": 16, "first": 0, "end": 2}]}))
    assert shell("arenaut plan i.json --planner tflm-greedy").returncode == 3
    for flags in ("", "--split on --inplace on"):  # --overlap on is not for this planner
        done = shell(f"arenaut explain data/resnet_int8.tflite --planner skyline {flags}")
        assert done.returncode == 0, done.stderr


def test_where_there_is_no_plan_explain_has_no_arena(shell):
    (shell.folder / "e.csv").write_text("id,lower,upper,size\na,0,2,16\nb,0,2,16\n")
    done = shell("arenaut explain e.csv --capacity 16")
    assert done.returncode == 1 and "there is no plan" in done.stderr
    assert "peak   32 bytes" in done.stdout and "arena " not in done.stdout


def test_svg_is_well_formed_and_offline(shell):
    import xml.etree.ElementTree as tree
    (shell.folder / "e.csv").write_text('id,lower,upper,size\n<script>&"\'],0,2,16\nb,0,2,16\n')
    for path in ("e.csv", "data/mobilenet_v1_025_96_int8.tflite", "data/if_while_float.tflite"):
        done = shell(f"arenaut view {path} --svg")
        root = tree.fromstring(done.stdout)
        assert root.tag.endswith("svg")
        text = done.stdout.replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text and "<script" not in text and "@import" not in text


def test_every_box_of_the_picture_says_what_it_is(shell):
    import xml.etree.ElementTree as tree
    done = shell("arenaut view data/if_while_float.tflite --svg --inplace on")
    boxes = [(box.get("class"), box.findtext("{*}title")) for box in
             tree.fromstring(done.stdout).iter("{http://www.w3.org/2000/svg}rect")
             if (box.get("width"), box.get("height")) != ("11", "11")]  # those of the legend
    assert ("shared", "relu_1\nand logistic_0\nhold 256 bytes at once") in boxes
    assert [cls for cls, title in boxes if not title and cls not in ("bg", "frame")] == []


def test_colour_in_the_picture_for_terminals_says_nothing_more(shell):
    command = "arenaut view data/hello_world_int8.tflite --ascii --color"
    plain, coloured = shell(f"{command} never").stdout, shell(f"{command} always").stdout
    assert "\x1b[48;5;" in coloured and "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_pages_are_opened_by_the_browser_chosen(shell):
    opener = shell.folder / "opener"
    opener.write_text(f'#!/bin/sh\nprintf "%s\\n" "$#" "$@" >{shell.folder}/told.new\n'
                      f"mv {shell.folder}/told.new {shell.folder}/told\n")
    opener.chmod(0o755)

    def opened(flags, environment=""):
        told = shell.folder / "told"
        told.unlink(missing_ok=True)
        done = shell(f"{environment} BROWSER=./opener arenaut view "
                     f"data/hello_world_int8.tflite --open {flags}")
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        deadline = time.monotonic() + 60  # nobody waits for a browser's end
        while not told.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        count, path = told.read_text().splitlines()
        assert count == "1" and f"{os.path.normpath(path)}: handed to ./opener" in done.stderr
        return shell.folder / path

    assert opened("-o plan.html").read_text().startswith("<!doctype html>")
    assert opened("--output=-x.svg") == shell.folder / "-x.svg"
    (shell.folder / "tmp").mkdir()
    page = opened("", "TMPDIR=tmp")
    assert page.name == "hello_world_int8.tflite.html" and page.parent.stat().st_mode & 0o77 == 0
    assert page.parent.parent == shell.folder / "tmp"
    assert opened("--svg", "TMPDIR=tmp").suffix == ".svg"
    for flags, code, message in (
            ("--ascii", 2, "--open is for a page or a still picture in a file"),
            ("--svg -o -", 2, "--open is for a page or a still picture in a file"),
            ("-o a.html", 4, "a.html: written, but 'nosuch' does not start: No such file")):
        done = shell(f"BROWSER=nosuch arenaut view data/hello_world_int8.tflite --open {flags}")
        assert (done.returncode, done.stdout) == (code, "") and message in done.stderr
    done = shell("TMPDIR=nosuch arenaut view data/hello_world_int8.tflite --open")
    assert done.returncode == 4 and "no folder for a temporary file" in done.stderr


def test_header_compiles_in_c_and_cpp(shell):
    (shell.folder / "9 odd*/name\\.csv".replace("/", "_")).write_text(
        "id,lower,upper,size\na*/b\\,0,2,16\n??/,0,2,16\n")
    inputs = [p for p in os.listdir(shell.folder) if p.endswith(".csv")]
    inputs += [f"data/{p.name}" for p in DATA.glob("*.tflite")]
    for i, path in enumerate(inputs):
        done = shell(f"arenaut export '{path}' --as header -o h{i}.h")
        assert done.returncode == 0, done.stderr
    includes = "".join(f'#include "h{i}.h"\n' for i in range(len(inputs)))
    main = includes + "int main(void) { return 0; }\n"
    for compiler, suffix in (("gcc -std=c99", "c"), ("g++ -std=c++11", "cpp")):
        (shell.folder / f"main.{suffix}").write_text(main)
        done = shell(f"{compiler} -Wall -Wextra -Werror -pedantic -c main.{suffix} -o main.o")
        assert done.returncode == 0, done.stderr


def test_header_numbers_are_the_plan(shell):
    shell("arenaut export data/resnet_int8.tflite --as header -o r.h")
    plan = json.loads(shell("arenaut plan data/resnet_int8.tflite --json").stdout)
    header = (shell.folder / "r.h").read_text()
    assert f"#define RESNET_INT8_ARENA_BYTES {plan['result']['arena']}u" in header
    offsets = re.search(r"buffer_offset\[\d+\] = \{(.*?)\};", header, re.S).group(1)
    assert [int(n) for n in re.findall(r"^\s*(\d+)u,", offsets, re.M)] == \
        [b["offset"] for b in plan["buffers"]]


def test_export_round_trips(shell):
    shell("arenaut export data/resnet_int8.tflite --as problem -o p.problem.json;"
          "arenaut export data/resnet_int8.tflite --as program -o p.program.json")
    arenas = {json.loads(shell(f"arenaut size {path} --json --target {target}".replace(
        "--target -", "")).stdout)["result"]["arena"]
        for path, target in (("data/resnet_int8.tflite", "tflite-micro"),
                             ("p.program.json", "tflite-micro"), ("p.problem.json", "-"))}
    assert len(arenas) == 1


def test_quiet_says_nothing_but_results(shell):
    done = shell("arenaut plan -q data/mobilenet_v1_025_96_int8.tflite -o q.tflite")
    assert done.stdout == done.stderr == "" and (shell.folder / "q.tflite").exists()


def test_color_only_where_wanted(shell):
    command = "arenaut size data/hello_world_int8.tflite"
    assert "\x1b" not in shell(command).stdout
    assert "\x1b" in shell(f"{command} --color always").stdout
    assert "\x1b" not in shell(f"NO_COLOR=1 {command}").stdout


def test_json_lists_walk_the_tables(shell):
    for verb, folder in (("planners", "planners"), ("formats", "formats"), ("passes", "passes"),
                         ("targets", "targets")):
        rows = json.loads(shell(f"arenaut {verb} --json").stdout)[verb]
        table = (ROOT / "src" / folder / f"{folder}.def").read_text()
        table = re.sub(r"/\*.*?\*/", "", table, flags=re.S)
        assert len(rows) == len(re.findall(r"^[A-Z]+\(", table, re.M))
        assert all(row["name"] and row["summary"] for row in rows)
