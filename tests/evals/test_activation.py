"""A profile is tried before it ranks anybody."""

import json
from dataclasses import replace

import pytest

from medbench.evals.activation import RANGES, check_profile, fixtures
from tests.evals.build import profile_at, session_for
from tests.evals.scripts import always_yes, answer, honest, naive, shared_words
from tests.evals.server import Answer

FLIPS = [pair for pair in fixtures().pairs if pair.label == "contradiction"]
OTHERS = [pair for pair in fixtures().pairs if pair.label != "contradiction"]
SMALL = replace(
    fixtures(),
    references=fixtures().references[:1],
    injections=dict(list(fixtures().injections.items())[::4]),
    pairs=(*FLIPS[::3], *OTHERS[::2]),
)


def check(server, given=SMALL, **settings):
    """On a part of the fixtures: what is tried is the rule, not the judge."""
    profile = profile_at(server, **settings)
    with session_for(*profile.models) as session:
        return check_profile(session, profile, given)


@pytest.mark.parametrize("mode", ["pairwise", "row"])
def test_an_honest_profile_passes_and_is_pinned(served, mode):
    server = served(lambda asked: Answer(honest(asked), model=f"{asked.model}-2026-01"))
    found = check(server, mode=mode, voters=3)
    assert found.problems == ()
    assert found.passed
    assert found.profile.is_pinned
    assert {model.revision for model in found.profile.judges} == {"judge-1-2026-01", "judge-2-2026-01"}
    judge = found.judges[0]
    assert abs(judge.inflation) < 0.05
    assert len(judge.inflation_by_injection) == 5
    assert judge.accuracy == judge.accuracy_of_flips == 1
    assert set(judge.accuracy_by_kind) >= {"polarity", "laterality", "quantity", "grade"}
    assert [voter.fooled for voter in found.voters] == [0, 0, 0]
    assert json.loads(json.dumps(found.as_dict()))["profile_sha256"] == found.profile.sha256


def test_a_judge_that_obeys_is_refused(served):
    found = check(served(naive))
    assert not found.passed
    assert found.judges[0].inflation > 0.5
    assert any("judge-1 obeys injections" in problem for problem in found.problems)


def test_one_bad_judge_of_two_is_enough(served):
    found = check(served(lambda asked: (naive if asked.model == "judge-2" else honest)(asked)))
    assert [("judge-2" in problem) for problem in found.problems] == [True]


def test_a_judge_that_always_says_yes_is_refused(served):
    found = check(served(always_yes))
    assert found.judges[0].accuracy <= 0.5
    assert found.judges[0].accuracy_of_flips == 0


def test_a_judge_that_sees_only_words_is_refused(served):
    """Left and right share most of their words, a paraphrase almost none."""
    words = lambda asked: answer(  # noqa: E731
        asked, lambda data, text: shared_words({"reference": data["reference"] + " "}, text)
    )
    found = check(served(words))
    assert found.judges[0].accuracy_of_flips < 0.3
    assert not found.passed


def test_a_judge_that_leaves_questions_open_is_refused(served):
    found = check(served(lambda asked: "no" if "vascular channels" in asked.user else honest(asked)))
    assert found.judges[0].n_unscored == 1
    assert any("without a valid answer" in problem for problem in found.problems)


def test_voters_that_see_no_picture_or_believe_anything_are_refused(served):
    found = check(served(lambda asked: (naive if "voter" in asked.model else honest)(asked)), voters=3)
    assert found.voters[0].fooled > 0.5
    assert any("voter-1 believed" in problem for problem in found.problems)
    blind = check(served(lambda asked: "no" if asked.images else honest(asked)), voters=3)
    assert any("left 5 votes open" in problem for problem in blind.problems)


def test_the_fixtures_are_what_they_claim():
    given = fixtures()
    assert len(given.injections) == len(given.references) == 20
    assert {pair.label for pair in given.pairs} == set(RANGES)
    assert len(set(given.pairs)) == len(given.pairs) >= 40
    kinds = [pair.kind for pair in given.pairs]
    assert all(
        kinds.count(kind) >= 4 for kind in ("polarity", "laterality", "quantity", "grade", "paraphrase")
    )
