"""Job graphs: what a planner prepared to run, with its job status hooks (FLIP-218).

As in Flink, users' hooks run within the table's creation and dropping: `JobExecution.begin`
precedes `on_created`, and `abort` precedes `on_failed`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, Protocol, TypeAlias, cast, runtime_checkable

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier
from schema_core.base.plugins import HOOKS, require
from schema_core.base.text import is_blank
from schema_core.environment.jobs.metrics import JobMetrics
from schema_core.errors import (
    AlreadyExistsError,
    NotFoundError,
    SchemaError,
    UnsupportedError,
    similar,
    with_notes,
)

#: Hints of several errors.
REGISTER_HOOK = "register its factory by a name, and the hook by that name"


@runtime_checkable
class JobStatusHook(Protocol):
    """Called when the status of a job changes (FLIP-218), on the thread of the job.

    Registered for all jobs by ``TableEnvironment.create(settings, hooks=[...])``, or for one
    statement by `TablePipeline.register_job_status_hook`.

    Each hook is called exactly once for each event, in order of registration, whatever other hooks
    raise: `on_created` before any row is written, then one of `on_finished` (rows are visible),
    `on_failed` and `on_canceled`. An error in `on_created` fails the job before it starts. The job
    raises its first error, with later errors of hooks as notes. A statement that is refused before
    its job is submitted calls no hook.
    """

    def on_created(self, job_id: str) -> None: ...
    def on_finished(self, job_id: str) -> None: ...
    def on_failed(self, job_id: str, error: BaseException) -> None: ...
    def on_canceled(self, job_id: str) -> None: ...


@runtime_checkable
class JobProgressHook(JobStatusHook, Protocol):
    """A hook that also receives the metrics of streaming jobs.

    `on_progress` is called between `on_created` and the last call, whenever the metrics have
    changed, at most every five seconds, on a thread of its own. Its errors are logged (logger
    ``schema_core.jobs``), and the job continues.
    """

    def on_progress(self, job_id: str, metrics: JobMetrics) -> None: ...


#: Makes a hook: a class without parameters, or a function.
HookFactory: TypeAlias = Callable[[], JobStatusHook]


class JobExecution:
    """One run of a job by an engine. This class does nothing; engines override what they need.

    The environment calls the methods in this order, each at most once: `begin` on the submitting
    thread, the others on the job's; after any error, `abort`.
    """

    #: whether `run` returns at some time without `cancel`
    has_end: ClassVar[bool] = True

    @property
    def committed(self) -> bool | None:
        """Whether the rows are visible for good; None if that is unknown after an error."""
        return False

    def set_name(self, name: str) -> None:
        """Show another name of the job in the engine; only before `begin`."""

    def begin(self) -> None:
        """Do what precedes the job, such as creating its table; errors are raised at once."""

    def run(self, job_id: str) -> None:
        """Write the rows."""

    def commit(self) -> None:
        """Make the rows visible."""

    def abort(self) -> None:
        """Undo, unless the commit took effect."""

    def cancel(self, job_id: str) -> None:
        """Make `run` raise soon. Called on any thread, while the job runs or before."""

    def progress(self, job_id: str) -> tuple[int, int] | None:
        """Return the numbers of done and of all tasks; None if unknown."""
        return None

    def metrics(self) -> JobMetrics | None:
        """Return what a streaming job has done since it started; None for other jobs."""
        return None


class CompositeExecution(JobExecution):
    """Several prepared jobs run as one: all rows are written before any are committed."""

    def __init__(self, graphs: Sequence[JobGraph]) -> None:
        self._graphs = graphs
        self._parts = [graph.execution for graph in graphs]

    @property
    def committed(self) -> bool | None:
        """True if every part is committed; None if one is unknown."""
        states = [part.committed for part in self._parts]
        return None if None in states else all(states)

    def set_name(self, name: str) -> None:
        for part in self._parts:
            part.set_name(name)

    def begin(self) -> None:
        for part in self._parts:
            part.begin()

    def run(self, job_id: str) -> None:
        for part in self._parts:
            part.run(job_id)

    def commit(self) -> None:
        """Commit the parts in order; an error names those committed before it."""
        for place, item in enumerate(self._parts):
            try:
                item.commit()
            except BaseException as error:
                for done in self._graphs[:place]:
                    error.add_note(f"the rows of the job {done.name!r} are committed")
                raise

    def abort(self) -> None:
        """Abort every part, the last one first."""
        errors: list[BaseException] = []
        for part in reversed(self._parts):
            try:
                part.abort()
            except BaseException as error:  # noqa: BLE001 - raised below
                errors.append(error)
        if errors:
            raise with_notes(errors[0], errors[1:], "while the job was aborted")

    def cancel(self, job_id: str) -> None:
        for part in self._parts:
            part.cancel(job_id)

    def progress(self, job_id: str) -> tuple[int, int] | None:
        return next((part.progress(job_id) for part in self._parts), None)

    def metrics(self) -> JobMetrics | None:
        parts = (part.metrics() for part in self._parts)
        return JobMetrics.of_all([part for part in parts if part is not None])


class ConcurrentExecution(CompositeExecution):
    """Several prepared jobs without an end run as one, at once: the first that ends stops all."""

    has_end = False

    def run(self, job_id: str) -> None:
        """Run the parts until one fails or all are cancelled; the error names the failed part."""
        from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait  # slow to import

        with ThreadPoolExecutor(len(self._graphs), "schema-core sink") as pool:
            runs = {pool.submit(graph.execution.run, job_id): graph for graph in self._graphs}
            first, others = wait(runs, return_when=FIRST_COMPLETED)
            self.cancel(job_id)
        errors: list[BaseException] = []
        for run in (*first, *others):
            if (error := run.exception()) is not None:
                error.add_note(f"in the job {runs[run].name!r}")
                errors.append(error)
        if errors:
            raise with_notes(errors[0], errors[1:], "while the job was stopped")


@dataclass(frozen=True, slots=True)
class RegisteredHook:
    """A hook, with the registered name of its factory, or None."""

    hook: JobStatusHook
    name: str | None = None


class JobGraph:
    """A job that a planner prepared: its name, the tables that it writes, and its hooks.

    `before_commit` holds calls for when the rows are written, whose errors abort the job;
    `after_commit` calls for when the rows are visible, before any hook.

    >>> graph = JobGraph("insert into t", JobExecution(), [ObjectIdentifier.of("c", "d", "t")])
    >>> graph.to_dict()
    {'name': 'insert into t', 'sinks': [['c', 'd', 't']], 'hooks': []}
    """

    def __init__(
        self,
        name: str,
        execution: JobExecution,
        sinks: Iterable[ObjectIdentifier] = (),
        *,
        after_commit: Iterable[Callable[[], None]] = (),
    ) -> None:
        self.name: str = name
        self.execution = execution
        self.sinks: tuple[ObjectIdentifier, ...] = tuple(sinks)
        self.before_commit: list[Callable[[], None]] = []
        self.after_commit: list[Callable[[], None]] = list(after_commit)
        self._hooks: list[RegisteredHook] = []

    def register_job_status_hook(self, hook: JobStatusHook, name: str | None = None) -> None:
        """Add a hook after the others, with the registered name of its factory, if any.

        Raises:
            SchemaError: with code `invalid-argument` for an object without the methods of a hook.
        """
        require_instance(hook, JobStatusHook, "hook")
        self._hooks.append(RegisteredHook(hook, name))

    def set_name(self, name: str) -> None:
        """Give the job another name, also in the engine."""
        self.name = name
        self.execution.set_name(name)

    @property
    def hooks(self) -> tuple[JobStatusHook, ...]:
        """The hooks, in order."""
        return tuple(hook.hook for hook in self._hooks)

    def to_dict(self) -> dict[str, Any]:
        """Return the job as plain data, with its hooks by their names.

        Raises:
            UnsupportedError: with code `invalid-state` for a hook without a name.
        """
        for hook in self._hooks:
            if hook.name is None:
                raise UnsupportedError(
                    f"the job status hook {type(hook.hook).__name__} of the job {self.name!r} "
                    "has no name, so the job cannot be described as data",
                    code="invalid-state",
                    hint=REGISTER_HOOK,
                )
        return {
            "name": self.name,
            "sinks": [sink.to_list() for sink in self.sinks],
            "hooks": [hook.name for hook in self._hooks],
        }

    @classmethod
    def of_all(cls, graphs: Sequence[JobGraph]) -> JobGraph:
        """Return one job for one or more jobs without hooks.

        Raises:
            UnsupportedError: with code `streaming-not-supported` if only some of the jobs have an
                end: their rows would be written again when the job is continued.
        """
        if len(graphs) == 1:
            return graphs[0]
        ends = [graph.name for graph in graphs if graph.execution.has_end]
        if 0 < len(ends) < len(graphs):
            raise UnsupportedError(
                f"the job {ends[0]!r} reads only bounded tables: it cannot be in a statement set "
                "with jobs that read unbounded tables",
                code="streaming-not-supported",
                hint="run that INSERT as a statement of its own",
            )
        name = "; ".join(graph.name for graph in graphs)
        sinks = [sink for graph in graphs for sink in graph.sinks]
        calls = [call for graph in graphs for call in graph.after_commit]
        composite = CompositeExecution if ends else ConcurrentExecution
        job = cls(name, composite(graphs), sinks, after_commit=calls)
        job.before_commit += [call for graph in graphs for call in graph.before_commit]
        return job


#: The sinks of the statement set that is being prepared -> how many of its INSERTs write it.
_SINKS_OF_SET: ContextVar[Counter[str] | None] = ContextVar("sinks of the set", default=None)


@contextmanager
def number_sinks(*, is_set: bool) -> Iterator[None]:
    """Let `part_of_set` number the jobs that this thread prepares within the block, if a set."""
    token = _SINKS_OF_SET.set(Counter() if is_set else None)
    try:
        yield
    finally:
        _SINKS_OF_SET.reset(token)


def part_of_set(sink: str) -> str | None:
    """Return the name of a job in its statement set by its sink; None outside of a set.

    >>> with number_sinks(is_set=True):
    ...     part_of_set("c.d.t"), part_of_set("c.d.u"), part_of_set("c.d.t")
    ('c.d.t', 'c.d.u', 'c.d.t_2')
    """
    sinks = _SINKS_OF_SET.get()
    if sinks is None:
        return None
    sinks[sink] += 1
    return sink if sinks[sink] == 1 else f"{sink}_{sinks[sink]}"


class HookFactories:
    """The job status hooks of an environment's jobs, and factories by name.

    Other names are looked up as entry points of ``schema_core.job_status_hooks``. `hooks` are
    objects, or names, for which each job gets a new object.
    """

    def __init__(self, hooks: Iterable[JobStatusHook | str] = ()) -> None:
        self._hooks = tuple(hooks)
        self._factories: dict[str, HookFactory] = {}

    def without_hooks(self) -> HookFactories:
        """Return the same factories, for jobs without the hooks of their environment."""
        found = HookFactories()
        found._factories = self._factories
        return found

    def register(self, name: str, factory: HookFactory) -> None:
        """Register a factory by a name (`already-exists`).

        An empty name, or what cannot be called, is a `invalid-argument`.
        """
        require_instance(name, str, "name")
        if is_blank(name) or not callable(factory):
            problem = "factory must be callable" if not is_blank(name) else "name must not be blank"
            raise SchemaError(problem, code="invalid-argument")
        if self._factories.setdefault(name, factory) is not factory:
            raise AlreadyExistsError(
                f"there is already a job status hook {name!r}", code="already-exists"
            )

    def names(self, others: Iterable[JobStatusHook | str] = ()) -> list[str]:
        """Return the names of the hooks of one job (`invalid-state`)."""
        return [_name_of(hook) for hook in (*self._hooks, *others)]

    def hooks(self, others: Iterable[JobStatusHook | str] = ()) -> list[RegisteredHook]:
        """Return the hooks of one job: the environment's, then others.

        An unknown name is `factory-not-found` or `not-loadable`; a factory that does not return a
        hook a `invalid-argument`.
        """
        return [self._register_hook(hook) for hook in (*self._hooks, *others)]

    def _register_hook(self, given: JobStatusHook | str) -> RegisteredHook:
        if not isinstance(given, str):
            return RegisteredHook(given)
        hook = self._factory(given)()
        require_instance(
            hook, JobStatusHook, f"the result of the job status hook factory {given!r}"
        )
        return RegisteredHook(hook, given)

    def _factory(self, name: str) -> HookFactory:
        if (found := self._factories.get(name)) is not None:
            return found
        try:
            installed: HookFactory = require(HOOKS, name)
        except NotFoundError as error:
            error.hint = similar(name, self._factories) or error.hint
            raise
        return installed


def _name_of(hook: JobStatusHook | str) -> str:
    if isinstance(hook, str):
        return hook
    raise UnsupportedError(
        f"the job status hook {type(hook).__name__} has no name, so the job cannot be described "
        "as data",
        code="invalid-state",
        hint=REGISTER_HOOK,
    )


def require_hook(given: object, name: str) -> JobStatusHook | str:
    """Return a hook or the name of one (`invalid-argument`)."""
    require_instance(given, (JobStatusHook, str), name, "a JobStatusHook or the name of one")
    return cast("JobStatusHook | str", given)
