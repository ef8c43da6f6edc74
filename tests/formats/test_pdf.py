"""Reports as PDF: the text layer, or a clear refusal."""

import io

import pypdf
import pytest

from medbench.formats.bundle import read_bundle, write_bundle
from medbench.formats.pdf import text_layer
from medbench.formats.sources import Unfit
from tests.formats.build import case, triplet, write_folder


@pytest.fixture
def real_pdf(testdata):
    return (testdata / "data/reports/pdf/TCGA-A6-3810.pdf").read_bytes()


def empty_pdf(password=None):
    """A PDF of one empty page."""
    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    data = io.BytesIO()
    writer.write(data)
    return data.getvalue()


def refusal_of(pdf, **limits):
    with pytest.raises(Unfit) as refusal:
        text_layer(pdf, **limits)
    return refusal.value.code


def test_the_text_of_a_real_report_is_read(real_pdf):
    assert "Sigmoid colon" in text_layer(real_pdf)


def test_pictures_without_text_are_refused():
    assert refusal_of(empty_pdf()) == "pdf_no_text"


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7 nothing", b"\x89PNG\r\n"])
def test_what_is_no_pdf_is_refused(data):
    assert refusal_of(data) == "pdf_unreadable"


def test_a_pdf_cut_short_is_refused(real_pdf):
    assert refusal_of(real_pdf[: len(real_pdf) // 2]) in {"pdf_unreadable", "pdf_no_text"}


def test_an_encrypted_pdf_is_refused():
    assert refusal_of(empty_pdf(password="secret")) == "pdf_unreadable"


def test_time_and_memory_are_limited(real_pdf):
    assert refusal_of(real_pdf, timeout_s=0.001) == "pdf_unreadable"
    assert refusal_of(real_pdf, memory_mb=1) == "pdf_unreadable"


def test_a_bundle_takes_a_pdf_as_its_text(tmp_path, real_pdf):
    evidence = "Sigmoid colon - stitch on distal"
    row = case(report={"path": "reports/a.pdf"}, triplets=[triplet(evidence=evidence)])
    write_folder(tmp_path / "in", row, files={"reports/a.pdf": real_pdf})
    bundle = read_bundle(tmp_path / "in")
    assert not bundle.warnings
    assert bundle.cases[0].report.path == "reports/a.pdf"
    write_bundle(bundle, tmp_path / "out")
    again = read_bundle(tmp_path / "out").cases[0]
    assert again.report.path == "reports/a.pdf.txt"
    assert again.report.text == bundle.cases[0].report.text
    assert again.triplets[0].span == bundle.cases[0].triplets[0].span
