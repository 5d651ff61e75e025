"""Names keep to docs/words.md: words that were given up stay away. In some folders comments and messages do so, too."""

import functools
import re

import pytest

from conftest import ROOT
from measure_structure import COMMENT_OR_STRING, LONGEST_LINE, circles, comments, per_thousand

# What docs/words.md says instead: lowering, group, incumbent, baseline, override, threads, ...
GIVEN_UP = {
    "beside", "blind", "comer", "crew", "culprit", "kin", "liveness", "mate", "peer", "purse", "ring", "rival", "roof",
    "seat", "sketch", "tear", "tired", "today", "torn", "wish",
}
OLD_KEYS = {"R_TODAY"}  # JSON that an earlier version wrote
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.S)

# Files whose comments and messages keep to the language of the field → *what* in 1,000 words of comments.
WHAT_BUDGETS = {
    "bench/**/*.[ch]": 2,
    "examples/**/*.[ch]": 2,
    "fuzz/*.[ch]": 2,
    "gpu/*.[ch]": 2,
    "include/arenaut/*.h": 2,
    "preload/*.[ch]": 2,
    "src/analysis/*.[ch]": 1,
    "src/check/**/*.[ch]": 2,
    "src/core/*.[ch]": 2,
    "src/dialects/*.[ch]": 2,
    "src/formats/**/*.[ch]": 2,
    "src/ir/*.[ch]": 2,
    "src/kernels/*.[ch]": 2,
    "src/ops/*": 2,
    "src/passes/**/*.[ch]": 2,
    "src/pipeline/*.c": 2,
    "src/planners/**/*.[ch]": 1,
    "src/report/**/*.[ch]": 2,
    "src/rewrite/*.[ch]": 2,
    "src/rewrite/copies/*.c": 2,
    "src/rewrite/order/*.[ch]": 2,
    "src/rewrite/recompute/*.[ch]": 2,
    "src/rewrite/rematerialize/*.[ch]": 2,
    "src/rewrite/split/*.[ch]": 1,
    "src/rewrite/tile_dialects/*.[ch]": 1,
    "src/runtime/**/*.[ch]": 2,
    "src/shapes/*.[ch]": 2,
    "src/stages/*.[ch]": 2,
    "src/tape/*.[ch]": 2,
    "src/targets/*.[ch]": 2,
    "tests/support/*.[ch]": 2,
    "tests/unit/*.c": 2,
    "tools/*.[ch]": 2,
}
WHAT_BUDGET_OF_PAGES = 4  # the same of all words of a page
PAGES = [str(path.relative_to(ROOT)) for path in (*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md",
                                                  ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md")]
NO_PROSE = re.compile(r"```|    |\||#|<|!\[")  # code, tables, headings, pictures
UNBREAKABLE = re.compile(r"\]\([^)]*\)|`[^`]*`")  # links, code
# Names that were given up in these files, and phrases: dependence, heuristic, direction, committed, relaxation, ...
GIVEN_UP_THERE = {"loosen", "loosening", "loosened", "wait", "waits", "way", "ways"}
OTHER_NAMES = {"include/arenaut/*.h", "src/report/**/*.[ch]", "src/core/*.[ch]"}  # split, threads
ROOMS_OF_TILES = ("src/rewrite/split", "src/rewrite/tile_dialects")
GIVEN_UP_FOR_TILES = {"band", "banded", "bands", "piece", "stage"}
NAMES_OF_THE_API = {"arenaut_split_stage", "arenaut_ways_to_split", "ways"}  # the last is a field in pipeline.h
OLD_WORDS = re.compile(r'^"today"$|\\"today\\"|\.today\b')  # keys of JSON, and a class of pictures
PHRASES = re.compile(r"\b(waits? for|waited for|for good|today('s)?|whoever|whatever it|nobody|somebody|tired|purse|"
                     r"(runs?|ran) again)\b", re.I)
NO_NOUN = re.compile(r"/\* (Whether|Which|Who|Whose|Whoever|What|Whatever|Where|When|How|Those|That)\b")


@functools.cache
def is_given_up(name):
    words = re.split(r"[_.]", name.lower())
    return name not in OLD_KEYS and any(word.removesuffix(end) in GIVEN_UP for word in words for end in ("", "s", "es"))


def names_in(path):
    return set(re.findall(r"[A-Za-z_]\w*", NO_CODE.sub(" ", path.read_text()))) | {path.name}


def in_language_of_the_field(pattern):
    paths = sorted(ROOT.glob(pattern))
    assert paths, "no file is left: change WHAT_BUDGETS"
    return paths


@pytest.mark.parametrize("folder", ["src", "tools", "include"])
def test_words_that_were_given_up_do_not_come_back(folder):
    found = []
    for path in sorted((ROOT / folder).rglob("*.[ch]")):
        found += [f"{path.relative_to(ROOT)}: {name}" for name in sorted(names_in(path)) if is_given_up(name)]
    assert not found, "docs/words.md says what to call these"


@pytest.mark.parametrize("pattern", WHAT_BUDGETS)
def test_things_have_nouns(pattern):
    """A reader of the field finds by grep a noun, not "what is alive": in comments within the budget, in messages always."""
    texts = {path: path.read_text() for path in in_language_of_the_field(pattern)}
    often = per_thousand("what", " ".join(each for text in texts.values() for each in comments(text)))
    assert often <= WHAT_BUDGETS[pattern], f"{often:.1f} times *what* in 1,000 words of comments"
    messages = [f"{path.relative_to(ROOT)}: {each}" for path, text in texts.items()
                for each in COMMENT_OR_STRING.findall(text) if each.startswith('"') and re.search(r"\bwhat\b(?!-if)", each, re.I)]
    assert not messages
    assert not [str(path.relative_to(ROOT)) for path, text in texts.items() if NO_NOUN.match(text)], "no noun phrase"


@pytest.mark.parametrize("page", PAGES)
def test_pages_have_nouns(page):
    text = (ROOT / page).read_text()
    often = per_thousand("what", text)
    assert often <= WHAT_BUDGET_OF_PAGES, f"{often:.1f} times *what* in 1,000 words"
    assert not re.findall(r"\b(whoever|nobody|somebody|whom)\b", text, re.I)


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md"])
def test_prose_has_lines_of_a_terminal(page):
    """For reading beside code, and for differences; links and code are never broken for it."""
    text = re.sub(r"^```.*?^```", "```", (ROOT / page).read_text(), flags=re.S | re.M)
    assert not [line for line in text.splitlines() if len(line) > LONGEST_LINE and not NO_PROSE.match(line)
                and " " in UNBREAKABLE.sub(lambda found: "x" * len(found[0]), line[2:])[:LONGEST_LINE].strip()]


def test_the_readme_takes_three_minutes():
    assert len((ROOT / "README.md").read_text().split()) <= 730


@pytest.mark.parametrize("pattern", WHAT_BUDGETS)
def test_the_language_of_the_field_is_kept(pattern):
    found = []
    given_up = GIVEN_UP_THERE | (GIVEN_UP_FOR_TILES if pattern.startswith(ROOMS_OF_TILES) else set())
    for path in in_language_of_the_field(pattern):
        said = [" ".join(each.split()) for each in comments(path.read_text())]
        said += [each for each in COMMENT_OR_STRING.findall(path.read_text()) if each.startswith('"')]
        found += [f"{path.relative_to(ROOT)}: {each}" for each in said
                  if PHRASES.search(OLD_WORDS.sub("", each))]
        found += [f"{path.relative_to(ROOT)}: {name}" for name in sorted(names_in(path) - NAMES_OF_THE_API)
                  if pattern not in OTHER_NAMES and given_up & set(name.lower().split("_"))]
    assert not found, "docs/words.md has the field's word"


def test_file_names_are_unique():
    """A debugger that shows read.c:40 should mean one file."""
    seen = {}
    for folder in ("src", "tools"):
        for path in (ROOT / folder).rglob("*.[ch]"):
            assert path.name not in seen, f"{path} and {seen[path.name]}"
            seen[path.name] = path


def test_files_do_not_call_one_another_in_a_circle():
    """A reader goes from callers to callees and is done."""
    assert not circles()


def test_each_source_says_what_it_is():
    without = [str(path.relative_to(ROOT)) for folder in ("src", "tools")
               for path in sorted((ROOT / folder).rglob("*.c")) if not path.read_text().startswith("/*")]
    assert not without, "a .c opens with what it is, how it works and what it costs"
