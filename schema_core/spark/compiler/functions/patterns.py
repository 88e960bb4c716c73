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

    text: nodes.Node
    pattern: nodes.Node
    groups: nodes.Node
    known: str | None
    others: tuple[nodes.Node, ...] = ()

    def or_if_empty(self, empty: nodes.Node, result: nodes.Node) -> nodes.Node:
        """Return the result, or another for the empty pattern."""
        if self.known is not None:
            return result if self.known else empty
        return inline("if({p} = '', {empty}, {r})", p=self.pattern, empty=empty, r=result)

    @property
    def text_is_null(self) -> nodes.Node:
        return nodes.is_null(self.text)


def where_valid(
    build: Callable[[PatternCall], nodes.Node], otherwise: nodes.Literal = nodes.NULL
) -> Translate:
    """Return the translation of a call with a pattern; `otherwise` is its result if invalid."""

    def translate(called: TranslatedCall) -> nodes.Node:
        invalid = called.cast(otherwise)
        text, pattern, *others = called.arguments
        known = nodes.string_of(pattern)
        if known is not None:
            count = group_count(known)
            if count < 0:
                return nodes.null_or(nodes.is_null(text), invalid)
            groups = nodes.node_of(count)
            return nodes.let(
                text, lambda v: build(PatternCall(v, pattern, groups, known, (*others,)))
            )

        def body(
            text: nodes.Node, pattern: nodes.Node, groups: nodes.Node, *others: nodes.Node
        ) -> nodes.Node:
            result = build(PatternCall(text, pattern, groups, None, others))
            checked = inline("if({n} < 0, {no}, {yes})", n=groups, no=invalid, yes=result)
            return nodes.null_or(nodes.any_null(text, pattern), checked)

        return nodes.let_all([text, pattern, call_udf("group_count", pattern), *others], body)

    return translate


def matches(given: PatternCall) -> nodes.Node:
    """REGEXP: whether a part of the string matches; the empty pattern matches no string."""
    return given.or_if_empty(
        nodes.null_or(given.text_is_null, nodes.FALSE),
        nodes.call("rlike", given.text, given.pattern),
    )


def compile_regexp_extract(called: TranslatedCall) -> nodes.Node:
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


def _extract_group(given: PatternCall) -> nodes.Node:
    """Return a group that exists wherever the pattern matches."""
    group = nodes.integer_of(given.others[0]) if given.others else 0
    if (group or 0) > (nodes.integer_of(given.groups) or 0):
        return nodes.Cast(nodes.NULL, "STRING")
    return nodes.let(
        nodes.call("regexp_extract", given.text, given.pattern, group),
        lambda found: inline(
            "if({found} <> '', {found}, if(rlike({s}, {p}), '', NULL))",
            found=found,
            s=given.text,
            p=given.pattern,
        ),
    )


_EXTRACTED = where_valid(_extract_group)


def every(given: PatternCall) -> nodes.Node:
    """REGEXP_EXTRACT_ALL(text, pattern [, group]): the first group of every match.

    For a group that a match lacks Spark returns an empty string, and Flink NULL; Python extracts
    these.
    """
    group = given.others[0] if given.others else nodes.node_of(1)
    compile_regexp_extract = sql(
        "if({group} BETWEEN 0 AND {groups}, regexp_extract_all({s}, {p}, {group}), NULL)",
        group=group,
        groups=given.groups,
        s=given.text,
        p=given.pattern,
    )
    number = nodes.integer_of(group)
    if given.known is not None and (
        not has_optional_groups(given.known)
        if number is None
        else not may_skip_group(given.known, number)
    ):
        return compile_regexp_extract
    arguments = (given.text, given.pattern, nodes.Cast(group, "INT"))
    return nodes.call(
        "coalesce", call_udf("extract_optional_groups", *arguments), compile_regexp_extract
    )


def compile_regexp_replace(given: PatternCall) -> nodes.Node:
    """REGEXP_REPLACE; the replacement is literal, without references to groups."""
    new = escaped_replacement(given.others[0])
    return nodes.call("regexp_replace", given.text, given.pattern, new)


def compile_regexp_count(given: PatternCall) -> nodes.Node:
    """REGEXP_COUNT: the number of matches."""
    return nodes.call("regexp_count", given.text, given.pattern)


def first(given: PatternCall) -> nodes.Node:
    """REGEXP_SUBSTR: the first part that matches, or NULL."""
    return given.or_if_empty(
        nodes.null_or(given.text_is_null, nodes.node_of("")),
        nodes.call("regexp_substr", given.text, given.pattern),
    )


def position(given: PatternCall) -> nodes.Node:
    """REGEXP_INSTR: where the first match begins, in UTF-16 units from 1; or 0."""
    found = sql(
        "if({n} > 0, CAST(length(encode(left({s}, {n} - 1), 'UTF-16BE')) DIV 2 AS INT) + 1, {n})",
        n=nodes.call("regexp_instr", given.text, given.pattern),
        s=given.text,
    )
    return given.or_if_empty(nodes.null_or(given.text_is_null, nodes.node_of(1)), found)


def split(called: TranslatedCall) -> nodes.Node:
    """SPLIT at a literal string; into UTF-16 units at an empty one."""

    def body(text: nodes.Node, mark: nodes.Node, units: nodes.Node) -> nodes.Node:
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


def to_map(called: TranslatedCall) -> nodes.Node:
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
            entry=_entry(sides),
        ),
    )


def _entry(sides: nodes.Node) -> nodes.Node:
    return nodes.function(
        lambda item: inline(
            "named_struct('key', {sided}[0], 'value', get({sided}, 1))",
            sided=nodes.call("split", item, sides, 2),
        )
    )


def similar(*, negated: bool) -> TranslationRule:
    """SIMILAR TO: the entire string must match the pattern, which Flink rewrites for Java."""

    def translate(called: TranslatedCall) -> nodes.Node:
        escape = called[2] if len(called.arguments) > 2 else nodes.node_of("")
        constants = nodes.string_of(called[1]), nodes.string_of(escape)
        if len(called.arguments) > 2 and constants[1] is not None:
            require_escape(constants[1])
        pattern: nodes.Node
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
        found = nodes.call("rlike", called[0], shape)
        return nodes.negate(found) if negated else found

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
