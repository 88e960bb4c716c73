"""Compatibility of two definitions of a table with old rows, old readers and running jobs.

One function answers each question; `check_compatibility` combines them to the modes of schema
registries. `FINDINGS` has the severity of each kind of finding, which callers may override.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from enum import Enum
from types import NoneType
from typing import TypeAlias, TypeVar

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.base.paths import join_names
from schema_core.base.plugins import load_higher
from schema_core.catalog.changes.column_history import file_format
from schema_core.catalog.changes.normal_forms import steps_of
from schema_core.catalog.managed import ManagedStorage
from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.errors import SchemaError, choose_from, similar
from schema_core.mappings import stored_types
from schema_core.mappings.stored_options import find_changed_options
from schema_core.migration.differences import (
    RenameHints,
    diff,
    invert_renames,
    likely_renames,
    renames_by_path,
)
from schema_core.migration.rows.stored_rows import StoredRows, find_row_differences
from schema_core.schema.columns import ComputedColumn, MetadataColumn, PhysicalColumn
from schema_core.schema.resolved import ResolvedSchema
from schema_core.types import DataType, RowType

#: What is compared.
Definition: TypeAlias = ResolvedSchema | ResolvedCatalogTable


class Severity(Enum):
    """How a finding is reported; only ERROR makes definitions incompatible."""

    ALLOW = "allow"
    WARN = "warn"
    ERROR = "error"


class CompatibilityAspect(Enum):
    """The aspects of compatibility."""

    OLD_DATA = "reading old data"
    OLD_READERS = "old readers"
    RUNNING_JOBS = "running jobs"


class FindingKind(NamedTuple):
    """The severity of a kind of finding, its meaning, and Flink's page with the rule.

    For rules of rows, see `RuleSet.source`.
    """

    severity: Severity
    meaning: str
    source: str | None = None


ALLOW, WARN, ERROR = Severity

_FLINK = "https://nightlies.apache.org/flink/flink-docs-stable/docs"

#: "Stateful Upgrades and Evolution", "Event Time" and "Application State Compatibility".
STATE = f"{_FLINK}/dev/table/concepts/overview/"
EVENT_TIME = f"{_FLINK}/dev/table/concepts/time_attributes/"
UPGRADING = f"{_FLINK}/ops/upgrading/"

#: Kind -> severity and meaning.
FINDINGS: Mapping[str, FindingKind] = {
    # the rows, by the rule set of their format
    **{
        kind: FindingKind(severity, stored_types.READINGS[kind][1])
        for severity, kinds in {
            ERROR: (
                "type-changed",
                "position-changed",
                "nullability-narrowed",
                "required-field-added",
                "range-narrowed",
                "text-parsed",
                "field-renamed",
                "column-not-stored",
                "format-changed",
                "location-changed",
                "syntax-changed",
            ),
            WARN: (
                "precision-narrowed",
                "length-narrowed",
                "zone-dependent",
                "columns-moved",
                "name-reused",
                "errors-changed",
                "option-changed",
            ),
            ALLOW: (
                "option-without-effect",
                "type-promoted",
                "field-added",
                "field-dropped",
                "field-renamed-by-id",
                "fields-moved",
            ),
        }.items()
        for kind in kinds
    },
    "field-renamed-by-mapping": FindingKind(
        ALLOW, "the catalog keeps the former name, by which older files are read"
    ),
    "likely-rename": FindingKind(WARN, "a field is dropped and an equal one added: pass `renames`"),
    # the table
    "partitions-changed": FindingKind(ERROR, "rows are stored by other partition keys"),
    "key-changed": FindingKind(WARN, "rows may not be unique by the new primary key"),
    # queries that were written for the old definition
    "column-gone": FindingKind(ERROR, "queries that name the column fail"),
    "column-type-changed": FindingKind(WARN, "queries get another type"),
    "watermark-gone": FindingKind(ERROR, "queries that use event time fail"),
    # the state of jobs
    "state-type-changed": FindingKind(
        ERROR, "a column in the state of the job has another type", STATE
    ),
    "state-columns-changed": FindingKind(
        ERROR, "rows in the state of the job have other columns", STATE
    ),
    "plan-changed": FindingKind(ERROR, "the job is compiled to other operators", STATE),
    "event-time-changed": FindingKind(
        WARN, "the state is restored; rows may be late or early", EVENT_TIME
    ),
    "source-changed": FindingKind(
        ERROR, "the positions of the source belong to another connector", UPGRADING
    ),
    "job-option-changed": FindingKind(
        WARN, "the job uses the option from its next start on", UPGRADING
    ),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference between two definitions.

    `path` starts with a column or option and goes into types: fields, `element`, `key` and `value`.
    `version` is the position of the old definition in its history. `accepted` is the reason for
    which an error was accepted.
    """

    question: CompatibilityAspect
    kind: str
    path: tuple[str, ...]
    severity: Severity
    reason: str
    version: int = 0
    accepted: str | None = None

    @property
    def source(self) -> str | None:
        """Flink's page with the rule, for findings about running jobs."""
        return FINDINGS[self.kind].source

    def __str__(self) -> str:
        place = join_names(self.path) or "the table"
        accepted = f" (accepted: {self.accepted})" if self.accepted is not None else ""
        return f"{self.severity.value}: {place}: {self.reason} [{self.kind}]{accepted}"


