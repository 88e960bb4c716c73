r"""Queries printed as Flink prints them, for the texts that views keep.

Law: ``parse_query(print_query(query))`` prints the same again.
"""

from __future__ import annotations

from typing import assert_never

from schema_core.sql.call_printer import print_sort_keys, print_window
from schema_core.sql.identifiers import print_path
from schema_core.sql.printer import print_expression
from schema_core.sql.query_syntax import (
    Aliased,
    CommonTable,
    Derived,
    ExplicitTable,
    GroupingSets,
    GroupItem,
    Hint,
    Join,
    JoinKind,
    MatchRecognize,
    Measure,
    Ordered,
    Query,
    Sample,
    Select,
    SelectItem,
    SetOperation,
    Source,
    TableArgument,
    TableFunction,
    TableName,
    Unnest,
    Values,
    With,
)
from schema_core.sql.syntax import Call, Expression, Literal, Subquery, Symbol
from schema_core.text import quote_identifier, quote_string

#: Set operators and how tightly they bind.
POWERS = {"UNION": 1, "EXCEPT": 1, "INTERSECT": 2}


def print_query(query: Query) -> str:
    r"""The query in Flink's form: a line for each clause, every name in back-ticks.

    >>> from schema_core.sql.query import parse_query
    >>> print(
    ...     print_query(parse_query("select a, count(*) c from t where b > 1 group by a limit 3"))
    ... )
    SELECT `a`, COUNT(*) AS `c`
    FROM `t`
    WHERE `b` > 1
    GROUP BY `a`
    FETCH NEXT 3 ROWS ONLY
    """
    match query:
        case Select():
            return _select(query)
        case Values(rows=rows):
            return "VALUES " + ",\n".join(f"ROW({_list(row)})" for row in rows)
        case ExplicitTable(name=name):
            return f"TABLE {print_path(name.parts)}"
        case TableArgument():
            return _table_argument(query)
        case SetOperation():
            return _set_operation(query)
        case With():
            tables = ", ".join(map(_common_table, query.tables))
            word = "WITH RECURSIVE" if query.recursive else "WITH"
            return f"{word} {tables} {_operand(query.query, Ordered, With)}"
        case Ordered():
            return _ordered(query)
        case _:
            assert_never(query)


def _list(expressions: tuple[Expression, ...]) -> str:
    return ", ".join(map(_expression, expressions))


def _expression(expression: Expression) -> str:
    """An expression; a query in its place stands in parentheses."""
    text = print_expression(expression)
    return f"({text})" if isinstance(expression, Subquery) else text


def _names(names: tuple[str, ...]) -> str:
    return f" ({', '.join(map(quote_identifier, names))})" if names else ""


def _operand(query: Query, *bracketed: type[Query]) -> str:
    """A query within another, in parentheses if it is of one of these kinds."""
    text = print_query(query)
    return f"({text})" if isinstance(query, bracketed) else text


# ------------------------------------------------------------------------------------- queries


def _select(query: Select) -> str:
    start = "SELECT " if not query.hints else f"SELECT\n{_hints(query.hints)}\n"
    distinct = "DISTINCT " if query.distinct else ""
    lines = [start + distinct + ", ".join(map(_item, query.items))]
    if query.source is not None:
        lines.append(f"FROM {print_source(query.source)}")
    if query.where is not None:
        lines.append(f"WHERE {_expression(query.where)}")
    if query.group_by is not None:
        lines.append(f"GROUP BY {', '.join(map(_group_item, query.group_by))}")
    if query.having is not None:
        lines.append(f"HAVING {_expression(query.having)}")
    if query.windows:
        windows = [
            f"{quote_identifier(name)} AS {print_window(one)}" for name, one in query.windows
        ]
        lines.append("WINDOW " + ",\n".join(windows))
    if query.qualify is not None:
        lines.append(f"QUALIFY {_expression(query.qualify)}")
    return "\n".join(lines)


def _item(item: SelectItem) -> str:
    text = _expression(item.expression)
    return text if item.alias is None else f"{text} AS {quote_identifier(item.alias)}"


def _group_item(item: GroupItem) -> str:
    if not isinstance(item, GroupingSets):
        return _expression(item)
    if item.kind == "()":
        return "()"
    sets = [_group_item(one) if isinstance(one, GroupingSets) else _row(one) for one in item.sets]
    return f"{item.kind}({', '.join(sets)})"


