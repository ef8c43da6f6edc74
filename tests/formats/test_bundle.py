"""Benchmark bundles: every refusal and warning, and the canonical form."""

import json
import os
import zipfile
from dataclasses import replace

import pytest

from medbench.errors import Conflict, InvalidInput
from medbench.formats.bundle import ReportText, read_bundle, text_files, write_bundle
from medbench.formats.problems import Refused
from tests.formats.build import REPORT, case, info, triplet, without, write_folder, write_zip


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "small"


def places(problems):
    return [(p.code, p.file, p.line, p.case_id, p.field) for p in problems]


def refused(path, **options):
    """The places of the problems for which a bundle is refused."""
    with pytest.raises(Refused) as refusal:
        read_bundle(path, **options)
    assert refusal.value.code == "refused"
    return places(refusal.value.problems)


def warned(path, **options):
    return places(read_bundle(path, **options).warnings)


def test_the_real_bundle_is_read(testdata):
    bundle = read_bundle(testdata / "data/bundles/tcga-mini")
    assert (bundle.info.name, bundle.info.version) == ("tcga-mini", "1")
    assert len(bundle.cases) == 8
    assert sum(len(each.triplets) for each in bundle.cases) == 62
    assert not bundle.warnings
    assert sorted(bundle.slides) == ["slides/TCGA-CR-7395-01A-01-TS1.svs", "slides/small_dicom.dcm"]
    for each in bundle.cases:
        for triplet_ in each.triplets:
            span = triplet_.span
            assert each.report.text[span.start : span.end] == span.quote == triplet_.evidence


def test_the_canonical_form_of_the_real_bundle_is_its_own_bytes(testdata, tmp_path):
    source = testdata / "data/bundles/tcga-mini"
    write_bundle(read_bundle(source), tmp_path / "first")
    write_bundle(read_bundle(tmp_path / "first"), tmp_path / "second")
    written = sorted(path.relative_to(tmp_path / "first") for path in (tmp_path / "first").rglob("*.*"))
    assert len(written) == 12
    for name in written:
        first = (tmp_path / "first" / name).read_bytes()
        assert first == (source / name).read_bytes()
        assert first == (tmp_path / "second" / name).read_bytes()


def test_every_kind_of_content_comes_back(folder, tmp_path):
    write_folder(
        folder,
        case("A-1", split="heldout", report={"path": "reports/a.txt"}),
        case("A-2", report={"path": "reports/deep/b.txt"}, triplets=[triplet(confidence=0.25)]),
        case("A-3", triplets=[triplet(confidence="high", evidence="")]),
        without(without(case("A-4"), "project"), "slide"),
        files={
            "reports/a.txt": b"\xef\xbb\xbfBegins with a mark\r\n" + REPORT.encode(),
            "reports/deep/b.txt": f"β\u2028😐\x0c{REPORT}".encode(),
        },
    )
    bundle = read_bundle(folder)
    write_bundle(bundle, tmp_path / "out")
    again = read_bundle(tmp_path / "out")
    assert again == bundle
    assert text_files(again) == text_files(bundle)
    assert [each.split for each in again.cases] == ["heldout", "open", "open", "open"]
    assert again.cases[0].report == ReportText(f"\ufeffBegins with a mark\r\n{REPORT}", "reports/a.txt")
    assert [each.triplets[0].confidence for each in again.cases] == [None, 0.25, "high", None]


def test_an_archive_is_read_like_a_folder(folder, tmp_path):
    files = {"reports/a.txt": REPORT.encode(), "slides/a.svs": b"pixels"}
    cases = [case(report={"path": "reports/a.txt"}, slide="slides/a.svs")]
    plain = read_bundle(write_folder(folder, *cases, files=files))
    for name, prefix in (("top.zip", ""), ("inner.zip", "small bundle/")):
        path = write_zip(tmp_path / name, *cases, files=files, prefix=prefix)
        packed = read_bundle(path)
        assert packed.cases == plain.cases
        assert packed.slides == {}
        assert not packed.warnings
        unpacked = read_bundle(path, unpack_to=tmp_path / name[:-4])
        assert unpacked.slides["slides/a.svs"].read_bytes() == b"pixels"


