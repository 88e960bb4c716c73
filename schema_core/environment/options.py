"""Options: `ConfigOption`, the parsers of their values, and the options of an environment.

Values follow Flink 2.3: ``TimeUtils`` (durations), ``MemorySize``, ``ConfigurationUtils`` (the
rest), compared with recorded answers. Every parser raises `SchemaError`, code
`invalid-option-value`.
"""

from __future__ import annotations

import datetime as dt
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import timedelta
from typing import Any, Generic, TypeVar

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass, regex
from schema_core.base.secrets import (
    NO_KEYS,
    SecretString,
    declare_secret,
    has_credentials,
    is_secret,
    mask,
)
from schema_core.base.text import show
from schema_core.errors import SchemaError, at, similar

#: The range of Java's int and long.
MAX_INT, MAX_LONG = 2**31 - 1, 2**63 - 1

#: What Java's ``String.trim`` removes.
_BLANK = "".join(map(chr, range(0x21)))
_BLANKS = regex(r"[\x00-\x20]*")


def invalid_value(expected: str, text: str) -> SchemaError:
    """Return the error for an invalid value."""
    return SchemaError(f"expected {expected}, got {show(text)}", code="invalid-option-value")


# --- numbers and keywords ------------------------------------------------------------------


def boolean(text: str) -> bool:
    """Parse TRUE or FALSE in any case.

    >>> boolean("True")
    True
    """
    if (keyword := text.upper()) not in {"TRUE", "FALSE"}:
        raise invalid_value("true or false", text)
    return keyword == "TRUE"


def integer(text: str) -> int:
    """Parse a 32-bit integer, as Java's ``Integer.parseInt``.

    >>> integer("+12")
    12
    """
    return _integer(text, MAX_INT)


def positive(text: str) -> int:
    """Parse a 32-bit integer of at least 1.

    >>> positive("12")
    12
    """
    value = integer(text)
    if value < 1:
        raise invalid_value("an integer of at least 1", text)
    return value


def non_negative(text: str) -> int:
    """Parse a 64-bit integer of at least 0.

    >>> non_negative("12")
    12
    """
    value = long(text)
    if value < 0:
        raise invalid_value("an integer of at least 0", text)
    return value


def parallelism(text: str) -> int | None:
    """Parse a number of tasks: at least 1, or -1 for the default, which is None.

    >>> parallelism("2"), parallelism("-1")
    (2, None)
    """
    value = integer(text)
    if value < 1 and value != -1:
        raise invalid_value("an integer of at least 1, or -1 for the default", text)
    return None if value == -1 else value


def long(text: str) -> int:
    """Parse a 64-bit integer, as Java's ``Long.parseLong``.

    >>> long("-9223372036854775808")
    -9223372036854775808
    """
    return _integer(text, MAX_LONG)


def _integer(text: str, most: int) -> int:
    expected = f"an integer from {-most - 1} to {most}"
    if not re.fullmatch(r"[+-]?\d+", text) or max(text) > "\uffff":
        raise invalid_value(expected, text)
    value = _bounded_number(text.lstrip("+-"), most + 1)
    value = -value if text[0] == "-" else value
    if not -most - 1 <= value <= most:
        raise invalid_value(expected, text)
    return value


def _bounded_number(digits: str, most: int) -> int:
    """Parse digits; a long number is not parsed, but returned as one greater than `most`."""
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) <= len(str(most)) else most + 1


_DOUBLE = regex(
    r"(?P<sign>[+-]?)(?:(?P<name>NaN|Infinity)"
    r"|(?P<hex>0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?"
    r"|(?P<decimal>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?)"
)


def double(text: str) -> float:
    """Parse a 64-bit floating point number, as Java's ``Double.parseDouble``.

    >>> double(" 1.5e3d "), double("-Infinity")
    (1500.0, -inf)
    """
    match = _DOUBLE.fullmatch(text.strip(_BLANK))
    if match is None:
        raise invalid_value("a number", text)
    if match["hex"]:
        value = _hexadecimal(match["hex"])
    else:
        value = float((match["name"] or match["decimal"]).lower())
    return -value if match["sign"] == "-" else value


