"""What the command does to files: signals, links, owners, limits. See docs/files.md."""

import json
import os
import resource
import signal
import stat
import subprocess
import time

import pytest

from conftest import COMMAND, DATA, default_signals

MODEL = DATA / "mobilenet_v1_025_96_int8.tflite"
SMALL = DATA / "hello_world_int8.tflite"


def run(folder, *arguments, **options):
    return subprocess.run([str(COMMAND.resolve()), *map(str, arguments)], cwd=folder, text=True,
                          capture_output=True, timeout=120, check=False, **options)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# ---- signals ----

BIG = 192 << 20  # bytes of zeros behind a model: copying them takes a while


@pytest.fixture
def writing(tmp_path):
    """Starts a command that copies a large file, and waits until it is at it."""
    big = tmp_path / "big.tflite"
    big.write_bytes(SMALL.read_bytes())
    os.truncate(big, BIG)

    def start(ignored=()):
        def prepare():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            default_signals(ignored)

        process = subprocess.Popen(
            [str(COMMAND.resolve()), "plan", "big.tflite", "-o", "out.tflite"], cwd=tmp_path,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=prepare)
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end:
            if any(name.startswith(".out.tflite.") for name in os.listdir(tmp_path)):
                return process
        pytest.fail(f"nothing was written: {process.communicate()}")

    start.folder = tmp_path
    yield start
    for path in tmp_path.iterdir():  # pytest keeps folders, and these files are large
        path.unlink()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_while_writing_ends_with_130_and_a_whole_file(writing, number):
    process = writing()
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert names(writing.folder) == ["big.tflite", "out.tflite"]
    assert (writing.folder / "out.tflite").stat().st_size == BIG


@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGPIPE, signal.SIGXCPU])
def test_signals_that_end_at_once_leave_nothing(writing, number):
    process = writing()
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == -number
    assert names(writing.folder) == ["big.tflite"]


def test_a_second_interrupt_leaves_nothing(writing):
    process = writing()
    process.send_signal(signal.SIGTERM)
    time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode in (-signal.SIGINT, -signal.SIGTERM, 130)
    whole = process.returncode == 130  # both came as one, or after the rename
    assert names(writing.folder) == ["big.tflite"] + (["out.tflite"] if whole else [])


def interrupted(folder, after, *arguments):
    """The command's code and output, with an interrupt after so many seconds."""
    process = subprocess.Popen([str(COMMAND.resolve()), *map(str, arguments)], cwd=folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=default_signals)
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def test_an_interrupted_explanation_says_what_it_knows(tmp_path):
    """Looking for remedies takes longest here, so that most interrupts meet that."""
    partial = 0
    for after in (0.05, 0.1, 0.2, 0.4, 0.8):
        code, out, err = interrupted(tmp_path, after, "explain", DATA / "elementwise_float.tflite", "--json")
        if code != 130:  # it came before the command listened, or was through
            assert code in (0, -signal.SIGINT)
            continue
        assert bool(out) != ("interrupted before a plan" in err)
        document = json.loads(out) if out else {}
        partial += document.get("remedies_stopped_by") == "interrupt"
        assert not out or document["result"]["arena"] > 0 and document["remedies"]
    assert partial


def test_an_interrupt_without_an_answer_says_so(tmp_path):
    path = tmp_path / "large.csv"
    path.write_text("id,lower,upper,size\n" + "".join(f"{k},{k},{k + 9},16\n" for k in range(100000)))
    for after in (0.02, 0.04, 0.08, 0.16):
        code, out, err = interrupted(tmp_path, after, "size", path)
        assert code in (0, 130, -signal.SIGINT)
        assert code != 130 or out or "interrupted before" in err


def test_signals_that_the_parent_ignores_stay_ignored(writing):
    process = writing(ignored=[signal.SIGHUP])
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=60)
    assert process.returncode == 0


# ---- owner, mode, links ----

