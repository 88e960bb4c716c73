"""Regular expressions, which are Java's on both sides, and texts taken apart.

A pattern that cannot be read gives NULL in Flink and ends a job in Spark; so whether Java can read
it is asked first, of a constant at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from schema_core.spark.compiler.sql_builder import (
    ELEMENT,
    KEY,
    VALUE,
    Called,
    Form,
    bind,
    bind_all,
    computed,
    is_literal,
    literal_text,
    null_or,
    sql_type,
    string,
    unsupported,
)
from schema_core.spark.compiler.udfs.java_patterns import group_count, may_miss


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text and a pattern that Java can read, in Spark's words.

    `groups` is how many groups it has, and `known` the pattern itself if it is a constant.
    """

    text: str
    pattern: str
    groups: str
    known: str | None
    others: tuple[str, ...] = ()

    def or_if_empty(self, empty: str, said: str) -> str:
        """What is said, or something else for the empty pattern."""
        if self.known is not None:
            return said if self.known else empty
        return f"if({self.pattern} = '', {empty}, {said})"


def where_readable(
    form: Callable[[Pattern], str], otherwise: str = "NULL"
) -> Callable[[Called], str]:
    """A form of a text and a pattern, with the result for a pattern that Java cannot read.

    Whether it can is found out beforehand, for Spark ends the job at such a pattern.
    """

    def said(called: Called) -> str:
        type_ = sql_type(called.type)
        text, pattern, *others = called.arguments
        if is_literal(pattern):
            known = literal_text(pattern)
            count = group_count(known)
            if count < 0:
                return null_or(f"{text} IS NULL", f"CAST({otherwise} AS {type_})")
            return bind(text, lambda v: form(Pattern(v, pattern, str(count), known, tuple(others))))

        def body(text: str, pattern: str, groups: str, *others: str) -> str:
            fitting = form(Pattern(text, pattern, groups, None, others))
            unknown = f"{text} IS NULL OR {pattern} IS NULL"
            return null_or(unknown, f"if({groups} < 0, CAST({otherwise} AS {type_}), {fitting})")

        return bind_all([text, pattern, computed("group_count", pattern), *others], body)

    return said


def matches(given: Pattern) -> str:
    """REGEXP: whether a part of the text fits; nothing fits the empty pattern."""
    return given.or_if_empty(
        null_or(f"{given.text} IS NULL", "FALSE"), f"rlike({given.text}, {given.pattern})"
    )


def extracted(called: Called) -> str:
    """REGEXP_EXTRACT(text, pattern [, group]): NULL where nothing fits, or no such group is."""
    text, pattern, *groups = called.arguments
    group = groups[0] if groups else "0"
    if is_literal(pattern) and group.isdigit() and not may_miss(literal_text(pattern), int(group)):
        return _EXTRACTED(called)
    return computed("group_text", text, pattern, f"CAST({group} AS INT)")


def _extracted(given: Pattern) -> str:
    """A group that is there wherever the pattern fits."""
    group = given.others[0] if given.others else "0"
    if int(group) > int(given.groups):
        return "CAST(NULL AS STRING)"
    found = f"regexp_extract({given.text}, {given.pattern}, {group})"
    return f"if(rlike({given.text}, {given.pattern}), {found}, NULL)"


_EXTRACTED = where_readable(_extracted)


def every(given: Pattern) -> str:
    """REGEXP_EXTRACT_ALL(text, pattern [, group]): of all places that fit, the first group."""
    group = given.others[0] if given.others else "1"

    def body(group: str) -> str:
        found = f"regexp_extract_all({given.text}, {given.pattern}, {group})"
        return f"if({group} BETWEEN 0 AND {given.groups}, {found}, NULL)"

    return bind(group, body)


def replaced(given: Pattern) -> str:
    """REGEXP_REPLACE; the replacement is what it is, without references to groups."""
    new = given.others[0]
    quoted = f"replace(replace({new}, '\\\\', '\\\\\\\\'), '$', '\\\\$')"
    return f"regexp_replace({given.text}, {given.pattern}, {quoted})"


