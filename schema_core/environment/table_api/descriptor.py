"""Descriptors of tables, formats and models, as PyFlink's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any, ClassVar

from schema_core.base.arguments import require_instance, require_names
from schema_core.base.lazy import dataclass
from schema_core.base.plugins import load_higher
from schema_core.base.text import quote_identifier, quote_string, show
from schema_core.catalog.objects import (
    CatalogModel,
    CatalogTable,
    Options,
    TableDistribution,
)
from schema_core.catalog.own_options import require_no_own_options
from schema_core.environment.options import ConfigOption, mask_options
from schema_core.errors import SchemaError
from schema_core.schema.unresolved import Schema

CONNECTOR = "connector"
FORMAT = "format"
PROVIDER = "provider"


def option_key(key: str | ConfigOption[Any]) -> str:
    """Return the key of an option."""
    if isinstance(key, ConfigOption):
        return key.key
    require_instance(key, str, "the key of an option")
    return key


def option_text(value: object) -> str:
    """Return the value of an option as a string, as SQL would quote it.

    >>> option_text(True), option_text(3)
    ('true', '3')
    """
    require_instance(value, object if value is not None else str, "the value of an option")
    try:
        return str(value).lower() if isinstance(value, bool) else str(value)
    except Exception as error:  # of the value's own class, or an integer of thousands of digits
        problem = f"the value of an option cannot be converted to a string: {show(value)}"
        raise SchemaError(problem, code="invalid-argument") from error


def with_clause(options: Mapping[str, str]) -> str:
    """``WITH (...)`` with the keys sorted and every secret masked.

    >>> print(with_clause({"path": "it's"}))
    WITH (
      'path' = 'it''s'
    )
    """
    pairs = [
        f"  {quote_string(key)} = {quote_string(v)}" for key, v in mask_options(options).items()
    ]
    return "WITH (\n" + ",\n".join(pairs) + "\n)"


# --- formats -------------------------------------------------------------------------------


class FormatDescriptorBuilder:
    """Collects the options of a format; every method returns the builder."""

    def __init__(self, descriptor: FormatDescriptor) -> None:
        self._descriptor = descriptor

    def option(self, key: str | ConfigOption[Any], value: object) -> FormatDescriptorBuilder:
        """Set an option; its key is without the name of the format."""
        options = Options({**self._descriptor.options, option_key(key): option_text(value)})
        self._descriptor = replace(self._descriptor, options=options)
        return self

    def build(self) -> FormatDescriptor:
        return self._descriptor


@dataclass(frozen=True, slots=True)
class FormatDescriptor:
    """A format and its options; the keys do not begin with its name yet.

    >>> FormatDescriptor.for_format("csv").option("field-delimiter", ";").build().get_options()
    {'field-delimiter': ';'}
    """

    Builder: ClassVar[type[FormatDescriptorBuilder]] = FormatDescriptorBuilder

    format: str
    options: Mapping[str, str] = field(default_factory=Options, hash=False)

    @staticmethod
    def for_format(format: str) -> FormatDescriptorBuilder:  # noqa: A002 - PyFlink's name
        """Return a builder for this format."""
        require_instance(format, str, "format")
        return FormatDescriptorBuilder(FormatDescriptor(format))

    def get_format(self) -> str:
        return self.format

    def get_options(self) -> dict[str, str]:
        return dict(self.options)

    def __str__(self) -> str:
        options = ", ".join(f"{key}={value}" for key, value in mask_options(self.options).items())
        return f"{self.format}[{{{options}}}]"


# --- tables --------------------------------------------------------------------------------


class TableDescriptorBuilder:
    """Collects what a table is; every method returns the builder."""

    def __init__(self, descriptor: TableDescriptor) -> None:
        self._descriptor = descriptor

    def _with(self, **changes: Any) -> TableDescriptorBuilder:
        self._descriptor = replace(self._descriptor, **changes)
        return self

    def schema(self, schema: Schema) -> TableDescriptorBuilder:
        """Set the schema."""
        require_instance(schema, Schema, "schema")
        return self._with(schema=schema)

    def option(self, key: str | ConfigOption[Any], value: object) -> TableDescriptorBuilder:
        """Set an option.

        Raises:
            SchemaError: with code `reserved-option` for an option that only this library sets.
        """
        require_no_own_options([option_key(key)])
        options = {**self._descriptor.options, option_key(key): option_text(value)}
        return self._with(options=Options(options))

    def format(
        self,
        format: str | FormatDescriptor,  # noqa: A002 - PyFlink's name
        format_option: ConfigOption[str] | None = None,
    ) -> TableDescriptorBuilder:
        """Set the format, with the options of a descriptor.

        `format_option` is the key of the format, such as ``key.format``; the options of the format
        then begin with ``key.`` and its name.

        Raises:
            SchemaError: with code `invalid-argument` for a format that is neither a name nor a
                descriptor, and for an option that is not declared as one.
        """
        require_instance(format, (str, FormatDescriptor), "the format")
        if format_option is not None:
            require_instance(format_option, ConfigOption, "format_option")
        key = FORMAT if format_option is None else format_option.key
        if isinstance(format, str):
            return self.option(key, format)
        self.option(key, format.format)
        for name, value in format.options.items():
            self.option(f"{key.removesuffix(FORMAT)}{format.format}.{name}", value)
        return self

    def partitioned_by(self, *partition_keys: str) -> TableDescriptorBuilder:
        """Append partition keys."""
        for key in partition_keys:
            require_instance(key, str, "a partition key")
        keys = (*self._descriptor.partition_keys, *partition_keys)
        return self._with(partition_keys=keys)

    def distributed_by_hash(
        self, bucket_keys: Iterable[str], bucket_count: int | None = None
    ) -> TableDescriptorBuilder:
        """Distribute the rows over buckets by hash.

        Raises:
            SchemaError: with code `invalid-constraint` without keys.
        """
        keys = require_bucket_keys(bucket_keys)
        return self.distributed(TableDistribution.of_hash(keys, bucket_count))

    def distributed_by_range(
        self, bucket_keys: Iterable[str], bucket_count: int | None = None
    ) -> TableDescriptorBuilder:
        """Distribute the rows over buckets by ranges of values.

        Raises:
            SchemaError: with code `invalid-constraint` without keys.
        """
        keys = require_bucket_keys(bucket_keys)
        return self.distributed(TableDistribution.of_range(keys, bucket_count))

    def distributed_by(
        self, bucket_keys: Iterable[str], bucket_count: int | None = None
    ) -> TableDescriptorBuilder:
        """Distribute the rows over buckets as the connector chooses.

        Raises:
            SchemaError: with code `invalid-constraint` without keys: see `distributed_into`.
        """
        keys = require_bucket_keys(bucket_keys)
        return self.distributed(TableDistribution.of_unknown(keys, bucket_count))

    def distributed_into(self, bucket_count: int) -> TableDescriptorBuilder:
        """Distribute the rows over a number of buckets, without keys."""
        return self.distributed(TableDistribution.of_unknown((), bucket_count))

    def distributed(self, distribution: TableDistribution) -> TableDescriptorBuilder:
        """Set how rows are distributed over buckets."""
        return self._with(distribution=distribution)

    def comment(self, comment: str) -> TableDescriptorBuilder:
        """Set the comment."""
        return self._with(comment=comment)

    def build(self) -> TableDescriptor:
        return self._descriptor


@dataclass(frozen=True, slots=True)
class TableDescriptor:
    """The parts of a CREATE TABLE: schema, options, partition keys, distribution and comment.

    >>> descriptor = (
    ...     TableDescriptor.for_connector("filesystem")
    ...     .schema(Schema.new_builder().column("id", "BIGINT").build())
    ...     .format("csv")
    ...     .build()
    ... )
    >>> print(descriptor)
    (
      `id` [BIGINT]
    )
    WITH (
      'connector' = 'filesystem',
      'format' = 'csv'
    )
    """

    Builder: ClassVar[type[TableDescriptorBuilder]] = TableDescriptorBuilder

    schema: Schema | None = None
    options: Mapping[str, str] = field(default_factory=Options, hash=False)
    partition_keys: tuple[str, ...] = ()
    distribution: TableDistribution | None = None
    comment: str | None = None

    @staticmethod
    def for_connector(connector: str) -> TableDescriptorBuilder:
        """Return a builder for a table of this connector."""
        require_instance(connector, str, "connector")
        return TableDescriptorBuilder(TableDescriptor()).option(CONNECTOR, connector)

    def to_builder(self) -> TableDescriptorBuilder:
        """Return a builder that starts from this descriptor."""
        return TableDescriptorBuilder(self)

    def get_schema(self) -> Schema | None:
        return self.schema

    def get_options(self) -> dict[str, str]:
        return dict(self.options)

    def get_partition_keys(self) -> list[str]:
        return list(self.partition_keys)

    def get_distribution(self) -> TableDistribution | None:
        return self.distribution

    def get_comment(self) -> str | None:
        return self.comment

    def to_catalog_table(self) -> CatalogTable:
        """Return the unresolved table of a catalog.

        Raises:
            SchemaError: with code `missing-columns` without a schema, `reserved-option` for an
                option that only this library sets.
        """
        require_no_own_options(self.options)
        if self.schema is None:
            raise SchemaError(
                "the descriptor has no schema",
                code="missing-columns",
                hint="call schema(...) on its builder",
            )
        return CatalogTable(
            self.schema,
            self.partition_keys,
            options=self.options,
            comment=self.comment,
            distribution=self.distribution,
        )

    def _repr_html_(self) -> str:
        return str(load_higher("descriptor_html")(self))

    def __str__(self) -> str:
        keys = ", ".join(map(quote_identifier, self.partition_keys))
        return "\n".join(
            [
                str(self.schema) if self.schema is not None else "",
                *([f"COMMENT '{self.comment}'"] if self.comment is not None else []),
                *([str(self.distribution)] if self.distribution is not None else []),
                *([f"PARTITIONED BY ({keys})"] if keys else []),
                with_clause(self.options),
            ]
        )


def require_bucket_keys(bucket_keys: Iterable[str]) -> tuple[str, ...]:
    """Return the keys; at least one is required (`invalid-constraint`)."""
    keys = require_names(bucket_keys, "the distribution")
    if not keys:
        raise SchemaError(
            "a distribution by keys requires at least one key",
            code="invalid-constraint",
            hint="call distributed_into(count) to distribute without keys",
        )
    return keys


# --- models --------------------------------------------------------------------------------


class ModelDescriptorBuilder:
    """Collects what a model is; every method returns the builder."""

    def __init__(self, descriptor: ModelDescriptor) -> None:
        self._descriptor = descriptor

    def _with(self, **changes: Any) -> ModelDescriptorBuilder:
        self._descriptor = replace(self._descriptor, **changes)
        return self

    def input_schema(self, input_schema: Schema) -> ModelDescriptorBuilder:
        """Set the input columns."""
        return self._with(input_schema=input_schema)

    def output_schema(self, output_schema: Schema) -> ModelDescriptorBuilder:
        """Set the output columns."""
        return self._with(output_schema=output_schema)

    def option(self, key: str | ConfigOption[Any], value: object) -> ModelDescriptorBuilder:
        """Set an option.

        Raises:
            SchemaError: with code `reserved-option` for an option that only this library sets.
        """
        require_no_own_options([option_key(key)])
        options = {**self._descriptor.options, option_key(key): option_text(value)}
        return self._with(options=Options(options))

    def comment(self, comment: str) -> ModelDescriptorBuilder:
        """Set the comment."""
        return self._with(comment=comment)

    def build(self) -> ModelDescriptor:
        return self._descriptor


@dataclass(frozen=True, slots=True)
class ModelDescriptor:
    """The parts of a CREATE MODEL: input and output columns, options and comment."""

    Builder: ClassVar[type[ModelDescriptorBuilder]] = ModelDescriptorBuilder

    options: Mapping[str, str] = field(default_factory=Options, hash=False)
    input_schema: Schema | None = None
    output_schema: Schema | None = None
    comment: str | None = None

    @staticmethod
    def for_provider(provider: str) -> ModelDescriptorBuilder:
        """Return a builder for a model of this provider."""
        require_instance(provider, str, "provider")
        return ModelDescriptorBuilder(ModelDescriptor()).option(PROVIDER, provider)

    def get_options(self) -> dict[str, str]:
        return dict(self.options)

    def get_input_schema(self) -> Schema | None:
        return self.input_schema

    def get_output_schema(self) -> Schema | None:
        return self.output_schema

    def get_comment(self) -> str | None:
        return self.comment

    def to_catalog_model(self) -> CatalogModel:
        """Return the unresolved model of a catalog.

        Raises:
            SchemaError: with code `missing-columns` without an input or output schema,
                `reserved-option` for an option that only this library sets.
        """
        require_no_own_options(self.options)
        if self.input_schema is None or self.output_schema is None:
            raise SchemaError(
                "the descriptor requires an input schema and an output schema",
                code="missing-columns",
            )
        return CatalogModel(
            self.input_schema, self.output_schema, options=self.options, comment=self.comment
        )

    def __str__(self) -> str:
        lines = [
            *([f"INPUT {self.input_schema}"] if self.input_schema is not None else []),
            *([f"OUTPUT {self.output_schema}"] if self.output_schema is not None else []),
            *([f"COMMENT '{self.comment}'"] if self.comment is not None else []),
            with_clause(self.options),
        ]
        return "\n".join(lines)
