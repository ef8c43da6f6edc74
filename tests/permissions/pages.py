"""The permission table of the pages. visits.py says what a row says and how to add one."""

from tests.permissions.visits import EVERYBODY, NOTHING, SIGNED_IN, Visit

PAGES: dict[str, list[Visit]] = {
    # Annotators are Chen and Bruno, Dara adjudicates, Ada curates, Sam is site curator. Olga curates
    # another benchmark, Eve has no role. Remy and Rosa are researchers; the submissions are Rosa's,
    # the assignment is Bruno's.
    #                  visitor eve olga remy rosa chen bruno dara ada sam
    "home": [Visit(GET=EVERYBODY)],
    "keys": [Visit(GET=EVERYBODY)],
    "healthz": [Visit(GET=EVERYBODY)],
    "operators_sign_in": [
        Visit(GET="in  404 404 404 404 404 404 404 404 404", POST="in  404 404 404 404 404 404 404 404 404")
    ],
    # --- accounts
    "accounts:sign_in": [Visit(GET=EVERYBODY, POST=EVERYBODY)],
    "accounts:sign_out": [Visit(POST="302 302 302 302 302 302 302 302 302 302")],
    "accounts:register": [Visit(GET=EVERYBODY, POST=EVERYBODY)],
    "accounts:first_curator": [Visit(GET=NOTHING, POST=NOTHING)],  # somebody is here
    "accounts:invitation": [  # whoever holds the link
        Visit(
            at="invitation_secret",
            GET=EVERYBODY,
            POST="200 302 302 302 302 302 302 302 302 302",
        )
    ],
    "accounts:reset": [Visit(at="bruno reset_token", GET=EVERYBODY, POST=EVERYBODY, missing="409")],
    "accounts:settings": [Visit(GET=SIGNED_IN, POST=SIGNED_IN)],
    "accounts:password": [Visit(GET=SIGNED_IN, POST=SIGNED_IN)],
    "accounts:tokens": [Visit(GET=SIGNED_IN, POST=SIGNED_IN)],
    "accounts:token_revoke": [Visit(at="token", POST="in  404 404 404 302 404 404 404 404 404")],
    "accounts:teams": [Visit(GET=SIGNED_IN)],
    "accounts:people": [
        Visit(
            "people.manage",
            at="team",
            GET="in  404 404 403 403 403 403 403 200 200",
            POST="in  404 404 403 403 403 403 403 200 200",
        )
    ],
    "accounts:role_add": [
        Visit("people.manage", at="team", POST="in  404 404 403 403 403 403 403 302 302"),
    ],
    "accounts:open_to_researchers": [
        Visit("people.manage", at="team", POST="in  404 404 403 403 403 403 403 302 302"),
    ],
    "accounts:role_end": [
        Visit("people.manage", at="team membership", POST="in  404 404 403 403 403 403 403 302 302"),
    ],
    "accounts:invitation_revoke": [
        Visit("people.manage", at="team invitation", POST="in  404 404 403 403 403 403 403 302 302"),
    ],
    "accounts:reset_link": [
        Visit(
            "people.manage",
            at="team bruno",
            GET="in  404 404 403 403 403 403 403 200 200",
            POST="in  404 404 403 403 403 403 403 200 200",
        )
    ],
    # --- slides
    "slides:pyramid": [
        Visit("case.read", at="slide", GET="404 404 404 200 200 200 200 200 200 200"),
        Visit("slide.read_held_out", at="held_slide", GET="404 404 404 404 404 200 200 200 200 200"),
    ],
    "slides:thumbnail": [
        Visit("case.read", at="slide", GET="404 404 404 200 200 200 200 200 200 200"),
        Visit("slide.read_held_out", at="held_slide", GET="404 404 404 404 404 200 200 200 200 200"),
    ],
    "slides:token": [
        Visit("case.read", at="slide", GET="404 404 404 204 204 204 204 204 204 204"),
        Visit("slide.read_held_out", at="held_slide", GET="404 404 404 404 404 204 204 204 204 204"),
    ],
    "slides:list": [Visit("slide.manage", also=("olga",), GET="in  404 200 404 404 404 404 404 200 200")],
    "slides:detail": [
        Visit(
            "slide.manage",
            at="slide",
            GET="in  404 404 403 403 403 403 403 200 200",
            POST="in  404 404 403 403 403 403 403 422 422",
        ),
        Visit(
            "slide.manage",
            at="held_slide",
            GET="in  404 404 404 404 403 403 403 200 200",
            POST="in  404 404 404 404 403 403 403 422 422",
        ),
    ],
    "slides:register": [Visit("slide.manage", at="slide", POST="in  404 404 403 403 403 403 403 302 302")],
    "slides:cancel": [
        Visit("slide.manage", at="slide", POST="in  404 404 403 403 403 403 403 409 409")
    ],  # it is ready
    "slides:tissue": [Visit("slide.manage", at="slide", GET="in  404 404 403 403 403 403 403 200 200")],
    "slides:tile": [
        Visit("case.read", at="slide =1 =0 =0 =0", GET="404 404 404 200 200 200 200 200 200 200"),
        Visit(
            "slide.read_held_out", at="held_slide =1 =0 =0 =0", GET="404 404 404 404 404 200 200 200 200 200"
        ),
    ],
    # --- cases
    "cases:list": [
        Visit(GET=SIGNED_IN),
        Visit("case.read", query="?benchmark=colon", GET="in  404 404 200 200 200 200 200 200 200"),
        Visit(
            "case.edit", query="?benchmark=colon&release=draft", GET="in  404 404 404 404 404 404 404 200 200"
        ),
        Visit(
            "case.read",
            team="lung_team",
            query="?benchmark=lung",
            GET="in  404 200 404 404 404 404 404 404 200",
        ),
    ],
    "cases:case": [
        Visit("case.read", at="case", GET="in  404 404 200 200 200 200 200 200 200"),
        Visit("case.read_held_out", at="held_case", GET="in  404 404 404 404 404 404 404 200 200"),
        Visit("case.edit", at="case", query="?release=draft", GET="in  404 404 404 404 404 404 404 200 200"),
    ],
    "cases:edit_case": [
        Visit(
            "case.edit",
            at="case",
            GET="in  404 404 403 403 403 403 403 200 200",
            POST="in  404 404 403 403 403 403 403 422 422",
        ),
        Visit(
            "case.edit",
            at="held_case",
            GET="in  404 404 404 404 404 404 404 200 200",
            POST="in  404 404 404 404 404 404 404 422 422",
        ),
    ],
    "cases:edit_goal": [
        Visit(
            "case.edit",
            at="case",
            GET="in  404 404 403 403 403 403 403 200 200",
            POST="in  404 404 403 403 403 403 403 422 422",
        ),
    ],
    "cases:add_triplet": [
        Visit(
            "case.edit",
            at="case",
            GET="in  404 404 403 403 403 403 403 200 200",
            POST="in  404 404 403 403 403 403 403 422 422",
        ),
    ],
    "cases:edit_triplet": [
        Visit(
            "case.edit",
            at="case triplet",
            GET="in  404 404 403 403 403 403 403 200 200",
            POST="in  404 404 403 403 403 403 403 422 422",
        ),
    ],
    "cases:retire_triplet": [
        Visit("case.edit", at="case triplet", POST="in  404 404 403 403 403 403 403 302 302"),
    ],
    "cases:panes": [Visit(at="=case", POST="in  400 400 400 400 400 400 400 400 400", missing="400")],
    "cases:import": [
        Visit(
            "benchmark.import",
            also=("olga",),  # into the benchmark that she curates
            GET="in  404 200 404 404 404 404 404 200 200",
            POST="in  404 422 404 404 404 404 404 422 422",
        )
    ],
    "cases:import_outcome": [  # whoever uploaded it
        Visit(
            at="upload",
            GET="in  404 404 404 404 404 404 404 200 404",
            POST="in  404 404 404 404 404 404 404 409 404",
        )
    ],
    "cases:import_cancel": [Visit(at="upload", POST="in  404 404 404 404 404 404 404 302 404")],
    "cases:import_retry": [
        Visit(at="upload", POST="in  404 404 404 404 404 404 404 409 404")
    ],  # it is queued
    "cases:benchmark": [Visit("case.read", at="benchmark", GET="in  404 404 200 200 200 200 200 200 200")],
    "cases:freeze": [
        Visit(
            "release.freeze",
            at="benchmark",
            GET="in  404 404 403 403 403 403 403 200 200",
            POST="in  404 404 403 403 403 403 403 302 302",
        )
    ],
    "cases:export": [Visit("benchmark.export", at="release", GET="in  404 404 403 403 403 403 403 200 200")],
    "cases:kit": [
        Visit(
            "kit.download",
            at="release",
            GET="in  404 404 200 200 200 200 200 200 200",
            POST="in  404 404 409 409 409 409 409 409 409",  # it is being prepared
        )
    ],
    "cases:kit_file": [Visit("kit.download", at="release", GET="in  404 404 200 200 200 200 200 200 200")],
    # --- annotation
    "annotation:my_work": [Visit(GET=SIGNED_IN)],
    "annotation:next": [
        Visit(
            "item.verify",
            at="study",
            GET="in  404 404 404 404 200 200 404 404 404",
            POST="in  404 404 404 404 302 302 404 404 404",
        ),
        Visit(
            at="draft_study",
            GET="in  404 404 404 404 404 404 404 404 404",
            POST="in  404 404 404 404 404 404 404 404 404",
        ),
    ],
    "annotation:item": [
        Visit(
            at="assignment",
            GET="in  404 404 404 404 404 200 404 404 404",
            POST="in  404 404 404 404 404 400 404 404 404",
        )
    ],
    "annotation:ahead": [Visit(at="assignment", GET="in  404 404 404 404 404 200 404 404 404")],
    "annotation:regions": [
        Visit(
            at="assignment",
            GET="in  404 404 404 404 404 200 404 404 404",
            POST="in  404 404 404 404 404 400 404 404 404",
        )
    ],
    "annotation:guidelines": [Visit(at="assignment", GET="in  404 404 404 404 404 200 404 404 404")],
    "annotation:protocols": [
        Visit("study.read", also=("olga",), GET="in  404 200 404 404 404 404 200 200 200"),
    ],
    "annotation:protocol": [
        Visit("study.read", also=("olga",), at="protocol", GET="in  404 200 404 404 404 404 200 200 200"),
        Visit("study.read", at="own_protocol", GET="in  404 404 404 404 404 404 200 200 200"),
    ],
    "annotation:copy_protocol": [
        Visit(
            "study.manage",
            at="own_protocol",
            data={"benchmark": "colon", "title": "Copied again"},
            POST="in  404 404 404 404 404 404 403 302 302",
        )
    ],
    "annotation:edit_protocol": [
        Visit(
            "study.manage",
            at="own_protocol",
            GET="in  404 404 404 404 404 404 403 200 200",
            POST="in  404 404 404 404 404 404 403 400 400",
        )
    ],
    "annotation:studies": [
        Visit("study.read", also=("olga",), GET="in  404 200 404 404 404 404 200 200 200"),
    ],
    "annotation:import_study": [
        Visit(
            "study.manage",
            also=("olga",),
            GET="in  404 200 404 404 404 404 404 200 200",
            POST="in  404 422 404 404 404 404 404 422 422",
        ),
    ],
    "annotation:new_study": [
        Visit(
            "study.manage",
            also=("olga",),
            GET="in  404 200 404 404 404 404 404 200 200",
            POST="in  404 422 404 404 404 404 404 422 200",  # Sam has several benchmarks to choose from
        ),
        Visit(
            "study.manage",
            query="?benchmark=colon",
            GET="in  404 404 403 403 403 403 403 200 200",
            POST="in  404 404 403 403 403 403 403 422 422",
        ),
    ],
    "annotation:study": [
        Visit("study.read", at="study", GET="in  404 404 404 404 404 404 200 200 200"),
        Visit("study.read", at="draft_study", GET="in  404 404 404 404 404 404 200 200 200"),
    ],
    "annotation:add_items": [
        Visit("study.manage", at="study", POST="in  404 404 404 404 404 404 403 302 302"),
    ],
    "annotation:set_up": [
        Visit(
            "study.manage",
            at="study",
            GET="in  404 404 404 404 404 404 403 200 200",
            POST="in  404 404 404 404 404 404 403 422 422",
        )
    ],
    "annotation:new_round": [
        Visit(
            "study.manage",
            at="study",
            GET="in  404 404 404 404 404 404 403 200 200",
            POST="in  404 404 404 404 404 404 403 422 422",
        )
    ],
    "annotation:log": [
        Visit("study.manage", at="study", GET="in  404 404 404 404 404 404 403 200 200"),
    ],
    "annotation:close_study": [
        Visit(
            "study.manage",
            at="study",
            GET="in  404 404 404 404 404 404 403 200 200",
            POST="in  404 404 404 404 404 404 403 302 302",
        ),
    ],
    "annotation:study_step": [
        Visit("study.manage", at="study =pause", POST="in  404 404 404 404 404 404 403 302 302"),
        Visit("study.manage", at="draft_study =discard", POST="in  404 404 404 404 404 404 403 302 302"),
    ],
    "annotation:agreement": [
        Visit("study.read", at="study", GET="in  404 404 404 404 404 404 200 200 200"),
        Visit("study.read", at="draft_study", GET="in  404 404 404 404 404 404 200 200 200"),
    ],
    "annotation:recompute_agreement": [
        Visit("study.manage", at="study", POST="in  404 404 404 404 404 404 403 302 302"),
    ],
    "annotation:agreement_csv": [
        Visit("study.read", at="study", GET="in  404 404 404 404 404 404 200 200 200"),
        Visit(at="draft_study", GET="in  404 404 404 404 404 404 404 404 404"),  # nothing is computed
    ],
    "annotation:agreement_svg": [
        Visit("study.read", at="study", GET="in  404 404 404 404 404 404 200 200 200"),
    ],
    "annotation:agreement_methods": [
        Visit("study.read", at="study", GET="in  404 404 404 404 404 404 200 200 200"),
    ],
    "annotation:agreement_ratings": [
        Visit("study.read", at="study =grounded", GET="in  404 404 404 404 404 404 200 200 200"),
    ],
    "annotation:human_machine": [  # it names methods, so adjudicators wait until the study is closed
        Visit("study.manage", at="study", GET="in  404 404 404 404 404 404 403 200 200"),
    ],
    "annotation:disagreements": [
        Visit("study.read", at="study", GET="in  404 404 404 404 404 404 200 200 200"),
    ],
    "annotation:adjudication": [
        Visit("item.adjudicate", at="study", GET="in  404 404 404 404 404 404 200 200 200"),
    ],
    "annotation:import_ratings": [
        Visit(
            "study.manage",
            at="study",
            GET="in  404 404 404 404 404 404 403 200 200",
            POST="in  404 404 404 404 404 404 403 422 422",
        ),
    ],
    "annotation:study_item": [
        Visit(
            "item.adjudicate",
            at="study =1",
            GET="in  404 404 404 404 404 404 200 200 200",
            POST="in  404 404 404 404 404 404 409 409 409",  # it is still being read
        ),
    ],
    # --- leaderboard
    "leaderboard:boards": [Visit(GET=EVERYBODY)],
    "leaderboard:open_board": [  # whoever curates a benchmark that has a release
        Visit(
            "board.manage",
            also=("olga",),  # for the benchmark that she curates
            GET="in  404 200 404 404 404 404 404 200 200",
            POST="in  404 200 404 404 404 404 404 200 200",
        )
    ],
    "leaderboard:board": [
        Visit("board.read", at="board", GET="404 404 404 200 200 200 200 200 200 200"),
        Visit("board.read", at="held_board", GET="404 404 404 200 200 200 200 200 200 200"),
        Visit("board.read", at="shared_board", team="open_team", GET=EVERYBODY),
    ],
    "leaderboard:generations": [
        Visit("board.read", at="board", GET="404 404 404 200 200 200 200 200 200 200"),
        Visit("board.read", at="shared_board", team="open_team", GET=EVERYBODY),
    ],
    "leaderboard:citation": [
        Visit("board.read", at="board", GET="404 404 404 200 200 200 200 200 200 200"),
        Visit("board.read", at="shared_board", team="open_team", GET=EVERYBODY),
    ],
    "leaderboard:review_items": [  # nothing was chosen
        Visit(
            "board.manage",
            at="board",
            GET="in  404 404 403 403 403 403 403 200 200",
            POST="in  404 404 403 403 403 403 403 422 422",
        ),
    ],
    "leaderboard:novelty_audit": [
        Visit("board.manage", at="board", POST="in  404 404 403 403 403 403 403 302 302"),
    ],
    "leaderboard:rescore": [
        Visit("board.manage", at="board", POST="in  404 404 403 403 403 403 403 302 302"),
    ],
    "leaderboard:cancel_rescoring": [
        Visit("board.manage", at="board", POST="in  404 404 403 403 403 403 403 302 302"),
    ],
    "leaderboard:example": [
        Visit("submission.create", at="board", GET="404 404 404 200 200 200 200 200 200 200"),
        Visit(
            "submission.create",
            at="shared_board",
            team="open_team",
            GET="404 200 200 200 200 200 200 200 200 200",
        ),
    ],
    "leaderboard:help_results": [Visit(GET=EVERYBODY)],
    "leaderboard:compare": [Visit(GET=EVERYBODY)],  # nothing is picked; see leaderboard/test_compare.py
    "leaderboard:notices": [Visit(GET=SIGNED_IN)],
    "leaderboard:read_notices": [Visit(POST="in  302 302 302 302 302 302 302 302 302")],
    "leaderboard:submit": [Visit(GET=SIGNED_IN, POST=SIGNED_IN)],
    "leaderboard:record": [Visit(POST="in  404 404 404 404 404 404 404 404 404")],  # no board was named
    "leaderboard:findings_csv": [Visit(GET="in  404 404 404 404 404 404 404 404 404")],
    "leaderboard:submissions": [Visit(GET=SIGNED_IN)],
    "leaderboard:submission": [
        Visit("board.read", at="submission", GET="404 404 404 200 200 200 200 200 200 200"),
        Visit(
            "submission.read_any",
            also=("rosa",),
            at="private_submission",
            GET="404 404 404 404 200 404 404 404 200 200",
        ),
        Visit("board.read", at="held_submission", GET="404 404 404 200 200 200 200 200 200 200"),
    ],
    "leaderboard:cancel": [
        Visit(
            "board.manage",
            also=("rosa",),
            at="waiting_submission",
            POST="in  404 404 403 302 403 403 403 302 302",
        ),
        Visit(
            "board.manage",
            also=("rosa",),
            at="private_submission",
            POST="in  404 404 404 409 404 404 404 409 409",
        ),
    ],
    "leaderboard:run_again": [
        Visit(
            "board.manage", also=("rosa",), at="submission", POST="in  404 404 403 302 403 403 403 302 302"
        ),
        Visit(
            "board.manage",
            also=("rosa",),
            at="private_submission",
            POST="in  404 404 404 302 404 404 404 302 302",
        ),
    ],
    # The submission of this world was not judged: there is nothing to ask again, and no flag.
    "leaderboard:retry_unscored": [
        Visit(
            "board.manage", also=("rosa",), at="submission", POST="in  404 404 403 409 403 403 403 409 409"
        ),
        Visit(
            "board.manage",
            also=("rosa",),
            at="private_submission",
            POST="in  404 404 404 409 404 404 404 409 409",
        ),
    ],
    "leaderboard:clear_flags": [
        Visit(
            "board.manage",
            at="submission",
            data={"reason": "It quotes a report."},
            POST="in  404 404 403 403 403 403 403 409 409",
        ),
        Visit(
            "board.manage",
            at="private_submission",
            data={"reason": "It quotes a report."},
            POST="in  404 404 404 403 404 404 404 409 409",
        ),
    ],
    "leaderboard:visibility": [
        Visit(
            "board.manage", also=("rosa",), at="submission", POST="in  404 404 403 400 403 403 403 400 400"
        ),
        Visit(
            "board.manage",
            also=("rosa",),
            at="private_submission",
            data={"visibility": "public"},
            POST="in  404 404 404 302 404 404 404 302 302",
        ),
    ],
    "leaderboard:withdraw": [
        Visit(
            "board.manage",
            also=("rosa",),
            at="submission",
            GET="in  404 404 403 200 403 403 403 200 200",
            POST="in  404 404 403 302 403 403 403 302 302",
        ),
        Visit(
            "board.manage",
            also=("rosa",),
            at="private_submission",
            GET="in  404 404 404 200 404 404 404 200 200",
            POST="in  404 404 404 302 404 404 404 302 302",
        ),
    ],
    "leaderboard:case": [
        Visit("case.read", at="submission case", GET="404 404 404 200 200 200 200 200 200 200"),
        Visit(
            "submission.read_any",
            also=("rosa",),
            at="private_submission case",
            GET="404 404 404 404 200 404 404 404 200 200",
        ),
        Visit(at="held_submission held_case", GET=NOTHING),  # would give the references away
    ],
    "leaderboard:methodology": [Visit(GET=EVERYBODY)],
    # --- judges: whoever curates any benchmark
    "leaderboard:judges": [
        Visit("judge.manage", also=("olga",), GET="in  404 200 404 404 404 404 404 200 200")
    ],
    "leaderboard:add_judge": [
        Visit(
            "judge.manage",
            also=("olga",),
            GET="in  404 200 404 404 404 404 404 200 200",
            POST="in  404 200 404 404 404 404 404 200 200",
        )
    ],
    "leaderboard:judge": [
        Visit(
            "judge.manage",
            also=("olga",),
            at="judge",
            GET="in  404 200 404 404 404 404 404 200 200",
            POST="in  404 200 404 404 404 404 404 200 200",
        )
    ],
    "leaderboard:test_judge": [
        Visit("judge.manage", also=("olga",), at="judge", POST="in  404 302 404 404 404 404 404 302 302")
    ],
    "leaderboard:delete_judge": [
        Visit(
            "judge.manage", also=("olga",), at="unused_judge", POST="in  404 302 404 404 404 404 404 302 302"
        ),
        Visit("judge.manage", also=("olga",), at="judge", POST="in  404 409 404 404 404 404 404 409 409"),
    ],
    "leaderboard:add_profile": [
        Visit(
            "judge.manage",
            also=("olga",),
            GET="in  404 200 404 404 404 404 404 200 200",
            POST="in  404 200 404 404 404 404 404 200 200",
        )
    ],
    "leaderboard:add_ready_profile": [
        Visit("judge.manage", also=("olga",), at="=paper", POST="in  404 302 404 404 404 404 404 302 302")
    ],
    "leaderboard:profile": [
        Visit("judge.manage", also=("olga",), at="profile", GET="in  404 200 404 404 404 404 404 200 200")
    ],
    "leaderboard:check_profile": [
        Visit("judge.manage", also=("olga",), at="profile", POST="in  404 302 404 404 404 404 404 302 302")
    ],
    "leaderboard:cancel_check": [
        Visit("judge.manage", also=("olga",), at="profile", POST="in  404 409 404 404 404 404 404 409 409")
    ],
}
