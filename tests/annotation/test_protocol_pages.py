"""Copying a protocol and writing the copy."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation import drafting
from annotation.draft_page import where
from annotation.models import Protocol, ProtocolAction, Study
from annotation.protocols import Definition
from annotation.services import protocols, studies
from medbench.accounts.models import Team
from medbench.accounts.permissions import Role
from medbench.errors import Conflict, InvalidInput
from tests.annotation.build import make_draft
from tests.cases.build import make_benchmark
from tests.people import join, make_person, signed_in


@pytest.fixture
def built_in(db):
    return Protocol.objects.get(key="triplet", version=2)


@pytest.fixture
def own(built_in, benchmark, ada):
    return protocols.copy_protocol(built_in, benchmark.team, title="Our triplets", by=ada)


def tree_of(protocol):
    return drafting.tree_of(protocol.title, Definition.read(protocol.definition))


def fields_of(tree, prefix=""):
    """A tree as a browser sends its form."""
    fields = {}
    for name, value in tree.items():
        if isinstance(value, list):
            letter = next(letter for letter, full in drafting.LISTS.items() if full == name)
            for number, each in enumerate(value):
                fields |= fields_of(each, f"{prefix}{letter}{number}-")
        elif value is not False:
            fields[f"{prefix}{name}"] = "on" if value is True else value
    return fields


def post(person, protocol, tree, do="save", **more):
    form = {"seen": protocols.digest(protocol), "do": do} | fields_of(tree) | more
    return signed_in(person).post(f"/protocols/{protocol.pk}/edit/", form)


def change(protocol, by, **fields):
    tree = tree_of(protocol) | fields
    return protocols.change_protocol(protocol, tree, seen=protocols.digest(protocol), by=by)


@pytest.mark.parametrize("key", ["triplet", "report", "goal", "case", "output", "novelty", "difficulty"])
def test_the_form_of_a_protocol_gives_back_what_it_was_made_from(db, key):
    tree = tree_of(Protocol.objects.filter(key=key).first())
    assert len(fields_of(tree)) < 900  # the most that a form may have is 1,000
    assert drafting.read(fields_of(tree)) == tree
    assert drafting.problems_of(tree) == []


def test_a_curator_copies_a_built_in_protocol_into_the_team(built_in, benchmark, ada):
    client = signed_in(ada)
    page = client.get(f"/protocols/{built_in.pk}/").content.decode()
    assert "Copy and edit" in page
    assert f'href="/protocols/{built_in.pk}/edit/"' not in page
    form = {"benchmark": str(benchmark.pk), "title": "Our triplets"}
    answer = client.post(f"/protocols/{built_in.pk}/copy/", form)
    copied = Protocol.objects.get(title="Our triplets")
    assert answer["Location"] == f"/protocols/{copied.pk}/edit/"
    assert (copied.team, copied.source, copied.version) == (benchmark.team, built_in, 1)
    assert tree_of(copied) == tree_of(built_in) | {"title": "Our triplets"}
    assert copied.actions.get().note == "from Triplet v2"
    assert client.get(f"/protocols/{copied.pk}/").status_code == 200


def test_a_copy_is_offered_to_its_own_team_alone(own, benchmark, ada):
    lung = Team.objects.create(name="Lung")
    make_benchmark(lung, "lung")
    olga = join(lung, make_person("olga"), Role.CURATOR)
    assert "Our triplets v1" in signed_in(ada).get("/studies/new/").content.decode()
    assert "Our triplets v1" not in signed_in(olga).get("/studies/new/").content.decode()
    assert "Our triplets" not in signed_in(olga).get("/protocols/").content.decode()
    assert signed_in(olga).get(f"/protocols/{own.pk}/").status_code == 404
    own.team = lung
    own.save()
    with pytest.raises(InvalidInput, match="another team"):
        make_draft(benchmark, [], ada, protocol=own)


def test_a_change_before_any_study_is_made_in_place_and_logged(own, ada):
    tree = tree_of(own)
    tree["questions"][1]["title"] = "True to the report"
    tree["questions"][1]["options"][0]["anchor"] = "As reported."
    tree["questions"].pop(3)
    tree["introduction"] = "Read slowly."
    assert post(ada, own, tree)["Location"] == f"/protocols/{own.pk}/"
    own.refresh_from_db()
    definition = Definition.read(own.definition)
    assert (own.version, definition.introduction) == (1, "Read slowly.")
    assert [question.key for question in definition.questions] == [
        "grounded",
        "faithful",
        "aligned",
        "category",
    ]
    note = own.actions.get(what="changed").note.splitlines()
    assert "question removed: Where it can be seen" in note
    assert "question Faithful to the report, title: Faithful to the report → True to the report" in note
    assert own.actions.get(what="changed").person == ada


def test_a_change_after_a_study_has_started_opens_a_version_and_the_study_keeps_its_own(
    own, benchmark, bruno, chen, ada
):
    study = studies.start_study(make_draft(benchmark, [bruno, chen], ada, protocol=own))
    page = signed_in(ada).get(f"/protocols/{own.pk}/edit/").content.decode()
    assert "saving opens version 2" in page
    newer = change(own, ada, introduction="Read twice.")
    assert (newer.version, newer.key, newer.team) == (2, own.key, own.team)
    study.refresh_from_db()
    assert study.protocol == own
    own.refresh_from_db()
    assert own.definition["introduction"] != "Read twice."
    assert signed_in(ada).get(f"/protocols/{own.pk}/").content.decode().count("Our triplets v") >= 3
    with pytest.raises(Conflict, match="Somebody else"):  # only the newest version is written on
        change(own, ada, introduction="Read thrice.")


def test_a_draft_of_a_study_does_not_fix_its_protocol(own, benchmark, bruno, chen, ada):
    study = make_draft(benchmark, [bruno, chen], ada, protocol=own)
    assert change(own, ada, introduction="Read twice.") == own
    assert studies.start_study(study).protocol.definition["introduction"] == "Read twice."


def test_what_somebody_else_changed_meanwhile_is_not_overwritten(own, ada):
    mine, seen = tree_of(own), protocols.digest(own)
    change(own, ada, introduction="Theirs.")
    own.refresh_from_db()
    answer = post(ada, own, mine | {"introduction": "Mine."}, seen=seen)
    assert answer.status_code == 409
    assert "Mine." in answer.content.decode()
    own.refresh_from_db()
    assert own.definition["introduction"] == "Theirs."


def test_saving_what_stands_there_changes_nothing(own, ada):
    assert change(own, ada) == own
    assert own.actions.count() == 1


def edited(tree, place, **fields):
    node = tree
    for part in place.split("-"):
        node = node[drafting.LISTS[part[0]]][int(part[1:])]
    node.update(fields)
    return tree


@pytest.mark.parametrize(
    ("place", "fields", "at", "words"),
    [
        ("q0", {"title": ""}, "q0-title", "Something has to stand here"),
        ("q0-o1", {"label": ""}, "q0-o1-label", "Something has to stand here"),
        ("q0-o1", {"label": "yes"}, "q0-o1-label", "the same words"),
        ("q0-o1", {"key": "y"}, "q0-o1-key", "has this letter"),
        ("q0-o1", {"key": "e"}, "q0-o1-key", "one of the letters"),
        ("q0-o1", {"requires": "note", "asks": ""}, "q0-o1-asks", "Say what is asked for"),
        ("q0-o1", {"status": "pink"}, "q0-o1-status", "no choice"),
        ("q0", {"scale": "score"}, "q0-o0-label", "whole number"),
        ("q0", {"options": []}, "q0-title", "two answers or more"),
        ("q0", {"help": "x" * 501}, "q0-help", "501 characters, at most 500"),
        ("s0", {"heading": ""}, "s0-heading", "Something has to stand here"),
        ("q0", {"help": "a\0b"}, "q0-help", "cannot be stored"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_saved(own, ada, place, fields, at, words):
    answer = post(ada, own, edited(tree_of(own), place, **fields))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert f'<a href="#id-{at}">{where(at)}</a>: ' in page
    assert words in page.split(f'id="error-{at}"')[1][:200]
    assert own.actions.count() == 1


@pytest.mark.parametrize(
    ("do", "names"),
    [
        ("up:q1", ["faithful", "grounded", "aligned", "visible", "category"]),
        ("down:q4", ["grounded", "faithful", "aligned", "visible", "category"]),
        ("remove:q0", ["faithful", "aligned", "visible", "category"]),
        ("add:q", ["grounded", "faithful", "aligned", "visible", "category", ""]),
    ],
)
def test_questions_are_moved_added_and_removed_without_script(own, ada, do, names):
    page = post(ada, own, tree_of(own), do=do).content.decode()
    assert [f'name="q{at}-key" value="{name}"' in page for at, name in enumerate(names)] == [True] * len(
        names
    )
    assert f'name="q{len(names)}-key"' not in page
    assert own.actions.count() == 1  # nothing is saved yet


def test_answers_and_terms_are_added_and_a_new_question_gets_a_name_of_its_own(own, ada):
    tree = tree_of(own)
    assert drafting.rearrange(tree, "add:q") == "q5"
    tree["questions"][5]["title"] = "Grounded"
    assert drafting.rearrange(tree, "add:q5-o") == "q5-o3"
    tree["questions"][5]["options"][3] |= {"label": "In part"}
    assert drafting.rearrange(tree, "add:s0-t") == "s0-t6"
    assert drafting.rearrange(tree, "remove:s0-t6") == ""
    post(ada, own, tree)
    own.refresh_from_db()
    question = Definition.read(own.definition).questions[5]
    assert question.key == "grounded_2"
    assert [option.value for option in question.options] == ["yes", "no", "cannot_judge", "in_part"]


@pytest.mark.parametrize("do", ["remove:q9", "up:x1", "add:", "remove:q0-o", "dance"])
def test_a_part_that_is_not_there_is_refused(own, ada, do):
    assert post(ada, own, tree_of(own), do=do).status_code == 400


def test_the_preview_shows_the_form_as_it_would_be(own, ada):
    tree = edited(tree_of(own), "q0", title="Rests on the text")
    address, fields = f"/protocols/{own.pk}/edit/", fields_of(tree)
    page = signed_in(ada).post(address, fields, headers={"HX-Request": "true"}).content.decode()
    assert "Rests on the text" in page
    assert "<form" not in page
    page = signed_in(ada).post(address, fields | {"q0-title": ""}, headers={"HX-Request": "true"})
    assert "can be shown once" in page.content.decode()


def test_a_built_in_protocol_stays_as_it_is(built_in, benchmark, ada):
    assert signed_in(ada).get(f"/protocols/{built_in.pk}/edit/").status_code == 409
    with pytest.raises(Conflict, match="Copy it"):
        change(built_in, ada, introduction="Other.")


def test_the_log_of_a_protocol_never_changes(own):
    line = own.actions.get()
    line.note = "nothing"
    with pytest.raises(Conflict):
        line.save()
    with pytest.raises(Conflict):
        ProtocolAction.objects.update(note="nothing")


def test_the_list_costs_the_same_queries_for_one_and_three_own_protocols(
    own, built_in, benchmark, ada, django_assert_num_queries
):
    client = signed_in(ada)
    client.get("/protocols/")
    with CaptureQueriesContext(connection) as few:
        client.get("/protocols/")
    for number in range(2):
        protocols.copy_protocol(built_in, benchmark.team, title=f"More {number}", by=ada)
    with django_assert_num_queries(len(few)):
        client.get("/protocols/")
    assert Study.objects.count() == 0
