"""The methods of expressions that read JSON, under PyFlink's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schema_core.expressions.fluent_base import Written, target, written
from schema_core.expressions.fluent_words import (
    JsonExistsOnError,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonType,
    JsonValueOnEmptyOrError,
    word,
)
from schema_core.expressions.values import literal
from schema_core.sql import syntax
from schema_core.sql.syntax import Call, Symbol
from schema_core.types import DataType

if TYPE_CHECKING:
    from typing import Self


class JsonMethods(Written):
    """What a text of JSON can be asked."""

    __slots__ = ()

    def is_json(self, json_type: JsonType | None = None) -> Self:
        """Whether the text is JSON, or JSON of a type.

        >>> from schema_core.expressions.fluent import col
        >>> print(col("a").is_json(JsonType.ARRAY))
        `a` IS JSON ARRAY
        """
        kind = word(JsonType.VALUE if json_type is None else json_type, JsonType)
        return self._made(Call(f"IS JSON {kind}", (self.syntax,)))

    def json_exists(self, path: str, on_error: JsonExistsOnError | None = None) -> Self:
        """Whether the path finds something."""
        behavior = (
            () if on_error is None else (Symbol(f"{word(on_error, JsonExistsOnError)} ON ERROR"),)
        )
        return self._made(Call("JSON_EXISTS", (self.syntax, literal(path), *behavior)))

    def json_value(
        self,
        path: str,
        returning_type: DataType | None = None,
        on_empty: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_empty: Any = None,
        on_error: JsonValueOnEmptyOrError = JsonValueOnEmptyOrError.NULL,
        default_on_error: Any = None,
    ) -> Self:
        """The scalar that the path finds, as STRING or another type.

        >>> from schema_core.expressions.fluent import col
        >>> from schema_core.types import DataTypes
        >>> print(col("a").json_value("$.b", DataTypes.INT()))
        JSON_VALUE(`a`, '$.b' RETURNING INTEGER NULL ON EMPTY NULL ON ERROR)
        """
        found: list[syntax.Expression] = [self.syntax, literal(path)]
        if returning_type is not None:
            found.append(target(returning_type))
        found.append(_otherwise("EMPTY", on_empty, default_on_empty))
        found.append(_otherwise("ERROR", on_error, default_on_error))
        return self._made(Call("JSON_VALUE", tuple(found)))

    def json_query(
        self,
        path: str,
        wrapping_behavior: JsonQueryWrapper = JsonQueryWrapper.WITHOUT_ARRAY,
        on_empty: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
        on_error: JsonQueryOnEmptyOrError = JsonQueryOnEmptyOrError.NULL,
    ) -> Self:
        """The JSON that the path finds, as text."""
        behavior = (
            Symbol(word(wrapping_behavior, JsonQueryWrapper)),
            Symbol(f"{word(on_empty, JsonQueryOnEmptyOrError)} ON EMPTY"),
            Symbol(f"{word(on_error, JsonQueryOnEmptyOrError)} ON ERROR"),
        )
        return self._made(Call("JSON_QUERY", (self.syntax, literal(path), *behavior)))


def _otherwise(event: str, choice: JsonValueOnEmptyOrError, default: Any) -> syntax.Expression:
    if (behavior := word(choice, JsonValueOnEmptyOrError)) != "DEFAULT":
        return Symbol(f"{behavior} ON {event}")
    return Call(f"DEFAULT ON {event}", (written(default),))
