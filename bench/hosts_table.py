"""Waste of the planners of other frameworks: a host a row, and below that its networks.

    make hosts-table
    python bench/hosts_table.py [--shipped] [--again] [--keep FOLDER] [HOST…]

Bytes are those of one arena, pool or slab for intermediate values, as the host places them and as they are planned here for
the same buffers, lives and alignments; nothing is run. Each host is asked where it is: tinygrad, XLA and IREE in
build/venv-hosts, inductor and TVM in build/venv, models of ExecuTorch, tflite-micro, ONNX and IREE in the corpus
(ARENAUT_CORPUS), ggml's sources in ARENAUT_GGML. A missing host is said in its row. `--shipped` takes the files in
tests/data instead, and no framework: seconds. Exits with 1 where a plan of ours is larger than the host's.

All of them take long, so each host's networks are kept in build/hosts once they are measured: whoever stops
it, or names some hosts only, goes on from there, and the whole is printed. What was kept counts as long as nothing
that it was measured by has changed: the command, the library, the scripts, the versions that are asked for.
`--again` measures the hosts that are named anew, of which the models or ggml's sources may be others."""

import argparse
import ast
import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = Path(os.environ.get("ARENAUT", ROOT / "build" / "arenaut"))
DATA = ROOT / "tests" / "data"
VENVS = {name: ROOT / "build" / name / "bin" / "python" for name in ("venv", "venv-hosts")}
sys.path.insert(0, str(ROOT / "scripts"))
from corpus import FOLDER as CORPUS  # noqa: E402

#: Bytes of the host and ours; whether no placement needs fewer.
Network = namedtuple("Network", "name theirs ours proven")
#: Of a host, and why other models of it are none.
Measured = namedtuple("Measured", "networks passed")
Host = namedtuple("Host", "name planner use measure")


class Missing(Exception):
    """A requirement of a host is missing."""


def run(*command):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"),
                   "ARENAUT_LIBRARY": str(COMMAND.parent / "libarenaut.so")}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise Missing((done.stderr.strip().splitlines() or ["it failed"])[-1])
    return done.stdout


def planned(path, *flags):
    """A network that is a file: its runtime's plan, and the command's."""
    document = json.loads(run(COMMAND, "plan", "--json", "--time", "2s", *flags, path))
    result, baseline = document["result"], document.get("baseline")
    if not baseline or not baseline["arena"]:
        return None  # nothing to place
    if path.suffix == ".tflite" and baseline["planner"] == "file":
        return None  # a plan in the file, not the runtime's
    return Network(path.name.split(".")[0], int(baseline["arena"]), int(result["arena"]), result["status"] == "optimal")


def all_planned(paths, plan=planned):
    """Those that can be planned; of the others it is said why not."""
    found, passed = [], []
    for path in sorted(paths):
        try:
            found.append(plan(path))
        except Missing as why:
            passed.append(str(why))
    return Measured([network for network in found if network], passed)


def in_corpus(folder, pattern):
    paths = sorted((CORPUS / folder).glob(pattern))
    if not paths:
        raise Missing(f"needs {folder}/{pattern} of the corpus (ARENAUT_CORPUS)")
    return paths


def compared(venv, script, theirs, ours, bound=None, networks=()):
    """A table of another script here, of all its networks or of some; columns by their names."""
    if not VENVS[venv].is_file():
        raise Missing(f"needs build/{venv}: make {venv}")
    lines = [[cell.strip() for cell in line.strip("|\n").split("|")]
             for line in run(VENVS[venv], ROOT / "bench" / script, "--plan-only", *networks).splitlines()]
    rows = [{name: cell.replace(",", "") for name, cell in zip(lines[0], line)} for line in lines[2:]]
    return Measured([Network(row["network"], int(row[theirs]), int(row[ours]), bound is not None and row[ours] == row[bound])
                     for row in rows], [])


