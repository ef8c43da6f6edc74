"""One body for every refusal, whoever refuses."""

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import path
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.response import Response

from medbench import urls
from medbench.errors import Conflict, InvalidInput, NotAllowed, NotFound, TooOften, Unavailable
from tests.people import signed_in

ERRORS = {
    "invalid": InvalidInput("The file has no header.", code="no_header"),
    "not-allowed": NotAllowed("Only curators can do this."),
    "not-found": NotFound("Board 12 of the secret benchmark is hidden."),
    "conflict": Conflict("This changed meanwhile."),
    "too-often": TooOften("Try again in 2 min.", wait_s=120),
    "unavailable": Unavailable("The judge does not answer."),
}


class Insight(serializers.Serializer):
    text = serializers.CharField(max_length=5)


class Upload(serializers.Serializer):
    board = serializers.CharField()
    insights = Insight(many=True)

    def validate(self, attrs):  # noqa: ARG002  # as REST framework calls it
        raise serializers.ValidationError("The board is closed.", code="closed")


@api_view(["GET"])
def raises(request, name):
    raise ERRORS[name]


@api_view(["POST"])
def upload(request):
    Upload(data=request.data).is_valid(raise_exception=True)
    return Response({})


@api_view(["GET"])
def breaks(request):
    raise ZeroDivisionError


urlpatterns = [
    path("api/v1/raises/<str:name>/", raises),
    path("api/v1/upload/", upload),
    path("api/v1/breaks/", breaks),
    *urls.urlpatterns,
]
handler404 = urls.handler404
handler500 = urls.handler500


@pytest.fixture
def client(rosa, settings):
    settings.ROOT_URLCONF = __name__
    cache.clear()  # the throttle counts there
    return signed_in(rosa)


@pytest.mark.parametrize(
    ("name", "status", "body"),
    [
        ("invalid", 400, {"code": "no_header", "message": "The file has no header."}),
        ("not-allowed", 403, {"code": "not_allowed", "message": "Only curators can do this."}),
        ("conflict", 409, {"code": "conflict", "message": "This changed meanwhile."}),
        ("too-often", 429, {"code": "too_often", "message": "Try again in 2 min."}),
        ("unavailable", 503, {"code": "unavailable", "message": "The judge does not answer."}),
    ],
)
def test_our_errors_keep_their_code_and_words(client, name, status, body):
    answer = client.get(f"/api/v1/raises/{name}/")
    assert (answer.status_code, answer.json()) == (status, body)
    assert answer.get("Retry-After") == ("120" if name == "too-often" else None)


def test_hidden_missing_and_unknown_addresses_are_the_same_bytes(client):
    hidden = client.get("/api/v1/raises/not-found/")
    unknown = client.get("/api/v1/no/such/address/")
    outside = client.get("/api/v9/")
    assert {hidden.content, unknown.content, outside.content} == {
        b'{"code":"not_found","message":"There is nothing here, or it is not open to you."}'
    }
    assert [each.status_code for each in (hidden, unknown, outside)] == [404, 404, 404]


def test_validation_lists_every_problem_with_its_field(client):
    sent = {"insights": [{"text": "ok"}, {"text": "too long"}, {}]}
    answer = client.post("/api/v1/upload/", sent, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json() == {
        "code": "invalid_input",
        "message": "3 problems. Nothing was saved.",
        "problems": [
            {"code": "required", "field": "board", "message": "This field is required."},
            {
                "code": "max_length",
                "field": "insights[1].text",
                "message": "Ensure this field has no more than 5 characters.",
            },
            {"code": "required", "field": "insights[2].text", "message": "This field is required."},
        ],
    }


def test_a_problem_of_the_whole_has_no_field(client):
    answer = client.post("/api/v1/upload/", {"board": "b", "insights": []}, content_type="application/json")
    assert answer.json() == {
        "code": "invalid_input",
        "message": "1 problem. Nothing was saved.",
        "problems": [{"code": "closed", "field": "", "message": "The board is closed."}],
    }


def test_unreadable_json_is_a_problem(client):
    answer = client.post("/api/v1/upload/", "{", content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, "parse_error")


def test_a_wrong_method_names_the_right_ones(client):
    answer = client.delete("/api/v1/upload/")
    assert (answer.status_code, set(answer["Allow"].split(", "))) == (405, {"POST", "OPTIONS"})
    assert answer.json() == {
        "code": "method_not_allowed",
        "message": "This address does not take this method. The header Allow names those it takes.",
    }


def test_a_session_needs_its_form_token(client, rosa):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(rosa)
    answer = strict.post("/api/v1/upload/", {}, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


def test_a_fault_is_a_problem_body_with_a_code_and_no_detail(client):
    client.raise_request_exception = False
    answer = client.get("/api/v1/breaks/")
    assert (answer.status_code, answer.json()["code"]) == (500, "server_error")
    assert "ZeroDivisionError" not in answer.content.decode()


def test_a_script_that_runs_away_is_braked(client, settings, monkeypatch):
    from rest_framework.throttling import UserRateThrottle

    monkeypatch.setattr(UserRateThrottle, "THROTTLE_RATES", {"user": "2/min"})
    answers = [client.get("/api/v1/me/") for _ in range(3)]
    assert [each.status_code for each in answers] == [200, 200, 429]
    assert answers[2].json()["code"] == "throttled"
    assert 0 < int(answers[2]["Retry-After"]) <= 60
