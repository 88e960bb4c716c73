"""The connector `filesystem`: files of a format in a directory.

Options and metadata are those of Flink's connector. Jobs write to a hidden directory and move the
files at the end, so readers never see a part of them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Final, cast

from schema_core import types
from schema_core.base.arguments import require_instance
from schema_core.base.contained_paths import is_hidden, is_plain
from schema_core.base.paths import join_names
from schema_core.catalog.api import RETAINED_SNAPSHOTS, VERSION_TIME
from schema_core.catalog.changes.table_changes import print_path
from schema_core.connectors.files import csv_files, file_formats, stored_names
from schema_core.connectors.files.change_files import (
    change_format,
    decode_lines,
    encode_lines,
    encode_updates,
    lines_to_read,
)
from schema_core.connectors.files.file_layout import (
    AGE,
    DEFAULT_PARTITION,
    FORMAT,
    METADATA,
    PATH,
    URI,
    FileLayout,
    format_of,
    table_path,
)
from schema_core.connectors.files.file_schemas import FOOTERS, CheckedFiles
from schema_core.connectors.files.partition_values import (
    is_canonical,
    partition_value,
)
from schema_core.connectors.files.unreadable_files import (
    require_readable_files,
    require_short_lines,
)
from schema_core.environment.connector import Ability, Boundedness, DeliveryGuarantee
from schema_core.environment.options import (
    ConfigOption,
    boolean,
    choice,
    duration,
    integer,
    invalid_value,
    long,
    memory_size,
    positive,
    time_zone,
)
from schema_core.environment.planner import fingerprint
from schema_core.environment.plans.changelog_mode import ChangelogMode
from schema_core.errors import ExternalError, UnsupportedError, at
from schema_core.errors.hints import REMOVE_OPTION
from schema_core.expressions.comparisons import MICROSECONDS
from schema_core.mappings.exact_types import TYPE_KEY
from schema_core.mappings.spark.pyspark_types import (
    from_struct_field,
    to_struct_field,
)
from schema_core.spark.commit import commit, file_systems, snapshots
from schema_core.spark.commit.commit import last_batch, recover
from schema_core.spark.commit.directory import Directory
from schema_core.spark.commit.file_systems import State, is_settled, locate_file_system, state_of
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.expression import (
    to_physical,
)
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.translation import sql_type
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.compiler.tree import NamedNode, quote
from schema_core.spark.connector import RowLevelInfo, RowLevelMode, metadata_column, raw_column
from schema_core.spark.jobs import causes, condition_of, spark_errors
from schema_core.spark.session.api_mode import is_connect, java_class, with_metadata
from schema_core.spark.session.frames import select

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.base.paths import ObjectIdentifier
    from schema_core.catalog.objects import CatalogTable
    from schema_core.environment.jobs.atomicity import Stage
    from schema_core.spark.changelog import Changelog
    from schema_core.spark.connector import ReadContext, TableContext, WriteContext

TEXT = types.VarCharType(types.MAX_LENGTH)
#: Files and directories of a table up to which their list is cached.
MAX_REUSED = 5_000


def _parallelism(text: str) -> int | None:
    """Parse a number of tasks, or -1 for the default."""
    value = integer(text)
    if value < 1 and value != -1:
        raise invalid_value("an integer of at least 1, or -1", text)
    return None if value == -1 else value


PARALLELISM = ConfigOption("sink.parallelism", _parallelism, None, "how many tasks write")
MONITOR_INTERVAL = ConfigOption(
    "source.monitor-interval",
    duration,
    None,
    "reads files that are added later, too: the table is unbounded",
)


def _policies(text: str) -> tuple[str, ...]:
    """Parse a list of policies."""
    policies = tuple(text.lower().split(","))
    if refused := [policy for policy in policies if policy not in ("metastore", "success-file")]:
        raise invalid_value("'metastore', 'success-file' or both with a comma", refused[0])
    return policies


#: The keys are those of Apache Paimon, a table format of Flink.
SNAPSHOTS = ConfigOption(
    RETAINED_SNAPSHOTS,
    positive,
    None,
    "how many versions are kept for FOR SYSTEM_TIME AS OF: one for each commit; none by default",
)
AS_OF = ConfigOption(
    VERSION_TIME,
    long,
    None,
    "reads the version of a time in milliseconds since 1970, as FOR SYSTEM_TIME AS OF does",
)


def _file_name(text: str) -> str:
    """Parse the name of a file that readers skip."""
    if not is_plain(text) or "/" in text or not is_hidden(text, is_directory=False):
        raise invalid_value("the name of a file that begins with '_' or '.'", text)
    return text


PATTERN = ConfigOption(
    "source.path.regex-pattern",
    str,
    None,
    "reads only the files whose absolute path matches this regular expression of Java",
)
POLICIES = ConfigOption(
    "sink.partition-commit.policy.kind",
    _policies,
    None,
    "success-file: a file that each partition gets after its rows; metastore: no effect",
)
SUCCESS_FILE = ConfigOption(
    "sink.partition-commit.success-file.name", _file_name, "_SUCCESS", "the name of this file"
)
TRIGGER = ConfigOption(
    "sink.partition-commit.trigger",
    choice("process-time", "partition-time"),
    "process-time",
    "no effect on a batch job",
)
DELAY = ConfigOption(
    "sink.partition-commit.delay", duration, dt.timedelta(0), "no effect on a batch job"
)
COMPACTION = ConfigOption("auto-compaction", boolean, False, "no effect on a batch job of Spark")
#: Flink's options for the layout of files, accepted without effect.
WITHOUT_EFFECT: tuple[ConfigOption[Any], ...] = tuple(
    ConfigOption(key, parse, None, "no effect on a batch job of Spark")
    for key, parse in (
        ("source.report-statistics", choice("ALL", "NONE")),
        ("compaction.file-size", memory_size),
        ("sink.shuffle-by-partition.enable", boolean),
        ("sink.rolling-policy.file-size", memory_size),
        ("sink.rolling-policy.rollover-interval", duration),
        ("sink.rolling-policy.check-interval", duration),
        ("sink.rolling-policy.inactivity-interval", duration),
        ("sink.partition-commit.watermark-time-zone", time_zone),
        ("sink.partition-commit.policy.class", str),
        ("sink.partition-commit.policy.class.parameters", str),
        ("partition.time-extractor.kind", str),
        ("partition.time-extractor.class", str),
        ("partition.time-extractor.timestamp-formatter", str),
        ("partition.time-extractor.timestamp-pattern", str),
    )
)


class FilesystemConnector:
    """Files in a directory; partitions are directories ``key=value``.

    Jobs call `read_with_statistics`. Spark's readers push filters and columns down themselves, so
    there are no abilities for that.
    """

    identifier: Final = "filesystem"
    requires: Final = ("pyspark",)
    can_read: Final = True
    can_write: Final = True
    abilities: Final = frozenset({
        Ability.OVERWRITE, Ability.PARTITIONS, Ability.STAGING, Ability.ROW_LEVEL_DELETE,
        Ability.ROW_LEVEL_UPDATE, Ability.TRUNCATE,
    })  # fmt: skip
    is_versioned: Final = False
    metadata: Mapping[str, types.DataType] = {
        key: type_ for key, (type_, _) in METADATA.items() if key != URI
    }
    writable_metadata: frozenset[str] = frozenset()
    #: Spark reads the largest files of a micro-batch first
    arrival_order: Mapping[str, types.DataType] = AGE

    def declared(self, options: Mapping[str, str]) -> Sequence[ConfigOption[Any]]:
        """The options of the connector and of the table's format."""
        form = format_of(options).options if "format" in options else ()
        own = (
            PATH, FORMAT, DEFAULT_PARTITION, PARALLELISM, MONITOR_INTERVAL, PATTERN, POLICIES,
            SUCCESS_FILE, TRIGGER, DELAY, COMPACTION, SNAPSHOTS, AS_OF,
        )  # fmt: skip
        return (*own, *WITHOUT_EFFECT, *form)

    # --- reading -------------------------------------------------------------------------------

    def read(self, context: ReadContext) -> DataFrame:
        """Return the columns of files and the metadata.

        Raises:
            ExternalError: with code `file-not-found` without such a directory, `unreadable-file`
                as `require_readable_files`.
        """
        return self.read_with_statistics(context)[0]

    def read_with_statistics(self, context: ReadContext) -> tuple[DataFrame, frozenset[str]]:
        """Return the columns as `read`, and those without NULL, which footers and surveys show.

        Raises:
            ExternalError: as `read`.
        """
        return self._read(context, definition_of(context.identifier, context.table))

    def changelog_mode(self, options: Mapping[str, str]) -> ChangelogMode:
        """Return the changes that files of the table's format hold."""
        is_changes = change_format(options) is not None
        return ChangelogMode.all() if is_changes else ChangelogMode.insert_only()

    def read_changes(self, context: ReadContext) -> DataFrame:
        """Return the changes of files, which are ordered by their time and path.

        Raises:
            ExternalError: as `read`, and as `lines_to_read`.
        """
        definition = definition_of(context.identifier, context.table)
        return decode_lines(self._read(lines_to_read(context), definition)[0], context)

    def _read(
        self, context: ReadContext, definition: commit.Definition
    ) -> tuple[DataFrame, frozenset[str]]:
        if (time := AS_OF.of(context.options)) is not None:
            return self._read_version(context, time)
        layout = FileLayout(context)
        system, root = locate_file_system(context.session, layout.path)
        if isinstance(system, file_systems.LocalFiles):
            _require_readable(context.session, root, layout.form.identifier)
        return self._frame(context, layout, system, root, definition)

    def _read_version(self, context: ReadContext, time: int) -> tuple[DataFrame, frozenset[str]]:
        """Return the rows of the version at a time: of present files, and of kept ones."""
        if PATTERN.key in context.options:
            raise UnsupportedError(
                f"the option '{PATTERN.key}' does not apply to versions",
                code="time-travel-not-supported",
                hint="filter by the metadata column file.path",
            )
        session, path = context.session, FileLayout(context).path
        system, root = locate_file_system(session, path)
        _require_directory(path, system, root)
        directory = Directory(system, root)
        schema = _columns_digest(context.table)
        options = {key: text for key, text in context.options.items() if key != AS_OF.key}
        held = definition_of(context.identifier, context.table.copy(options))
        of_version = commit.read_consistently(
            directory, held, lambda: snapshots.find_files(directory, time, schema)
        )
        frames, without_null = [], []
        for place, files in zip((path, f"{path}/{snapshots.FILES}"), of_version, strict=True):
            if files:
                part = _at_path(context, place)
                layout = FileLayout(part)
                part = replace(part, groups=frozenset(f"{layout.root}/{file}" for file in files))
                inner = f"{root}{place[len(path) :]}"
                if isinstance(system, file_systems.LocalFiles):
                    _require_readable(session, inner, layout.form.identifier)
                frame, names = self._frame(part, layout, system, inner, held)
                frames.append(frame)
                without_null.append(names)
        if not frames:
            return _empty_frame(context), frozenset()
        rows = reduce(lambda first, second: first.union(second), frames)
        return rows, frozenset.intersection(*without_null)

    def data_version(self, context: ReadContext) -> tuple[str, State] | None:
        """Return a local directory and its state; None if a change might not be seen in it."""
        if AS_OF.key in context.options:
            return None  # a version may expire
        # a relative path may be another one for the next query
        if file_systems.is_relative(PATH.of(context.options) or ""):
            return None
        system, root = locate_file_system(
            context.session, table_path(context.options, context.session)
        )
        if not isinstance(system, file_systems.LocalFiles):
            return None
        state = state_of(root)
        if state is None or len(state) > MAX_REUSED or not is_settled(state):
            return None
        left = commit.CommitFileKind.PENDING, commit.CommitFileKind.COMMIT
        if any(commit.iterate_names(Directory(system, root), *left)):
            return None
        return root, state

    def _frame(
        self,
        context: ReadContext,
        layout: FileLayout,
        system: file_systems.FileSystem,
        root: str,
        definition: commit.Definition,
    ) -> tuple[DataFrame, frozenset[str]]:
        session = context.session
        if layout.partitions and system.status(root) is None:  # no rows, as in Flink
            return _empty_frame(context), frozenset()
        _require_directory(layout.path, system, root)
        files = context.groups
        if (pattern := PATTERN.of(context.options)) is not None:
            matching = _matching_files(session, Directory(system, root), layout, pattern)
            files = matching if files is None else files & matching
        if files is not None:
            if not files:
                return _empty_frame(context), frozenset()
            layout = layout.with_files(files)
        with _one_depth(layout.path):
            frame = commit.read_consistently(
                Directory(system, root),
                definition,
                lambda: layout.load(session, metadata=bool(context.metadata)),
            )
        has_ages = layout.ages.has_older or layout.form.identifier in FOOTERS
        is_listed = layout.partitions or has_ages or layout.has_positions
        uris = frame.inputFiles() if is_listed else ()
        if layout.partitions and not uris:  # Spark's format `text` refuses columns of no directory
            frame = frame.where("FALSE")
        checked = layout.check_files(session, uris)
        values = layout.partition_values(uris, root)
        partitions = layout.read_partitions(context, values)
        frames, every = [], []
        for part in layout.by_age(uris, checked):
            if part is not layout:
                frame = part.load(session, metadata=bool(context.metadata))
            columns = self._columns(context, part, partitions, checked.guarantees.in_millis)
            frames.append(select(frame, columns))
            every.append(part.columns_without_null(context.physical_columns))
        without_null = checked.guarantees.without_null | frozenset.intersection(*every)
        default = DEFAULT_PARTITION.of(layout.options)
        without_null |= {key for key, texts in values.items() if default not in texts}
        return reduce(lambda first, second: first.union(second), frames), without_null

    def _columns(
        self,
        context: ReadContext,
        layout: FileLayout,
        partitions: Mapping[str, nodes.Node],
        in_millis: Collection[str],
    ) -> list[NamedNode]:
        """Return the columns and metadata of files with a layout."""
        names = {column.name for column in context.table.resolved_schema.columns}
        physical: list[NamedNode] = []
        for name, type_ in context.columns.items():
            if name in partitions:
                physical.append((partitions[name], name))
            elif name in in_millis and not file_formats.has_fewer_digits(type_, 3):
                physical.append((ColumnNode(name), name))
            else:
                physical.append((layout.value(name, type_), name))
                is_compared = (
                    isinstance(type_, types.TimestampType) and type_.precision < MICROSECONDS
                )
                is_free = raw_column(name) not in names
                if layout.form.is_typed and is_compared and is_free:
                    physical.append((ColumnNode(name), raw_column(name)))
        return [*physical, *((METADATA[key][1], metadata_column(key)) for key in context.metadata)]

    def boundedness(self, options: Mapping[str, str]) -> Boundedness:
        """Return that a table with ``source.monitor-interval`` is unbounded."""
        is_monitored = MONITOR_INTERVAL.of(options) is not None
        return Boundedness.CONTINUOUS_UNBOUNDED if is_monitored else Boundedness.BOUNDED

    def monitor_interval(self, options: Mapping[str, str]) -> dt.timedelta | None:
        """Return how often a streaming job looks for new files."""
        return MONITOR_INTERVAL.of(options)

    def read_stream(self, context: ReadContext) -> DataFrame:
        """Return the columns of all files, also of later ones; present ones are checked.

        Raises:
            ExternalError: with code `file-not-found` or `schema-mismatch`.
            UnsupportedError: with code `streaming-not-supported` for a path that is a pattern for
                Spark, and for older files that a stream would read as other values.
        """
        if PATTERN.key in context.options:
            raise UnsupportedError(
                f"a streaming job reads all files: it cannot follow the option '{PATTERN.key}'",
                code="streaming-not-supported",
                hint=f"remove the option, or '{MONITOR_INTERVAL.key}'",
            )
        if AS_OF.key in context.options:
            raise UnsupportedError(
                "a streaming job reads all files: it cannot read a version",
                code="streaming-not-supported",
                hint=f"remove the option '{MONITOR_INTERVAL.key}'",
            )
        layout = FileLayout(context, streams=True)
        session = context.session
        has_other_fields = layout.form is file_formats.CSV and layout.ages.has_other_fields(None)
        if layout.ages.reused or has_other_fields or not layout.fits_every_age():
            raise UnsupportedError(
                f"a streaming job cannot read the files of {layout.path!r}: older ones have other "
                "columns by the names or in the places of the table's columns or fields",
                code="streaming-not-supported",
                hint=stored_names.REWRITE,
            )
        system, root = locate_file_system(session, layout.path)
        _require_directory(layout.path, system, root)
        if isinstance(system, file_systems.LocalFiles):
            _require_readable(context.session, root, layout.form.identifier)
        _recover_directory(context, layout.path)
        if layout.form.identifier in FOOTERS:
            present = FileLayout(context).reader(session).load(layout.path).inputFiles()
            _require_one_name(layout, layout.check_files(session, present))
        # Spark reads all metadata of a stream for each row
        has_metadata = bool(context.metadata or layout.partitions)
        frame = layout.load(session, metadata=has_metadata)
        partitions = {key: layout.partition_of_file(key) for key in layout.partitions}
        physical = [
            (partitions[name] if name in partitions else layout.value(name, type_), name)
            for name, type_ in context.columns.items()
        ]
        metadata = ((METADATA[key][1], metadata_column(key)) for key in context.metadata)
        return select(frame, [*physical, *metadata])

    def read_messages(self, context: ReadContext) -> DataFrame:
        """Return the lines of all files, also of later ones.

        Raises:
            ExternalError: as `read_stream`, and as `lines_to_read`.
            UnsupportedError: as `read_stream`.
        """
        return self.read_stream(lines_to_read(context))

    def decode_messages(self, messages: DataFrame, context: ReadContext) -> DataFrame:
        """Return the changes of lines, ordered as those of `read_changes`."""
        return decode_lines(messages, context)

    def diagnose(self, context: ReadContext, error: BaseException) -> ExternalError | None:
        """Return the error of the first invalid csv record that Spark's reader refused."""
        layout = FileLayout(context, is_exact=True)
        errors = [cause for part in (error, error.__cause__) if part for cause in causes(part)]
        is_refused = any((condition_of(cause) or "").startswith(REFUSED) for cause in errors)
        is_of_a_record = is_refused or file_formats.CANNOT_READ in str(error)
        if layout.form is not file_formats.CSV or not is_of_a_record:
            return None
        try:
            with spark_errors():
                frame, _ = self._frame(
                    context,
                    layout,
                    *locate_file_system(context.session, layout.path),
                    definition_of(context.identifier, context.table),
                )
                frame.write.format("noop").mode("overwrite").save()
        except ExternalError as refused:
            return refused
        return None

    # --- writing -------------------------------------------------------------------------------

    def stage(self, context: WriteContext) -> Stage:
        """Return a hidden directory within the table's, whose files the commit moves.

        INSERT OVERWRITE replaces all files of a table without partitions, else partitions that get
        rows, as in Flink 2.3. If PARTITION names a value for every key, it replaces this partition
        also by no rows, where Flink keeps the files.

        Raises:
            SchemaError: with code `target-not-empty` if the directory of a new table contains
                files, `invalid-option-value`, `type-not-supported`.
            ExternalError: with code `file-system-failed`.
        """
        session, replaced = context.session, context.replaced
        layout = FileLayout(context)
        layout.require_types()
        if context.batch is not None and not context.batch.has_all_rows:
            _refuse_ignored_by_streams(context.options)
        system, root = locate_file_system(session, layout.path)
        new = definition_of(context.identifier, context.table)
        old = definition_of(context.identifier, replaced) if replaced else None
        held = old if context.creates else new
        fixed = _fixed_partition(context, layout)
        if context.creates:
            owns = replaced is not None and _path_of(session, replaced) == root
            scope = commit.OverwriteScope(everything=owns, empty=not owns)
        else:
            scope = _scope(context, layout, fixed)
        part = context.batch
        stage = commit.FileStage(
            Directory(system, root),
            scope,
            held=held,
            definition=new if old not in (None, new) else None,
            id=context.job,
            batch=None if part is None else commit.Batch(part.job, part.number),
            expected=context.files,
            success_file=_success_file(context, layout, fixed),
        )
        if (retention := _retention(context)) is not None:
            stage.keep_snapshots(retention)
        stage.check()
        return stage

    def apply_row_level_delete(self, context: WriteContext) -> RowLevelInfo:
        """Return that the rows that remain replace the files that have a deleted row.

        Raises:
            UnsupportedError: with code `rows-would-be-lost` if records that cannot be read, or
                files with other names, are skipped, `unsupported-ability` for files of changes.
        """
        if change_format(context.options) is not None:
            raise UnsupportedError(
                f"files of the format {FORMAT.of(context.options)!r} hold changes, of which each "
                "depends on its place: a file cannot be replaced by rows",
                code="unsupported-ability",
                hint="write the rows that are to remain by INSERT OVERWRITE",
            )
        if PATTERN.key in context.options:
            raise UnsupportedError(
                f"with the option {PATTERN.key!r}, DELETE and UPDATE would write files that the "
                "table does not read",
                code="rows-would-be-lost",
                hint="change the rows of a table without the option",
            )
        _require_all_records(context.options)
        return RowLevelInfo(RowLevelMode.ALL_ROWS, "file.path")

    def apply_row_level_update(self, columns: Sequence[str], context: WriteContext) -> RowLevelInfo:
        """Return that all rows replace those of the files that have an updated row.

        Raises:
            UnsupportedError: as `apply_row_level_delete`.
        """
        return self.apply_row_level_delete(context)

    def execute_truncation(self, context: WriteContext) -> None:
        """Delete all files that the table reads, in one commit."""
        stage = cast("commit.FileStage", self.stage(context))
        stage.scope = commit.OverwriteScope(everything=True)
        if (pattern := PATTERN.of(context.options)) is not None:
            layout = FileLayout(context)
            files = _matching_files(context.session, stage.directory, layout, pattern)
            stage.scope = commit.OverwriteScope(files=frozenset(layout.relative_paths(files)))
        try:
            stage.prepare()
            stage.commit()
        except BaseException:
            stage.abort()
            raise

    def delivery_guarantee(self, options: Mapping[str, str]) -> DeliveryGuarantee:
        """Return that the files of a micro-batch are committed once."""
        return DeliveryGuarantee.EXACTLY_ONCE

    def last_batch(self, context: WriteContext, job: str) -> int | None:
        """Return the number of a job's last committed micro-batch."""
        return last_batch(_recover_directory(context, FileLayout(context).path), job)

    def list_files(self, context: WriteContext) -> frozenset[str]:
        """Return the paths of the table's files, after the commits of killed jobs are completed."""
        table = context.table if context.replaced is None else context.replaced
        directory = Directory(*locate_file_system(context.session, FileLayout(context).path))
        recover(directory, definition_of(context.identifier, table))
        if directory.status("") is None:
            return frozenset()
        return frozenset(path for path, _ in directory.files())

    def ensure_storage(self, context: WriteContext) -> None:
        """Create the directory of a table unless it exists."""
        system, root = locate_file_system(context.session, FileLayout(context).path)
        directory = Directory(system, root)
        if directory.status("") is None:
            directory.mkdirs("")

    def was_committed(self, context: WriteContext, job: str) -> bool:
        """Return whether the directory has files, and no uncommitted ones of the job."""
        directory = _recover_directory(context, FileLayout(context).path)
        if commit.is_uncommitted(directory, job):
            return False
        return directory.status("") is not None and bool(directory.files())

    def recover(self, context: WriteContext) -> None:
        """Complete the commits of killed jobs, and remove uncommitted files."""
        directory = Directory(*locate_file_system(context.session, FileLayout(context).path))
        commit.clean(
            directory, definition_of(context.identifier, context.table), created=context.creates
        )

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        """Write rows into the stage of the job."""
        require_instance(context.stage, commit.FileStage, "the stage of a write")
        if change_format(context.options) is not None:
            frame, context = encode_lines(frame, context)
        self._write_lines(frame, context)

    def _write_lines(self, frame: DataFrame, context: WriteContext) -> None:
        """Write rows, or lines of changes, into the stage."""
        stage = cast("commit.FileStage", context.stage)
        layout = FileLayout(context)
        if context.row_change is not None:
            stage.replace_files(frozenset(layout.relative_paths(context.row_change.groups or ())))
        column_types = context.physical_columns
        fields = [types.RowField(name, type_) for name, type_ in column_types.items()]
        frame = select(frame, (layout.to_stored_column(*item) for item in column_types.items()))
        form = layout.form
        source, settings = form.source or form.identifier, form.writing(layout.options)
        if form.codec is not None:
            settings = form.codec.writing(layout.inner(), layout.options)
        if layout.form is file_formats.CSV:
            frame, source, settings = layout.lines(frame, fields)
        if form.is_typed:
            frame = _with_exact_types(
                frame, [field for field in fields if field.name not in layout.partitions]
            )
        if (tasks := PARALLELISM.of(layout.options)) is not None:
            frame = frame.repartition(tasks)
        writer = frame.write.mode("append").options(**settings)
        writer = writer.option("mapreduce.output.basename", layout.ages.markers.new)
        if layout.partitions:
            writer = writer.partitionBy(*layout.partitions)
        stage.open()
        place = (
            f"file://{stage.staging_directory}"
            if stage.is_beside
            else f"{layout.path}/{stage.name}"
        )
        writer.format(source).save(place)

    def consumes_changes(self, options: Mapping[str, str]) -> bool:
        """Return whether files of the table's format hold changes."""
        return change_format(options) is not None

    def write_changelog(self, frame: DataFrame, context: WriteContext) -> None:
        """Write changes into the stage of the job, in one file of each partition."""
        self.write(frame.coalesce(1), context)

    def write_changes(
        self, frame: DataFrame, context: WriteContext, key: Sequence[str], changelog: Changelog
    ) -> None:
        """Write the changes of a micro-batch, each as a message, in their order."""
        stage = self.stage(context)
        try:
            lines, inner = encode_updates(frame, replace(context, stage=stage), key, changelog)
            self._write_lines(lines.coalesce(1), inner)
            stage.prepare()
            stage.commit()
        except BaseException:
            stage.abort()
            raise


