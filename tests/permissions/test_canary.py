"""Everybody follows every link they can find, and finds no canary that is not theirs."""

import io
import json
import re
import zipfile
from collections import Counter, deque
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest

from tests.permissions.api import API
from tests.permissions.pages import PAGES
from tests.permissions.walk import address, visit
from tests.permissions.world import CANARIES, PEOPLE

pytestmark = pytest.mark.django_db

LINKS = {"href", "src", "action", "hx-get"}
SECRET_LINKS = {"accounts:reset", "accounts:invitation"}  # whoever has one is whom it is for
WAYS = 4  # to ask for one page: after so many filters and orders the others show nothing new


class Links(HTMLParser):
    """Whatever in a page is an address: links, sources, what scripts are told to fetch."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):  # noqa: ARG002  # of the base class
        for name, value in attributes:
            if value and (name in LINKS or (name.startswith("data-") and value.startswith("/"))):
                self.found.append(value)


def links_of(answer, place):
    kind = answer.get("Content-Type", "")
    found = [answer["Location"]] if "Location" in answer else []
    if kind.startswith("text/html"):
        links = Links()
        links.feed(answer.body.decode())
        found += links.found
    elif kind.startswith("application/json"):
        found += re.findall(r'"((?:http://testserver)?/[^"\s]*)"', answer.body.decode())
    for each in found:
        url = urlsplit(urljoin(f"http://testserver{place}", each))
        if url.netloc == "testserver" and not url.path.startswith(("/static/", "/admin/")):
            yield url.path + (f"?{url.query}" if url.query else "")


def text_of(answer):
    """Everything that left the server: status line, headers, body, and the insides of archives."""
    parts = [f"{name}: {value}" for name, value in answer.headers.items()]
    parts += [cookie.OutputString() for cookie in answer.cookies.values()]
    parts.append(answer.body.decode("utf-8", "replace"))
    if answer.get("Content-Type") == "application/zip":
        with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
            for name in archive.namelist():
                parts += [name, archive.read(name).decode("utf-8", "replace")]
    elif answer.get("Content-Type", "").startswith("application/json"):
        parts.append(json.dumps(json.loads(answer.body), ensure_ascii=False))  # unescaped
    return "\n".join(parts)


def crawl(session, starts):
    """Visits every address that can be reached, pages as a whole and as a region; yields what came."""
    waiting, seen, ways = deque(starts), set(starts), Counter()
    while waiting:
        place = waiting.popleft()
        answers = [visit(session, "GET", place)]
        if answers[0].get("Content-Type", "").startswith("text/html") and answers[0].status_code == 200:
            answers.append(visit(session, "GET", place, headers={"HX-Request": "true"}))
        for answer in answers:
            yield place, answer
            for link in links_of(answer, place):
                path = link.split("?")[0]
                if link not in seen and ways[path] < WAYS:
                    ways[path] += 1
                    seen.add(link)
                    waiting.append(link)


# Chen sees what Bruno sees, and Sam what Ada and Olga see.
@pytest.mark.parametrize("person", [each for each in PEOPLE if each not in ("chen", "sam")])
def test_nobody_finds_a_canary_that_is_not_theirs(world, person):
    """Starts at every address of the table, whether or not it is this person's."""
    starts = [
        address(world, name, each.at) + each.query
        for name, visits in (PAGES | API).items()
        for each in visits
        if name not in SECRET_LINKS
    ]
    leaks, found = [], set()
    for place, answer in crawl(world.sessions[person], dict.fromkeys(starts)):
        assert answer.status_code < 500, place
        text = text_of(answer)
        for canary, owners in CANARIES.items():
            if canary in text:
                found.add(canary)
                if person not in owners:
                    leaks.append(f"{canary} at {place}")
    assert not leaks, "\n".join(leaks)
    # The crawl is not blind: whoever may see something did come across it.
    assert found == {canary for canary, owners in CANARIES.items() if person in owners}
