"""Addresses of accounts."""

from django.urls import path

from medbench.accounts.views import entry, people, settings

app_name = "accounts"
urlpatterns = [
    path("sign-in/", entry.sign_in, name="sign_in"),
    path("sign-out/", entry.sign_out, name="sign_out"),
    path("register/", entry.register, name="register"),
    path("first-visit/", entry.first_curator, name="first_curator"),
    path("invitations/<str:secret>/", entry.invitation, name="invitation"),
    path("reset/<int:person>/<str:token>/", entry.reset, name="reset"),
    path("settings/", settings.settings, name="settings"),
    path("settings/password/", settings.password, name="password"),
    path("settings/tokens/", settings.tokens, name="tokens"),
    path("settings/tokens/<int:token>/revoke/", settings.revoke_token, name="token_revoke"),
    path("teams/", people.teams, name="teams"),
    path("teams/<int:team>/people/", people.people, name="people"),
    path("teams/<int:team>/people/roles/", people.add_role, name="role_add"),
    path("teams/<int:team>/people/open/", people.open_to_researchers, name="open_to_researchers"),
    path("teams/<int:team>/people/roles/<int:membership>/end/", people.end_role, name="role_end"),
    path(
        "teams/<int:team>/people/invitations/<uuid:invitation>/revoke/",
        people.revoke_invitation,
        name="invitation_revoke",
    ),
    path("teams/<int:team>/people/<int:person>/reset-link/", people.reset_link, name="reset_link"),
]
