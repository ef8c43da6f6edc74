"""Bundles in: all or nothing, as few rows as needed, frozen at once."""

import json
import shutil
from dataclasses import replace

import pytest

from medbench.accounts.permissions import Role, roles
from medbench.cases.bundles import bundle_of, digest
from medbench.cases.editions import Edition
from medbench.cases.models import Benchmark, Case, Goal, Release, Report, Triplet, TripletVersion
from medbench.cases.services import Wording, edit_triplet, import_benchmark
from medbench.errors import Conflict, NotAllowed
from medbench.formats.benchmark import BenchmarkInfo, Bundle, ReportText
from medbench.formats.benchmark import Case as BundleCase
from medbench.formats.benchmark import Triplet as BundleTriplet
from medbench.formats.bundle import read_bundle
from medbench.slides.models import Slide
from tests.people import join, make_person

REPORT = "Tumour size: 6 cm.\nMargins: negative.\nNodes: 0/30."


def a_bundle(version="1", *, insight="It is large.", goal="Judge it", report=REPORT, n_cases=2):
    cases = []
    for n in range(n_cases):
        triplets = (
            BundleTriplet("a", "descriptive", "How large?", insight, "Tumour size:\n6 cm."),
            BundleTriplet("b", "evaluative", "How firm?", "Firm enough.", "Nodes: 0/30."),
        )
        text = ReportText(report, f"reports/{n}.txt")
        cases.append(BundleCase(f"C-{n}", "TCGA", "Colon", 2, goal, "open", None, text, triplets))
    return Bundle(BenchmarkInfo("colon", "Colon insight", version, licence="CC0"), tuple(cases))


def rows():
    return [
        kind.objects.count() for kind in (Benchmark, Case, Report, Goal, Triplet, TripletVersion, Release)
    ]


@pytest.fixture
def site_curator(db):
    return make_person("sam", "Sam Site", is_superuser=True)


def test_a_new_benchmark_has_its_importer_as_curator(site_curator):
    outcome = import_benchmark(a_bundle(), by=site_curator)
    benchmark = Benchmark.objects.get(name="colon")
    assert outcome.is_new
    assert (outcome.cases, outcome.triplets) == (2, 4)
    assert benchmark.team.memberships.get().role == Role.CURATOR
    assert Role.CURATOR in roles(site_curator, benchmark.team)
    assert (benchmark.title, benchmark.licence) == ("Colon insight", "CC0")


def test_an_import_is_frozen_at_once_with_its_version(db):
    import_benchmark(a_bundle("2026-1"), by=None)
    release = Release.objects.get()
    assert (release.number, release.version, release.cases.count()) == (1, "2026-1", 2)
    assert release.digest == digest(a_bundle("2026-1"))


def test_what_was_imported_is_what_was_given(db):
    import_benchmark(a_bundle(), by=None)
    release = Release.objects.get()
    assert bundle_of(Edition(release.benchmark, release)) == a_bundle()


def test_evidence_is_anchored_across_line_breaks(db):
    import_benchmark(a_bundle(), by=None)
    version = TripletVersion.objects.filter(triplet__key="a").first()
    assert version.quote == "Tumour size: 6 cm."
    assert version.report.text[version.span_start : version.span_end] == version.quote


def test_the_same_version_again_changes_nothing(db):
    import_benchmark(a_bundle(), by=None)
    before = rows()
    outcome = import_benchmark(a_bundle(), by=None)
    assert not outcome.is_new
    assert rows() == before


def test_the_same_version_with_other_content_is_refused(db):
    import_benchmark(a_bundle(), by=None)
    before = rows()
    with pytest.raises(Conflict, match="new version") as refused:
        import_benchmark(a_bundle(insight="It is small."), by=None)
    assert refused.value.code == "version_exists"
    assert rows() == before


def test_another_version_with_the_same_content_is_refused(db):
    import_benchmark(a_bundle("1"), by=None)
    with pytest.raises(Conflict) as refused:
        import_benchmark(a_bundle("2"), by=None)
    assert refused.value.code == "nothing_changed"
    assert Release.objects.count() == 1


