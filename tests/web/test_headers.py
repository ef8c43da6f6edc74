"""Headers of every answer."""

import pytest
from django.test import Client

from tests.people import signed_in

POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
}


@pytest.mark.parametrize(
    ("address", "status"),
    [("/", 200), ("/sign-in/", 200), ("/no/such/page/", 404), ("/settings/", 302), ("/api/v1/me/", 401)],
)
def test_every_answer_carries_the_security_headers(eve, address, status):
    answer = Client().get(address)
    assert answer.status_code == status
    assert set(answer["Content-Security-Policy"].split("; ")) == POLICY
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "camera=()" in answer["Permissions-Policy"]


@pytest.mark.parametrize("address", ["/", "/settings/", "/settings/tokens/", "/api/v1/me/", "/no/such/page/"])
def test_nothing_private_stays_in_a_browser(ada, address):
    assert signed_in(ada).get(address)["Cache-Control"] == "private, no-store"
