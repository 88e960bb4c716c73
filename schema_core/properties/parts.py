"""Split property maps to fit the limits of a store: what does not fit is stored in numbered parts.

Invariant: ``unpack(pack(map, store), store) == map``; parts that were changed, truncated, lost or
swapped are reported, never joined. Spark stores its schemas in the same way
(``spark.sql.sources.schema.part.N``), without checksums. The keys that Flink needs to read a schema
are moved together, so that Flink refuses such a map instead of reading an incomplete schema.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator, Mapping

from schema_core.base.arguments import validate_arguments
from schema_core.base.lazy import regex
from schema_core.errors import Diagnostic, SchemaError, raise_all
from schema_core.properties.key_syntax import IS_GENERIC, Properties, require_strings
from schema_core.properties.limits import StoreLimits, limit_violations
from schema_core.properties.sidecar import VERSION, read_string_map, sidecar_key

#: Keys of the number of parts and of the SHA-256 of all, and the prefix of the parts.
COUNT, CHECKSUM, PART = sidecar_key("parts"), sidecar_key("checksum"), sidecar_key("part.")

#: Prefixes of schemas, and the name of the first column of one in parts: Flink then reports that
#: its type is missing.
SCHEMAS = ("schema.", "input-schema.", "output-schema.")
PLACEHOLDER = "moved-by-schema-core"

#: Length of the checksum and the blank after it.
HEADER_LENGTH = 9

_PART = regex(r"([0-9a-f]{8}) ([\x20-\x7e]+)")


# --- packing --------------------------------------------------------------------------------------


@validate_arguments(properties=Mapping, store=StoreLimits)
def pack(properties: Mapping[str, str], store: StoreLimits) -> Properties:
    """Split a map so that it fits the store, under the store's prefix; every map fits every store.

    >>> from schema_core.properties.limits import STORES
    >>> packed = pack({"connector": "x", "topic": "\u03c4"}, STORES["hive-mysql"])
    >>> sorted(packed)[:2]
    ['flink.connector', 'flink.schema.schema-core-1.checksum']
    >>> unpack(packed, STORES["hive-mysql"])
    {'connector': 'x', 'topic': 'τ'}
    """
    require_strings(properties)
    whole = join_parts(properties)
    moved = {key: whole[key] for key in keys_to_move(whole, store)}
    rest = {key: value for key, value in whole.items() if key not in moved}
    for prefix in SCHEMAS:
        if is_schema_moved(moved, prefix):
            rest[f"{prefix}0.name"] = PLACEHOLDER
    return add_store_prefix(rest | split_parts(moved, store.value), store)


def keys_to_move(properties: Mapping[str, str], store: StoreLimits) -> list[str]:
    """The keys that do not fit, and all keys of a schema of which one does not fit.

    Comments are moved alone, since Flink reads the schema without them.
    """
    unfit = {violation.path[0] for violation in limit_violations(properties, store)}
    broken = tuple(
        prefix for prefix in SCHEMAS if any(is_required_by_flink(key, prefix) for key in unfit)
    )
    return [
        key
        for key in properties
        if key in unfit or any(is_schema_key(key, prefix) for prefix in broken)
    ]


def is_schema_key(key: str, prefix: str) -> bool:
    """Whether a key belongs to the schema under a prefix and is not a sidecar key."""
    return key.startswith(prefix) and not key.startswith(f"{prefix}{VERSION}.")


def is_required_by_flink(key: str, prefix: str) -> bool:
    """Whether Flink would decode a different schema without this key."""
    return is_schema_key(key, prefix) and not key.endswith(".comment")


def is_schema_moved(moved: Mapping[str, str], prefix: str) -> bool:
    """Whether the schema under a prefix is stored in parts."""
    return any(is_required_by_flink(key, prefix) for key in moved)


def split_parts(moved: Mapping[str, str], most: int) -> Properties:
    """Encode keys and values as parts of a maximum length, in ASCII."""
    if not moved:
        return {}
    text = json.dumps(moved, sort_keys=True, separators=(",", ":"))
    step = most - HEADER_LENGTH
    chunks = [text[start : start + step] for start in range(0, len(text), step)]
    parts = {
        f"{PART}{number}": f"{part_checksum(number, chunk)} {chunk}"
        for number, chunk in enumerate(chunks)
    }
    return {COUNT: str(len(chunks)), CHECKSUM: sha256(text), **parts}


def part_checksum(number: int, text: str) -> str:
    """The checksum of a part at its position."""
    return f"{zlib.crc32(f'{number} {text}'.encode()):08x}"


def sha256(text: str) -> str:
    """The checksum of all parts."""
    return hashlib.sha256(text.encode()).hexdigest()


def add_store_prefix(properties: Properties, store: StoreLimits) -> Properties:
    """Add the store's prefix to all keys.

    Flink's HiveCatalog recognizes its own tables by their connector, and marks those without one.
    """
    if not store.prefix:
        return properties
    stored = {store.prefix + key: value for key, value in properties.items()}
    if "connector" not in properties and "connector.type" not in properties:
        stored[IS_GENERIC] = "true"
    return stored


# --- unpacking ------------------------------------------------------------------------------------


@validate_arguments(stored=Mapping, store=StoreLimits)
def unpack(stored: Mapping[str, str], store: StoreLimits) -> Properties:
    """Restore the packed map, without the store's own properties.

    Raises:
        SchemaError: for every malformed part, as `malformed_parts`.
    """
    require_strings(stored)
    length = len(store.prefix)
    inner = {key[length:]: column for key, column in stored.items() if key.startswith(store.prefix)}
    return join_parts(inner)


def join_parts(properties: Mapping[str, str]) -> Properties:
    """The map with the keys of its parts, if it has any; errors as `unpack`."""
    if not has_parts(properties):
        return dict(properties)
    raise_all(
        SchemaError(part.message, code=part.code, path=part.path)
        for part in malformed_parts(properties)
    )
    moved = read_string_map(CHECKSUM, joined_text(properties))
    rest = {key: value for key, value in properties.items() if not is_part(key)}
    for prefix in SCHEMAS:
        if is_schema_moved(moved, prefix):
            rest.pop(f"{prefix}0.name")
    return rest | moved


def has_parts(properties: Mapping[str, str]) -> bool:
    """Whether a key is a part or describes parts."""
    return COUNT in properties or any(map(is_part, properties))


def is_part(key: str) -> bool:
    """Whether the key is a part or describes parts."""
    return key in (COUNT, CHECKSUM) or key.startswith(PART)


def joined_text(properties: Mapping[str, str]) -> str:
    """The joined content of the parts."""
    count = int(properties[COUNT])
    return "".join(properties[f"{PART}{number}"][HEADER_LENGTH:] for number in range(count))


# --- malformed parts ------------------------------------------------------------------------------


def malformed_parts(properties: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """A diagnostic for each malformed part.

    The code is `malformed-property`, also for a key both in the parts and outside.
    """
    if not has_parts(properties):
        return ()
    numbers = part_numbers(properties)
    count = properties.get(COUNT)
    if count is None or not re.fullmatch(r"[1-9][0-9]{0,8}", count):
        problem = f"the key {COUNT!r} must be the number of parts, got {count!r}"
        return (Diagnostic("malformed-property", problem, path=(COUNT,)),)
    malformed = [*malformed_part_keys(properties, int(count), numbers)]
    return tuple(malformed or malformed_content(properties))


def part_numbers(properties: Mapping[str, str]) -> set[str]:
    """The suffixes of the keys of parts."""
    return {key[len(PART) :] for key in properties if key.startswith(PART)}


def malformed_part_keys(
    properties: Mapping[str, str], count: int, numbers: set[str]
) -> Iterator[Diagnostic]:
    """Yield parts that are missing, unexpected or changed."""
    most = min(count, len(properties))  # do not iterate up to a number from the map
    for number in range(most):
        key = f"{PART}{number}"
        part = properties.get(key)
        if part is None:
            yield Diagnostic(
                "malformed-property", f"part {number} of {count} is missing", path=(key,)
            )
        elif not is_intact(number, part):
            problem = f"part {number} of {count} was truncated or changed"
            yield Diagnostic("malformed-property", problem, path=(key,))
    if count > most:
        key = f"{PART}{most}"
        problem = f"parts {most} to {count - 1} of {count} are missing"
        yield Diagnostic("malformed-property", problem, path=(key,))
    expected = {str(number) for number in range(most)}
    for name in sorted(numbers - expected):
        problem = f"unexpected part: there are {count} parts"
        yield Diagnostic("malformed-property", problem, path=(PART + name,))


def is_intact(number: int, part: str) -> bool:
    """Whether a part matches its checksum at its position."""
    content = _PART.fullmatch(part)
    return content is not None and content[1] == part_checksum(number, content[2])


def malformed_content(properties: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Yield errors of maps whose parts are all intact."""
    text = joined_text(properties)
    if properties.get(CHECKSUM) != sha256(text):
        problem = "the parts do not match their common checksum"
        yield Diagnostic("malformed-property", problem, path=(CHECKSUM,))
        return
    try:
        moved = read_string_map(CHECKSUM, text)
    except SchemaError as error:
        yield from error.diagnostics
        return
    schemas = tuple(prefix for prefix in SCHEMAS if is_schema_moved(moved, prefix))
    markers = {f"{prefix}0.name" for prefix in schemas}
    for key in properties:
        twice = key in moved or any(is_schema_key(key, prefix) for prefix in schemas)
        if twice and key not in markers:
            problem = f"the key {key!r} exists both in the parts and outside"
            yield Diagnostic("malformed-property", problem, path=(key,))
    for key in sorted(markers):
        if properties.get(key) != PLACEHOLDER:
            problem = (
                f"the key {key!r} must be {PLACEHOLDER!r}, since the schema is stored in parts"
            )
            yield Diagnostic("malformed-property", problem, path=(key,))
