"""Utilities by the names of `pyflink.util`."""
