"""Hostile submissions end with a reason, within limits, and nothing of theirs is run."""

import json
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medbench.clinlens.evaluator.answers import parse_answer, parse_json
from medbench.clinlens.evaluator.failure import Failed
from medbench.clinlens.evaluator.results import evaluate
from medbench.clinlens.evaluator.tables import parse_table
from medbench.clinlens.private import Predicate
from tests.clinlens.build import (
    COHORT,
    GOLDEN,
    LABELS,
    NUMERIC,
    PREDICATES,
    ROWS,
    right_files,
    write_golden,
    write_zip,
    zipped,
)
from tests.clinlens.golden_rows import JSON
from tests.commands.run import ROOT

FOLDER = f"tasks/{GOLDEN}/"


@pytest.mark.parametrize("count", [40, pytest.param(500, marks=pytest.mark.long)])
def test_hostile_archives_end_with_a_reason_within_limits(count):
    """In a process that dies when evaluating takes more than 200 MB, and hears what is run in it."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.clinlens.hostile", str(count)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found["codes"]) == count
    assert found["events"] == []
    kinds = Counter(code.partition(" ")[0] for code in found["codes"])
    assert kinds["refused"]
    assert kinds["C2"]


@given(st.binary(max_size=300))
def test_any_bytes_as_an_answer_are_parsed_or_refused(data):
    for asked in (NUMERIC, LABELS):
        with pytest.raises(Failed) as failure:
            parse_answer(data, GOLDEN, asked)
        assert failure.value.message.isprintable()


SIMPLE = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20)
VALUES = SIMPLE | st.lists(SIMPLE, max_size=3) | st.dictionaries(st.text(max_size=3), SIMPLE, max_size=3)


@given(VALUES)
def test_any_value_as_an_answer_is_a_number_or_refused(value):
    data = json.dumps({"answer": value}).encode()
    try:
        found = parse_answer(data, GOLDEN, NUMERIC)
    except Failed:
        return
    assert isinstance(value, int | float | str)
    assert not isinstance(value, bool)
    assert found.value.is_finite()


def code_of_table(data):
    """The code of a failure, "parsed" for columns of one length; nothing for anything else."""
    try:
        table = parse_table(data, COHORT)
    except Failed as failure:
        return failure.code if failure.message.isprintable() else ""
    return "parsed" if {len(column) for column in table.columns.values()} == {len(table)} else ""


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_text_as_a_table_is_parsed_or_refused(text):
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    for start in (b"", ROWS.encode(), ROWS.encode().splitlines(keepends=True)[0]):
        assert code_of_table(start + data)


@given(
    st.lists(st.sampled_from(['"', ",", "\n", "\r", "NaN", "=1", "1e308", "-", "2150-01-01 00:00", "train"]))
)
def test_any_cells_in_a_row_are_parsed_or_refused(cells):
    assert code_of_table((ROWS + "".join(cells)).encode())


@pytest.mark.parametrize("record", [b"a," * 600_000, b'"\n",' * 300_000], ids=["one-line", "many-lines"])
def test_a_record_of_endless_fields_is_refused_before_they_fill_the_memory(record):
    for data in (record, ROWS.encode() + record):
        with pytest.raises(Failed, match="longer than 1 MB"):
            parse_table(data, COHORT)


def test_deep_json_is_refused_however_small():
    with pytest.raises(Failed, match=r"nested|brackets"):
        parse_json(b'{"answer": ' + b"[" * 1_900 + b"]" * 1_900 + b"}")


def judged(tmp_path, changed, **task):
    roots, suite = write_golden(tmp_path, **task)
    return evaluate(suite, roots, write_zip(tmp_path / "run.zip", right_files(suite) | changed))


def test_a_zip_as_an_artifact_is_not_opened(tmp_path):
    nested = zipped({"artifacts/cohort.csv": ROWS})
    results = judged(tmp_path, {f"{FOLDER}artifacts/cohort.csv": nested})
    assert (results["tasks"][0]["first_failed"], results["tasks"][0]["code"]) == ("C2", "nul_byte")
    results = judged(tmp_path / "beside", {f"{FOLDER}more.zip": nested, "other/x.zip": nested})
    assert results["tasks"][0]["strict_pass"]
    assert results["extra_files"] == ["other/x.zip"]


def test_invented_rows_with_likely_ids_fail(tmp_path):
    invented = ROWS.replace("301", "311").replace("302", "312").replace("303", "313")
    task = judged(tmp_path, {f"{FOLDER}artifacts/cohort.csv": invented.encode()})["tasks"][0]
    assert (task["first_failed"], task["code"], task["conditions"]["C5"]) == ("C4", "P1_keys", "pass")


def test_numbers_that_overflow_fail_a_check_and_not_the_evaluator(tmp_path):
    rho = {"statistic": "spearman", "columns": {"x": "lact", "y": "stay_id"}, "abs": 0.01}
    spread = Predicate("P5_rho", "recompute", "cohort", rho)
    huge = ROWS.replace("2.0", "1e308").replace("3.1", "1.7e308").encode()
    for answer in (b'{"answer": 2.55}', b'{"answer": 9.9e308}'):
        changed = {f"{FOLDER}artifacts/cohort.csv": huge, f"{FOLDER}{JSON}": answer}
        task = judged(tmp_path / str(len(answer)), changed, predicates=(*PREDICATES, spread))["tasks"][0]
        assert (task["evaluated"], task["code"]) == (True, "P4_recompute")
        assert task["failed_predicates"] == ["P4_recompute", "P5_rho"]


def test_results_hold_neither_answer_nor_counts_of_the_reference(tmp_path):
    """What a participant may be shown: code and message. The answer is 2.55, the cohort has 3 rows."""
    lost = "".join(ROWS.splitlines(keepends=True)[:2]).encode()
    changed = {f"{FOLDER}artifacts/cohort.csv": lost, f"{FOLDER}{JSON}": b'{"answer": 7}'}
    results = judged(tmp_path, changed)
    shown = json.dumps({name: results["tasks"][0][name] for name in ("code", "message", "warnings")})
    assert "2.55" not in shown
    assert "3" not in shown.replace("C3", "")
