"""``python -m schema_core.cli`` is ``schema-core``."""

from schema_core.cli.main import main

main()
