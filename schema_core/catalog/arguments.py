"""What is handed to a catalog is looked at first: a path is a path, a table a table."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from schema_core.catalog.api import Catalog
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogFunction,
    CatalogModel,
)
from schema_core.catalog.partitions import CatalogPartition, CatalogPartitionSpec
from schema_core.catalog.types import CatalogType
from schema_core.errors import SchemaError
from schema_core.paths import ObjectPath
from schema_core.text import is_blank

C = TypeVar("C", bound=type[Catalog])

#: Parameter of a method -> what is handed over for it.
KINDS: dict[str, type] = {
    "database_name": str,
    "name": str,
    "new_table_name": str,
    "new_model_name": str,
    "table_path": ObjectPath,
    "function_path": ObjectPath,
    "model_path": ObjectPath,
    "type_path": ObjectPath,
    "database": CatalogDatabase,
    "new_database": CatalogDatabase,
    "table": CatalogBaseTable,
    "new_table": CatalogBaseTable,
    "partition_spec": CatalogPartitionSpec,
    "partition": CatalogPartition,
    "new_partition": CatalogPartition,
    "function": CatalogFunction,
    "new_function": CatalogFunction,
    "model": CatalogModel,
    "new_model": CatalogModel,
    "type_": CatalogType,
}


def wrong(name: str, kind: type, value: object) -> SchemaError:
    """What was handed over is of another kind; it is not shown, since it may be secret."""
    wanted = "text" if kind is str else kind.__name__
    return SchemaError(
        f"{name} takes a {wanted}, not a {type(value).__name__}", code="wrong-argument"
    )


def require_names(name: object, default_database: object) -> None:
    """Refuse what cannot be the name of a catalog, or of its default database.

    Raises:
        SchemaError: with code `wrong-argument`, or `blank-name`.
    """
    for what, one in (("name", name), ("default_database", default_database)):
        if not isinstance(one, str):
            raise wrong(what, str, one)
        if is_blank(one):
            raise SchemaError("a catalog and its default database need names", code="blank-name")


def checked(catalog: C) -> C:
    """The class of a catalog, whose methods refuse what they cannot take before they do anything.

    The refusal is a `SchemaError` with the code `wrong-argument`.
    """
    for name, method in inspect.getmembers(Catalog, inspect.isfunction):
        parameters = tuple(inspect.signature(method).parameters)
        if KINDS.keys() & set(parameters):
            setattr(catalog, name, _checked(getattr(catalog, name), parameters))
    return catalog


def _checked(method: Callable[..., Any], parameters: tuple[str, ...]) -> Callable[..., Any]:
    optional = {
        name for name, one in inspect.signature(method).parameters.items() if one.default is None
    }

    @wraps(method)
    def call(*args: Any, **more: Any) -> Any:
        for name, value in (*zip(parameters, args, strict=False), *more.items()):
            kind = KINDS.get(name)
            if kind is None or isinstance(value, kind) or (value is None and name in optional):
                continue
            raise wrong(name, kind, value)
        return method(*args, **more)

    return call
