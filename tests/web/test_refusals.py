"""What somebody sees when something is refused or breaks."""

import logging
import re

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import path

from medbench import urls
from medbench.errors import Conflict, InvalidInput, NotAllowed, NotFound, TooOften, Unavailable
from medbench.web.logs import RequestErrorCode
from tests.people import signed_in

HTMX = {"HX-Request": "true", "HX-Current-URL": "https://testserver/boards/?sort=f1"}
ERRORS = {
    "invalid": InvalidInput("The file has no header."),
    "not-allowed": NotAllowed("You can read this study. Only curators can change it."),
    "hidden": NotFound(),
    "conflict": Conflict("Somebody else closed this study."),
    "too-often": TooOften("Try again in 5 min.", wait_s=300),
    "unavailable": Unavailable("The judge does not answer."),
    "denied": PermissionDenied("internal words"),
    "suspicious": SuspiciousOperation("internal words"),
    "fault": ZeroDivisionError("internal words"),
}


def raises(request, name):
    raise ERRORS[name]


def takes_forms(request):
    return HttpResponse(request.POST.get("x", ""))


urlpatterns = [path("raises/<str:name>/", raises), path("takes-forms/", takes_forms), *urls.urlpatterns]
handler400, handler403 = urls.handler400, urls.handler403
handler404, handler500 = urls.handler404, urls.handler500


@pytest.fixture
def client(settings):
    settings.ROOT_URLCONF = __name__
    return Client(raise_request_exception=False)


@pytest.mark.parametrize(
    ("name", "status", "heading", "words"),
    [
        ("invalid", 400, "This cannot be done", "The file has no header."),
        (
            "not-allowed",
            403,
            "You cannot do this",
            "You can read this study. Only curators can change it.",
        ),
        ("hidden", 404, "Nothing here", "The address may be wrong, or the item is not open to you."),
        ("conflict", 409, "This changed meanwhile", "Somebody else closed this study."),
        ("too-often", 429, "Too often", "Try again in 5 min."),
        ("unavailable", 503, "Not available now", "The judge does not answer."),
        ("denied", 403, "You cannot do this", "Your role does not allow it"),
        ("suspicious", 400, "The request was not understood", "Open the page again and repeat the step."),
        ("fault", 500, "Something broke on our side", "Nothing you saved is lost."),
    ],
)
def test_each_refusal_has_its_page(client, name, status, heading, words):
    """None of them asks the database: this test has none."""
    answer = client.get(f"/raises/{name}/")
    page = answer.content.decode()
    assert (answer.status_code, f"<h1>{heading}</h1>" in page, words in page) == (status, True, True)
    assert "internal words" not in page
    assert "<script" not in page


def test_hidden_and_unknown_are_the_same_bytes(client):
    assert client.get("/raises/hidden/").content == client.get("/no/such/page/").content


def test_too_often_says_to_scripts_when_to_come_back(client):
    assert client.get("/raises/too-often/")["Retry-After"] == "300"


def test_the_code_on_the_page_is_the_code_in_the_log(client, caplog):
    caplog.handler.addFilter(RequestErrorCode())
    caplog.handler.setFormatter(logging.Formatter("%(code)s%(message)s"))
    page = client.get("/raises/fault/").content.decode()
    code = re.search(r"Code <code>([0-9A-F]{6})</code>, <time", page)[1]
    assert f"[{code}] Internal Server Error: /raises/fault/" in caplog.text
    assert "ZeroDivisionError: internal words" in caplog.text


def test_every_fault_has_its_own_code(client):
    pages = [client.get("/raises/fault/").content.decode() for _ in range(5)]
    codes = {re.search(r"<code>(\w+)</code>", page)[1] for page in pages}
    assert len(codes) == 5


def test_a_page_breaks_gently_when_the_database_is_gone(settings, monkeypatch):
    from django.db import OperationalError

    def refuse(*args, **kwargs):
        raise OperationalError("could not connect to host db.internal")

    monkeypatch.setattr(connection, "cursor", refuse)
    answer = Client(raise_request_exception=False).get("/")
    assert answer.status_code == 500
    assert "Nothing you saved is lost." in answer.content.decode()
    assert "db.internal" not in answer.content.decode()


@pytest.mark.parametrize(("name", "status"), [("fault", 500), ("conflict", 409), ("hidden", 404)])
def test_a_region_gets_one_line_with_the_way_to_try_again(client, name, status):
    answer = client.get(f"/raises/{name}/?page=2", headers=HTMX)
    assert answer.status_code == status
    assert (answer["HX-Reswap"], answer["HX-Reselect"]) == ("afterbegin", ".region-problem")
    line = answer.content.decode()
    assert line.startswith('<p class="region-problem')
    assert f'<a href="/raises/{name}/?page=2">Try again</a>' in line
    if name == "fault":
        assert re.search(r"Something broke on our side \(code [0-9A-F]{6}\)\.", line)


def test_after_a_failed_change_the_way_back_is_the_page_one_is_on(client):
    line = client.post("/raises/conflict/", headers=HTMX).content.decode()
    assert '<a href="https://testserver/boards/?sort=f1">Try again</a>' in line


def test_hostile_headers_are_shown_as_text(client):
    headers = HTMX | {"HX-Current-URL": '"><script>alert(1)</script>'}
    assert "<script" not in client.post("/raises/conflict/", headers=headers).content.decode()


def test_a_region_of_somebody_signed_out_sends_the_whole_page_to_sign_in(client, db):
    answer = client.get("/settings/", headers=HTMX)
    assert answer.status_code == 204
    assert answer["HX-Redirect"] == "/sign-in/?next=%2Fboards%2F%3Fsort%3Df1"


def test_an_outdated_form_says_so(rosa, settings):
    client = Client(enforce_csrf_checks=True)
    client.force_login(rosa)
    answer = client.post("/settings/", {"name": "x"})
    assert answer.status_code == 403
    assert "the form came from a page that is no longer valid" in answer.content.decode()


def test_too_much_text_in_a_form_is_refused_as_too_large(client, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100_000
    answer = client.post("/takes-forms/", {"x": "y" * 200_000})
    assert answer.status_code == 413
    assert "<h1>Too large</h1>" in answer.content.decode()


def test_404_does_not_depend_on_who_asks(client, ada):
    as_ada = signed_in(ada).get("/no/such/page/")
    assert as_ada.content == client.get("/no/such/page/").content
