"""Translation rules: how a Flink function becomes Spark nodes, and which kind of translation it is.

Expressions rely on the settings of `schema_core.spark.session`: ANSI mode is off, the time zone is
UTC. A zone that a user sets is written into the expressions that depend on it. Within an expression
an interval is a number, as in Flink: months, or milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from schema_core.base.lazy import dataclass
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.decimal_bounds import Bounds
from schema_core.spark.compiler.template import Template, sql, template
from schema_core.spark.compiler.value_types import sql_type

if TYPE_CHECKING:
    from schema_core.expressions.typed import FunctionCall
    from schema_core.types import DataType


@dataclass(frozen=True, slots=True)
class TranslatedCall:
    """A typed call whose arguments are already Spark nodes.

    `zone` is the session's time zone as Flink sees it; `filter` and `window` belong to aggregates.
    `in_condition` is set where NULL and FALSE have the same effect. `database` is the current one,
    where that is known. `bounds` bound the decimals.
    """

    call: FunctionCall
    arguments: tuple[nodes.Node, ...]
    zone: str = "UTC"
    filter: nodes.Node | None = None
    window: nodes.Window | None = None
    in_condition: bool = False
    database: str | None = None
    bounds: Bounds = field(default_factory=Bounds)

    @property
    def type(self) -> DataType:
        """The type of the result."""
        return self.call.type

    @property
    def types(self) -> tuple[DataType, ...]:
        """The types of the arguments."""
        return tuple(argument.type for argument in self.call.arguments)

    def integer_digits(self, index: int) -> int:
        """Return how many integer digits the values of an argument have at most."""
        return self.bounds.of(self.call.arguments[index])

    def __getitem__(self, index: int) -> nodes.Node:
        return self.arguments[index]

    def keyword(self, index: int) -> str:
        """Return the keyword at a position, or an empty string if a value is there."""
        node = self.arguments[index] if index < len(self.arguments) else None
        return node.word if isinstance(node, nodes.Keyword) else ""

    def cast(self, value: nodes.Node) -> nodes.Node:
        """Return a value as the Spark type of the result."""
        return nodes.Cast(value, sql_type(self.type))


class Translation(Enum):
    """How a function of Flink is computed on Spark."""

    NATIVE = "native"
    REWRITTEN = "rewritten"
    UDF = "udf"
    REFUSED = "refused"


#: Builds the nodes of a call.
Translate: TypeAlias = "Callable[[TranslatedCall], nodes.Node]"


@dataclass(frozen=True, slots=True)
class TranslationRule:
    """How one function is computed on Spark.

    `kind` is NATIVE where Spark's function of this meaning is exact, REWRITTEN where the rule
    builds it of other functions, UDF where Python computes it for some arguments at least, and
    REFUSED, with the reason, where it is not computed.
    """

    kind: Translation
    translate: Translate
    reason: str = ""


def _translate(rule: str | Translate) -> Translate:
    if not isinstance(rule, str):
        return rule
    parsed: Template = template(rule)

    def translate(called: TranslatedCall) -> nodes.Node:
        environment: dict[str, nodes.Node | str | tuple[nodes.Node, ...]] = {
            str(index): argument for index, argument in enumerate(called.arguments)
        }
        environment["*"] = called.arguments
        if "{type}" in rule:
            environment["type"] = sql_type(called.type)
        return parsed(environment)

    return translate


def native(rule: str | Translate) -> TranslationRule:
    """Return a rule for a function that Spark computes exactly; a template or a function."""
    return TranslationRule(Translation.NATIVE, _translate(rule))


def rewrite_rule(rule: str | Translate) -> TranslationRule:
    """Return a rule that builds the meaning of other functions of Spark."""
    return TranslationRule(Translation.REWRITTEN, _translate(rule))


def udf(rule: Translate) -> TranslationRule:
    """Return a rule that calls a Python UDF, for some arguments at least."""
    return TranslationRule(Translation.UDF, rule)


def refusal_rule(reason: str) -> TranslationRule:
    """Return the rule of a function that is not computed on Spark."""

    def translate(called: TranslatedCall) -> nodes.Node:
        raise nodes.unsupported_error(
            f"{called.call.function.name} is not supported on Spark: {reason}"
        )

    return TranslationRule(Translation.REFUSED, translate, reason)


#: Prefix of the names under which `schema_core.spark.compiler.udfs` are registered.
PREFIX = "schema_core_"


def call_udf(name: str, *arguments: nodes.Node | str | int | None) -> nodes.Node:
    """Return a call of a Python UDF, with its failure raised where the value is used.

    Spark computes UDFs for all rows, also for those where a CASE would not evaluate them, so a
    failure is returned as a value.
    """
    call = nodes.PythonUdf(f"{PREFIX}{name}", tuple(map(nodes.node_of, arguments)))
    from schema_core.spark.compiler.udfs.registry import UDFS

    if not UDFS[name].fails:
        return call
    return nodes.let(call, _raise_problem)


def _raise_problem(result: nodes.Node) -> nodes.Node:
    return sql("if({r}.`problem` IS NULL, {r}.`value`, raise_error({r}.`problem`))", r=result)
