"""arenaut-changes: the pre-commit hook and the GitHub Action, in repositories of git, without GitHub itself."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import COMMAND, DATA, ROOT

yaml = pytest.importorskip("yaml")
SMALL, LARGE = DATA / "resnet_int8.tflite", DATA / "inception_int8.tflite"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
[HOOK] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A work tree with one committed model, which then grows, and one that is new."""
    monkeypatch.setenv("ARENAUT", str(COMMAND.resolve()))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin" / "arenaut-changes", f'exec {sys.executable} -m arenaut.changes "$@"')
    tree = tmp_path / "tree"
    (tree / "models").mkdir(parents=True)
    shutil.copy(SMALL, tree / "models" / "a b.tflite")
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=n@n", "commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=tree, check=True)
    shutil.copy(LARGE, tree / "models" / "a b.tflite")
    shutil.copy(SMALL, tree / "models" / "new.tflite")
    subprocess.run(["git", "add", "-N", "models/new.tflite"], cwd=tree, check=True)
    return tree


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def run(*command, cwd, **environment):
    return subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False,
                          env=os.environ | environment)


def test_the_change_is_that_of_diff(repository, arenaut):
    found = run("arenaut-changes", "--kernels=cmsis-nn", cwd=repository)
    before = repository.parent / "a b.tflite"
    shutil.copy(SMALL, before)
    diff = arenaut("diff", before, repository / "models" / "a b.tflite", "--kernels", "cmsis-nn").stdout
    assert found.returncode == 0 and found.stdout == f"models/a b.tflite:\n{diff}\nmodels/new.tflite:\n  new\n"


def test_the_hook_fails_where_a_model_grew(repository):
    files = ["models/a b.tflite", "models/new.tflite"]
    assert all(re.search(HOOK["files"], name) for name in files) and not re.search(HOOK["files"], "model.cc")
    grown = run(*HOOK["entry"].split(), *files, cwd=repository)
    assert grown.returncode == 1 and "the tensor_arena grew from 28,448 to 46,288 bytes" in grown.stderr
    shutil.copy(SMALL, repository / "models" / "a b.tflite")
    assert run(*HOOK["entry"].split(), *files, cwd=repository).returncode == 0
    assert run(*HOOK["entry"].split(), "../tree/models/a b.tflite", cwd=repository / "models").returncode != 0
    assert run(*HOOK["entry"].split(), "a b.tflite", cwd=repository / "models").returncode == 0


@pytest.mark.parametrize("base", ["nothing", "--output=x", ""])
def test_a_base_that_is_no_commit_is_an_error(repository, base):
    done = run("arenaut-changes", f"--base={base}", cwd=repository)
    assert done.returncode == 2 and f"{base}: no commit of this repository" in done.stderr


@pytest.mark.parametrize("words,named", [
    (["--fail-on-growth", "2%"], "2%: no such file"), (["--kernels", "cmsis-nn"], "cmsis-nn: no such file"),
    (["gone.tflite"], "gone.tflite: no such file"), (["../outside.tflite"], "../outside.tflite: not in the repository")])
def test_words_that_name_no_model_of_the_repository_are_errors(repository, words, named):
    shutil.copy(SMALL, repository.parent / "outside.tflite")
    done = run("arenaut-changes", *words, "models/new.tflite", cwd=repository)
    assert done.returncode == 2 and named in done.stderr and "Traceback" not in done.stderr and not done.stdout


def test_a_value_that_is_a_file_of_the_repository_is_no_success(repository):
    (repository / "costs.csv").write_text("op,bytes\n")
    done = run("arenaut-changes", "--scratch", "costs.csv", "models/a b.tflite", cwd=repository)
    assert done.returncode == 2 and "--scratch" in done.stderr


def test_a_flag_with_a_space_goes_to_diff(repository):
    done = run("arenaut-changes", "--scratch=/nowhere/a b.csv", "models/a b.tflite", cwd=repository)
    assert done.returncode > 1 and "/nowhere/a b.csv" in done.stderr and "Traceback" not in done.stderr


def test_a_command_ended_by_a_signal_is_no_success(repository):
    program(repository.parent / "bin" / "killed", "kill -9 $$")
    done = run("arenaut-changes", cwd=repository, ARENAUT=str(repository.parent / "bin" / "killed"))
    assert done.returncode == 137


def test_before_the_first_commit_there_is_no_base(repository):
    subprocess.run(["git", "checkout", "-q", "--orphan", "empty"], cwd=repository, check=True)
    done = run(*HOOK["entry"].split(), "models/new.tflite", cwd=repository)
    assert done.returncode == 0 and "no base to compare with" in done.stdout and not done.stderr


def test_a_damaged_model_is_an_error_and_the_others_are_compared(repository):
    (repository / "models" / "a b.tflite").write_bytes(b"\x1c\0\0\0TFL3")
    done = run("arenaut-changes", cwd=repository)
    assert done.returncode == 3 and "a b.tflite" in done.stderr and "new.tflite:\n  new" in done.stdout


