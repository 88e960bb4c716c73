"""The functions of a session: temporary functions, those of modules, those of catalogs.

Names of functions are not case-sensitive; those of catalogs and databases are. The class that a
function names is never imported: its signatures are declared in a table of classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from threading import RLock
from types import NoneType
from typing import Any, TypeAlias

from schema_core.arguments import require_instance
from schema_core.catalog.objects import CatalogFunction
from schema_core.catalog.registry import CatalogRegistry
from schema_core.catalog.temporary import TemporaryStore
from schema_core.errors import AlreadyExistsError, NotFoundError, SchemaError, similar
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.functions.definitions import DEFINITIONS
from schema_core.expressions.signatures import Function, Kind, Spark, declare
from schema_core.paths import ObjectIdentifier, UnresolvedPath
from schema_core.text import Span, show
from schema_core.types import DataType, TypeRoot

# --- modules --------------------------------------------------------------------------------------

#: The module that holds the built-in functions.
CORE = "core"

#: What a module is made of: functions by their names.
Module: TypeAlias = Mapping[str, Any]


def nowhere(name: str) -> Module | None:
    """No module but the built-in one is known."""
    return None


class Modules:
    """The modules that are loaded, and those of them in use, in order.

    `offered` gives the functions of a module that a package offers, or None.

    >>> modules = Modules()
    >>> modules.unload("core")
    >>> modules.used, modules.loaded
    ([], [])
    """

    def __init__(self, offered: Callable[[str], Module | None] = nowhere) -> None:
        self.loaded = [CORE]
        self.used = [CORE]
        self._offered = offered
        self._lock = RLock()
        self._functions: dict[str, Module] = {}

    def of_packages(self) -> Iterable[tuple[str, Module]]:
        """The modules in use that packages brought, in order, each with its functions."""
        found = ((name, self._functions.get(name)) for name in self.used)
        return [(name, functions) for name, functions in found if functions is not None]

    def load(self, name: str) -> None:
        """Load a module and use it after all others.

        Raises:
            AlreadyExistsError: with code `module-exists`.
            NotFoundError: with code `module-not-found` for one that no package offers.
        """
        self._load(name, lambda: self._offered(name))

    def add(self, name: str, module: Module) -> None:
        """Load a module that is given as an object, and use it after all others.

        Raises:
            AlreadyExistsError: with code `module-exists`.
        """
        self._load(name, lambda: module)

    def _load(self, name: str, find: Callable[[], Module | None]) -> None:
        with self._lock:
            if name in self.loaded:
                problem = f"the module {name} is loaded already"
                raise AlreadyExistsError(problem, code="module-exists")
            if name != CORE:
                if (module := find()) is None:
                    raise self._missing(name, [CORE])
                self._functions[name] = {key.lower(): value for key, value in module.items()}
            self.loaded = [*self.loaded, name]
            self.used = [*self.used, name]

    def unload(self, name: str) -> None:
        """Forget a module.

        Raises:
            NotFoundError: with code `module-not-found`.
        """
        with self._lock:
            if name not in self.loaded:
                raise self._missing(name, self.loaded)
            self.loaded = [one for one in self.loaded if one != name]
            self.used = [one for one in self.used if one != name]
            self._functions.pop(name, None)

    def use(self, names: Iterable[str]) -> None:
        """Use these modules, in this order, and no others.

        Raises:
            SchemaError: with code `duplicate-module`.
            NotFoundError: with code `module-not-found`.
        """
        wanted = list(names)
        with self._lock:
            for position, name in enumerate(wanted):
                if name in wanted[:position]:
                    raise SchemaError(f"the module {name} is named twice", code="duplicate-module")
                if name not in self.loaded:
                    raise self._missing(name, self.loaded)
            self.used = wanted

    def listed(self) -> list[tuple[str, bool]]:
        """All modules, those in use first and in order, and whether each is in use."""
        rest = sorted(set(self.loaded) - set(self.used))
        return [*((name, True) for name in self.used), *((name, False) for name in rest)]

    @staticmethod
    def _missing(name: str, known: Iterable[str]) -> NotFoundError:
        return NotFoundError(
            f"there is no module {name}", code="module-not-found", hint=similar(name, known)
        )


# --- functions ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FunctionClass:
    """What a class is known to do: its kind and what it takes and gives.

    `problem` says why it cannot be used; `is_function` is False for a class that is something else
    entirely, which Flink notices only when it is called. `spark` is how Spark computes it.
    """

    signatures: tuple[tuple[tuple[DataType, ...], DataType], ...] = ()
    kind: Kind = Kind.SCALAR
    problem: str | None = None
    is_function: bool = True
    deterministic: bool = field(default=True, kw_only=True)
    spark: Spark = field(default=None, compare=False, kw_only=True)

    def rows(self, name: str, path: tuple[str, ...]) -> tuple[Function, ...]:
        """The rows by which a call of it is typed.

        Raises:
            SchemaError: with code `invalid-function-class` for a class that cannot be used.
        """
        if self.problem is not None:
            raise SchemaError(self.problem, code="invalid-function-class")
        signatures = [(takes, self._given(gives)) for takes, gives in self.signatures]
        return declare(
            name,
            signatures,
            kind=self.kind,
            path=path,
            deterministic=self.deterministic,
            spark=self.spark,
        )

    def _given(self, type_: DataType) -> DataType:
        """The type of a result; a row that a table function gives is never NULL."""
        is_row = self.kind is Kind.TABLE and type_.is_(TypeRoot.ROW)
        return type_.not_null() if is_row else type_


def check_declaration(declaration: FunctionClass) -> None:
    """Check what a user declares of a class.

    Raises:
        SchemaError: with code `wrong-argument` for the first part of another type.
    """
    given: object = declaration.signatures
    require_instance(given, (tuple, list), "the signatures")
    for signature in declaration.signatures:
        _check_signature(signature)
    require_instance(declaration.kind, Kind, "the kind")
    require_instance(declaration.problem, (str, NoneType), "the problem")
    require_instance(declaration.is_function, bool, "is_function")
    require_instance(declaration.deterministic, bool, "deterministic")
    spark: object = declaration.spark
    if not (spark is None or isinstance(spark, str) or callable(spark)):
        raise SchemaError(
            f"spark must be a template or a function, got {show(spark)}", code="wrong-argument"
        )


def _check_signature(signature: object) -> None:
    match signature:
        case (list() | tuple() as arguments, DataType()) if all(
            isinstance(one, DataType) for one in arguments
        ):
            return
        case _:
            raise SchemaError(
                f"expected argument types and a result type, got {show(signature)}",
                code="wrong-argument",
                hint="write ((DataTypes.INT(),), DataTypes.STRING())",
            )


#: What a function is made of: the name of a class, or what it does.
Definition: TypeAlias = CatalogFunction | FunctionClass


class FunctionLocation(Enum):
    """Where functions are."""

    TEMPORARY_SYSTEM = "temporary system function"
    SYSTEM = "system function"
    TEMPORARY = "temporary function"
    CATALOG = "catalog function"


#: How many names a reference has -> where it is looked for, in order (FLIP-57).
ORDER: dict[int, tuple[FunctionLocation, ...]] = {
    1: (
        FunctionLocation.TEMPORARY_SYSTEM,
        FunctionLocation.SYSTEM,
        FunctionLocation.TEMPORARY,
        FunctionLocation.CATALOG,
    ),
    2: (FunctionLocation.TEMPORARY, FunctionLocation.CATALOG),
    3: (FunctionLocation.TEMPORARY, FunctionLocation.CATALOG),
}


@dataclass(frozen=True, slots=True)
class FoundFunction:
    """A function with the place and the full path under which it was found."""

    place: FunctionLocation
    path: tuple[str, ...]
    definition: Definition | tuple[Function, ...]


def lowered(identifier: ObjectIdentifier) -> ObjectIdentifier:
    """The path with the function's own name in lower case."""
    return ObjectIdentifier(
        identifier.catalog_name, identifier.database_name, identifier.object_name.lower()
    )