def _row(keys: tuple[Expression, ...]) -> str:
    """One key as it is, any other number of them in parentheses."""
    return _expression(keys[0]) if len(keys) == 1 else f"({_list(keys)})"


def _set_operation(query: SetOperation) -> str:
    """Operands in parentheses where the order of operations asks for them."""
    chain = [query]
    while isinstance(chain[-1].left, SetOperation) and _holds(chain[-1], chain[-1].left):
        chain.append(chain[-1].left)
    text = _operand(chain[-1].left, Ordered, With, SetOperation)
    for one in reversed(chain):
        tight = isinstance(one.right, SetOperation) and (
            POWERS[one.right.operator] > POWERS[one.operator]
        )
        right = (
            print_query(one.right) if tight else _operand(one.right, Ordered, With, SetOperation)
        )
        text += f"\n{one.operator}{' ALL' if one.all else ''}\n{right}"
    return text


def _holds(outer: SetOperation, left: SetOperation) -> bool:
    """Whether the operand on the left needs no parentheses."""
    return POWERS[left.operator] >= POWERS[outer.operator]


def _common_table(table: CommonTable) -> str:
    name = quote_identifier(table.name)
    return f"{name}{_names(table.columns)} AS ({print_query(table.query)})"


def _ordered(query: Ordered) -> str:
    lines = [_operand(query.query, Ordered)]
    if query.order_by:
        lines.append(f"ORDER BY {print_sort_keys(query.order_by)}")
    if query.offset is not None:
        lines.append(f"OFFSET {_expression(query.offset)} ROWS")
    if query.fetch is not None:
        lines.append(f"FETCH NEXT {_expression(query.fetch)} ROWS ONLY")
    return "\n".join(lines)


def _table_argument(query: TableArgument) -> str:
    text = _operand(query.query, Select, Values, SetOperation, With, Ordered)
    if query.partition_by:
        keys = _list(query.partition_by)
        text += (
            f" PARTITION BY {keys}" if len(query.partition_by) == 1 else f" PARTITION BY ({keys})"
        )
    if query.order_by:
        keys = print_sort_keys(query.order_by)
        text += f" ORDER BY {keys}" if len(query.order_by) == 1 else f" ORDER BY ({keys})"
    return text


# ------------------------------------------------------------------------------------- sources


def print_source(source: Source) -> str:
    """What stands behind FROM."""
    match source:
        case TableName(name=name, hints=hints, period=period):
            return print_path(name.parts) + _behind_table(hints, period)
        case Derived(query=query, lateral=lateral):
            return f"{'LATERAL ' if lateral else ''}({print_query(query)})"
        case TableFunction(call=call, lateral=lateral, hints=hints, period=period):
            text = f"{'LATERAL ' if lateral else ''}TABLE({_expression(call)})"
            return text + _behind_table(hints, period)
        case Unnest(collections=collections, ordinality=ordinality, lateral=lateral):
            word = "LATERAL UNNEST" if lateral else "UNNEST"
            return f"{word}({_list(collections)}){' WITH ORDINALITY' if ordinality else ''}"
        case Aliased(source=inner, name=name, columns=columns):
            return f"{print_source(inner)} AS {quote_identifier(name)}{_names(columns)}"
        case Sample():
            return _sample(source)
        case Join():
            return _join(source)
        case MatchRecognize():
            return _match_recognize(source)
        case _:
            assert_never(source)


def _behind_table(hints: tuple[Hint, ...], period: Expression | None) -> str:
    text = f"\n{_hints(hints)}" if hints else ""
    if period is not None:
        text += f" FOR SYSTEM_TIME AS OF {_expression(period)}"
    return text


def _hints(hints: tuple[Hint, ...]) -> str:
    return f"/*+ {', '.join(map(_hint, hints))} */"


def _hint(hint: Hint) -> str:
    options = [f"{quote_string(key)} = {quote_string(value)}" for key, value in hint.options]
    inner = ", ".join([*options, *map(_expression, hint.arguments)])
    return f"{quote_identifier(hint.name)}({inner})" if inner else quote_identifier(hint.name)


def _sample(sample: Sample) -> str:
    """A sample; its percentage always shows a fraction."""
    percentage = _expression(sample.percentage)
    if isinstance(sample.percentage, Literal) and percentage.isdigit():
        percentage += ".0"
    text = f"{print_source(sample.source)} TABLESAMPLE {sample.method}({percentage})"
    return text if sample.seed is None else f"{text} REPEATABLE({_expression(sample.seed)})"


