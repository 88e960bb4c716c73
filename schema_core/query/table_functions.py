"""Window functions and Flink's process table functions.

Flink documentation, "Windowing table-valued functions", "Process Table Functions" and "Model
Inference"; FLIP-437 for ML_PREDICT.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain as chain_iterators
from itertools import count
from typing import TypeAlias, cast

from schema_core import types
from schema_core.base.lazy import NamedTuple, regex
from schema_core.errors import SchemaError, choose_from, similar
from schema_core.errors.hints import RENAME_INPUT
from schema_core.expressions.typed import Ref, Typed
from schema_core.query import relation as relational
from schema_core.query.relation import Column, Columns, Relation
from schema_core.query.scope import ScopeChain, SelectScope, SourceBinding, value
from schema_core.schema.rules import duplicate_names
from schema_core.sql import syntax
from schema_core.sql.printer import show_expression
from schema_core.types.casts import supports_implicit_cast

#: Hints of several errors.
WRITE_DESCRIPTOR = "write DESCRIPTOR(column)"

#: Arguments of a call by parameter.
Arguments: TypeAlias = Mapping[str, syntax.Expression]

#: Returns the relation of a table argument, and its keys of PARTITION BY.
ResolveTable: TypeAlias = Callable[
    [syntax.Expression, ScopeChain], tuple[Relation, tuple[syntax.Expression, ...]]
]


class WindowFunction(NamedTuple):
    """The parameters of a window function; the first `required` are mandatory."""

    parameters: tuple[str, ...]
    required: int


WINDOWS = {
    "TUMBLE":   WindowFunction(("DATA", "TIMECOL", "SIZE", "OFFSET"), 3),
    "HOP":      WindowFunction(("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"), 4),
    "CUMULATE": WindowFunction(("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"), 4),
    "SESSION":  WindowFunction(("DATA", "TIMECOL", "GAP"), 3),
}  # fmt: skip


# ------------------------------------------------------------------------------------- windows


def window_table(
    name: str,
    call: syntax.Call,
    arguments: Arguments,
    data: Relation,
    keys: Sequence[syntax.Expression],
    chain: ScopeChain,
) -> relational.WindowTable:
    """Resolve a window function over its table argument, partitioned by `keys`.

    Raises:
        SchemaError: `invalid-function-call` or `unknown-column`.
    """
    if keys and name != "SESSION":
        raise SchemaError(
            f"{name} does not accept PARTITION BY",
            code="invalid-function-call",
            hint="remove PARTITION BY",
            span=call.span,
        )
    match arguments["DATA"]:
        case syntax.Subquery(query=syntax.TableArgument(order_by=order)) if order:
            raise SchemaError(
                f"{name} does not accept ORDER BY",
                code="invalid-function-call",
                hint="remove ORDER BY",
                span=call.span,
            )
    scope = SelectScope(chain, (SourceBinding("", data.columns),))
    time, time_type = _time_column(arguments["TIMECOL"], scope)
    partition = tuple(column_of(key, scope) for key in keys)
    sizes = tuple(
        _interval(arguments[parameter], scope)
        for parameter in WINDOWS[name].parameters[2:]
        if parameter in arguments
    )
    # the time of a window is a time attribute if the time column is one
    bound, kind = types.TimestampType(3, nullable=False), time_type.kind
    columns = (
        *data.columns,
        Column("window_start", bound),
        Column("window_end", bound),
        Column("window_time", type(time_type)(time_type.precision, nullable=False, kind=kind)),
    )
    return relational.WindowTable(name, data, time, sizes, partition, columns)


def window_arguments(name: str, call: syntax.Call) -> Arguments:
    """Return the arguments by parameter, all by position or all by name, the table first.

    Raises:
        SchemaError: `invalid-function-call`.
    """
    function = WINDOWS[name]
    named = [argument for argument in call.arguments if isinstance(argument, syntax.Named)]
    if named and (len(named) < len(call.arguments) or named[0].name != "DATA"):
        raise SchemaError(
            "arguments must be given all by name or all by position",
            code="invalid-function-call",
            hint="name the table argument DATA, and put it first",
            span=call.span,
        )
    arguments = dict(zip(function.parameters, call.arguments, strict=False))
    if named:
        arguments = {argument.name: argument.value for argument in named}
    is_missing = not arguments.keys() >= set(function.parameters[: function.required])
    if is_missing or (not named and len(call.arguments) > len(function.parameters)):
        problem = f"expected arguments {', '.join(function.parameters)}"
        raise SchemaError(problem, code="invalid-function-call", span=call.span)
    return arguments


def _time_column(
    argument: syntax.Expression, scope: SelectScope
) -> tuple[Ref, types.TimestampType | types.LocalZonedTimestampType]:
    """Return the column of a DESCRIPTOR, and its type."""
    match argument:
        case syntax.Call(name="DESCRIPTOR", arguments=(syntax.Name() as name, *_)):
            column = column_of(name, scope)
        case _:
            raise SchemaError(
                f"expected the time column, found {show_expression(argument)}",
                code="invalid-function-call",
                hint=WRITE_DESCRIPTOR,
                span=argument.span,
            )
    if not isinstance(column.type, types.TimestampType | types.LocalZonedTimestampType):
        raise SchemaError(
            f"{column.name!r} is not a time column: {column.type.as_summary_string()}",
            code="invalid-function-call",
            hint="use a TIMESTAMP or TIMESTAMP_LTZ column",
            span=argument.span,
        )
    return column, column.type


def _interval(argument: syntax.Expression, scope: SelectScope) -> Typed:
    typed = value(scope, argument)
    if not isinstance(typed.type, types.DayTimeIntervalType | types.YearMonthIntervalType):
        raise SchemaError(
            f"expected an interval, got {typed.type.as_summary_string()}",
            code="invalid-function-call",
            hint="write INTERVAL '10' MINUTES",
            span=argument.span,
        )
    return typed


# --- arguments ------------------------------------------------------------------------------------


def process_arguments(name: str, call: syntax.Call) -> Arguments:
    """Return the arguments by parameter, without DEFAULT and NULL.

    These functions process single rows: the table has no PARTITION BY or ORDER BY.

    Raises:
        SchemaError: `invalid-function-call`.
    """
    parameters, required, _, options = FUNCTIONS[name]
    arguments = bind_arguments(call, parameters, parameters[:required], options)
    require_rows(name, arguments[parameters[0]])
    return arguments


def bind_arguments(
    call: syntax.Call,
    parameters: Sequence[str],
    required: Collection[str],
    options: Sequence[str] = (),
) -> Arguments:
    """Return the arguments of a call by parameter, without DEFAULT and NULL.

    Arguments can be given to `options` only by name.

    Raises:
        SchemaError: `invalid-function-call`.
    """
    pairs = [
        (argument.name, argument.value)
        for argument in call.arguments
        if isinstance(argument, syntax.Named)
    ]
    if pairs and len(pairs) < len(call.arguments):
        raise SchemaError(
            "arguments must be given all by name or all by position",
            code="invalid-function-call",
            span=call.span,
        )
    for parameter, argument in pairs:
        if parameter not in (*parameters, *options):
            expected = f"expected arguments {', '.join((*parameters, *options))}"
            raise SchemaError(
                f"unknown parameter {parameter!r}",
                code="invalid-function-call",
                hint=similar(parameter, (*parameters, *options)) or expected,
                span=argument.span,
            )
    by_parameter = dict(pairs) if pairs else dict(zip(parameters, call.arguments, strict=False))
    arguments: dict[str, syntax.Expression] = {}
    for parameter, argument in by_parameter.items():
        match argument:
            case syntax.Call(name="DEFAULT") | syntax.Literal(kind=syntax.LiteralKind.NULL):
                continue
            case _:
                arguments[parameter] = argument
    is_missing = not arguments.keys() >= set(required)
    most = len(parameters) + (len(options) if pairs else 0)
    if is_missing or len(call.arguments) > most or len(by_parameter) < len(pairs):
        problem = f"expected arguments {', '.join(parameters)}"
        raise SchemaError(problem, code="invalid-function-call", span=call.span)
    return arguments


def require_rows(name: str, table: syntax.Expression) -> None:
    """Require a table without PARTITION BY or ORDER BY (`invalid-function-call`)."""
    match table:
        case syntax.Subquery(query=syntax.TableArgument(partition_by=keys, order_by=order)) if (
            keys or order
        ):
            clause = "PARTITION BY" if keys else "ORDER BY"
            problem = f"{name} does not accept {clause}: it processes single rows"
            raise SchemaError(problem, code="invalid-function-call", span=table.span)


def column_of(key: syntax.Expression, scope: SelectScope) -> Ref:
    """Return a column of the input, without a qualifier.

    Raises:
        SchemaError: `invalid-function-call` or `unknown-column`.
    """
    if not isinstance(key, syntax.Name):
        problem = f"expected a column, found {show_expression(key)}"
        raise SchemaError(problem, code="invalid-function-call", span=key.span)
    ref, fields = scope.lookup(key.parts, key.span)
    if fields:
        problem = f"expected a column, not a field, found {show_expression(key)}"
        raise SchemaError(problem, code="invalid-function-call", span=key.span)
    return Ref(ref.name, ref.type, None, key.span)


def descriptor_names(argument: syntax.Expression) -> tuple[syntax.Name, ...]:
    """Return the names in a DESCRIPTOR (`invalid-function-call` for anything else)."""
    match argument:
        case syntax.Call(name="DESCRIPTOR", arguments=names) if all(
            isinstance(name, syntax.Name) and len(name.parts) == 1 for name in names
        ):
            return tuple(name for name in names if isinstance(name, syntax.Name))
        case _:
            raise SchemaError(
                f"expected a DESCRIPTOR of columns, found {show_expression(argument)}",
                code="invalid-function-call",
                hint=WRITE_DESCRIPTOR,
                span=argument.span,
            )


# --- process table functions ----------------------------------------------------------------------


#: Returns the columns of a result for the arguments and the columns of the input.
ColumnsRule: TypeAlias = Callable[[Arguments, Columns, ScopeChain], Columns]


class ProcessFunction(NamedTuple):
    """The parameters, the first `required` of them mandatory, and the rule for the columns.

    Arguments can be given to `options` only by name.
    """

    parameters: tuple[str, ...]
    required: int
    columns: ColumnsRule
    options: tuple[str, ...] = ()


def process_table(
    name: str, call: syntax.Call, arguments: Arguments, data: Relation, chain: ScopeChain
) -> relational.ProcessTable:
    """Resolve a process table function over its table argument.

    Raises:
        SchemaError: `invalid-function-call`, `duplicate-column` or `unknown-column`.
    """
    columns = FUNCTIONS[name].columns(arguments, data.columns, chain)
    if twice := duplicate_names(column.name for column in columns):
        raise SchemaError(
            f"duplicate column {twice[0]!r} in the result",
            code="duplicate-column",
            hint=RENAME_INPUT,
            span=call.span,
        )
    model = _model_call(arguments, data.columns, chain) if "MODEL" in arguments else None
    return relational.ProcessTable(name, data, call, columns, model=model)


# --- changes -------------------------------------------------------------------------------------

#: Kinds of changes in a mapping of operations.
CHANGES = ("INSERT", "UPDATE_BEFORE", "UPDATE_AFTER", "DELETE")

#: Identifiers of an operator's state.
UID = regex(r"[a-zA-Z_][a-zA-Z\-_0-9]*", re.ASCII)


def to_changelog(arguments: Arguments, columns: Columns, chain: ScopeChain) -> Columns:
    """Return the kind of change, the columns of the input, and the event time."""
    changes = [change for key in string_map(arguments.get("op_mapping")) for change in _parts(key)]
    _check_changes(changes, arguments)
    check_uid(arguments.get("uid"))
    match arguments.get(FULL_DELETES):
        case None | syntax.Literal(kind=syntax.LiteralKind.BOOLEAN, text="TRUE"):
            pass
        case argument:
            raise SchemaError(
                f"{FULL_DELETES} must be TRUE, got {show_expression(argument)}",
                code="invalid-function-call",
                hint="deletes with keys only require PARTITION BY, which Flink 2.3 does not accept",
                span=argument.span,
            )
    return (
        Column(operation_column(arguments), types.DataTypes.STRING()),
        *columns,
        *_time(arguments, columns, chain),
    )


def from_changelog(arguments: Arguments, columns: Columns, chain: ScopeChain) -> Columns:
    """Return the columns of the input without the kind of change."""
    name = operation_column(arguments)
    column = next((column for column in columns if column.name == name), None)
    if column is None:
        raise SchemaError(
            f"no column {name!r} for the kind of change",
            code="unknown-column",
            hint=similar(name, [column.name for column in columns])
            or "name the column: op => DESCRIPTOR(...)",
            span=arguments["op"].span if "op" in arguments else arguments["input"].span,
        )
    if not column.type.is_(types.TypeFamily.CHARACTER_STRING):
        raise SchemaError(
            f"column {name!r} for the kind of change must be a character string, got"
            f" {column.type.as_summary_string()}",
            code="invalid-function-call",
            span=arguments["input"].span,
        )
    changes = list(string_map(arguments.get("op_mapping")).values())
    _check_changes(changes, arguments)
    if "UPDATE_AFTER" in changes and "UPDATE_BEFORE" not in changes:
        raise SchemaError(
            "a mapping to UPDATE_AFTER requires one to UPDATE_BEFORE",
            code="invalid-function-call",
            span=arguments["op_mapping"].span,
        )
    check_uid(arguments.get("uid"))
    skips_invalid_codes(arguments)
    rest = tuple(column for column in columns if column.name != name)
    return (*rest, *_time(arguments, columns, chain))


def operation_codes(arguments: Arguments) -> dict[str, str]:
    """Return the code of each kind of change that TO_CHANGELOG returns; a key may name several."""
    mapping = string_map(arguments.get("op_mapping"))
    if "op_mapping" not in arguments:
        return {change: change for change in CHANGES}
    return {change: code for key, code in mapping.items() for change in _parts(key)}


def change_codes(arguments: Arguments) -> dict[str, str]:
    """Return the kind of change of each code that FROM_CHANGELOG accepts.

    A key may have several codes; `invalid-function-call` if two keys have the same.
    """
    mapping = string_map(arguments.get("op_mapping"))
    if "op_mapping" not in arguments:
        return {change: change for change in CHANGES}
    codes = [code for key in mapping for code in _parts(key)]
    if twice := duplicate_names(codes):
        problem = f"duplicate code {twice[0]!r} in op_mapping"
        span = arguments["op_mapping"].span
        raise SchemaError(problem, code="invalid-function-call", span=span)
    return {code: change for key, change in mapping.items() for code in _parts(key)}


def skips_invalid_codes(arguments: Arguments) -> bool:
    """Return whether FROM_CHANGELOG drops rows without one of the expected codes.

    By default the job fails (FLIP-564: ``invalid_op_handling``).
    """
    match arguments.get(INVALID_CODES):
        case None:
            return False
        case syntax.Literal(kind=syntax.LiteralKind.STRING, text="FAIL" | "SKIP" as text):
            return text == "SKIP"
        case argument:
            raise SchemaError(
                f"{INVALID_CODES} must be 'FAIL' or 'SKIP', got {show_expression(argument)}",
                code="invalid-function-call",
                span=argument.span,
            )


def _parts(key: str) -> list[str]:
    return [part.strip(" ") for part in key.split(",")]


def operation_column(arguments: Arguments) -> str:
    """Return the name of the column with the codes of changes."""
    return single_column(arguments["op"]).parts[0] if "op" in arguments else "op"


def time_column(arguments: Arguments) -> str | None:
    """Return the name of the column that `on_time` names."""
    return single_column(arguments["on_time"]).parts[0] if "on_time" in arguments else None


def single_column(argument: syntax.Expression) -> syntax.Name:
    """Return the only name in a DESCRIPTOR (`invalid-function-call` for several)."""
    names = descriptor_names(argument)
    if len(names) != 1:
        problem = f"expected one column, found {show_expression(argument)}"
        raise SchemaError(problem, code="invalid-function-call", span=argument.span)
    return names[0]


def string_map(argument: syntax.Expression | None) -> dict[str, str]:
    """Return the entries of a MAP constructor over strings (`invalid-function-call` for others)."""
    match argument:
        case None:
            return {}
        case syntax.Call(name="MAP", arguments=entries):
            values = [
                entry.text
                for entry in map(_without_cast, entries)
                if isinstance(entry, syntax.Literal) and entry.kind is syntax.LiteralKind.STRING
            ]
            if len(values) == len(entries) and len(values) % 2 == 0:
                return dict(zip(values[::2], values[1::2], strict=True))
    raise SchemaError("expected a MAP of strings", code="invalid-function-call", span=argument.span)


def _without_cast(entry: syntax.Expression) -> syntax.Expression:
    """Return the value of a cast to STRING."""
    match entry:
        case syntax.Call(name="CAST", arguments=(value, syntax.TypeName(keyword="STRING"))):
            return value
        case _:
            return entry


def _check_changes(changes: list[str], arguments: Arguments) -> None:
    for index, change in enumerate(changes):
        span = arguments["op_mapping"].span
        if change not in CHANGES:
            raise SchemaError(
                f"unknown kind of change {change!r}",
                code="invalid-function-call",
                hint=choose_from(change, CHANGES),
                span=span,
            )
        if change in changes[:index]:
            raise SchemaError(
                f"duplicate mapping of {change}", code="invalid-function-call", span=span
            )


def check_uid(argument: syntax.Expression | None) -> None:
    """Require the identifier of an operator's state, or None (`invalid-function-call`)."""
    match argument:
        case None:
            return
        case syntax.Literal(kind=syntax.LiteralKind.STRING, text=text) if UID.fullmatch(text):
            return
    raise SchemaError(
        "uid must consist of letters, digits, _ and -, and must not begin with a digit or -",
        code="invalid-function-call",
        span=argument.span,
    )


