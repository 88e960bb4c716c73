"""Tables, views and models as Flink's property maps, and the losses of a format."""

from __future__ import annotations

from schema_core.formats.loss import (
    Loss,
    LossKind,
    losses,
)
from schema_core.formats.properties.limits import STORES, StoreLimits, check_names, require_names
from schema_core.formats.properties.parts import pack, unpack
from schema_core.formats.properties.property_map import (
    decode_materialized_table,
    decode_model,
    decode_object,
    decode_table,
    decode_view,
    encode_materialized_table,
    encode_model,
    encode_object,
    encode_table,
    encode_view,
    ignored_keys,
)
from schema_core.formats.properties.stored import (
    MapKind,
    StoredMap,
    UpgradedMap,
    read_map,
    upgrade,
)
from schema_core.formats.properties.verify import (
    verify,
)

__all__ = [
    "STORES",
    "Loss",
    "LossKind",
    "MapKind",
    "StoreLimits",
    "StoredMap",
    "UpgradedMap",
    "check_names",
    "decode_materialized_table",
    "decode_model",
    "decode_object",
    "decode_table",
    "decode_view",
    "encode_materialized_table",
    "encode_model",
    "encode_object",
    "encode_table",
    "encode_view",
    "ignored_keys",
    "losses",
    "pack",
    "read_map",
    "require_names",
    "unpack",
    "upgrade",
    "verify",
]
