"""docs/limits.md says what the sources do."""

import re

import pytest

from conftest import ROOT

ROW = re.compile(r"^\| (?P<what>.+) \| (?P<value>\d+) \| `(?P<name>\w+)` in `(?P<file>[\w/.]+)` \|$")
ROWS = [match for line in (ROOT / "docs" / "limits.md").read_text().splitlines()
        if (match := ROW.match(line))]
LIMIT = re.compile(r"\b(?:ARENAUT_\w*MAX\w*|INPUT_\w*LIMIT|ARN_\w*(?:LIMIT|MAX)\w*)\b")


def constant(path, name):
    """The value of `name = EXPRESSION` in an enum, or of a macro."""
    text = (ROOT / path).read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found = re.search(rf"\b{name} = ([^,}}]+)[,}}]", text) or \
        re.search(rf"#define {name} (.+)$", text, re.M)
    assert found, f"{path} has no {name}"
    expression = found.group(1).strip()
    expression = expression.replace("UINT64_MAX", str(2**64 - 1)).replace("INT32_MAX", str(2**31 - 1))
    expression = re.sub(r"U?INT\d+_C\((\d+)\)", r"\1", expression)
    expression = re.sub(r"(\d)[uUlL]+\b", r"\1", expression).replace("/", "//")
    assert re.fullmatch(r"[\d\s()<*/+-]+", expression), expression
    return eval(expression)  # digits and operators only


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_the_page_says_what_the_source_does(row):
    assert constant(row["file"], row["name"]) == int(row["value"])


def test_the_page_has_rows():
    assert len(ROWS) > 20
    assert len({(row["file"], row["name"]) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("folder", ["include/arenaut", "src/formats", "src/ir", "src/core"])
def test_every_limit_that_is_named_as_one_is_on_the_page(folder):
    """Constants of headers that readers hold inputs against."""
    named = {row["name"] for row in ROWS}
    found = set()
    for path in (ROOT / folder).rglob("*.h"):
        for line in path.read_text().splitlines():
            if re.match(r"(enum \{ |#define )", line) and (match := LIMIT.search(line)):
                found.add(match.group())
    assert not found - named, "limits that docs/limits.md lacks"
