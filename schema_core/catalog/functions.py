"""The functions of a session: temporary functions, those of modules, those of catalogs.

Names of functions are not case-sensitive; names of catalogs and databases are. The class of a
function is never imported: a table of classes declares its signatures.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from enum import Enum
from importlib import import_module
from threading import RLock
from types import NoneType
from typing import Any, TypeAlias

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, UnresolvedPath
from schema_core.base.text import Span, show
from schema_core.catalog.api import FunctionDefinitionFactory
from schema_core.catalog.objects import CatalogFunction, FunctionLanguage
from schema_core.catalog.registry import CatalogRegistry
from schema_core.catalog.temporary import Admission, TemporaryStore, admit_all
from schema_core.errors import (
    AlreadyExistsError,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
    similar,
)
from schema_core.expressions.functions import BUILT_IN, declare
from schema_core.expressions.typed import Function, FunctionKind, Rules, Signature, Spark
from schema_core.expressions.user_functions import (
    PythonImplementation,
    UserDefinedFunction,
    UserFunction,
    user_function,
)
from schema_core.types import DataType, TypeRoot

# --- modules --------------------------------------------------------------------------------------

#: The module that holds the built-in functions.
CORE = "core"

#: The names of built-in definitions, as SHOW FUNCTIONS of Flink 2.3.0 lists them. They differ from
#: the SQL names: ``charLength`` is CHAR_LENGTH, ``plus`` is an operator, and functions with a
#: grammar of their own (``CASE``, ``YEAR``) are not listed.
DEFINITIONS = tuple(
    """
    AGG_DECIMAL_MINUS AGG_DECIMAL_PLUS ARRAY_AGG ARRAY_APPEND ARRAY_CONCAT ARRAY_CONTAINS
    ARRAY_DISTINCT ARRAY_EXCEPT ARRAY_INTERSECT ARRAY_JOIN ARRAY_MAX ARRAY_MIN ARRAY_POSITION
    ARRAY_PREPEND ARRAY_REMOVE ARRAY_REVERSE ARRAY_SLICE ARRAY_SORT ARRAY_UNION ASSIGNMENT
    BITMAP_AND BITMAP_ANDNOT BITMAP_AND_AGG BITMAP_AND_CARDINALITY_AGG BITMAP_BUILD
    BITMAP_BUILD_AGG BITMAP_BUILD_CARDINALITY_AGG BITMAP_CARDINALITY BITMAP_FROM_BYTES BITMAP_OR
    BITMAP_OR_AGG BITMAP_OR_CARDINALITY_AGG BITMAP_TO_ARRAY BITMAP_TO_BYTES BITMAP_TO_STRING
    BITMAP_XOR BITMAP_XOR_AGG BITMAP_XOR_CARDINALITY_AGG BTRIM COALESCE CURRENT_WATERMARK
    DEFAULT ELT ENDSWITH FROM_CHANGELOG GREATEST HIVE_AGG_DECIMAL_PLUS IFNULL INET_ATON
    INET_NTOA IS_JSON JSON JSON_ARRAY JSON_ARRAYAGG_ABSENT_ON_NULL JSON_ARRAYAGG_NULL_ON_NULL
    JSON_EXISTS JSON_OBJECT JSON_OBJECTAGG_ABSENT_ON_NULL JSON_OBJECTAGG_NULL_ON_NULL JSON_QUERY
    JSON_QUOTE JSON_STRING JSON_UNQUOTE JSON_VALUE LEAST LIKE MAP_ENTRIES MAP_FROM_ARRAYS
    MAP_KEYS MAP_UNION MAP_VALUES ML_PREDICT OBJECT_OF OBJECT_UPDATE PARSE_JSON PERCENTILE
    PRINTF REGEXP_COUNT REGEXP_EXTRACT_ALL REGEXP_INSTR REGEXP_SUBSTR SOURCE_WATERMARK SPLIT
    STARTSWITH TO_CHANGELOG TO_TIMESTAMP_LTZ TRANSLATE3 TRY_CAST TRY_PARSE_JSON TYPEOF UNHEX
    URL_DECODE URL_ENCODE abs acos and array as asc ascii asin at atan atan2 avg between bin
    cardinality cast ceil charLength chr collect concat concat_ws convertTz cos cosh cot count
    currentDatabase currentDate currentRowTimestamp currentTime currentTimestamp dateFormat
    decode degrees desc distinct divide e element encode end equals exp extract first_value
    flatten floor fromBase64 fromUnixtime get greaterThan greaterThanOrEqual hex ifThenElse in
    initCap instr isFalse isNotFalse isNotNull isNotTrue isNull isTrue lag last_value lead left
    lessThan lessThanOrEqual listAgg ln localTime localTimestamp locate log log10 log2 lower
    lowerCase lpad ltrim map max md5 min minus minusPrefix mod not notBetween notEquals now or
    over overlay parseUrl pi plus position power proctime radians rand randInteger rangeTo
    regexp regexpExtract regexpReplace reinterpretCast repeat replace reverse right round row
    rowtime rpad rtrim sha1 sha2 sha224 sha256 sha384 sha512 sign similar sin sinh splitIndex
    sqrt start stddevPop stddevSamp strToMap streamRecordTimestamp substr substring sum sum0 tan
    tanh temporalOverlaps times timestampDiff toBase64 toDate toTimestamp trim truncate
    unixTimestamp upper upperCase uuid varPop varSamp withColumns withoutColumns
    """.split()  # noqa: SIM905 - easier to read in one string than as a list
)

#: Functions of the Table API's rules that Flink resolves without the core module, too.
WITHOUT_CORE = frozenset({"TRY_PARSE_JSON"})

#: The functions of a module by name.
Module: TypeAlias = Mapping[str, Any]


def nowhere(name: str) -> Module | None:
    """Return None: only the built-in module exists."""
    return None


class Modules:
    """The loaded modules, and those in use, in order.

    `offered` returns the functions of a package's module, or None.

    >>> modules = Modules()
    >>> modules.unload("core")
    >>> modules.used, modules.loaded
    ([], [])
    """

    def __init__(self, offered: Callable[[str], Module | None] = nowhere) -> None:
        self.loaded: list[str] = [CORE]
        self.used: list[str] = [CORE]
        self._offered = offered
        self._lock = RLock()
        self._functions: dict[str, Module] = {}

    def of_packages(self) -> Iterable[tuple[str, Module]]:
        """Return the packages' modules in use, in order, with their functions."""
        found = ((name, self._functions.get(name)) for name in self.used)
        return [(name, functions) for name, functions in found if functions is not None]

    def load(self, name: str) -> None:
        """Load a module and append it to those in use.

        `already-exists`, or `not-found` if no package provides it.
        """
        self._load(name, lambda: self._offered(name))

    def add(self, name: str, module: Module) -> None:
        """Load the given functions as a module and append it to those in use (`already-exists`)."""
        self._load(name, lambda: module)

    def _load(self, name: str, find: Callable[[], Module | None]) -> None:
        with self._lock:
            if name in self.loaded:
                problem = f"the module {name} is already loaded"
                raise AlreadyExistsError(problem, code="already-exists")
            if name != CORE:
                if (module := find()) is None:
                    raise self._not_found(name, [CORE])
                self._functions[name] = {key.lower(): value for key, value in module.items()}
            self.loaded = [*self.loaded, name]
            self.used = [*self.used, name]

    def unload(self, name: str) -> None:
        """Unload a module (`not-found`)."""
        with self._lock:
            if name not in self.loaded:
                raise self._not_found(name, self.loaded)
            self.loaded = [module for module in self.loaded if module != name]
            self.used = [module for module in self.used if module != name]
            self._functions.pop(name, None)

    def use(self, names: Iterable[str]) -> None:
        """Use only these modules, in this order (`already-exists`, `not-found`)."""
        order = list(names)
        with self._lock:
            for position, name in enumerate(order):
                if name in order[:position]:
                    raise SchemaError(f"duplicate module {name}", code="already-exists")
                if name not in self.loaded:
                    raise self._not_found(name, self.loaded)
            self.used = order

    def listed(self) -> list[tuple[str, bool]]:
        """Return all modules and whether each is in use, those in use first."""
        rest = sorted(set(self.loaded) - set(self.used))
        return [*((name, True) for name in self.used), *((name, False) for name in rest)]

    @staticmethod
    def _not_found(name: str, known: Iterable[str]) -> NotFoundError:
        return NotFoundError(
            f"there is no module {name!r}", code="not-found", hint=similar(name, known)
        )


