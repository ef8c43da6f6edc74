"""A region that cannot be loaded says so in its place, and the rest of the page goes on."""

import itertools

import pytest
from django.http import HttpResponse
from django.template import engines
from django.urls import path

from medbench import urls
from medbench.errors import Unavailable
from tests.chromium import assert_accessible

pytestmark = pytest.mark.browser

PAGE = """
{% extends "base.html" %}
{% block title %}A page{% endblock %}
{% block heading %}A page{% endblock %}
{% block content %}
<button class="button" hx-get="/scores/" hx-target="#scores" hx-swap="innerHTML">Refresh</button>
<div id="scores" data-region>Scores of this morning</div>
{% endblock %}
"""
answers = itertools.count()


def page_with_region(request):
    return HttpResponse(engines["django"].from_string(PAGE).render({}, request))


def scores(request):
    number = next(answers)
    if number < 2:
        raise Unavailable("The judge does not answer.")
    return HttpResponse("Scores of this evening")


urlpatterns = [path("page/", page_with_region), path("scores/", scores), *urls.urlpatterns]
handler404 = urls.handler404


def test_a_failed_region_keeps_what_it_showed_and_says_what_happened_once(page, console, eve, settings):
    settings.ROOT_URLCONF = __name__
    page.goto("/page/")
    for _ in range(2):
        with page.expect_response("**/scores/"):
            page.click("text=Refresh")
        page.wait_for_selector(".region-problem")
    assert page.locator(".region-problem").count() == 1
    assert page.inner_text(".region-problem") == "The judge does not answer. Try again"
    assert "Scores of this morning" in page.inner_text("#scores")
    assert page.evaluate("document.activeElement.textContent") == "Refresh"
    assert_accessible(page)
    page.click("text=Refresh")
    page.locator("#scores", has_text="Scores of this evening").wait_for(state="attached")
    console.expect("503")
