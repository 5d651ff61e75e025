#!/bin/sh
# Our planners beside their peers: the script of `make bench`.
#
#   sh bench/run.sh [--smoke] [--minutes N] [--limit SECONDS]
#
# Installs the peers into build/venv, runs bench/compare.py (half an hour at most; --smoke, or
# BENCH_QUICK=1: about a minute) and makes tables and a plot of its results, which lie in
# build/bench. BENCH_OUT=docs writes docs/benchmarks.md and docs/benchmarks.svg.
set -eu
cd "$(dirname "$0")/.."

python=${PYTHON:-build/venv/bin/python}
out=${BENCH_OUT:-build/bench}
results=build/bench/results.jsonl
[ -z "${BENCH_QUICK:-}" ] || set -- --smoke "$@"
case " $* " in *" --smoke "*) scale=10000 ;; esac
mkdir -p "$out"

# One by one: a peer that cannot be had must not keep the others away.
grep -v '^#' bench/requirements.txt | while read -r peer; do
    "$python" -m pip -q --disable-pip-version-check install "$peer" ||
        echo "PEER MISSING: $peer cannot be installed; the results will say so" >&2
done

"$python" bench/compare.py --out "$results" "$@"
"$python" bench/render.py "$results" --markdown "$out/benchmarks.md" --svg "$out/benchmarks.svg"
{
    echo "## From ten thousand to ten million buffers"
    echo
    echo "The whole command: reading, planning, checking (\`bench/scale.py\`)."
    echo
    "$python" bench/scale.py --most "${scale:-10000000}"
    echo
    echo "## ExecuTorch's own planner"
    echo
    "$python" bench/executorch_compare.py || echo "Not run: see above."
} >"$out/others.part"
cat "$out/others.part" >>"$out/benchmarks.md"
rm "$out/others.part"
cat "$out/benchmarks.md"
echo "results: $results, $out/benchmarks.md, $out/benchmarks.svg" >&2
