"""Flink's data types as frozen values, their strings, casts and common types."""

from schema_core.types import atomic, nested, temporal, user_defined, worker_values  # noqa: F401
from schema_core.types.atomic import *
from schema_core.types.base import MAX_LENGTH, AtomicType, DataType, Rejection
from schema_core.types.bitmap_value import Bitmap
from schema_core.types.casts import (
    CastError,
    CastMode,
    can_cast,
    supports_avoiding_cast,
    supports_explicit_cast,
    supports_implicit_cast,
    why_not,
)
from schema_core.types.common import common_type, least_restrictive
from schema_core.types.datetime_value import NanosecondDatetime
from schema_core.types.factory import DataTypes, IntervalUnit, Resolution
from schema_core.types.families import TypeFamily, TypeRoot
from schema_core.types.nested import *
from schema_core.types.python import infer_type
from schema_core.types.row_value import Row, RowKind
from schema_core.types.temporal import *
from schema_core.types.type_parser import parse_type
from schema_core.types.unresolved import UnresolvedDataType, UnresolvedField, require_resolved
from schema_core.types.user_defined import *
from schema_core.types.values import accepts, reject_reason

__all__ = [
    "MAX_LENGTH",
    "AtomicType",
    "Bitmap",
    "CastError",
    "CastMode",
    "DataType",
    "DataTypes",
    "IntervalUnit",
    "NanosecondDatetime",
    "Rejection",
    "Resolution",
    "Row",
    "RowKind",
    "TypeFamily",
    "TypeRoot",
    "UnresolvedDataType",
    "UnresolvedField",
    "accepts",
    "can_cast",
    "common_type",
    "infer_type",
    "least_restrictive",
    "parse_type",
    "reject_reason",
    "require_resolved",
    "supports_avoiding_cast",
    "supports_explicit_cast",
    "supports_implicit_cast",
    "why_not",
]
__all__ += atomic.__all__
__all__ += nested.__all__
__all__ += temporal.__all__
__all__ += user_defined.__all__