def test_the_owner_and_mode_of_a_replaced_file_stay(tmp_path):
    out = tmp_path / "out.tflite"
    out.write_bytes(MODEL.read_bytes())
    root = os.geteuid() == 0
    if root:
        os.chown(out, 65534, 65534)
    out.chmod(0o4640)
    before = out.stat()
    assert run(tmp_path, "plan", MODEL, "-f", "-o", "out.tflite").returncode == 0
    after = out.stat()
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert stat.S_IMODE(after.st_mode) == 0o4640 and after.st_ino != before.st_ino


def test_another_owner_gets_no_rights_that_were_meant_for_the_old_one(tmp_path):
    """Replaced by who may not give files away: set-user and set-group bits go."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a file of another owner")
    # Below a folder that its new owner may search, which those of pytest are not.
    folder = tmp_path / "open"
    folder.mkdir()
    for path in (folder, *folder.parents):
        if path.stat().st_uid == 0 and not path.stat().st_mode & 1 and "pytest" in str(path):
            path.chmod(0o755)
    folder.chmod(0o777)
    (folder / "in.tflite").write_bytes(MODEL.read_bytes())
    (folder / "in.tflite").chmod(0o644)
    out = folder / "out.tflite"
    out.write_bytes(MODEL.read_bytes())
    out.chmod(0o6775)
    done = run(folder, "plan", "in.tflite", "-f", "-o", "out.tflite", user=65534, group=65534,
               extra_groups=[])
    assert done.returncode == 0, done.stderr
    after = out.stat()
    assert after.st_uid == 65534 and stat.S_IMODE(after.st_mode) == 0o705


def test_a_link_to_nothing_makes_what_it_names(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.tflite").symlink_to("sub/b.tflite")
    (tmp_path / "sub" / "b.tflite").symlink_to("../c.tflite")
    assert run(tmp_path, "plan", MODEL, "-o", "a.tflite").returncode == 4
    assert run(tmp_path, "plan", MODEL, "-f", "-o", "a.tflite").returncode == 0
    assert (tmp_path / "a.tflite").is_symlink() and (tmp_path / "sub" / "b.tflite").is_symlink()
    assert not (tmp_path / "c.tflite").is_symlink()
    assert run(tmp_path, "check", "c.tflite").returncode == 0


def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "a.tflite").symlink_to("b.tflite")
    (tmp_path / "b.tflite").symlink_to("a.tflite")
    done = run(tmp_path, "plan", MODEL, "-f", "-o", "a.tflite")
    assert done.returncode == 4 and "a.tflite" in done.stderr


def test_hard_links_are_split(tmp_path):
    (tmp_path / "a.tflite").write_bytes(MODEL.read_bytes())
    os.link(tmp_path / "a.tflite", tmp_path / "b.tflite")
    assert run(tmp_path, "plan", "a.tflite", "-f", "-o", "a.tflite").returncode == 0
    assert (tmp_path / "b.tflite").read_bytes() == MODEL.read_bytes()
    assert (tmp_path / "a.tflite").read_bytes() != MODEL.read_bytes()


# ---- folders ----

def test_a_folder_that_cannot_be_opened(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may read anything")
    (tmp_path / "closed").mkdir(mode=0o000)
    assert run(tmp_path, "size", "closed").returncode == 4


def test_folders_that_never_end_do(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "again").symlink_to("../m")
    (tmp_path / "m" / "a.tflite").write_bytes(SMALL.read_bytes())
    at = tmp_path / "m" / "x"
    for _ in range(70):
        at.mkdir()
        (at / "b.tflite").write_bytes(SMALL.read_bytes())
        at = at / "x"
    done = run(tmp_path, "size", "m", "--jsonl")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 65
    assert "2 files are no input" in done.stderr


def test_the_folder_of_outputs_is_no_input(tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "a.tflite").write_bytes(MODEL.read_bytes())
    for _ in range(2):
        done = run(tmp_path, "plan", "m", "-f", "-o", "m/out", "--jsonl")
        assert done.returncode == 0 and len(done.stdout.splitlines()) == 1
    assert names(tmp_path / "m" / "out") == ["a.tflite"]


def test_everything_we_have_goes_into_a_folder(tmp_path):
    """Of each input that can be planned there is an output, whatever its format."""
    done = run(tmp_path, "plan", DATA / "pte", DATA / "json", DATA / "fragmented.csv", "-o", "out",
               "--jsonl", "--effort", 2000)
    planned = {json.loads(line)["input"]["path"] for line in done.stdout.splitlines()}
    outputs = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(outputs) == len(planned) > 12, done.stderr


# ---- after exit 0 the output exists ----

@pytest.mark.parametrize("name", ["foreign_plan_float.tflite", "hello_world_int8.tflite",
                                  "custom_op_planned.tflite"])
def test_files_that_are_not_planned_anew_are_copied(tmp_path, name):
    done = run(tmp_path, "plan", DATA / name, "-o", "out.tflite")
    assert done.returncode == 0 and "a copy of the input" in done.stdout
    assert (tmp_path / "out.tflite").read_bytes() == (DATA / name).read_bytes()
    with open(tmp_path / "piped", "wb") as piped:
        done = subprocess.run([str(COMMAND.resolve()), "plan", str(DATA / name), "-o", "-"],
                              stdout=piped, stderr=subprocess.PIPE, check=True)
    assert (tmp_path / "piped").read_bytes() == (DATA / name).read_bytes()
    assert b"written is a copy of the input" in done.stderr


def test_plans_with_flags_that_do_not_fit_are_left_out(tmp_path):
    """Aligned to pages, the buffers need more than the capacity."""
    done = run(tmp_path, "view", DATA / "inception_int8.tflite", "--what-if", "--capacity", "34600", "-o", "out.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out.html").read_text()
    assert "results that reach into operands" in page and "buffers aligned to 4,096 bytes" not in page


@pytest.mark.parametrize("suffix", ["json", "csv", "h"])
def test_a_plan_that_no_check_accepts_is_not_written(tmp_path, suffix):
    """The file's plan needs less, but only its maker knows that values may share memory as they do there."""
    done = run(tmp_path, "plan", DATA / "custom_op_planned.tflite", "-o", f"out.{suffix}")
    assert done.returncode == 1 and "as only its maker can know to be safe" in done.stderr
    assert names(tmp_path) == []