def compare(repository, **inputs):
    """The last step of action.yml, with its expressions as GitHub would fill them in."""
    given = {name: row.get("default", "") for name, row in ACTION["inputs"].items()} | {"base": "HEAD", "number": ""} | inputs
    step = ACTION["runs"]["steps"][-1]
    environment = {}
    for name, text in step["env"].items():
        wanted = "number" if "number" in text else re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", text)[1]
        environment[name] = given[wanted]
    return run("bash", "-eo", "pipefail", "-c", step["run"], cwd=repository, GITHUB_ACTION_PATH=str(ROOT),
               GITHUB_REPOSITORY="o/r", **environment)


def test_the_action_writes_a_summary(repository):
    done = compare(repository, **{"fail-on-growth": "2%", "flags": "--planned --kernels=cmsis-nn"})
    summary = (repository.parent / "summary.md").read_text()
    assert done.returncode == 1 and "more than 2% allows" in done.stderr and "more than 2% allows" in summary
    assert "### `models/a b.tflite`" in summary and "| tensor_arena |" in summary and "### `models/new.tflite`" in summary
    assert compare(repository, models="*.onnx").returncode == 0
    assert "No model changed." in (repository.parent / "summary.md").read_text()
    assert compare(repository, models="models/n*.tflite", **{"fail-on-growth": "2%"}).returncode == 0


@pytest.mark.parametrize("base,code", [("", 0), ("0" * 40, 0), ("1" * 40, 2)])
def test_the_action_says_where_there_is_no_base(repository, base, code):
    assert compare(repository, base=base).returncode == code
    summary = (repository.parent / "summary.md").read_text()
    assert "no base to compare with" in summary and "No model changed" not in summary


def test_the_action_says_no_model_changed_only_where_it_looked(repository):
    assert compare(repository, flags="--kernels cmsis-nn").returncode == 2
    summary = (repository.parent / "summary.md").read_text()
    assert "cmsis-nn: no such file" in summary and "No model changed" not in summary


GH = """echo "$@" >> "{calls}"
case "$*" in
*viewer*) echo 'arena[bot]' ;;
*--paginate*) while [ "$1" != --jq ]; do shift; done; jq -r "$2" "{calls}.json" ;;
esac
"""


def comments(repository, rows):
    """A stand-in for `gh` that writes down its calls and filters comments as it does; the calls of one run."""
    calls = repository.parent / "calls"
    calls.write_text("")
    (repository.parent / "calls.json").write_text(json.dumps(
        [{"id": n, "user": {"login": login}, "body": body} for n, login, body in rows]))
    program(repository.parent / "bin" / "gh", GH.format(calls=calls))
    assert compare(repository, number="12").returncode == 0
    return calls.read_text().splitlines()[-1]


@pytest.mark.skipif(not shutil.which("jq"), reason="jq filters as gh does")
def test_the_action_keeps_one_comment_of_its_own(repository):
    mark = "<!-- arenaut size changes -->"
    others = [(5, "arena[bot]", f"See {mark}"), (6, "someone", mark)]
    made = comments(repository, others)
    assert made.startswith("api --silent repos/o/r/issues/12/comments -F body=@")
    changed = comments(repository, [*others, (7, "arena[bot]", f"{mark}\n## Memory"), (8, "arena[bot]", mark)])
    assert changed.startswith("api --silent -X PATCH repos/o/r/issues/comments/7 -F body=@")
    assert (repository.parent / "arenaut.md").read_text().startswith(mark)


@pytest.mark.parametrize("refused", ["viewer", "--paginate", "body=@"])
def test_a_token_that_only_reads_leaves_the_exit_code(repository, refused):
    program(repository.parent / "bin" / "gh", f'case "$*" in *{refused}*) echo "HTTP 403" >&2; exit 4;; esac')
    for growth, code in (("", 0), ("2%", 1)):
        done = compare(repository, number="12", **{"fail-on-growth": growth})
        assert done.returncode == code and "HTTP 403" in done.stderr and "no comment was written" in done.stderr


def test_examples_name_inputs_and_hooks_that_exist():
    folder = ROOT / "examples" / "size_changes"
    [job] = yaml.safe_load((folder / "workflow.yml").read_text())["jobs"].values()
    assert set(job["steps"][-1]["with"]) <= set(ACTION["inputs"])
    [hooks] = yaml.safe_load((folder / "pre-commit-config.yaml").read_text())["repos"]
    assert [hook["id"] for hook in hooks["hooks"]] == [HOOK["id"]]
    page = (ROOT / "docs" / "diff.md").read_text()
    for name in ("workflow.yml", "pre-commit-config.yaml"):
        where, text = (folder / name).read_text().split("\n", 1)
        assert where.startswith("# .") and text in page
