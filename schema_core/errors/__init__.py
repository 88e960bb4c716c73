"""Errors, classified by how a caller would handle them, and their representation as diagnostics.

The code that detects an error states the *problem*. As it propagates, `at` prepends steps of its
path ("column 'total'"), and `within` adds the source text, which gives a span a line and a caret.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from dataclasses import field
from functools import lru_cache, partial
from heapq import nlargest
from itertools import islice, pairwise, takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from schema_core.base.lazy import dataclass
from schema_core.base.secrets import mask_text
from schema_core.base.text import Span, line_starts, position

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


#: Maximum length of a problem or a hint, and of a step of a path.
MAX_PROBLEM = 4_000
MAX_PLACE = 200


def cut(message: str, length: int = MAX_PROBLEM) -> str:
    """Return the start of a message, which may quote input of any length.

    >>> cut("there is no column 'abcdefgh'", 24)
    "there is no column 'a..."
    """
    return message if len(message) <= length else message[: length - 3] + "..."


def caret(text: str, span: Span, width: int = 96) -> list[str]:
    r"""Return the line of a span and a line of carets under it, both truncated; secrets are masked.

    >>> print("\n".join(caret("a + b", Span(4, 5))))
    a + b
        ^
    """
    text = mask_text(text)
    starts = line_starts(text)
    line = bisect_right(starts, span.start)
    start_of_line = starts[line - 1]
    end_of_line = starts[line] - 1 if line < len(starts) else len(text)
    left = span.start - start_of_line
    shift = max(0, left - width // 2)
    start = start_of_line + shift
    shown = text[start : min(start + width, end_of_line)].replace("\t", " ")
    marks = max(1, min(span.stop - span.start, len(shown) - (left - shift)))
    return [shown, " " * (left - shift) + "^" * marks]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One error as data, from which messages, the command line and reports are rendered.

    `line` and `column` count from 1, and are 0 without a position in a source text. `file` is the
    path of the file that contains the text, if known.
    """

    code: str
    message: str
    path: tuple[str, ...] = ()
    hint: str | None = None
    span: Span | None = None
    text: str | None = field(default=None, repr=False)
    file: str | None = None

    @property
    def line(self) -> int:
        return position(self.text, self.span.start)[0] if self.text and self.span else 0

    @property
    def column(self) -> int:
        return position(self.text, self.span.start)[1] if self.text and self.span else 0

    def __str__(self) -> str:
        lines = [self.message]
        if self.path:
            lines.append(f"  in {', '.join(self.path)}")
        if self.text is not None and self.span is not None:
            lines += [f"    {line}" for line in caret(self.text, self.span)]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


class SchemaCoreError(Exception):
    """Base class of all errors of the library.

    `problem` is the message without its location, `code` a stable name in kebab-case, `path` the
    steps to the location, `span` a range of characters of `text`, `file` the path of the file with
    this text. `diagnostics` are this error and those reported with it. A code of `BY_CODE` decides
    the class that is raised.
    """

    default_code = "unclassified-error"

    def __new__(cls, *_: Any, code: str | None = None, **__: Any) -> Self:
        kind = BY_CODE.get(code or cls.default_code, cls)
        return super().__new__(kind if issubclass(kind, cls) else cls)

    def __init__(
        self,
        problem: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        span: Span | None = None,
        text: str | None = None,
        path: tuple[str, ...] = (),
    ) -> None:
        problem = cut(problem)
        super().__init__(problem)
        self.problem = problem
        self.code: str = code or self.default_code
        self.hint: str | None = None if hint is None else cut(hint)
        self.span = span
        self.text = text
        self.path = path
        self.file: str | None = None
        self.others: tuple[SchemaCoreError, ...] = ()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        own = Diagnostic(
            self.code, self.problem, self.path, self.hint, self.span, self.text, self.file
        )
        return (own, *(d for other in self.others for d in other.diagnostics))

    def __str__(self) -> str:
        return "\n".join(map(str, self.diagnostics))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (type(self), self.problem, self.__dict__.copy()))

    def _render_traceback_(self) -> list[str]:
        """Return what IPython and notebooks show: the user's frames, and the errors by code.

        An error that another one caused keeps all frames: they may be those of a user's function.
        """
        import traceback

        package = __file__.rpartition("errors")[0]
        is_caused = self.__cause__ or (self.__context__ and not self.__suppress_context__)
        frames = traceback.extract_tb(self.__traceback__)
        if is_caused:
            count = len("".join(traceback.format_exception_only(self)).splitlines())
            lines = "".join(traceback.format_exception(self)).splitlines()[:-count]
        else:
            users = takewhile(lambda frame: not frame.filename.startswith(package), frames)
            own = [frame for frame in users if f"{os.sep}IPython{os.sep}" not in frame.filename]
            lines = ["Traceback (most recent call last):"]
            lines += "".join(traceback.format_list(own)).splitlines()
        shown = (f"[{each.code}] {each}" for each in self.diagnostics)
        return [*lines, f"{type(self).__name__}: " + "\n".join(shown)]