def _hexadecimal(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return float("inf")


def choice(*keywords: str) -> Callable[[str], str]:
    """Return a parser of keywords in any case, which returns them as given here.

    >>> choice("error", "drop")("DROP")
    'drop'
    """

    def parse(text: str) -> str:
        for keyword in keywords:
            if keyword.upper() == text.upper():
                return keyword
        raise invalid_value(f"one of {', '.join(keywords)}", text)

    return parse


# --- quantities ----------------------------------------------------------------------------

#: Nanoseconds -> units of that length.
_DURATIONS: dict[int, tuple[str, ...]] = {
    86_400_000_000_000: ("d", "day", "days"),
    3_600_000_000_000:  ("h", "hour", "hours"),
    60_000_000_000:     ("min", "m", "minute", "minutes"),
    1_000_000_000:      ("s", "sec", "secs", "second", "seconds"),
    1_000_000:          ("ms", "milli", "millis", "millisecond", "milliseconds", ""),
    1_000:              ("µs", "micro", "micros", "microsecond", "microseconds"),
    1:                  ("ns", "nano", "nanos", "nanosecond", "nanoseconds"),
}  # fmt: skip

#: Bytes -> units of that size.
_MEMORY: dict[int, tuple[str, ...]] = {
    1:       ("b", "bytes", ""),
    1 << 10: ("k", "kb", "kibibytes"),
    1 << 20: ("m", "mb", "mebibytes"),
    1 << 30: ("g", "gb", "gibibytes"),
    1 << 40: ("t", "tb", "tebibytes"),
}  # fmt: skip

#: An ISO 8601 duration as ``java.time.Duration.parse`` reads it.
_ISO = regex(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?[0-9]+)D)?"
    r"(?P<time>T(?:(?P<hours>[-+]?[0-9]+)H)?(?:(?P<minutes>[-+]?[0-9]+)M)?"
    r"(?:(?P<seconds>[-+]?[0-9]+)(?:[.,](?P<fraction>[0-9]{0,9}))?S)?)?",
    re.IGNORECASE,
)

#: The most seconds of a Java duration; more digits overflow in any case.
_MAX_NANOSECONDS = (MAX_LONG + 1) * 1_000_000_000
_MAX_DIGITS = 40


def nanoseconds(text: str) -> int:
    """Parse a duration exactly: a number with a unit (milliseconds without), or ISO 8601.

    >>> nanoseconds("1 h"), nanoseconds("5"), nanoseconds("PT0.5S")
    (3600000000000, 5000000, 500000000)
    """
    expected = "a duration such as 10 s, 5 min or PT1H"
    trimmed = text.strip(_BLANK)
    if iso := _ISO.fullmatch(trimmed):
        length = _iso_nanoseconds(iso)
    else:
        length = _quantity(trimmed, _DURATIONS)
    if length is None or not -_MAX_NANOSECONDS <= length < _MAX_NANOSECONDS:
        raise invalid_value(expected, text)
    return length


def _iso_nanoseconds(match: re.Match[str]) -> int | None:
    """Return the length of an ISO 8601 duration; None without parts or with too many digits."""
    parts = [match[name] for name in ("days", "hours", "minutes", "seconds")]
    if not any(parts) or match["time"] in ("T", "t"):
        return None
    if any(len(part or "") > _MAX_DIGITS for part in parts):
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in parts)
    fraction = int((match["fraction"] or "").ljust(9, "0"))
    if (match["seconds"] or "").startswith("-"):
        fraction = -fraction
    total = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000_000_000 + fraction
    return -total if match["sign"] == "-" else total


def duration(text: str) -> timedelta:
    """Parse a duration as `nanoseconds` does, within the range of a `timedelta`.

    >>> duration("90 min")
    datetime.timedelta(seconds=5400)
    """
    microseconds, rest = divmod(nanoseconds(text), 1_000)
    if rest:
        raise invalid_value("a duration in microseconds without a fraction", text)
    try:
        return timedelta(microseconds=microseconds)
    except OverflowError:
        raise invalid_value(f"a duration of at most {timedelta.max.days:,} days", text) from None


def memory_size(text: str) -> int:
    """Parse a number of bytes, with an optional unit that is a power of 1024.

    >>> memory_size("64 kb"), memory_size("10")
    (65536, 10)
    """
    quantity = _quantity(text.strip(_BLANK), _MEMORY)
    if quantity is None or quantity > MAX_LONG:
        raise invalid_value("a memory size such as 64 kb, 512 mb or 2 g", text)
    return quantity


