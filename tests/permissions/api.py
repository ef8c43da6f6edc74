"""The permission table of the API. visits.py says what a row says and how to add one."""

from tests.permissions.visits import EVERYBODY, NOTHING, WITH_TOKEN, Visit

API: dict[str, list[Visit]] = {
    #                  visitor eve olga remy rosa chen bruno dara ada sam
    "api_nothing_here": [
        Visit(
            at="=api/v1/no/such/",
            GET=NOTHING,
            POST=NOTHING,
            PUT=NOTHING,
            PATCH=NOTHING,
            DELETE=NOTHING,
        )
    ],
    "api:schema": [Visit(GET=EVERYBODY)],
    "api:me": [Visit(GET=WITH_TOKEN)],
    "cases_api:benchmarks": [Visit(GET=WITH_TOKEN)],
    "cases_api:releases": [
        Visit(GET=WITH_TOKEN),
        Visit("case.read", query="?benchmark=colon", GET="401 404 404 200 200 200 200 200 200 200"),
    ],
    "cases_api:cases": [
        Visit("case.read", query="?benchmark=colon", GET="401 404 404 200 200 200 200 200 200 200"),
        Visit(
            "case.edit", query="?benchmark=colon&release=draft", GET="401 404 404 404 404 404 404 404 200 200"
        ),
    ],
    "cases_api:case": [
        Visit("case.read", at="case", GET="401 404 404 200 200 200 200 200 200 200"),
        Visit("case.read_held_out", at="held_case", GET="401 404 404 404 404 404 404 404 200 200"),
    ],
    "annotation_api:studies": [Visit(GET=WITH_TOKEN)],
    "annotation_api:study": [
        Visit("study.read", at="study", GET="401 404 404 404 404 404 404 200 200 200"),
    ],
    "annotation_api:agreement": [
        Visit("study.read", at="study", GET="401 404 404 404 404 404 404 200 200 200"),
    ],
    "annotation_api:verdicts": [
        Visit("study.manage", at="study", GET="401 404 404 404 404 404 404 403 200 200"),
    ],
    "annotation_api:history": [
        Visit("study.manage", at="study", GET="401 404 404 404 404 404 404 403 200 200"),
    ],
    "annotation_api:regions": [
        Visit("study.manage", at="study", GET="401 404 404 404 404 404 404 403 200 200"),
    ],
    "annotation_api:bundle": [
        Visit("study.manage", at="study", GET="401 404 404 404 404 404 404 403 200 200"),
    ],
    "leaderboard_api:boards": [Visit(GET=EVERYBODY)],
    "leaderboard_api:standings": [
        Visit("board.read", at="board", GET="404 404 404 200 200 200 200 200 200 200"),
        Visit("board.read", at="shared_board", team="open_team", GET=EVERYBODY),
    ],
    "leaderboard_api:standings_csv": [
        Visit("board.read", at="board", GET="404 404 404 200 200 200 200 200 200 200"),
    ],
    "leaderboard_api:submissions": [
        Visit(GET=WITH_TOKEN, POST="401 400 400 400 400 400 400 400 400 400"),
    ],
    "leaderboard_api:submission": [
        Visit("board.read", at="submission", GET="404 404 404 200 200 200 200 200 200 200"),
        Visit(
            "submission.read_any",
            also=("rosa",),
            at="private_submission",
            GET="404 404 404 404 200 404 404 404 200 200",
        ),
    ],
}