def _time(arguments: Arguments, columns: Columns, chain: ScopeChain) -> Columns:
    """Return the event time, if `on_time` names a column of the input."""
    if "on_time" not in arguments:
        return ()
    name = single_column(arguments["on_time"])
    column = event_time(name, SelectScope(chain, (SourceBinding("", columns),)))
    return (rowtime(column, streaming=chain.context.streaming),)


def event_time(name: syntax.Name, scope: SelectScope) -> Ref:
    """Return the time column that `on_time` names (`invalid-function-call` for another)."""
    column = column_of(name, scope)
    kinds = (types.TimestampType, types.LocalZonedTimestampType)
    if not isinstance(column.type, kinds) or column.type.precision > 3:
        raise SchemaError(
            f"on_time requires a TIMESTAMP(3) or TIMESTAMP_LTZ(3), got"
            f" {column.type.as_summary_string()}",
            code="invalid-function-call",
            span=column.span,
        )
    return column


def rowtime(column: Ref, *, streaming: bool) -> Column:
    """Return the column of the event time in the result."""
    kind = types.TimestampKind.ROWTIME if streaming else types.TimestampKind.REGULAR
    type_ = cast("type[types.TimestampType | types.LocalZonedTimestampType]", type(column.type))
    return Column("rowtime", type_(3, nullable=False, kind=kind))


