"""The ExecuTorch programs that the project ships, as exported: they show what they are for."""

import functools
import itertools

import pytest
from conftest import DATA

torch = pytest.importorskip("torch", reason="the stock wheels are not installed: make venv")
import make_pte  # noqa: E402
import pte_runtime  # noqa: E402
from drawn import some  # noqa: E402

OWN = [make.__name__ for make in make_pte.MODELS]
STATEFUL = {"kv_decoder": ("forward",), "two_methods": ("add", "scale")}
# Weights that training will change lie in an arena, and are put there when a program is loaded.
KEPT = {"gradients"}
# As exported these compute something else than the module does: upstream bug 21490.
WRONG = {"two_conditions"}
# As many calls as there are ways through the conditions.
CALLS = {"condition": 2, "two_conditions": 4}


def path_of(name):
    return DATA / "pte" / f"{name}.pte"


@functools.cache
def recipe(name):
    return getattr(make_pte, name)()


def several_inputs(name, method):
    """Every combination of flags, and for the decoder its words in order."""
    module, inputs = recipe(name).methods[method]
    if name == "kv_decoder":
        return [(torch.tensor([3 + step]), torch.tensor([step])) for step in range(6)]
    flags = [i for i, value in enumerate(inputs) if value.dtype == torch.bool]
    sets = []
    for step, choice in enumerate(itertools.product((True, False), repeat=len(flags))):
        given = [value if value.dtype == torch.bool else make_pte.values(value.shape, 5 * step + i)
                 for i, value in enumerate(inputs)]
        for flag, value in zip(flags, choice):
            given[flag] = torch.tensor(value)
        sets.append(tuple(given))
    return sets


def eager(module, inputs):
    with torch.no_grad():
        outputs = module(*inputs)
    return list(outputs) if isinstance(outputs, tuple) else [outputs]


def error_against_eager(path, name):
    """The largest difference of any output, over all methods in turn and with state kept."""
    program, worst = pte_runtime.Python(path.read_bytes()), 0.0
    recipe.cache_clear()  # modules with state begin anew
    for method, (module, _) in recipe(name).methods.items():
        for inputs in several_inputs(name, method):
            pairs = zip(program.call(*inputs, method=method), eager(module, inputs))
            worst = max([worst] + [float((a - b).abs().max()) for a, b in pairs])
    return worst


@pytest.mark.parametrize("make", some(make_pte.MODELS), ids=lambda make: make.__name__)
def test_shipped_programs_have_the_bytes_that_the_script_makes(make):
    with make_pte.quiet():
        assert path_of(make.__name__).read_bytes() == make().bytes()


def test_all_shipped_programs_come_from_the_script():
    assert sorted(path.stem for path in (DATA / "pte").glob("*.pte")) == sorted(OWN)
    assert sum(path.stat().st_size for path in (DATA / "pte").glob("*.pte")) < 500_000


@pytest.mark.parametrize("name", [name for name in OWN if name not in WRONG])
def test_programs_compute_what_their_modules_do(name):
    assert error_against_eager(path_of(name), name) < 1e-4


def test_the_exporter_lets_two_conditions_overwrite_each_other():
    """Should this ever fail, the bug is gone upstream, and with it a reason for `check`."""
    assert error_against_eager(path_of("two_conditions"), "two_conditions") > 1


@pytest.mark.parametrize("name, calls", CALLS.items())
def test_the_inputs_take_both_sides_of_every_condition(name, calls):
    """Together the calls run every instruction, and no two of them go the same way."""
    run = pte_runtime.run(path_of(name), calls=calls)
    taken = [set(call["ran"]) for call in run["calls"]]
    last = max(max(ran) for ran in taken)
    assert set.union(*taken) >= set(range(last + 1))
    assert len({tuple(sorted(ran)) for ran in taken}) == calls


@pytest.mark.parametrize("name", OWN)
def test_outputs_follow_the_inputs(name):
    """A program whose output is always the same could not tell a wrong plan from a right one."""
    methods = STATEFUL.get(name, ("forward",))
    modes = ("keep", "share") if name in STATEFUL or name in KEPT else ()
    run = pte_runtime.run(path_of(name), methods, calls=8, modes=modes)
    assert len({tuple(call["outputs"]) for call in run["calls"]}) >= 4


@pytest.mark.parametrize("name", [name for name in OWN if name not in STATEFUL])
def test_nothing_is_read_that_was_not_written(name):
    """Without state, what the arenas held before makes no difference to any op."""
    modes = ("keep",) if name in KEPT else ()
    one, other = (pte_runtime.run(path_of(name), fill=fill, modes=modes)
                  for fill in pte_runtime.FILLS)
    assert one == other


@pytest.mark.parametrize("name", sorted(STATEFUL))
def test_state_is_read_that_an_earlier_call_left(name):
    methods = STATEFUL[name]
    one, other = (pte_runtime.run(path_of(name), methods, modes=("keep", "share"), fill=fill)
                  for fill in pte_runtime.FILLS)
    assert one["calls"] != other["calls"]