def _restore(kind: type[SchemaCoreError], problem: str, state: dict[str, Any]) -> SchemaCoreError:
    error = kind(problem)
    error.__dict__.update(state)
    return error


class SchemaError(SchemaCoreError):
    """A type, expression, schema, statement or argument is invalid.

    >>> with at("column 'total'"), at("argument 2 of SUBSTRING"):
    ...     raise SchemaError("expected an integer, got STRING", hint="add a CAST")
    Traceback (most recent call last):
        ...
    schema_core.errors.SchemaError: expected an integer, got STRING
      in column 'total', argument 2 of SUBSTRING
      hint: add a CAST
    """

    default_code = "invalid-value"


class ParseError(SchemaError):
    """The input does not follow its grammar; `span` is the position."""

    default_code = "syntax"


class NotFoundError(SchemaCoreError):
    """An object does not exist: a catalog, database, table, view, function or column.

    `names` is its full path, starting with the catalog, if known.
    """

    default_code = "not-found"
    names: tuple[str, ...] = ()

    def of(self, *names: str) -> Self:
        """Set the full path of the missing object, and return the error."""
        self.names = names
        return self


class AlreadyExistsError(SchemaCoreError):
    """An object of that name already exists."""

    default_code = "already-exists"


class ConflictError(SchemaCoreError):
    """A concurrent modification: `expected` is the state that was read, `found` the current one.

    Read the object again, and repeat the change.
    """

    default_code = "concurrent-modification"
    expected: object = None
    found: object = None


class UnsupportedError(SchemaCoreError):
    """The request is valid, but not supported by a format, a connector or an engine."""

    default_code = "feature-not-supported"


class ExternalError(SchemaCoreError):
    """An external system failed: a file, a store, a Spark job."""

    default_code = "external-failure"


# --- classes that are raised by code --------------------------------------------------------------


class InvalidArgumentError(SchemaError, TypeError, ValueError):
    """An argument, a row or a function has a wrong class or value, where Python refuses such."""

    default_code = "invalid-argument"


class CatalogException(SchemaCoreError):
    """A catalog or its store failed, or does not exist."""

    default_code = "catalog-store-failed"


class CatalogStoreException(ExternalError, CatalogException):
    """The store of a catalog failed, or its content is malformed."""

    default_code = "catalog-store-failed"


class CatalogNotExistException(NotFoundError, CatalogException):
    """A catalog does not exist."""

    default_code = "catalog-not-found"


class CatalogAlreadyExistException(AlreadyExistsError, CatalogException):
    """A catalog of that name already exists."""

    default_code = "catalog-exists"


class CatalogInUseException(SchemaError, CatalogException):
    """The current catalog cannot be dropped."""

    default_code = "catalog-in-use"


class DatabaseNotExistException(NotFoundError, CatalogException):
    """A database does not exist. Flink raises `CatalogException` where it is selected."""

    default_code = "database-not-found"


class DatabaseAlreadyExistException(AlreadyExistsError):
    """A database of that name already exists."""

    default_code = "database-exists"


class DatabaseNotEmptyException(SchemaError):
    """A database that holds objects is dropped without CASCADE."""

    default_code = "database-not-empty"


class TableNotExistException(NotFoundError):
    """A table or view does not exist."""

    default_code = "table-not-found"


class TableAlreadyExistException(AlreadyExistsError):
    """A table or view of that name already exists."""

    default_code = "table-exists"


class TableNotPartitionedException(SchemaError):
    """A table has no partitions."""

    default_code = "not-partitioned"


class PartitionNotExistException(NotFoundError):
    """A partition does not exist."""

    default_code = "partition-not-found"


