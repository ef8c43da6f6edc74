"""Where a judge may live: at its provider, or at a base address that the site's owner has listed.

A name is resolved before every session, and what it resolves to must be public or in a listed network.
Between that and the connection it could change; only whoever holds a listed name could use that.
"""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from django.conf import settings

from medbench.errors import InvalidInput


def refuse_address(base_url: str) -> None:
    """Raise InvalidInput (code `address_refused`) unless the address is the provider's own ("") or
    listed, and resolves to where judges may live."""
    if not base_url:
        return
    listed = [each.rstrip("/") for each in settings.JUDGE_ADDRESSES]
    if base_url.rstrip("/") not in listed:
        told = "The list is empty." if not listed else f"Listed: {', '.join(listed)}."
        _refuse(f"{base_url} is not in the site's list of base addresses. {told}")
    networks = [ipaddress.ip_network(each) for each in settings.JUDGE_NETWORKS]
    for address in _resolved(base_url):
        if not address.is_global and not any(address in network for network in networks):
            _refuse(f"{base_url} leads to {address}, which is not public and in no listed network.")


def refuse_variables() -> None:
    """Raise InvalidInput where the environment would lead a provider's client elsewhere."""
    if settings.JUDGE_DETOURS:
        _refuse(f"The worker has {', '.join(settings.JUDGE_DETOURS)} in its environment. Start it without.")


def _resolved(base_url: str) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    parts = urlsplit(base_url)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, ValueError):
        _refuse(f"{base_url} leads nowhere now. Check its spelling and the name server.")
    addresses = [ipaddress.ip_address(str(each[4][0]).split("%")[0]) for each in found]
    # ::ffff:10.0.0.1 is 10.0.0.1
    return [getattr(each, "ipv4_mapped", None) or each for each in addresses]


def _refuse(message: str) -> None:
    raise InvalidInput(message, code="address_refused")
