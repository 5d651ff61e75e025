"""Structure and language of the sources, measured: the house's own meter.

    build/venv-lint/bin/python scripts/measure_structure.py [SECTION …]

Sections (all, if none is named):
    size       per room: files, lines of code and of comments, code lines per file
    functions  per room: count, median and longest in lines, branches (lizard)
    circles    files of src that call one another in a circle (Tarjan's strongly connected components)
    api        public functions, and those that nothing outside of src uses but tests (goal: none)
    operators  files and mentions of the operators of .tflite
    language   per room: words of comments, *what* per 1,000 of them, and standard terms of the field
    commits    lengths of commit titles
    readme     words, table rows and long lines of README.md

`scripts/lint.py` holds some of these figures to limits."""

import re
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("include", "src", "tools")
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)
LONGEST_TITLE = 72
LONGEST_LINE = 100
FEW = 80  # lines of a short file
USERS = ("README.md", "bench", "docs", "examples", "explorer", "gpu", "preload", "python", "tools")
INSIDE = {"docs/architecture.md"}
NO_TEXT = (".png", ".svg", ".gif", ".ico", ".bin", ".woff2", ".wasm")
TERMS = ("schedule", "dependence", "live range", "interference", "dominance", "prun", "branch and bound",
         "lower bound", "min cut", "heuristic", "tile", "halo", "rematerializ", "topological", "hill climbing")


def sources(folder, *endings):
    """The C sources below a folder of the repository."""
    endings = endings or (".c", ".h", ".def")
    return sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in endings)


def room(path):
    """A folder of src, or one of the other rooms."""
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[:2]) if parts[0] == "src" else parts[0]


def comments(text):
    """The comments of a C source, one string each, without the stars that begin their lines."""
    found = (match.group() for match in COMMENT_OR_STRING.finditer(text))
    return [re.sub(r"\n\s*\*?", " ", each[2:].removesuffix("*/")) for each in found if each.startswith("/")]


def without_comments(text):
    """The code of a C source with empty strings; lines stay where they are."""
    def blank(match):
        return '""' if match.group().startswith('"') else "\n" * match.group().count("\n")
    return COMMENT_OR_STRING.sub(blank, text)


def words(text):
    return re.findall(r"[A-Za-z']+", text)


def per_thousand(word, text):
    """How often a word stands in 1,000 words of a text."""
    found = words(text.lower())
    return 1000 * found.count(word) / max(1, len(found))


def by_room():
    """Room → sources."""
    rooms = defaultdict(list)
    for folder in ROOMS:
        for path in sources(folder):
            rooms[room(path)].append(path)
    return rooms


def code_lines(text):
    return sum(1 for line in without_comments(text).split("\n") if line.strip())


def size():
    print(f"{'room':16}{'files':>6}{'lines':>8}{'code':>8}{'comment':>8}{'code/file':>10}{'< ' + str(FEW):>6}")
    total = Counter()
    for name, paths in sorted(by_room().items()):
        texts = [path.read_text() for path in paths]
        row = Counter(files=len(paths), lines=sum(text.count("\n") for text in texts),
                      code=sum(map(code_lines, texts)), short=sum(text.count("\n") < FEW for text in texts),
                      comment=sum(each.count("\n") + 1 for text in texts
                                  for each in COMMENT_OR_STRING.findall(text) if each.startswith("/")))
        total += row
        print_size(name, row)
    print_size("all", total)


def print_size(name, row):
    print(f"{name:16}{row['files']:6}{row['lines']:8}{row['code']:8}{row['comment']:8}"
          f"{row['code'] / row['files']:10.0f}{row['short']:6}")


def functions():
    import lizard  # of build/venv-lint
    print(f"{'room':16}{'count':>6}{'median':>8}{'longest':>8}{'> 60':>6}{'CCN > 15':>10}{'>= 6 parameters':>17}")
    rows = []
    for name, paths in [*sorted(by_room().items()), ("all", None)]:
        if paths is not None:
            found = [each for path in paths for each in lizard.analyze_file(str(path)).function_list]
            rows += found
        else:
            found = rows
        if not found:
            continue
        lengths = [each.length for each in found]
        print(f"{name:16}{len(found):6}{statistics.median(lengths):8.0f}{max(lengths):8}"
              f"{sum(n > 60 for n in lengths):6}{sum(each.cyclomatic_complexity > 15 for each in found):10}"
              f"{sum(len(each.parameters) >= 6 for each in found):17}")


def calls():
    """File of src → files of src of which it names a function, to call it or to have it called. A function that is
    defined twice counts for none."""
    code = {path: without_comments(path.read_text()) for path in sources("src", ".c")}
    defined = defaultdict(set)
    for path, text in code.items():
        for name in re.findall(r"^(?!static|typedef|extern|#)[a-z_][\w \*]*?\b((?:arn|arenaut)_\w+)\s*\([^;{}]*\)\s*\{",
                               text, re.M):
            defined[name].add(path)
    graph = {path: set() for path in code}
    for path, text in code.items():
        for name in set(re.findall(r"\b((?:arn|arenaut)_\w+)", text)):
            graph[path] |= defined[name] - {path} if len(defined[name]) == 1 else set()
    return graph


