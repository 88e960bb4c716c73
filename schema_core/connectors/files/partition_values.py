"""Values of partition columns in the names of directories, as Flink reads and writes them."""

from __future__ import annotations

from schema_core import types
from schema_core.catalog.partition_texts import is_plain
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import INTEGERS

TEXT = types.VarCharType(types.MAX_LENGTH)

#: The time zone of TIMESTAMP_LTZ in names of directories, whatever the session's.
PARTITION_ZONE = "UTC"


def partition_value(node: nodes.Node, type_: types.DataType) -> nodes.Node:
    """Return the value in the name of a directory, or NULL if it is not of the type.

    Flink (``PartitionPathUtils``, ``RowDataPartitionComputer``) writes a timestamp in ISO-8601, the
    days of a DATE since 1970 and the milliseconds of a TIME, and reads ISO-8601 only; any name but
    ``true`` is FALSE. The forms of a CAST are read, too. Four digits are not a DATE: they may be a
    year or days.
    """
    match type_:
        case types.CharType() | types.VarCharType():
            return node
        case types.BooleanType():
            return inline("lower({v}) = 'true'", v=node)
        case types.DateType():
            return inline(
                "CASE WHEN NOT rlike({v}, '^-?[0-9]+$') THEN {value} WHEN length({v}) = 4 OR"
                " length({v}) > 7 THEN NULL ELSE date_from_unix_date(CAST({v} AS INT)) END",
                v=node,
                value=convert(node, TEXT, type_, try_=True),
            )
        case types.TimeType():
            clock = inline(
                "date_format(timestamp_millis(CAST({v} AS BIGINT)), 'HH:mm:ss.SSS')", v=node
            )
            text = inline(
                "if(rlike({v}, '^[0-9]{3,8}$') AND CAST({v} AS BIGINT) < 86400000, {clock}, {v})",
                v=node,
                clock=clock,
            )
            return convert(text, TEXT, type_, try_=True)
        case types.AnyTimestampType():
            text = nodes.call(
                "regexp_replace", node, "^([0-9-]{10})T([0-9]{2}:[0-9]{2})$", "$1 $2:00"
            )
            plain = nodes.call("regexp_replace", text, "^([0-9-]{10})T", "$1 ")
            return convert(plain, TEXT, type_, PARTITION_ZONE, try_=True)
        case _:
            return convert(node, TEXT, type_, PARTITION_ZONE, try_=True)


def partition_text(value: nodes.Node, type_: types.DataType) -> nodes.Node:
    """Return a partition value as Flink writes it to the name of a directory.

    A timestamp is that of ``LocalDateTime.toString``; DATE and TIME have the form that Flink reads,
    since it cannot read the numbers that it writes.
    """
    text = convert(value, type_, TEXT, PARTITION_ZONE)
    if isinstance(type_, types.BooleanType):
        return nodes.call("lower", text)
    if not isinstance(type_, types.AnyTimestampType):
        return text
    return nodes.let(
        text,
        lambda text: inline(
            "CASE WHEN {fraction} <> '' THEN concat({day}, 'T', substring({t}, 12, 8), '.',"
            " {fraction}) WHEN substring({t}, 18, 2) = '00'"
            " THEN concat({day}, 'T', substring({t}, 12, 5))"
            " ELSE concat({day}, 'T', substring({t}, 12, 8)) END",
            t=text,
            day=nodes.call("substring", text, 1, 10),
            fraction=nodes.call(
                "regexp_replace",
                nodes.call("rpad", nodes.call("substring", text, 21), 9, "0"),
                "(000)+$",
                "",
            ),
        ),
    )


def is_canonical(text: str, type_: types.DataType) -> bool:
    """Return whether a partition value is written in this form only.

    >>> is_canonical("1", types.IntType()), is_canonical("01", types.IntType())
    (True, False)
    """
    if not is_plain(text, type_):
        return False
    if isinstance(type_, types.CharType | types.VarCharType | types.DateType):
        return True
    return isinstance(type_, INTEGERS) and str(int(text)) == text
