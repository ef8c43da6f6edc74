"""The 20 templates: closed questions, references that are right, wrong programs that are wrong."""

import re
from dataclasses import replace
from datetime import datetime
from decimal import Decimal

import duckdb
import numpy as np
import pytest
from scipy import optimize

from medbench.clinlens.evaluator.formulas import FORMULAS
from medbench.clinlens.evaluator.statistics import STATISTICS
from medbench.clinlens.evaluator.statistics import auroc as evaluator_auroc
from medbench.clinlens.layout import CAPABILITIES, SCOPES
from medbench.clinlens.manifest import CategoricalAnswer
from medbench.clinlens.templates import TEMPLATES, runner
from medbench.clinlens.templates.conventions import CONVENTIONS
from medbench.clinlens.templates.core import PARAGRAPHS
from medbench.errors import InvalidInput
from tests.clinlens.suites import STRUCTURED

FORMS = {
    f"{form.id} {form.form}".strip(): form for usual in TEMPLATES.values() for form in (usual, *usual.forms)
}
ALL = pytest.mark.parametrize("name", FORMS)


def test_there_are_four_scopes_by_five_capabilities():
    assert set(TEMPLATES) == {f"{scope}-{capability}" for scope in SCOPES for capability in CAPABILITIES}


def test_three_templates_are_categorical_so_that_thirty_of_two_hundred_tasks_are():
    kinds = {name: template.answer(template.grid[0]) for name, template in TEMPLATES.items()}
    categorical = {name for name, answer in kinds.items() if isinstance(answer, CategoricalAnswer)}
    assert categorical == {"WHP-PHN", "ICU-PHN", "EVT-PHN"}
    assert all(len(kinds[name].labels) == 5 for name in categorical)


@ALL
def test_a_grid_has_enough_instances_to_reject_some(name):
    grid = FORMS[name].grid
    assert len(grid) >= 24
    assert len({str(sorted(each.items(), key=str)) for each in grid}) == len(grid)


@ALL
def test_every_choice_of_the_question_is_closed(name):
    template = FORMS[name]
    for parameters in template.grid:
        text = template.question(parameters | {"index": 15000001})
        assert "$" not in text
        assert all(f"`{column.name}` (" in text for each in template.artifacts for column in each.columns)
        assert "first day" not in text  # public recipes mean two different windows by it
    assert set(template.conventions) <= set(CONVENTIONS)


@pytest.mark.parametrize("paragraph", PARAGRAPHS)
def test_a_question_that_leaves_a_choice_open_is_an_error(paragraph):
    template = replace(TEMPLATES["ICU-PRF"], text=TEMPLATES["ICU-PRF"].text | {paragraph: " "})
    with pytest.raises(InvalidInput, match=paragraph):
        template.question(template.grid[0])


@ALL
def test_instances_are_drawn_in_an_order_that_the_salt_decides(name):
    template = FORMS[name]
    assert template.ordered_grid("a") == template.ordered_grid("a")
    assert template.ordered_grid("a") != template.ordered_grid("b")


@ALL
def test_predicates_are_of_the_evaluators_vocabulary_and_have_ids_of_their_own(name):
    template = FORMS[name]
    for parameters in template.grid:
        predicates = template.predicates(parameters)
        assert len({each.id for each in predicates}) == len(predicates)
        assert {each.given["statistic"] for each in predicates if each.kind == "recompute"} <= set(STATISTICS)
        assert {each.given["formula"] for each in predicates if each.kind == "row_formula"} <= set(FORMULAS)
        assert {each.artifact for each in predicates if each.kind == "key_set"} == {
            each.name for each in template.artifacts
        }


@ALL
def test_every_numeric_template_has_three_naive_answers(name):
    names = {"all_patients", "all_rows", "first_table_only"}
    assert set(FORMS[name].naive) == (set() if FORMS[name].is_categorical else names)


@ALL
def test_a_correctly_rounded_answer_is_within_tolerance(name):
    template = FORMS[name]
    for parameters in template.grid:
        tolerance = template.tolerance(parameters)
        if tolerance:
            decimals = template.answer(parameters).decimals
            assert Decimal(tolerance.abs) >= Decimal(5).scaleb(-decimals - 1)


@ALL
def test_references_have_no_clock_no_chance_and_no_open_order(name):
    template = FORMS[name]
    sql = f"{template.sql} {template.answer_sql}".lower()
    assert not re.search(r"current_date|now\(\)|random\(|any_value|first\(|last\(", sql)
    for order in re.findall(r"row_number\(\) over \(([^()]*(?:\([^()]*\)[^()]*)*)\)", sql):
        assert re.search(r"_id|\$nearest|order by t, study_id", order), order


def test_nothing_is_packaged_but_rows_and_columns_that_a_template_names():
    for template in FORMS.values():
        text = template.sql + template.answer_sql + " ".join(template.slots.values())
        assert not re.search(r"\bread_csv|\bread_parquet", text)
        assert all(columns for columns in template.tables.values())