def made(script, pattern, keep, *arguments):
    """Files that a script of tests/models makes with a compiler in build/venv-hosts: all of them, or none."""
    if not VENVS["venv-hosts"].is_file():
        raise Missing("needs build/venv-hosts: make venv-hosts")
    script = ROOT / "tests" / "models" / script
    out = keep / f"{script.stem}-{digest(script, ROOT / 'tests' / 'requirements-hosts.txt')[:12]}"
    if not out.is_dir():
        begun = out.with_suffix(".part")
        shutil.rmtree(begun, ignore_errors=True)
        run(VENVS["venv-hosts"], script, begun, *arguments)
        begun.rename(out)
    return out.glob(pattern)


def xla(shipped, keep):
    paths = (DATA / "xla").glob("*.hlo.pb") if shipped else made("make_xla.py", "*.hlo.pb", keep, "--large")
    return all_planned(path for path in paths if path.stem != "no_buffers.hlo")


def iree(shipped, keep):
    if shipped:
        return all_planned(path for path in (DATA / "iree").glob("*.mlir") if path.stem != "dynamic_batch")
    models = [path for path in in_corpus("onnx", "light_*.onnx") if path.stem[6:] in
              ("inception_v1", "inception_v2", "densenet121", "resnet50", "shufflenet", "squeezenet")]
    return all_planned(made("make_iree.py", "*.mlir", keep, *models))


def executorch(shipped, _keep):
    return all_planned((DATA / "pte").glob("*.pte") if shipped else in_corpus("pte", "*.pte"))


def micro(shipped, _keep):
    return all_planned(DATA.glob("*.tflite") if shipped else in_corpus("tflite", "*.tflite"))


def onnx(shipped, _keep):
    if shipped:
        raise Missing("no file that ships has all its sizes")
    [manifest] = in_corpus("onnx", "MANIFEST.csv")
    with open(manifest, newline="") as file:
        sizes = {row["name"]: ast.literal_eval(row["bound_dims"] or "{}") for row in csv.DictReader(file)}

    def plan(path):
        """The runtime places no inputs."""
        flags = ["--no-alloc-io", *(f"--dim={name}={size}" for name, size in sizes[path.name].items())]
        ours, theirs = planned(path, *flags), planned(path, "--planner", "onnxruntime", *flags)
        return ours and ours._replace(theirs=theirs.ours)
    return all_planned(in_corpus("onnx", "*.onnx"), plan)


def ggml(shipped, _keep):
    sources = os.environ.get("ARENAUT_GGML", "")
    if shipped or not sources:
        raise Missing("needs ggml's sources (ARENAUT_GGML)")
    found = []
    for latent in (64, 32):
        said = run(ROOT / "examples" / "ggml" / "run.sh", sources, latent, 128)
        theirs, ours, bound = map(int, re.search(r"ggml_gallocr (\d+), planned (\d+), at least (\d+)", said).groups())
        found.append(Network(f"vae_decoder_{latent}", theirs, ours, ours == bound))
    return Measured(found, [])


def framework(*table):
    def measure(shipped, _keep):
        if shipped:
            raise Missing("no file that ships")
        return compared(*table)
    return measure


#: Of tests/models/torch_zoo.py, those of docs/tvm.md.
TVM_NETWORKS = ("dlrm", "resnet18", "mobilenetv3", "vit_tiny", "bert4", "gpt2", "whisper")
#: As docs/hosts.md has them.
HOSTS = [
    Host("tinygrad", "on by default: as buffers come (TLSF)", "[`arenaut.tinygrad.install()`](#tinygrad)",
         framework("venv-hosts", "tinygrad_table.py", "tinygrad", "arenaut", "bound")),
    Host("inductor", "off by default: by size, halves of halves", "[`arenaut.inductor.install()`](#inductor)",
         framework("venv", "inductor_table.py", "pools, inductor", "pools, arenaut", "bound")),
    Host("TVM Relax", "whole storages, greedily", "[`arenaut.tvm.pipeline(target)`](tvm.md#inside-tvms-relax-compiler)",
         framework("venv", "tvm_compare.py", "TVM", "arenaut", None, TVM_NETWORKS)),
    Host("ExecuTorch", "by size", "[`MemoryPlanningPass`](python.md#inside-executorchs-export), or `arenaut plan` on the file",
         executorch),
    Host("tflite-micro", "by size, at start-up", "[a plan in the model](tflite.md), or `examples/micro_planner`", micro),
    Host("ONNX Runtime", "as the program runs", "takes no plan: [its page](onnx.md)", onnx),
    Host("ggml", "as the graph runs", "[places handed in beforehand](runtime.md): `examples/ggml`", ggml),
    Host("IREE", "as the program runs", "takes no plan: [its text is read](iree.md)", iree),
    Host("XLA", "by size", "takes no plan: [its dump is read](xla.md)", xla),
]


