"""The functions and casts that conversions of values call in the SQL of an engine, as templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from schema_core.base.lazy import dataclass
from schema_core.types.families import TypeRoot


@dataclass(frozen=True, slots=True)
class CanonicalText:
    """How an engine writes values as strings, and reads them from strings.

    Keys are kinds of values (`conversions.KINDS`). The engine converts a string if it is the text
    of the result (`canonical_conversions`), without TRY_CAST or regular expressions.

    Attributes:
        writes: Kind -> the text of a value; "" is the kind of all others.
        reads: Kind -> the value of a string, for `{p}` digits.
        trim_end: A string without `{characters}` at its end.
        midnight: The timestamp of a date.
        fraction: Whether a string has a fraction of a second, or nothing, at `{start}`.
        has_instants: Whether a TIMESTAMP_LTZ has a text with its digits.
    """

    writes: Mapping[str, str]
    reads: Mapping[str, str]
    trim_end: str = "RTRIM({value}, {characters})"
    midnight: str = "CAST({value} AS {type})"
    fraction: str = ""
    has_instants: bool = True


@dataclass(frozen=True, slots=True)
class Functions:
    """What conversions and their checks call in the SQL of an engine.

    Attributes:
        safe_cast: Returns NULL for a value that cannot be cast or, with `cast_fails`, fails.
        matches: Whether a string matches a regular expression.
        remove: A string without the matches of a regular expression.
        fail: Fails for a message: as a condition of CASE, or with `fails_as_value` as an ELSE; with
            `fails_for_null` also for NULL.
        concat: A string and another one.
        length: The number of characters of a string.
        end: The end of a string in a regular expression; `$` of Java also precedes a line break.
        encode: A string as UTF-8.
        decode: The string of UTF-8.
        is_text: Whether bytes are UTF-8, if `decode` neither fails nor replaces bytes.
        cast: A value as the engine's CAST returns it.
        null: NULL of a type.
        require: A value that is not NULL; fails for NULL. Empty if INSERT checks NOT NULL.
        row: A row of `{fields}`, or of `{pairs}` of names and fields.
        checks_days: False if a cast reads 2020-02-30 as another day.
        has_lambdas: Whether elements of collections are converted by lambdas.
        fraction_digits: The digits of the seconds of times.
        cast_types: Root -> type in CAST, if it differs from the type of a column.
        canonical: Texts of values, for an engine without `safe_cast` and `matches`.
    """

    safe_cast: str = ""
    matches: str = ""
    remove: str = ""
    fail: str = "CAST({message} AS integer) = 0"
    concat: str = "{text} || {value}"
    length: str = "CHAR_LENGTH({value})"
    end: str = "$"
    encode: str = "CAST({value} AS {type})"
    decode: str = "CAST({value} AS {type})"
    is_text: str = ""
    cast: str = "CAST({value} AS {type})"
    null: str = "CAST(NULL AS {type})"
    require: str = ""
    row: str = "named_struct({pairs})"
    cast_fails: bool = False
    fails_as_value: bool = False
    fails_for_null: bool = False
    checks_days: bool = True
    has_lambdas: bool = False
    fraction_digits: int = 9
    cast_types: Mapping[TypeRoot, str] = field(default_factory=dict)
    canonical: CanonicalText | None = None