class FunctionCatalog:
    """The functions of a session.

    `classes` says what the classes do that functions are made of.
    """

    def __init__(
        self,
        registry: CatalogRegistry,
        modules: Modules | None = None,
        classes: Mapping[str, FunctionClass] | None = None,
    ) -> None:
        self.modules = modules or Modules()
        self.classes: dict[str, FunctionClass] = dict(classes or {})
        self.system: TemporaryStore[str, Definition] = TemporaryStore(
            "temporary system function", str.lower
        )
        self.temporary: TemporaryStore[ObjectIdentifier, Definition] = TemporaryStore(
            "temporary function", lowered
        )
        self._registry = registry
        self._search: dict[FunctionLocation, Callable[[UnresolvedPath], FoundFunction | None]] = {
            FunctionLocation.TEMPORARY_SYSTEM: self._find_temporary_system,
            FunctionLocation.SYSTEM: self._find_system,
            FunctionLocation.TEMPORARY: self._find_temporary,
            FunctionLocation.CATALOG: self._find_in_catalog,
        }

    # --- looking up ----------------------------------------------------------------------------

    def find(self, path: UnresolvedPath) -> FoundFunction | None:
        """The function that is meant, or None."""
        found = (self._search[place](path) for place in ORDER[len(path.parts)])
        return next(filter(None, found), None)

    def get(self, path: UnresolvedPath) -> FoundFunction:
        """The function that is meant.

        Raises:
            NotFoundError: with code `function-not-found`.
        """
        if found := self.find(path):
            return found
        raise NotFoundError(
            f"there is no function {path}",
            code="function-not-found",
            hint=similar(path.object_name.lower(), self.list_functions()),
        )

    def function(self, path: tuple[str, ...], span: Span) -> tuple[Function, ...] | None:
        """The rows by which a call is typed; None if there is no such function.

        Raises:
            SchemaError: with code `invalid-function-class` where its class cannot be used.
        """
        found = self.find(UnresolvedPath(path)) if 1 <= len(path) <= 3 else None
        if found is None:
            return None
        try:
            return self.rows(found)
        except SchemaError as error:
            error.span = error.span or span
            raise

    def rows(self, found: FoundFunction) -> tuple[Function, ...]:
        """The rows by which calls of a function that was found are typed."""
        name, definition = found.path[-1], found.definition
        match definition:
            case tuple():
                return definition
            case FunctionClass():
                return definition.rows(name, found.path)
            case CatalogFunction():
                return self.load(definition.class_name).rows(name, found.path)

    def load(self, class_name: str) -> FunctionClass:
        """What the class does.

        Raises:
            SchemaError: with code `invalid-function-class` where nobody declared it.
        """
        if known := self.classes.get(class_name):
            return known
        raise SchemaError(
            f"nothing is known of the class {class_name!r}",
            code="invalid-function-class",
            hint="declare what it takes and gives: classes named in texts are never imported",
        )

    def check(self, definition: Definition) -> None:
        """Refuse a definition that a temporary function is not made of.

        Raises:
            SchemaError: with code `invalid-function-class`.
        """
        loaded = self.load(definition.class_name) if isinstance(
            definition, CatalogFunction
        ) else definition  # fmt: skip
        if loaded.is_function and loaded.problem is not None:
            raise SchemaError(loaded.problem, code="invalid-function-class")

    def _find_temporary_system(self, path: UnresolvedPath) -> FoundFunction | None:
        name = path.object_name.lower()
        definition = self.system.find(name)
        return (
            FoundFunction(FunctionLocation.TEMPORARY_SYSTEM, (name,), definition)
            if definition
            else None
        )

    def _find_system(self, path: UnresolvedPath) -> FoundFunction | None:
        name = path.object_name.lower()
        of_packages = dict(self.modules.of_packages())
        for module in self.modules.used:
            if module == CORE and (rows := BUILT_IN.get(name.upper())):
                return FoundFunction(FunctionLocation.SYSTEM, (path.object_name,), tuple(rows))
            if name in (functions := of_packages.get(module, {})):
                return FoundFunction(FunctionLocation.SYSTEM, (name,), functions[name])
        return None

    def _qualify(self, path: UnresolvedPath) -> ObjectIdentifier | None:
        """The full path, or None where there is no current database to begin it with."""
        try:
            return lowered(self._registry.qualify(path))
        except SchemaError:
            return None

    def _find_temporary(self, path: UnresolvedPath) -> FoundFunction | None:
        identifier = self._qualify(path)
        definition = self.temporary.find(identifier) if identifier else None
        if identifier is None or definition is None:
            return None
        return FoundFunction(FunctionLocation.TEMPORARY, tuple(identifier.to_list()), definition)

    def _find_in_catalog(self, path: UnresolvedPath) -> FoundFunction | None:
        identifier = self._qualify(path)
        catalog = self._registry.find(identifier.catalog_name) if identifier else None
        if identifier is None or catalog is None:
            return None
        if not catalog.function_exists(identifier.to_object_path()):
            return None
        definition = catalog.get_function(identifier.to_object_path())
        return FoundFunction(FunctionLocation.CATALOG, tuple(identifier.to_list()), definition)

    # --- making and dropping -------------------------------------------------------------------

    def create_temporary_system(
        self, name: str, definition: Definition, ignore_if_exists: bool
    ) -> bool:
        """Keep a function for this session that hides built-in ones; tells whether it is new.

        Raises:
            AlreadyExistsError: with code `temporary-system-function-exists`.
            SchemaError: with code `invalid-function-class` for a class that cannot be used.
        """
        self.check(definition)
        return self.system.create(name, definition, ignore_if_exists)

    def create_temporary(
        self, identifier: ObjectIdentifier, definition: Definition, ignore_if_exists: bool
    ) -> bool:
        """Keep a function for this session, at any path; tells whether it is new.

        Raises:
            AlreadyExistsError: with code `temporary-function-exists`.
            SchemaError: with code `invalid-function-class` for a class that cannot be used.
        """
        self.check(definition)
        return self.temporary.create(identifier, definition, ignore_if_exists)

    def create(
        self, identifier: ObjectIdentifier, function: CatalogFunction, ignore_if_exists: bool
    ) -> None:
        """Keep a function in its catalog; whether its class is of use shows when it is called.

        Raises:
            AlreadyExistsError: with code `function-exists`.
            NotFoundError: with code `catalog-not-found` or `database-not-found`.
        """
        catalog = self._registry.get(identifier.catalog_name)
        catalog.create_function(identifier.to_object_path(), function, ignore_if_exists)

    def alter(
        self, identifier: ObjectIdentifier, function: CatalogFunction, ignore_if_not_exists: bool
    ) -> None:
        """Put another class in place of that of a permanent function.

        Raises:
            NotFoundError: with code `function-not-found`.
        """
        catalog = self._registry.get(identifier.catalog_name)
        catalog.alter_function(identifier.to_object_path(), function, ignore_if_not_exists)

    def drop(self, identifier: ObjectIdentifier, ignore_if_not_exists: bool) -> bool:
        """Drop a permanent function; tells whether there was one.

        Raises:
            NotFoundError: with code `catalog-not-found` or `function-not-found`.
        """
        catalog = self._registry.get(identifier.catalog_name)
        there = catalog.function_exists(identifier.to_object_path())
        catalog.drop_function(identifier.to_object_path(), ignore_if_not_exists)
        return there

    def require_not_hidden(self, identifier: ObjectIdentifier) -> None:
        """Refuse a path that a temporary function lies at.

        Raises:
            AlreadyExistsError: with code `temporary-function-exists`.
        """
        if identifier in self.temporary:
            raise AlreadyExistsError(
                f"a temporary function hides {identifier.as_summary_string()}",
                code="temporary-function-exists",
                hint="drop the temporary function first",
            )

    # --- listing -------------------------------------------------------------------------------

    def list_user_defined(self, catalog: str | None, database: str | None) -> list[str]:
        """The user's functions: those of the session and those of a database, sorted.

        A name that is both a temporary system function and one of the database comes twice.
        """
        of_database = {
            path.object_name
            for path in self.temporary
            if (path.catalog_name, path.database_name) == (catalog, database)
        }
        kept = self._registry.find(catalog) if catalog is not None else None
        if kept is not None and database is not None and kept.database_exists(database):
            of_database |= set(kept.list_functions(database))
        return sorted([*self.system, *of_database])

    def list_system(self) -> list[str]:
        """The functions of the modules in use, sorted, Flink's own by their definitions."""
        names: Iterable[str] = DEFINITIONS if CORE in self.modules.used else ()
        brought = {name for _, functions in self.modules.of_packages() for name in functions}
        return sorted(brought.union(names))

    def list_callable(self) -> list[str]:
        """The names that a call in SQL may have, in lower case, each once, sorted."""
        names: Iterable[str] = BUILT_IN if CORE in self.modules.used else ()
        own = {name.lower() for name in names if name.isidentifier()}
        return sorted(own.union(self.list_functions()) - (set(DEFINITIONS) - own))

    def list_functions(self) -> list[str]:
        """All functions that one name reaches, each once, sorted."""
        current = self._registry.current_path
        return sorted({*self.list_user_defined(*current), *self.list_system()})
