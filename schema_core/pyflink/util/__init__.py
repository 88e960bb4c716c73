"""Utilities (`pyflink.util`)."""

__all__: list[str] = []
