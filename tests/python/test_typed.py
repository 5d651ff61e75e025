"""What type checkers are told is what there is."""

import inspect
import re
import subprocess
import sys
import typing

import arenaut
from arenaut import options, typed
from arenaut.library import C

#: The flags of the command, as Python says them.
KEYWORDS = {"--from": "format", "--dim": "dims", "--pool": "pools", "--pin": "pins", "--align-op": "op_align",
            "--no-alloc-io": "alloc_io", "--inplace-op": "inplace_ops", "--set": "settings"}
#: Said by what is called (a plan is saved, compared, shown), by reading an attribute, or of use to a command only.
OTHERWISE = {"--output", "--force", "--as", "--svg", "--html", "--ascii", "--open", "--what-if", "--fail-on-growth", "--planned",
             "--markdown", "--json", "--jsonl", "--hash", "--max-memory", "--pools", "--dump-after",
             "--dump-live", "--one-arena", "--no-progress", "--smallest", "--quiet", "--verbose", "--color", "--help"}


def test_every_flag_of_the_command_has_its_keyword():
    flags = set()
    for verb in "plan", "size", "explain", "view", "export", "check", "diff":
        text = subprocess.run([sys.executable, "-m", "arenaut", "help", verb, "--all"], capture_output=True, text=True,
                              check=True).stdout
        flags |= set(re.findall(r"^ {2,6}(?:-\w, )?(--[a-z-]+)", text, re.MULTILINE))
    known = {*options.FILE, *options.PLANNER, *options.REPORT}
    missing = {flag for flag in flags - OTHERWISE
               if KEYWORDS.get(flag, flag.removeprefix("--").replace("-", "_")) not in known}
    assert len(flags) > 40 and not missing


def test_options_are_those_that_are_taken():
    assert set(typed.ModelOptions.__annotations__) == {*options.FILE, *options.PLANNER}
    assert set(typed.PlannerOptions.__annotations__) == set(options.PLANNER)
    assert set(typed.ReportOptions.__annotations__) == set(options.REPORT)
    of_problem = set(inspect.signature(arenaut.Problem).parameters)
    assert of_problem - set(typed.Constraints.__annotations__) == {"sizes", "first", "end", "align"}
    of_plan = set(inspect.signature(arenaut.plan).parameters)
    assert set(options.PLANNER) | {"progress"} == of_plan - of_problem - {"constraints"}


def test_words_are_those_of_the_library():
    def words(name, count):
        return tuple(getattr(C, name)(k).decode() for k in range(count))
    assert typed.SplitMode.__args__ == words("arenaut_split_mode_name", 9)
    assert not C.arenaut_split_mode_name(9)
    assert typed.Kind.__args__ == words("arenaut_class_name", 6) and not C.arenaut_class_name(6)
    assert typed.Status.__args__ == words("arenaut_quality_name", 2)
    assert typed.StoppedBy.__args__ == words("arenaut_stop_name", 5) and not C.arenaut_stop_name(5)


def described():
    """All functions, methods and classes that a user can name."""
    for name in dir(arenaut):
        thing = getattr(arenaut, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            yield name, thing
        for inner, member in (vars(thing).items() if inspect.isclass(thing) else ()):
            function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if inspect.isfunction(function) and function.__module__.startswith("arenaut"):
                yield f"{name}.{inner}", function


def test_annotations_can_be_evaluated():
    hints = {name: typing.get_type_hints(thing) for name, thing in described()}
    assert len(hints) > 100
    assert hints["plan"]["return"] is arenaut.Plan is hints["Problem.plan"]["return"]
    assert hints["Row"]["planned"] == int | None and hints["Row"]["seconds"] == float | None
