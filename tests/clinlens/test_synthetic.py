"""The invented patients: the same each time, with every planted irregularity in them."""

import duckdb
import pytest

from medbench.clinlens.canonical import checksum_lines
from medbench.clinlens.qc.assets import read_asset
from medbench.clinlens.sources import COLUMNS, open_source
from medbench.clinlens.synthetic import DEMO_TABLES, synthesise
from medbench.clinlens.synthetic.chance import Chance
from medbench.errors import InvalidInput

LAB_WINDOW = (
    "FROM {labevents} l JOIN {admissions} a USING (subject_id) WHERE l.charttime = a.admittime + INTERVAL"
)
# What a source must hold, as SQL that is true where it does.
PLANTED = {
    "lab rows without hadm_id": "count(*) FILTER (hadm_id IS NULL) / count(*) BETWEEN 0.3 AND 0.6 FROM "
    "{labevents}",
    "labs before admission": "count(*) > 0 FROM {labevents} l JOIN {admissions} a USING (hadm_id) "
    "WHERE l.charttime < a.admittime",
    "a lab exactly 24 h after admission": f"count(*) > 20 {LAB_WINDOW} 24 HOUR",
    "a lab exactly 48 h after admission": f"count(*) > 20 {LAB_WINDOW} 48 HOUR",
    "two results of one test and time": "count(*) > 0 FROM (SELECT 1 FROM {labevents} GROUP BY "
    "subject_id, itemid, "
    "charttime HAVING count(*) > 1)",
    "text for a number": "count(*) > 0 FROM {labevents} WHERE valuenum IS NULL AND value IN ('___', '>8.0')",
    "another unit": "count(*) > 0 FROM {labevents} WHERE itemid = 50912 AND valueuom = 'umol/L'",
    "overlapping admissions": "count(*) > 0 FROM {admissions} a JOIN {admissions} b USING (subject_id) "
    "WHERE a.admittime < b.admittime AND b.admittime < a.dischtime",
    "discharge before admission": "count(*) > 0 FROM {admissions} WHERE dischtime < admittime",
    "death without its time": "count(*) > 0 FROM {admissions} WHERE hospital_expire_flag = 1 AND "
    "deathtime IS NULL",
    "a donor a minute after death": "count(*) > 0 FROM {admissions} a JOIN {admissions} b USING (subject_id) "
    "WHERE a.hospital_expire_flag = 1 AND b.admittime = a.dischtime + INTERVAL 1 MINUTE",
    "over 89": "count(*) > 0 FROM {patients} WHERE anchor_age = 91",
    "minors": "count(*) > 0 FROM {patients} WHERE anchor_age < 18",
    "a chart time a year off": "count(*) > 0 FROM {chartevents} c JOIN {icustays} i USING (stay_id) "
    "WHERE c.charttime > i.outtime + INTERVAL 100 DAY",
    "an x-ray before admission": "count(*) > 0 FROM {cxr} x JOIN {admissions} a USING (subject_id) "
    "WHERE strptime(StudyDate::VARCHAR, '%Y%m%d') = date_trunc('day', admittime) AND StudyTime // 100 < "
    "hour(admittime) * 100 + minute(admittime)",
    "lost zeros of times": "count(*) > 0 FROM {cxr} WHERE StudyTime < 100000",
    "uncertain findings": 'count(*) > 0 FROM {chexpert} WHERE "Edema" = -1',
    "findings not mentioned": 'count(*) > 0 FROM {chexpert} WHERE "Edema" IS NULL',
    "several images of a study": "max(n) > 1 FROM (SELECT count(*) AS n FROM {cxr} GROUP BY study_id)",
    "fill values of ECGs": "count(*) > 0 FROM {ecg} WHERE t_end = 29999",
    "an ECG exactly at discharge": "count(*) > 0 FROM {ecg} e JOIN {admissions} a USING (subject_id) "
    "WHERE e.ecg_time = a.dischtime",
    "echo results that are no numbers": "count(*) > 0 FROM {echo} WHERE TRY_CAST(result AS DOUBLE) IS NULL",
    "studies through the gullet": "count(*) > 0 FROM {echo} WHERE test_type = 'TEE'",
    "addenda": "count(*) > 0 FROM {radiology} WHERE note_type = 'AR'",
    "doses not given": "count(*) > 0 FROM {emar} WHERE event_txt IN ('Held', 'Not Given')",
    "a vital sign exactly 24 h into the stay": "count(*) > 5 FROM {chartevents} c JOIN {icustays} i "
    "USING (stay_id) "
    "WHERE c.charttime = i.intime + INTERVAL 24 HOUR",
    "impossible vital signs": "count(*) > 0 FROM {chartevents} WHERE valuenum IN (0, 999)",
    "a stopped vasopressor": "count(*) > 0 FROM {inputevents} WHERE rate = 0",
}
NAMES = {"cxr": "cxr/metadata", "chexpert": "cxr/chexpert", "echo": "echo/structured_measurement"}
NAMES |= {"ecg": "ecg/machine_measurements", "radiology": "note/radiology"}
NAMES |= {name: f"hosp/{name}" for name in ("labevents", "admissions", "patients", "emar")}
NAMES |= {name: f"icu/{name}" for name in ("chartevents", "icustays", "inputevents")}


@pytest.mark.parametrize("what", PLANTED)
def test_an_irregularity_is_planted(source, what):
    tables = {name: source.relation(table) for name, table in NAMES.items()}
    with duckdb.connect() as db:
        assert db.execute(f"SELECT {PLANTED[what].format(**tables)}").fetchone()[0]


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(tmp_path):
    for name, seed in (("one", "a"), ("two", "a"), ("three", "b")):
        synthesise(tmp_path / name, patients=12, seed=seed, with_files=1)
    one, two, three = (checksum_lines(tmp_path / name) for name in ("one", "two", "three"))
    assert one == two
    assert one != three


def test_a_patient_does_not_depend_on_how_many_there_are(tmp_path):
    for name, count in (("few", 5), ("more", 9)):
        synthesise(tmp_path / name, patients=count, seed="a", with_files=0)
    few = (tmp_path / "few/hosp/labevents.csv").read_text()
    assert (tmp_path / "more/hosp/labevents.csv").read_text().startswith(few)


def test_draws_depend_on_what_they_are_for():
    assert Chance("s", "labs", 1).normal() == Chance("s", "labs", 1).normal()
    assert Chance("s", "labs", 1).normal() != Chance("s", "icu", 1).normal()


def test_headers_and_types_are_those_of_the_real_tables(source):
    assert [str(problem) for table in source.paths for problem in source.problems(table)] == []
    assert source.header("hosp/labevents") == list(COLUMNS["hosp/labevents"])


def test_every_file_opens_as_waveform_image_or_clip(made):
    files = [path for ending in ("hea", "jpg", "dcm") for path in made.rglob(f"*.{ending}")]
    assert {path.suffix for path in files} == {".hea", ".jpg", ".dcm"}
    assert [wrong for path in files if (wrong := read_asset(path))] == []


def test_the_layout_of_the_demo_has_its_tables_alone(tmp_path):
    synthesise(tmp_path / "demo", patients=3, seed="a", tables=DEMO_TABLES)
    assert set(open_source(tmp_path / "demo").paths) == set(DEMO_TABLES)
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {"hosp", "icu", "source.json"}


def test_nothing_is_written_over(tmp_path):
    (tmp_path / "mine").write_text("x")
    with pytest.raises(InvalidInput, match="not empty"):
        synthesise(tmp_path, patients=1, seed="a")
