"""The people of the demo, who all sign in with one password."""

from dataclasses import dataclass

PASSWORD = "demo-password"  # noqa: S105  # known to everybody: the demo listens on this machine only


@dataclass(frozen=True)
class Person:
    """Somebody to sign in as, and what there is to do for them."""

    username: str
    name: str
    role: str  # a value of accounts.permissions.Role
    to_do: str


PEOPLE = (
    Person("ada", "Ada Novak", "curator", "sees every case, plans studies, freezes releases"),
    Person("bruno", "Bruno Costa", "annotator", "verifies triplets beside slide and report"),
    Person("chen", "Chen Wei", "annotator", "verifies the same triplets, so that agreement can be seen"),
    Person("dara", "Dara Okafor", "adjudicator", "decides where annotators differ"),
    Person("rosa", "Rosa Lind", "researcher", "uploads result files and compares them on the board"),
)
