"""A page with nothing but a viewer, beside all addresses of the site."""

from django.http import HttpResponse
from django.template import RequestContext, Template
from django.urls import include, path

from medbench.slides.queries import visible_slide

PATH = "/viewer/{}/"
PAGE = Template(
    """
{% extends "base.html" %}
{% load static %}
{% block title %}Viewer{% endblock %}
{% block styles %}
<link rel="stylesheet" href="{% static 'css/panes.css' %}">
{% include "slides/_viewer_styles.html" %}
{% endblock %}
{% block scripts %}{% include "slides/_viewer_scripts.html" %}{% endblock %}
{% block page %}
<h1 class="visually-hidden">Viewer</h1>
<div class="panes{% if not slide.is_ready %} no-slide{% endif %}">
  <section class="pane{% if not slide.is_ready %} is-rail{% endif %}" aria-label="Slide">
    {% include "slides/_viewer.html" %}
  </section>
  <div></div><section class="pane"></section>
  <div></div><section class="pane"></section>
</div>
{% endblock %}
{% block foot %}{% endblock %}
""".strip()
)


def viewer(request, slide_id):
    slide = visible_slide(request.user, slide_id)
    return HttpResponse(PAGE.render(RequestContext(request, {"slide": slide})))


urlpatterns = [path("viewer/<uuid:slide_id>/", viewer), path("", include("medbench.urls"))]
handler404 = "medbench.web.views.not_found"