# --- the three questions -------------------------------------------------------------------------


def can_read_old_data(
    old: Definition,
    new: Definition,
    rules: stored_types.RuleSet | None = None,
    renames: RenameHints | None = None,
    storage: ManagedStorage | None = None,
) -> list[Finding]:
    """Return the differences that affect reading old data with the new definition.

    Args:
        old: The schema or table of the rows.
        new: The schema or table with which they are read.
        rules: The rules of their format or engine, see `RULE_SETS`; by default those of the format
            of both tables, else Flink's implicit casts.
        renames: As for `diff`. Without it, likely renames are findings.
        storage: The storage of the catalog, for managed tables.

    Raises:
        SchemaError: with code `invalid-argument` for anything but a resolved schema or table,
            `unknown-column` for a rename of or to an unknown name.

    >>> from schema_core import DataTypes, ResolvedSchema
    >>> old = ResolvedSchema.physical(["id", "name"], [DataTypes.BIGINT(), DataTypes.STRING()])
    >>> new = ResolvedSchema.physical(["id", "name"], [DataTypes.INT(), DataTypes.STRING()])
    >>> print(*can_read_old_data(old, new))
    error: id: flink does not read BIGINT as INT [type-changed]
    """
    before, after = _stored_rows(old, storage), _stored_rows(new, storage)
    hints = _renames_by_path(old, new, renames)
    stored = before.columns.names
    likely = [
        stored_types.TypeFinding(
            "likely-rename",
            path,
            f"it may have been renamed to {name!r}; if so, pass it as a rename",
        )
        for path, name in likely_renames(schema_of(old), schema_of(new)).items()
        if path[0] in stored and path not in hints and name not in hints.values()
    ]
    # files are read by former names if the catalog keeps them for both tables
    by_former = _rules(rules, before, after).reads_former_names and all(
        file_format(_options(table), storage) is not None for table in (old, new)
    )
    return _findings(
        CompatibilityAspect.OLD_DATA,
        *_data(before, after, rules, hints, by_former_names=by_former),
        *likely,
        *find_changed_options(before.options, after.options),
        *_storage(old, new, _rules(rules, before, after)),
    )


def can_old_readers_read(
    old: Definition,
    new: Definition,
    rules: stored_types.RuleSet | None = None,
    renames: RenameHints | None = None,
    storage: ManagedStorage | None = None,
) -> list[Finding]:
    """Return the differences that affect readers and queries with the old definition.

    Arguments and errors are those of `can_read_old_data`.

    >>> from schema_core import DataTypes, ResolvedSchema
    >>> old = ResolvedSchema.physical(["id", "name"], [DataTypes.INT(), DataTypes.STRING()])
    >>> new = ResolvedSchema.physical(["id"], [DataTypes.INT()])
    >>> for finding in can_old_readers_read(old, new):
    ...     print(finding)
    allow: name: the rows do not have it: NULL [field-added]
    error: name: queries that name it fail [column-gone]
    """
    before, after = _stored_rows(old, storage), _stored_rows(new, storage)
    back = invert_renames(_renames_by_path(old, new, renames))
    return _findings(
        CompatibilityAspect.OLD_READERS,
        *_data(after, before, rules, back),
        *find_changed_options(before.options, after.options),
        *_storage(new, old, _rules(rules, before, after)),
        *_queries(schema_of(old), schema_of(new)),
    )