def test_an_absent_slide_is_a_warning_or_found_by_name(folder, tmp_path):
    write_folder(folder, case(slide="slides/deep/a.svs"))
    assert warned(folder) == [("slide_missing", "cases.jsonl", 1, "A-1", "slide")]
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.svs").write_bytes(b"pixels")
    bundle = read_bundle(folder, slides_dir=tmp_path / "elsewhere")
    assert not bundle.warnings
    assert bundle.slides == {"slides/deep/a.svs": tmp_path / "elsewhere/a.svs"}
    assert bundle.cases[0].slide == "slides/deep/a.svs"


@pytest.mark.parametrize(
    ("about", "problem"),
    [
        (b"", ("bad_json", 1, "")),
        (b'{"schema":\n}', ("bad_json", 2, "")),
        (b"[]", ("wrong_schema", None, "")),
        (b"\n\xe9", ("not_utf8", 2, "")),
        (b'{"name":"a",\n"name":"b"}', ("duplicate_key", 2, "name")),
        (info(schema="medbench.results/1"), ("wrong_schema", 2, "schema")),
        (without(info(), "schema"), ("wrong_schema", 1, "schema")),
        (without(info(), "name"), ("missing_field", 1, "name")),
        (info(name="not a name"), ("bad_value", 3, "name")),
        (info(name="../x"), ("bad_value", 3, "name")),
        (info(name="x" * 81), ("text_too_long", 3, "name")),
        (info(title="\u200b"), ("missing_field", 4, "title")),
        (info(version=1), ("wrong_type", 5, "version")),
        (info(licence=[]), ("wrong_type", 6, "licence")),
    ],
)
def test_each_problem_of_the_head_names_its_place(folder, about, problem):
    about = about if isinstance(about, bytes) else json.dumps(about, indent=1).encode()
    code, line, field = problem
    assert refused(write_folder(folder, case(), about=about)) == [(code, "benchmark.json", line, "", field)]


LONG = "x" * 20_001


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (b"{", ("bad_json", "", "")),
        (b"[1]", ("wrong_type", "", "")),
        (b'{"a":NaN}', ("bad_json", "", "")),
        (b'{"case_id":"A-1","case_id":"A-1"}', ("duplicate_key", "", "case_id")),
        (b"[" * 50_000, ("bad_json", "", "")),
        (without(case(), "case_id"), ("missing_field", "", "case_id")),
        (case("A-0"), ("duplicate_case", "A-0", "case_id")),
        (case(" A"), ("bad_character", " A", "case_id")),
        (case("a\u202eb"), ("bad_character", "a\ufffdb", "case_id")),
        (case("x" * 121), ("text_too_long", "", "case_id")),
        (case(difficulty=0), ("bad_value", "A-1", "difficulty")),
        (case(difficulty=5), ("bad_value", "A-1", "difficulty")),
        (case(difficulty="2"), ("wrong_type", "A-1", "difficulty")),
        (case(difficulty=2.0), ("wrong_type", "A-1", "difficulty")),
        (case(difficulty=True), ("wrong_type", "A-1", "difficulty")),
        (case(difficulty=None), ("missing_field", "A-1", "difficulty")),
        (case(goal=""), ("missing_field", "A-1", "goal")),
        (case(goal=LONG), ("text_too_long", "A-1", "goal")),
        (case(goal="a\0"), ("bad_character", "A-1", "goal")),
        (case(site="\ud800"), ("bad_character", "A-1", "site")),
        (case(project=1), ("wrong_type", "A-1", "project")),
        (case(split="test"), ("bad_value", "A-1", "split")),
        (case(slide=5), ("wrong_type", "A-1", "slide")),
        (case(report="text"), ("wrong_type", "A-1", "report")),
        (without(case(), "report"), ("missing_field", "A-1", "report")),
        (case(report={"text": " \n"}), ("missing_field", "A-1", "report.text")),
        (case(report={}), ("missing_field", "A-1", "report.path")),
        (case(report={"text": REPORT, "path": "reports/a.txt"}), ("bad_value", "A-1", "report")),
        (case(report={"path": "reports/a.docx"}), ("bad_value", "A-1", "report.path")),
        (case(report={"path": "reports/none.txt"}), ("file_missing", "A-1", "report.path")),
        (case(triplets=[]), ("no_triplets", "A-1", "triplets")),
        (case(triplets=None), ("missing_field", "A-1", "triplets")),
        (case(triplets=[5]), ("wrong_type", "A-1", "triplets[0]")),
        (case(triplets=[triplet(), triplet()]), ("duplicate_triplet", "A-1", "triplets[1].id")),
        (case(triplets=[triplet(1)]), ("wrong_type", "A-1", "triplets[0].id")),
        (case(triplets=[triplet(category="other")]), ("bad_value", "A-1", "triplets[0].category")),
        (case(triplets=[triplet(category="Descriptive")]), ("bad_value", "A-1", "triplets[0].category")),
        (case(triplets=[triplet(insight=" ")]), ("missing_field", "A-1", "triplets[0].insight")),
        (case(triplets=[without(triplet(), "evidence")]), ("missing_field", "A-1", "triplets[0].evidence")),
        (case(triplets=[triplet(question=LONG)]), ("text_too_long", "A-1", "triplets[0].question")),
        (case(triplets=[triplet(confidence=True)]), ("wrong_type", "A-1", "triplets[0].confidence")),
        (case(triplets=[triplet(confidence=[1])]), ("wrong_type", "A-1", "triplets[0].confidence")),
    ],
)
def test_each_problem_of_a_case_names_its_place(folder, row, problem):
    code, case_id, field = problem
    path = write_folder(folder, case("A-0"), b"", row)
    assert refused(path) == [(code, "cases.jsonl", 3, case_id, field)]


