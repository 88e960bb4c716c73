"""Regular expressions, run by Java's engine in Flink and Spark, and splitting by them.

An invalid pattern is NULL in Flink and fails a job in Spark, so it is validated first; a constant
one while compiling.
"""

from __future__ import annotations

from collections.abc import Callable

from schema_core.base.lazy import dataclass
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions.strings import (
    escaped_replacement,
    literal_pattern,
    require_escape,
)
from schema_core.spark.compiler.template import inline, sql
from schema_core.spark.compiler.translation import (
    Translate,
    TranslatedCall,
    TranslationRule,
    call_udf,
    rewrite_rule,
    udf,
)
from schema_core.spark.compiler.tree import Node
from schema_core.spark.compiler.udfs import UdfError
from schema_core.spark.compiler.udfs.java_patterns import (
    group_count,
    has_optional_groups,
    may_skip_group,
    similar_pattern,
)


@dataclass(frozen=True, slots=True)
class PatternCall:
    """A string, a valid pattern with its number of `groups`, and further arguments.

    `known` is the pattern if it is constant.
    """

    text: Node
    pattern: Node
    groups: Node
    known: str | None
    others: tuple[Node, ...] = ()

    def or_if_empty(self, empty: Node, result: Node) -> Node:
        """Return the result, or another for the empty pattern."""
        if self.known is not None:
            return result if self.known else empty
        return inline("if({p} = '', {empty}, {r})", p=self.pattern, empty=empty, r=result)

    @property
    def text_is_null(self) -> Node:
        return nodes.is_null(self.text)


def where_valid(
    build: Callable[[PatternCall], Node], otherwise: nodes.Literal = nodes.NULL
) -> Translate:
    """Return the translation of a call with a pattern; `otherwise` is its result if invalid."""

    def translate(called: TranslatedCall) -> Node:
        invalid = called.cast(otherwise)
        text, pattern, *others = called.arguments
        constant = nodes.string_of(pattern)
        if constant is not None:
            count = group_count(constant)
            if count < 0:
                return nodes.null_or(nodes.is_null(text), invalid)
            groups = nodes.node_of(count)
            return nodes.let(
                text, lambda v: build(PatternCall(v, pattern, groups, constant, (*others,)))
            )

        def body(text: Node, pattern: Node, groups: Node, *others: Node) -> Node:
            result = build(PatternCall(text, pattern, groups, None, others))
            checked = inline("if({n} < 0, {no}, {yes})", n=groups, no=invalid, yes=result)
            return nodes.null_or(nodes.any_null(text, pattern), checked)

        return nodes.let_all([text, pattern, call_udf("group_count", pattern), *others], body)

    return translate


def matches(match: PatternCall) -> Node:
    """REGEXP: whether a part of the string matches; the empty pattern matches no string."""
    return match.or_if_empty(
        nodes.null_or(match.text_is_null, nodes.FALSE),
        nodes.call("rlike", match.text, match.pattern),
    )


def compile_regexp_extract(called: TranslatedCall) -> Node:
    """REGEXP_EXTRACT(text, pattern [, group]): NULL without a match, or without that group."""
    text, pattern, *groups = called.arguments
    group = groups[0] if groups else nodes.node_of(0)
    known, number = nodes.string_of(pattern), nodes.integer_of(group)
    if (
        known is not None
        and number is not None
        and number >= 0
        and not may_skip_group(known, number)
    ):
        return _EXTRACTED(called)
    return call_udf("extract_group", text, pattern, nodes.Cast(group, "INT"))


def _extract_group(match: PatternCall) -> Node:
    """Return a group that exists wherever the pattern matches."""
    group = nodes.integer_of(match.others[0]) if match.others else 0
    if (group or 0) > (nodes.integer_of(match.groups) or 0):
        return nodes.Cast(nodes.NULL, "STRING")
    return nodes.let(
        nodes.call("regexp_extract", match.text, match.pattern, group),
        lambda group_text: inline(
            "if({group_text} <> '', {group_text}, if(rlike({s}, {p}), '', NULL))",
            group_text=group_text,
            s=match.text,
            p=match.pattern,
        ),
    )


_EXTRACTED = where_valid(_extract_group)


def every(match: PatternCall) -> Node:
    """REGEXP_EXTRACT_ALL(text, pattern [, group]): the first group of every match.

    Python extracts groups that a match may lack: NULL in Flink, empty strings in Spark.
    """
    group = match.others[0] if match.others else nodes.node_of(1)
    compile_regexp_extract = sql(
        "if({group} BETWEEN 0 AND {groups}, regexp_extract_all({s}, {p}, {group}), NULL)",
        group=group,
        groups=match.groups,
        s=match.text,
        p=match.pattern,
    )
    number = nodes.integer_of(group)
    if match.known is not None and (
        not has_optional_groups(match.known)
        if number is None
        else not may_skip_group(match.known, number)
    ):
        return compile_regexp_extract
    arguments = (match.text, match.pattern, nodes.Cast(group, "INT"))
    return nodes.call(
        "coalesce", call_udf("extract_optional_groups", *arguments), compile_regexp_extract
    )