def can_jobs_restart(
    old: Definition, new: Definition, uses: Collection[str] | None = None
) -> list[Finding]:
    """Return what prevents Flink from restoring the state of a job over the table.

    Flink restores a table program from a savepoint only if query and version stay the same
    ("Stateful Upgrades and Evolution"), and rows in state only if the types of their columns are
    equal, nullability included.

    Args:
        old: The table at the savepoint.
        new: The table at the restart.
        uses: The columns that the job uses; None for all, as by ``SELECT *``.

    Raises:
        SchemaError: as `can_read_old_data`; `unknown-column` for a name that `old` does not have.
    """
    before, after = schema_of(old), schema_of(new)
    names = before.get_column_names()
    for name in uses or ():
        if name not in names:
            raise SchemaError(
                f"the old table does not have a column {name!r}",
                code="unknown-column",
                hint=similar(name, names),
            )
    return _findings(
        CompatibilityAspect.RUNNING_JOBS,
        *_state(before, after, uses),
        *_event_time(before, after),
        *_job_options(_options(old), _options(new)),
    )


def schema_of(definition: Definition) -> ResolvedSchema:
    """Return the schema of a definition."""
    require_instance(
        definition,
        (ResolvedSchema, ResolvedCatalogTable),
        "a definition",
        "a resolved schema or table",
    )
    if isinstance(definition, ResolvedCatalogTable):
        return definition.get_resolved_schema()
    return definition


def _findings(question: CompatibilityAspect, *findings: stored_types.TypeFinding) -> list[Finding]:
    return [
        Finding(question, kind, path, FINDINGS[kind].severity, reason)
        for kind, path, reason in findings
    ]


def _stored_rows(definition: Definition, storage: ManagedStorage | None) -> StoredRows:
    schema_of(definition)  # refuses anything but a definition
    return StoredRows.of(definition, storage)


def _data(
    written: StoredRows,
    read: StoredRows,
    rules: stored_types.RuleSet | None,
    renames: stored_types.Renames,
    *,
    by_former_names: bool = False,
) -> Iterator[stored_types.TypeFinding]:
    former: dict[stored_types.Path, stored_types.Path] = {}
    if by_former_names:
        columns = _with_new_names(written.columns, (), (), renames, former)
        written, renames = replace(written, columns=columns), stored_types.NO_RENAMES
    for new_path, path in former.items():
        reason = f"older files are read by it, the former name of {new_path[-1]!r}"
        yield stored_types.TypeFinding("field-renamed-by-mapping", path, reason)
    if rules is None and written.rules is not read.rules:
        rules = stored_types.FLINK
    for finding in find_row_differences(written, read, rules, renames):
        ends = range(len(finding.path), 0, -1)
        end = next((end for end in ends if finding.path[:end] in former), 0)
        path = (*former.get(finding.path[:end], ()), *finding.path[end:])
        yield finding._replace(path=path)


_Type = TypeVar("_Type", bound=DataType)


def _with_new_names(
    type_: _Type,
    old: stored_types.Path,
    new: stored_types.Path,
    renames: stored_types.Renames,
    former: dict[stored_types.Path, stored_types.Path],
) -> _Type:
    """Return the type of old rows with the new names of columns and fields.

    `old` and `new` are its paths by both names; `former` receives the renamed ones.
    """
    children = []
    names: list[str] = []
    for step, child in zip(steps_of(type_), type_.children(), strict=False):
        before = (*old, step)
        after = (*new, renames.get(before, step))
        if before in renames:
            former[after] = before
        names.append(after[-1])
        children.append(_with_new_names(child, before, after, renames, former))
    if isinstance(type_, RowType):
        members = zip(type_.fields, names, children, strict=True)
        fields = [replace(field, name=name, data_type=child) for field, name, child in members]
        return type(type_)(fields, type_.is_nullable)
    return type_.rebuild(tuple(children)) if children else type_


def _rules(
    rules: stored_types.RuleSet | None, old: StoredRows, new: StoredRows
) -> stored_types.RuleSet:
    """Return the given rules, else those of the format of both tables, else Flink's."""
    if rules is None:
        return new.rules if new.rules is old.rules else stored_types.FLINK
    return require_instance(rules, stored_types.RuleSet, "the rules", "a RuleSet, see RULE_SETS")


