"""Predicates, statistics, diagnosis and totals, each on rows small enough to check by hand."""

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medbench.clinlens.evaluator.results import evaluate, results_digest
from medbench.clinlens.evaluator.statistics import STATISTICS, auroc, brier
from medbench.clinlens.evaluator.totals import macro, macro_interval, rounded, wilson
from medbench.clinlens.manifest import Artifact, Column, NumericAnswer
from medbench.clinlens.private import Predicate, ReferenceAnswer
from tests.clinlens.build import (
    COHORT,
    KEYS,
    PREDICATES,
    ROWS,
    mutant,
    right_files,
    write_folder,
    write_golden,
    write_zip,
)

PAIRS = Artifact(
    "cohort",
    "one row for each admission",
    ("hadm_id",),
    (
        Column("subject_id", "int64"),
        Column("hadm_id", "int64"),
        Column("t0", "timestamp"),
        Column("first", "timestamp", nullable=True),
        Column("hours", "float64", nullable=True),
        Column("measured", "bool"),
        Column("died", "bool"),
        Column("n", "int64"),
        Column("day", "date", nullable=True),
        Column("note", "string", nullable=True),
    ),
)
PAIR_ROWS = """subject_id,hadm_id,t0,first,hours,measured,died,n,day,note
1,21,2150-01-01 00:00:00,2150-01-01 06:30:00,6.5,1,true,4,2150-01-02,None
2,22,2150-02-01 00:00:00,,,0,false,3,,
3,23,2150-03-01 12:00:00,2150-03-01 12:00:00,0,True,False,3,2150-03-01,x
"""


def judge(folder, *, rows=None, answer="2.55", reference=ROWS, **task):
    """The result of one task for rows and an answer handed in, by default those of the reference."""
    roots, suite = write_golden(folder, rows=reference, **task)
    files = right_files(suite, answer=f'{{"answer": {answer}}}'.encode(), rows=rows or reference)
    return evaluate(suite, roots, write_zip(folder / "run.zip", files))["tasks"][0]


BETWEEN = "2150-01-02,None\n2,22,2150-02-01 00:00:00,,,0,false,"  # two cells of n
CHECKS = [
    # kind, options, what is changed, what is allowed to change
    ("anchor_equals", {"columns": ["t0"]}, ("2150-02-01 00", "2150-02-01 01"), (",4,", ",5,")),
    ("ownership", {"columns": ["subject_id"]}, ("2,22", "3,22"), (",4,", ",5,")),
    ("label_match", {"columns": ["died", "note"]}, (",true,", ",false,"), ("6.5", "6.6")),
    ("label_match", {"columns": ["note"]}, (",None\n", ",\n"), ("6.5", "6.6")),
    ("values_match", {"column": "hours", "abs": 0.1}, ("6.5", "6.7"), ("6.5", "6.6")),
    ("values_match", {"column": "hours", "abs": 0, "rel": 0.1}, ("6.5", "7.2"), ("6.5", "7.1")),
    ("values_match", {"column": "hours", "abs": 0.1}, ("6.5", ""), ("6.5", "6.45")),
    ("values_match", {"column": "n", "abs": 0, "min_fraction": 0.6},
     (f"4,{BETWEEN}3", f"9,{BETWEEN}9"),
     (",4,", ",9,")),
    ("sums_to", {"column": "n", "total": 10}, (",4,", ",5,"), ("6.5", "7")),
    ("domain", {"column": "hours", "min": 0, "max": 24}, ("6.5", "24.5"), ("6.5", "24")),
    ("row_formula", {"formula": "hours_between", "abs": 0.02,
                     "columns": {"start": "t0", "end": "first", "result": "hours"}},
     ("6.5", "6.6"), ("6.5", "6.51")),
    ("row_formula", {"formula": "null_unless", "abs": 0, "columns": {"flag": "measured", "value": "first"}},
     (",0,false", ",1,false"), ("6.5", "9")),
    ("time_window", {"column": "first", "start": {"anchor": "t0", "hours": 0}, "end": None, "closed": "both"},
     ("2150-03-01 12:00:00,0", "2150-03-01 11:59:59,0"), ("2150-01-01 06", "2159-01-01 06")),
    ("time_window", {"column": "first", "start": {"anchor": "t0", "hours": -1}, "closed": "both",
                     "end": {"anchor": "t0", "hours": 7}},
     ("2150-01-01 06:30:00", "2150-01-01 07:00:01"), ("2150-01-01 06:30:00", "2150-01-01 07:00:00")),
    ("time_window", {"column": "day", "start": None, "end": {"anchor": "t0", "hours": 24}, "closed": "right"},
     ("2150-01-02", "2150-01-03"), ("2150-01-02", "2150-01-01")),
    ("feature_time_before", {"column": "first", "anchor": "t0", "or_equal": True},
     ("2150-03-01 12:00:00,0", "2150-03-01 12:00:01,0"), ("2150-03-01 12:00:00,0", "2150-03-01 11:00:00,0")),
    ("recompute", {"statistic": "median", "columns": {"value": "hours"}, "abs": 0.01},
     ("6.5", "7.5"), ("6.5", "6.51")),
    ("recompute", {"statistic": "mean", "columns": {"value": "n"}, "abs": 0.01, "where": {"died": False}},
     (",3,", ",4,"), (",4,", ",9,")),
    ("score_recompute", {"measure": "brier", "label": "died", "score": "n", "abs": 0.001},
     (",4,", ",5,"), ("6.5", "9")),
]  # fmt: skip
ANSWERS = {"median": "3.25", "mean": "3"}


