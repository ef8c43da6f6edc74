"""`validate_results`: everything that is wrong with a file, before anyone submits it."""

import json

import pytest

from tests.commands.run import in_process, on_its_own
from tests.formats.build import as_json, as_jsonl, case, result, results, write_folder


@pytest.fixture
def bundle(tmp_path):
    return write_folder(tmp_path / "bundle", case("A-1"), case("A-2"))


@pytest.fixture
def validate(bundle, tmp_path):
    """Validate bytes or a document; answers the whole process."""

    def run(data, *options, run=in_process):
        file = tmp_path / "results.json"
        file.write_bytes(data if isinstance(data, bytes) else as_json(data))
        return run("validate_results", file, "--benchmark", bundle, *options)

    return run


SOUND = results(result("A-1", "one", "one"), result("A-2", "two"))
WRONG = results(result("A-1", 5), result("A-22", "two"))


def test_a_sound_file_is_ok_with_its_warnings(validate):
    done = validate(SOUND, "--json")
    assert done.status == 0
    answer = json.loads(done.out)
    assert (answer["ok"], answer["problems"]) == (True, [])
    assert [(warning["code"], warning["field"]) for warning in answer["warnings"]] == [
        ("duplicate_insight", "insights[1]")
    ]
    assert done.err == ""


def test_a_wrong_file_ends_with_1_and_every_problem(validate):
    done = validate(as_jsonl(WRONG), "--json")
    assert done.status == 1
    answer = json.loads(done.out)
    assert answer["ok"] is False
    assert [(p["code"], p["file"], p["line"], p["case_id"], p["field"]) for p in answer["problems"]] == [
        ("wrong_type", "results.json", 2, "A-1", "insights[0]"),
        ("unknown_case", "results.json", 3, "A-22", "case_id"),
    ]
    assert "2 problems" in done.err


def test_people_read_lines(validate):
    assert "Can be scored: 2 of 2 cases, 3 insights, 1 warning." in validate(SOUND).out
    done = validate(WRONG)
    assert done.status == 1
    assert "Problem: results.json · line 1 · A-22 · case_id · unknown_case: " in done.err
    assert "Nearest: A-2." in done.err
    assert done.out == ""


def test_more_problems_than_are_shown_are_counted(validate):
    done = validate(results(*(result(f"X-{i}", "x") for i in range(103))))
    assert "100 of 103 shown." in done.err
    answer = json.loads(validate(results(*(result(f"X-{i}", "x") for i in range(103))), "--json").out)
    assert (answer["n_problems"], len(answer["problems"])) == (103, 100)


def test_the_limits_are_the_sites(validate, settings):
    settings.INSIGHT_MAX_CHARACTERS = 2
    settings.INSIGHTS_MAX_PER_CASE = 1
    codes = [problem["code"] for problem in json.loads(validate(SOUND, "--json").out)["problems"]]
    assert codes == ["too_many_insights", "insight_too_long", "insight_too_long"]
    settings.RESULT_FILE_MAX_BYTES = 10
    codes = [problem["code"] for problem in json.loads(validate(SOUND, "--json").out)["problems"]]
    assert codes == ["too_large"]


def test_a_file_that_is_not_there_is_refused(bundle, tmp_path):
    done = in_process("validate_results", tmp_path / "none.json", "--benchmark", bundle, "--json")
    assert done.status == 1
    assert [problem["code"] for problem in json.loads(done.out)["problems"]] == ["file_missing"]
    assert "cannot be read" in done.err


def test_a_wrong_bundle_is_refused_with_its_problems(bundle, tmp_path, validate):
    (bundle / "cases.jsonl").write_bytes(as_json(case(difficulty=9)))
    done = validate(SOUND, "--json")
    assert done.status == 1
    (problem,) = json.loads(done.out)["problems"]
    assert (problem["code"], problem["file"], problem["line"]) == ("bad_value", "cases.jsonl", 1)


def test_as_a_process_it_needs_no_database_and_prints_one_object(validate):
    done = validate(SOUND, "--json", run=on_its_own)
    assert done.status == 0
    assert json.loads(done.out)["ok"] is True
    done = validate(WRONG, "--json", run=on_its_own)
    assert done.status == 1
    assert json.loads(done.out)["ok"] is False
    assert "Traceback" not in done.err