class PartitionAlreadyExistsException(AlreadyExistsError):
    """A partition of that specification already exists."""

    default_code = "partition-exists"


class PartitionSpecInvalidException(SchemaError):
    """The keys of a partition are not those of its table."""

    default_code = "invalid-partition-spec"


class FunctionNotExistException(NotFoundError):
    """A function does not exist."""

    default_code = "function-not-found"


class FunctionAlreadyExistException(AlreadyExistsError):
    """A function of that name already exists."""

    default_code = "function-exists"


class ModelNotExistException(NotFoundError):
    """A model does not exist."""

    default_code = "model-not-found"


class ModelAlreadyExistException(AlreadyExistsError):
    """A model of that name already exists."""

    default_code = "model-exists"


#: Error code -> its class.
BY_CODE: Mapping[str, type[SchemaCoreError]] = MappingProxyType({
    "catalog-store-failed":   CatalogStoreException,
    "corrupt-entry":          CatalogStoreException,
    "catalog-not-found":      CatalogNotExistException,
    "catalog-exists":         CatalogAlreadyExistException,
    "catalog-in-use":         CatalogInUseException,
    "database-not-found":     DatabaseNotExistException,
    "database-exists":        DatabaseAlreadyExistException,
    "database-not-empty":     DatabaseNotEmptyException,
    "table-not-found":        TableNotExistException,
    "table-exists":           TableAlreadyExistException,
    "not-partitioned":        TableNotPartitionedException,
    "partition-not-found":    PartitionNotExistException,
    "partition-exists":       PartitionAlreadyExistsException,
    "invalid-partition-spec": PartitionSpecInvalidException,
    "function-not-found":     FunctionNotExistException,
    "function-exists":        FunctionAlreadyExistException,
    "model-not-found":        ModelNotExistException,
    "model-exists":           ModelAlreadyExistException,
    "invalid-argument":       InvalidArgumentError,
    "invalid-data":           InvalidArgumentError,
    "data-type-not-inferred": InvalidArgumentError,
    "invalid-function":       InvalidArgumentError,
})  # fmt: skip


def with_notes(
    error: BaseException, others: Iterable[BaseException], occasion: str
) -> BaseException:
    """Attach later errors to an error as notes, which its traceback shows (PEP 678)."""
    for other in others:
        error.add_note(f"{occasion}: {type(other).__name__}: {other}")
    return error


class OnError:
    """A context that calls a function with an error of its block; True suppresses the error.

    `contextlib.contextmanager` would take several times as long, and each step of resolution has
    one.
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: Callable[[SchemaCoreError], bool]) -> None:
        self._handle = handle

    def __enter__(self) -> None:
        """Enter the block."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool | None:
        return isinstance(error, SchemaCoreError) and self._handle(error)


def at(place: str, span: Span | None = None) -> OnError:
    """Prepend `place` to the path of an error that propagates, and set `span` if it has none."""
    return OnError(partial(_locate, cut(place, MAX_PLACE), span))


def _locate(place: str, span: Span | None, error: SchemaCoreError) -> bool:
    for other in (error, *error.others):
        other.path = (place, *other.path)
        if other.span is None:
            other.span = span
    return False


def within(text: str | None, file: str | None = None) -> OnError:
    """Set the source text of an error that propagates, unless it has one.

    With `file`, the path of the file that contains the text is also set, for errors about the text.

    >>> try:
    ...     with within("a +", "sum.sql"), within("a +"):
    ...         raise SchemaError("expected an expression", span=Span(3, 3))
    ... except SchemaError as error:
    ...     (diagnostic,) = error.diagnostics
    >>> diagnostic.file, diagnostic.line, diagnostic.column
    ('sum.sql', 1, 4)
    """
    return OnError(partial(_set_text, text, file))


def _set_text(text: str | None, file: str | None, error: SchemaCoreError) -> bool:
    for other in (error, *error.others):
        if other.text is None:
            other.text = text
        if other.file is None and other.text == text:
            other.file = file
    return False


def raise_all(errors: Iterable[SchemaCoreError]) -> None:
    """Raise the first error, which carries all others; do nothing if there is none."""
    reported = tuple(errors)
    if reported:
        reported[0].others = reported[1:]
        raise reported[0]


#: Maximum number of errors that are reported at once.
MAX_ERRORS = 1_000