@pytest.mark.parametrize("name, flags", [("pte/xnnpack_mixed.pte", ["--planner", "naive"]),
                                         ("pte/xnnpack_mixed.pte", ["--smallest"]),
                                         ("tvm/branches.json", ["--align", "1024"]), ("tvm/views.json", ["--align", "256"])])
def test_plans_of_files_that_state_their_memories_are_read_back(tmp_path, name, flags):
    """The memories may be larger than what buffers need, and tokens that are aligned each by itself smaller."""
    assert run(tmp_path, "plan", DATA / name, *flags, "-o", "out.plan.json").returncode == 0
    memories = json.loads((tmp_path / "out.plan.json").read_text()).get("memories", [])
    assert all(memory["planned"] <= memory["now"] for memory in memories)
    for words in (["out.plan.json"], [DATA / name, "out.plan.json", *(flags if "--align" in flags else [])]):
        done = run(tmp_path, "check", *words)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("forge, code, says", [
    (lambda d: d["result"].update(arena=1), 1, "wrong (arena)"),
    (lambda d: d["result"].update(arena=13850), 1, "wrong (arena)"),
    (lambda d: d["pools"][0].update(arena=1), 1, "wrong (arena)"),
    (lambda d: d["result"].update(lower_bound=0), 1, "wrong (bound)"),
    (lambda d: d["result"].update(arena=10**9), 3, "memories of 13888 bytes in all, for arenas of 1000000000"),
    (lambda d: d["memories"][0].update(planned=1), 3, "memories of 1 bytes in all, for arenas of 13888"),
    (lambda d: d.update(memories=[]), 3, "memories of 0 bytes in all, for arenas of 13888"),
    (lambda d: d["memories"][0].pop("planned"), 3, "planned"), (lambda d: d["memories"][0].pop("now"), 3, "now"),
    (lambda d: d["memories"][0].update(id=-1), 3, "found -1"), (lambda d: d["memories"][0].update(device=[]), 3, "device"),
    (lambda d: d["memories"][0].update(now=1.5), 3, "found 1.5"), (lambda d: d.update(memories=5), 3, "expected an array")])