def _require_all_records(options: Mapping[str, str]) -> None:
    """Refuse to rewrite files of which parts may be skipped: they would be deleted."""
    declared = format_of(options).options
    for option in (csv_files.CSV_ERRORS, file_formats.JSON_ERRORS):
        if option not in declared or not option.of(options):
            continue
        raise UnsupportedError(
            f"with the option {option.key!r}, DELETE and UPDATE would remove what cannot be read "
            "from the files that they rewrite",
            code="rows-would-be-lost",
            hint="alter the table: remove the option, and correct the records that cannot be read",
        )


def _has_success_files(context: WriteContext) -> bool:
    return "success-file" in (POLICIES.of(context.options) or ())


def _retention(context: WriteContext) -> snapshots.Retention | None:
    """Return how many versions a table keeps, None if it keeps none."""
    if AS_OF.key in context.options:
        raise UnsupportedError(
            f"a table is not written as of a time, by the option '{AS_OF.key}'",
            code="time-travel-not-supported",
            hint=REMOVE_OPTION,
        )
    count = SNAPSHOTS.of(context.options)
    return None if count is None else snapshots.Retention(count, _columns_digest(context.table))


def _columns_digest(table: CatalogTable) -> str:
    """Return a digest of the columns and the partition keys by which files are read."""
    return fingerprint(
        table.copy({key: text for key, text in table.options.items() if key == FORMAT.key})
    )


