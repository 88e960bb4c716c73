"""The tables of docs/property-map.md, from the rows of the code."""

from __future__ import annotations

from schema_core.formats.properties import parts, sidecar
from schema_core.formats.properties.legacy import FEATURES
from schema_core.formats.properties.limits import NO_LIMIT, STORES, StoreLimits

#: Our own keys, in the order of the page -> what stands there.
OWN = {
    sidecar.sidecar_key(
        sidecar.PRIMARY_KEY
    ): "name and columns of a primary key that commas would change",
    sidecar.sidecar_key(sidecar.IMMUTABLE): "the same of immutable columns",
    sidecar.sidecar_key(sidecar.INDEXES): "all indexes, if commas would change one of them",
    sidecar.sidecar_key(
        sidecar.METADATA_KEYS
    ): "metadata columns whose key was given and is their name",
    sidecar.sidecar_key(
        sidecar.WATERMARKS, "input-schema"
    ): "what a model's schema has besides columns (the keys above too; `output-schema` alike)",
    sidecar.sidecar_key(sidecar.OPTIONS): "options that the map needs the keys of, or takes out",
    sidecar.sidecar_key(sidecar.COMMENT): "the empty comment",
    sidecar.sidecar_key(sidecar.HANDLER): "the empty refresh handler",
    parts.COUNT: "how many parts there are",
    parts.CHECKSUM: "SHA-256 of the text that the parts make",
    f"{parts.PART}0": "CRC-32 of number and text, a blank, the text (JSON of keys and values)",
}

#: Attribute of a store -> heading.
LIMITS = {
    "key": "key", "value": "value", "database": "database", "table": "table", "column": "column",
    "partition_column": "partition column", "comment": "comment",
}  # fmt: skip


def tables() -> str:
    """All tables of the page."""
    return "\n".join(["", *_versions(), "", *_own(), "", *_stores(), ""])


def _versions() -> list[str]:
    lines = [
        "### Keys by version",
        "",
        "| what | keys (pattern) | first | last |",
        "|---|---|---|---|",
    ]
    return lines + [
        f"| {one.what} | `{one.keys.replace('|', chr(92) + '|')}` | {one.first} | {one.last} |"
        for one in FEATURES
    ]


def _own() -> list[str]:
    lines = ["### Our own keys", "", "| key | holds |", "|---|---|"]
    return lines + [f"| `{key}` | {what} |" for key, what in OWN.items()]


def _stores() -> list[str]:
    headings = " | ".join(LIMITS.values())
    lines = [
        "### Stores",
        "",
        f"| store | {headings} | counted in | empty values | characters not kept | prefix |",
        "|---" * (len(LIMITS) + 5) + "|",
    ]
    return lines + [_store(name, store) for name, store in STORES.items()]


def _store(name: str, store: StoreLimits) -> str:
    limits = [getattr(store, limit) for limit in LIMITS]
    cells = [
        f"`{name}`",
        *("" if limit == NO_LIMIT else f"{limit:,}" for limit in limits),
        "" if store == StoreLimits() else store.unit,
        "kept" if store.stores_empty else "lost",
        "; in keys ".join(
            f"`{one}`" for one in (store.unsupported, store.unsupported_in_keys) if one
        ),
        f"`{store.prefix}`" if store.prefix else "",
    ]
    return f"| {' | '.join(cells)} |"
