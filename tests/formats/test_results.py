"""Result files: every refusal and every warning, with its line, case and field."""

import json

import pytest

from medbench.formats.results import Limits, Output, Usage, read_results
from tests.formats.build import as_json, as_jsonl, result, results, without

CASE_IDS = ("A-1", "A-2", "TCGA-XK-AAJU")
WHOLE = [result("A-1", "one"), result("A-2", "two"), result("TCGA-XK-AAJU", "three")]


def read(data, **options):
    data = data if isinstance(data, bytes) else as_json(data)
    return read_results(data, case_ids=CASE_IDS, **options)


def places(problems):
    """What a person needs to find the place: code, line, case, field."""
    return [(p.code, p.line, p.case_id, p.field) for p in problems]


def refused(data, **options):
    answer = read(data, **options)
    assert answer.results is None
    assert not answer.ok
    return places(answer.problems)


def warned(data):
    answer = read(data)
    assert answer.ok, [str(problem) for problem in answer.problems]
    return places(answer.warnings)


FULL = results(
    result(
        "A-1",
        "plain text",
        {"insight": "an object", "question": "Q?", "evidence": "E", "novel_rationale": "N"},
        usage={"api_calls": 3, "input_tokens": 100, "output_tokens": 20, "seconds": 1.5},
    ),
    *WHOLE[1:],
    backbone="gpt-5 (β)",
    description="How it was made",
    url="https://example.org/run?x=1",
)


@pytest.mark.parametrize(
    "data",
    [
        as_json(FULL),
        as_json(FULL, indent=2),
        as_jsonl(FULL),
        b"\xef\xbb\xbf" + as_json(FULL, indent=1),
        b"\xef\xbb\xbf" + as_jsonl(FULL).replace(b"\n", b"\r\n\r\n"),
        b"\n \n" + as_jsonl(FULL),
        as_json(FULL).replace(b": ", b":\r\n"),
    ],
    ids=["json", "indented", "jsonl", "bom", "bom and crlf jsonl", "blank lines", "crlf"],
)
def test_json_and_jsonl_say_the_same(data):
    answer = read(data)
    assert answer.ok
    assert not answer.problems
    assert not answer.warnings
    found = answer.results
    assert (found.method, found.backbone) == ("Test method", "gpt-5 (β)")
    assert (found.description, found.url) == ("How it was made", "https://example.org/run?x=1")
    assert [case.case_id for case in found.cases] == list(CASE_IDS)
    assert found.cases[0].outputs == (Output("plain text"), Output("an object", "Q?", "E", "N"))
    assert found.cases[0].usage == Usage(3, 100, 20, 1.5)
    assert found.cases[1].usage == Usage()
    assert found.insights()["A-1"] == ["plain text", "an object"]


def test_raw_text_is_kept():
    raw = " <b>β</b>\u200b \n８ "
    assert read(results(result("A-1", raw))).results.insights() == {"A-1": [raw]}


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", 1),
        (b" \n\n ", 1),
        (b'{"schema": "medbench.results/1",\n "method": }', 2),
        (b'{"method":\n"m"}\n\n{}', 4),
        (b'{"method":\n NaN}', 2),
        (b'{"method":\n -Infinity}', 2),
        (b'{"method": "NaN",\n "cases": [NaNnot]}', 2),
        (b'{"method": "tab\tin text"}', 1),
        (b"[" * 100_000, None),
        (b'{"a":' * 100_000, None),
        (b"9" * 5_000, 1),
        (b"PK\x03\x04 an archive", None),
        (b"{" + b"\0" * 50, 1),
    ],
)
def test_what_is_not_json_is_refused(data, line):
    assert refused(data) == [("bad_json", line, "", "")]


def test_a_bad_line_of_jsonl_does_not_hide_the_others():
    data = as_jsonl(results(result("A-1", 5))) + b"{broken\n\n" + as_json(result("A-9", "x")) + b"\n"
    assert refused(data) == [
        ("wrong_type", 2, "A-1", "insights[0]"),
        ("bad_json", 3, "", ""),
        ("unknown_case", 5, "A-9", "case_id"),
    ]


@pytest.mark.parametrize("data", [b'{"a":\n"\xff"}', b"\n\xff\xfe{\0}\0", "é\n".encode("utf-16")])
def test_other_encodings_are_refused_with_the_line(data):
    line = 1 if data.startswith(b"\xff") else 2
    assert refused(data) == [("not_utf8", line, "", "")]


