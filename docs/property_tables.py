"""The tables of docs/property-map.md, from the rows of the code."""

from __future__ import annotations

from schema_core.properties import parts, sidecar
from schema_core.properties.legacy import FEATURES
from schema_core.properties.limits import NO_LIMIT, STORES, StoreLimits

#: Sidecar keys, in the order of the page -> their contents.
OWN = {
    sidecar.sidecar_key(
        sidecar.PRIMARY_KEY
    ): "name and columns of a primary key whose column names contain commas",
    sidecar.sidecar_key(sidecar.IMMUTABLE): "the same for immutable columns",
    sidecar.sidecar_key(sidecar.INDEXES): "all indexes, if a column name of one contains a comma",
    sidecar.sidecar_key(
        sidecar.METADATA_KEYS
    ): "metadata columns with an explicit key that equals their name",
    sidecar.sidecar_key(
        sidecar.WATERMARKS, "input-schema"
    ): "watermarks of a model's schema (with the keys above, and for `output-schema`)",
    sidecar.sidecar_key(sidecar.OPTIONS): "options with reserved keys, or that Flink removes",
    sidecar.sidecar_key(sidecar.COMMENT): "an empty comment",
    sidecar.sidecar_key(sidecar.HANDLER): "an empty refresh handler",
    parts.COUNT: "number of parts",
    parts.CHECKSUM: "SHA-256 of the joined parts",
    f"{parts.PART}0": "CRC-32 of number and content, a blank, the content (JSON)",
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
        "| feature | keys (pattern) | first | last |",
        "|---|---|---|---|",
    ]
    return lines + [
        f"| {row.what} | `{row.keys.replace('|', chr(92) + '|')}` | {row.first} | {row.last} |"
        for row in FEATURES
    ]


def _own() -> list[str]:
    lines = ["### Sidecar keys", "", "| key | contents |", "|---|---|"]
    return lines + [f"| `{key}` | {what} |" for key, what in OWN.items()]


def _stores() -> list[str]:
    headings = " | ".join(LIMITS.values())
    lines = [
        "### Stores",
        "",
        f"| store | {headings} | unit | empty values | unsupported characters | prefix |",
        "|---" * (len(LIMITS) + 5) + "|",
    ]
    return lines + [_store(name, store) for name, store in STORES.items()]


def _store(name: str, store: StoreLimits) -> str:
    limits = [getattr(store, limit) for limit in LIMITS]
    cells = [
        f"`{name}`",
        *("" if limit == NO_LIMIT else f"{limit:,}" for limit in limits),
        "" if store == StoreLimits() else store.unit,
        "stored" if store.stores_empty else "lost",
        "; in keys ".join(
            f"`{item}`" for item in (store.unsupported, store.unsupported_in_keys) if item
        ),
        f"`{store.prefix}`" if store.prefix else "",
    ]
    return f"| {' | '.join(cells)} |"
