"""People beside machines, on review items as the leaderboard will make them."""

import numpy as np
import pytest
from django.urls import reverse

from annotation.models import Protocol, Study
from annotation.services import studies
from annotation.services.adjudication import Ruling, decide
from medbench.review.models import ReviewItem
from medbench.review.outputs import HIDDEN
from tests.annotation.build import YES, answer_all, compute_agreement, make_cases, make_study
from tests.cases.build import make_benchmark, make_case
from tests.people import signed_in

SYSTEMS = ("zqmethod-direct", "zqmethod-react", "zqmethod-agent")


def make_items(benchmark, kind, payloads):
    """Review items of a kind, one for each payload; its `case` is the number of a case."""
    n_cases = max(payload["case"] for payload in payloads)
    cases = [make_case(benchmark, f"C-{number}") for number in range(1, n_cases + 1)]
    return [
        ReviewItem(
            benchmark=benchmark,
            kind=kind,
            subject_id=f"{kind}-{number}",
            payload={name: value for name, value in payload.items() if name != "case"},
            hides=list(HIDDEN),
            case=cases[payload["case"] - 1],
        )
        for number, payload in enumerate(payloads)
    ]


def judge(team, kind, payloads, people, by, **answers):
    """A study of such items, answered by each of `people` from the payload; agreement is computed."""
    benchmark = make_benchmark(team)
    protocol = Protocol.objects.get(key=kind, version=1)
    study = Study(benchmark=benchmark, protocol=protocol, title="Audit", annotators_per_item=len(people))
    items = make_items(benchmark, kind, payloads)
    study = studies.start_study(studies.draft_study(study, items, [person for person, _ in people], by=by))
    for person, says in people:
        answer_all(study, person, lambda position, says=says: says(payloads[position - 1]))
    return study, compute_agreement(study, by).result["machine"]


def outputs(n_cases=6):
    """Three systems, the better the later; people score as the metrics do."""
    return [
        {
            "case": case,
            "method": system,
            "insight": f"Insight of {number} in case {case}: margins are negative.",
            "references": ["Margins are negative."],
            "goal": "",
            "automated": {
                "recall": 0.2 + 0.1 * number + 0.02 * case,
                "precision": 0.5,
                "f1": 0.1 * number + 0.03 * case,
            },
        }
        for case in range(1, n_cases + 1)
        for number, system in enumerate(SYSTEMS)
    ]


def by_f1(shift=0):
    def says(payload):
        score = str(min(10, 1 + shift + round(10 * payload["automated"]["f1"])))
        return {"similarity": score, "accuracy": score, "plausibility": score}

    return says


@pytest.fixture
def axes():
    return [each["key"] for each in Protocol.objects.get(key="output").definition["questions"]]


def test_automated_scores_are_correlated_with_people_at_both_levels(team, ada, bruno, chen, axes):
    def like(shift):
        return lambda payload: dict.fromkeys(axes, by_f1(shift)(payload)["similarity"])

    _, found = judge(team, "output", outputs(), [(bruno, like(0)), (chen, like(1))], ada)
    rows = {(row["metric"], row["level"]): row for row in found["correlation"]["rows"]}
    assert len(rows) == 8
    system, case = rows["f1", "system"], rows["f1", "case"]
    assert (system["n_systems"], system["n_cases"]) == (3, 6)
    assert system["pearson"]["value"] == pytest.approx(1, abs=0.02)
    assert case["spearman"]["value"] > 0.8
    low, high = case["pearson"]["ci"]
    assert low <= case["pearson"]["value"] <= high
    constant = rows["precision", "case"]["pearson"]
    assert (constant["value"], constant["reason"]) == (None, "constant_input")
    assert rows["novelty", "system"]["pearson"]["value"] is None  # nobody was scored
    agent = found["correlation"]["systems"][0]
    assert (agent["system"], agent["n_cases"]) == ("zqmethod-agent", 6)
    expected = np.mean(
        [
            1.5 + round(10 * each["automated"]["f1"])
            for each in outputs()
            if each["method"] == "zqmethod-agent"
        ]
    )
    assert agent["human"] == pytest.approx(expected)


def test_an_annotator_who_left_an_axis_out_does_not_count_for_the_item(team, ada, bruno, chen, axes):
    full = dict.fromkeys(axes, "4")
    _, found = judge(
        team,
        "output",
        outputs(1),
        [(bruno, lambda _: full), (chen, lambda _: full | {axes[0]: "cannot_judge", axes[1]: "10"})],
        ada,
    )
    assert [each["human"] for each in found["correlation"]["systems"]] == [4, 4, 4]