# --- functions ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FunctionClass:
    """The declaration of a function class: its kind and its signatures.

    `problem` is why it cannot be used; `is_function` is False for a class of another kind, which
    Flink detects only at a call. `spark` is its translation to Spark.
    """

    signatures: tuple[Signature, ...] = ()
    kind: FunctionKind = FunctionKind.SCALAR
    problem: str | None = None
    is_function: bool = True
    deterministic: bool = field(default=True, kw_only=True)
    spark: Spark = field(default=None, compare=False, kw_only=True)

    def rows(self, name: str, path: tuple[str, ...]) -> tuple[Function, ...]:
        """Return the functions that type its calls (`invalid-function` if it cannot be used).

        The rows of a table function are NOT NULL.
        """
        if self.problem is not None:
            raise SchemaError(self.problem, code="invalid-function")
        is_table = self.kind is FunctionKind.TABLE
        signatures = [
            (takes, gives.not_null() if is_table and gives.is_(TypeRoot.ROW) else gives)
            for takes, gives in self.signatures
        ]
        return declare(
            name,
            signatures,
            kind=self.kind,
            path=path,
            deterministic=self.deterministic,
            spark=self.spark,
        )


def declaration_of(function: object) -> FunctionClass:
    """Return the declaration of a Python function or its class; errors as `user_function`."""
    declared = user_function(function)
    return FunctionClass(
        declared.signatures,
        declared.kind,
        deterministic=declared.deterministic,
        spark=PythonImplementation(declared.implementation, declared.vectorized),
    )


