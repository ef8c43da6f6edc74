"""Every address pattern of the site, and how to visit one."""

import uuid

from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import get_resolver, reverse
from django.urls.resolvers import URLPattern

SIGN_IN = "in"  # in the table: sent to the sign-in page
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
MISSING = {"uuid": str(uuid.UUID(int=7)), "int": 999_999, "str": "missing", "slug": "missing", "level": 9}


def patterns(resolver=None, namespaces=()):
    """(name with namespaces, pattern) of all addresses."""
    for each in (resolver or get_resolver()).url_patterns:
        if isinstance(each, URLPattern):
            yield ":".join((*namespaces, each.name or f"unnamed {each.pattern}")), each
        else:
            inside = (*namespaces, each.namespace) if each.namespace else namespaces
            yield from patterns(each, inside)


def address(world, name, at):
    """The address of the route `name` for what `at` names in the world."""
    if name == "api_nothing_here":
        return at.replace("=", "/")
    return reverse(name, args=[_written(world, each) for each in at.split()])


def address_of_nothing(name, pattern):
    """The address of the route for things that do not exist; None where it names none."""
    kinds = [
        type(each).__name__.removesuffix("Converter").lower() for each in pattern.pattern.converters.values()
    ]
    return reverse(name, args=[MISSING[kind.replace("string", "str")] for kind in kinds]) if kinds else None


def _written(world, name):
    if name.startswith("="):
        return name[1:]
    thing = getattr(world, name)
    return getattr(thing, "pk", thing)


def visit(session, method, place, data=None, headers=None):
    """The answer to somebody with the cookies of `session`; whatever it changed is undone."""
    cache.clear()  # throttles count there
    client = Client(raise_request_exception=False)
    client.cookies.update(session.cookies if session else {})
    with transaction.atomic():
        if method == "POST":
            answer = client.post(place, data, headers=headers)
        else:
            answer = client.generic(method, place, headers=headers)
        answer.body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        transaction.set_rollback(True)
    return answer


def outcome(answer):
    """The status as the table writes it."""
    if answer.status_code == 302 and answer["Location"].split("?")[0] == "/sign-in/":
        return SIGN_IN
    return str(answer.status_code)