def test_stated_memories_are_no_way_around_the_check_of_arenas(tmp_path, forge, code, says):
    """The file's memories hold 64 bytes more than its buffers need: that much alone may arenas be larger."""
    model, plan = DATA / "pte" / "xnnpack_mixed.pte", tmp_path / "out.plan.json"
    assert run(tmp_path, "plan", model, "-o", plan.name).returncode == 0
    document = json.loads(plan.read_text())
    forge(document)
    plan.write_text(json.dumps(document))
    for words in ([plan.name], [model, plan.name]):
        done = run(tmp_path, "check", *words)
        assert done.returncode == code and says in done.stdout + done.stderr


def test_memories_that_the_model_does_not_have_are_wrong_beside_it(tmp_path):
    model, plan = DATA / "pte" / "xnnpack_mixed.pte", tmp_path / "out.plan.json"
    assert run(tmp_path, "plan", model, "-o", plan.name).returncode == 0
    document = json.loads(plan.read_text())
    document["memories"].extend([{"method": 0, "id": 1, "now": 0, "planned": 2**63 - 1}] * 3)
    plan.write_text(json.dumps(document))
    alone, beside = run(tmp_path, "check", plan.name), run(tmp_path, "check", model, plan.name)
    assert alone.returncode == 0 and (beside.returncode, "wrong (arena)" in beside.stdout) == (1, True)


def test_a_plan_that_fits_and_does_not_go_into_the_model_is_called_found(tmp_path):
    done = run(tmp_path, "plan", DATA / "pt2" / "branches.pt2", "--pool", "fast=1000@8", "--pool", "slow=200",
               "--inplace", "on", "--recompute", "on", "--fit", "1000", "-o", "out.pt2")
    assert done.returncode == 1 and "a plan was found that needs 784 bytes, but the file stays" in done.stderr


@pytest.mark.parametrize("suffix", ["json", "csv", "h", "program.json"])
def test_other_outputs_hold_the_plan_of_today(tmp_path, suffix):
    """naive needs more than the runtime does today, so it is never written."""
    done = run(tmp_path, "plan", MODEL, "--planner", "naive", "-o", f"out.{suffix}")
    assert done.returncode == 0 and "(the baseline: " in done.stdout, done.stderr
    assert (tmp_path / f"out.{suffix}").stat().st_size > 0
    if suffix == "json":
        assert json.loads((tmp_path / "out.json").read_text())["result"]["arena"] == 73728
        assert run(tmp_path, "check", MODEL, "out.json").returncode == 0


def test_a_request_that_needs_more_memory_is_no_success(tmp_path):
    done = run(tmp_path, "plan", MODEL, "--planner", "naive", "--align", "64", "-o", "out.json")
    assert done.returncode == 1 and "nothing is written to out.json" in done.stderr
    assert names(tmp_path) == []


def test_a_wrong_solved_table_is_repaired(tmp_path):
    (tmp_path / "p.csv").write_text("id,lower,upper,size,offset\na,0,2,16,0\nb,0,2,16,8\n")
    done = run(tmp_path, "plan", "p.csv", "-o", "q.csv")
    assert done.returncode == 0 and "repaired" in done.stdout
    assert run(tmp_path, "check", "q.csv").returncode == 0


