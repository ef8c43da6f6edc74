"""Novelty by votes: who is asked, what is shown, and what a missing vote leaves open."""

import pytest

from medbench.errors import InvalidInput
from medbench.evals.activation import empty_picture
from medbench.evals.judges import CaseToJudge, judge_case
from medbench.evals.voters import vote_on_case, vote_questions_of
from medbench.scoring.novelty import Counts, voted_novelty
from tests.evals.build import profile_at, session_for
from tests.evals.scripts import answer, data_of

OUTPUTS = ("the margin is clear", "granulomas are seen", "the margin is clear", "fibrosis is mild")
CASE = CaseToJudge("A-1", "Goal", ("the margin is clear", "necrosis is absent"), OUTPUTS)


def votes_by(**votes):
    """Voters by name that vote by a word of the finding; None is a reply without a vote."""

    def script(asked):
        if not asked.model.startswith("voter"):
            return answer(asked)
        vote = votes[asked.model.replace("-", "_")](data_of(asked)["finding"])
        return "no" if vote is None else answer(asked, vote=lambda _: vote)

    return script


def say(word):
    return lambda _: word


def voted(server, image=empty_picture(), case=CASE, **settings):  # noqa: B008 (bytes)
    profile = profile_at(server, judges=1, voters=3, **settings)
    with session_for(*profile.models) as session:
        judged = judge_case(session, profile, case)
        return vote_on_case(session, profile, case, judged, image), judged, profile


def test_unmatched_outputs_are_voted_on_and_two_of_three_decide(served):
    correct = lambda finding: "correct" if "granulomas" in finding else "incorrect"  # noqa: E731
    server = served(votes_by(voter_1=correct, voter_2=correct, voter_3=say("incorrect")))
    found, judged, profile = voted(server)
    assert found.matched == (True, False, False)
    assert [(vote.position, vote.decision) for vote in found.votes] == [(1, "correct"), (3, "incorrect")]
    assert found.counts == Counts(1, 2, 1, 0)
    assert voted_novelty([found.counts]).innovation == pytest.approx(2 / 3)
    assert len(vote_questions_of(profile, CASE, judged, empty_picture())) == 6


def test_voters_see_picture_goal_and_what_came_before(served):
    server = served(votes_by(voter_1=say("correct"), voter_2=say("correct"), voter_3=say("correct")))
    voted(server)
    asked = {data_of(each)["finding"]: each for each in server.asked if each.model == "voter-1"}
    assert {each.images for each in asked.values()} == {1}
    assert data_of(asked["granulomas are seen"]) == {
        "goal": "Goal",
        "history": ["the margin is clear"],
        "finding": "granulomas are seen",
    }
    assert data_of(asked["fibrosis is mild"])["history"] == ["the margin is clear", "granulomas are seen"]
    assert list(asked["fibrosis is mild"].schema["properties"]) == ["reasoning", "vote"]


def test_a_failed_voter_is_no_vote_against(served):
    server = served(votes_by(voter_1=say("correct"), voter_2=say("correct"), voter_3=say(None)))
    found, _, _ = voted(server)
    assert {vote.decision for vote in found.votes} == {"correct"}
    assert found.reasons == {"no_json": 2}


def test_a_tie_with_a_failure_stays_open(served):
    server = served(votes_by(voter_1=say("correct"), voter_2=say("incorrect"), voter_3=say(None)))
    found, _, _ = voted(server)
    assert found.counts == Counts(1, 2, 0, 2)
    assert voted_novelty([found.counts]).reason == "undetermined_votes"


def test_without_a_picture_nothing_is_decided_and_nobody_asked(served):
    server = served(votes_by())
    found, _, _ = voted(server, image=None)
    assert {vote.decision for vote in found.votes} == {"undetermined"}
    assert found.reasons == {"no_image": 2}
    assert all(asked.model.startswith("judge") for asked in server.asked)


def test_tau_decides_who_is_matched(served):
    server = served(votes_by(**dict.fromkeys(("voter_1", "voter_2", "voter_3"), say("incorrect"))))
    assert voted(server)[0].counts.matched == 1
    assert voted(server, tau=0.1)[0].counts.matched == 3


def test_an_unscored_pair_stops_the_vote(served):
    with pytest.raises(InvalidInput) as refusal:
        voted(served(lambda _: "no"))
    assert refusal.value.code == "unscored_pairs"


def test_saying_something_new_twice_is_new_once(served):
    """Gaming: repeating an output that the voters call correct."""
    server = served(votes_by(**dict.fromkeys(("voter_1", "voter_2", "voter_3"), say("correct"))))
    repeated = CaseToJudge("A-1", "Goal", CASE.references, (*OUTPUTS, *["Granulomas are SEEN."] * 5))
    assert voted(server, case=repeated)[0].counts == voted(server)[0].counts == Counts(1, 2, 2)


def test_a_case_without_outputs_has_nothing_to_vote_on(served):
    found, _, _ = voted(served(votes_by()), case=CaseToJudge("A-1", "", ("x",), None))
    assert (found.matched, found.votes, found.counts) == ((), (), Counts(0, 0))