def first(given: Pattern) -> str:
    """REGEXP_SUBSTR: the first part that fits, or NULL."""
    return given.or_if_empty(
        null_or(f"{given.text} IS NULL", "''"), f"regexp_substr({given.text}, {given.pattern})"
    )


def place(given: Pattern) -> str:
    """REGEXP_INSTR: where the first part that fits begins, in UTF-16 units from 1; or 0."""
    before = f"left({given.text}, {{0}} - 1)"
    wide = f"CAST(length(encode({before}, 'UTF-16BE')) DIV 2 AS INT) + 1"
    found = f"regexp_instr({given.text}, {given.pattern})"
    return given.or_if_empty(
        null_or(f"{given.text} IS NULL", "1"),
        bind(found, f"if({{0}} > 0, {wide}, {{0}})".format),
    )


def split(called: Called) -> str:
    """SPLIT at a plain text; into UTF-16 units at an empty one."""

    def body(text: str, mark: str, letters: str) -> str:
        parts = f"split({text}, concat('\\\\Q', {mark}, '\\\\E'), -1)"
        unknown = f"{text} IS NULL OR {mark} IS NULL"
        chosen = f"if({text} = '', slice(array(''), 1, 0), if({mark} = '', {letters}, {parts}))"
        return null_or(unknown, chosen)

    if is_literal(called[1]) and called[1] != "''":
        return bind(called[0], lambda v: body(v, called[1], "array('')"))
    return bind_all([called[0], called[1], computed("letters", called[0])], body)


def to_map(called: Called) -> str:
    """STR_TO_MAP(text [, between pairs, between key and value]), by patterns.

    Empty parts at the end are none.
    """
    pairs = called[1] if len(called.arguments) > 1 else "','"
    sides = called[2] if len(called.arguments) > 2 else "'='"
    ends = f"transform({{0}}, ({ELEMENT}, {KEY}) -> if({ELEMENT} = '', 0, {KEY} + 1))"
    kept = f"slice({{0}}, 1, array_max({ends}))"
    sided = f"split({ELEMENT}, {sides}, 2)"
    entry = f"struct({sided}[0] AS `key`, get({sided}, 1) AS `value`)"

    def body(text: str) -> str:
        parts = bind(f"split({text}, {pairs}, -1)", kept.format)
        none = f"map_filter(map('', ''), ({KEY}, {VALUE}) -> FALSE)"
        made = f"map_from_entries(transform({parts}, {ELEMENT} -> {entry}))"
        return f"if({text} = '', {none}, {made})"

    return bind(called[0], body)


def similar(*, negated: bool) -> Form:
    """SIMILAR TO a constant pattern without ESCAPE: the whole text must fit."""

    def form(called: Called) -> str:
        if len(called.arguments) > 2:
            raise unsupported("SIMILAR TO with ESCAPE is not run on Spark")
        if not is_literal(called[1]):
            raise unsupported("SIMILAR TO takes a constant pattern on Spark")
        content = literal_text(called[1])
        if re.search(r"[\\^$.]|\[\[:|\(\?", content):
            raise unsupported(f"the pattern {called[1]} is not run on Spark")
        pattern = content.replace("_", ".").replace("%", "(?s:.*)")
        whole = string(rf"\A(?:{pattern})\z")
        said = f"rlike({called[0]}, {whole})"
        return f"(NOT {said})" if negated else said

    return form


FORMS: dict[str, Form] = {
    "REGEXP": where_readable(matches, "FALSE"),
    "REGEXP_EXTRACT": extracted,
    "REGEXP_EXTRACT_ALL": where_readable(every),
    "REGEXP_REPLACE": where_readable(replaced),
    "REGEXP_COUNT": where_readable(lambda given: f"regexp_count({given.text}, {given.pattern})"),
    "REGEXP_SUBSTR": where_readable(first),
    "REGEXP_INSTR": where_readable(place),
    "SPLIT": split,
    "STR_TO_MAP": to_map,
    "SIMILAR TO": similar(negated=False),
    "NOT SIMILAR TO": similar(negated=True),
}
