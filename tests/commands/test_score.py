"""`score`: the contract's numbers, from a bundle without a database or from the newest release."""

import json
from dataclasses import replace

import pytest

from medbench.cases.services import import_benchmark
from medbench.formats.bundle import read_bundle
from tests.commands.run import in_process, on_its_own
from tests.formats.build import as_json, case, result, results, triplet, write_folder, write_zip

NUMBERS = ("recall", "precision", "f1", "mean_case_f1")
COUNTS = ("n_cases", "n_missing_cases", "n_empty_cases", "n_empty_removed", "n_duplicates_removed")
KEYS = {
    *NUMBERS,
    *COUNTS,
    "profile",
    "recall_micro",
    "precision_micro",
    "ci",
    "novelty",
    "redundancy",
    "cases",
}


@pytest.fixture
def source(testdata):
    return testdata / "data/bundles/tcga-mini"


def scored(file, benchmark, *options, run=in_process):
    done = run("score", file, "--benchmark", benchmark, "--json", *options)
    assert done.status == 0, done.err
    return json.loads(done.out)


@pytest.mark.parametrize("name", ["strong.json", "generic.json", "noisy.json"])
def test_the_real_files_get_the_expected_scores(source, name):
    expected = json.loads((source / "results/expected_rouge1.json").read_text())["results"][name]
    found = scored(source / "results" / name, source)
    assert found.keys() >= KEYS
    assert found["profile"] == "parity-ascii"
    for number in NUMBERS:
        assert found[number] == pytest.approx(expected[number], abs=1e-9)
    assert [found[count] for count in COUNTS] == [expected[count] for count in COUNTS]
    for case_, wanted in zip(found["cases"], expected["cases"], strict=True):
        assert case_["case_id"] == wanted["case_id"]
        assert (case_["n_gt"], case_["n_pred"]) == (wanted["n_reference"], wanted["n_scored"])
        for number in ("recall", "precision", "f1"):
            assert case_[number] == pytest.approx(wanted[number], abs=1e-9)


def test_what_is_undefined_is_null_with_its_reason(source):
    found = scored(source / "results/noisy.json", source)
    assert found["ci"] == {"recall": None, "precision": None, "f1": None, "reason": "too_few_cases"}
    novelty = found["novelty"]
    assert (novelty["tau"], novelty["innovation"], novelty["reason"]) == (0.25, None, "lexical_provisional")
    assert 0 <= novelty["original"] <= 1
    assert found["redundancy"]["reasons"] == {}


def test_a_file_without_outputs_scores_0_and_has_no_redundancy(source, tmp_path):
    (tmp_path / "none.json").write_bytes(as_json(results()))
    found = scored(tmp_path / "none.json", source)
    assert [found[number] for number in NUMBERS] == [0, 0, 0, 0]
    assert found["n_missing_cases"] == 8
    assert found["novelty"]["original"] == 0
    assert found["redundancy"] == {
        "tfidf_cosine": None,
        "self_bleu": None,
        "distinct_2": None,
        "reasons": {
            "tfidf_cosine": "too_few_texts",
            "self_bleu": "too_few_texts",
            "distinct_2": "no_bigram",
        },
    }


@pytest.fixture
def large(tmp_path):
    """A bundle of twelve cases and a result file that finds more in some of them."""
    cases = [case(f"A-{i}", triplets=[triplet(insight=f"finding w{i} is present")]) for i in range(12)]
    rows = [result(f"A-{i}", f"finding w{i % 5} is there{' x' * i}") for i in range(12)]
    (tmp_path / "file.json").write_bytes(as_json(results(*rows)))
    return tmp_path / "file.json", write_folder(tmp_path / "bundle", *cases)


def test_intervals_hold_the_score_and_follow_the_seed(large):
    found = scored(*large)
    for number in ("recall", "precision", "f1"):
        low, high = found["ci"][number]
        assert 0 < low < found[number] < high <= 1
    assert found["ci"]["reason"] is None
    assert scored(*large) == found
    other = scored(*large, "--seed", "7")
    assert other["seed"] == 7
    assert other["ci"] != found["ci"]
    assert other["cases"] == found["cases"]
    assert scored(*large, "--seed", "7") == other


def test_profiles_differ_and_are_named(source):
    by_profile = {
        profile: scored(source / "results/noisy.json", source, "--profile", profile)
        for profile in ("parity-ascii", "unicode", "porter")
    }
    assert [found["profile"] for found in by_profile.values()] == list(by_profile)
    assert len({found["f1"] for found in by_profile.values()}) == 3


def test_an_archive_scores_like_its_folder(large, tmp_path):
    file, folder = large
    cases = [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()]
    assert scored(file, write_zip(tmp_path / "b.zip", *cases)) == scored(file, folder)


def test_people_read_a_table(source):
    done = in_process("score", source / "results/noisy.json", "--benchmark", source)
    assert done.status == 0
    assert "F1        0.201  no interval: too_few_cases" in done.out
    assert "TCGA-XK-AAJU     7     3   0.178      0.246  0.207" in done.out
    assert "Unchecked Export · example-vlm-3b (β)" in done.out
    assert "Warning: noisy.json · line 13 · TCGA-CR-7395 · insights[1] · duplicate_insight" in done.err


def test_a_hostile_name_cannot_steer_the_terminal(source, tmp_path):
    (tmp_path / "f.json").write_bytes(as_json(results(method="\x1b[2J\u202eevil", backbone="a\nb")))
    done = in_process("score", tmp_path / "f.json", "--benchmark", source)
    assert done.status == 0
    assert all(line.isprintable() for line in done.out.splitlines())


def test_no_database_is_needed_with_a_bundle(source):
    found = scored(source / "results/strong.json", source, run=on_its_own)
    assert found["f1"] == pytest.approx(0.6338358919932628, abs=1e-9)


def test_without_a_database_a_name_is_refused_clearly(source):
    done = on_its_own("score", source / "results/strong.json", "--benchmark", "tcga-mini", "--json")
    assert done.status == 1
    assert [problem["code"] for problem in json.loads(done.out)["problems"]] == ["unavailable"]
    assert "Traceback" not in done.err


@pytest.mark.parametrize("options", [[], ["x.json", "--benchmark", "b", "--seed", "-1"]])
def test_wrong_usage_ends_with_2(options):
    assert on_its_own("score", *options).status == 2


def without_slides(bundle):
    return replace(bundle, slides={}, cases=tuple(replace(each, slide=None) for each in bundle.cases))


@pytest.fixture
def release(ada, source):
    """The real benchmark in the database, with half of its cases held out."""
    bundle = without_slides(read_bundle(source))
    cases = tuple(replace(each, split="heldout" if i % 2 else "open") for i, each in enumerate(bundle.cases))
    ada.is_superuser = True
    return import_benchmark(replace(bundle, cases=cases), by=ada).release


@pytest.mark.usefixtures("release")
def test_a_benchmark_of_the_site_scores_like_its_bundle(source):
    file = source / "results/noisy.json"
    assert scored(file, "tcga-mini") == scored(file, source)


@pytest.mark.usefixtures("release")
def test_a_name_that_is_no_benchmark_is_refused(source):
    done = in_process("score", source / "results/noisy.json", "--benchmark", "tcga-maxi")
    assert done.status == 1
    assert "neither a bundle here nor a benchmark" in done.err
