from schema_core.catalogs.documents import (
    DocumentCatalog as DocumentCatalog,
)
from schema_core.catalogs.documents import (
    Documents as Documents,
)
from schema_core.catalogs.hive.catalog import (
    HiveCatalog as HiveCatalog,
)
from schema_core.catalogs.jdbc.catalog import (
    JdbcCatalog as JdbcCatalog,
)
from schema_core.catalogs.sql.catalog import (
    SqlCatalog as SqlCatalog,
)