@pytest.mark.parametrize(("kind", "options", "wrong", "allowed"), CHECKS, ids=range(len(CHECKS)))
def test_a_predicate_finds_its_mistake_and_no_other(tmp_path, kind, options, wrong, allowed):
    answer = ANSWERS.get(options.get("statistic"), "9" if kind == "score_recompute" else "2.55")
    base = PAIR_ROWS if kind != "feature_time_before" else PAIR_ROWS.replace("2150-01-01 06", "2149-12-31 06")
    right = ReferenceAnswer(answer, Decimal("0.005"), Decimal(0))
    predicates = (KEYS, Predicate("P2", kind, "cohort", options))
    task = {"artifact": PAIRS, "predicates": predicates, "right": right, "reference": base, "answer": answer}
    codes = []
    for old, new in (("", ""), wrong, allowed):
        assert old in base
        folder = tmp_path / f"run{len(codes)}"
        codes.append(judge(folder, rows=base.replace(old, new, 1), **task)["code"])
    assert codes == [None, "P2", None]


def test_statistics_against_values_by_hand():
    def of(name, parameters=None, **roles):
        return STATISTICS[name][1](roles, parameters or {})

    assert of("mean", value=[1, 2, 6]) == 3
    assert of("median", value=[1, 2, 3, 10]) == 2.5
    assert of("percentile", {"q": 75}, value=[0, 1, 2, 3]) == 2.25
    assert of("percent_at_least", {"cut": 2}, value=[1, 2, 3, 0]) == 50
    assert of("percent_above", {"cut": 2}, value=[1, 2, 3, 0]) == 25
    # average ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4
    assert of("spearman", x=[1, 5, 5, 9], y=[1, 2, 3, 4]) == pytest.approx(4.5 / math.sqrt(4.5 * 5))
    assert of("odds_ratio", exposed=[1, 1, 1, 0, 0, 0], event=[1, 1, 0, 1, 0, 0]) == 4
    assert of("odds_ratio", exposed=[1, 1, 0, 0], event=[1, 1, 0, 0]) == 25  # 2.5 x 2.5 / 0.5 / 0.5
    assert of("concordance", value=[1, 2, 2, 3], group=[0, 0, 1, 1]) == 0.875
    assert of("difference_of_mean_change", before=[0, 0, 0], after=[5, 1, 3], group=[1, 0, 0]) == 3
    assert auroc([0, 1], [0.4, 0.4]) == 0.5
    assert brier([0, 1], [0.5, 1]) == 0.125