def _import_class(name: str) -> FunctionClass:
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(import_module(module), attribute)
    except Exception as error:  # the module is the user's
        raise SchemaError(
            f"the function {name!r} cannot be imported: {error}", code="invalid-function"
        ) from error
    if not callable(found) and not isinstance(found, UserDefinedFunction | UserFunction):
        raise SchemaError(f"{name!r} is not a function", code="invalid-function")
    return declaration_of(found)


def _create_definition(
    factory: FunctionDefinitionFactory, name: str, function: CatalogFunction
) -> FunctionClass:
    """Return what a catalog's factory loads (`invalid-function` if it fails)."""
    try:
        created = factory.create_function_definition(name, function)
    except SchemaCoreError:
        raise
    except Exception as error:  # of the factory
        raise SchemaError(
            f"the catalog cannot load the function {name!r}: {type(error).__name__}: {error}",
            code="invalid-function",
        ) from error
    return created if isinstance(created, FunctionClass) else declaration_of(created)


def _is_declared(name: str) -> bool:
    """Return whether the program itself declared this name as a function of SQL."""
    module, _, attribute = name.rpartition(".")
    return isinstance(vars(sys.modules.get(module, object)).get(attribute), UserFunction)


def check_declaration(declaration: FunctionClass) -> None:
    """Validate a declaration (`invalid-argument` for the first part of another type)."""
    given: object = declaration.signatures
    require_instance(given, (tuple, list), "the signatures")
    for signature in declaration.signatures:
        _check_signature(signature)
    require_instance(declaration.kind, FunctionKind, "the kind")
    require_instance(declaration.problem, (str, NoneType), "the problem")
    require_instance(declaration.is_function, bool, "is_function")
    require_instance(declaration.deterministic, bool, "deterministic")
    spark: object = declaration.spark
    if not (spark is None or isinstance(spark, str) or callable(spark)):
        raise SchemaError(
            f"spark must be a template or a function, got {show(spark)}", code="invalid-argument"
        )


def _check_signature(signature: object) -> None:
    match signature:
        case (list() | tuple() as arguments, DataType()) if all(
            argument is None or argument is ... or isinstance(argument, DataType)
            for argument in arguments
        ):
            return
        case _:
            raise SchemaError(
                f"expected argument types and a result type, got {show(signature)}",
                code="invalid-argument",
                hint="write ((DataTypes.INT(),), DataTypes.STRING())",
            )


#: The definition of a function: the name of its class, or a declaration.
Definition: TypeAlias = CatalogFunction | FunctionClass


class FunctionLocation(Enum):
    """Where a function is found."""

    TEMPORARY_SYSTEM = "temporary system function"
    SYSTEM = "system function"
    TEMPORARY = "temporary function"
    CATALOG = "catalog function"