def audited():
    """Table 7 of the paper in small: by method, what experts say and how novel the metric says it is."""
    said = {SYSTEMS[0]: "ccccab", SYSTEMS[1]: "aabbcc", SYSTEMS[2]: "aaabbb"}
    novelty = {SYSTEMS[0]: 0.1, SYSTEMS[1]: 0.4, SYSTEMS[2]: 0.6}
    return [
        {"case": case, "method": system, "insight": f"{system} {case}", "says": answer, "goal": ""}
        | {"automated": {"novelty": novelty[system]}}
        for system in SYSTEMS
        for case, answer in enumerate(said[system], 1)
    ]


def test_the_audit_counts_categories_with_wilsons_interval_beside_automated_novelty(team, ada, bruno):
    _, found = judge(
        team, "novelty", audited(), [(bruno, lambda payload: {"category": payload["says"]})], ada
    )
    rows = {row["system"]: row for row in found["audit"]["systems"]}
    react = rows["zqmethod-react"]
    assert react["counts"] == {"a": 2, "b": 2, "c": 2, "undecided": 0}
    assert react["approval"]["value"] == pytest.approx(4 / 6)
    assert react["approval"]["ci"] == pytest.approx([0.2999, 0.9032], abs=1e-4)  # Wilson, by hand
    assert react["automated"] == pytest.approx(0.4)
    assert found["audit"]["spearman"]["value"] == pytest.approx(1)


def test_an_insight_that_readers_sort_differently_is_undecided_until_it_is_decided(
    team, ada, bruno, chen, dara
):
    def chen_says(payload):
        return {"category": "c" if payload["insight"].endswith("agent 1") else payload["says"]}

    study, found = judge(
        team,
        "novelty",
        audited(),
        [(bruno, lambda payload: {"category": payload["says"]}), (chen, chen_says)],
        ada,
    )
    assert next(row for row in found["audit"]["systems"] if row["system"] == SYSTEMS[2])["counts"] == {
        "a": 2,
        "b": 3,
        "c": 0,
        "undecided": 1,
    }
    item = next(each for each in study.items.all() if each.item.payload["insight"].endswith("agent 1"))
    decide(item, Ruling({"category": "a"}, "decided", "Seen."), by=dara)
    again = compute_agreement(study, ada).result["machine"]["audit"]["systems"]
    assert next(row for row in again if row["system"] == SYSTEMS[2])["counts"]["a"] == 3


def test_a_models_data_quality_stands_beside_peoples(team, ada, bruno, chen):
    questions = [each["key"] for each in Protocol.objects.get(key="case").definition["questions"]]
    payloads = [
        {"case": case, "goal": "", "triplets": [], "automated": dict.fromkeys(questions, min(5, case + 1))}
        for case in range(1, 6)
    ]
    people = [
        (person, lambda payload: dict.fromkeys(questions, str(payload["case"]))) for person in (bruno, chen)
    ]
    _, found = judge(team, "case", payloads, people, ada)
    (row, *_) = found["quality"]
    assert (row["n_items"], row["human"]["value"], row["machine"]["value"]) == (5, 3, 3.8)
    assert row["difference"]["value"] == pytest.approx(0.8)


def test_questions_and_insights_of_triplets_tell_how_much_they_repeat_one_another(team, ada, bruno):
    study = make_study(make_cases(team, 2, 2), [bruno], ada, per_item=1)
    answer_all(study, bruno, YES)
    found = compute_agreement(study, ada).result["machine"]["redundancy"]
    assert found["question"]["corpus"]["tfidf_cosine"]["value"] == pytest.approx(1)  # all the same
    assert found["insight"]["corpus"]["distinct_2"]["n"] == 4
    assert set(found["insight"]["within_case"]) == {"tfidf_cosine", "self_bleu", "distinct_2"}


def test_the_page_names_methods_to_curators_and_to_adjudicators_once_it_is_closed(team, ada, bruno, dara):
    study, _ = judge(
        team, "novelty", audited(), [(bruno, lambda payload: {"category": payload["says"]})], ada
    )
    page = reverse("annotation:human_machine", args=[study.pk])
    assert "zqmethod-agent" in signed_in(ada).get(page).content.decode()
    client = signed_in(dara)
    assert client.get(page).status_code == 403
    for where in ("agreement", "disagreements", "study"):
        assert "zqmethod" not in client.get(reverse(f"annotation:{where}", args=[study.pk])).content.decode()
    item = client.get(reverse("annotation:study_item", args=[study.pk, 1]))
    assert "Insight" in item.content.decode()
    studies.close_study(study)
    assert "zqmethod-agent" in client.get(page).content.decode()


def test_a_study_without_machines_says_so(team, ada, study):
    page = reverse("annotation:human_machine", args=[study.pk])
    assert "Nothing is computed yet" in signed_in(ada).get(page).content.decode()