def _quantity(text: str, units: dict[int, tuple[str, ...]]) -> int | None:
    """Return a number times its unit; None without a number or for an unknown unit."""
    number = re.match(r"[0-9]+", text)
    if number is None:
        return None
    unit = text[number.end() :].strip(_BLANK).lower()
    for factor, names in units.items():
        if unit in names:
            return _bounded_number(number[0], _MAX_NANOSECONDS) * factor
    return None


# --- lists and maps ------------------------------------------------------------------------

#: An item of a YAML flow list or map: quoted, or plain and certainly a string.
_ITEM = r"""'(?:[^']|'')*'|"[^"\\]*"|[A-Za-z_][\w./-]*|[0-9]+"""
_FLOW_LIST = regex(rf"\[\s*(?:(?:{_ITEM})\s*(?:,\s*(?:{_ITEM})\s*)*)?\]")
_FLOW_MAP = regex(
    rf"\{{\s*(?:(?:{_ITEM})\s*:\s+(?:{_ITEM})\s*(?:,\s*(?:{_ITEM})\s*:\s+(?:{_ITEM})\s*)*)?\}}"
)
#: Unquoted strings that YAML reads as a null or a boolean.
_YAML_NULLS = frozenset({"null", "Null", "NULL"})
_YAML_BOOLEANS = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})


def string_list(text: str) -> list[str]:
    """Parse strings separated by semicolons, or a YAML list in brackets.

    A quoted item keeps its semicolons and blanks; a nested YAML list is refused.

    >>> string_list("a; 'b;c'"), string_list("[a, b]")
    (['a', 'b;c'], ['a', 'b'])
    """
    if _FLOW_LIST.fullmatch(text) and (items := _yaml_items(text)) is not None:
        return items
    if text.lstrip().startswith(("[", "- ", "{")):
        raise invalid_value("a list such as a;b or [a, b]", text)
    return _split(text, ";")


def string_map(text: str) -> dict[str, str]:
    """Parse pairs ``key:value`` separated by commas, or a YAML map in braces.

    >>> string_map("a:b,c:d"), string_map("{a: b}")
    ({'a': 'b', 'c': 'd'}, {'a': 'b'})
    """
    expected = "a map such as a:b,c:d"
    if _FLOW_MAP.fullmatch(text) and (items := _yaml_items(text)) is not None:
        pairs = list(zip(items[::2], items[1::2], strict=True))
    elif text.lstrip().startswith("{") or "\n" in text:
        raise invalid_value(expected, text)
    else:
        pairs = []
        for part in _split(text, ",", keep_quotes=True):
            match _split(part, ":"):
                case [key, value]:
                    pairs.append((key, value))
                case _:
                    raise invalid_value(expected, text)
    if len(dict(pairs)) != len(pairs):
        raise invalid_value(f"{expected}, each key once", text)
    return dict(pairs)


def _yaml_items(text: str) -> list[str] | None:
    """Return the items between brackets or braces; None where YAML would read one as a null."""
    items = []
    for item in re.findall(_ITEM, text[1:-1]):
        if item in _YAML_NULLS:
            return None
        if item[0] in "'\"":
            items.append(item[1:-1].replace("''", "'") if item[0] == "'" else item[1:-1])
        elif item in _YAML_BOOLEANS:
            items.append(item.lower())
        else:
            items.append(item.lstrip("0") or "0" if item.isdecimal() else item)
    return items


def _split(text: str, separator: str, *, keep_quotes: bool = False) -> list[str]:
    """Split a string at a separator outside quotes, and strip the parts."""
    return [part if keep_quotes else _unquote(part) for part in _parts(text, separator)]