def compile_regexp_replace(match: PatternCall) -> Node:
    """REGEXP_REPLACE; the replacement is literal, without references to groups."""
    new = escaped_replacement(match.others[0])
    return nodes.call("regexp_replace", match.text, match.pattern, new)


def compile_regexp_count(match: PatternCall) -> Node:
    """REGEXP_COUNT: the number of matches."""
    return nodes.call("regexp_count", match.text, match.pattern)


def first(match: PatternCall) -> Node:
    """REGEXP_SUBSTR: the first part that matches, or NULL."""
    return match.or_if_empty(
        nodes.null_or(match.text_is_null, nodes.node_of("")),
        nodes.call("regexp_substr", match.text, match.pattern),
    )


def position(match: PatternCall) -> Node:
    """REGEXP_INSTR: where the first match begins, in UTF-16 units from 1; or 0."""
    start = sql(
        "if({n} > 0, CAST(length(encode(left({s}, {n} - 1), 'UTF-16BE')) DIV 2 AS INT) + 1, {n})",
        n=nodes.call("regexp_instr", match.text, match.pattern),
        s=match.text,
    )
    return match.or_if_empty(nodes.null_or(match.text_is_null, nodes.node_of(1)), start)


def split(called: TranslatedCall) -> Node:
    """SPLIT at a literal string; into UTF-16 units at an empty one."""

    def body(text: Node, mark: Node, units: Node) -> Node:
        return inline(
            "if({s} IS NULL OR {m} IS NULL, NULL, if({s} = '', slice(array(''), 1, 0),"
            " if({m} = '', {units}, split({s}, {pattern}, -1))))",
            s=text,
            m=mark,
            units=units,
            pattern=literal_pattern(mark),
        )

    if nodes.string_of(called[1]):
        return nodes.let(called[0], lambda v: body(v, called[1], nodes.call("array", "")))
    return nodes.let_all([called[0], called[1], call_udf("split_units", called[0])], body)


def to_map(called: TranslatedCall) -> Node:
    """STR_TO_MAP(text [, pair separator, key-value separator]), both patterns.

    Trailing empty parts are dropped.
    """
    pairs = called[1] if len(called.arguments) > 1 else nodes.node_of(",")
    sides = called[2] if len(called.arguments) > 2 else nodes.node_of("=")
    return sql(
        "CASE WHEN {sides} IS NULL THEN NULL"
        " WHEN {s} = '' THEN map_filter(map('', ''), (k, v) -> FALSE)"
        " ELSE map_from_entries({entries}) END",
        sides=sides,
        s=called[0],
        entries=sql(
            "transform(slice({parts}, 1, array_max(transform({parts},"
            " (x, i) -> if(x = '', 0, i + 1)))), {entry})",
            parts=nodes.call("split", called[0], pairs, -1),
            entry=nodes.function(
                lambda pair: inline(
                    "named_struct('key', {sided}[0], 'value', get({sided}, 1))",
                    sided=nodes.call("split", pair, sides, 2),
                )
            ),
        ),
    )


def similar(*, negated: bool) -> TranslationRule:
    """SIMILAR TO: the entire string must match the pattern, which Flink rewrites for Java."""

    def translate(called: TranslatedCall) -> Node:
        escape = called[2] if len(called.arguments) > 2 else nodes.node_of("")
        constants = nodes.string_of(called[1]), nodes.string_of(escape)
        if len(called.arguments) > 2 and constants[1] is not None:
            require_escape(constants[1])
        pattern: Node
        if None in constants:
            pattern = call_udf("similar_pattern", called[1], escape)
        else:
            try:
                pattern = nodes.node_of(similar_pattern(*constants))
            except UdfError as failure:
                raise nodes.unsupported_error(str(failure)) from None
        shape = sql("concat({start}, {p}, {end})", start=r"\A(?:", p=pattern, end=r")\z")
        if (text := nodes.string_of(pattern)) is not None:
            shape = nodes.node_of(rf"\A(?:{text})\z")
        is_match = nodes.call("rlike", called[0], shape)
        return nodes.negate(is_match) if negated else is_match

    return udf(translate)


RULES: dict[str, TranslationRule] = {
    "REGEXP": udf(where_valid(matches, nodes.FALSE)),
    "REGEXP_EXTRACT": udf(compile_regexp_extract),
    "REGEXP_EXTRACT_ALL": udf(where_valid(every)),
    "REGEXP_REPLACE": udf(where_valid(compile_regexp_replace)),
    "REGEXP_COUNT": udf(where_valid(compile_regexp_count)),
    "REGEXP_SUBSTR": udf(where_valid(first)),
    "REGEXP_INSTR": udf(where_valid(position)),
    "SPLIT": udf(split),
    "STR_TO_MAP": rewrite_rule(to_map),
    "SIMILAR TO": similar(negated=False),
    "NOT SIMILAR TO": similar(negated=True),
}
