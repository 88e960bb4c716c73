"""The pattern of MATCH_RECOGNIZE as a sequence of variables; what Flink does not run is refused."""

from __future__ import annotations

from collections.abc import Iterator

from schema_core.base.lazy import dataclass
from schema_core.base.text import Span
from schema_core.errors import UnsupportedError
from schema_core.spark.compiler.tree import unsupported_error
from schema_core.sql import syntax

#: Parts of patterns that Flink's parser accepts and its planner refuses.
REFUSED = {
    "|": "alternatives (|)",
    "PERMUTE": "PERMUTE",
    "{- -}": "exclusions ({- -})",
}


#: The most repetitions of a variable: the automaton has a state for each.
MAX_REPETITIONS = 10_000


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a pattern, repeated `least` to `most` times; None is without a limit.

    A `greedy` one takes each row that it can, and the next variable takes none of these.
    """

    name: str
    least: int = 1
    most: int | None = 1
    greedy: bool = False

    @property
    def is_optional(self) -> bool:
        return self.least == 0


def variables_of(match: syntax.MatchRecognize) -> tuple[Variable, ...]:
    """Return the variables of a pattern, in order.

    Raises:
        UnsupportedError: `not-executable` for patterns that Flink refuses or ignores a part of.
    """
    if match.pattern is None:
        raise refusal("an empty pattern is not supported", match.span)
    if match.subsets:
        raise refusal("SUBSET has no effect in Flink: its columns are NULL", match.span)
    variables: list[Variable] = []
    for part in _sequence(match.pattern, match.span):
        variable = _variable(part, match.span)
        if any(variable.name == other.name for other in variables):
            raise refusal(
                f"the pattern variable {variable.name!r} occurs twice",
                match.span,
                "name the second one differently",
            )
        if (
            variables
            and variables[-1].greedy
            and (variable.is_optional and variable.most in (1, None))
        ):
            raise refusal(
                f"the optional pattern variable {variable.name!r} follows a greedy quantifier",
                match.span,
                "use a reluctant quantifier before it",
            )
        variables.append(variable)
    if variables[-1].greedy:
        raise refusal(
            f"the last pattern variable {variables[-1].name!r} has a greedy quantifier",
            match.span,
            "use a reluctant quantifier, or end the pattern with a variable without one",
        )
    if all(variable.is_optional for variable in variables):
        problem = "the pattern can match no rows"
        raise refusal(problem, match.span, "add a variable that is not optional")
    return tuple(variables)


def refusal(problem: str, span: Span, hint: str | None = None) -> UnsupportedError:
    """Return the error for a part of MATCH_RECOGNIZE, at its place."""
    error = unsupported_error(f"MATCH_RECOGNIZE: {problem}", hint=hint)
    error.span = span
    return error


def _sequence(pattern: syntax.Expression, span: Span) -> Iterator[syntax.Expression]:
    rest = [pattern]
    while rest:
        part = rest.pop()
        if isinstance(part, syntax.Call) and part.name == ",":
            rest += reversed(part.arguments)
            continue
        if isinstance(part, syntax.Call) and part.name in REFUSED:
            raise refusal(f"{REFUSED[part.name]} in a pattern is not supported", span)
        yield part


def _variable(part: syntax.Expression, span: Span) -> Variable:
    match part:
        case syntax.Name(parts=(name,)):
            return Variable(name)
        case syntax.Call(
            name="{}",
            arguments=(
                syntax.Name(parts=(name,)),
                syntax.Literal(text=least),
                syntax.Literal(text=most),
                syntax.Symbol(word=greed),
            ),
        ):
            if not least:
                problem = f"the quantifier of {name!r} has no minimum"
                raise refusal(problem, span, f"write {{0,{most}}}")
            return _quantified(name, int(least), int(most) if most else None, greed, span)
        case _:
            raise refusal(
                "a quantifier of a group is not supported", span, "repeat single variables"
            )


def _quantified(name: str, least: int, most: int | None, greed: str, span: Span) -> Variable:
    if most is not None and most < max(least, 1):
        problem = f"the quantifier of {name!r} has the maximum {most}, expected {max(least, 1)}"
        raise refusal(f"{problem} or more", span)
    if max(least, most or 0) > MAX_REPETITIONS:
        problem = f"the quantifier of {name!r} has more than {MAX_REPETITIONS} repetitions"
        raise refusal(problem, span)
    is_reluctant = greed == "RELUCTANT"
    if is_reluctant and (least, most) == (0, 1):
        problem = f"the optional pattern variable {name!r} is reluctant"
        raise refusal(problem, span, "omit the second question mark")
    greedy = not is_reluctant and (least, most) != (0, 1) and least != most
    return Variable(name, least, most, greedy)
