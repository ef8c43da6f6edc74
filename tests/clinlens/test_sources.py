"""Sources are read with declared types, and what is not known or not whole is refused."""

import json
import shutil

import duckdb
import pytest

from medbench.clinlens.build.planning import plan_source
from medbench.clinlens.commands import main
from medbench.clinlens.sources import COLUMNS, open_source
from medbench.clinlens.sources.source import Source
from medbench.clinlens.sources.vocabulary import unknown_words
from medbench.errors import InvalidInput
from medbench.formats.problems import Refused

DAMAGED = {
    "diagnoses_icd": "hosp/diagnoses_icd",
    "procedures_icd": "hosp/procedures_icd",
    "hcpcsevents.sorted-header-last": "hosp/hcpcsevents",
    "procedureevents": "icu/procedureevents",
}


@pytest.fixture
def demo(testdata, tmp_path):
    return open_source(testdata / "data/mimic/mimic-iv-demo-2.2", cache=tmp_path / "cache")


def test_the_demo_is_known_with_its_release_and_its_tables(demo):
    assert (demo.kind, demo.releases) == ("mimic_demo", {"mimic-iv-demo": "2.2"})
    assert len(demo.paths) == 18
    assert "hosp/labevents" in demo.describe()["missing"]
    assert "note/discharge" not in demo.describe()["missing"]


def test_the_real_demo_has_no_problems(demo):
    assert [str(problem) for table in demo.paths for problem in demo.problems(table)] == []


def test_types_are_declared_and_codes_keep_their_zeros(demo):
    with duckdb.connect() as db:
        admissions = db.execute(f"DESCRIBE SELECT * FROM {demo.relation('hosp/admissions')}").fetchall()
        codes = demo.relation("hosp/diagnoses_icd")
        zeros = db.execute(f"SELECT count(*) FROM {codes} WHERE icd_code LIKE '0%'").fetchone()[0]
    assert {row[0]: row[1] for row in admissions}["admittime"] == "TIMESTAMP"
    assert zeros == 60  # as many as the spreadsheet's copy lost (data/README.md)


def test_plan_names_the_missing_tables_of_all_templates_on_the_partial_demo(demo):
    found = plan_source(demo)
    assert len(found) == 20
    assert all(each["missing"] and not each["buildable"] for each in found.values())
    assert found["ADM-PRF"]["missing"] == ["hosp/labevents"]
    assert found["ICU-CHG"]["missing"] == ["icu/d_items", "icu/inputevents", "icu/chartevents"]


@pytest.fixture
def damaged(testdata, tmp_path):
    for name, table in DAMAGED.items():
        target = tmp_path / "damaged" / f"{table}.csv"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(testdata / f"data/mimic/damaged_by_spreadsheet/{name}.csv", target)
    return open_source(tmp_path / "damaged", "mimic_demo")


@pytest.mark.parametrize(
    ("table", "code", "field"),
    [
        ("hosp/diagnoses_icd", "lost_zeros", "icd_code"),
        ("hosp/procedures_icd", "other_dates", "chartdate"),
        ("hosp/hcpcsevents", "moved_header", ""),
        ("icu/procedureevents", "other_dates", "starttime"),
    ],
)
def test_what_a_spreadsheet_did_is_recognised(damaged, table, code, field):
    first = next(damaged.problems(table))
    assert (first.code, first.file, first.field) == (code, table, field)
    assert first.line is not None


def test_a_damaged_table_is_not_converted(damaged, tmp_path):
    with pytest.raises(Refused, match="5/7/2180"):
        damaged.prepare(["hosp/procedures_icd"])
    assert list(damaged.cache.glob("*.parquet")) == []


def write(folder, name, text):
    path = folder / f"{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_an_unknown_header_is_refused_with_the_columns_that_differ(tmp_path):
    header = "subject_id,sex,anchor_age,anchor_year,anchor_year_group,dod"
    write(tmp_path, "hosp/patients", f"{header}\n1,F,50,2150,2008 - 2010,\n")
    source = open_source(tmp_path, "mimic_demo")
    with pytest.raises(Refused, match=r"missing: gender; unknown: sex"):
        source.relation("hosp/patients")


def test_a_value_of_another_type_is_told_with_its_line(tmp_path):
    header = "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod"
    write(tmp_path, "hosp/patients", f"{header}\n1,F,50,2150,a,\n2,F,old,2150,a,\n")
    problem = next(open_source(tmp_path, "mimic_demo").problems("hosp/patients"))
    assert (problem.code, problem.line, problem.field) == ("bad_value", 3, "anchor_age")


