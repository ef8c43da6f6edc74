"""Spoilt files: the readers answer every one with problems or with something sound."""

import json
import random
import zipfile

import pytest

from medbench.formats.bundle import Bundle, read_bundle, write_bundle
from medbench.formats.problems import Refused
from medbench.formats.results import read_results
from medbench.scoring.checks import check_results
from medbench.scoring.matching import aggregate, score_case
from tests.formats.build import as_json, as_jsonl
from tests.formats.spoil import spoil_bytes, spoil_value

FILES = 300
BUNDLES = 150


@pytest.fixture(scope="module")
def source(testdata):
    return testdata / "data/bundles/tcga-mini"


def check_shown(problems):
    """Whatever was in the file, its problems can be printed, stored and sent."""
    for problem in problems:
        text = json.dumps(problem.as_dict())
        assert len(text) < 4_000
        assert str(problem).isprintable()
        assert problem.message
        assert problem.line is None or problem.line > 0
    assert problems.total >= len(problems.shown)


def spoilt_results(document, rng):
    kind = rng.randrange(4)
    if kind == 0:
        return spoil_bytes(as_json(document, indent=1), rng)
    if kind == 1:
        return spoil_bytes(as_jsonl(document), rng)
    return as_json(spoil_value(document, rng), indent=rng.choice([None, 1]))


def test_spoilt_result_files_are_answered(source):
    rng = random.Random(7)
    references = read_bundle(source).references()
    document = json.loads((source / "results/noisy.json").read_bytes())
    n_sound = 0
    for _ in range(FILES):
        answer = check_results(spoilt_results(document, rng), case_ids=references)
        check_shown(answer.problems)
        check_shown(answer.warnings)
        assert answer.ok != bool(answer.problems)
        if answer.results:
            n_sound += 1
            insights = answer.results.insights()
            assert insights.keys() <= references.keys()
            totals = aggregate([score_case(texts, insights.get(key)) for key, texts in references.items()])
            assert 0 <= totals.f1 <= 1
    assert 0 < n_sound < FILES


def spoilt_folder(source, folder, rng):
    """A copy of the bundle's texts with one of them spoilt."""
    lines = [json.loads(line) for line in (source / "cases.jsonl").read_text().splitlines()]
    files = {
        "benchmark.json": (source / "benchmark.json").read_bytes(),
        "cases.jsonl": (source / "cases.jsonl").read_bytes(),
        "reports/TCGA-CR-7395.txt": (source / "reports/TCGA-CR-7395.txt").read_bytes(),
    }
    for line in lines[1:]:
        path = line["report"]["path"]
        files[path] = (source / path).read_bytes()
    if rng.random() < 0.5:
        lines = spoil_value(lines, rng)
        files["cases.jsonl"] = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    else:
        name = rng.choice(["benchmark.json", "cases.jsonl", "reports/TCGA-CR-7395.txt"])
        files[name] = spoil_bytes(files[name], rng)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def read_or_refuse(path, **options):
    """The bundle, or None where it was refused as it should be."""
    try:
        bundle = read_bundle(path, **options)
    except Refused as refusal:
        check_shown(refusal.problems)
        check_shown(refusal.warnings)
        return None
    assert isinstance(bundle, Bundle)
    check_shown(bundle.warnings)
    assert all(case.triplets for case in bundle.cases)
    return bundle


def test_spoilt_bundles_are_answered(source, tmp_path):
    rng = random.Random(8)
    n_sound = 0
    for i in range(BUNDLES):
        spoilt_folder(source, tmp_path / f"in{i}", rng)
        bundle = read_or_refuse(tmp_path / f"in{i}")
        if bundle:
            n_sound += 1
            write_bundle(bundle, tmp_path / f"out{i}")
            assert read_bundle(tmp_path / f"out{i}").cases == bundle.cases
    assert 0 < n_sound < BUNDLES


def test_spoilt_archives_are_answered(source, tmp_path):
    rng = random.Random(9)
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("benchmark.json", "cases.jsonl"):
            archive.write(source / name, name)
        for path in sorted((source / "reports").iterdir()):
            archive.write(path, f"reports/{path.name}")
        archive.writestr("slides/small_dicom.dcm", b"pixels" * 500)
    data = whole.read_bytes()
    n_sound = 0
    for i in range(BUNDLES):
        path = tmp_path / "spoilt.zip"
        path.write_bytes(spoil_bytes(data, rng) if i else data)
        n_sound += read_or_refuse(path, unpack_to=tmp_path / f"slides{i}") is not None
    assert 0 < n_sound < BUNDLES


def test_a_sound_file_says_the_same_to_the_reader_and_the_validator(source):
    """The validator adds warnings and nothing else."""
    data = (source / "results/strong.json").read_bytes()
    case_ids = read_bundle(source).references()
    assert read_results(data, case_ids=case_ids).results == check_results(data, case_ids=case_ids).results
