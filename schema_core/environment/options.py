"""Options: what a key may hold, read from text; which values must never be shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from schema_core.errors import SchemaError, at

Value = TypeVar("Value")

#: A key that contains one of these (in any case) holds a secret.
SENSITIVE = (
    "password", "secret", "apikey", "api-key", "auth-params", "service-key", "token",
    "basic-auth", "jaas.config", "http-headers", "account.key",
)  # fmt: skip
MASK = "******"


def boolean(text: str) -> bool:
    """TRUE or FALSE in any case.

    Raises:
        SchemaError: with code `option-value` for anything else.
    """
    if (word := text.strip().lower()) not in {"true", "false"}:
        raise SchemaError(f"expected true or false, got {text!r}", code="option-value")
    return word == "true"


def integer(text: str) -> int:
    """A whole number.

    Raises:
        SchemaError: with code `option-value` for anything else.
    """
    try:
        return int(text)
    except ValueError:
        raise SchemaError(f"expected a whole number, got {text!r}", code="option-value") from None


def choice(*words: str) -> Callable[[str], str]:
    """A reader of one of these words, in any case; gives the word as written here.

    >>> choice("error", "drop")("DROP")
    'drop'
    """

    def read(text: str) -> str:
        for word in words:
            if word.lower() == text.strip().lower():
                return word
        raise SchemaError(f"expected one of {', '.join(words)}, got {text!r}", code="option-value")

    return read


@dataclass(frozen=True, slots=True)
class ConfigOption(Generic[Value]):
    """A key, how its text is read, what holds when it is not given, and what it means.

    `former` keys are still understood; `is_map` says that ``key.*`` belongs to it as well.

    >>> HEADER = ConfigOption("csv.skip-lines", integer, 0, "lines to pass over")
    >>> HEADER.of({"csv.skip-lines": "1"}), HEADER.of({})
    (1, 0)
    """

    key: str
    read: Callable[[str], Value]
    default: Value | None = None
    description: str = ""
    required: bool = False
    former: tuple[str, ...] = ()
    is_map: bool = False

    def of(self, options: Mapping[str, str]) -> Value | None:
        """The value among these options, or the default.

        Raises:
            SchemaError: with the code of the reader, when the text cannot be read.
        """
        for key in (self.key, *self.former):
            if key in options:
                with at(f"option {key!r}"):
                    return self.read(options[key])
        return self.default


def masked(options: Mapping[str, str]) -> dict[str, str]:
    """The options as they may be shown: sorted, secrets as asterisks.

    >>> masked({"password": "p", "connector": "x"})
    {'connector': 'x', 'password': '******'}
    """
    return {
        key: MASK if any(word in key.lower() for word in SENSITIVE) else options[key]
        for key in sorted(options)
    }