def _at_path(context: ReadContext, path: str) -> ReadContext:
    """Return the context of reading the files in another directory."""
    table = context.table.copy({**context.table.options, PATH.key: path})
    return replace(context, table=table)


def _success_file(
    context: WriteContext, layout: FileLayout, fixed: commit.PartitionValues | None
) -> commit.SuccessFile | None:
    """Return the file that marks what was committed, if the table has such files.

    As in Flink, the partition `fixed` by PARTITION is marked also if it gets no rows; streaming
    jobs write no such file into tables without partitions.
    """
    if not _has_success_files(context):
        return None
    if context.batch is not None and not layout.partitions:
        return None
    name = cast("str", SUCCESS_FILE.of(context.options))
    place = None
    if fixed is not None:
        pairs = zip(layout.partitions, fixed, strict=True)
        place = "/".join("=".join(map(commit.escape_partition, pair)) for pair in pairs)
    return commit.SuccessFile(name, bool(layout.partitions), place)


def _refuse_ignored_by_streams(options: Mapping[str, str]) -> None:
    """Refuse options by which a streaming job of Flink does more than commit files at once."""
    ignored = [COMPACTION.key] if COMPACTION.of(options) else []
    if POLICIES.key in options:
        ignored += [TRIGGER.key] if TRIGGER.of(options) != "process-time" else []
        ignored += [DELAY.key] if DELAY.of(options) else []
    if ignored:
        raise UnsupportedError(
            f"streaming jobs do not support the option {ignored[0]!r} of the connector "
            f"'filesystem' with the value {options[ignored[0]]!r}",
            code="streaming-not-supported",
            hint=REMOVE_OPTION,
        )


