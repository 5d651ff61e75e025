"""The examples of docs/python.md and of docstrings give what they say."""

import doctest
import shutil

from conftest import DATA

import arenaut
from arenaut import planning, problem

PAGE = DATA.parents[1] / "docs" / "python.md"


def test_the_page(tmp_path, monkeypatch):
    shutil.copy(DATA / "inception_int8.tflite", tmp_path / "model.tflite")
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert tried > 15 and not failed


def test_docstrings():
    for module in planning, problem:
        failed, tried = doctest.testmod(module, extraglobs={"arenaut": arenaut})
        assert tried and not failed
