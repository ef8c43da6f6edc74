"""A suite: ten instances of each template, built side by side, resumed where it was left."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from dataclasses import dataclass
from decimal import Decimal
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from medbench.clinlens import layout
from medbench.clinlens.build.fitness import lacking, unfit
from medbench.clinlens.build.instance import Place, build_instance
from medbench.clinlens.build.secret import read_secret
from medbench.clinlens.build.selecting import Rejected
from medbench.clinlens.canonical import canonical_json
from medbench.clinlens.manifest import CategoricalAnswer
from medbench.clinlens.sources import open_source
from medbench.clinlens.suite import Suite, write_suite
from medbench.clinlens.templates import TEMPLATES
from medbench.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from medbench.clinlens.build.secret import Secret
    from medbench.clinlens.sources import Source
    from medbench.clinlens.templates.core import Parameters, Template

INSTANCES_MOST = 10
DRAWS = 4  # how often the grid of a template is gone through with other patients
SAME_ANSWERS_MOST = 3  # of ten instances, within tolerance of another
STATE = ".state"  # of a suite, in its private tree


@dataclass(frozen=True, slots=True)
class Plan:
    """What to build, in plain values: it goes to other processes."""

    source: Path
    kind: str | None
    cache: Path | None
    suite: str
    public: Path  # roots
    private: Path
    secret: Path
    templates: tuple[str, ...]
    instances: int = INSTANCES_MOST
    workers: int = 2

    def place(self) -> Place:
        source = open_source(self.source, self.kind, self.cache)
        return Place(
            source, self.suite, self.public / self.suite, self.private / self.suite, read_secret(self.secret)
        )


def build_suite(
    plan: Plan, progress: Callable[[int, int], object] = lambda *_: None
) -> tuple[Suite, dict[str, Any]]:
    """Build every task of a plan and write suite.json; the suite and what was rejected, by template.

    What was finished before is kept. Raises InvalidInput where a template has too few good instances.
    """
    place = _checked_place(plan)
    total = len(plan.templates) * plan.instances
    with ProcessPoolExecutor(plan.workers, mp_context=get_context("spawn")) as pool:
        running = {pool.submit(_build_template, plan, name) for name in plan.templates}
        waiting = running
        while waiting:
            done, waiting = wait(waiting, timeout=1, return_when=FIRST_EXCEPTION)
            progress(_finished(place), total)
            if any(each.exception() for each in done):
                pool.shutdown(cancel_futures=True)
                break
        rejected = dict(sorted(each.result() for each in running if not each.cancelled()))
    for root in (place.public, place.private):
        shutil.rmtree(root / ".half", ignore_errors=True)
    return write_suite(place.public, _task_ids(plan)), rejected


def _checked_place(plan: Plan) -> Place:
    if not 1 <= plan.instances <= INSTANCES_MOST:
        raise InvalidInput(f"Instances of a template are 1 to {INSTANCES_MOST}.", code="instances")
    _check_roots(plan.public, plan.private)
    place = plan.place()
    missing = {name: lacking(TEMPLATES[name], place.source.paths) for name in plan.templates}
    lack = next((f"{name} needs {', '.join(tables)}" for name, tables in missing.items() if tables), None)
    if lack:
        raise InvalidInput(
            f"This source cannot build all of it: {lack}. See `clinlens plan`.", code="missing_table"
        )
    place.source.prepare(sorted({table for form in _forms(plan, place.source) for table in form.tables}))
    odd = next(filter(None, (unfit(place.source, form) for form in _forms(plan, place.source))), None)
    if odd:
        raise InvalidInput(f"This source is not what the questions say: {odd}.", code="unknown_word")
    for root in (place.public, place.private):
        root.mkdir(parents=True, exist_ok=True)
    place.private.chmod(0o700)
    _check_state(plan, place)
    return place


def _forms(plan: Plan, source: Source) -> list[Template]:
    """The forms of the templates that a source has the tables for."""
    usual = [TEMPLATES[name] for name in plan.templates]
    return [form for each in usual for form in (each, *each.forms) if not lacking(form, source.paths)]


def _check_roots(public: Path, private: Path) -> None:
    one, other = public.resolve(), private.resolve()
    if one == other or one in other.parents or other in one.parents:
        raise InvalidInput("The public and the private root must lie apart from each other.", code="roots")


def _check_state(plan: Plan, place: Place) -> None:
    """Refuse to continue a suite of another source, secret or plan."""
    path = place.private / STATE / "plan.json"
    state = canonical_json(
        {
            "source": place.source.fingerprint,
            "secret": place.secret.hex("plan"),
            "instances": plan.instances,
            "versions": {name: TEMPLATES[name].version for name in sorted(plan.templates)},
        }
    )
    if path.is_file() and path.read_bytes() != state:
        raise InvalidInput(
            f"The suite {plan.suite} was begun from another source, secret or list of templates. "
            "Take another --suite, or remove its two folders.",
            code="other_plan",
        )
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(state)


def _task_ids(plan: Plan) -> list[str]:
    return [f"{name}-{number:03d}" for name in plan.templates for number in range(1, plan.instances + 1)]


def _finished(place: Place) -> int:
    return sum(1 for _ in place.public.glob(f"*/{layout.MANIFEST}"))


def _build_template(plan: Plan, name: str) -> tuple[str, list[str]]:
    """Build the instances of one template in order; why others were rejected."""
    place, template = plan.place(), TEMPLATES[name]
    progress = _Progress(place, template, plan)
    candidates = {each.form: _candidates(each, place.secret) for each in (template, *template.forms)}
    while not progress.is_done:
        parameters, draw = next(candidates[progress.form], (None, DRAWS))
        if parameters is None or (draw and not progress.answers):  # other patients will not help
            raise InvalidInput(
                f"{name}: only {len(progress.answers)} of {plan.instances} instances pass quality control. "
                f"Last: {progress.rejected[-1]}.",
                code="too_few_instances",
            )
        progress.consider(parameters, draw)
    return name, progress.rejected


def _candidates(template: Template, secret: Secret) -> Iterator[tuple[Parameters, int]]:
    """The grid of a template, again with other patients, in the order of the secret."""
    for draw in range(DRAWS):
        for parameters in template.ordered_grid(secret.hex("grid")):
            yield parameters, draw


class _Progress:
    """How far a template is: kept in a file after every candidate, so that a build can be resumed."""

    def __init__(self, place: Place, template: Template, plan: Plan) -> None:
        self.place, self.template, self.wanted = place, template, plan.instances
        self.path = place.private / STATE / f"{template.id}.json"
        self.answers: list[str] = []
        self.rejected: list[str] = []
        self.seen: dict[str, str] = {}  # by candidate: its answer, or "" for rejected
        if self.path.is_file():
            self.seen = json.loads(self.path.read_text())["seen"]
        self.labels = self._labels()
        self.forms = self._forms()

    def _forms(self) -> list[str]:
        """The form of each instance, in an order that nobody outside can know."""
        there = self.place.source.paths
        buildable = [each for each in self.template.forms if not lacking(each, there)]
        forms = [each.form for each in buildable for _ in range(each.share)]
        forms += [self.template.form] * (INSTANCES_MOST - len(forms))
        return self._shuffled(forms, "forms")

    def _labels(self) -> list[str]:
        """Two of each label, in an order that nobody outside can know."""
        answer = self.template.answer(self.template.grid[0])
        if not isinstance(answer, CategoricalAnswer):
            return []
        return self._shuffled([*answer.labels, *answer.labels], "label")

    def _shuffled(self, items: list[str], purpose: str) -> list[str]:
        order = sorted(range(len(items)), key=lambda at: self.place.secret.hex(purpose, self.template.id, at))
        return [items[at] for at in order]

    @property
    def form(self) -> str:
        """Of the next instance."""
        return self.forms[len(self.answers)]

    @property
    def is_done(self) -> bool:
        return len(self.answers) == self.wanted

    def consider(self, parameters: Parameters, draw: int) -> None:
        """Build the next task with these parameters, unless that was tried before."""
        number = len(self.answers) + 1
        task_id = f"{self.template.id}-{number:03d}"
        candidate = f"{task_id} {draw} {json.dumps(parameters, sort_keys=True)}"
        known = self.seen.get(candidate)
        is_there = (self.place.public / task_id / layout.MANIFEST).is_file()
        if known is None or (known.startswith("=") and not is_there):
            known = self._try(parameters, task_id, number, draw)
            self.seen[candidate] = known
            self.path.write_text(json.dumps({"seen": self.seen}, indent=1))
        if known.startswith("="):
            self.answers.append(known[1:])
        else:
            self.rejected.append(f"{task_id}: {known}")

    def _try(self, parameters: Parameters, task_id: str, number: int, draw: int) -> str:
        label = self.labels[number - 1] if self.labels else None
        try:
            form = self.template.of(parameters)
            answer = build_instance(self.place, form, parameters, task_id, label=label, draw=draw)
        except Rejected as reason:
            return str(reason)
        if not self.labels and self._is_common(answer, parameters):
            for root in (self.place.public, self.place.private):
                shutil.rmtree(root / task_id)
            return "too many instances have this answer"
        return f"={answer}"

    def _is_common(self, answer: str, parameters: Parameters) -> bool:
        """Whether too many instances would have the answer of another."""
        tolerance = self.template.of(parameters).tolerance(parameters)
        assert tolerance is not None
        limit = max(Decimal(tolerance.abs), Decimal(tolerance.rel) * abs(Decimal(answer)))
        every = [Decimal(each) for each in (*self.answers, answer)]
        same = sum(any(abs(one - other) <= limit for other in every[:at]) for at, one in enumerate(every))
        return same > SAME_ANSWERS_MOST


def parse_templates(names: Sequence[str]) -> tuple[str, ...]:
    """Template ids, or "all"; raises InvalidInput."""
    if list(names) == ["all"]:
        return tuple(TEMPLATES)
    unknown = [name for name in names if name not in TEMPLATES]
    if unknown:
        raise InvalidInput(
            f"There is no template {unknown[0]}: {', '.join(TEMPLATES)}.", code="unknown_template"
        )
    return tuple(name for name in TEMPLATES if name in names)
