"""Wrong usages, one a row: the exit code of the contract, and what the message must name: the culprit, and the way on.
A negative answer or an error is never silent, and nothing is written."""

import gzip
import json

import pytest
from conftest import DATA

USAGE, INPUT, FILES, NO = 2, 3, 4, 1  # exit codes: wrongly asked; not a model; files; a negative answer

# arguments, exit code, parts of the message
ROWS = [
    # verbs and files
    ("siez m.tflite", USAGE, "did you mean 'size'"),
    ("help plna", USAGE, "did you mean 'plan'"),
    ("size", USAGE, "needs a file", "help size"),
    ("diff m.tflite", USAGE, "another file", "help diff"),
    ("explain m.tflite r.tflite", USAGE, "one file", "help explain"),
    ("formats x", USAGE, "no file"),
    ("completion", USAGE, "bash|zsh|fish"),
    ("completion fsh", USAGE, "did you mean 'fish'"),
    ("export m.tflite", USAGE, "--as FORMAT"),
    ("strip planned.tflite", USAGE, "-o OUT"),
    ("size nothere.tflite", FILES, "nothere.tflite"),
    ("size folder", INPUT, "folder", "no file that can be read"),
    ("plan --fit 60K", USAGE, "needs a file"),
    # flags and their values
    ("size m.tflite --bugdet 60K", USAGE, "did you mean '--budget'"),
    ("size m.tflite -z", USAGE, "'-z'", "help size"),
    ("plan m.tflite --preserve-input", USAGE, "did you mean '--preserve-inputs'"),
    ("size m.tflite --budget", USAGE, "needs a value", "SIZE"),
    ("size m.tflite --budget 64Q", USAGE, "'64Q'", "200K"),
    ("size m.tflite --budget -5", USAGE, "'-5'"),
    ("plan m.tflite --fit 10Z", USAGE, "'10Z'", "60%"),
    ("plan m.tflite --fit 0", USAGE, "at least a byte"),
    ("plan m.tflite --fit 60K --smallest", USAGE, "exclude each other"),
    ("plan m.tflite --smallest 5", USAGE, "5", "-o 5"),
    ("size m.tflite --overlap yes", USAGE, "'yes'", "on|off"),
    ("plan m.tflite --reorder onn", USAGE, "did you mean 'on'"),
    ("plan m.tflite --recompute 3", USAGE, "on|off"),
    ("size m.tflite --color blue", USAGE, "auto|always|never"),
    ("plan m.tflite --time 5x", USAGE, "2s, 500ms"),
    ("plan m.tflite --effort 1e6", USAGE, "'1e6'", "1000000"),
    ("plan m.tflite --seed x", USAGE, "'x'"),
    ("plan m.tflite -j 0", USAGE, "between 1 and"),
    ("plan m.tflite --max-macs 5x", USAGE, "'5x'", "5%"),
    ("plan m.tflite --max-ops 5", USAGE, "--split, --recompute or --fit", "none is given"),
    ("plan m.tflite --recompute on --max-macs 5%", USAGE, "--split or --fit", "neither is given"),
    ("export m.tflite --as csv --max-ops 5", USAGE, "none is given"),
    ("view m.tflite -o v.html --max-macs 0%", USAGE, "neither is given"),
    ("plan m.tflite --budget 1K", NO, "tensor_arena needs", "over the budget of 1,024"),
    ("plan m.tflite --split on --rounding alow", USAGE, "did you mean 'allow'"),
    ("plan m.tflite --split on --rounding on", USAGE, "'on'", "refuse|allow"),
    ("plan m.tflite --split on --rounding", USAGE, "needs a value", "refuse|allow"),
    ("plan m.tflite --rounding allow", USAGE, "--split or --fit", "neither is given"),
    ("plan m.tflite --recompute on --fit 60K --rounding allow", USAGE, "neither is given"),
    ("plan m.tflite --reorder on --rounding allow", USAGE, "--split or --fit", "neither is given"),
    ("plan m.tflite --split on --roundin allow", USAGE, "did you mean '--rounding'"),
    ("plan m.tflite -o a.tflite -o b.tflite", USAGE, "given twice", "b.tflite"),
    ("size m.tflite --json --jsonl", USAGE, "exclude each other"),
    ("view m.tflite --html --svg", USAGE, "exclude each other"),
    ("diff m.tflite planned.tflite --fail-on-growth x", USAGE, "'x'", "2%"),
    # names of this build: each with the nearest, and where they are listed
    ("plan m.tflite --planner grdy", USAGE, "did you mean", "greedy", "arenaut planners"),
    ("bench m.tflite --planner exact,skylin", USAGE, "did you mean 'skyline'"),
    ("plan m.tflite --planner first-fit --set order=zz", USAGE, "'zz'", "lifetime"),
    ("plan m.tflite --set foo=1", USAGE, "'foo'", "'auto'"),
    ("plan m.tflite --passes inplac", USAGE, "did you mean 'inplace'"),
    ("size m.tflite --kernels cmsisnn", USAGE, "did you mean 'cmsis-nn'"),
    ("size m.tflite --kernels foo", USAGE, "'foo'", "arenaut kernels"),
    ("plan m.tflite --target tflite-mcro", USAGE, "did you mean 'tflite-micro'"),
    ("plan m.tflite --from tflit", USAGE, "did you mean 'tflite'"),
    ("export m.tflite --as c-aray", USAGE, "did you mean 'c-array'"),
    ("export m.tflite --as pdf", USAGE, "'pdf'", "header"),
    ("plan m.tflite --device h1000", USAGE, "did you mean 'h100'"),
    ("plan m.tflite --method nope", USAGE, "'nope'", "main"),
    ("plan m.tflite --split banana", USAGE, "'banana'", "kept-cropped"),
    ("plan m.tflite --split 0-9/3:kep", USAGE, "did you mean 'kept'"),
    ("plan m.tflite --split 0-999/3:kept", USAGE, "31 ops"),
    # tensors, memories, sizes
    ("plan m.tflite --pin nothere=arena:0", USAGE, "'nothere'", "export --as csv"),
    ("plan m.tflite --pin nothere", USAGE, "TENSOR=POOL"),
    ("plan m.tflite --align nothere=16", USAGE, "'nothere'", "export --as csv"),
    ("size m.tflite --align 7", USAGE, "power of two"),
    ("size m.tflite --pool banana", USAGE, "NAME=SIZE"),
    ("plan m.tflite --pool head=64K", USAGE, "tail=SIZE"),
    ("plan m.tflite --pool a=64K --pool b=64K -o o.tflite", USAGE, "o.tflite", "one arena", ".json or a .h"),
    ("plan m.tflite --pool a=10", NO, "image", "27,638 bytes more"),
    ("plan m.tflite --capacity 10K", NO, "image", "17,408 bytes more"),
    ("plan m.tflite --inplace-op FOO", USAGE, "OP=INPUT"),
    ("size m.tflite --dim N=3", USAGE, "no symbolic dimension"),
    ("size m.tflite --scratch nofile.csv", FILES, "nofile.csv"),
    ("size m.tflite --scratch garbage.csv", INPUT, "garbage.csv", "op and bytes"),
    ("plan m.tflite r.tflite --share nosuch", USAGE, "'nosuch'"),
    ("size m.tflite --budget 90K", NO, "8,528 over the budget"),
    ("plan m.tflite --fit 20K -o o.tflite", NO, "the least to reserve is"),
    # what is no model
    ("size cut.tflite", INPUT, "cut.tflite", "allowed up to"),
    ("size empty.tflite", INPUT, "empty", "tflite"),
    ("size random.tflite", INPUT, "no known format", "tflite"),
    ("size m.tflite.gz", INPUT, "gunzip"),
    ("size net.keras", INPUT, "tf.lite.TFLiteConverter"),
    ("size net.h5", INPUT, "HDF5", "tf.lite.TFLiteConverter"),
    ("size prog.elf", INPUT, "ELF"),
    ("size m.tflite --from onnx", INPUT, "leave out --from onnx"),
    ("size m.tflite --target executorch", USAGE, "another runtime"),
    ("size m.tflite --kernels portable", USAGE, "another runtime"),
    ("size p.csv --kernels cmsis-nn", USAGE, "placement problem"),
    ("plan p.csv --fit 10K", INPUT, "csv"),
    ("strip m.tflite -o o.tflite", INPUT, "no plan"),
    ("strip p.csv -o o.csv", INPUT, "csv"),
    ("check m.tflite rplan.json", NO, "17 buffers", "32"),
    ("check over.tflite --kernels cmsis-nn", NO, "'reference'", "'cmsis-nn'"),
    # outputs
    ("plan m.tflite -o planned.tflite", FILES, "exists already", "-f"),
    ("plan m.tflite -o no/where.tflite", FILES, "folder does not exist"),
    ("plan m.tflite -o folder", FILES, "is a folder", "folder/m.tflite"),
    ("plan m.tflite r.tflite -o both.tflite", USAGE, "-o is a folder"),
    ("plan m.tflite --json -o -", USAGE, "give -o a file"),
    ("plan m.tflite -o o.png", USAGE, "o.png", ".tflite"),
    ("plan m.tflite -o o.onnx", USAGE, "o.onnx", "tflite"),
    ("plan p.csv -o o.tflite", USAGE, "o.tflite", "csv"),
    ("plan m.tflite --target litert -o o.tflite", USAGE, "o.tflite", "litert"),
    ("view m.tflite -o o.pdf", USAGE, "o.pdf", "--svg"),
    ("view m.tflite --ascii -o o.svg", USAGE, "contradicts"),
    ("plan m.tflite -o /dev/full", FILES, "/dev/full", "No space left"),
]


