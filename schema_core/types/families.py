"""Type roots and type families, and which root belongs to which family."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING


class TypeRoot(Enum):
    """The class of a type without its parameters, in Flink's order and with Flink's names."""

    if not TYPE_CHECKING:  # members are singletons; Enum hashes the name in Python
        __hash__ = object.__hash__

    CHAR = "CHAR"
    VARCHAR = "VARCHAR"
    BOOLEAN = "BOOLEAN"
    BINARY = "BINARY"
    VARBINARY = "VARBINARY"
    DECIMAL = "DECIMAL"
    TINYINT = "TINYINT"
    SMALLINT = "SMALLINT"
    INTEGER = "INTEGER"
    BIGINT = "BIGINT"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    DATE = "DATE"
    TIME_WITHOUT_TIME_ZONE = "TIME_WITHOUT_TIME_ZONE"
    TIMESTAMP_WITHOUT_TIME_ZONE = "TIMESTAMP_WITHOUT_TIME_ZONE"
    TIMESTAMP_WITH_TIME_ZONE = "TIMESTAMP_WITH_TIME_ZONE"
    TIMESTAMP_WITH_LOCAL_TIME_ZONE = "TIMESTAMP_WITH_LOCAL_TIME_ZONE"
    INTERVAL_YEAR_MONTH = "INTERVAL_YEAR_MONTH"
    INTERVAL_DAY_TIME = "INTERVAL_DAY_TIME"
    ARRAY = "ARRAY"
    MULTISET = "MULTISET"
    MAP = "MAP"
    ROW = "ROW"
    DISTINCT_TYPE = "DISTINCT_TYPE"
    STRUCTURED_TYPE = "STRUCTURED_TYPE"
    NULL = "NULL"
    RAW = "RAW"
    SYMBOL = "SYMBOL"
    UNRESOLVED = "UNRESOLVED"
    DESCRIPTOR = "DESCRIPTOR"
    VARIANT = "VARIANT"
    BITMAP = "BITMAP"


class TypeFamily(Enum):
    """A set of roots that rules treat alike, in Flink's order and with Flink's names."""

    if not TYPE_CHECKING:
        __hash__ = object.__hash__

    PREDEFINED = "PREDEFINED"
    CONSTRUCTED = "CONSTRUCTED"
    USER_DEFINED = "USER_DEFINED"
    CHARACTER_STRING = "CHARACTER_STRING"
    BINARY_STRING = "BINARY_STRING"
    NUMERIC = "NUMERIC"
    INTEGER_NUMERIC = "INTEGER_NUMERIC"
    EXACT_NUMERIC = "EXACT_NUMERIC"
    APPROXIMATE_NUMERIC = "APPROXIMATE_NUMERIC"
    DATETIME = "DATETIME"
    TIME = "TIME"
    TIMESTAMP = "TIMESTAMP"
    INTERVAL = "INTERVAL"
    COLLECTION = "COLLECTION"
    DESCRIPTOR = "DESCRIPTOR"
    EXTENSION = "EXTENSION"


R, F = TypeRoot, TypeFamily

#: Family -> its roots.
MEMBERS: dict[TypeFamily, frozenset[TypeRoot]] = {
    F.CHARACTER_STRING: frozenset({R.CHAR, R.VARCHAR}),
    F.BINARY_STRING: frozenset({R.BINARY, R.VARBINARY}),
    F.INTEGER_NUMERIC: frozenset({R.TINYINT, R.SMALLINT, R.INTEGER, R.BIGINT}),
    F.EXACT_NUMERIC: frozenset({R.DECIMAL, R.TINYINT, R.SMALLINT, R.INTEGER, R.BIGINT}),
    F.APPROXIMATE_NUMERIC: frozenset({R.FLOAT, R.DOUBLE}),
    F.NUMERIC: frozenset(
        {R.DECIMAL, R.TINYINT, R.SMALLINT, R.INTEGER, R.BIGINT, R.FLOAT, R.DOUBLE}
    ),
    F.TIME: frozenset({R.TIME_WITHOUT_TIME_ZONE}),
    F.TIMESTAMP: frozenset(
        {
            R.TIMESTAMP_WITHOUT_TIME_ZONE,
            R.TIMESTAMP_WITH_TIME_ZONE,
            R.TIMESTAMP_WITH_LOCAL_TIME_ZONE,
        }
    ),
    F.DATETIME: frozenset(
        {
            R.DATE,
            R.TIME_WITHOUT_TIME_ZONE,
            R.TIMESTAMP_WITHOUT_TIME_ZONE,
            R.TIMESTAMP_WITH_TIME_ZONE,
            R.TIMESTAMP_WITH_LOCAL_TIME_ZONE,
        }
    ),
    F.INTERVAL: frozenset({R.INTERVAL_YEAR_MONTH, R.INTERVAL_DAY_TIME}),
    F.COLLECTION: frozenset({R.ARRAY, R.MULTISET}),
    F.CONSTRUCTED: frozenset({R.ARRAY, R.MULTISET, R.MAP, R.ROW}),
    F.USER_DEFINED: frozenset({R.DISTINCT_TYPE, R.STRUCTURED_TYPE}),
    F.DESCRIPTOR: frozenset({R.DESCRIPTOR}),
    F.EXTENSION: frozenset(
        {
            R.TIMESTAMP_WITH_LOCAL_TIME_ZONE,
            R.MAP,
            R.NULL,
            R.RAW,
            R.SYMBOL,
            R.UNRESOLVED,
            R.VARIANT,
            R.BITMAP,
        }
    ),
    F.PREDEFINED: frozenset(list(TypeRoot)[:19]),
}

#: Root -> the root and its families.
KINDS: dict[TypeRoot, frozenset[TypeRoot | TypeFamily]] = {
    root: frozenset({root, *(family for family, roots in MEMBERS.items() if root in roots)})
    for root in TypeRoot
}
