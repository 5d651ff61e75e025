"""Tables and a plot from the results of bench/compare.py.

    python bench/render.py RESULTS.jsonl [--markdown FILE.md] [--svg FILE.svg] [--note TEXT]

Without --markdown the tables go to standard output. Times are CPU seconds of the solve alone,
user and system together (a kernel does not split short runs reliably), medians over rounds.
"""

import argparse
import json
import statistics
import sys
import textwrap
from collections import defaultdict
from pathlib import Path

import plot

GREEDY_NAMES = ("greedy", "best_fit", "omni")
NINE = "ABCEFGHIK"
FOLDERS = ("tflite_csv", "pte_csv", "onnx_csv")


class Cell:
    """All runs of one contestant on one problem."""

    def __init__(self, runs):
        self.runs = [run for run in runs if "arena" in run]
        self.failed = next((run["failed"] for run in runs if "failed" in run), None)

    def __bool__(self):
        return bool(self.runs)

    @property
    def arena(self):
        return max(run["arena"] for run in self.runs)  # of racing threads: not the luckiest

    def median(self, key):
        return statistics.median(run[key] for run in self.runs)

    @property
    def cpu(self):
        return self.median("cpu_s")

    @property
    def proven(self):
        return all(run.get("proven") or run.get("status") == "optimal" for run in self.runs)

    @property
    def rejected(self):
        return any(run.get("checked") is False for run in self.runs)


class Results:
    """The results of compare.py, by problem and contestant."""

    def __init__(self, path):
        lines = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
        self.of_kind = defaultdict(list)
        runs = defaultdict(list)
        self.problems = {}
        for line in lines:
            self.of_kind[line["kind"]].append(line)
            if line["kind"] == "run":
                key = line["group"], line["problem"]
                runs[key, line["contestant"]].append(line)
                self.problems.setdefault(key, []).append(line)
        self.cells = {key: Cell(value) for key, value in runs.items()}
        self.contestants = sorted({contestant for _, contestant in runs})

    def cell(self, problem, contestant):
        return self.cells.get((problem, contestant), Cell([]))

    def group(self, *names):
        return [problem for problem in self.problems if problem[0] in names]

    def bound(self, problem):
        return max(run.get("bound", 0) for run in self.problems[problem])

    def n(self, problem):
        return max(run.get("n", 0) for run in self.problems[problem])

    def best_greedy(self, problem):
        """(arena, name, CPU seconds) of the best of omnimalloc's, chosen afterwards."""
        cells = [(self.cell(problem, name), name) for name in self.contestants
                 if is_peer_greedy(name)]
        return min(((cell.arena, name, cell.cpu) for cell, name in cells if cell), default=None)


def is_peer_greedy(name):
    return name in GREEDY_NAMES or name.startswith("greedy_by_")


# ---- cells as text ----


def times(value, bound):
    if not bound:
        return "1"
    return "1" if value == bound else f"{max(value / bound, 1.00001):.5f}".rstrip("0")


def seconds(value):
    if value < 0.0995:
        return f"{value:.4f}"
    return f"{value:.2f}" if value < 99.5 else f"{value:.0f}"


def shown(results, problem, contestant):
    """Two cells: arena / bound, bold where proven; CPU seconds."""
    cell = results.cell(problem, contestant)
    if not cell:
        return [short(cell.failed) if cell.failed else "", ""]
    ratio = times(cell.arena, results.bound(problem))
    ratio = f"**{ratio}**" if cell.proven else ratio
    return [ratio + (" rejected!" if cell.rejected else ""), seconds(cell.cpu)]


def short(reason):
    for sign, text in (("MemoryError", "no memory"), ("out of time", "no answer"),
                       ("no plan within", "no answer"), ("adjacency", "refused"),
                       ("budget", "refused"), ("too many", "refused"), ("stopped", "no answer"), ("refuse", "refused")):
        if sign in reason:
            return text
    return "failed"