#: Number of names in a reference -> the locations to search, in order (FLIP-57).
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
    """A function with its location and its full path."""

    place: FunctionLocation
    path: tuple[str, ...]
    definition: Definition | tuple[Function, ...]
    #: of a catalog that loads its functions itself
    factory: FunctionDefinitionFactory | None = field(default=None, compare=False)


def lower_names(identifier: ObjectIdentifier) -> ObjectIdentifier:
    """Return the path with the function name in lower case."""
    return ObjectIdentifier(
        identifier.catalog_name, identifier.database_name, identifier.object_name.lower()
    )


class FunctionCatalog:
    """The functions of a session; `classes` holds the declarations of function classes."""

    def __init__(
        self,
        registry: CatalogRegistry,
        modules: Modules | None = None,
        classes: Mapping[str, FunctionClass] | None = None,
        admit: Admission = admit_all,
    ) -> None:
        self.modules: Modules = modules or Modules()
        self.classes: dict[str, FunctionClass] = dict(classes or {})
        #: modules whose functions statements may name
        self.python_modules: set[str] = set()
        self._import_class: dict[str, FunctionClass] = {}
        self.system: TemporaryStore[str, Definition] = TemporaryStore(
            "temporary system function", str.lower, admit
        )
        self.temporary: TemporaryStore[ObjectIdentifier, Definition] = TemporaryStore(
            "temporary function", lower_names, admit
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
        results = (self._search[place](path) for place in ORDER[len(path.parts)])
        return next(filter(None, results), None)

    def get(self, path: UnresolvedPath) -> FoundFunction:
        """Return the function that a path refers to (`function-not-found`)."""
        if found := self.find(path):
            return found
        raise NotFoundError(
            f"there is no function {'.'.join(path.parts)!r}",
            code="function-not-found",
            hint=similar(path.object_name.lower(), self.list_functions()),
        )

    def function(self, path: tuple[str, ...], span: Span) -> tuple[Function, ...] | None:
        """Return the functions that type a call, or None (`invalid-function`)."""
        resolved = self.find(UnresolvedPath(path)) if 1 <= len(path) <= 3 else None
        if resolved is None:
            self._require_core(path, span)
            return None
        try:
            return self.rows(resolved)
        except SchemaError as error:
            error.span = error.span or span
            raise

    def _require_core(self, path: tuple[str, ...], span: Span) -> None:
        """Refuse a core function if the module is not in use, unless it is standard SQL."""
        name = path[-1].upper()
        rows = BUILT_IN.get(name, ())
        is_standard = name in WITHOUT_CORE or not rows or rows[0].rules is Rules.SQL
        if len(path) > 1 or is_standard or CORE in self.modules.used:
            return
        is_loaded = CORE in self.modules.loaded
        raise SchemaError(
            f"there is no function {path[0]!r}: the module 'core' is not in use",
            code="function-not-found",
            hint="use it with USE MODULES" if is_loaded else "load it with LOAD MODULE core",
            span=span,
        )

    def rows(self, found: FoundFunction) -> tuple[Function, ...]:
        name, definition = found.path[-1], found.definition
        match definition:
            case tuple():
                return definition
            case FunctionClass():
                return definition.rows(name, found.path)
            case CatalogFunction() if found.factory is not None:
                return _create_definition(found.factory, name, definition).rows(name, found.path)
            case CatalogFunction():
                return self.load(definition).rows(name, found.path)

    def load(self, function: CatalogFunction) -> FunctionClass:
        """Return the declaration of a function's class, or of a function in Python.

        The latter is imported if its module is one of `python_modules`. A result of `udf`, `udtf`,
        `udaf` or `udtaf` is found without that in a module that the process has imported.
        `invalid-function` if it is neither declared nor allowed, or cannot be imported.
        """
        name = function.class_name
        if known := self.classes.get(name) or self._import_class.get(name):
            return known
        hint = "declare its signatures with `declare_function_class`; it is never imported"
        if function.language is FunctionLanguage.PYTHON:
            module = name.rpartition(".")[0]
            if module in self.python_modules or _is_declared(name):
                self._import_class[name] = found = _import_class(name)
                return found
            hint = "write 'module.function'"
            if module:
                allowing = f"allow_python_modules({module!r})"
                hint = f"if you trust its code, call {allowing} of the environment"
        raise SchemaError(f"unknown function class {name!r}", code="invalid-function", hint=hint)

    def check(self, definition: Definition) -> None:
        """Refuse an invalid definition of a temporary function (`invalid-function`)."""
        loaded = self.load(definition) if isinstance(
            definition, CatalogFunction
        ) else definition  # fmt: skip
        if loaded.is_function and loaded.problem is not None:
            raise SchemaError(loaded.problem, code="invalid-function")

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
        """Return the full path; None if that requires a current database and there is none."""
        try:
            return lower_names(self._registry.qualify(path))
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
        return FoundFunction(
            FunctionLocation.CATALOG,
            tuple(identifier.to_list()),
            definition,
            catalog.get_function_definition_factory(),
        )

    # --- creating and dropping -----------------------------------------------------------------

    def create_temporary_system(
        self, name: str, definition: Definition, ignore_if_exists: bool
    ) -> bool:
        """Create a temporary system function, which hides built-in ones; return whether it is new.

        Errors: `function-exists`, `invalid-function`.
        """
        self.check(definition)
        return self.system.create(name, definition, ignore_if_exists)

    def create_temporary(
        self, identifier: ObjectIdentifier, definition: Definition, ignore_if_exists: bool
    ) -> bool:
        """Create a temporary function at any path; return whether it is new.

        Errors: `function-exists`, `invalid-function`.
        """
        self.check(definition)
        return self.temporary.create(identifier, definition, ignore_if_exists)

    def create(
        self, identifier: ObjectIdentifier, function: CatalogFunction, ignore_if_exists: bool
    ) -> None:
        """Store a function in its catalog; its class is checked when it is called.

        Errors: `function-exists`, `catalog-not-found`, `database-not-found`.
        """
        catalog = self._registry.get(identifier.catalog_name)
        catalog.create_function(identifier.to_object_path(), function, ignore_if_exists)

    def alter(
        self, identifier: ObjectIdentifier, function: CatalogFunction, ignore_if_not_exists: bool
    ) -> None:
        """Replace the definition of a permanent function (`function-not-found`)."""
        catalog = self._registry.get(identifier.catalog_name)
        catalog.alter_function(identifier.to_object_path(), function, ignore_if_not_exists)

    def drop(self, identifier: ObjectIdentifier, ignore_if_not_exists: bool) -> bool:
        """Drop a permanent function; return whether there was one.

        Errors: `catalog-not-found`, `function-not-found`.
        """
        catalog = self._registry.get(identifier.catalog_name)
        there = catalog.function_exists(identifier.to_object_path())
        catalog.drop_function(identifier.to_object_path(), ignore_if_not_exists)
        return there

    def require_not_hidden(self, identifier: ObjectIdentifier) -> None:
        """Refuse the path of a temporary function (`function-exists`)."""
        if identifier in self.temporary:
            raise AlreadyExistsError(
                f"a temporary function hides {identifier.as_summary_string()!r}",
                code="function-exists",
                hint="drop the temporary function first",
            )

    # --- listing -------------------------------------------------------------------------------

    def list_user_defined(self, catalog: str | None, database: str | None) -> list[str]:
        """Return the sorted user-defined functions of the session and of a database.

        A name of both a temporary system function and one of the database is listed twice.
        """
        of_database = {
            path.object_name
            for path in self.temporary
            if (path.catalog_name, path.database_name) == (catalog, database)
        }
        stored = self._registry.find(catalog) if catalog is not None else None
        if stored is not None and database is not None and stored.database_exists(database):
            of_database |= set(stored.list_functions(database))
        return sorted([*self.system, *of_database])

    def list_system(self) -> list[str]:
        """Return the sorted functions of the modules in use; Flink's by their definitions."""
        names: Iterable[str] = DEFINITIONS if CORE in self.modules.used else ()
        brought = {name for _, functions in self.modules.of_packages() for name in functions}
        return sorted(brought.union(names))

    def list_callable(self) -> list[str]:
        """Return the sorted names that calls in SQL may have, in lower case."""
        names: Iterable[str] = BUILT_IN if CORE in self.modules.used else ()
        own = {name.lower() for name in names if name.isidentifier()}
        return sorted(own.union(self.list_functions()) - (set(DEFINITIONS) - own))

    def list_functions(self) -> list[str]:
        """Return the sorted names of all functions that one name can reference."""
        current = self._registry.current_path
        return sorted({*self.list_user_defined(*current), *self.list_system()})