# --- models --------------------------------------------------------------------------------------


def _model(argument: syntax.Expression, chain: ScopeChain) -> relational.Model:
    match argument:
        case syntax.Call(name="MODEL", arguments=(syntax.Name() as name,)):
            return chain.context.model(name)
        case _:
            raise SchemaError(
                f"expected a model, found {show_expression(argument)}",
                code="invalid-function-call",
                hint="write MODEL name",
                span=argument.span,
            )


def _model_call(arguments: Arguments, columns: Columns, chain: ScopeChain) -> relational.ModelCall:
    """Return the model, the positions of its arguments, and the config of ML_PREDICT."""
    names = [column.name for column in columns]
    places = (names.index(name.parts[0]) for name in descriptor_names(arguments["ARGS"]))
    config = string_map(arguments.get("CONFIG"))
    return relational.ModelCall(_model(arguments["MODEL"], chain), tuple(places), config)


def ml_predict(arguments: Arguments, columns: Columns, chain: ScopeChain) -> Columns:
    """Return the columns of the input and of the model; repeated names get a number as a suffix."""
    inputs, outputs, *_ = _model(arguments["MODEL"], chain)
    scope = SelectScope(chain, (SourceBinding("", columns),))
    read = [column_of(name, scope) for name in descriptor_names(arguments["ARGS"])]
    if len(read) != len(inputs):
        raise SchemaError(
            f"the model has {len(inputs)} input columns, got {len(read)}",
            code="invalid-function-call",
            span=arguments["ARGS"].span,
        )
    for column, wanted in zip(read, inputs, strict=True):
        if not supports_implicit_cast(column.type, wanted.type):
            raise SchemaError(
                f"the model requires {wanted.type.as_summary_string()} as {wanted.name!r}, got"
                f" {column.type.as_summary_string()}",
                code="invalid-function-call",
                span=column.span,
            )
    if "CONFIG" in arguments:
        string_map(arguments["CONFIG"])
    taken = {column.name for column in columns}

    def free(name: str) -> str:
        names = chain_iterators((name,), (f"{name}{number}" for number in count()))
        return next(candidate for candidate in names if candidate not in taken)

    return (*columns, *(Column(free(name), type_) for name, type_ in outputs))