def test_all_problems_are_found_in_one_reading(folder):
    path = write_folder(
        folder,
        case("A-1", difficulty=9, goal="", triplets=[triplet(category="x", insight="")]),
        b"{",
        case("A-1", split="x"),
        about=info(name=""),
    )
    assert [(code, line) for code, _, line, _, _ in refused(path)] == [
        ("missing_field", 1),
        ("bad_value", 1),
        ("missing_field", 1),
        ("bad_value", 1),
        ("missing_field", 1),
        ("bad_json", 2),
        ("duplicate_case", 3),
        ("bad_value", 3),
    ]


def test_more_problems_than_are_shown_are_counted(folder):
    path = write_folder(folder, *(case(f"A-{i}", difficulty=9) for i in range(150)))
    with pytest.raises(Refused, match="150 problems") as refusal:
        read_bundle(path)
    assert refusal.value.problems.total == 150
    assert len(refusal.value.problems.shown) == 100


def test_a_benchmark_without_cases_is_refused(folder):
    assert refused(write_folder(folder)) == [("no_cases", "cases.jsonl", None, "", "")]


def test_what_is_no_bundle_is_refused(tmp_path):
    assert refused(tmp_path / "nothing") == [("file_missing", "", None, "", "")]
    assert [code for code, *_ in refused(tmp_path)] == ["file_missing", "file_missing"]
    (tmp_path / "text.zip").write_bytes(b"no archive")
    assert refused(tmp_path / "text.zip") == [("bad_zip", "", None, "", "")]


def test_problems_inside_a_report_name_its_file_and_line(folder):
    path = write_folder(
        folder,
        case("A-1", report={"path": "reports/a.txt"}),
        case("A-2", report={"path": "reports/b.txt"}),
        case("A-3", report={"path": "reports/c.txt"}),
        files={
            "reports/a.txt": b"one\ntwo \xff",
            "reports/b.txt": b"one\n\ntwo \0",
            "reports/c.txt": b" \n",
        },
    )
    assert refused(path) == [
        ("not_utf8", "reports/a.txt", 2, "A-1", ""),
        ("bad_character", "reports/b.txt", 3, "A-2", ""),
        ("missing_field", "reports/c.txt", None, "A-3", ""),
    ]


