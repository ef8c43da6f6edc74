"""What a row of the permission table says (pages.py, api.py): who gets what at an address.

A new address without a row fails the build.

To add a row: name the route as `reverse` does, and write one Visit for each kind of object it can be
asked for.

- `may`: the action of `accounts.permissions.MAY` that the view asks for, None where there is none;
  `also`: people who may by something else, say because it is theirs.
- `at`: what stands in the address, by name in world.py (`=x` is the text x itself).
- GET, POST, ...: what each person gets, in the order of world.PEOPLE. `in`: sent to sign-in.
  A method that is not named must be refused with 405.
- `data`: what a POST sends; without it a form with nothing useful, which those who may send it get
  back.

404 is for whoever must not know that the thing exists, 403 for whoever may see it.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Visit:
    may: str | None = None
    at: str = ""
    GET: str = ""
    POST: str = ""
    PUT: str = ""
    PATCH: str = ""
    DELETE: str = ""
    query: str = ""
    data: dict = field(default_factory=lambda: {"nothing": "useful"})
    also: tuple[str, ...] = ()
    team: str = "team"
    missing: str = "404"  # what those who are signed in get for an object that does not exist


EVERYBODY = "200 200 200 200 200 200 200 200 200 200"
SIGNED_IN = "in  200 200 200 200 200 200 200 200 200"
WITH_TOKEN = "401 200 200 200 200 200 200 200 200 200"
NOTHING = "404 404 404 404 404 404 404 404 404 404"
