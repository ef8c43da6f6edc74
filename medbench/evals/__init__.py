"""Judges: models that say how far a generated insight states the same as a reference, and voters who
say of the rest whether it is correct. No Django, no files but its own fixtures.

What the job that evaluates a submission gives and gets:

    profile = EvaluatorProfile.from_config(row.config)            # `profiles`; refuses other prompts
    decoy = decoys({case_id: references, ...})                    # `defences`; once, over all cases
    with Session(keys, store, budget=..., prices=...) as session:             # `session`
        for case in cases:                                        # CaseToJudge(..., decoy=decoy[case_id])
            judged = judge_case(session, profile, case)                       # `judges`
            flags = flags_of(judged, case.references, case.outputs or ())     # `defences`
            if profile.voters and judged.is_complete:
                voted = vote_on_case(session, profile, case, judged, png)     # `voters`
            ...                                  # write the case, tell the progress, keep judged.slim()
    seen = report(profile, all_judged, all_flags, backbone=...)               # `reports`
    novelty = voted_novelty([voted.counts, ...], profile.tau)                 # `scoring.novelty`

*It gives*
- `keys`: API keys by `JudgeModel.identity`, decrypted by the worker and never in the environment; whether
  a `base_url` is allowed is for the caller to decide before it makes a session.
- `store`: a `stores.Store`, a table with the verdict's key as unique column, say. It is called from the
  thread that asks, so it may use the ORM; `put` returns the verdict that stands. Cases are judged one after
  the other, the questions of a case together.
- raw texts; what counts and how it is normalised is decided here. `png` is the release's rendered slide.
- before: `estimate(questions, known_keys, prices)` with `questions_of(profile, case)`.

*It gets*
- for each case a `JudgedCase`: `matrix` (references x kept outputs, NaN = unscored), `by_judge`, the cells
  with reasons and the key of the verdict in the store, `bounds`, and `score` as
  `scoring.matching.CaseScore` (None while a pair is unscored); a `VotedCase` with the decision and the
  votes on each unmatched output.
- for the submission a `Report`: totals or None, bounds of F1, coverage, reasons, flags, judges; it may be
  ranked where `blocked_by` is "".
- while it runs `session.spent` and `session.spent_by_model`; afterwards `session.revisions`.
- `Stopped` where it cannot go on (budget, key, revision, server). What was answered is in the store: the
  same loop over all cases again asks only what is missing, unscored pairs among it. Leaving the loop, or
  being killed, costs what was on its way.

A profile is activated by `activation.check_profile(session, profile)`: if it passed, its `profile`, which is
pinned to the revisions that the models reported, is the one to store. `profiles.PAPER` has the judges of
MedInsightBench. Who may see what is not decided here.
"""