@pytest.mark.parametrize("name", sorted(STATISTICS))
def test_an_undefined_statistic_is_none(name):
    roles, work = STATISTICS[name]
    answer = work({role: [] for role in roles}, {"q": 50, "cut": 1})
    assert answer is None or name == "odds_ratio"  # of four empty cells it is 1


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=30))
def test_auroc_is_the_share_of_pairs_in_order(rows):
    positive = [score for label, score in rows if label]
    negative = [score for label, score in rows if not label]
    pairs_in_order = [(p > n) + (p == n) / 2 for p in positive for n in negative]
    value = auroc([label for label, _ in rows], [score for _, score in rows])
    if not pairs_in_order:
        assert value is None
    else:
        assert value == pytest.approx(sum(pairs_in_order) / len(pairs_in_order))


EDGE = ROWS.replace("2151-03-02 09:59:00", "2151-03-02 10:00:00")
EXTRA = ROWS + "10000013,304,2153-03-01 10:00:00,,train,\n"
MUTANTS = (
    mutant("MEAN_FOR_MEDIAN", "2.60"),
    mutant("ALL_STAYS", "2.55", EXTRA, "row_count"),
    mutant("HOME_MADE", "9.0"),
)
DIAGNOSES = [
    ({"answer": '"two"'}, {"FORMAT"}),
    ({"rows": ROWS + ROWS.splitlines()[1] + "\n"}, {"DUPLICATION"}),
    ({"rows": "".join(ROWS.splitlines(keepends=True)[:3])}, {"POPULATION_MISSING"}),
    ({"rows": EXTRA}, {"POPULATION_EXTRA", "ALL_STAYS"}),
    ({"rows": ROWS.replace(",303,", ",304,")}, {"POPULATION_MISSING", "POPULATION_EXTRA"}),
    ({"rows": EDGE}, {"WINDOW_LATE"}),
    ({"rows": ROWS.replace("2150-01-01 05", "2149-12-30 05")}, {"WINDOW_EARLY"}),
    ({"rows": ROWS.replace(",test,", ",train,")}, {"SPLIT_LEAK"}),
    ({"answer": "2.604"}, {"MEAN_FOR_MEDIAN", "INCONSISTENT"}),
    ({"answer": "9"}, {"HOME_MADE", "INCONSISTENT"}),
    ({"answer": "255"}, {"SCALE", "INCONSISTENT"}),
    ({"answer": "0.00255"}, {"SCALE", "INCONSISTENT"}),
    ({"answer": "-2.55"}, {"SIGN", "INCONSISTENT"}),
    ({"answer": "2.59"}, {"ROUNDING_OR_METHOD", "INCONSISTENT"}),
    ({"answer": "77"}, {"UNEXPLAINED", "INCONSISTENT"}),
    ({}, set()),
]


@pytest.mark.parametrize(("handed", "classes"), DIAGNOSES, ids=range(len(DIAGNOSES)))
def test_a_mistake_is_named(tmp_path, handed, classes):
    task = judge(tmp_path, mutants=MUTANTS, **handed)
    assert set(task["diagnosis"]) == classes
    assert task["strict_pass"] == (not classes)


def test_a_closed_window_is_told_in_words(tmp_path):
    task = judge(tmp_path, rows=EDGE)
    assert task["hints"] == ["times lie after the window (1 of 2 rows): your window includes its end"]


def test_the_mutant_of_a_closed_window_is_told_in_words(tmp_path):
    without_recompute = PREDICATES[:3]
    closed = mutant("WINDOW_CLOSED", "2.7")
    task = judge(tmp_path, answer="2.7", mutants=(closed,), predicates=without_recompute)
    assert (task["code"], task["hints"]) == ("outside_tolerance", ["your window includes its end"])


