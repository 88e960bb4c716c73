"""Classes of errors (`pyflink.util.exceptions`)."""

from __future__ import annotations

from schema_core.errors import (
    CatalogException,
    DatabaseAlreadyExistException,
    DatabaseNotEmptyException,
    DatabaseNotExistException,
    FunctionAlreadyExistException,
    FunctionNotExistException,
    ModelAlreadyExistException,
    ModelNotExistException,
    PartitionAlreadyExistsException,
    PartitionNotExistException,
    PartitionSpecInvalidException,
    SchemaCoreError,
    TableAlreadyExistException,
    TableNotExistException,
    TableNotPartitionedException,
)
from schema_core.pyflink.absent import refuse_absent

#: PyFlink's class of all errors about tables is the base class of all errors here.
TableException = SchemaCoreError

__all__ = [
    "CatalogException",
    "DatabaseAlreadyExistException",
    "DatabaseNotEmptyException",
    "DatabaseNotExistException",
    "FunctionAlreadyExistException",
    "FunctionNotExistException",
    "ModelAlreadyExistException",
    "ModelNotExistException",
    "PartitionAlreadyExistsException",
    "PartitionNotExistException",
    "PartitionSpecInvalidException",
    "TableAlreadyExistException",
    "TableException",
    "TableNotExistException",
    "TableNotPartitionedException",
]

refuse_absent(__name__)
