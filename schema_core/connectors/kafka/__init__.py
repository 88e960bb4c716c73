"""The connectors `kafka` and `upsert-kafka`, and the formats of messages."""
