"""The commands of `schema-core`, one module for each."""