def _require_one_name(layout: FileLayout, checked: CheckedFiles) -> None:
    """Refuse to stream files with several names of a column, one of which is a dropped one's."""
    if checked.repeated is not None:
        path, names = checked.repeated
        raise UnsupportedError(
            f"a streaming job cannot read files of {layout.path!r} that have {print_path(path)} "
            f"by its former name {names[0]!r} and another, dropped one by the name {names[1]!r}",
            code="streaming-not-supported",
            hint=stored_names.REWRITE,
        )


def _empty_frame(context: ReadContext) -> DataFrame:
    """Return the columns and the metadata of a table without files."""
    metadata = {metadata_column(key): METADATA[key][0] for key in context.metadata}
    columns = {**context.columns, **metadata}
    items = [
        (to_physical(nodes.Cast(nodes.NULL, sql_type(type_)), type_), name)
        for name, type_ in columns.items()
    ]
    return select(context.session.range(0), items)


def _matching_files(
    session: SparkSession, directory: Directory, layout: FileLayout, pattern: str
) -> frozenset[str]:
    """Return the files whose path matches, as values of the metadata ``file.path``."""
    paths = [(f"{layout.root}/{name}".rstrip("/"),) for name, _ in directory.files()]
    if not paths:
        return frozenset()
    matches = nodes.call("rlike", ColumnNode("path"), f"^(?:{pattern})$")
    frame = session.createDataFrame(paths, "path STRING").where(nodes.to_sql(matches))
    try:
        with spark_errors():
            return frozenset(row[0] for row in frame.collect())
    except ExternalError as error:
        reasons = causes(error.__cause__ or error)
        if not any("PatternSyntaxException" in str(cause) for cause in reasons):
            raise
        with at(f"option {PATTERN.key!r}"):
            raise invalid_value("a regular expression of Java", pattern) from error


