"""Process table functions of Flink: changes as rows and back, and what a model predicts.

Flink documentation, "Process Table Functions" and "Model Inference"; FLIP-437 for ML_PREDICT.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from schema_core.errors import SchemaError, at, similar
from schema_core.query import relation as rel
from schema_core.query.relation import Column, Columns
from schema_core.query.scope import Place, SelectScope, SourceBinding
from schema_core.query.table_arguments import by_name, column_of, described, table_of
from schema_core.schema.rules import repeated
from schema_core.sql import query_syntax as written
from schema_core.sql.syntax import Call, Expression, Literal, LiteralKind, Name, Subquery
from schema_core.types import (
    DataTypes,
    LocalZonedTimestampType,
    TimestampKind,
    TimestampType,
    TypeFamily,
)
from schema_core.types.casts import supports_implicit_cast

Given: TypeAlias = Mapping[str, Expression]
#: The columns that a function gives for arguments over an input.
Gives: TypeAlias = Callable[[Given, Columns, Place], Columns]


class ProcessTable(NamedTuple):
    """The parameters by name, how many of them must be given, and what it gives."""

    parameters: tuple[str, ...]
    required: int
    gives: Gives


def process_table(name: str, call: Call, place: Place) -> rel.ProcessTable:
    """The rows of a process table function that is built in.

    Raises:
        SchemaError: with code `wrong-argument-count`, `wrong-argument-type`, `named-arguments`,
            `partitioned-window`, `duplicate-column`, `unknown-column`, or as the input.
    """
    function = FUNCTIONS[name]
    with at(f"function {name}", call.span):
        given = by_name(call, function.parameters, function.required)
        table = given[function.parameters[0]]
        _refuse_keys(table)
        data, _ = table_of(table, place)
        columns = function.gives(given, data.columns, place)
        _refuse_twins(columns, call)
        return rel.ProcessTable(name, data, call, columns)


def _refuse_keys(table: Expression) -> None:
    """Refuse PARTITION BY and ORDER BY: these functions read row by row."""
    match table:
        case Subquery(query=written.TableArgument(partition_by=keys, order_by=order)) if (
            keys or order
        ):
            clause = "PARTITION BY" if keys else "ORDER BY"
            problem = f"it reads row by row and takes no {clause}"
            raise SchemaError(problem, code="partitioned-window", span=table.span)


def _refuse_twins(columns: Columns, call: Call) -> None:
    if twice := repeated(column.name for column in columns):
        raise SchemaError(
            f"there would be two columns {twice[0]!r}",
            code="duplicate-column",
            hint="rename the column of the input",
            span=call.span,
        )


# --- changes -------------------------------------------------------------------------------------

#: The kinds of changes, by their names in a mapping.
CHANGES = ("INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE")
#: What names an operation to Flink's state.
UID = re.compile(r"[a-zA-Z_][a-zA-Z\-_0-9]*", re.ASCII)


def to_changelog(given: Given, columns: Columns, place: Place) -> Columns:
    """The kind of each change in a column before those of the input, and the time behind them."""
    codes = _mapping(given.get("op_mapping"))
    changes = [one.strip(" ") for key in codes for one in key.split(",")]
    _check_changes(changes, given)
    _check_uid(given.get("uid"))
    return (Column(_operation(given), DataTypes.STRING()), *columns, *_time(given, columns, place))


def from_changelog(given: Given, columns: Columns, place: Place) -> Columns:
    """The columns of the input without the one that tells the kind of each change."""
    name = _operation(given)
    column = next((one for one in columns if one.name == name), None)
    if column is None:
        raise SchemaError(
            f"there is no column {name!r} that tells the kind of a change",
            code="unknown-column",
            hint=similar(name, [one.name for one in columns]) or "name it: op => DESCRIPTOR(...)",
            span=given["op"].span if "op" in given else given["input"].span,
        )
    if not column.type.is_(TypeFamily.CHARACTER_STRING):
        raise SchemaError(
            f"column {name!r} must be text to tell the kind of a change, not"
            f" {column.type.as_summary_string()}",
            code="wrong-argument-type",
            span=given["input"].span,
        )
    changes = list(_mapping(given.get("op_mapping")).values())
    _check_changes(changes, given)
    if "UPDATE_AFTER" in changes and "UPDATE_BEFORE" not in changes:
        raise SchemaError(
            "a mapping to UPDATE_AFTER needs one to UPDATE_BEFORE",
            code="wrong-argument-type",
            span=given["op_mapping"].span,
        )
    _check_uid(given.get("uid"))
    rest = tuple(one for one in columns if one.name != name)
    return (*rest, *_time(given, columns, place))


def _operation(given: Given) -> str:
    """The name of the column that tells the kind of a change."""
    return _only(given["op"]).parts[0] if "op" in given else "op"


def _only(argument: Expression) -> Name:
    names = described(argument)
    if len(names) != 1:
        raise SchemaError("expected one column", code="wrong-argument-type", span=argument.span)
    return names[0]


def _mapping(argument: Expression | None) -> dict[str, str]:
    """The texts of a MAP that is written out."""
    match argument:
        case None:
            return {}
        case Call(name="MAP", arguments=texts):
            values = [
                one.text
                for one in texts
                if isinstance(one, Literal) and one.kind is LiteralKind.STRING
            ]
            if len(values) == len(texts) and len(values) % 2 == 0:
                return dict(zip(values[::2], values[1::2], strict=True))
    raise SchemaError("expected a MAP of texts", code="wrong-argument-type", span=argument.span)


def _check_changes(changes: list[str], given: Given) -> None:
    """Require the names of changes, each once."""
    for index, change in enumerate(changes):
        span = given["op_mapping"].span
        if change not in CHANGES:
            raise SchemaError(
                f"there is no kind of change {change!r}",
                code="wrong-argument-type",
                hint=f"it is one of {', '.join(CHANGES)}",
                span=span,
            )
        if change in changes[:index]:
            raise SchemaError(f"{change} is mapped twice", code="wrong-argument-type", span=span)


def _check_uid(argument: Expression | None) -> None:
    match argument:
        case None:
            return
        case Literal(kind=LiteralKind.STRING, text=text) if UID.fullmatch(text):
            return
    raise SchemaError(
        "uid is a text of letters, digits, _ and -, which begins with no digit",
        code="wrong-argument-type",
        span=argument.span,
    )


def _time(given: Given, columns: Columns, place: Place) -> Columns:
    """The column of event time, if `on_time` names the one of the input."""
    if "on_time" not in given:
        return ()
    column = column_of(_only(given["on_time"]), SelectScope(place, (SourceBinding("", columns),)))
    kinds = (TimestampType, LocalZonedTimestampType)
    if not isinstance(column.type, kinds) or column.type.precision > 3:
        raise SchemaError(
            f"on_time takes a TIMESTAMP(3) or TIMESTAMP_LTZ(3), not"
            f" {column.type.as_summary_string()}",
            code="wrong-argument-type",
            span=column.span,
        )
    kind = TimestampKind.ROWTIME if place.world.streaming else TimestampKind.REGULAR
    return (Column("rowtime", type(column.type)(3, nullable=False, kind=kind)),)


# --- models --------------------------------------------------------------------------------------


def ml_predict(given: Given, columns: Columns, place: Place) -> Columns:
    """The columns of the input, and those that the model gives; theirs give way by a number."""
    inputs, outputs = _model(given["MODEL"], place)
    scope = SelectScope(place, (SourceBinding("", columns),))
    read = [column_of(name, scope) for name in described(given["ARGS"])]
    if len(read) != len(inputs):
        raise SchemaError(
            f"the model takes {len(inputs)} columns, not {len(read)}",
            code="wrong-argument-count",
            span=given["ARGS"].span,
        )
    for column, wanted in zip(read, inputs, strict=True):
        if not supports_implicit_cast(column.type, wanted.type):
            raise SchemaError(
                f"the model takes {wanted.type.as_summary_string()} as {wanted.name!r}, not"
                f" {column.type.as_summary_string()}",
                code="wrong-argument-type",
                span=column.span,
            )
    if "CONFIG" in given:
        _mapping(given["CONFIG"])
    taken = {column.name for column in columns}
    return (*columns, *(Column(_free(name, taken), type_) for name, type_ in outputs))


def _free(name: str, taken: set[str]) -> str:
    number, found = 0, name
    while found in taken:
        found, number = f"{name}{number}", number + 1
    return found


def _model(argument: Expression, place: Place) -> tuple[Columns, Columns]:
    match argument:
        case Call(name="MODEL", arguments=(Name() as name,)):
            return place.world.model(name)
        case _:
            raise SchemaError(
                "expected a model",
                code="wrong-argument-type",
                hint="write MODEL name",
                span=argument.span,
            )


CHANGELOG = ("input", "op", "op_mapping", "on_time", "uid")
FUNCTIONS = {
    "TO_CHANGELOG":   ProcessTable(CHANGELOG, 1, to_changelog),
    "FROM_CHANGELOG": ProcessTable(CHANGELOG, 1, from_changelog),
    "ML_PREDICT":     ProcessTable(("INPUT", "MODEL", "ARGS", "CONFIG", "uid"), 3, ml_predict),
}  # fmt: skip
