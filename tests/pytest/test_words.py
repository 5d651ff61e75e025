"""Identifiers and file names keep to docs/words.md: metaphors that were given up stay away."""

import functools
import re

import pytest

from conftest import ROOT

# What docs/words.md says instead: lowering, group, incumbent, baseline, override, threads, ...
GIVEN_UP = {
    "beside", "blind", "comer", "crew", "culprit", "kin", "liveness", "mate", "peer", "ring", "rival", "roof", "seat",
    "sketch", "tear", "today", "torn", "wish",
}
OLD_KEYS = {"R_TODAY"}  # JSON that an earlier version wrote
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.S)


@functools.cache
def is_given_up(name):
    words = re.split(r"[_.]", name.lower())
    return name not in OLD_KEYS and any(word.removesuffix(end) in GIVEN_UP for word in words for end in ("", "s", "es"))


@pytest.mark.parametrize("folder", ["src", "tools", "include"])
def test_words_that_were_given_up_do_not_come_back(folder):
    found = []
    for path in sorted((ROOT / folder).rglob("*.[ch]")):
        names = set(re.findall(r"[A-Za-z_]\w*", NO_CODE.sub(" ", path.read_text()))) | {path.name}
        found += [f"{path.relative_to(ROOT)}: {name}" for name in sorted(names) if is_given_up(name)]
    assert not found, "docs/words.md says what to call these"


def test_file_names_are_unique():
    """A debugger that shows read.c:40 should mean one file."""
    seen = {}
    for folder in ("src", "tools"):
        for path in (ROOT / folder).rglob("*.[ch]"):
            assert path.name not in seen, f"{path} and {seen[path.name]}"
            seen[path.name] = path


def test_each_source_says_what_it_is():
    without = [str(path.relative_to(ROOT)) for folder in ("src", "tools")
               for path in sorted((ROOT / folder).rglob("*.c")) if not path.read_text().startswith("/*")]
    assert not without, "a .c opens with what it is, how it works and what it costs"
