"""How one comes in and goes out: sign-in, registration, the first visit, links with a secret."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib import auth, messages
from django.shortcuts import redirect, render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from medbench.accounts.attempts import address_of, count_attempt
from medbench.accounts.forms import (
    FirstCuratorForm,
    NewPasswordForm,
    PersonForm,
    ProfileForm,
    SignInForm,
)
from medbench.accounts.permissions import Role
from medbench.accounts.queries import nobody_is_here
from medbench.accounts.services import people, teams
from medbench.errors import InvalidInput, NotFound, TooOften

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from medbench.accounts.models import Invitation, User

log = logging.getLogger(__name__)
takes_get_and_post = require_http_methods(["GET", "HEAD", "POST"])


def page_wanted(request: HttpRequest) -> str:
    """Where to go after signing in: `next` if it is an address of this site, else home."""
    wanted = request.POST.get("next") or request.GET.get("next", "")
    ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if ours else resolve_url(settings.LOGIN_REDIRECT_URL)


@takes_get_and_post
@sensitive_post_parameters("password")
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in and return to the page wanted. The name is kept on failure, the password is not."""
    if nobody_is_here():
        return redirect("accounts:first_curator")
    form = SignInForm(request.POST or None)
    status = 200
    if form.is_valid():
        try:
            people.sign_in(request, **form.cleaned_data)
            return redirect(page_wanted(request))
        except (InvalidInput, TooOften) as error:
            form.add_error(None, error.message)
            status = error.status if isinstance(error, TooOften) else 200
    context = {"form": form, "next": page_wanted(request), "may_register": settings.RESEARCHERS_MAY_REGISTER}
    return render(request, "accounts/sign_in.html", context, status=status)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    auth.logout(request)
    return redirect("home")


@takes_get_and_post
@sensitive_post_parameters("password")
def register(request: HttpRequest) -> HttpResponse:
    """An account for whoever wants to submit results, where the site allows that."""
    if not settings.RESEARCHERS_MAY_REGISTER or nobody_is_here():
        raise NotFound
    form = PersonForm(request.POST or None)
    if form.is_valid():
        count_attempt({f"register from {address_of(request)}": people.REGISTRATIONS_PER_ADDRESS})
        auth.login(request, people.add_person(**form.cleaned_data))
        return redirect(page_wanted(request))
    return render(request, "accounts/register.html", {"form": form, "next": page_wanted(request)})


@takes_get_and_post
@sensitive_post_parameters("password", "code")
def first_curator(request: HttpRequest) -> HttpResponse:
    """The site's first account. Exists only while there is no other."""
    if not nobody_is_here():
        raise NotFound
    form = FirstCuratorForm(request.POST or None, asks_code=settings.PRODUCTION)
    if settings.PRODUCTION and request.method == "GET":
        log.warning("First visit: the code is %s", people.first_visit_code())
    if form.is_valid():
        try:
            people.check_first_visit_code(request, form.cleaned_data.pop("code", ""))
        except InvalidInput as error:
            form.add_error("code", error.message)
        else:
            auth.login(request, people.add_first_curator(**form.cleaned_data))
            return redirect("home")
    return render(request, "accounts/first_curator.html", {"form": form})


@takes_get_and_post
@sensitive_post_parameters("password")
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Accept an invitation, as whoever is signed in or with an account made in the same step."""
    invited = teams.find_invitation(secret)
    person_form = None if request.user.is_authenticated else PersonForm(request.POST or None)
    asks_profile = _asks_profile(request, invited)
    profile_form = ProfileForm(request.POST or None, required=True) if asks_profile else None
    valid = [form.is_valid() for form in (person_form, profile_form) if form is not None]
    if request.method == "POST" and all(valid):
        person = teams.accept(invited, lambda: _accepting_person(request, person_form, profile_form))
        if person_form is not None:
            auth.login(request, person)
        messages.success(request, f"You are {invited.get_role_display().lower()} in {invited.team}.")
        return redirect("home")
    context = {"invitation": invited, "person_form": person_form, "profile_form": profile_form}
    return render(request, "accounts/invitation.html", context)


def _asks_profile(request: HttpRequest, invited: Invitation) -> bool:
    """Whether the role is one whose answers may be split by background, and none is known."""
    reads = invited.role in (Role.ANNOTATOR, Role.ADJUDICATOR)
    return reads and not (request.user.is_authenticated and hasattr(request.user, "annotator_profile"))


def _accepting_person(
    request: HttpRequest, person_form: PersonForm | None, profile_form: ProfileForm | None
) -> User:
    if person_form is None:
        assert request.user.is_authenticated
        person = request.user
    else:
        person = people.add_person(**person_form.cleaned_data)
    if profile_form is not None:
        profile_form.save_for(person)
    return person


@takes_get_and_post
@sensitive_post_parameters("password")
def reset(request: HttpRequest, person: int, token: str) -> HttpResponse:
    """Set a new password by a link that a curator passed on."""
    user = people.find_by_reset_link(person, token)
    form = NewPasswordForm(request.POST or None, user=user)
    if form.is_valid():
        people.set_password_by_link(user, form.cleaned_data["password"])
        messages.success(request, "Your new password is set. Sign in with it.")
        return redirect("accounts:sign_in")
    return render(request, "accounts/reset.html", {"form": form, "person": user})