@pytest.fixture(scope="module")
def folder(arenaut, tmp_path_factory):
    path = tmp_path_factory.mktemp("usage")
    model = (DATA / "mobilenet_v1_025_96_int8.tflite").read_bytes()
    for name, data in {"m.tflite": model, "r.tflite": (DATA / "resnet_int8.tflite").read_bytes(),
                       "p.csv": (DATA / "fragmented.csv").read_bytes(), "cut.tflite": model[:1000], "empty.tflite": b"",
                       "random.tflite": bytes(range(200, 256)) * 9, "m.tflite.gz": gzip.compress(model),
                       "net.keras": b"PK\3\4", "net.h5": b"\x89HDF\r\n\x1a\n0000", "prog.elf": b"\x7fELF\2\1\1" + bytes(90),
                       "garbage.csv": b"foo bar\n"}.items():
        (path / name).write_bytes(data)
    (path / "folder").mkdir()
    for flags in ("m.tflite -o planned.tflite", "m.tflite --overlap on -o over.tflite", "r.tflite -o rplan.json"):
        arenaut("plan", "-q", *flags.split(), cwd=path)
    return path


@pytest.mark.parametrize("row", ROWS, ids=[row[0].replace("/", ".") for row in ROWS])
def test_a_wrong_usage_is_told_what_is_wrong_and_what_to_do(arenaut, folder, row):
    words, code, *parts = row
    before = sorted(folder.rglob("*"))
    done = arenaut(*words.split(), exit=code, cwd=folder)
    said = done.stderr + done.stdout if code == NO else done.stderr
    assert all(part in said for part in parts), said
    assert done.stderr.startswith("arenaut: ") and "(null)" not in said
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("row", [row for row in ROWS if row[0].split()[0] in ("size", "plan", "explain", "check", "diff")
                                 and not {"--json", "--jsonl", "-o"} & set(row[0].split())],
                         ids=lambda row: row[0].replace("/", "."))
def test_the_same_is_json_where_json_is_asked_for(arenaut, folder, row):
    words, code, *_ = row
    said = json.loads(arenaut(*words.split(), "--json", exit=code, cwd=folder).stdout)
    if said["schema"] == "arenaut.error/1":
        assert said["exit"] == code and said["errors"] and all(error["message"] for error in said["errors"])
    else:
        assert code == NO


def test_a_number_of_seconds_needs_no_unit_and_help_says_so(arenaut):
    assert "2 (seconds)" in " ".join(arenaut("help", "plan", "--all").stdout.split())


@pytest.mark.parametrize("limit", ["5", "5%"])
def test_a_percentage_may_be_written_as_one(arenaut, folder, limit):
    arenaut("plan", "m.tflite", "--split", "on", "--max-macs", limit, cwd=folder)