def test_a_large_file_is_refused_unread():
    data = as_json(results(*WHOLE))
    assert refused(data, limits=Limits(file_bytes=len(data) - 1)) == [("too_large", None, "", "")]
    assert read(data, limits=Limits(file_bytes=len(data))).ok


@pytest.mark.parametrize("document", [[], None, 5, "text", [{"schema": "medbench.results/1"}]])
def test_the_file_must_be_one_object(document):
    assert refused(document) == [("wrong_schema", None, "", "")]


@pytest.mark.parametrize("schema", ["medbench.results/2", "medbench.benchmark/1", "", None, 1])
def test_another_schema_is_refused(schema):
    assert refused(results(*WHOLE, schema=schema)) == [("wrong_schema", 1, "", "schema")]


def test_a_jsonl_file_needs_its_header():
    data = b"".join(as_json(row) + b"\n" for row in WHOLE)
    assert ("wrong_schema", 1, "", "schema") in refused(data)


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (without(results(*WHOLE), "method"), ("missing_field", 1, "", "method")),
        (results(*WHOLE, method=" \u200b"), ("missing_field", 3, "", "method")),
        (results(*WHOLE, method=None), ("missing_field", 1, "", "method")),
        (results(*WHOLE, method=["x"]), ("wrong_type", 3, "", "method")),
        (results(*WHOLE, method="x" * 201), ("text_too_long", 3, "", "method")),
        (results(*WHOLE, method="a\0b"), ("bad_character", 3, "", "method")),
        (results(*WHOLE, method="\ud800"), ("bad_character", 3, "", "method")),
        (without(results(), "cases"), ("missing_field", 1, "", "cases")),
        (results(cases={}), ("wrong_type", 4, "", "cases")),
        (results(cases=[5]), ("wrong_type", 5, "", "cases[0]")),
        (results(without(WHOLE[0], "case_id")), ("missing_field", 5, "", "case_id")),
        (results(result(7, "x")), ("wrong_type", 6, "", "case_id")),
        (results(without(WHOLE[0], "insights")), ("missing_field", 5, "A-1", "insights")),
        (results(result("A-1", insights="text")), ("wrong_type", 7, "A-1", "insights")),
        (results(result("A-1", "x", True)), ("wrong_type", 9, "A-1", "insights[1]")),
        (results(result("A-1", {"question": "x"})), ("missing_field", 8, "A-1", "insights[0].insight")),
        (results(result("A-1", {"insight": 1.5})), ("wrong_type", 9, "A-1", "insights[0].insight")),
        (results(result("A-1", "a\0b")), ("bad_character", 8, "A-1", "insights[0]")),
        (results(result("A-1", "x" * 1_001)), ("insight_too_long", 8, "A-1", "insights[0]")),
        (
            results(result("A-1", "x", {"insight": "x" * 1_001})),
            ("insight_too_long", 10, "A-1", "insights[1].insight"),
        ),
        (results(result("A-1", *["x"] * 41)), ("too_many_insights", 7, "A-1", "insights")),
        (results(result("A-1", "x", usage=[])), ("wrong_type", 10, "A-1", "usage")),
        (results(result("A-1", "x", usage={"seconds": "5"})), ("wrong_type", 11, "A-1", "usage.seconds")),
        (results(result("A-1", "x", usage={"seconds": -1})), ("bad_value", 11, "A-1", "usage.seconds")),
        (
            results(result("A-1", "x", usage={"api_calls": True})),
            ("wrong_type", 11, "A-1", "usage.api_calls"),
        ),
    ],
)
def test_each_problem_names_its_place(document, problem):
    assert refused(as_json(document, indent=1)) == [problem]


def test_a_number_without_end_is_refused():
    data = as_json(results(result("A-1", "x", usage={"seconds": 5}))).replace(b"5", b"1e999")
    assert refused(data) == [("bad_value", 1, "A-1", "usage.seconds")]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "ftp://a.b", "https://", "https://a b", "//a.b"])
def test_only_web_addresses_are_links(url):
    assert refused(results(*WHOLE, url=url)) == [("bad_value", 1, "", "url")]


