"""ALTER TABLE ... ADD and DROP PARTITION."""

from __future__ import annotations

from schema_core.catalog.api import Catalog
from schema_core.catalog.partitions import CatalogPartition, CatalogPartitionSpec
from schema_core.environment.operations.definitions import options_of
from schema_core.environment.session import Session, placed
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.paths import ObjectIdentifier, ObjectPath
from schema_core.sql.definition_syntax import AddPartitions, DropPartitions, Partition


def _spec(partition: Partition) -> CatalogPartitionSpec:
    values = {key: value for key, value in partition.values if value is not None}
    if any(value is None for _, value in partition.values):
        raise SchemaError(
            "every key of the partition needs a value",
            code="invalid-partition-spec",
            span=partition.span,
        )
    return CatalogPartitionSpec(values)


def change_partitions(
    session: Session, identifier: ObjectIdentifier, change: AddPartitions | DropPartitions
) -> None:
    """Add or drop partitions of the permanent table at a path, one after the other.

    Raises:
        NotFoundError: with code `table-not-found` or `partition-not-found`.
        AlreadyExistsError: with code `partition-exists`.
        SchemaError: with code `not-partitioned` or `invalid-partition-spec`.
    """
    catalog, path = session.registry.get(identifier.catalog_name), identifier.to_object_path()
    for one in change.partitions:
        with placed(one.span):
            if isinstance(change, DropPartitions):
                _drop(catalog, path, _spec(one), change.if_exists)
                continue
            partition = CatalogPartition.create_instance(options_of(one.options))
            catalog.create_partition(path, _spec(one), partition, change.if_not_exists)


#: What IF EXISTS forgives, as in Flink: where there is no such table there is no such partition.
FORGIVEN = ("table-not-found", "database-not-found", "not-partitioned")


def _drop(catalog: Catalog, path: ObjectPath, spec: CatalogPartitionSpec, if_exists: bool) -> None:
    try:
        catalog.drop_partition(path, spec, if_exists)
    except SchemaCoreError as error:
        if not (if_exists and error.code in FORGIVEN):
            raise
