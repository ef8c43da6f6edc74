"""Protocols as data."""

import copy
import tomllib

import pytest

from annotation.models import Protocol
from annotation.protocols import BUILT_IN, Definition, Said, store_built_in
from medbench.cases.models import Category
from medbench.errors import InvalidInput


@pytest.fixture
def data():
    return tomllib.loads((BUILT_IN / "triplet_1.toml").read_text(encoding="utf-8"))


def test_the_triplet_protocol_asks_the_three_criteria_and_the_category(db):
    protocol = Protocol.objects.get(key="triplet", version=1)
    definition = Definition.read(protocol.definition)
    assert [question.key for question in definition.questions] == [
        "grounded",
        "faithful",
        "aligned",
        "category",
    ]
    for question in definition.questions:
        assert question.required
        assert [(option.value, option.key) for option in question.options] == [
            ("yes", "y"),
            ("no", "n"),
            ("cannot_judge", "u"),
        ]
        assert all(option.anchor for option in question.options)


def test_the_guidelines_define_all_six_categories(data):
    definition = Definition.read(data)
    terms = [term for section in definition.sections for term, _ in section.terms]
    assert terms == list(Category.labels)


def test_storing_again_changes_nothing_that_was_stored(db):
    Protocol.objects.filter(key="triplet", version=1).update(title="As it was answered")
    store_built_in()
    assert Protocol.objects.get(key="triplet", version=1).title == "As it was answered"


def test_every_human_protocol_of_the_paper_is_there(db):
    asked = {
        protocol.kind: {
            question.key: [option.value for option in question.judging]
            for question in Definition.read(protocol.definition).questions
        }
        for protocol in Protocol.objects.order_by("version")
    }
    assert set(asked) == {"triplet", "goal", "report", "case", "output", "novelty", "difficulty"}
    assert list(asked["output"]) == ["similarity", "accuracy", "plausibility"]
    assert all(values == [str(n) for n in range(1, 11)] for values in asked["output"].values())
    assert asked["novelty"] == {"category": ["a", "b", "c"]}
    assert asked["triplet"]["visible"] == ["slide", "report", "neither"]
    assert len(asked["goal"]) == 6
    assert list(asked["case"]) == ["correctness", "rationality", "coherence"]
    assert asked["difficulty"]["level"] == ["1", "2", "3", "4"]
    assert len(asked["difficulty"]) == 5


def test_every_question_can_be_answered_with_cannot_judge_and_every_option_says_when_to_choose_it(db):
    for protocol in Protocol.objects.all():
        for question in Definition.read(protocol.definition).questions:
            assert question.help
            assert len(question.judging) == len(question.options) - 1
            assert all(option.anchor for option in question.options)


def test_of_the_material_only_critical_checks_discard_a_case(db):
    definition = Definition.read(Protocol.objects.get(key="report").definition)
    auxiliary = [question.key for question in definition.questions if not question.critical]
    assert auxiliary == ["markers", "history", "consistent"]
    assert {question.group for question in definition.questions if not question.critical} == {"Auxiliary"}


def damaged(data, change):
    data = copy.deepcopy(data)
    change(data["questions"])
    return data


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (list.clear, "no question"),
        (lambda questions: questions.append(questions[0]), "grounded"),
        (lambda questions: questions[0].pop("title"), "title"),
        (lambda questions: questions[0].update(colour="red"), "colour"),
        (lambda questions: questions[0].update(key="Not a name"), "Not a name"),
        (lambda questions: questions[1]["options"].pop(), None),
        (lambda questions: questions[1].update(options=questions[1]["options"][:1]), "faithful"),
        (lambda questions: questions[1]["options"][0].update(key="n"), "faithful"),
        (lambda questions: questions[1]["options"][0].update(value="no"), "no"),
        (lambda questions: questions[1]["options"][0].update(status="green"), "green"),
    ],
)
def test_a_damaged_definition_is_refused_and_the_place_is_named(data, change, names):
    if names is None:  # two options are still a question
        assert len(Definition.read(damaged(data, change)).questions[1].options) == 2
        return
    with pytest.raises(InvalidInput, match=names):
        Definition.read(damaged(data, change))


def test_gaps_come_in_the_order_of_the_questions(data):
    definition = Definition.read(data)
    gaps = definition.gaps(Said({"faithful": "yes"}, {}, 0, is_anchored=True))
    assert [gap.field for gap in gaps] == ["grounded", "aligned", "category"]
    assert gaps[0].message == "“Grounded in the evidence” has no answer yet."


@pytest.mark.parametrize(
    ("answer", "beside", "code"),
    [
        ({"grounded": "yes"}, {"is_anchored": True}, None),
        ({"grounded": "yes"}, {}, "needs_proof"),
        ({"grounded": "yes"}, {"n_regions": 1}, None),
        ({"grounded": "yes"}, {"notes": {"grounded": "Gross finding."}}, None),
        ({"grounded": "no"}, {}, None),
        ({"visible": "slide"}, {}, "needs_region"),
        ({"visible": "slide"}, {"n_regions": 1}, None),
        ({"visible": "slide"}, {"notes": {"visible": "Diffuse."}}, None),
        ({"visible": "neither"}, {"n_regions": 1}, "needs_note"),
        ({"visible": "neither"}, {"notes": {"visible": "  "}}, "needs_note"),
        ({"visible": "neither"}, {"notes": {"visible": "Outside the scanned area."}}, None),
        ({"visible": "report"}, {}, None),
        ({"category": "no"}, {}, "needs_note"),
    ],
)
def test_a_supported_triplet_needs_a_passage_a_place_or_a_reason(db, answer, beside, code):
    definition = Definition.read(Protocol.objects.get(key="triplet", version=2).definition)
    said = Said(**{"answers": answer, "notes": {}, "n_regions": 0, "is_anchored": False} | beside)
    (key,) = answer
    assert [gap.code for gap in definition.gaps(said) if gap.field == key] == ([code] if code else [])


@pytest.mark.parametrize("answers", [{"grounded": "perhaps"}, {"beauty": "yes"}, {"grounded": ""}])
def test_an_answer_that_the_protocol_does_not_know_is_refused(data, answers):
    with pytest.raises(InvalidInput):
        Definition.read(data).check_answers(answers)