def stay(subject, stay_id, intime, hours):
    times = f"TIMESTAMP '{intime}', TIMESTAMP '{intime}' + INTERVAL {hours} HOUR"
    return f"({subject}, 1, {stay_id}, 'MICU', {times}, 1.0)"


def charted(time, item, value):
    moment = f"TIMESTAMP '2150-01-{time}'"
    return f"(1, 1, 11, {moment}, {moment} + INTERVAL 1 HOUR, {item}, '', {value}, '')"


@pytest.fixture
def icu():
    """Two patients by hand: one with three pressures in the first 24 h, one who is a minor."""
    with duckdb.connect() as db:
        db.execute(
            "CREATE TABLE patients AS SELECT * FROM (VALUES (1, 'F', 60, 2150), (2, 'M', 15, 2150)) "
            "t(subject_id, gender, anchor_age, anchor_year)"
        )
        db.execute(
            f"CREATE TABLE icustays AS SELECT * FROM (VALUES {stay(1, 11, '2150-01-01 00:00:00', 30)}, "
            f"{stay(1, 12, '2150-03-01 00:00:00', 30)}, {stay(2, 21, '2151-01-01 00:00:00', 30)}) "
            "t(subject_id, hadm_id, stay_id, first_careunit, intime, outtime, los)"
        )
        rows = ", ".join(
            charted(*each)
            for each in (
                ("01 00:00:00", 220052, 60),
                ("01 01:00:00", 220052, 80),
                ("01 01:00:00", 220181, 90),
                ("01 10:00:00", 220181, 999),
                ("01 23:30:00", 220181, 100),
                ("02 00:00:00", 220052, 200),  # at the end of the window
            )
        )
        columns = "subject_id, hadm_id, stay_id, charttime, storetime, itemid, value, valuenum, valueuom"
        db.execute(f"CREATE TABLE chartevents AS SELECT * FROM (VALUES {rows}) t({columns})")
        yield db


def icu_parameters():
    return next(
        each
        for each in TEMPLATES["ICU-PRF"].grid
        if (each["sign"], each["carry"], each["hours"]) == ("mean arterial pressure", 2, 24)
    )


def test_the_time_weighted_mean_is_the_one_worked_out_by_hand(icu):
    artifacts, answer = runner.compute(icu, TEMPLATES["ICU-PRF"].spec(icu_parameters()))
    # 60 holds for 1 h, the mean of 80 and 90 for 2 h, 100 for half an hour; 999 is no pressure
    expected = (60 * 1 + 85 * 2 + 100 * 0.5) / 3.5
    assert artifacts["vitals"] == [(11, 1, datetime(2150, 1, 1), 3, 3.5, pytest.approx(expected))]
    assert float(answer) == pytest.approx(expected)


def test_wrong_programs_make_the_mistakes_they_are_named_for(icu):
    template, parameters = TEMPLATES["ICU-PRF"], icu_parameters()
    found = {
        each.name: runner.compute(icu, template.spec(parameters, each))[0]["vitals"]
        for each in template.applicable(parameters)
    }
    assert found["WINDOW_CLOSED"][0][3] == 4
    assert found["KEEP_DUPLICATES"][0][3] == 4
    assert found["UNWEIGHTED"][0][5] == pytest.approx((60 + 85 + 100) / 3)
    assert found["SENTINEL_KEPT"][0][3] == 4


def test_the_model_is_the_one_that_the_question_states():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 3))
    x[::7, 1] = np.nan
    y = (rng.random(200) < 1 / (1 + np.exp(-x[:, 0]))).astype(float)
    is_train = np.arange(200) % 10 < 7
    median = np.nanmedian(x[is_train], axis=0)
    filled = np.where(np.isnan(x), median, x)
    scaled = (filled - filled[is_train].mean(axis=0)) / filled[is_train].std(axis=0)

    def loss(weights):
        logits = weights[0] + scaled[is_train] @ weights[1:]
        return np.sum(np.logaddexp(0, logits) - y[is_train] * logits) + (weights[1:] ** 2).sum() / 2

    best = optimize.minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x
    expected = 1 / (1 + np.exp(-(best[0] + scaled @ best[1:])))
    assert runner._fit_and_score(x, y, is_train) == pytest.approx(expected, abs=1e-5)


def test_the_auroc_of_references_is_that_of_the_evaluator():
    y, scores = np.array([0, 1, 1, 0, 1]), np.array([0.1, 0.4, 0.35, 0.35, 0.8])
    assert runner.auroc(y, scores) == pytest.approx(evaluator_auroc(list(y), list(scores)))
    assert runner.auroc(y, scores) == pytest.approx(5.5 / 6)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "1"),
        (0.1 + 0.2, "0.3"),
        (-0.0, "0.0"),
        (7, "7"),
        (datetime(2150, 1, 2), "2150-01-02 00:00:00"),
    ],
)
def test_cells_are_spelled_one_way(value, text):
    assert runner.cell(value) == text


@pytest.mark.parametrize("name", STRUCTURED)
def test_the_structured_templates_need_no_more_than_the_demo_has(name):
    assert all(table.startswith(("hosp/", "icu/")) for table in TEMPLATES[name].tables)
