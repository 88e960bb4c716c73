"""What callers hand over, looked at before a library beneath meets it with an error of its own."""

from __future__ import annotations

from schema_core.errors import SchemaError
from schema_core.text import show


def require(value: object, kind: type | tuple[type, ...], what: str) -> None:
    """Refuse a value of another class.

    Raises:
        SchemaError: with code `wrong-argument`.

    >>> require(5, str, "a name")
    Traceback (most recent call last):
        ...
    schema_core.errors.SchemaError: expected a name, found 5
    """
    if not isinstance(value, kind):
        raise SchemaError(f"expected {what}, found {show(value)}", code="wrong-argument")
