"""One's own settings."""

from django.http import HttpRequest, HttpResponse


def settings(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)


def password(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)


def tokens(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)


def revoke_token(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)