def test_a_new_version_adds_rows_only_where_the_text_changed(db):
    import_benchmark(a_bundle("1"), by=None)
    changed = a_bundle("2")
    one = replace(changed.cases[0].triplets[0], insight="It is small.")
    case = replace(changed.cases[0], triplets=(one, changed.cases[0].triplets[1]))
    import_benchmark(replace(changed, cases=(case, changed.cases[1])), by=None)
    assert rows() == [1, 2, 2, 2, 4, 5, 2]
    triplet = Triplet.objects.get(case__case_id="C-0", key="a")
    assert (triplet.current.version, triplet.current.insight) == (2, "It is small.")


def test_an_unchanged_triplet_keeps_its_state_and_a_changed_one_is_proposed_anew(db):
    import_benchmark(a_bundle("1"), by=None)
    Triplet.objects.update(state="verified")
    changed = a_bundle("2", insight="It is small.")
    import_benchmark(changed, by=None)
    assert dict(Triplet.objects.filter(case__case_id="C-0").values_list("key", "state")) == {
        "a": "proposed",
        "b": "verified",
    }


def test_a_new_report_anchors_every_triplet_of_the_case_anew(db):
    import_benchmark(a_bundle("1"), by=None)
    import_benchmark(a_bundle("2", report=f"ADDENDUM\n{REPORT}"), by=None)
    assert rows() == [1, 2, 4, 2, 4, 8, 2]
    for triplet in Triplet.objects.select_related("current__report", "case"):
        version = triplet.current
        assert version.report == triplet.case.report
        assert version.report.text[version.span_start : version.span_end] == version.quote


def test_what_the_bundle_no_longer_names_is_retired_and_comes_back(db):
    full = a_bundle("1")
    import_benchmark(full, by=None)
    fewer = replace(full.cases[0], triplets=full.cases[0].triplets[:1])
    import_benchmark(replace(a_bundle("2"), cases=(fewer,)), by=None)
    assert Case.objects.get(case_id="C-1").retired_at
    assert Triplet.objects.get(case__case_id="C-0", key="b").retired_at
    draft = Edition(Benchmark.objects.get(), None)
    assert [len(case.triplets) for case in bundle_of(draft).cases] == [1]
    assert bundle_of(Edition(draft.benchmark, Release.objects.get(number=1))) == full

    import_benchmark(a_bundle("3", goal="Judge it again"), by=None)
    assert not Case.objects.exclude(retired_at=None).exists()
    assert not Triplet.objects.exclude(retired_at=None).exists()


def test_a_rejected_triplet_that_the_bundle_names_is_in(db):
    import_benchmark(a_bundle("1"), by=None)
    Triplet.objects.filter(key="b").update(state="rejected")
    import_benchmark(a_bundle("2", goal="Judge it again"), by=None)
    assert set(Triplet.objects.values_list("state", flat=True)) == {"proposed"}
    assert Release.objects.get(number=2).digest == digest(a_bundle("2", goal="Judge it again"))


def test_an_edit_in_the_working_copy_is_overwritten_by_a_new_version_of_the_bundle(db):
    import_benchmark(a_bundle("1"), by=None)
    triplet = Triplet.objects.get(case__case_id="C-0", key="a")
    wording = Wording("predictive", "How large?", "Mine.", "Nodes: 0/30.")
    edit_triplet(triplet, wording, by=None, based_on=1)
    import_benchmark(a_bundle("2", goal="Judge it again"), by=None)
    triplet.refresh_from_db()
    assert (triplet.current.version, triplet.current.insight) == (3, "It is large.")


def test_a_dry_run_leaves_nothing(site_curator):
    outcome = import_benchmark(a_bundle(), by=site_curator, dry_run=True)
    assert (outcome.cases, outcome.release) == (2, None)
    assert rows() == [0] * 7
    import_benchmark(a_bundle(), by=site_curator)
    with pytest.raises(Conflict):
        import_benchmark(a_bundle(goal="Other"), by=site_curator, dry_run=True)


def test_a_curator_imports_new_versions_but_no_new_benchmarks(db):
    ada = make_person("ada2")
    with pytest.raises(NotAllowed, match="site curator"):
        import_benchmark(a_bundle(), by=ada)
    assert rows() == [0] * 7
    import_benchmark(a_bundle(), by=None)
    with pytest.raises(NotAllowed, match="taken"):
        import_benchmark(a_bundle("2", goal="Mine"), by=ada)
    join(Benchmark.objects.get().team, ada, Role.CURATOR)
    import_benchmark(a_bundle("2", goal="Mine"), by=ada)
    assert Release.objects.get(number=2).frozen_by == ada