def circles(graph=None):
    """Prints and returns the sets of files that reach one another by calls, largest first."""
    found = sorted(strongly_connected(graph or calls()), key=len, reverse=True)
    print(f"{len(found)} circles of calls, {sum(map(len, found))} files in them")
    for each in found:
        print(f"{len(each):4}  {' '.join(sorted(str(path.relative_to(ROOT / 'src')) for path in each))}")
    return found


def strongly_connected(graph):
    """Components of more than one node: Tarjan 1972, with a stack of iterators in place of recursion."""
    index, low, open_nodes, found = {}, {}, [], []
    for root in graph:
        if root in index:
            continue
        visit = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        open_nodes.append(root)
        while visit:
            node, successors = visit[-1]
            following = next(successors, None)
            if following is None:
                visit.pop()
                if visit:
                    low[visit[-1][0]] = min(low[visit[-1][0]], low[node])
                if low[node] == index[node]:
                    first = open_nodes.index(node)
                    component = open_nodes[first:]
                    del open_nodes[first:]
                    if len(component) > 1:
                        found.append(component)
            elif following not in index:
                index[following] = low[following] = len(index)
                open_nodes.append(following)
                visit.append((following, iter(sorted(graph[following]))))
            elif following in open_nodes:
                low[node] = min(low[node], index[following])
    return found


def public_functions():
    """Function → public header."""
    return {name: path for path in sources("include", ".h")
            for name in re.findall(r"^(?!typedef|extern|#)[a-z_][\w \*]*?\b(arenaut_\w+)\s*\(",
                                   without_comments(path.read_text()), re.M)}


def unused_functions():
    """Public functions that neither the command, a package, an example, a bench nor a page for users names: src and
    tests do not count, nor do pages about how the library is built."""
    listed = subprocess.run(["git", "ls-files", *USERS], cwd=ROOT, check=True, capture_output=True, text=True)
    named = set()
    for path in listed.stdout.splitlines():
        if path not in INSIDE and not path.endswith(NO_TEXT):
            named |= set(re.findall(r"\barenaut_\w+", (ROOT / path).read_text()))
    return {name: path for name, path in public_functions().items() if name not in named}


def api():
    functions, unused = public_functions(), unused_functions()
    internal = {name for path in sources("src", ".h")
                for name in re.findall(r"\barn_\w+(?=\()", without_comments(path.read_text()))}
    print(f"{len(functions)} public functions in {len(set(functions.values()))} headers, {len(internal)} internal ones; "
          f"{len(unused)} public ones used by nothing outside of src")
    for name, path in sorted(unused.items()):
        print(f"    {path.name:24}{name}")


def operators():
    names = set(re.findall(r'^TFLITE\("([A-Z][A-Z0-9_]+)"', (ROOT / "src/ops/ops.def").read_text(), re.M))
    mentions = Counter()
    files = defaultdict(set)
    for path in sources("src"):
        for name in re.findall(r'"([A-Z][A-Z0-9_]+)"', path.read_text()):
            if name in names:
                mentions[path] += 1
                files[name].add(path)
    print(f"{sum(mentions.values())} mentions of {len(names)} operators of .tflite in {len(mentions)} files of src")
    for path, n in mentions.most_common(12):
        print(f"{n:6}  {path.relative_to(ROOT)}")
    most = sorted(files, key=lambda name: (-len(files[name]), name))[:6]
    print("in most files: " + ", ".join(f"{name} {len(files[name])}" for name in most))


def language():
    print(f"{'room':16}{'words':>8}{'what/1000':>11}")
    texts = {name: " ".join(each for path in paths for each in comments(path.read_text()))
             for name, paths in sorted(by_room().items())}
    texts["docs"] = " ".join(path.read_text() for path in sorted((ROOT / "docs").glob("*.md")))
    for name, text in texts.items():
        print(f"{name:16}{len(words(text)):8}{per_thousand('what', text):11.1f}")
    joined = " ".join(text for name, text in texts.items() if name != "docs").lower()
    print("in comments: " + ", ".join(f"{term} {joined.count(term)}" for term in TERMS))


def commits():
    titles = subprocess.run(["git", "log", "--no-merges", "--format=%s"], cwd=ROOT, check=True, capture_output=True,
                            text=True).stdout.splitlines()
    for name, some in (("all", titles), ("last 100", titles[:100])):
        lengths = [len(title) for title in some]
        print(f"{name:10}{len(some):6} titles, median {statistics.median(lengths):.0f} characters, "
              f"{sum(n > LONGEST_TITLE for n in lengths)} over {LONGEST_TITLE}")


def readme():
    text = (ROOT / "README.md").read_text()
    lines = text.splitlines()
    print(f"{len(text.split())} words, {sum(line.startswith('|') for line in lines)} table rows, "
          f"{sum(len(line) > LONGEST_LINE for line in lines)} lines over {LONGEST_LINE} columns")


SECTIONS = (size, functions, circles, api, operators, language, commits, readme)


def main(chosen):
    unknown = set(chosen) - {section.__name__ for section in SECTIONS}
    if unknown:
        sys.exit(f"no section {', '.join(sorted(unknown))}; there are: {', '.join(s.__name__ for s in SECTIONS)}")
    for section in SECTIONS:
        if not chosen or section.__name__ in chosen:
            print(f"== {section.__name__}")
            section()
            print()


if __name__ == "__main__":
    main(sys.argv[1:])
