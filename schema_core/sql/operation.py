"""What all statements have in common: each is a value that can say in a line what it does."""

from __future__ import annotations


class Operation:
    """A statement that was read: frozen, done by one function of `environment.operations`."""

    __slots__ = ()

    def as_summary_string(self) -> str:
        """What the statement does and with what, in one line; secrets are masked.

        >>> from schema_core.sql.statement import parse_statement
        >>> parse_statement("DROP VIEW IF EXISTS d.v").as_summary_string()
        'DROP VIEW: (path: [`d`.`v`], ifExists: [true])'
        >>> parse_statement("ALTER CATALOG c SET ('password' = 'x')").as_summary_string()
        'ALTER CATALOG: (path: [`c`], change: [SET OPTIONS: (options: [password=******])])'
        """
        from schema_core.sql.summary import summary

        return summary(self)
