"""The methods of an environment that are about functions and modules."""

from __future__ import annotations

from collections.abc import Mapping

from schema_core.arguments import require_instance, validate_arguments
from schema_core.catalog.functions import FunctionClass, check_declaration
from schema_core.catalog.objects import CatalogFunction
from schema_core.environment.definition import Given, definition_of, module_of
from schema_core.environment.session import Session
from schema_core.errors import SchemaError
from schema_core.paths import parse_path
from schema_core.text import is_blank


class FunctionMethods:
    """What a `TableEnvironment` does with functions and modules."""

    _session: Session

    # --- functions -----------------------------------------------------------------------------

    @validate_arguments(class_name=str, declaration=FunctionClass)
    def declare_function_class(self, class_name: str, declaration: FunctionClass) -> None:
        """Declare what a class does that functions name; the class itself is never imported.

        Raises:
            SchemaError: with code `wrong-argument` for a declaration that could not be called: its
                signatures are pairs of argument types and a result type.
        """
        if is_blank(class_name):
            raise SchemaError("class_name must not be blank", code="wrong-argument")
        check_declaration(declaration)
        self._session.functions.classes[class_name] = declaration

    @validate_arguments(path=str, function_class_name=str)
    def create_java_function(
        self, path: str, function_class_name: str, ignore_if_exists: bool = False
    ) -> None:
        """Keep a function in its catalog; its class must be declared and usable.

        Raises:
            AlreadyExistsError: with code `function-exists`, or `temporary-function-exists` where a
                temporary one hides it.
            SchemaError: with code `invalid-function-class`.
        """
        identifier, functions = (
            self._session.registry.qualify(parse_path(path)),
            self._session.functions,
        )
        function = CatalogFunction.create_instance(function_class_name, "Java")
        functions.check(function)
        if not ignore_if_exists or identifier not in functions.temporary:
            functions.require_not_hidden(identifier)
            functions.create(identifier, function, ignore_if_exists)

    @validate_arguments(name=str)
    def create_temporary_system_function(self, name: str, function: Given) -> None:
        """Keep a function for this session that hides built-in ones.

        Raises:
            AlreadyExistsError: with code `temporary-system-function-exists`.
            SchemaError: with code `invalid-function-class` for a class that cannot be used.
        """
        definition = definition_of(function)
        self._session.functions.create_temporary_system(name, definition, ignore_if_exists=False)

    @validate_arguments(path=str)
    def create_temporary_function(self, path: str, function: Given) -> None:
        """Keep a function for this session.

        FLIP-64: a path of one part makes a temporary system function.

        Raises:
            AlreadyExistsError: with code `temporary-function-exists`, or
                `temporary-system-function-exists`.
            SchemaError: with code `invalid-function-class` for a class that cannot be used.
        """
        parsed = parse_path(path)
        if len(parsed.parts) == 1:
            self.create_temporary_system_function(parsed.object_name, function)
            return
        identifier = self._session.registry.qualify(parsed)
        definition = definition_of(function)
        self._session.functions.create_temporary(identifier, definition, ignore_if_exists=False)

    def create_java_temporary_system_function(self, name: str, function_class_name: str) -> None:
        """Keep a class as a function for this session that hides built-in ones.

        Raises:
            AlreadyExistsError: with code `temporary-system-function-exists`.
            SchemaError: with code `invalid-function-class` for a class that cannot be used.
        """
        self.create_temporary_system_function(name, function_class_name)

    def create_java_temporary_function(self, path: str, function_class_name: str) -> None:
        """Keep a class as a function for this session; `create_temporary_function` says where.

        Raises:
            AlreadyExistsError: with code `temporary-function-exists`.
            SchemaError: with code `invalid-function-class` for a class that cannot be used.
        """
        self.create_temporary_function(path, function_class_name)

    @validate_arguments(path=str)
    def drop_function(self, path: str) -> bool:
        """Drop a permanent function; tells whether there was one.

        Raises:
            AlreadyExistsError: with code `temporary-function-exists` where a temporary one hides
                it.
        """
        identifier = self._session.registry.qualify(parse_path(path))
        self._session.functions.require_not_hidden(identifier)
        return self._session.functions.drop(identifier, ignore_if_not_exists=True)

    @validate_arguments(name=str)
    def drop_temporary_system_function(self, name: str) -> bool:
        """Drop a temporary system function; tells whether there was one."""
        return self._session.functions.system.drop(name, ignore_if_not_exists=True)

    @validate_arguments(path=str)
    def drop_temporary_function(self, path: str) -> bool:
        """Drop a temporary function; tells whether there was one.

        FLIP-64: a path of one part means a temporary system function.
        """
        parsed = parse_path(path)
        if len(parsed.parts) == 1:
            return self.drop_temporary_system_function(parsed.object_name)
        identifier = self._session.registry.qualify(parsed)
        return self._session.functions.temporary.drop(identifier, ignore_if_not_exists=True)

    def list_user_defined_functions(self) -> list[str]:
        """The user's functions, temporary ones too, sorted, in lower case."""
        registry = self._session.registry
        place = registry.current_path
        return self._session.functions.list_user_defined(*place)

    def list_functions(self) -> list[str]:
        """The permanent functions that one name reaches, built-in ones too, sorted (FLIP-64)."""
        functions, (catalog, database) = (
            self._session.functions,
            self._session.registry.qualify_database(()),
        )
        kept = self._session.registry.get(catalog).list_functions(database)
        return sorted({*kept, *functions.list_system()})

    def list_temporary_functions(self) -> list[str]:
        """The temporary functions that one name reaches, sorted (FLIP-64)."""
        functions, place = self._session.functions, self._session.registry.qualify_database(())
        here = [
            path.object_name
            for path in functions.temporary
            if (path.catalog_name, path.database_name) == place
        ]
        return sorted({*functions.system, *here})

    # --- modules -------------------------------------------------------------------------------

    @validate_arguments(module_name=str)
    def load_module(self, module_name: str, module: Mapping[str, Given] | None = None) -> None:
        """Load a module and use it after all others.

        Args:
            module_name: How it is called; a package may offer a module of this name.
            module: The module itself: its functions by their names.

        Raises:
            AlreadyExistsError: with code `module-exists`.
            NotFoundError: with code `module-not-found`.
        """
        modules = self._session.functions.modules
        if module is None:
            modules.load(module_name)
        else:
            modules.add(module_name, module_of(module_name, module))

    @validate_arguments(module_name=str)
    def unload_module(self, module_name: str) -> None:
        """Forget a module."""
        self._session.functions.modules.unload(module_name)

    def use_modules(self, *module_names: str) -> None:
        """Use these modules, in this order, and no others."""
        for name in module_names:
            require_instance(name, str, "module_names")
        self._session.functions.modules.use(module_names)

    def list_modules(self) -> list[str]:
        """The modules in use, in order."""
        return list(self._session.functions.modules.used)

    def list_full_modules(self) -> list[tuple[str, bool]]:
        """All modules, and whether each is in use."""
        return self._session.functions.modules.listed()
