"""PyFlink's `Row`: values by position or name, and the kind of change in a changelog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, NoReturn, overload

from schema_core.base.text import show
from schema_core.errors import SchemaError, UnsupportedError, similar


class RowKind(Enum):
    """The kind of change of a row in a changelog."""

    INSERT = 0
    UPDATE_BEFORE = 1
    UPDATE_AFTER = 2
    DELETE = 3

    def __str__(self) -> str:
        return SIGNS[self]

    def to_j_row_kind(self) -> NoReturn:
        """Raise `needs-flink`: there is no object of Java.

        Raises:
            UnsupportedError: with code `needs-flink`.
        """
        raise UnsupportedError(
            "`RowKind.to_j_row_kind` is not available: it returns an object of Flink's JVM",
            code="needs-flink",
            hint="compare the kind itself, or its string",
        )


#: The kinds of changes that remove their rows.
REMOVALS = frozenset({RowKind.UPDATE_BEFORE, RowKind.DELETE})

#: Kind -> its short form in changelogs.
SIGNS = {
    RowKind.INSERT: "+I",
    RowKind.UPDATE_BEFORE: "-U",
    RowKind.UPDATE_AFTER: "+U",
    RowKind.DELETE: "-D",
}


class Row:
    """A row of values, accessible by position, and by name if it has names.

    A row of names is a factory of rows when called; values, names and kind are mutable.

    >>> row = Row(name="Alice", age=11)
    >>> row["name"], row.age, row[0], "age" in row.as_dict()
    ('Alice', 11, 'Alice', True)
    >>> Person = Row("name", "age")
    >>> Person("Bob", 12)
    Row(name='Bob', age=12)
    """

    __slots__ = ("_kind", "_names", "_values", "is_named")

    #: Whether values are assigned by name, regardless of their order.
    is_named: bool
    _values: list[Any]
    _names: list[str] | None
    _kind: RowKind

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise SchemaError("a row has positional or named values, not both", code="invalid-data")
        self._fill(args or kwargs.values(), tuple(kwargs) or None, is_named=bool(kwargs))

    def _fill(
        self,
        values: Iterable[Any],
        names: Sequence[str] | None,
        kind: RowKind = RowKind.INSERT,
        *,
        is_named: bool = False,
    ) -> None:
        for name, value in (
            ("_values", list(values)),
            ("_names", None if names is None else list(names)),
            ("_kind", kind),
            ("is_named", is_named),
        ):
            object.__setattr__(self, name, value)

    @staticmethod
    def of_kind(row_kind: RowKind, *args: Any, **kwargs: Any) -> Row:
        """A row with a kind of change.

        >>> str(Row.of_kind(RowKind.DELETE, 1).get_row_kind())
        '-D'
        """
        row = Row(*args, **kwargs)
        row.set_row_kind(row_kind)
        return row

    def __call__(self, *args: Any) -> Row:
        """A row of these values, named by the values of this row.

        Raises:
            SchemaError: with code `invalid-data` for more values than names.
        """
        if len(args) > len(self):
            raise SchemaError(f"{len(args)} values for {len(self)} names", code="invalid-data")
        row = Row()
        row._fill(args, self._values, self._kind)
        return row

    # --- kind and names ------------------------------------------------------------------------

    def get_row_kind(self) -> RowKind:
        return self._kind

    def set_row_kind(self, row_kind: RowKind) -> None:
        object.__setattr__(self, "_kind", row_kind)

    def set_field_names(self, field_names: Sequence[str]) -> None:
        """Set the names of the values by position.

        Raises:
            SchemaError: with code `invalid-argument` for anything but a list of strings.
        """
        object.__setattr__(self, "_names", _field_names(field_names))

    def get_fields_by_names(self, names: Sequence[str]) -> list[Any]:
        """The values of these names.

        Raises:
            SchemaError: with code `unknown-field`, or `invalid-argument` for anything but a
                list of strings.
        """
        return [self[name] for name in _field_names(names)]

    def as_dict(self, recursive: bool = False) -> dict[str, Any]:
        """The values by name; `recursive` also converts nested rows.

        Raises:
            SchemaError: with code `unknown-field` for a row without names.
        """
        if self._names is None:
            raise SchemaError("the values of this row have no names", code="unknown-field")
        values = map(_as_dict, self._values) if recursive else self._values
        return dict(zip(self._names, values, strict=False))

    # --- values --------------------------------------------------------------------------------

    def _position(self, name: str) -> int:
        names = self._names or []
        if name not in names:
            raise SchemaError(
                f"the row has no field {name!r}",
                code="unknown-field",
                hint=similar(name, names),
            )
        return names.index(name)

    @overload
    def __getitem__(self, item: str | int) -> Any: ...
    @overload
    def __getitem__(self, item: slice) -> list[Any]: ...
    def __getitem__(self, item: str | int | slice) -> Any:
        return self._values[self._position(item) if isinstance(item, str) else item]

    def __setitem__(self, key: str | int | slice, value: Any) -> None:
        self._values[self._position(key) if isinstance(key, str) else key] = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in (self._names or ()):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} cannot be set; write row[{name!r}] = ...")

    def __contains__(self, item: object) -> bool:
        return item in (self._values if self._names is None else self._names)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    # --- as a value ----------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        return (self._names, self._kind, self._values) == (other._names, other._kind, other._values)

    def __hash__(self) -> int:
        return hash(tuple(self._values))

    def __reduce__(self) -> tuple[Any, ...]:
        return Row._restore, (self._values, self._names, self._kind, self.is_named)

    @staticmethod
    def _restore(values: list[Any], names: list[str] | None, kind: RowKind, named: bool) -> Row:
        row = Row()
        row._fill(values, names, kind, is_named=named)
        return row

    def __repr__(self) -> str:
        if self._names is None:
            return f"<Row({', '.join(map(repr, self._values))})>"
        pairs = zip(self._names, self._values, strict=False)
        return f"Row({', '.join(f'{name}={value!r}' for name, value in pairs)})"


def _as_dict(value: Any) -> Any:
    match value:
        case Row():
            return value.as_dict(recursive=True)
        case list():
            return [_as_dict(element) for element in value]
        case dict():
            return {key: _as_dict(entry) for key, entry in value.items()}
        case _:
            return value


def _field_names(names: object) -> list[str]:
    if isinstance(names, Iterable) and not isinstance(names, str):
        result = list(names)
        if all(isinstance(name, str) for name in result):
            return result
    raise SchemaError(f"expected a list of field names, got {show(names)}", code="invalid-argument")