def test_an_unanchored_triplet_is_imported(db):
    bundle = a_bundle()
    loose = replace(bundle.cases[0].triplets[0], evidence="Nowhere in this report")
    case = replace(bundle.cases[0], triplets=(loose,))
    import_benchmark(replace(bundle, cases=(case,)), by=None)
    assert not TripletVersion.objects.get().is_anchored


# --- Slides, with the real bundle ---------------------------------------------------------


def test_real_slides_are_copied_and_registered(db, mini):
    outcome = import_benchmark(read_bundle(mini), by=None)
    assert outcome.warnings.total == 0
    ready = Slide.objects.filter(state="ready")
    assert {slide.file_name for slide in ready} == {
        "slides/TCGA-CR-7395-01A-01-TS1.svs",
        "slides/small_dicom.dcm",
    }


def test_a_slide_that_is_refused_stays_pending_with_its_reason(db, mini_refused):
    outcome = import_benchmark(read_bundle(mini_refused), by=None)
    ready = Slide.objects.get(state="ready")
    assert ready.file_name == "slides/TCGA-CR-7395-01A-01-TS1.svs"
    assert ready.path == f"{ready.pk}/TCGA-CR-7395-01A-01-TS1.svs"
    refused = Slide.objects.get(state="pending")
    assert refused.refusal_code
    assert [(each.code, each.case_id) for each in outcome.warnings] == [("slide_refused", "TCGA-XK-AAJU")]


def test_a_dry_run_foresees_the_refused_slide(db, mini_refused):
    outcome = import_benchmark(read_bundle(mini_refused), by=None, dry_run=True)
    assert [(each.code, each.case_id) for each in outcome.warnings] == [("slide_refused", "TCGA-XK-AAJU")]
    assert Slide.objects.count() == 0


def test_slides_that_were_absent_follow_with_the_same_version(db, mini, mini_refused, tmp_path):
    shutil.copytree(mini, tmp_path / "bundle", ignore=shutil.ignore_patterns("slides"))
    outcome = import_benchmark(read_bundle(tmp_path / "bundle"), by=None)
    assert [each.code for each in outcome.warnings] == ["slide_missing", "slide_missing"]
    assert set(Slide.objects.values_list("refusal_code", flat=True)) == {"file_missing"}

    again = import_benchmark(read_bundle(tmp_path / "bundle", slides_dir=mini_refused / "slides"), by=None)
    assert [each.code for each in again.warnings] == ["slide_refused"]
    assert Slide.objects.filter(state="ready").count() == 1
    assert Release.objects.count() == 1


def test_a_slide_that_is_here_is_not_told_as_missing(db, mini, mini_refused, tmp_path):
    import_benchmark(read_bundle(mini_refused), by=None)
    shutil.copytree(mini, tmp_path / "bundle", ignore=shutil.ignore_patterns("slides"))
    outcome = import_benchmark(read_bundle(tmp_path / "bundle"), by=None)
    assert [(each.code, each.case_id) for each in outcome.warnings] == [("slide_missing", "TCGA-XK-AAJU")]
    assert outcome.warnings.total == 1


def test_another_file_of_the_same_name_is_another_slide(db, mini, tmp_path, testdata):
    """The pixels of the older release do not change."""
    import_benchmark(read_bundle(mini), by=None)
    bundle = tmp_path / "bundle"
    shutil.copytree(mini, bundle, ignore=shutil.ignore_patterns("slides"))
    (bundle / "slides").mkdir()
    shutil.copyfile(
        testdata / "data/slides/CMU-1-Small-Region.svs", bundle / "slides/TCGA-CR-7395-01A-01-TS1.svs"
    )
    info = json.loads((mini / "benchmark.json").read_text()) | {"version": "2"}
    (bundle / "benchmark.json").chmod(0o644)
    (bundle / "benchmark.json").write_text(json.dumps(info))
    import_benchmark(read_bundle(bundle), by=None)
    first, second = (
        release.cases.get(case__case_id="TCGA-CR-7395").slide
        for release in Release.objects.order_by("number")
    )
    assert first.sha256 != second.sha256
    assert first.is_ready
    assert second.is_ready
