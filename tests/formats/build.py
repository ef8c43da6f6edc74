"""A small sound bundle and result file, to be spoilt by tests."""

import json
import zipfile

REPORT = "DIAGNOSIS:\nInvasive ductal carcinoma,  grade 2.\nMargins are negative.\n"


def triplet(key="1", **changes):
    return {
        "id": key,
        "category": "descriptive",
        "question": "What was found?",
        "insight": f"Invasive ductal carcinoma of grade 2, finding {key}.",
        "evidence": "Invasive ductal carcinoma,  grade 2.",
    } | changes


def case(case_id="A-1", **changes):
    return {
        "case_id": case_id,
        "project": "TCGA-BRCA",
        "site": "Breast",
        "difficulty": 2,
        "goal": "Characterise the tumour.",
        "slide": None,
        "report": {"text": REPORT},
        "triplets": [triplet("1"), triplet("2")],
    } | changes


def without(row, name):
    return {key: value for key, value in row.items() if key != name}


def info(**changes):
    return {
        "schema": "medbench.benchmark/1",
        "name": "small",
        "title": "A small benchmark",
        "version": "1",
    } | changes


def bundle_files(cases, about=None, files=None):
    """Bytes by name. A case that is bytes is a raw line."""
    lines = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in cases]
    about = info() if about is None else about
    return {
        "benchmark.json": about if isinstance(about, bytes) else json.dumps(about).encode(),
        "cases.jsonl": b"".join(line + b"\n" for line in lines),
    } | (files or {})


def write_folder(folder, *cases, about=None, files=None):
    for name, data in bundle_files(cases, about, files).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def write_zip(path, *cases, about=None, files=None, prefix=""):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in bundle_files(cases, about, files).items():
            archive.writestr(prefix + name, data)
    return path


def results(*cases, **changes):
    """A result file as an object."""
    return {"schema": "medbench.results/1", "method": "Test method", "cases": list(cases)} | changes


def result(case_id="A-1", *insights, **changes):
    return {"case_id": case_id, "insights": list(insights)} | changes


def as_json(document, **options):
    return json.dumps(document, **options).encode()


def as_jsonl(document):
    header = without(document, "cases")
    return b"".join(json.dumps(row).encode() + b"\n" for row in (header, *document["cases"]))
