"""A page that shows a job, as an application would write it. Serves as ROOT_URLCONF of its tests."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template import engines
from django.urls import include, path
from django.views.decorators.http import require_POST

from medbench import jobs
from medbench.jobs.models import Job

PAGE = """{% extends "base.html" %}
{% block heading %}A job{% endblock %}
{% block content %}{% include "jobs/_progress.html" %}{% endblock %}"""


def show(request, pk):
    job = get_object_or_404(Job, pk=pk)
    urls = {"poll_url": f"/job/{pk}/", "cancel_url": f"/job/{pk}/cancel/", "retry_url": f"/job/{pk}/retry/"}
    if request.htmx:
        return render(request, "jobs/_progress.html", {"job": job, **urls})
    return HttpResponse(engines["django"].from_string(PAGE).render({"job": job, **urls}, request))


@require_POST
def change(request, pk, verb):
    getattr(jobs.services, verb)(get_object_or_404(Job, pk=pk))
    return redirect(f"/job/{pk}/")


urlpatterns = [
    path("job/<uuid:pk>/", show),
    path("job/<uuid:pk>/<str:verb>/", change),
    path("", include("medbench.urls")),
]