def test_how_far_times_lie_outside_is_told_in_the_median(tmp_path):
    late = ROWS.replace("2150-01-01 05:00", "2150-01-02 06:00").replace(
        "2151-03-02 09:59", "2151-03-02 12:00"
    )
    assert "by 4 h in the median" in judge(tmp_path, rows=late)["hints"][0]


def test_counts_must_be_met_exactly(tmp_path):
    right = ReferenceAnswer("3")
    task = {"asked": NumericAnswer("stays", 0, integer=True), "right": right, "predicates": (KEYS,)}
    codes = [judge(tmp_path / text, answer=text, **task)["code"] for text in ("3", "3.0", "4", "2.9999999")]
    assert codes == [None, None, "outside_tolerance", "not_integer"]


def test_a_relative_tolerance_is_of_the_reference(tmp_path):
    right = ReferenceAnswer("200", Decimal(0), Decimal("0.002"))
    task = {"right": right, "predicates": (KEYS,)}
    codes = [judge(tmp_path / text, answer=text, **task)["code"] for text in ("200.4", "199.6", "200.41")]
    assert codes == [None, None, "outside_tolerance"]


def test_a_forbidden_extra_column_fails(tmp_path):
    strict = replace(COHORT, extra_columns="forbid")
    rows = "\n".join(f"{line},x{number}" for number, line in enumerate(ROWS.splitlines())) + "\n"
    assert judge(tmp_path, rows=rows, artifact=strict)["code"] == "extra_column"


def test_a_folder_is_judged_like_the_archive_of_it(tmp_path):
    roots, suite = write_golden(tmp_path)
    files = right_files(suite)
    results = [
        evaluate(suite, roots, path)
        for path in (write_zip(tmp_path / "run.zip", files), write_folder(tmp_path / "run", files))
    ]
    assert results[0]["tasks"][0]["strict_pass"]
    tasks = [{**result["tasks"][0], "seconds": 0} for result in results]
    assert tasks[0] == tasks[1]


def test_results_are_the_same_whatever_time_they_took(tmp_path):
    roots, suite = write_golden(tmp_path)
    path = write_zip(tmp_path / "run.zip", right_files(suite))
    one, other = (evaluate(suite, roots, path) for _ in range(2))
    assert one["digest"] == other["digest"] == results_digest(other)
    other["tasks"][0]["seconds"] += 7
    assert results_digest(other) == one["digest"]
    other["tasks"][0]["strict_pass"] = False
    assert results_digest(other) != one["digest"]


@pytest.mark.parametrize(
    ("value", "shown"), [("1/2000", "0.001"), ("1/2001", "0.000"), ("13/37", "0.351"), ("1", "1.000")]
)
def test_halves_are_rounded_up_once(value, shown):
    assert rounded(Fraction(value), 3) == shown


def test_the_interval_of_the_papers_best_system():
    """Design, section 4.9: about 0.478 to 0.647."""
    low, high = macro_interval([(13, 37), (17, 31), (12, 22), (29, 36)])
    assert low == pytest.approx(0.478, abs=0.003)
    assert high == pytest.approx(0.647, abs=0.003)
    assert macro_interval([(37, 37), (31, 31), (22, 22), (36, 36)]) == (1, 1)
    assert macro_interval([(1, 2), (0, 0)]) is None


def test_wilson_against_a_textbook_value():
    """12 of 22: 0.347 to 0.731, as in the design's example."""
    assert wilson(12, 22) == pytest.approx((0.347, 0.731), abs=0.0005)
    assert wilson(0, 0) is None
    assert wilson(0, 5)[0] == pytest.approx(0, abs=1e-12)
    assert wilson(5, 5)[1] == pytest.approx(1, abs=1e-12)


@given(st.lists(st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1))
def test_macro_is_the_mean_of_exact_fractions(counts):
    assert macro(counts) * len(counts) == sum(Fraction(met, n) for met, n in counts)
