"""The people of a team."""

from django.http import HttpRequest, HttpResponse


def teams(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)


def people(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)


def add_role(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)


def end_role(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)


def invite(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)


def revoke_invitation(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)


def reset_link(request: HttpRequest, **kwargs: object) -> HttpResponse:
    return HttpResponse(status=503)
