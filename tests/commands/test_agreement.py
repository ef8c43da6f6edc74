"""`agreement`: the contract's numbers from a ratings table, without a database."""

import json

import pytest

from tests.commands.run import in_process, on_its_own

FORMS = {"ICC(1)", "ICC(k)", "ICC(A,1)", "ICC(A,k)", "ICC(C,1)", "ICC(C,k)"}


@pytest.fixture
def tables(testdata):
    return testdata / "data/ratings"


def answer(table, level, *options, run=in_process):
    done = run("agreement", table, "--level", level, "--json", *options)
    assert done.status == 0, done.err
    return json.loads(done.out)


def test_it_prints_what_the_contract_says(tables):
    found = answer(tables / "krippendorff_2011_4x12.csv", "ordinal", run=on_its_own)
    assert [found[name] for name in ("n_items", "n_annotators", "n_ratings", "n_pairable")] == [12, 4, 41, 11]
    assert found["percent_agreement"] == pytest.approx(0.818182, abs=1e-6)
    assert found["alpha"]["value"] == pytest.approx(0.815388, abs=1e-6)
    assert found["alpha"]["ci"][0] < found["alpha"]["value"] <= found["alpha"]["ci"][1]
    assert found["alpha"]["reason"] is None
    assert found["icc"].keys() >= {*FORMS, "method"}
    assert found["icc"]["method"] == "reml"
    for form in FORMS:
        assert found["icc"][form].keys() >= {"value", "ci", "reason"}
    assert found["pearson"].keys() >= {"mean", "fisher_mean", "n_pairs", "n_excluded"}
    assert found["b"] == 2_000


def test_seed_and_resamples_are_the_users(tables):
    table = tables / "hayes_krippendorff_2007_5x40.csv"
    first = answer(table, "nominal", "--seed", "7", "--b", "300")
    assert first == answer(table, "nominal", "--seed", "7", "--b", "300")
    other = answer(table, "nominal", "--seed", "8", "--b", "300")
    assert other["alpha"]["value"] == first["alpha"]["value"]
    assert other["alpha"]["ci"] != first["alpha"]["ci"]
    assert (first["seed"], first["b"]) == (7, 300)


def test_words_in_order(tmp_path):
    table = tmp_path / "grades.csv"
    table.write_text("item,annotator,rating\n1,A,low\n1,B,high\n2,A,mid\n2,B,mid\n3,A,high\n3,B,high\n")
    found = answer(table, "ordinal", "--order", "low,mid,high")
    assert found["labels"] == ["low", "mid", "high"]
    refused = in_process("agreement", table, "--level", "ordinal", "--json")
    assert refused.status == 1
    (problem,) = json.loads(refused.out)["problems"]
    assert problem["code"] == "order_needed"
    assert "name their order" in refused.err


def test_people_get_a_line_for_each_coefficient(tables):
    done = in_process("agreement", tables / "shrout_fleiss_1979.csv", "--level", "interval", "--b", "200")
    assert done.status == 0
    lines = {line.rsplit("  ", 1)[0].strip(): line for line in done.out.splitlines()}
    assert any(line.startswith("ICC(A,1)") and "0.290  [0.019, 0.761]" in line for line in lines.values())
    assert "ICC by anova, k = 4 · 200 resamples of items, seed 0" in done.out
    assert "! Raters use the scale at different levels" in done.out


def test_undefined_is_a_dash_with_its_reason(tables):
    done = in_process("agreement", tables / "made_up_no_variation.csv", "--level", "nominal")
    assert done.status == 0
    assert "–  no_variation" in done.out
    assert "nan" not in done.out.casefold()


def test_a_rating_twice_is_refused_with_its_line(tmp_path):
    table = tmp_path / "twice.csv"
    table.write_text("item,annotator,rating\n1,A,2\n1,B,2\n1,A,3\n")
    done = in_process("agreement", table, "--level", "nominal")
    assert (done.status, done.out) == (1, "")
    assert "twice.csv · line 4 · item · duplicate_rating: “A” rated “1” on line 2 already." in done.err
    told = json.loads(in_process("agreement", table, "--level", "nominal", "--json").out)
    assert (told["n_problems"], told["problems"][0]["line"]) == (1, 4)


def test_a_file_that_is_not_there(tmp_path):
    done = in_process("agreement", tmp_path / "none.csv", "--level", "nominal")
    assert done.status == 1
    assert "cannot be read: No such file" in done.err


def test_wrong_usage_is_2(tables):
    done = on_its_own("agreement", tables / "shrout_fleiss_1979.csv", "--level", "intervall")
    assert done.status == 2
    assert "usage: manage.py agreement" in done.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "required: --level"),
        (["--level", "nominal", "--b", "0"], "a whole number of 1 or more"),
        (["--level", "nominal", "--seed", "-1"], "--seed"),
        (["--level", "ordinal", "--order", "a,,b"], "ratings with commas between them"),
    ],
)
def test_wrong_options_are_told(tables, options, said):
    done = in_process("agreement", tables / "shrout_fleiss_1979.csv", *options)
    assert done.status != 0
    assert said in done.err
