"""``Access``: who may ask, and what every answer says to the browser about itself.

The files may be private, so a page of another site must not read them through the user's browser. Every URL
begins with a secret token. The Host header must name this server, or a name that an attacker points to
127.0.0.1 would make his page one of our origin. Requests that another site causes are refused even with the
right token. This module does not know what is asked.
"""

from __future__ import annotations

import hmac
import re
import secrets
from typing import Any, Protocol

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,128}")

# The page loads what stands beside it and nothing else; nothing in data can become a script or a style.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "media-src 'self' blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
# What comes from data may do nothing at all, even if somebody opens it in a window of its own.
DATA_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


class Headers(Protocol):
    """The headers of a request."""

    def get(self, name: str, failobj: Any = None) -> Any:
        """The value of a header."""


class Access:
    """Decides about requests to the server at ``address``."""

    def __init__(self, token: str | None = None) -> None:
        if token is None:
            token = secrets.token_urlsafe(24)
        if not _TOKEN.fullmatch(token):
            raise ValueError(
                "a token has 16 to 128 letters, digits, - and _; without one, it is drawn at random"
            )
        self.token = token
        self._hosts: frozenset[str] = frozenset()

    def serve(self, host: str, port: int) -> None:
        """Set the address at which the server listens."""
        names = {host} | ({"localhost", "127.0.0.1"} if host in ("127.0.0.1", "localhost") else set())
        hosts = {f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names}
        if port == 80:
            hosts |= {host.removesuffix(":80") for host in hosts}
        self._hosts = frozenset(hosts)

    def refusal(self, headers: Headers) -> str | None:
        """Why a request with these headers is refused, whatever it asks; None if it is not."""
        host = headers.get("Host", "").lower()
        if host not in self._hosts:
            return "the Host header does not name this server"
        origin = headers.get("Origin")
        if origin is not None and origin.lower() != f"http://{host}":
            return "the request comes from another site"
        # Another site can at best open a window, into which it cannot look; a notebook's link is one.
        opens = (headers.get("Sec-Fetch-Mode"), headers.get("Sec-Fetch-Dest")) == ("navigate", "document")
        if headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none") and not opens:
            return "the request comes from another site"
        return None

    def inside(self, path: str) -> str | None:
        """The part of ``path`` after the token; None if the token is wrong."""
        token, slash, rest = path.removeprefix("/").partition("/")
        given = token.encode("utf-8", "replace")
        if not path.startswith("/") or not hmac.compare_digest(given, self.token.encode()):
            return None
        return rest if slash else None
