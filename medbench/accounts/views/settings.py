"""One's own settings: name, looks, annotator profile, password, API tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from medbench.accounts.forms import PasswordChangeForm, ProfileForm, SettingsForm, TokenForm
from medbench.accounts.models import AnnotatorProfile, User
from medbench.accounts.queries import tokens_of
from medbench.accounts.services.tokens import make_token
from medbench.accounts.services.tokens import revoke_token as revoke
from medbench.errors import NotFound

if TYPE_CHECKING:
    from django.http import HttpResponse

    from medbench.accounts.requests import SignedInRequest

takes_get_and_post = require_http_methods(["GET", "HEAD", "POST"])


@takes_get_and_post
@login_required
def settings(request: SignedInRequest) -> HttpResponse:
    """Name, e-mail, looks, and what agreement may later be split by."""
    profile = AnnotatorProfile.objects.filter(user=request.user).first()
    # Not request.user itself: refused words would show in the bar of the page.
    form = SettingsForm(request.POST or None, instance=User.objects.get(pk=request.user.pk))
    profile_form = ProfileForm(request.POST or None, instance=profile)
    if all([form.is_valid(), profile_form.is_valid()]):
        form.save()
        profile_form.save_for(request.user)
        messages.success(request, "Your settings are saved.")
        return redirect("accounts:settings")
    return render(request, "accounts/settings.html", {"form": form, "profile_form": profile_form})


@takes_get_and_post
@login_required
@sensitive_post_parameters("old", "password")
def password(request: SignedInRequest) -> HttpResponse:
    """A new password. Other sessions of this person end, this one goes on."""
    form = PasswordChangeForm(request.POST or None, user=request.user)
    if form.is_valid():
        request.user.set_password(form.cleaned_data["password"])
        request.user.save(update_fields=["password"])
        update_session_auth_hash(request, request.user)
        messages.success(request, "Your new password is set.")
        return redirect("accounts:password")
    return render(request, "accounts/password.html", {"form": form})


@takes_get_and_post
@login_required
def tokens(request: SignedInRequest) -> HttpResponse:
    """API tokens. The answer to the form is the only place where a secret is ever shown."""
    form = TokenForm(request.POST or None)
    secret = None
    if form.is_valid():
        _, secret = make_token(request.user, form.cleaned_data["name"], expires_at=form.expires_at())
        form = TokenForm()
    context = {"form": form, "secret": secret, "tokens": tokens_of(request.user), "now": timezone.now()}
    return render(request, "accounts/tokens.html", context)


@require_POST
@login_required
def revoke_token(request: SignedInRequest, token: int) -> HttpResponse:
    mine = tokens_of(request.user).filter(pk=token).first()
    if mine is None:
        raise NotFound
    revoke(mine)
    messages.success(request, f"The token “{mine.name}” is revoked.")
    return redirect("accounts:tokens")