def _require_directory(path: str, system: file_systems.FileSystem, root: str) -> None:
    entry = system.status(root)
    if entry is None:
        problem = f"there is no file or directory at {path!r}"
        raise ExternalError(problem, code="file-not-found")
    if not entry.is_directory and is_hidden(entry.name, is_directory=False):
        raise ExternalError(
            f"{path!r} is a hidden file, which readers skip",
            code="file-not-found",
            hint="rename it: its name must not begin with '_' or '.'",
        )


def _require_readable(session: SparkSession, root: str, form: str) -> None:
    require_readable_files(root, form)
    if not is_connect(session):
        runtime = java_class(session, "java.lang.Runtime")
        # a line is held several times, and every core reads one
        require_short_lines(root, form, lambda: int(runtime.getRuntime().maxMemory()) // 16)


@contextmanager
def _one_depth(path: str) -> Iterator[None]:
    """Convert Spark's error for partition directories of different depths."""
    try:
        yield
    except Exception as error:
        conditions = {condition_of(cause) for cause in causes(error)}
        if "CONFLICTING_PARTITION_COLUMN_NAMES" not in conditions:
            raise
        names = re.findall(r"list #\d+: (.*)", str(error))
        listed = " and ".join(f"({name.strip()})" for name in sorted(names)[:2])
        raise ExternalError(
            f"the directories of {path!r} have values of different partition columns: {listed}",
            code="schema-mismatch",
            hint="move the files so that each is in one directory for every partition column",
        ) from error


#: Conditions of Spark's errors for an invalid csv record.
REFUSED = ("FAILED_READ_FILE", "MALFORMED_RECORD", "MALFORMED_CSV_RECORD")


def definition_of(identifier: ObjectIdentifier, table: CatalogTable) -> commit.Definition:
    """Return the definition of a table for the journal of a commit."""
    return commit.Definition(join_names(identifier.to_list()), fingerprint(table))


def _recover_directory(context: TableContext, path: str) -> Directory:
    """Return a table's directory after the commits of killed jobs are completed."""
    directory = Directory(*locate_file_system(context.session, path))
    recover(directory, definition_of(context.identifier, context.table))
    return directory


def _path_of(session: SparkSession, table: CatalogTable) -> str | None:
    """Return the absolute path of a table's files, None for another connector."""
    if table.options.get("connector") != FilesystemConnector.identifier:
        return None
    return locate_file_system(session, table_path(table.options, session))[1]


def _scope(
    context: WriteContext, layout: FileLayout, fixed: commit.PartitionValues | None
) -> commit.OverwriteScope:
    if not context.overwrite or not layout.partitions:
        return commit.OverwriteScope(everything=context.overwrite)
    return commit.OverwriteScope(
        partitions=len(layout.partitions),
        fixed=fixed,
        canonical=partial(_canonical, context, layout),
    )


def _fixed_partition(context: WriteContext, layout: FileLayout) -> commit.PartitionValues | None:
    """Return the partition that an INSERT names, as in its directory, if it matters.

    None unless PARTITION has a value of every key.
    """
    partition, keys = context.partition or {}, layout.partitions
    is_needed = context.overwrite or _has_success_files(context)
    if not keys or set(partition) != set(keys) or not is_needed:
        return None
    column_types = context.physical_columns
    literals = []
    for key in keys:  # a literal is cast in the time zone of the session, as in the query
        literal = convert(
            nodes.Literal(partition[key]), TEXT, column_types[key].nullable(), context.zone
        )
        literals.append((to_physical(literal, column_types[key]), key))
    stored = [layout.to_stored_column(key, column_types[key]) for key in keys]
    row = select(select(context.session.range(1), literals), stored).first()
    return tuple(map(str, row or ()))


def _canonical(
    context: WriteContext, layout: FileLayout, places: Collection[commit.PartitionValues]
) -> Mapping[commit.PartitionValues, commit.PartitionValues]:
    """Return the values in names of directories as jobs write them: ``p=01`` is ``p=1``."""
    columns = [
        _canonical_of_column(context, layout, key, {place[number] for place in places})
        for number, key in enumerate(layout.partitions)
    ]
    return {
        place: tuple(
            canonical.get(text, text) for canonical, text in zip(columns, place, strict=True)
        )
        for place in places
    }


def _canonical_of_column(
    context: WriteContext, layout: FileLayout, key: str, texts: Collection[str]
) -> Mapping[str, str]:
    """Return how values of a partition column are written, where they may differ."""
    type_ = context.physical_columns[key].nullable()
    default = DEFAULT_PARTITION.of(layout.options)
    asked = [(text,) for text in texts if text != default and not is_canonical(text, type_)]
    if not asked:
        return {}
    rows = context.session.createDataFrame(asked, f"{csv_files.CONTENT} STRING")
    text = ColumnNode(csv_files.CONTENT)
    value = to_physical(partition_value(text, type_), type_)
    values = select(rows, [(text, csv_files.CONTENT), (value, key)]).where(
        f"{quote(key)} IS NOT NULL"
    )
    return dict(
        map(
            tuple,
            select(
                values, [(text, csv_files.CONTENT), layout.to_stored_column(key, type_)]
            ).collect(),
        )
    )


def _with_exact_types(frame: DataFrame, fields: Sequence[types.RowField]) -> DataFrame:
    from pyspark.sql.types import StructField

    metadata: dict[str, dict[str, Any]] = {}
    for field in fields:
        exact = to_struct_field(field.name, field.data_type, field.description, on_loss="note")
        metadata[field.name] = dict(exact.metadata)
        stored = from_struct_field(StructField(exact.name, exact.dataType))
        # nested types are always kept: files do not store whether an element is NOT NULL
        if stored == field.data_type and not field.data_type.children():
            del metadata[field.name][TYPE_KEY]
    current = {field.name: field.metadata for field in frame.schema.fields}
    wanted = {name: metadata.get(name, {}) for name in current}
    return frame if current == wanted else with_metadata(frame, wanted)
