from schema_core.mappings.loss import Loss as Loss
from schema_core.mappings.loss import LossKind as LossKind
from schema_core.mappings.loss import losses as losses
from schema_core.properties.limits import STORES as STORES
from schema_core.properties.limits import StoreLimits as StoreLimits
from schema_core.properties.limits import check_names as check_names
from schema_core.properties.limits import require_names as require_names
from schema_core.properties.parts import pack as pack
from schema_core.properties.parts import unpack as unpack
from schema_core.properties.property_map import (
    decode_materialized_table as decode_materialized_table,
)
from schema_core.properties.property_map import decode_model as decode_model
from schema_core.properties.property_map import decode_object as decode_object
from schema_core.properties.property_map import decode_table as decode_table
from schema_core.properties.property_map import decode_view as decode_view
from schema_core.properties.property_map import (
    encode_materialized_table as encode_materialized_table,
)
from schema_core.properties.property_map import encode_model as encode_model
from schema_core.properties.property_map import encode_object as encode_object
from schema_core.properties.property_map import encode_table as encode_table
from schema_core.properties.property_map import encode_view as encode_view
from schema_core.properties.property_map import ignored_keys as ignored_keys
from schema_core.properties.stored import MapKind as MapKind
from schema_core.properties.stored import StoredMap as StoredMap
from schema_core.properties.stored import UpgradedMap as UpgradedMap
from schema_core.properties.stored import read_map as read_map
from schema_core.properties.stored import upgrade as upgrade
from schema_core.properties.verification import verify as verify