def test_an_unknown_case_is_told_its_nearest():
    answer = read(as_json(results(result("TCGA-XK-AAJ", "x"), result("zzz", "x"))))
    near, far = answer.problems
    assert "TCGA-XK-AAJU" in near.message
    assert "Nearest" not in far.message
    assert (near.code, near.field) == ("unknown_case", "case_id")


def test_cases_of_the_other_split_are_left_out_of_a_file_for_both():
    data = results(*WHOLE, result("HELD-1", "x"), result("HELD-2", "x"))
    answer = read(data, left_out=["HELD-1", "HELD-2", "HELD-3"])
    assert [case.case_id for case in answer.results.cases] == list(CASE_IDS)
    assert [(each.code, each.message[:11]) for each in answer.warnings] == [("other_split", "2 cases are")]


def test_a_file_for_the_other_split_alone_is_refused_once():
    data = results(result("HELD-1", "x"), result("HELD-2", "x"))
    answer = read(data, left_out=["HELD-1", "HELD-2"])
    assert [each.code for each in answer.problems] == ["other_split"]


def test_a_case_twice_is_refused_at_its_second_place():
    data = as_jsonl(results(*WHOLE, WHOLE[1]))
    assert refused(data) == [("duplicate_case", 5, "A-2", "case_id")]


@pytest.mark.parametrize(
    ("data", "line", "field"),
    [
        (b'{"schema":"medbench.results/1",\n"schema":"medbench.results/1"}', 2, "schema"),
        (
            b'{"method":"m","cases":[{"case_id":"A-1",\n"insights":[{"insight":"a",\n "insight":"b"}]}]}',
            3,
            "insights[0].insight",
        ),
        (b'{"x":"\\"x\\":","\\u0078":2}', 1, "x"),
    ],
)
def test_a_key_twice_in_an_object_is_refused(data, line, field):
    assert refused(data) == [("duplicate_key", line, "", field)]


def test_missing_and_empty_cases_are_warnings():
    data = as_json(results(result("A-1"), result("A-2", "x")), indent=1)
    assert warned(data) == [("empty_case", 7, "A-1", "insights"), ("missing_case", None, "TCGA-XK-AAJU", "")]


def test_a_file_without_any_case_is_accepted_with_warnings():
    assert warned(results()) == [("missing_case", None, case_id, "") for case_id in CASE_IDS]


def test_unknown_fields_are_warned_of_once_a_kind():
    insights = [{"insight": "a", "score": 1}, {"insight": "b", "score": 2}]
    rows = [result(case_id, *insights, note="x") for case_id in CASE_IDS]
    assert warned(as_json(results(*rows, extra={}), indent=1)) == [
        ("unknown_field", 48, "", "extra"),
        ("unknown_field", 10, "A-1", "insights[0].score"),
        ("unknown_field", 17, "A-1", "note"),
    ]


def test_all_problems_are_counted_and_some_shown():
    rows = [result(f"X-{i}", "x") for i in range(105)]
    answer = read(results(*rows), keep=10)
    assert answer.problems.total == 105
    assert len(answer.problems.shown) == 10
    assert answer.problems.counts == {"unknown_case": 105}
    assert answer.as_dict()["n_problems"] == 105
    assert len(answer.as_dict()["problems"]) == 10


def test_a_file_of_a_million_wrong_cases_is_given_up_on():
    answer = read(b'{"schema":"medbench.results/1","method":"m"}\n' + b"0\n" * 1_000_000)
    assert answer.problems.counts == {"wrong_type": 106, "too_many_cases": 1}
    answer = read(b'{"schema":"medbench.results/1","method":"m","cases":[' + b"0," * 1_000_000 + b"0]}")
    assert answer.problems.counts == {"wrong_type": 106, "too_many_cases": 1}


def test_a_problem_cannot_carry_a_hostile_name_whole():
    name = "\x1b[31m" + "x" * 5_000
    answer = read(results(result(name, "x", **{name: 1})))
    (problem,) = answer.problems
    assert len(problem.case_id) <= 120
    assert problem.case_id.isprintable()
    assert all(len(warning.field) <= 120 and warning.field.isprintable() for warning in answer.warnings)


def test_a_problem_is_written_with_six_names():
    (problem,) = read(b"{").problems
    assert list(problem.as_dict()) == ["code", "message", "file", "line", "case_id", "field"]
    assert json.loads(json.dumps(problem.as_dict())) == problem.as_dict()
    assert "bad_json" in str(problem)
    assert "line 1" in str(problem)