def table(head, rows, left=1):
    lines = ["| " + " | ".join(head) + " |",
             "|" + "|".join("---" if i < left else "--:" for i in range(len(head))) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


# ---- the tables ----


def beside_peers(results, problems):
    head = ["problem", "buffers", "bound", "auto", "CPU s", "MB", "command, CPU s", "exact",
            "CPU s", "SuperMalloc-6", "CPU s", "its CPU / ours", "best greedy of nine", "which",
            "HillClimb", "CPU s", "MiniMalloc", "CPU s", "its CPU / ours", "XLA's best fit", "CPU s"]
    rows = []
    for problem in problems:
        ours, super_malloc = results.cell(problem, "auto"), results.cell(problem, "supermalloc-6")
        command, greedy = results.cell(problem, "command"), results.best_greedy(problem)
        mini = results.cell(problem, "minimalloc")
        rows.append([
            problem[1], f"{results.n(problem):,}", f"{results.bound(problem):,}",
            *shown(results, problem, "auto"),
            f"{ours.median('peak_kb') / 1024:.0f}" if ours else "",
            seconds(command.cpu) if command else "",
            *shown(results, problem, "exact"), *shown(results, problem, "supermalloc-6"),
            quotient(super_malloc, ours),
            times(greedy[0], results.bound(problem)) if greedy else "",
            greedy[1] if greedy else "", *shown(results, problem, "hillclimb"), *shown(results, problem, "minimalloc"),
            quotient(mini, ours), *shown(results, problem, "xla")])
    return table(head, rows)


def quotient(theirs, ours):
    return f"{theirs.cpu / ours.cpu:.1f}" if theirs and ours and ours.cpu else ""


def sum_of_nine(results):
    """The figure to reach: nine problems that SuperMalloc proves, in less CPU than its six threads."""
    problems = [problem for problem in results.group("A-K") if problem[1] in NINE]
    lines = []
    for contestant in ("auto", "exact", "supermalloc-6", "minimalloc"):
        cells = [results.cell(problem, contestant) for problem in problems]
        done = [cell for cell in cells if cell]
        if done:
            lines.append([contestant, f"{sum(cell.proven for cell in done)} of {len(problems)}",
                          f"{sum(cell.cpu for cell in done):.3f}",
                          f"{sum(cell.median('user_s') for cell in done):.3f}",
                          f"{min(len(cell.runs) for cell in done)}"])
    return table(["the nine that SuperMalloc proves", "proven", "CPU s, sum of medians", "user CPU s",
                  "runs"], lines)


def stated_effort(results):
    rows = []
    for contestant in results.contestants:
        for problem in results.group("A-K"):
            cell = results.cell(problem, contestant)
            if ", effort " in contestant and cell:
                rows.append([problem[1], contestant, f"{cell.arena:,}",
                             *shown(results, problem, contestant)])
    if not rows:
        return []
    return ["With a stated effort:\n",
            table(["problem", "planner", "arena", "arena / bound", "CPU s"], rows, left=2)]


def folders(results):
    head = ["problems", "number", "auto: proven", "slowest, CPU s", "all, CPU s",
            "at the bound: SuperMalloc-6", "best greedy of nine", "HillClimb", "MiniMalloc", "XLA's best fit", "auto is worse"]
    rows = []
    for folder in FOLDERS:
        problems = results.group(folder)
        ours = [results.cell(problem, "auto") for problem in problems]
        if not ours:
            continue

        def at_bound(arena_of, all_problems=problems):
            return str(sum(arena_of(problem) == results.bound(problem)
                           for problem in all_problems))
        rows.append([
            folder, str(len(problems)), str(sum(cell.proven for cell in ours if cell)),
            seconds(max(cell.cpu for cell in ours if cell)),
            seconds(sum(cell.cpu for cell in ours if cell)),
            at_bound(lambda problem: arena(results.cell(problem, "supermalloc-6"))),
            at_bound(lambda problem: (results.best_greedy(problem) or [None])[0]),
            at_bound(lambda problem: arena(results.cell(problem, "hillclimb"))),
            at_bound(lambda problem: arena(results.cell(problem, "minimalloc"))),
            at_bound(lambda problem: arena(results.cell(problem, "xla"))),
            str(len([line for line in worse(results) if line[0] == folder]))])
    return table(head, rows)


def arena(cell):
    return cell.arena if cell else None


def worse(results):
    """[group, problem, auto's arena, whose is smaller, that arena] wherever auto is beaten."""
    lines = []
    for problem in results.problems:
        ours = results.cell(problem, "auto")
        for contestant in results.contestants:
            other = results.cell(problem, contestant)
            if other and "effort" not in contestant and contestant != "command":
                if not ours or other.arena < ours.arena:
                    lines.append([*problem, f"{ours.arena:,}" if ours else "none", contestant,
                                  f"{other.arena:,}"])
    return lines


def unproven(results):
    rows = []
    for problem in results.group(*FOLDERS):
        ours = results.cell(problem, "auto")
        if not ours or not ours.proven:
            rows.append([problem[1], f"{results.n(problem):,}", f"{results.bound(problem):,}",
                         *shown(results, problem, "auto")])
    return rows


def left_out(results):
    lines = [f"- PEER MISSING: {line['peer']} ({line['why']})"
             for line in results.of_kind["missing"]]
    not_run = len(results.of_kind["not_run"])
    if not_run:
        lines.append(f"- {not_run} runs were left out: the benchmark's time was over.")
    rejected = [f"{problem[1]} by {contestant}" for (problem, contestant), cell
                in results.cells.items() if cell.rejected]
    lines.append("- Plans that our checker rejected: " + (", ".join(rejected) or "none") + ".")
    return "\n".join(lines) + "\n"


def threads(results):
    """One thread beside several: the plans must agree; and the speed-up."""
    rows = []
    by_problem = defaultdict(dict)
    for line in results.of_kind["threads"]:
        by_problem[line["problem"]][line["threads"]] = line
    for problem, runs in by_problem.items():
        alone, most = runs.get(1, {}), runs[max(runs)]
        if "arena" not in alone or "arena" not in most:
            continue
        same = all(alone[key] == most[key] for key in ("arena", "bound", "effort", "status"))
        rows.append([problem, f"{alone['effort']:,}", times(alone["arena"], alone["bound"]),
                     seconds(alone["wall_s"]), str(max(runs)), seconds(most["wall_s"]),
                     f"{alone['wall_s'] / most['wall_s']:.2f}", "yes" if same else "NO"])
    if not rows:
        return "None were measured.\n"
    return table(["problem", "effort", "arena / bound", "-j 1, wall s", "-j", "wall s", "times",
                  "same plan"], rows)


def document(results, svg_name, note):
    setting = results.of_kind["setting"][0]
    peers = ", ".join(line["version"] for line in results.of_kind["peer"]) or "no peer"
    beaten = worse(results)
    text = [
        "# Benchmarks\n",
        "Made by `BENCH_OUT=docs make bench` (bench/run.sh); generated, do not edit.\n",
        textwrap.fill(f"{setting['version']} beside {peers}; one run, {setting['cores']} cores, "
        f"{setting['machine']}. Everyone has {setting['limit']:g} s of wall time per problem "
        f"(then: the best so far, or killed), {setting['memory'] >> 30} GiB, and runs in a process "
        f"of its own, in turn; up to {setting['rounds']} rounds, medians. Runs of more than 5 s "
        "were made once. Numbers are arena / bound; **bold**: proven minimal. CPU is user and system "
        "time of the solve alone, reading excluded; \"command\" is all of `arenaut plan` with "
        "start, reading, checking and writing. Our planners use one thread (see Threads for more), "
        "SuperMalloc six. "
        "Every plan, ours or a peer's, has been through `arenaut check`.", 100, break_on_hyphens=False) + "\n",
        *([f"Note: {note}\n"] if note else []),
        "## Hard problems (MiniMalloc's A–K)\n", beside_peers(results, results.group("A-K")),
        sum_of_nine(results),
        *stated_effort(results),
        "## Large and generated problems\n",
        beside_peers(results, results.group("large", "generated"))]
    for line in results.of_kind["generated"]:
        text.append(f"`{line['problem']}`: bench/generate.c, {line['most_alive']:,} alive at once, "
                    f"fill {line['fill']}.\n")
    text += ["## Threads\n", threads(results), "## Problems from models\n", folders(results)]
    rows = unproven(results)
    if rows:
        text += ["Not proven:\n", table(["problem", "buffers", "bound", "auto", "CPU s"], rows)]
    text += ["## Is auto ever worse than another?\n",
             table(["group", "problem", "auto", "smaller", "its arena"], beaten, left=2)
             if beaten else "On no problem: neither than a planner of the table nor than a peer.\n",
             "## Missing\n", left_out(results)]
    if svg_name:
        text += ["## Picture\n", f"![arena above the bound against CPU time]({svg_name})\n"]
    return "\n".join(text)


def points(results):
    """(contestant, CPU seconds, arena / bound) for the plot."""
    for problem in results.group("A-K", "large", "generated"):
        for contestant in results.contestants:
            cell = results.cell(problem, contestant)
            if cell and results.bound(problem):
                yield contestant, cell.cpu, cell.arena / results.bound(problem)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--note", help="a line on how these results came about")
    options = parser.parse_args()
    results = Results(options.results)
    if options.svg:
        options.svg.write_text(plot.scatter(points(results)), encoding="utf-8")
    text = document(results, options.svg.name if options.svg else None,
                    options.note)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