#: What ML_EVALUATE measures.
TASKS = ("regression", "clustering", "classification", "embedding", "text_generation")
_MEASURES = types.MapType(
    types.VarCharType(types.MAX_LENGTH, nullable=False),
    types.DoubleType(nullable=False),
    nullable=False,
)


def ml_evaluate(arguments: Arguments, columns: Columns, chain: ScopeChain) -> Columns:
    """Return the column of the measures of a model with one output, compared with the label."""
    _, outputs, *_ = _model(arguments["MODEL"], chain)
    ml_predict(arguments, columns, chain)
    label = column_of(
        single_column(arguments["LABEL"]), SelectScope(chain, (SourceBinding("", columns),))
    )
    problem, argument = None, arguments["LABEL"]
    if len(outputs) != 1:
        problem = f"the model has {len(outputs)} output columns, expected 1"
        argument = arguments["MODEL"]
    elif not supports_implicit_cast(label.type, outputs[0].type):
        problem = (
            f"the label must be {outputs[0].type.as_summary_string()}, got"
            f" {label.type.as_summary_string()}"
        )
    match arguments["TASK"]:
        case syntax.Literal(kind=syntax.LiteralKind.STRING, text=text) if text in TASKS:
            pass
        case task:
            problem = f"expected a task, {', '.join(map(repr, TASKS))}, got {show_expression(task)}"
            argument = task
    if problem:
        raise SchemaError(problem, code="invalid-function-call", span=argument.span)
    return (Column("result", _MEASURES),)


CHANGELOG = ("input", "op", "op_mapping", "on_time", "uid")
#: Options of FLIP-564, which Flink 2.3 does not read.
INVALID_CODES, FULL_DELETES = "invalid_op_handling", "produces_full_deletes"

EVALUATE = ("INPUT", "MODEL", "LABEL", "ARGS", "TASK", "CONFIG")

FUNCTIONS = {
    "TO_CHANGELOG":   ProcessFunction(CHANGELOG, 1, to_changelog, (FULL_DELETES,)),
    "FROM_CHANGELOG": ProcessFunction(CHANGELOG, 1, from_changelog, (INVALID_CODES,)),
    "ML_PREDICT":     ProcessFunction(("INPUT", "MODEL", "ARGS", "CONFIG", "uid"), 3, ml_predict),
    "ML_EVALUATE":    ProcessFunction(EVALUATE, 5, ml_evaluate),
}  # fmt: skip
