"""Pages before one is signed in."""

from django.http import HttpRequest, HttpResponse


def sign_in(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)


def sign_out(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)


def register(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)


def first_curator(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)


def invitation(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)


def reset(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)
