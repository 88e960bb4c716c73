"""Regular expressions, which are Java's on both sides, and texts taken apart.

A pattern that cannot be read gives NULL in Flink and ends a job in Spark; so the forms take only
constant patterns, and refuse those that are not well formed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from schema_core.expressions.forms.words import (
    ELEMENT,
    Called,
    Form,
    bind,
    bind_all,
    null_or,
    sql_type,
    string,
    unsupported,
)


def constant(text: str) -> str:
    """The content of a constant text.

    Raises:
        UnsupportedError: with code `not-executable` for anything else.
    """
    if not (text.startswith("'") and text.endswith("'") and len(text) > 1):
        raise unsupported("a regular expression must be a constant on Spark")
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def is_broken(text: str) -> bool:
    """Whether a constant pattern can be read by nobody, for it ends too early.

    Raises:
        UnsupportedError: with code `not-executable` where that cannot be told.
    """
    try:
        re.compile(constant(text))
    except re.error as error:
        if error.msg.startswith(("missing )", "unterminated", "nothing to repeat")):
            return True
        raise unsupported(f"the pattern {text} is not run on Spark: {error}") from None
    return False


def where_readable(form: Callable[[Called], str], otherwise: str = "NULL") -> Form:
    """A form whose second argument is a pattern, with the result for a broken one."""

    def said(called: Called) -> str:
        return (
            f"CAST({otherwise} AS {sql_type(called.type)})"
            if is_broken(called[1])
            else form(called)
        )

    return said


def groups(text: str) -> int:
    """How many groups a pattern has."""
    return re.compile(constant(text)).groups


def matches(called: Called) -> str:
    """REGEXP: whether a part of the text fits; nothing fits the empty pattern."""
    if constant(called[1]) == "":
        return null_or(f"{called[0]} IS NULL", "FALSE")
    return f"rlike({called[0]}, {called[1]})"


def extracted(called: Called) -> str:
    """REGEXP_EXTRACT(text, pattern [, group]): NULL where nothing fits, or no such group is."""
    group = called[2] if len(called.arguments) > 2 else "0"
    pattern = called[1]
    if not group.lstrip("-").isdigit():
        raise unsupported("the group of REGEXP_EXTRACT must be a constant on Spark")
    if not 0 <= int(group) <= groups(pattern):
        return "CAST(NULL AS STRING)"
    whole = f"regexp_extract_all({{0}}, {string(f'({constant(pattern)})')}, {int(group) + 1})"
    if group != "0":
        return bind(called[0], lambda v: _group(v, pattern, group))
    return bind(called[0], lambda v: f"get({whole.format(v)}, 0)")


def _group(text: str, pattern: str, group: str) -> str:
    found = f"regexp_extract({text}, {pattern}, {group})"
    return f"if(rlike({text}, {pattern}), {found}, NULL)"


def every(called: Called) -> str:
    """REGEXP_EXTRACT_ALL(text, pattern [, group]): of all places that fit, the first group."""
    group = called[2] if len(called.arguments) > 2 else "1"
    pattern = called[1]
    if not group.lstrip("-").isdigit():
        raise unsupported("the group of REGEXP_EXTRACT_ALL must be a constant on Spark")
    if not 0 <= int(group) <= groups(pattern):
        return "CAST(NULL AS ARRAY<STRING>)"
    return f"regexp_extract_all({called[0]}, {pattern}, {group})"


def replaced(called: Called) -> str:
    """REGEXP_REPLACE; the replacement is what it is, without references to groups."""
    pattern = called[1]
    new = f"replace(replace({called[2]}, '\\\\', '\\\\\\\\'), '$', '\\\\$')"
    if constant(pattern) == "":
        return bind_all(
            [called[0], called[2]],
            lambda text, word: (
                f"concat({word}, regexp_replace({text}, '(?s)(.)', concat('$1', "
                f"replace(replace({word}, '\\\\', '\\\\\\\\'), '$', '\\\\$'))))"
            ),
        )
    return f"regexp_replace({called[0]}, {pattern}, {new})"


def first(called: Called) -> str:
    """REGEXP_SUBSTR: the first part that fits, or NULL."""
    pattern = called[1]
    if constant(pattern) == "":
        return null_or(f"{called[0]} IS NULL", "''")
    return f"regexp_substr({called[0]}, {pattern})"


def place(called: Called) -> str:
    """REGEXP_INSTR: where the first part that fits begins, counted from 1; 0 where none does."""
    pattern = called[1]
    if constant(pattern) == "":
        return null_or(f"{called[0]} IS NULL", "1")
    return f"regexp_instr({called[0]}, {pattern})"


def split(called: Called) -> str:
    """SPLIT at a plain text; into characters at an empty one."""

    def body(text: str, mark: str) -> str:
        letters = f"regexp_extract_all({text}, '(?s)(.)', 1)"
        parts = f"split({text}, concat('\\\\Q', {mark}, '\\\\E'), -1)"
        unknown = f"{text} IS NULL OR {mark} IS NULL"
        chosen = f"if({text} = '', slice(array(''), 1, 0), if({mark} = '', {letters}, {parts}))"
        return null_or(unknown, chosen)

    return bind_all([called[0], called[1]], body)


def to_map(called: Called) -> str:
    """STR_TO_MAP(text [, between pairs, between key and value]), by patterns."""
    pairs = called[1] if len(called.arguments) > 1 else "','"
    sides = called[2] if len(called.arguments) > 2 else "'='"
    return bind(
        called[0],
        lambda v: (
            f"if({v} = '', map_filter(map('', ''), ({ELEMENT}, the_value) -> FALSE), "
            f"str_to_map({v}, {pairs}, {sides}))"
        ),
    )


def similar(*, negated: bool) -> Form:
    """SIMILAR TO a constant pattern without ESCAPE: the whole text must fit."""

    def form(called: Called) -> str:
        if len(called.arguments) > 2:
            raise unsupported("SIMILAR TO with ESCAPE is not run on Spark")
        content = constant(called[1])
        if re.search(r"[\\^$.]|\[\[:|\(\?", content):
            raise unsupported(f"the pattern {called[1]} is not run on Spark")
        pattern = re.sub(r"%", ".*", re.sub(r"_", ".", content))
        said = f"rlike({called[0]}, {string(f'(?s)^(?:{pattern})$')})"
        return f"(NOT {said})" if negated else said

    return form


FORMS: dict[str, Form] = {
    "REGEXP": where_readable(matches, "FALSE"),
    "REGEXP_EXTRACT": where_readable(extracted),
    "REGEXP_EXTRACT_ALL": where_readable(every),
    "REGEXP_REPLACE": where_readable(replaced),
    "REGEXP_COUNT": where_readable(lambda called: f"regexp_count({called[0]}, {called[1]})"),
    "REGEXP_SUBSTR": where_readable(first),
    "REGEXP_INSTR": where_readable(place),
    "SPLIT": split,
    "STR_TO_MAP": to_map,
    "SIMILAR TO": similar(negated=False),
    "NOT SIMILAR TO": similar(negated=True),
}
