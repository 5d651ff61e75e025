"""Coverage of lines by room, from the counters that programs built with gcc --coverage left:

    scripts/coverage.py BUILD [--errors]

With --errors the lines that report an error (`arn_fail`, `complain`) and that no test has reached, one per line.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
ERROR = re.compile(r"\b(arn_fail\w*|complain\w*)\(")
AT_ONCE = 200  # files of counters for one call of gcov


def counters(build):
    """For each source, how often each of its lines ran, in all programs together."""
    runs = defaultdict(lambda: defaultdict(int))
    paths = sorted(str(path.resolve()) for path in Path(build).rglob("*.gcda"))
    if not paths:
        sys.exit(f"{build}: no counters: build with --coverage, and run the tests")
    for start in range(0, len(paths), AT_ONCE):
        done = subprocess.run(["gcov", "--json-format", "--stdout", *paths[start:start + AT_ONCE]],
                              capture_output=True, text=True, check=True)
        for document in filter(None, done.stdout.splitlines()):
            found = json.loads(document)
            for file in found["files"]:
                path = (Path(found["current_working_directory"]) / file["file"]).resolve()
                for line in file["lines"]:
                    runs[path][line["line_number"]] += line["count"]
    return runs


def of_the_project(runs):
    """The sources below src and tools, by their path in the repository."""
    for path in sorted(runs):
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in ("src", "tools"):
            yield path.relative_to(ROOT), runs[path]


def room_of(path):
    return "/".join(path.parts[:2]) if path.parts[0] == "src" else path.parts[0]


def put_rooms(files):
    rooms = defaultdict(lambda: [0, 0])
    for path, lines in files:
        rooms[room_of(path)][0] += sum(1 for count in lines.values() if count)
        rooms[room_of(path)][1] += len(lines)
    for room, (ran, all_) in sorted(rooms.items()):
        print(f"{room:<16} {ran:>7,} of {all_:>7,} lines  {100 * ran / all_:5.1f} %")
    ran, all_ = (sum(row[i] for row in rooms.values()) for i in range(2))
    print(f"{'all':<16} {ran:>7,} of {all_:>7,} lines  {100 * ran / all_:5.1f} %")


def put_errors(files):
    for path, lines in files:
        text = (ROOT / path).read_text().splitlines()
        for number, count in sorted(lines.items()):
            if count == 0 and ERROR.search(text[number - 1]):
                print(f"{path}:{number}: {text[number - 1].strip()}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    files = list(of_the_project(counters(sys.argv[1])))
    if not files:
        sys.exit(f"{sys.argv[1]}: the counters are of other sources")
    (put_errors if "--errors" in sys.argv[2:] else put_rooms)(files)


if __name__ == "__main__":
    main()