@pytest.mark.parametrize("release", ["2.1", "2.2"])
def test_the_notes_of_the_paper_and_the_later_ones_are_accepted(tmp_path, release):
    note = "note_id,subject_id,hadm_id,note_type,note_seq,charttime,storetime,text\n"
    write(tmp_path, f"mimic-iv-note/{release}/note/discharge", note)
    assert open_source(tmp_path, "mimic_full").releases == {"note": release}


@pytest.mark.parametrize(
    ("folder", "message"), [("mimic-iv-note/2.0/note", "2.1 and 2.2"), ("note", "not stated")]
)
def test_other_notes_and_unstated_releases_are_refused(tmp_path, folder, message):
    write(tmp_path, f"{folder}/discharge", "note_id\n")
    with pytest.raises(InvalidInput, match=message):
        open_source(tmp_path, "mimic_full")


def test_words_that_are_not_there_are_told_not_guessed(tmp_path):
    header = ",".join(COLUMNS["echo/structured_measurement"])
    row = "1,2,2150-01-01 00:00:00,Transthoracic,lvef,EF,55,%"
    write(tmp_path, "echo/structured-measurement", f"{header}\n{row}\n")
    source = Source(tmp_path, "mimic_full", {})
    assert list(unknown_words(source, "echo/structured_measurement")) == [
        "echo/structured_measurement has no test_type “TTE”, only: Transthoracic"
    ]


def test_an_item_that_the_dictionary_calls_otherwise_is_told_and_not_built(made, tmp_path, capsys):
    shutil.copytree(made, tmp_path / "source", ignore=shutil.ignore_patterns("prepared", "files"))
    path = tmp_path / "source/hosp/d_labitems.csv"
    path.write_text(path.read_text().replace("50971,Potassium,", "50971,Potassium in urine,"))
    told = "hosp/d_labitems has for item 50971 the label “Potassium in urine”, not “potassium”"
    assert plan_source(open_source(tmp_path / "source"))["ADM-CHG"]["problem"] == told
    roots = ["--public", str(tmp_path / "pub"), "--private", str(tmp_path / "priv")]
    asked = ["--suite", "x", "--templates", "ADM-CHG", *roots, "--json"]
    assert main(["build", "--source", str(tmp_path / "source"), *asked]) == 1
    assert json.loads(capsys.readouterr().out)["code"] == "unknown_word"
    assert not (tmp_path / "pub").exists()


def test_another_fill_value_of_ecgs_is_told(source, tmp_path):
    text = source.paths["ecg/machine_measurements"].read_text().replace("29999", "32767")
    write(tmp_path, "ecg/machine_measurements", text)
    found = list(unknown_words(Source(tmp_path, "mimic_full", {}), "ecg/machine_measurements"))
    assert found[0].endswith("= 32767: neither an interval nor 29999")


def test_a_changed_table_is_converted_anew(tmp_path):
    header = "subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod\n"
    path = write(tmp_path, "hosp/patients", f"{header}2,F,50,2150,a,\n1,F,51,2150,a,\n")
    source = open_source(tmp_path, "mimic_demo")
    source.prepare()
    with duckdb.connect() as db:
        assert db.execute(f"SELECT subject_id FROM {source.relation('hosp/patients')}").fetchall() == [
            (1,),
            (2,),
        ]
    path.write_text(f"{header}3,F,50,2150,a,\n")
    again = open_source(tmp_path, "mimic_demo")
    again.prepare()
    with duckdb.connect() as db:
        assert db.execute(f"SELECT subject_id FROM {again.relation('hosp/patients')}").fetchall() == [(3,)]


def test_assets_outside_of_the_source_are_not_there(source, tmp_path):
    (tmp_path / "secret.jpg").write_bytes(b"x")
    assert source.asset("cxr", f"../../../../../../{tmp_path}/secret.jpg") is None


def test_the_command_tells_problems_line_by_line(damaged, capsys):
    status = main(["source", "check", "--root", str(damaged.root), "--kind", "mimic_demo"])
    said = capsys.readouterr()
    assert status == 1
    assert "4 tables" in said.out
    assert "lost_zeros" in said.err


def test_what_is_no_source_is_refused(tmp_path, capsys):
    assert main(["plan", "--source", str(tmp_path / "nowhere"), "--json"]) == 1
    assert '"code": "no_source"' in capsys.readouterr().out
