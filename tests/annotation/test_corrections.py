"""Other words that annotators propose: stored with the verdict, shown as tracked changes."""

import pytest
from django.urls import reverse

from annotation.corrections import tracked
from annotation.models import VerdictRevision
from annotation.services.assignments import claim_next
from annotation.services.verdicts import Draft, Stale, save_verdict, submit_verdict
from medbench.errors import InvalidInput
from tests.annotation.build import YES, make_cases, make_study, post
from tests.cases.build import make_triplet
from tests.people import signed_in

INSIGHT = "All 30 nodes are free.\r\nStage pN0 <b>."


@pytest.fixture
def held(team, ada, bruno):
    benchmark = make_cases(team, 1, 0)
    make_triplet(benchmark.cases.get(), "1", insight=INSIGHT)
    return claim_next(make_study(benchmark, [bruno], ada, per_item=1), bruno)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("All 30 nodes are free.", "All 31 nodes are free of tumour."),
        ("", "something"),
        ("gone", ""),
        ("  white \n space ", "white space"),
        ("e\u0301tat 🔬 ממאיר", "état 🔬🔬 ממאיר"),
        ("a b " * 300, "b a " * 300),
    ],
)
def test_both_texts_can_be_read_out_of_tracked_changes(old, new):
    pieces = tracked(old, new)
    assert "".join(text for kind, text in pieces if kind != "ins") == old
    assert "".join(text for kind, text in pieces if kind != "del") == new


def test_whole_words_are_exchanged():
    assert tracked("All 30 nodes", "All 31 nodes") == [
        ("same", "All "),
        ("del", "30"),
        ("ins", "31"),
        ("same", " nodes"),
    ]


def test_a_correction_is_stored_with_the_verdict_and_every_version_of_it_stays(held, bruno):
    post(bruno, held, do="save", **{"correct-insight": "All 31 nodes are free.\r\nStage pN0 <b>."})
    post(bruno, held, do="save", version=1, **{"correct-insight": INSIGHT})
    said = list(VerdictRevision.objects.values_list("corrections", flat=True))
    assert said == [{"insight": "All 31 nodes are free.\nStage pN0 <b>."}, {}]


def test_what_stands_or_nothing_at_all_is_no_correction(held, bruno):
    texts = {"correct-insight": INSIGHT.replace("\r\n", "\n") + " ", "correct-evidence": " "}
    post(bruno, held, do="save", **texts)
    assert not VerdictRevision.objects.exists()


def test_a_draft_without_a_word_of_corrections_keeps_those_that_are_stored(held):
    save_verdict(held, Draft({}, "", 0, corrections={"question": "How deep?"}))
    verdict = submit_verdict(held, Draft(YES, "", 1))
    assert verdict.corrections == {"question": "How deep?"}
    assert VerdictRevision.objects.get(submitted=True).corrections == {"question": "How deep?"}


def test_two_windows_with_other_corrections_are_a_conflict(held):
    save_verdict(held, Draft({}, "", 0, corrections={"question": "How deep?"}))
    with pytest.raises(Stale):
        save_verdict(held, Draft({}, "", 0, corrections={"question": "How wide?"}))


@pytest.mark.parametrize("wrong", [{"goal": "x"}, {"insight": "x" * 10_001}, {"insight": "\x00"}])
def test_what_the_page_cannot_have_sent_is_refused(held, wrong):
    with pytest.raises(InvalidInput):
        save_verdict(held, Draft({}, "", 0, corrections=wrong))
    assert not VerdictRevision.objects.exists()


def test_the_page_shows_it_as_tracked_text_and_the_history_too(held, bruno):
    save_verdict(held, Draft({}, "", 0, corrections={"insight": "All 31 nodes are free.\nStage pN0 <b>."}))
    save_verdict(held, Draft({}, "", 1, corrections={}))
    history = signed_in(bruno).get(reverse("annotation:guidelines", args=[held.pk])).content.decode()
    removed = '<del><span class="visually-hidden">removed: </span>30</del>'
    added = '<ins><span class="visually-hidden">added: </span>31</ins>'
    assert f"All {removed}{added} nodes are free.\nStage pN0 &lt;b&gt;." in history
    assert "taken back" in history
