"""The methods of an environment that are about user-defined types.

Neither Flink nor PyFlink has such methods; FLIP-164 wants schemas to find types in catalogs. The
names are those that every other kind of object has: create, create temporary, drop, list.
"""

from __future__ import annotations

from schema_core.environment.session import Session
from schema_core.paths import ObjectIdentifier, parse_path


class TypeMethods:
    """What a `TableEnvironment` does with user-defined types."""

    _session: Session

    def create_type(
        self,
        path: str,
        definition: object,
        ignore_if_exists: bool = False,
        *,
        description: str | None = None,
    ) -> None:
        """Keep a type in its catalog, for schemas and casts to name it.

        Args:
            path: One to three names.
            definition: What `DataTypes.of` takes: a row or dataclass makes a structured type, any
                other type is the source of a distinct one.
            ignore_if_exists: Leave a type that is there already as it is.
            description: What it is for.

        Raises:
            AlreadyExistsError: with code `type-exists`.
            UnsupportedError: with code `unsupported-capability` for a catalog that keeps no types.
        """
        kept = self._session.types.define(definition, description)
        self._session.types.create(self._type_path(path), kept, ignore_if_exists)

    def create_temporary_type(
        self,
        path: str,
        definition: object,
        ignore_if_exists: bool = False,
        *,
        description: str | None = None,
    ) -> None:
        """Keep a type for this session, at any path, where it hides a permanent one.

        Raises:
            AlreadyExistsError: with code `temporary-type-exists`.
        """
        kept = self._session.types.define(definition, description)
        self._session.types.create_temporary(self._type_path(path), kept, ignore_if_exists)

    def drop_type(self, path: str, ignore_if_not_exists: bool = True) -> bool:
        """Drop a permanent type; tells whether there was one. Tables that have it stay as they are.

        Raises:
            NotFoundError: with code `type-not-found`, unless that is to be ignored.
            SchemaError: with code `hidden-by-temporary` (FLIP-64).
        """
        return self._session.types.drop(self._type_path(path), ignore_if_not_exists)

    def drop_temporary_type(self, path: str) -> bool:
        """Drop a temporary type; tells whether there was one."""
        return self._session.types.drop_temporary(self._type_path(path), if_exists=True)

    def list_types(self) -> list[str]:
        """The permanent types of the current database, sorted."""
        return self._session.types.list_types(*self._session.registry.qualify_database(()))

    def list_temporary_types(self) -> list[str]:
        """The temporary types of the current database, sorted."""
        place = self._session.registry.qualify_database(())
        return self._session.temporary.type_names(*place)

    def _type_path(self, path: str) -> ObjectIdentifier:
        return self._session.registry.qualify(parse_path(path))