def _renames_by_path(
    old: Definition, new: Definition, renames: RenameHints | None
) -> stored_types.Renames:
    """Return the renames by path; `diff` refuses unknown names."""
    if not renames:
        require_instance(renames, (Mapping, NoneType), "the renames")
        return stored_types.NO_RENAMES
    diff(schema_of(old), schema_of(new), renames=renames)
    return renames_by_path(renames)


def _options(definition: Definition) -> Mapping[str, str]:
    return definition.options if isinstance(definition, ResolvedCatalogTable) else {}


def _job_options(
    old: Mapping[str, str], new: Mapping[str, str]
) -> Iterator[stored_types.TypeFinding]:
    for finding in find_changed_options(old, new):
        is_source = finding.kind == "format-changed"
        yield finding._replace(kind="source-changed" if is_source else "job-option-changed")


def _storage(
    written: Definition, read: Definition, rules: stored_types.RuleSet
) -> Iterator[stored_types.TypeFinding]:
    if isinstance(written, ResolvedCatalogTable) and isinstance(read, ResolvedCatalogTable):
        keys, others = written.partition_keys, read.partition_keys
        if keys != others and not rules.partitions_evolve:
            reason = f"partitioned by ({', '.join(keys)}), read by ({', '.join(others)})"
            yield stored_types.TypeFinding("partitions-changed", (), reason)
    key_of = [schema_of(schema).get_primary_key() for schema in (written, read)]
    columns = [key.columns if key else () for key in key_of]
    if columns[1] and columns[0] != columns[1]:
        yield stored_types.TypeFinding(
            "key-changed", columns[1], "rows were written without this key"
        )


def _queries(old: ResolvedSchema, new: ResolvedSchema) -> Iterator[stored_types.TypeFinding]:
    for column in old.get_columns():
        now = new.get_column(column.name)
        if now is None:
            yield stored_types.TypeFinding(
                "column-gone", (column.name,), "queries that name it fail"
            )
        elif now.data_type != column.data_type and not (
            isinstance(now, PhysicalColumn) and isinstance(column, PhysicalColumn)
        ):
            reason = f"{column.data_type} becomes {now.data_type}"
            yield stored_types.TypeFinding("column-type-changed", (column.name,), reason)
    rowtimes = [spec.rowtime_attribute for spec in new.get_watermark_specs()]
    for spec in old.get_watermark_specs():
        if spec.rowtime_attribute not in rowtimes:
            path = (spec.rowtime_attribute,)
            yield stored_types.TypeFinding(
                "watermark-gone", path, "the column has no watermark any more"
            )


def _state(
    old: ResolvedSchema, new: ResolvedSchema, uses: Collection[str] | None
) -> Iterator[stored_types.TypeFinding]:
    for column in old.get_columns():
        path, now = (column.name,), new.get_column(column.name)
        if uses is not None and column.name not in uses:
            continue
        if now is None:
            reason = "the job uses the removed column"
            yield stored_types.TypeFinding("state-columns-changed", path, reason)
        elif type(now) is not type(column):
            reason = "the column is of another kind"
            yield stored_types.TypeFinding("plan-changed", path, reason)
        elif now.data_type != column.data_type:
            reason = f"{column.data_type} becomes {now.data_type}"
            yield stored_types.TypeFinding("state-type-changed", path, reason)
        elif _source_of(now) != _source_of(column):
            reason = f"{_source_of(column)} becomes {_source_of(now)}"
            yield stored_types.TypeFinding("plan-changed", path, reason)
    shared = [name for name in new.get_column_names() if name in old.get_column_names()]
    if uses is None:
        for name in new.get_column_names():
            if name not in shared:
                reason = "a query of all columns has another row"
                yield stored_types.TypeFinding("state-columns-changed", (name,), reason)
        if shared != [name for name in old.get_column_names() if name in shared]:
            reason = "a query of all columns has them in another order"
            yield stored_types.TypeFinding("state-columns-changed", (), reason)
    keys = [schema.get_primary_key() for schema in (old, new)]
    columns = [key.columns if key else () for key in keys]
    if columns[0] != columns[1]:
        reason = f"primary key ({', '.join(columns[0])}) becomes ({', '.join(columns[1])})"
        yield stored_types.TypeFinding("plan-changed", (), reason)