def _parts(text: str, separator: str) -> Iterator[str]:
    """Split a string; a quoted part may contain the separator and doubled quotes."""
    quoted = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*\"""")
    start = 0
    while start < len(text):
        blank = _BLANKS.match(text, start)
        stop = begin = blank.end() if blank else start
        if text.startswith(("'", '"'), begin):
            match = quoted.match(text, begin)
            stop = match.end() if match else len(text) + 1
        end = text.find(separator, stop)
        end = len(text) if end < 0 else end
        if stop > len(text) or (stop > begin and text[stop:end].strip(_BLANK)) or end == 0:
            raise invalid_value(
                f"parts separated by {separator!r}, each either quoted entirely or not at all", text
            )
        yield text[begin:end].strip(_BLANK)
        start = end + 1


def _unquote(part: str) -> str:
    if part[:1] in ("'", '"') and len(part) > 1 and part[-1] == part[0]:
        return part[1:-1].replace(part[0] * 2, part[0])
    return part


# --- options -------------------------------------------------------------------------------

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ConfigOption(Generic[Value]):
    """An option: its key, the parser of its value, its default and its description.

    `fallback_keys` are also accepted, `deprecated_keys` with a warning. With `is_map`, all keys
    ``key.*`` belong to the option, but not the key itself: `entries` returns their values. A
    `secret` value is masked in listings and errors. With `defines_table` it has an effect only when
    the table is created, so a hint cannot set it.

    >>> HEADER = ConfigOption("csv.skip-lines", integer, 0, "lines to pass over")
    >>> HEADER.of({"csv.skip-lines": "1"}), HEADER.of({})
    (1, 0)
    """

    key: str
    read: Callable[[str], Value]
    default: Value | None = None
    description: str = ""
    required: bool = False
    deprecated_keys: tuple[str, ...] = ()
    is_map: bool = False
    fallback_keys: tuple[str, ...] = ()
    secret: bool = False
    defines_table: bool = False

    def __post_init__(self) -> None:
        if self.read in (bool, int, float):  # bool("false") is True
            raise SchemaError(
                f"the parser of option {self.key!r} must read Flink's values, got {self.read!r}",
                code="invalid-argument",
                hint="use boolean, integer, long or double of schema_core.connectors",
            )
        if self.secret:
            declare_secret(self.key_patterns())

    def keys(self) -> tuple[str, ...]:
        """The current key and the deprecated ones."""
        return (self.key, *self.fallback_keys, *self.deprecated_keys)

    def key_patterns(self) -> tuple[str, ...]:
        """The keys as a listing shows them: those of a map as ``key.*``."""
        return tuple(f"{key}.*" for key in self.keys()) if self.is_map else self.keys()

    def has_key(self, key: str) -> bool:
        """Return whether a key of options belongs to the option."""
        return any(self._matches(own, key) for own in self.keys())

    def _matches(self, own: str, key: str) -> bool:
        return key.startswith(f"{own}.") if self.is_map else key == own

    def replaced_keys(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return the deprecated keys among options, each with the key that replaces it."""
        return {
            key: self.key + key.removeprefix(own)
            for own in self.deprecated_keys
            for key in options
            if self._matches(own, key)
        }

    def entries(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return the entries of a map; those of its current key precede those of others.

        >>> headers = ConfigOption("headers", str, is_map=True, deprecated_keys=("header",))
        >>> headers.entries({"header.a": "1", "headers.b": "2", "header.b": "3"})
        {'a': '1', 'b': '2'}
        """
        return {
            key.removeprefix(f"{own}."): value
            for own in reversed(self.keys())
            for key, value in options.items()
            if self._matches(own, key)
        }

    def of(self, options: Mapping[str, str]) -> Value | None:
        """Return the value among these options, or the default (`invalid-option-value`)."""
        for key in self.keys():
            if key in options:
                with at(f"option {key!r}"):
                    return self._read(key, options[key])
        return self.default

    def _read(self, key: str, text: str) -> Value:
        try:
            return self.read(text)
        except (SchemaError, ValueError) as error:
            code = error.code if isinstance(error, SchemaError) else "invalid-option-value"
            is_masked = self.secret or is_secret(key) or isinstance(text, SecretString)
            if is_masked or has_credentials(text):
                raise SchemaError("the value cannot be parsed", code=code) from None
            if isinstance(error, SchemaError):
                raise
            raise SchemaError(f"the value {show(text)} is not valid: {error}", code=code) from error


class TypedOptionBuilder(Generic[Value]):
    """The key and the type of an option."""

    def __init__(self, key: str, read: Callable[[str], Value], kind: type[Any]) -> None:
        self._key = key
        self._read = read
        self._kind = kind

    def default_value(self, value: Value) -> ConfigOption[Value]:
        """Return the option with a default value of its type (`invalid-argument`)."""
        accepted = (int, float) if self._kind is float else self._kind
        require_instance(value, accepted, "value")
        return ConfigOption(self._key, self._read, value)

    def no_default_value(self) -> ConfigOption[Value]:
        """Return the option without a default value."""
        return ConfigOption(self._key, self._read)


class UntypedOptionBuilder:
    """The key of an option without a type."""

    def __init__(self, key: str) -> None:
        self._key = key

    def boolean_type(self) -> TypedOptionBuilder[bool]:
        """Return a builder of a boolean option."""
        return TypedOptionBuilder(self._key, boolean, bool)

    def int_type(self) -> TypedOptionBuilder[int]:
        """Return a builder of a 32-bit integer option."""
        return TypedOptionBuilder(self._key, integer, int)

    def long_type(self) -> TypedOptionBuilder[int]:
        """Return a builder of a 64-bit integer option."""
        return TypedOptionBuilder(self._key, long, int)

    def float_type(self) -> TypedOptionBuilder[float]:
        """Return a builder of a number option, which has 64 bits as in `double_type`."""
        return TypedOptionBuilder(self._key, double, float)

    def double_type(self) -> TypedOptionBuilder[float]:
        """Return a builder of a 64-bit floating point option."""
        return TypedOptionBuilder(self._key, double, float)

    def string_type(self) -> TypedOptionBuilder[str]:
        """Return a builder of a string option."""
        return TypedOptionBuilder(self._key, str, str)


class ConfigOptions:
    """Builders of options, as PyFlink's.

    >>> option = ConfigOptions.key("key.format").string_type().no_default_value()
    >>> option.key
    'key.format'
    """

    OptionBuilder = UntypedOptionBuilder
    TypedConfigOptionBuilder = TypedOptionBuilder

    @staticmethod
    def key(key: str) -> UntypedOptionBuilder:
        """Return a builder of the option with a key, a string (`invalid-argument`)."""
        return UntypedOptionBuilder(require_instance(key, str, "key"))


def mask_options(
    options: Mapping[str, str], declared: AbstractSet[str] = NO_KEYS
) -> dict[str, str]:
    """Return the options sorted by key, their secrets masked; `declared` as in `is_secret`.

    >>> mask_options({"password": "p", "connector": "x"})
    {'connector': 'x', 'password': '******'}
    """
    return mask({key: options[key] for key in sorted(options)}, declared)


def time_zone(text: str) -> str:
    """Parse UTC, an offset such as ``GMT-08:00``, or a name of the time zone database.

    >>> time_zone("Europe/Berlin"), time_zone("GMT+01:30")
    ('Europe/Berlin', 'GMT+01:30')
    """
    from zoneinfo import available_timezones

    if re.fullmatch(r"UTC|GMT[+-](0?[0-9]|1[0-8]):[0-5][0-9]", text):
        return text
    if text not in available_timezones():
        raise SchemaError(
            f"there is no time zone {text!r}",
            code="invalid-option-value",
            hint=similar(text, available_timezones()) or "write a name such as Europe/Berlin",
        )
    return text


def epoch_millis(time: dt.datetime, zone: str) -> int:
    """Return the milliseconds since 1970 of a local time in a time zone of `time_zone`.

    A time that a clock skips is that many minutes later, and one that it repeats is the first.

    >>> epoch_millis(dt.datetime(1970, 1, 2), "GMT+01:30")
    81000000
    """
    from zoneinfo import ZoneInfo

    if offset := re.fullmatch(r"GMT([+-])([0-9]{1,2}):([0-9]{2})", zone):
        sign = -1 if offset[1] == "-" else 1
        distance = dt.timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        local: dt.tzinfo = dt.timezone(sign * distance)
    else:
        local = ZoneInfo(zone)
    since = time.replace(tzinfo=local) - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return since // dt.timedelta(milliseconds=1)


# --- the options of an environment ---------------------------------------------------------

#: Every option that an environment reads.
RUNTIME_MODE = ConfigOption(
    "execution.runtime-mode",
    choice("STREAMING", "BATCH"),
    "STREAMING",
    "the mode of jobs; that at the creation of an environment decides whether its time attributes "
    "are tracked",
)
BUILT_IN_CATALOG = ConfigOption(
    "table.builtin-catalog-name",
    str,
    "default_catalog",
    "the initial catalog",
)
BUILT_IN_DATABASE = ConfigOption(
    "table.builtin-database-name",
    str,
    "default_database",
    "the initial database",
)
PLANNER = ConfigOption(
    "table.planner", str, "spark", "the identifier of the planner that runs jobs"
)
LOCAL_TIME_ZONE = ConfigOption(
    "table.local-time-zone", time_zone, "UTC", "the time zone of the session"
)
ATOMICITY = ConfigOption(
    "table.rtas-ctas.atomicity-enabled",
    boolean,
    False,
    "whether nothing remains of a CREATE TABLE AS whose job fails; `table.ctas.atomicity-enabled`, "
    "the key of FLIP-218, is the same option",
    fallback_keys=("table.ctas.atomicity-enabled",),
)
NOT_NULL_ENFORCER = ConfigOption(
    "table.exec.sink.not-null-enforcer",
    choice("ERROR", "DROP"),
    "ERROR",
    "whether a NULL in a NOT NULL column fails the job, or its row is dropped",
)
LENGTH_ENFORCER = ConfigOption(
    "table.exec.sink.type-length-enforcer",
    choice("IGNORE", "TRIM_PAD", "ERROR"),
    "IGNORE",
    "what happens to a string that exceeds the length of its column",
)
REQUIRE_ON_CONFLICT = ConfigOption(
    "table.exec.sink.require-on-conflict",
    boolean,
    True,
    "whether a streaming INSERT without ON CONFLICT is refused if its query may return several "
    "rows with the primary key of the table",
)
MATERIALIZE = ConfigOption(
    "table.exec.sink.upsert-materialize",
    choice("AUTO", "NONE", "FORCE"),
    "AUTO",
    "whether ON CONFLICT DO NOTHING and DO ERROR compare rows: NONE never, FORCE also where the "
    "primary key contains an upsert key of the query; both permit such an INSERT without it",
)
DML_SYNC = ConfigOption(
    "table.dml-sync",
    boolean,
    False,
    "whether INSERT and CREATE TABLE AS wait until their job has ended",
)
DISPLAY_WIDTH = ConfigOption(
    "table.display.max-column-width",
    integer,
    30,
    "the width of printed columns whose type has no bound, in characters",
    fallback_keys=("sql-client.display.max-column-width",),
)
RESULT_MODE = ConfigOption(
    "sql-client.execution.result-mode",
    choice("TABLE", "CHANGELOG", "TABLEAU"),
    "TABLE",
    "whether the shell shows the rows that the changes of a streaming query leave, and updates "
    "them (TABLE), or prints each change",
)
PIPELINE_NAME = ConfigOption(
    "pipeline.name",
    str,
    None,
    "the name of jobs, in their clients, progress and the UI of the engine; by default the "
    "statement and its table",
)
FORCE_RECOMPILE = ConfigOption(
    "table.plan.force-recompile",
    boolean,
    False,
    "whether COMPILE PLAN replaces a plan file that exists",
)
DYNAMIC_OPTIONS = ConfigOption(
    "table.dynamic-table-options.enabled",
    boolean,
    True,
    "whether OPTIONS hints may change the options of a table for one statement",
)
ASYNC_CONCURRENCY = ConfigOption(
    "table.exec.async-scalar.max-concurrent-operations",
    positive,
    10,
    "how many calls of an AsyncScalarFunction a worker runs at once",
)
ASYNC_TIMEOUT = ConfigOption(
    "table.exec.async-scalar.timeout",
    duration,
    timedelta(minutes=3),
    "how long a call of an AsyncScalarFunction may take, with its retries; 0 for any time",
)
ASYNC_RETRIES = ConfigOption(
    "table.exec.async-scalar.retry-strategy",
    choice("FIXED_DELAY", "NO_RETRY"),
    "FIXED_DELAY",
    "whether a call of an AsyncScalarFunction that fails is retried",
)
ASYNC_DELAY = ConfigOption(
    "table.exec.async-scalar.retry-delay",
    duration,
    timedelta(milliseconds=100),
    "how long to wait before a call of an AsyncScalarFunction is retried",
)
ASYNC_ATTEMPTS = ConfigOption(
    "table.exec.async-scalar.max-attempts",
    positive,
    3,
    "how often a call of an AsyncScalarFunction that fails is retried, as in PyFlink",
)
PYTHON_METRICS = ConfigOption(
    "python.metric.enabled",
    boolean,
    True,
    "whether the metrics of functions in Python are collected, and logged as schema_core.metrics",
)
PYTHON_FILES = ConfigOption(
    "python.files",
    str,
    None,
    "modules, directories and zips of modules that functions in Python import, as add_python_file",
)
PYTHON_ARCHIVES = ConfigOption(
    "python.archives",
    str,
    None,
    "archives, each with #directory, that are extracted in the working directory of functions",
)
PYTHON_REQUIREMENTS = ConfigOption(
    "python.requirements",
    str,
    None,
    "the requirements file of packages that functions import, with #directory of the packages",
)
JOB_PARAMETERS = ConfigOption(
    "pipeline.global-job-parameters",
    string_map,
    None,
    "what FunctionContext.get_job_parameter returns to functions in Python",
)
SHADOWING = ConfigOption(
    "table.temporary-objects.shadowing",
    choice("ALLOW", "DENY"),
    "ALLOW",
    "whether a temporary object may hide another (FLIP-64)",
)

METADATA_CHECK = ConfigOption(
    "table.metadata-columns.check-on-create",
    boolean,
    True,
    "whether metadata columns that an installed connector does not have are refused when a table "
    "is defined; Flink refuses them only when the table is used",
)

SQL_DIALECT = ConfigOption(
    "table.sql-dialect",
    choice("DEFAULT"),
    "DEFAULT",
    "the dialect of SQL of statements; only Flink's is supported",
)
MAX_CODE_LENGTH = ConfigOption(
    "table.generated-code.max-length",
    integer,
    4000,
    "how long generated code may be; kept for PyFlink, the engines here generate none",
)
STATE_RETENTION = ConfigOption(
    "table.exec.state.ttl",
    duration,
    timedelta(0),
    "how long a streaming query keeps the rows of a key at least that does not change; 0, the "
    "default, means indefinitely",
)
IDLE_TIMEOUT = ConfigOption(
    "table.exec.source.idle-timeout",
    duration,
    timedelta(0),
    "after which time without rows an unbounded table does not hold back the watermark of a "
    "streaming query; 0, the default, means never",
)
MINI_BATCH = ConfigOption(
    "table.exec.mini-batch.enabled",
    boolean,
    False,
    "whether a streaming job collects rows for the time of table.exec.mini-batch.allow-latency",
)
MINI_BATCH_LATENCY = ConfigOption(
    "table.exec.mini-batch.allow-latency",
    duration,
    timedelta(0),
    "how long rows are collected for a micro-batch, if table.exec.mini-batch.enabled is set",
)
MINI_BATCH_SIZE = ConfigOption(
    "table.exec.mini-batch.size",
    integer,
    -1,
    "how many rows Flink collects at most; micro-batches here have all rows that have arrived",
)
PARALLELISM = ConfigOption(
    "parallelism.default",
    parallelism,
    None,
    "how many tasks write a table in a batch job at most, unless its option 'sink.parallelism' is "
    "set: 1 writes one file, -1 is the default; other tasks are those of Spark",
)
CHECKPOINTS = ConfigOption(
    "execution.checkpointing.dir",
    str,
    None,
    "the directory of the checkpoints of streaming jobs, with a subdirectory for each job",
    deprecated_keys=("state.checkpoints.dir",),
)
CHECKPOINT_INTERVAL = ConfigOption(
    "execution.checkpointing.interval",
    duration,
    None,
    "how often a streaming job writes a micro-batch; without it as soon as rows have arrived",
)

ENVIRONMENT: tuple[ConfigOption[Any], ...] = (
    RUNTIME_MODE,
    BUILT_IN_CATALOG,
    BUILT_IN_DATABASE,
    PLANNER,
    LOCAL_TIME_ZONE,
    ATOMICITY,
    DML_SYNC,
    DISPLAY_WIDTH,
    RESULT_MODE,
    PIPELINE_NAME,
    FORCE_RECOMPILE,
    SHADOWING,
    METADATA_CHECK,
    SQL_DIALECT,
    ASYNC_CONCURRENCY,
    ASYNC_TIMEOUT,
    ASYNC_RETRIES,
    ASYNC_DELAY,
    ASYNC_ATTEMPTS,
    PYTHON_METRICS,
    PYTHON_FILES,
    PYTHON_ARCHIVES,
    PYTHON_REQUIREMENTS,
    JOB_PARAMETERS,
    MAX_CODE_LENGTH,
    STATE_RETENTION,
    IDLE_TIMEOUT,
    MINI_BATCH,
    MINI_BATCH_LATENCY,
    MINI_BATCH_SIZE,
    PARALLELISM,
    CHECKPOINTS,
    CHECKPOINT_INTERVAL,
)


# --- deprecation ---------------------------------------------------------------------------


def warn_deprecated(old: str, by: str) -> None:
    """Emit a `DeprecationWarning` at the caller of a deprecated method or option."""
    warnings.warn(f"{old} is deprecated: use {by}", DeprecationWarning, stacklevel=3)