@pytest.mark.parametrize("planner", ["exact", "best-fit"])
def test_a_layout_is_that_of_the_files_beside_it(tmp_path, planner):
    """Both stay as they are: another plan needs no less."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.pte").write_bytes((DATA / "pte" / "two_methods.pte").read_bytes())
    done = run(tmp_path, "plan", "a.pte", "b.pte", "--share", "auto", "--planner", planner, "-o", "out")
    assert "copies of the inputs" in done.stdout, done.stderr
    layout = json.loads((tmp_path / "out" / "layout.program.json").read_text())
    stated = [(t["method"], t["name"], t.get("given")) for t in layout["tensors"]]
    written = [json.loads(run(tmp_path, "export", f"out/{name}.pte", "--as", "program").stdout) for name in ("a", "b")]
    assert stated == [(f"{name}/{t['method']}", t["name"], t.get("given"))
                      for name, file in zip("ab", written, strict=True) for t in file["tensors"]]
    plan = json.loads((tmp_path / "out" / "layout.json").read_text())
    assert {(b["name"], b["offset"]) for b in plan["buffers"]} == {(name, given["offset"]) for _, name, given in stated if given}


@pytest.mark.parametrize(("flags", "code"), [(["-o", "out", "--pool", "a=2K", "--pool", "b=1K"], 2),
                                             (["-o", "out", "--no-alloc-io"], 2), (["-o", "there"], 4)])
def test_of_a_layout_that_files_cannot_hold_nothing_is_written(tmp_path, flags, code):
    for name in ("a", "b"):
        (tmp_path / f"{name}.pte").write_bytes((DATA / "pte" / "two_methods.pte").read_bytes())
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "layout.h").touch()
    before = sorted(tmp_path.rglob("*"))
    done = run(tmp_path, "plan", "a.pte", "b.pte", "--share", "auto", *flags)
    assert done.returncode == code and done.stderr and sorted(tmp_path.rglob("*")) == before, done.stderr


@pytest.mark.parametrize("words", [["DATA/pte/two_methods.pte"], ["DATA/pte/two_methods.pte", "--share", "auto"],
                                   ["DATA/hello_world_int8.tflite", "--pool", "a=1K", "--pool", "b=1K"]])
def test_a_capacity_of_several_pools_is_refused(tmp_path, words):
    """It was that of the first."""
    words = [word.replace("DATA", str(DATA)) for word in words]
    for verb in ("plan", "size"):
        done = run(tmp_path, verb, *words, "--capacity", 1)
        assert done.returncode == 2 and "--capacity is of one pool, and there are " in done.stderr


def test_the_hash_of_several_files_that_are_one_program_is_refused(tmp_path):
    model = DATA / "pte" / "two_methods.pte"
    done = run(tmp_path, "plan", model, model, "--share", "auto", "--hash", "--json")
    assert done.returncode == 2 and "--hash is of one file" in done.stderr


# ---- programs as JSON ----

TARGETS = ["tflite-micro", "litert", "executorch", "torch", "tvm", "tvm-offsets", "onnxruntime", "iree",
           "generic"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("model", ["pt2/cache.pt2", "pt2/loop.pt2", "pte/kv_decoder.pte",
                                   "tvm/views.json", "json/small.program.json",
                                   "json/everything.program.json", "if_while_float.tflite",
                                   "elementwise_float.tflite"])
def test_every_program_that_we_wrote_can_be_checked(tmp_path, target, model):
    done = run(tmp_path, "plan", DATA / model, "--target", target, "--effort", 5000, "-q", "-o",
               "x.program.json")
    if done.returncode:  # refused by name, and nothing written
        assert done.stderr and names(tmp_path) == []
        return
    for flags in ([], ["--target", target]):
        done = run(tmp_path, "check", "x.program.json", *flags)
        assert done.returncode == 0 and " ok: " in done.stdout, done.stdout + done.stderr
    program = json.loads((tmp_path / "x.program.json").read_text())
    placed = [t for t in program["tensors"] if "given" in t and "view_of" not in t]
    ends = {}
    for tensor in placed:  # all at one place
        ends[tensor["given"]["pool"]] = ends.get(tensor["given"]["pool"], 0) + 1
        tensor["given"]["offset"] = 0
    (tmp_path / "w.program.json").write_text(json.dumps(program))
    done = run(tmp_path, "check", "w.program.json")
    assert (done.returncode, "wrong (" in done.stdout) == (1, True)


@pytest.mark.parametrize("model", ["pte/gradients.pte", "pte/two_methods.pte", "pte/kv_decoder.pte",
                                   "mobilenet_v1_025_96_int8.tflite"])
def test_a_planned_model_is_checked_against_the_original(tmp_path, model):
    suffix = model.split(".")[-1]
    assert run(tmp_path, "plan", DATA / model, "-o", f"out.{suffix}").returncode == 0
    done = run(tmp_path, "check", DATA / model, f"out.{suffix}")
    assert done.returncode == 0 and done.stdout.startswith(f"out.{suffix}  ok: "), done.stderr
    other = DATA / "pte" / "elementwise_chain.pte"
    done = run(tmp_path, "check", other, f"out.{suffix}")
    assert done.returncode == 1 and "another program" in done.stderr


# ---- limits ----

def test_a_stream_without_end_is_refused(tmp_path):
    done = run(tmp_path, "size", "/dev/zero")
    assert done.returncode == 4 and "does not end within 1,073,741,824 bytes" in done.stderr


def test_memory_is_limited_where_asked_for(tmp_path):
    if b"__asan_init" in COMMAND.read_bytes():
        pytest.skip("the sanitizer's own memory is above any limit worth testing")
    rows = "".join(f"b{i},{i},{i + 2},16\n" for i in range(100_000))
    (tmp_path / "p.csv").write_text("id,lower,upper,size\n" + rows)
    assert run(tmp_path, "size", "p.csv", "--planner", "greedy-by-size").returncode == 0
    done = run(tmp_path, "size", "p.csv", "--planner", "greedy-by-size", "--max-memory", "8M")
    assert done.returncode == 4 and done.stdout == ""
    assert "out of memory: --max-memory allows this process 8,388,608 bytes" in done.stderr
    assert run(tmp_path, "size", SMALL, "--max-memory", "64M").returncode == 0
    assert run(tmp_path, "size", SMALL, "--max-memory", "lots").returncode == 2


# ---- JSON ----

def test_json_says_what_the_text_says(tmp_path):
    text = run(tmp_path, "explain", MODEL, "--passes", "slices").stdout
    found = json.loads(run(tmp_path, "explain", MODEL, "--passes", "slices", "--json").stdout)
    flags = [each["flags"] for each in found["remedies"] if "flags" in each]
    assert flags and all(f"({each})" in text for each in flags)
    assert sum("without" in each for each in found["remedies"]) == text.count("  without ")
    found = json.loads(run(tmp_path, "size", SMALL, "--json", "--budget", "2K").stdout)
    assert found["budget"] == {"bytes": 2048, "needed": 1104, "fits": True}
    assert found["runtime"]["head"] == 420
    text = run(tmp_path, "size", SMALL, "--budget", "2K").stdout
    ways = [row["of"] for row in found["tensor_arena"]]
    assert ways == ["as it is", "planned", "--inplace on", "--overlap on", "as it is", "planned"]
    for row in found["tensor_arena"]:
        assert f"{row['tail']:,}  {row['bytes']:,}" in text
        assert row["exact"] and row["fits"]


def test_a_budget_is_of_the_file_as_it_is_and_the_planned_one_keeps_less(tmp_path):
    assert run(tmp_path, "size", MODEL, "--budget", "82256").returncode == 1
    assert run(tmp_path, "plan", MODEL, "-o", "planned.tflite", "--budget", "82256").returncode == 0
    assert run(tmp_path, "size", "planned.tflite", "--budget", "82256").returncode == 0
    assert run(tmp_path, "check", "planned.tflite", "--budget", "82256").returncode == 0
    assert run(tmp_path, "check", "planned.tflite", "--budget", "82255").returncode == 1
    wide = ("planned.tflite", "--target", "tflite-micro-64", "--budget")
    assert run(tmp_path, "size", *wide, "82256").returncode == 1
    assert run(tmp_path, "size", *wide, "85248").returncode == 0
