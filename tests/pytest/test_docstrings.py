"""Docstrings of the package follow numpydoc, held by its own validator in the environment that the site is built in:
every class and function that `import arenaut` gives, the pass inside ExecuTorch's export, and their public members."""

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import COMMAND, ROOT

PYTHON = ROOT / "build" / "venv-site" / "bin" / "python"
#: Sections in their order, summaries of a line, all parameters with types and sentences, results with types.
CODES = ("GL01 GL06 GL07 GL08 GL09 PR01 PR02 PR03 PR04 PR05 PR06 PR07 PR08 PR09 PR10 "
         "RT01 RT03 RT04 RT05 SS01 SS02 SS03 SS04 SS06 YD01").split()
VALIDATE = """
import json, sys
from numpydoc.validate import validate
print(json.dumps({name: validate(name)["errors"] for name in sys.argv[1:]}))
"""
#: What counts bytes, steps or nothing else: units are said where a number is not a count of what its name says.
BYTES = {"Plan": "arena bound arenas bounds offsets", "Size": "now planned bound needed reserve",
         "TensorArena": "tensors scratch notes head tail total", "Order": "given best bound",
         "Recomputed": "before after added_bytes floor", "Row": "now planned bound",
         "Trace": "asked most_asked reserved most_reserved caching caching_expandable",
         "Pool": "capacity align", "ModelPlan": "now planned needed minimum",
         "Problem": "sizes align fixed inside_delta"}


@pytest.fixture(scope="module")
def classes(package):
    import arenaut
    return {name: one for name in arenaut.__all__ if inspect.isclass(one := getattr(arenaut, name))}


def members(name, one):
    own = [member for member, value in vars(one).items() if not member.startswith("_") and
           (inspect.isfunction(value) or isinstance(value, (property, classmethod, staticmethod)))]
    return [f"{name}.{member}" for member in own]


def made_here(one):
    """Whether callers get such objects and make none: their fields are attributes."""
    return issubclass(one, (tuple, Exception)) and one.__name__ != "Pool" or one.__name__ in ("ModelPlan", "Results")


def test_docstrings_follow_numpydoc(package, classes):
    import arenaut
    names = [f"arenaut.{name}" for name in arenaut.__all__ if callable(getattr(arenaut, name))]
    for name, one in classes.items():
        names += members(f"arenaut.{name}", one)
    if not PYTHON.is_file():
        pytest.fail("build/venv-site is missing: make venv-site")
    path = str(Path(arenaut.__file__).parents[1])
    done = subprocess.run([PYTHON, "-c", VALIDATE, *names], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": path,
                               "ARENAUT_LIBRARY": str(COMMAND.parent / "libarenaut.so")})
    made = {f"arenaut.{name}" for name, one in classes.items() if made_here(one)}
    wrong = [(name, code, text) for name, errors in json.loads(done.stdout).items() for code, text in errors
             if code in CODES and not (code == "PR01" and name in made)]
    assert len(names) > 70
    assert not wrong


def test_all_fields_are_documented_with_types(classes):
    """A record's fields, and the annotated attributes of a class."""
    for name, one in classes.items():
        fields = {field for field in (*getattr(one, "_fields", ()), *inspect.get_annotations(one)) if field[0] != "_"}
        said = {field for names in re.findall(r"^ {4}([\w, *]+) : \S", one.__doc__, re.MULTILINE)
                for field in re.split(r", ", names)}
        assert fields <= said, (name, fields - said)


def test_bytes_are_said_to_be_bytes_and_columns_have_shapes(classes):
    for name, fields in BYTES.items():
        for field in fields.split():
            said = re.findall(rf"^ {{4}}{field} : (.*\n(?: {{8}}.*\n)+)", classes[name].__doc__, re.MULTILINE)
            assert said
            assert all("bytes" in text.lower() for text in said), (name, field, said)
    for line in re.findall(r"^ {4}(\w+ : .*array.*)$", "".join(one.__doc__ for one in classes.values()), re.MULTILINE):
        assert "shape (" in line, line


def test_the_pass_has_such_a_docstring(ours):
    given = set(inspect.signature(ours.MemoryPlanningPass.__init__).parameters) - {"self", "theirs"}
    said = re.findall(r"^ {4}(\w+) : \S", ours.MemoryPlanningPass.__doc__, re.MULTILINE)
    assert set(said) == given
    assert sys.modules["arenaut.executorch"].plan.__doc__.count("----------") == 1