def _source_of(column: object) -> str:
    match column:
        case ComputedColumn(expression=expression):
            return str(expression)
        case MetadataColumn(name=name, metadata_key=key):
            return f"metadata {key or name!r}"
        case _:
            return "a physical column"


def _event_time(old: ResolvedSchema, new: ResolvedSchema) -> Iterator[stored_types.TypeFinding]:
    before, after = (
        {
            spec.rowtime_attribute: str(spec.watermark_expression)
            for spec in schema.get_watermark_specs()
        }
        for schema in (old, new)
    )
    for name in sorted(before.keys() | after.keys()):
        was, becomes = before.get(name), after.get(name)
        if was is None or becomes is None:
            reason = "the watermark is dropped" if becomes is None else "a watermark is added"
            yield stored_types.TypeFinding("plan-changed", (name,), reason)
        elif was != becomes:
            yield stored_types.TypeFinding(
                "event-time-changed", (name,), f"{was} becomes {becomes}"
            )


# --- modes ---------------------------------------------------------------------------------------


class CompatibilityMode(Enum):
    """What a new definition must keep, by the names of schema registries.

    BACKWARD: it reads data of the old definition; FORWARD: old readers read its data; FULL: both.
    Transitive modes compare with the whole history, others with its last definition.
    """

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"

    @property
    def is_transitive(self) -> bool:
        return self.value.endswith("TRANSITIVE")


#: Compares an old definition with a new one.
Comparison: TypeAlias = Callable[
    [
        Definition,
        Definition,
        stored_types.RuleSet | None,
        RenameHints | None,
        ManagedStorage | None,
    ],
    list[Finding],
]

#: Mode -> the functions that answer its questions.
ASKED: dict[str, tuple[Comparison, ...]] = {
    "NONE": (),
    "BACKWARD": (can_read_old_data,),
    "FORWARD": (can_old_readers_read,),
    "FULL": (can_read_old_data, can_old_readers_read),
}


@dataclass(frozen=True, slots=True)
class Acceptance:
    """An intended break: findings of a kind at a path are accepted until a day, for a reason.

    The path may be that of a column or field that contains the finding's; an empty one is any.
    """

    kind: str
    path: tuple[str, ...]
    reason: str
    until: date

    def __post_init__(self) -> None:
        _require_kind(self.kind)
        require_instance(self.path, tuple, "the path", "a tuple of names")
        if not require_instance(self.reason, str, "the reason").strip():
            raise SchemaError("an acceptance requires a reason", code="invalid-argument")
        require_instance(self.until, date, "the last day")

    def covers(self, finding: Finding) -> bool:
        """Return whether a finding is of this kind and within this path."""
        return self.kind == finding.kind and finding.path[: len(self.path)] == self.path


