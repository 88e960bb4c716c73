"""Utilities by the names of `pyflink.util`."""

__all__: list[str] = []