# ---- kept results ----

def digest(*paths):
    """Of the names and bytes of files."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def build_of(shipped):
    """The inputs of the figures, as far as they are in the repository or built from it."""
    library = COMMAND.parent / "libarenaut.so"
    sources = [path for pattern in ("bench/*.py", "python/arenaut/**/*.py", "tests/models/*.py", "tests/requirements*.txt",
                                    "examples/ggml/*") for path in sorted(ROOT.glob(pattern)) if path.is_file()]
    return f"{'shipped' if shipped else 'all'} {digest(COMMAND, *([library] if library.is_file() else []), *sources)}"


def file_of(host, keep):
    return keep / f"{host.name.replace(' ', '-').lower()}.json"


def put(host, keep, build, measured):
    """Whole, or as it was."""
    keep.mkdir(parents=True, exist_ok=True)
    begun = file_of(host, keep).with_suffix(".part")
    begun.write_text(json.dumps({"build": build, **measured._asdict()}))
    begun.replace(file_of(host, keep))


def kept(host, keep, build):
    """Earlier measurements of this build."""
    if not file_of(host, keep).is_file():
        raise Missing("not asked for")
    record = json.loads(file_of(host, keep).read_text())
    if record["build"] != build:
        raise Missing("the kept results are by another build")
    return Measured([Network(*row) for row in record["networks"]], record["passed"])


def measured(host, options, build):
    """Kept from before, or measured now."""
    wanted = not options.hosts or host.name in options.hosts
    if not wanted or not options.again:
        try:
            return kept(host, options.keep, build)
        except Missing:
            if not wanted:
                raise
    found = host.measure(options.shipped, options.keep)
    put(host, options.keep, build, found)
    return found


# ---- the tables ----

def lost(network):
    return 100 * (1 - network.ours / network.theirs)


def share(network):
    return "0" if network.ours == network.theirs else f"{-lost(network):+.1f} %"


def summary(networks):
    """How many networks, of how many a part of the bytes is not needed, how much in the middle and at most, and how many
    plans are proven minimal."""
    shares = sorted(map(lost, networks))
    wasteful = sum(network.ours < network.theirs for network in networks)
    return (f"{len(shares)} | {wasteful} | {shares[len(shares) // 2]:.1f} % | {shares[-1]:.1f} % | "
            f"{sum(network.proven for network in networks)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shipped", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--keep", metavar="FOLDER", type=Path, default=ROOT / "build" / "hosts")
    parser.add_argument("hosts", nargs="*", metavar="HOST", help=", ".join(host.name for host in HOSTS))
    options = parser.parse_args()
    unknown = set(options.hosts) - {host.name for host in HOSTS}
    if unknown:
        parser.error(f"no such host: {', '.join(sorted(unknown))}")
    print("| host | its planner | networks | with waste | in the middle | at most | ours proven minimal | to use ours |\n"
          "|---|---|--:|--:|--:|--:|--:|---|")
    all_networks, build = [], build_of(options.shipped)
    for host in HOSTS:
        try:
            networks, passed = measured(host, options, build)
            print(f"| {host.name} | {host.planner} | {summary(networks)} | {host.use} |", flush=True)
            all_networks += [(host.name, network) for network in networks]
            for why in passed:
                print(f"{host.name}: passed over: {why}", file=sys.stderr)
        except Missing as why:
            print(f"| {host.name} | {host.planner} | not measured: {why} | | | | | {host.use} |", flush=True)
    print("\n| host | network | bytes | planned | | |\n|---|---|--:|--:|--:|---|")
    for name, one in all_networks:
        print(f"| {name} | {one.name} | {one.theirs:,} | {one.ours:,} | {share(one)} | "
              f"{'minimal' if one.proven else ''} |")
    return int(any(one.ours > one.theirs for _, one in all_networks))


if __name__ == "__main__":
    sys.exit(main())