@dataclass(frozen=True, slots=True)
class CompatibilityReport:
    """The findings of a check, and the acceptances that are unused or expired."""

    mode: CompatibilityMode
    rules: str
    findings: tuple[Finding, ...]
    unused: tuple[Acceptance, ...] = ()
    expired: tuple[Acceptance, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The errors that were not accepted."""
        return tuple(
            finding
            for finding in self.findings
            if finding.severity is ERROR and finding.accepted is None
        )

    @property
    def is_compatible(self) -> bool:
        """Whether there is no error that was not accepted."""
        return not self.errors

    def _repr_html_(self) -> str:
        return str(load_higher("compatibility_html")(self))

    def summary(self) -> str:
        """Return a line without the findings."""
        verdict = "compatible" if self.is_compatible else "incompatible"
        return f"{verdict} ({self.mode.value}, {self.rules})"

    def ineffective(self) -> list[str]:
        """Return a line for each acceptance that is unused or expired."""
        return [f"not needed: acceptance of {acceptance.kind}" for acceptance in self.unused] + [
            f"expired on {acceptance.until}: acceptance of {acceptance.kind}"
            for acceptance in self.expired
        ]

    def __str__(self) -> str:
        findings = [
            f"{finding.question.value}, version {finding.version}: {finding}"
            for finding in self.findings
        ]
        return "\n  ".join([self.summary(), *findings, *self.ineffective()])


def check_compatibility(
    history: Sequence[Definition],
    new: Definition,
    mode: CompatibilityMode = CompatibilityMode.BACKWARD,
    rules: stored_types.RuleSet | str | None = None,
    *,
    renames: RenameHints | None = None,
    severities: Mapping[str, Severity] | None = None,
    accepted: Sequence[Acceptance] = (),
    today: date | None = None,
    storage: ManagedStorage | None = None,
) -> CompatibilityReport:
    """Compare a new definition of a table with its history.

    Args:
        history: The definitions until now, the oldest first; may be empty.
        new: The definition to check.
        mode: What must be kept.
        rules: A rule set, or its name in `RULE_SETS`; by default that of the table's format.
        renames: As for `diff`, from the last definition.
        severities: Severities by kind, in place of those of `FINDINGS`.
        accepted: Intended breaks.
        today: The day on which acceptances expire.
        storage: The storage of the catalog, for managed tables.

    Raises:
        SchemaError: with code `invalid-argument` for other arguments, an unknown kind of finding or
            an unknown name of a rule set.

    >>> from schema_core import DataTypes as T, ResolvedSchema
    >>> versions = [
    ...     ResolvedSchema.physical(["id"], [T.INT()]),
    ...     ResolvedSchema.physical(["id", "tag"], [T.INT(), T.STRING()]),
    ... ]
    >>> new = ResolvedSchema.physical(["id", "tag"], [T.BIGINT(), T.STRING(False)])
    >>> print(check_compatibility(versions, new, rules="avro"))
    incompatible (BACKWARD, avro)
      reading old data, version 1: allow: id: INT is read as BIGINT [type-promoted]
      reading old data, version 1: error: tag: the rows may have NULL [nullability-narrowed]
    """
    require_instance(mode, CompatibilityMode, "the mode")
    rule_set = None if rules is None else _rule_set(rules)
    levels = require_instance(severities or {}, Mapping, "the severities")
    for kind, severity in levels.items():
        _require_kind(kind)
        require_instance(severity, Severity, "the severity")
    require_instance(accepted, Sequence, "the acceptances")
    require_instance(today, (date, NoneType), "the day")
    versions = list(enumerate(require_instance(history, Sequence, "the history")))
    last = len(versions) - 1
    if not mode.is_transitive:
        versions = versions[-1:]
    findings = [
        replace(finding, version=version, severity=levels.get(finding.kind, finding.severity))
        for version, old in versions
        for compare in ASKED[mode.value.removesuffix("_TRANSITIVE")]
        for finding in compare(old, new, rule_set, renames if version == last else None, storage)
    ]
    now = today or date.today()  # noqa: DTZ011 - the day where the check runs
    current = [
        acceptance
        for acceptance in accepted
        if require_instance(acceptance, Acceptance, "accepted").until >= now
    ]
    errors = [finding for finding in findings if finding.severity is ERROR]
    return CompatibilityReport(
        mode,
        (rule_set or _stored_rows(new, storage).rules).name,
        tuple(_with_acceptance(finding, current) for finding in findings),
        tuple(acceptance for acceptance in current if not any(map(acceptance.covers, errors))),
        tuple(acceptance for acceptance in accepted if acceptance not in current),
    )


def _with_acceptance(finding: Finding, accepted: Sequence[Acceptance]) -> Finding:
    """Return an error with the reason of the last acceptance that covers it."""
    covering = [acceptance.reason for acceptance in accepted if acceptance.covers(finding)]
    if finding.severity is not ERROR or not covering:
        return finding
    return replace(finding, accepted=covering[-1])


def _rule_set(rules: stored_types.RuleSet | str) -> stored_types.RuleSet:
    if isinstance(rules, str):
        if rules not in stored_types.RULE_SETS:
            raise SchemaError(
                f"unknown rule set {rules!r}",
                code="invalid-argument",
                hint=choose_from(rules, stored_types.RULE_SETS),
            )
        return stored_types.RULE_SETS[rules]
    return require_instance(rules, stored_types.RuleSet, "the rules", "a RuleSet or its name")


def _require_kind(kind: str) -> None:
    if require_instance(kind, str, "the kind of finding") not in FINDINGS:
        raise SchemaError(
            f"unknown finding {kind!r}", code="invalid-argument", hint=similar(kind, FINDINGS)
        )