def _join(join: Join, gap: str = "\n") -> str:
    """Joins one below the other, or with another gap between them."""
    chain = [join]
    while isinstance(chain[-1].left, Join):
        chain.append(chain[-1].left)
    text = print_source(chain[-1].left)
    return text + "".join(_joined(one, gap) for one in reversed(chain))


def _joined(join: Join, gap: str) -> str:
    """What stands behind the left side of a join."""
    if join.kind is JoinKind.COMMA:
        return f",{gap}{_right(join.right, gap, is_loose=True)}"
    right = _right(join.right, gap, is_loose=False)
    text = f"{gap}{'NATURAL ' if join.natural else ''}{join.kind.value} {right}"
    if join.condition is not None:
        return f"{text} ON {_expression(join.condition)}"
    if join.using:
        return f"{text} USING ({', '.join(print_path(name.parts) for name in join.using)})"
    return text


def _right(source: Source, gap: str, *, is_loose: bool) -> str:
    """A right side; a join stands in parentheses, in one line, unless a comma is before it."""
    if not isinstance(source, Join):
        return print_source(source)
    if is_loose and source.kind is not JoinKind.COMMA:
        return _join(source, gap)
    return f"({_join(source, ' ')})"


# ---------------------------------------------------------------------------- MATCH_RECOGNIZE


def _match_recognize(match: MatchRecognize) -> str:
    lines = [f"{print_source(match.source)} MATCH_RECOGNIZE("]
    if match.partition_by:
        lines.append(f"PARTITION BY {_list(match.partition_by)}")
    if match.order_by:
        lines.append(f"ORDER BY {print_sort_keys(match.order_by)}")
    if match.measures:
        lines.append(f"MEASURES {', '.join(map(_measure, match.measures))}")
    if match.rows_per_match is not None:
        lines.append(match.rows_per_match)
    if match.after_match:
        lines.append(f"AFTER MATCH {_after_match(match.after_match)}")
    pattern = "" if match.pattern is None else _pattern(match.pattern)
    edges = f"{'^ ' if match.starts else ''}{pattern}{' $' if match.ends else ''}"
    within = "" if match.within is None else f" WITHIN {_expression(match.within)}"
    lines.append(f"PATTERN ({edges}){within}")
    if match.subsets:
        lines.append(f"SUBSET {', '.join(map(_subset, match.subsets))}")
    lines.append(f"DEFINE {', '.join(map(_define, match.defines))})")
    return "\n".join(lines)


def _measure(measure: Measure) -> str:
    return f"{_expression(measure.expression)} AS {quote_identifier(measure.name)}"


def _define(measure: Measure) -> str:
    return f"{quote_identifier(measure.name)} AS {_expression(measure.expression)}"


def _subset(subset: tuple[str, tuple[str, ...]]) -> str:
    name, members = subset
    return f"{quote_identifier(name)} = ({', '.join(map(quote_identifier, members))})"


def _after_match(words: tuple[str, ...]) -> str:
    """Where to go on; the name of a symbol is the last of three or four words behind TO."""
    if words[1] == "TO" and words[-1] != "ROW":
        return " ".join((*words[:-1], quote_identifier(words[-1])))
    return " ".join(words)


def _pattern(pattern: Expression) -> str:
    match pattern:
        case Call(name=",", arguments=parts):
            return " ".join(map(_grouped, parts))
        case Call(name="|", arguments=parts):
            return " | ".join(map(_pattern, parts))
        case Call(name="PERMUTE", arguments=arguments):
            return f"PERMUTE ({', '.join(map(_pattern, arguments))})"
        case Call(name="{- -}", arguments=(inner,)):
            return f"{{- {_pattern(inner)} -}}"
        case Call(name="{}", arguments=(part, Literal(text=least), Literal(text=most), greed)):
            lazy = " ?" if greed == Symbol("RELUCTANT") else ""
            return f"{_grouped(part)} {_repeated(least, most)}{lazy}"
        case _:
            return _expression(pattern)


def _grouped(pattern: Expression) -> str:
    """A part of a pattern, in parentheses where it is made of several."""
    text = _pattern(pattern)
    is_several = isinstance(pattern, Call) and pattern.name in (",", "|")
    return f"({text})" if is_several else text


def _repeated(least: str, most: str) -> str:
    signs = {("0", ""): "*", ("1", ""): "+", ("0", "1"): "?"}
    if (least, most) in signs:
        return signs[least, most]
    if least == most:
        return f"{{ {least} }}"
    return f"{{ {least}, {most} }}" if most else f"{{ {least}, }}"
