"""Data frames of pandas as tables and back; pandas is imported when a table becomes one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from schema_core.arguments import require_instance
from schema_core.errors import SchemaError
from schema_core.extras import needs
from schema_core.types import DataType, DataTypes, RowField, RowType

if TYPE_CHECKING:
    import pandas as pd

#: Type of a column of pandas -> the type of its values. Those of Python objects are looked at.
DTYPES: dict[str, DataType] = {
    "bool": DataTypes.BOOLEAN(),
    "boolean": DataTypes.BOOLEAN(),
    "int8": DataTypes.TINYINT(),
    "int16": DataTypes.SMALLINT(),
    "int32": DataTypes.INT(),
    "int64": DataTypes.BIGINT(),
    "uint8": DataTypes.SMALLINT(),
    "uint16": DataTypes.INT(),
    "uint32": DataTypes.BIGINT(),
    "float32": DataTypes.FLOAT(),
    "float64": DataTypes.DOUBLE(),
    "datetime64[s]": DataTypes.TIMESTAMP(0),
    "datetime64[ms]": DataTypes.TIMESTAMP(3),
    "datetime64[us]": DataTypes.TIMESTAMP(6),
    "datetime64[ns]": DataTypes.TIMESTAMP(6),
}


def rows_of(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    """The rows of a frame as Python values; what is not there is None."""
    return [tuple(map(_plain, row)) for row in frame.itertuples(index=False, name=None)]


def _plain(value: Any) -> Any:
    """A value without numpy and pandas around it."""
    if type(value).__name__ in ("NaTType", "NAType"):
        return None
    if isinstance(value, datetime):
        return value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
    if hasattr(value, "tolist"):
        value = value.tolist()
    return None if isinstance(value, float) and value != value else value  # noqa: PLR0124


def schema_of(frame: pd.DataFrame, given: object) -> object:
    """The schema of a frame: what is given, else names and types of its columns.

    Raises:
        SchemaError: with code `wrong-argument` for what is no data frame, `column-count-mismatch`
            for another number of names or types than of columns.
    """
    if not hasattr(frame, "itertuples"):
        require_instance(frame, DataFrame, "pdf")
    if isinstance(given, DataType | str):
        return given
    names = [str(name) for name in frame.columns]
    types = [DTYPES.get(str(one)) for one in frame.dtypes]
    if isinstance(given, list | tuple):
        if len(given) != len(names):
            raise SchemaError(
                f"{len(given)} given for {len(names)} columns", code="column-count-mismatch"
            )
        if all(isinstance(one, DataType) for one in given):
            types = list(given)
        else:
            names = [str(one) for one in given]
    if any(one is None for one in types):
        return _mixed(frame, names, types)
    return _row(names, types)


def _mixed(frame: pd.DataFrame, names: Sequence[str], types: Sequence[DataType | None]) -> RowType:
    """Types of columns, of which some are told by their values alone."""
    from schema_core.environment.elements import row_type

    inferred = row_type(rows_of(frame), list(names))
    return _row(
        names,
        [known or one.data_type for known, one in zip(types, inferred.fields, strict=True)],
    )


def _row(names: Sequence[str], types: Sequence[DataType | None]) -> RowType:
    return RowType([RowField(name, one or DataTypes.NULL()) for name, one in
                    zip(names, types, strict=True)], nullable=False)  # fmt: skip


class DataFrame:
    """What a data frame is called in messages."""


@needs("pandas")
def frame_of(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Rows as a frame.

    Raises:
        NotFoundError: with code `missing-extra` where pandas is not installed.
    """
    import pandas as pd

    return pd.DataFrame([tuple(row) for row in rows], columns=list(names))