class Gathering:
    """Collects the errors of many steps, so that all are reported at once.

    The last error reports how many exceed `MAX_ERRORS`.

    >>> gathering = Gathering()
    >>> for text in ("a", "b"):
    ...     with gathering.catching():
    ...         raise SchemaError(f"bad {text}")
    >>> [error.problem for error in gathering.errors]
    ['bad a', 'bad b']
    """

    def __init__(self) -> None:
        self.errors: list[SchemaCoreError] = []
        self.omitted: int = 0

    def catching(self) -> OnError:
        return OnError(self._catch)

    def _catch(self, error: SchemaCoreError) -> bool:
        self.add(error)
        return True

    def add(self, error: SchemaCoreError) -> None:
        every = (error, *error.others)
        room = max(0, MAX_ERRORS - len(self.errors))
        self.errors += every[:room]
        self.omitted += len(every[room:])
        error.others = ()

    def raise_all(self) -> None:
        """Raise the first error, which carries all others; do nothing if there is none."""
        if self.omitted:
            problem = f"and {self.omitted:,} more errors"
            self.errors.append(SchemaError(problem, code="too-many-errors"))
        raise_all(self.errors)


#: Maximum number of names that are searched, which is slow.
MAX_SIMILAR = 1_000
#: Maximum number of names in a hint.
MAX_LISTED = 8
#: Maximum number of values in a hint, of which one is to be chosen.
MAX_CHOICES = 24


#: Maximum number of names that are compared, preselected by common letters.
MAX_COMPARED = 24


@lru_cache(maxsize=2_048)
def _pairs(name: str) -> frozenset[str]:
    return frozenset((*name, *map("".join, pairwise(name))))


def close_matches(name: str, known: Sequence[str], likeness: float, count: int = 3) -> list[str]:
    """Return the names most similar to a name, best first, as `difflib.get_close_matches` does.

    That alone would dominate the run time for hundreds of names and errors: few names are compared.

    >>> close_matches("TABELS", ["TABLE", "TABLES", "VIEWS"], 0.75)
    ['TABLES']
    """
    length = len(name)
    names = [
        name
        for name in known
        if 2 * min(length, len(name)) >= likeness * (length + len(name)) and len(name) <= MAX_PLACE
    ]
    if len(names) > MAX_COMPARED:
        own = _pairs(name)
        names = nlargest(MAX_COMPARED, names, key=lambda name: len(own & _pairs(name)))
    from difflib import get_close_matches

    return get_close_matches(name, names, n=count, cutoff=likeness)


def similar(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return a hint with the most similar name, or with all names, or None.

    `likeness` is the minimum similarity, from 0 to 1.

    >>> similar("amuont", ["amount", "id"])
    "did you mean 'amount'?"
    >>> similar("price", ["amount", "id"])
    "there are 'amount', 'id'"
    """
    names = list(islice(known, MAX_SIMILAR + 1))
    if len(names) > MAX_SIMILAR or len(name) > MAX_PLACE:
        return None
    if hint := _meant(name, names, likeness):
        return hint
    if len(names) == 1:
        return f"there is only {names[0]!r}"
    return f"there are {', '.join(map(repr, names))}" if 0 < len(names) <= MAX_LISTED else None


def _meant(name: str, names: Sequence[str], likeness: float) -> str | None:
    """Return a hint with the most similar name, if any is."""
    match = close_matches(name, names, likeness, count=1)
    return f"did you mean {match[0]!r}?" if match else None


def choose_from(name: object, known: Iterable[str], likeness: float = 0.6) -> str:
    """Return a hint with the name that was meant, or with those that are allowed.

    `likeness` is that of `similar`. A `name` that is not a string is none of them.

    >>> choose_from("parqet", ["csv", "parquet"])
    "did you mean 'parquet'?"
    >>> choose_from("x", ["csv", "parquet"]), choose_from("x", [])
    ('use one of csv, parquet', 'there is none')
    """
    names = list(known)
    short = name if isinstance(name, str) and len(name) <= MAX_PLACE else ""
    if hint := _meant(short, names, likeness):
        return hint
    more = f" and {len(names) - MAX_CHOICES} more" if len(names) > MAX_CHOICES else ""
    return f"use one of {', '.join(names[:MAX_CHOICES])}{more}" if names else "there is none"
