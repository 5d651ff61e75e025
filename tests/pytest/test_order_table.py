"""Orders of graphs of real size (bench/order_table.py): what is found, and how good it is proven to
be. The checker follows every proof, or the solver fails."""

import sys

import pytest
from conftest import CORPUS, DATA, ROOT
from drawn import some

sys.path.insert(0, str(ROOT / "bench"))

import order_formats  # noqa: E402
import order_problems  # noqa: E402
import order_table  # noqa: E402


@pytest.fixture(scope="module")
def solver(tmp_path_factory):
    return order_problems.build_solver(tmp_path_factory.mktemp("order"))


@pytest.mark.parametrize("kind", [order_problems.cells, order_problems.tree,
                                  order_problems.training])
def test_ten_thousand_ops_come_within_a_percent_of_the_bound(solver, kind):
    problem = order_problems.generated(kind, 10000, 1)
    found = order_problems.solve(solver, problem)
    assert found["peak"] <= 1.01 * found["bound"]
    assert found["peak"] <= min(found["ways"].values())
    assert found["effort"] < 40_000_000  # two seconds of an idle machine for half of it


def test_the_same_problem_gives_the_same_answer(solver):
    problem = order_problems.generated(order_problems.tangle, 1000, 1)
    answers = [order_problems.solve(solver, problem, 2000000) for _ in range(2)]
    timeless = [{k: v for k, v in row.items() if "seconds" not in k} for row in answers]
    assert timeless[0] == timeless[1]


def test_more_effort_never_gives_a_worse_order(solver):
    problem = order_problems.generated(order_problems.branches, 1000, 1)
    peaks = [order_problems.solve(solver, problem, effort)["peak"]
             for effort in (1, 100000, 10000000)]
    assert peaks == sorted(peaks, reverse=True)


# Where simple ways are far from the best, and where rights and updates matter.
PROVEN = [("nasnetalarge_inf_b1", "v1", 34.19), ("randwire_small_s0", "v0", 3.91),
          ("randwire_small_s0", "v1", 3.67), ("selecsls42b_inf_b1", "v3", 4.01),
          ("dpn92_inf_b1", "c0", 12.64), ("dpn92_inf_b1", "v0", 14.85),
          ("tv_alexnet_train_b32", "v0-sgd", 153), ("roberta_base_train_b1", "v1-sgd", 245),
          ("swin_tiny_patch4_window7_224_train_b32", "wb", 3707),
          ("llama405b_train_b1", "v1-sgd", 2052472)]


@pytest.mark.parametrize(("name", "mode", "millions"), some(pytest.param(*of, id="-".join(of[:2])) for of in PROVEN))
def test_orders_of_real_graphs_are_proven_best(solver, name, mode, millions):
    if not (CORPUS / "graphs").is_dir():
        pytest.skip(order_table.corpus.HINT)
    graph = order_problems.load(CORPUS / "graphs", name)
    found = order_problems.solve(solver, order_problems.of_graph(graph, mode))
    assert found["peak"] == found["bound"]
    digits = len(str(millions).partition(".")[2])
    assert round(found["peak"] / 1e6, digits) == millions


def test_a_remade_graph_is_the_one_that_it_stands_for():
    """A batch of 32 made of a batch of one, where both are there."""
    if not (CORPUS / "graphs").is_dir():
        pytest.skip(order_table.corpus.HINT)
    one = order_problems.load(CORPUS / "graphs", "tv_vgg11_train_b1")
    many = order_problems.load(CORPUS / "graphs", "tv_vgg11_train_b32")
    made = order_problems.resized(one, "", order_problems.batch_of_32)
    assert [t["bytes"] for t in made["tensors"]] == [t["bytes"] for t in many["tensors"]]


def test_the_table_has_a_row_for_each_problem(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["order_table.py", "--generated", "60", "--seeds", "2"])
    order_table.main()
    printed = capsys.readouterr().out
    assert printed.count("\n| ") == 1 + 2 * len(order_problems.GENERATED) - 1
    assert "of 10 proven" in printed


def test_files_that_another_order_helps_are_in_their_table(capsys, monkeypatch):
    files = [str(DATA / "pte" / f"{name}.pte") for name in ("side_by_side", "two_methods", "lists", "condition")]
    files.append(str(DATA / "pt2" / "parts.pt2"))
    monkeypatch.setattr(sys, "argv", ["order_formats.py", *files])
    order_formats.main()
    printed = capsys.readouterr().out
    assert "| side_by_side.pte | 2,832 | 2,256 | 1,440 | 1,440 | 0 | yes |" in printed
    assert "lists.pte" not in printed
    assert "| parts.pt2 | 113,664 | 113,664 | 82,944 | 82,944 | 1 | yes |" in printed
    assert ("5 files: the orders of 5 are known, an order helps 2, and 4 of the best orders are proven, "
            "1 more among those between jumps") in printed
