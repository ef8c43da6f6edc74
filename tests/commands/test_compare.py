"""`compare`: two result files, paired over cases."""

import json

import pytest

from medbench.scoring.testing import Runs
from tests.commands.run import in_process, on_its_own
from tests.formats.build import as_json, case, result, results, triplet, write_folder


def compared(*args, run=in_process):
    done = run("compare", *args, "--json")
    assert done.status == 0, done.err
    return json.loads(done.out)


@pytest.fixture
def source(testdata):
    return testdata / "data/bundles/tcga-mini"


@pytest.fixture
def large(tmp_path):
    """A bundle of sixty cases, and two files of which the first finds a little more in each."""
    words = " ".join(f"w{i}" for i in range(20))
    cases = [case(f"A-{i}", triplets=[triplet(insight=f"{words} c{i}")]) for i in range(60)]
    for name, extra in (("a", 1), ("b", 0)):
        rows = [result(f"A-{i}", " ".join(f"w{k}" for k in range(5 + i % 12 + extra))) for i in range(60)]
        (tmp_path / f"{name}.json").write_bytes(as_json(results(*rows)))
    return tmp_path / "a.json", tmp_path / "b.json", "--benchmark", write_folder(tmp_path / "bundle", *cases)


def test_a_small_gain_on_every_case_is_found(large):
    found = compared(*large)
    assert found["diff"] == pytest.approx(found["a"]["f1"] - found["b"]["f1"])
    assert 0 < found["ci"][0] < found["diff"] < found["ci"][1]
    assert found["a"]["ci"][0] < found["b"]["ci"][1]  # apart only because they are paired
    assert found["p"] == pytest.approx(1 / 10_001)
    assert (found["n_cases"], found["method"], found["reason"]) == (60, "paired_bootstrap", None)


def test_the_other_way_round_is_the_opposite(large):
    first, second, *benchmark = large
    found, turned = compared(*large), compared(second, first, *benchmark)
    assert turned["diff"] == -found["diff"]
    assert (turned["p"], turned["a"]) == (found["p"], found["b"])


def test_resamples_and_seed_are_chosen_and_told(large):
    found = compared(*large, "--b", "500", "--seed", "3")
    assert (found["resamples"], found["seed"]) == (500, 3)
    assert found["p"] == pytest.approx(1 / 501)
    assert found == compared(*large, "--b", "500", "--seed", "3")


def test_the_real_files_agree_with_score_to_the_last_bit(source):
    files = [source / "results" / f"{name}.json" for name in ("strong", "noisy")]
    found = compared(*files, "--benchmark", source, run=on_its_own)
    for side, file in zip("ab", files, strict=True):
        done = in_process("score", file, "--benchmark", source, "--json")
        assert found[side] == {"f1": json.loads(done.out)["f1"], "ci": None}
    assert (found["method"], found["reason"], found["ci"]) == ("swap_enumeration", "too_few_cases", None)
    assert found["p"] == pytest.approx(2 / 2**8)


def test_people_read_the_difference_and_how_sure_it_is(large):
    done = in_process("compare", *large)
    assert done.status == 0
    assert "p < 0.001, paired bootstrap over cases, 60 cases" in done.out
    first, _, *benchmark = large
    assert "A - B    0.000" in in_process("compare", first, first, *benchmark).out


def test_a_bad_second_file_is_refused_with_its_problems(large, tmp_path):
    first, _, *benchmark = large
    (tmp_path / "bad.json").write_text('{"schema": "medbench.results/1"')
    done = in_process("compare", first, tmp_path / "bad.json", *benchmark, "--json")
    assert done.status == 1
    assert [problem["code"] for problem in json.loads(done.out)["problems"]] == ["bad_json"]


@pytest.mark.parametrize("options", [["--b", "0"], ["--b", "100001"], ["--b", "many"]])
def test_wrong_resamples_are_wrong_usage(large, options):
    assert on_its_own("compare", *large, *options).status == 2


def test_methods_are_told_to_people_by_name():
    from leaderboard.management.commands.compare import METHODS

    names = {Runs([[(0.5, 0.5)] * n], [[1] * n]).method for n in (3, 20, 60)}
    assert names == set(METHODS)