def test_evidence_that_is_not_there_is_a_warning_with_the_nearest_passage(folder):
    path = write_folder(folder, case(triplets=[triplet(evidence="The margins were all negative.")]))
    bundle = read_bundle(path)
    (warning,) = bundle.warnings
    assert (warning.code, warning.line, warning.field) == ("unanchored", 1, "triplets[0].evidence")
    assert "Margins are negative." in warning.message
    assert bundle.cases[0].triplets[0].span is None


def test_repeated_references_and_unknown_fields_are_warnings(folder):
    twice = [triplet("1", insight="Margins are  clear."), triplet("2", insight="MARGINS are clear.")]
    path = write_folder(folder, case(triplets=twice, note=1), about=info(extra=1))
    assert warned(path) == [
        ("unknown_field", "benchmark.json", 1, "", "extra"),
        ("duplicate_insight", "cases.jsonl", 1, "A-1", "triplets[1].insight"),
        ("unknown_field", "cases.jsonl", 1, "A-1", "note"),
    ]


# --- Paths -------------------------------------------------------------------------

PATHS = [
    "../secret.txt",
    "reports/../../secret.txt",
    "/etc/passwd",
    "C:/x.txt",
    "reports\\a.txt",
    "reports//a.txt",
    "./reports/a.txt",
    "reports/",
    "reports",
    "a.txt",
    "cases.jsonl",
    "slides/a.txt",
    "reports/a\n.txt",
    "reports/\u202ea.txt",
    "reports/" + "x" * 300 + ".txt",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_report_path_that_leads_elsewhere_is_refused(folder, path):
    (folder.parent / "secret.txt").write_text("secret")
    row = case(report={"path": path})
    assert refused(write_folder(folder, row)) == [("bad_path", "cases.jsonl", 1, "A-1", "report.path")]
    packed = write_zip(folder.parent / "b.zip", row)
    assert refused(packed) == [("bad_path", "cases.jsonl", 1, "A-1", "report.path")]


@pytest.mark.parametrize("path", ["../a.svs", "/dev/zero", "slides/../../a.svs", "reports/a.svs", "a.svs"])
def test_a_slide_path_that_leads_elsewhere_is_refused(folder, path):
    row = case(slide=path)
    assert refused(write_folder(folder, row)) == [("bad_path", "cases.jsonl", 1, "A-1", "slide")]


def test_links_out_of_the_bundle_are_refused(folder, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    row = case(report={"path": "reports/a.txt"}, slide="slides/a.svs")
    write_folder(folder, row)
    (folder / "reports").mkdir()
    (folder / "slides").symlink_to(tmp_path)
    (folder / "reports/a.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "a.svs").write_bytes(b"")
    assert [(code, field) for code, _, _, _, field in refused(folder)] == [
        ("bad_path", "report.path"),
        ("bad_path", "slide"),
    ]


def test_links_inside_the_bundle_are_followed(folder):
    write_folder(folder, case(report={"path": "reports/a.txt"}), files={"reports/b.txt": REPORT.encode()})
    (folder / "reports/a.txt").symlink_to("b.txt")
    assert read_bundle(folder).cases[0].report.text == REPORT


def test_what_is_not_a_file_is_missing(folder):
    rows = [case(f"A-{i}", report={"path": f"reports/{i}.txt"}) for i in range(3)]
    write_folder(folder, *rows)
    (folder / "reports/0.txt").mkdir(parents=True)
    os.mkfifo(folder / "reports/1.txt")
    (folder / "reports/2.txt").symlink_to("2.txt")
    assert [code for code, *_ in refused(folder)] == ["file_missing"] * 3


# --- Archives ----------------------------------------------------------------------


def test_a_zip_bomb_is_refused_unopened(tmp_path, monkeypatch):
    path = write_zip(tmp_path / "bomb.zip", case(), files={"reports/a.txt": b"\0" * 4_000_000})
    assert path.stat().st_size < 10_000
    monkeypatch.setattr("medbench.formats.sources.UNPACKED_FREE", 1_000_000)
    assert refused(path) == [("zip_bomb", "", None, "", "")]


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x"])
def test_an_archive_that_would_unpack_elsewhere_is_refused(tmp_path, name):
    path = write_zip(tmp_path / "b.zip", case(), files={name: b"x"})
    assert refused(path) == [("bad_path", "", None, "", "")]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_with_one_name_twice_is_refused(tmp_path):
    path = write_zip(tmp_path / "b.zip", case())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("cases.jsonl", "{}")
    assert refused(path) == [("bad_zip", "", None, "", "")]


def test_a_damaged_slide_in_an_archive_is_refused(tmp_path):
    path = write_zip(tmp_path / "b.zip", case(slide="slides/a.svs"), files={"slides/a.svs": b"pixels" * 100})
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("slides/a.svs").header_offset + 30 + len("slides/a.svs")
    path.write_bytes(data[:start] + b"\xff\xff\xff" + data[start + 3 :])
    assert refused(path, unpack_to=tmp_path / "out") == [("bad_zip", "cases.jsonl", 1, "A-1", "slide")]


def test_a_name_in_an_archive_that_is_no_text_is_damage(tmp_path):
    path = write_zip(tmp_path / "b.zip", case())
    data = bytearray(path.read_bytes())
    at = data.index(b"cases.jsonl")
    data[at - 23] |= 0x08  # the flag "name is UTF-8" in the local head
    data[at] = 0x8D
    path.write_bytes(data)
    assert refused(path) == [("bad_zip", "cases.jsonl", None, "", "")]


def test_a_file_without_a_name_in_an_archive_is_nothing(tmp_path):
    path = write_zip(tmp_path / "b.zip", case())
    nameless = zipfile.ZipInfo("x")
    nameless.filename = ""
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(nameless, b"x")
    assert len(read_bundle(path).cases) == 1


def test_large_files_are_refused(folder, monkeypatch):
    monkeypatch.setattr("medbench.formats.bundle.REPORT_BYTES", 10)
    write_folder(folder, case(report={"path": "reports/a.txt"}), files={"reports/a.txt": b"x" * 11})
    assert refused(folder) == [("too_large", "cases.jsonl", 1, "A-1", "report.path")]
    monkeypatch.setattr("medbench.formats.bundle.LINE_CHARACTERS", 100)
    assert refused(folder) == [("too_large", "cases.jsonl", 1, "", "")]
    monkeypatch.setattr("medbench.formats.bundle.CASES_BYTES", 50)
    assert refused(folder) == [("too_large", "cases.jsonl", None, "", "")]


# --- Writing -----------------------------------------------------------------------


def test_nothing_is_written_over(folder, tmp_path):
    bundle = read_bundle(write_folder(folder, case()))
    with pytest.raises(Conflict):
        write_bundle(bundle, folder)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInput):
        write_bundle(bundle, tmp_path / "file")
    with pytest.raises(InvalidInput):
        write_bundle(bundle, tmp_path / "file" / "below")


def test_a_failed_write_leaves_nothing(folder, tmp_path):
    files = {"slides/a.svs": b"pixels"}
    bundle = read_bundle(write_folder(folder, case(slide="slides/a.svs"), files=files))
    (folder / "slides/a.svs").unlink()
    with pytest.raises(InvalidInput):
        write_bundle(bundle, tmp_path / "out" / "here")
    assert list((tmp_path / "out").iterdir()) == []


def test_two_reports_of_one_name_are_both_kept(folder, tmp_path):
    bundle = read_bundle(write_folder(folder, case("A-1"), case("A-2"), case("A-3")))
    texts = (ReportText("one", "reports/a.txt"), ReportText("two", "reports/a.txt"), ReportText("3", "../x"))
    cases = tuple(replace(each, report=text) for each, text in zip(bundle.cases, texts, strict=True))
    write_bundle(replace(bundle, cases=cases), tmp_path / "out")
    assert [each.report.text for each in read_bundle(tmp_path / "out").cases] == ["one", "two", "3"]
    assert (tmp_path / "out/reports/a.txt").read_text() == "one"
