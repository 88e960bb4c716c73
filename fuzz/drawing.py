"""Draws expressions for Flink to type: forms of the grammar and functions of the tables.

What fits into a form is not written down here. It is tried out on the library, and the kinds of
operands that fitted once are drawn again: so expressions grow deep, and one in six is drawn without
asking the library, to be refused by both or accepted by one.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from schema_core.base.keywords import KNOWN, RESERVED
from schema_core.errors import SchemaCoreError
from schema_core.expressions.functions import BUILT_IN, FAMILIES
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.type_checker import infer
from schema_core.sql.expression import FORMS as SPECIAL_FORMS
from schema_core.sql.parser import parse_expression
from schema_core.types import DataType, TypeRoot, parse_type

#: Types of columns: `#` is a small number, `{}` a further type.
TYPES = (
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "INT", "BIGINT", "FLOAT", "DOUBLE",
    "DECIMAL(#, 0)", "DECIMAL(1#, #)", "DECIMAL(38, 1#)", "DECIMAL(38, 0)",
    "CHAR(#)", "VARCHAR(#)", "VARCHAR(2#)", "STRING", "STRING",
    "BINARY(#)", "VARBINARY(#)", "BYTES", "DATE", "TIME", "TIME(3)", "TIME(#)",
    "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP", "TIMESTAMP(9)",
    "TIMESTAMP_LTZ(0)", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(6)", "TIMESTAMP_LTZ(9)",
    "INTERVAL YEAR TO MONTH", "INTERVAL MONTH", "INTERVAL YEAR(3)",
    "INTERVAL DAY TO SECOND(3)", "INTERVAL HOUR", "INTERVAL SECOND(#)", "INTERVAL DAY(#)",
    "ARRAY<{}>", "ARRAY<{}>", "MAP<{}, {}>", "MULTISET<{}>", "ROW<x {}, y {}>", "ROW<`a b` {}>",
    "STRUCTURED<'com.example.Point', x {}, y {}>", "VARIANT", "BITMAP",
)  # fmt: skip

#: Names of columns, each unique, so that the text of an expression shows which columns it uses.
NAMES = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta_1", "theta", "iota", "kappa",
    "`lambda mu`", "`order`", "Omega",
)  # fmt: skip

LITERALS = (
    "NULL", "TRUE", "FALSE", "UNKNOWN", "0", "1", "2", "-1", "127", "128", "2147483647",
    "2147483648", "9223372036854775807", "9223372036854775808", "1.5", "0.05", "-12.345", "100.00",
    ".5", "7.", "1e3", "1E-10", "12345678901234567890123456789012345678", "''", "'a'", "'abc'",
    "'it''s'", "' x '", "'5'", "'2020-02-29'", "'2020-02-29 12:30:00'", "'$.a'", "'{\"a\": 1}'",
    "'%a_'", "'yyyy-MM-dd'", "'UTC'", "U&'\\00e4'", "_UTF8'abc'", "N'n'", "'\u00e4'", "x'0f'",
    "X''", "DATE '2020-02-29'", "TIME '12:34:56'", "TIME '12:34:56.789'",
    "TIMESTAMP '2020-02-29 12:34:56'", "TIMESTAMP '2020-02-29 12:34:56.123456'",
    "INTERVAL '5' DAY", "INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '3' MONTH", "INTERVAL -'1' HOUR",
    "INTERVAL '1 02:03:04.567' DAY TO SECOND", "INTERVAL '10' SECOND", "INTERVAL 7 MINUTE",
    "INTERVAL '2' QUARTER", "INTERVAL '2' WEEK", "INTERVAL '100' DAY(3)", "INTERVAL '1.5' SECOND",
    "PROCTIME()", "CURRENT_TIMESTAMP", "CURRENT_DATE", "LOCALTIME", "LOCALTIMESTAMP", "NOW()",
    "CURRENT_ROW_TIMESTAMP()", "PI", "CURRENT_DATABASE()",
)  # fmt: skip

#: What fills the other holes of a form.
WORDS: dict[str, tuple[str, ...]] = {
    "@unit": (
        "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND",
        "MICROSECOND", "NANOSECOND", "EPOCH", "DOW", "ISODOW", "DOY", "ISOYEAR", "DECADE",
        "CENTURY", "MILLENNIUM",
    ),
    "@gap": ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "SQL_TSI_DAY"),
    "@side": ("BOTH", "LEADING", "TRAILING"),
    "@compare": ("=", "<>", "<", "<=", ">", ">=", "!="),
    "@truth": ("TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "UNKNOWN", "NOT UNKNOWN"),
    "@json": ("JSON VALUE", "JSON OBJECT", "NOT JSON ARRAY", "JSON SCALAR"),
    "@empty": ("NULL ON EMPTY", "ERROR ON EMPTY", "DEFAULT 'x' ON EMPTY", ""),
    "@error": ("NULL ON ERROR", "ERROR ON ERROR", "DEFAULT 'y' ON ERROR", ""),
    "@wrap": ("WITHOUT ARRAY WRAPPER", "WITH WRAPPER", "WITH CONDITIONAL ARRAY WRAPPER", ""),
    "@nulls": ("NULL ON NULL", "ABSENT ON NULL", ""),
    "@many": (
        "COUNT", "SUM", "AVG", "MIN", "MAX", "COLLECT", "STDDEV_POP", "FIRST_VALUE", "LAST_VALUE",
        "VAR_SAMP", "ARRAY_AGG", "SINGLE_VALUE", "APPROX_COUNT_DISTINCT", "BITMAP_BUILD_AGG",
    ),
    "@rank": ("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST"),
    "@bound": ("1 PRECEDING", "UNBOUNDED PRECEDING", "CURRENT ROW", "2 FOLLOWING"),
    "@partial": ("", "", "ALLOW PARTIAL", "DISALLOW PARTIAL"),
    "@treated": ("IGNORE NULLS", "RESPECT NULLS"),
    "@part": ("START", "END", "ROWTIME", "PROCTIME"),
    "@field": ("x", "y", "`a b`", "z"),
    "@path": ("'$.a'", "'lax $.a.b[0]'", "'strict $'", "'$[*].x'"),
}  # fmt: skip

#: Name -> forms: `{}` is an operand, `[]` one that stands between delimiters, `@` a word, `@type` a
#: type of a cast.
FORMS: dict[str, tuple[str, ...]] = {
    "arithmetic": ("{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} % {}", "-{}", "+{}"),
    "concatenation": ("{} || {}", "{} || {} || {}"),
    "comparison": (
        "{} @compare {}", "{} @compare {}", "{} IS DISTINCT FROM {}", "{} IS NOT DISTINCT FROM {}",
        "{} BETWEEN {} AND {}", "{} NOT BETWEEN SYMMETRIC {} AND {}", "{} IN ([], [])",
        "{} NOT IN ([], [], [])", "{} LIKE {}", "{} NOT LIKE {} ESCAPE '!'", "{} SIMILAR TO {}",
        "{} @compare SOME ([], [])", "{} @compare ALL ([])", "([], []) = ([], [])",
        "([], []) OVERLAPS ([], [])", "{} BETWEEN {} AND {} NOT BETWEEN {} AND {}",
        "{} IN ([]) NOT IN ([])", "{} NOT LIKE {} LIKE {}", "{} NOT IN ([]) BETWEEN {} AND {}",
        "{} @compare {} @compare {}", "{} IN (SELECT 1)", "{} NOT SIMILAR TO {} ESCAPE '!'",
        "PERIOD([], []) OVERLAPS ([], [])", "{} @compare SOME (SELECT 'a')",
    ),
    "logic": (
        "{} AND {}", "{} OR {}", "NOT {}", "{} IS NULL", "{} IS NOT NULL", "{} IS @truth",
        "{} IS @json", "{} AND {} OR {}",
        "{} IS NULL IS @truth", "NOT {} AND NOT {}", "EXISTS (SELECT 1)",
    ),
    "case": (
        "CASE WHEN [] THEN [] ELSE [] END", "CASE [] WHEN [] THEN [] END",
        "CASE WHEN [] THEN [] WHEN [] THEN [] ELSE [] END",
        "CASE [] WHEN [], [] THEN [] ELSE [] END",
        "NULLIF([], [])", "COALESCE([], [], [])", "IF([], [], [])", "IFNULL([], [])",
        "GREATEST([], [], [])",
    ),
    "cast": (
        "CAST([] AS @type)", "CAST([] AS @type)", "TRY_CAST([] AS @type)",
        "CAST([] AS INTERVAL @gap)", "CAST(ROW([]) AS ROW(p @type))", "CAST(ARRAY[[]] AS @type)",
    ),
    "constructor": (
        "ARRAY[[]]", "ARRAY[[], []]", "MAP[[], []]", "MAP[[], [], [], []]", "ROW([], [])",
        "ROW([])", "([], [])", "MULTISET[[], []]", "{}[[]]", "{}[1]", "{}['x']", "{}.@field",
        "([]).@field",
        "{}[1].@field", "MULTISET[[]]", "MULTISET[NULL, []]", "ROW([], []).EXPR$0",
        "ARRAY[ROW([])][1].EXPR$0", "MAP[[], ARRAY[[]]]", "ARRAY(SELECT 1)", "(SELECT 1)",
    ),
    "temporal": (
        "EXTRACT(@unit FROM [])", "FLOOR([] TO @unit)", "CEIL([] TO @unit)", "YEAR([])",
        "TIMESTAMPADD(@gap, [], [])", "TIMESTAMPDIFF(@gap, [], [])", "([] - []) DAY TO SECOND",
        "([] - []) MONTH", "INTERVAL [] DAY", "{} + INTERVAL '1' DAY", "{} - INTERVAL '2' MONTH",
        "{} AT TIME ZONE 'UTC'", "QUARTER([])", "TIMESTAMP([])", "TUMBLE_START([], [])",
        "CURRENT_TIMESTAMP(3)", "LOCALTIME(2)", "INTERVAL [] @gap", "INTERVAL -[] @gap",
        "TUMBLE_@part([], [])", "HOP_@part([], [], [])", "SESSION_@part([], [])",
        "EXTRACT(@unit FROM {} - {})", "([] - []) @gap", "{} - ({} - {}) DAY",
        "{} * INTERVAL '1' DAY",
    ),
    "string": (
        "TRIM([])", "TRIM(@side [] FROM [])", "TRIM(@side FROM [])", "POSITION([] IN [])",
        "SUBSTRING([] FROM [] FOR [])", "SUBSTRING([] FROM [])", "OVERLAY([] PLACING [] FROM [])",
        "OVERLAY([] PLACING [] FROM [] FOR [])", "TRANSLATE([], [], [])", "CEILING([])",
        "POSITION([] IN [] FROM [])", "TRANSLATE([] USING UTF8)", "CONVERT([] USING UTF8)",
        "{} || {} @compare {}",
    ),
    "json": (
        "JSON_EXISTS([], @path)", "JSON_EXISTS([], @path UNKNOWN ON ERROR)",
        "JSON_VALUE([], @path @empty @error)", "JSON_VALUE([], @path RETURNING @type)",
        "JSON_QUERY([], @path @wrap)", "JSON_QUERY([], @path RETURNING ARRAY<STRING>)",
        "JSON_OBJECT('k' VALUE [] @nulls)", "JSON_OBJECT(KEY [] VALUE [], 'x' : [])",
        "JSON_ARRAY([], [] @nulls)", "JSON_OBJECT()", "JSON_STRING([])", "JSON([])",
        "JSON_OBJECTAGG(KEY [] VALUE [] @nulls)", "JSON_ARRAYAGG([] @nulls)",
        "JSON_QUERY([], @path EMPTY ARRAY ON EMPTY EMPTY OBJECT ON ERROR)",
        "JSON_VALUE([], @path RETURNING @type @empty)",
    ),
    "aggregate": (
        "@many([])", "@many(DISTINCT [])", "COUNT(*)", "@many([]) FILTER (WHERE [])",
        "@many([]) OVER (ORDER BY [])", "ROW_NUMBER() OVER (PARTITION BY [] ORDER BY [])",
        "@many([]) OVER (PARTITION BY [] ORDER BY [] ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
        "LAG([], 1, []) OVER (ORDER BY [])", "LISTAGG([], ',')", "COUNT([], [])",
        "@rank() OVER (ORDER BY [] DESC NULLS LAST)", "NTILE([]) OVER (ORDER BY [])",
        "@many([]) OVER (ORDER BY [] ROWS BETWEEN @bound AND @bound @partial)",
        "@many([]) OVER (ORDER BY [] RANGE BETWEEN @bound AND CURRENT ROW)",
        "@many([]) OVER (PARTITION BY [], [])",
        "@many([]) OVER (ORDER BY [] ROWS 1 PRECEDING @partial)",
        "@many(DISTINCT []) @treated", "@many([]) @treated OVER (ORDER BY [])",
        "LEAD([]) @treated OVER (ORDER BY [])", "LISTAGG([]) WITHIN GROUP (ORDER BY [])",
        "@many([]) FILTER (WHERE []) OVER (ORDER BY [])", "PERCENTILE([], [])",
        "PERCENTILE([], ARRAY[[]])", "COUNT(DISTINCT *)", "GROUPING([])",
    ),
    "named": (
        "UPPER(a => [])", "PERCENTILE([], percentage => [])", "COALESCE(a => [], b => [])",
        "COUNT(DEFAULT)", "SPLIT_INDEX([], DEFAULT, [])", "BTRIM(`str` => [], trim => [])",
    ),
}  # fmt: skip

#: Type as a cast spells it.
SPELLED = ("INT ARRAY", "ROW(p INT, q STRING)", "TIMESTAMP WITH LOCAL TIME ZONE", "NUMERIC(8, 3)",
           "CHARACTER VARYING(7)", "DOUBLE PRECISION", "INT MULTISET")  # fmt: skip

#: Functions that are written as calls -> how many arguments the tables know.
CALLED: dict[str, tuple[str, tuple[int, ...]]] = {
    name: (
        family.__name__.rpartition(".")[2],
        tuple({len(form) for row in BUILT_IN[name] for form in row.overloads}),
    )
    for family in FAMILIES
    for function in family.FUNCTIONS
    for name in (function.name, *function.aliases)
    if name.replace("_", "").isalnum() and name not in {"CASE", "CAST", "ROW", "IN", "ARRAY"}
}


#: Functions that Flink leaves its own operators for when their names are in backticks.
SPECIAL = RESERVED | KNOWN | frozenset(SPECIAL_FORMS) | {"MAP"}

#: How many expressions are drawn over the same columns.
SPELL = 100


@dataclass(frozen=True, slots=True)
class Drawn:
    """An expression, the columns it uses, and the family of its outermost form."""

    category: str
    mode: str
    columns: dict[str, str]
    text: str


@dataclass(slots=True)
class Drawing:
    """A source of expressions; the same for the same seed, library and Flink."""

    draw: random.Random
    #: Form -> the kinds of operands that have fitted.
    learned: dict[str, list[tuple[TypeRoot, ...]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    #: Over the present columns, kind of value -> expressions of that kind.
    pool: dict[TypeRoot, list[str]] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    scope: ColumnScope = field(default_factory=lambda: ColumnScope({}))

    def expressions(self) -> Iterator[Drawn]:
        """Expressions without end, columns changing after every `SPELL`."""
        while True:
            self._start()
            yield from islice(self.over_these(), SPELL)

    def over_these(self) -> Iterator[Drawn]:
        """Expressions without end over the present columns."""
        while True:
            yield self._next()

    def forget(self, text: str) -> None:
        """Draw no more from an expression that is known to be typed wrongly."""
        for known in self.pool.values():
            known[:] = [name for name in known if text not in name]
        self.pool = {kind: known for kind, known in self.pool.items() if known}

    def _start(self) -> None:
        """New columns, and no expressions but them and literals."""
        names = self.draw.sample(NAMES, 9)
        self.columns = {name: type_text(self.draw) for name in names}
        types = {name.strip("`"): parse_type(text) for name, text in self.columns.items()}
        mode = self.draw.choice(("streaming", "streaming", "streaming", "batch"))
        self.scope = ColumnScope(types, streaming=mode == "streaming")
        self.grow((*names, *self.draw.sample(LITERALS, 25)))

    def grow(self, texts: Iterable[str]) -> None:
        """Let all expressions grow out of these."""
        self.pool = {}
        for text in texts:
            self._keep(text)

    def _next(self) -> Drawn:
        category, form = self._form()
        blindly = self.draw.random() < 1 / 6
        text = ""
        for _ in range(1 if blindly else 15):
            kinds = self._kinds(form)
            text = respelled(self.draw, self._filled(form, kinds))
            if not blindly and self._keep(text):
                self._learn(form, kinds)
                break
        used = {name.strip("`"): type_ for name, type_ in self.columns.items() if name in text}
        mode = "streaming" if self.scope.streaming else "batch"
        return Drawn(category, mode, used or {"alpha": "INT"}, text)

    def _form(self) -> tuple[str, str]:
        """The family and the form of the next expression; functions by name are half of them."""
        if self.draw.random() < 0.02:
            return "literal", self.draw.choice(LITERALS)
        if self.draw.random() < 0.5:
            category = self.draw.choice(tuple(FORMS))
            return category, self.draw.choice(FORMS[category])
        name = self.draw.choice(tuple(CALLED))
        category, counts = CALLED[name]
        count = self.draw.choice(counts) + (self.draw.random() < 0.1)
        quoted = name not in SPECIAL and self.draw.random() < 0.03
        spelled = f"`{name}`" if quoted else name
        return category, f"{spelled}({', '.join(['[]'] * count)})"

    def _kinds(self, form: str) -> tuple[TypeRoot, ...]:
        """Kinds for the operands of a form: mostly such as fitted before."""
        learned = [
            kinds for kinds in self.learned[form] if all(kind in self.pool for kind in kinds)
        ]
        if learned and self.draw.random() < 0.7:
            return self.draw.choice(learned)
        count = form.count("{}") + form.count("[]")
        return tuple(self.draw.choice(tuple(self.pool)) for _ in range(count))

    def _learn(self, form: str, kinds: tuple[TypeRoot, ...]) -> None:
        if kinds not in self.learned[form]:
            self.learned[form].append(kinds)

    def _filled(self, form: str, kinds: tuple[TypeRoot, ...]) -> str:
        """The form with operands of these kinds, and words."""
        pieces, rest = [], form
        for kind in kinds:
            at = min(place for place in (rest.find("{}"), rest.find("[]")) if place >= 0)
            operand = self.draw.choice(self.pool[kind])
            loose = rest[at] == "{" and not operand.replace("_", "").isalnum()
            wrapped = loose and self.draw.random() < 0.7
            pieces += [rest[:at], f"({operand})" if wrapped else operand]
            rest = rest[at + 2 :]
        text = "".join(pieces) + rest
        for hole, words in WORDS.items():
            while hole in text:
                text = text.replace(hole, self.draw.choice(words), 1)
        while "@type" in text:
            text = text.replace("@type", cast_type(self.draw), 1)
        return text

    def _keep(self, text: str) -> bool:
        """Whether the library takes the expression; then it may be an operand of others."""
        result = typed(self.scope, text)
        if result is None:
            return False
        if len(text) < 200:
            self.pool.setdefault(result.root, []).append(text)
        return True


def typed(scope: ColumnScope, text: str) -> DataType | None:
    """The type of an expression, or None for one that is refused."""
    try:
        return infer(scope, parse_expression(text)).type
    except SchemaCoreError:
        return None


def type_text(draw: random.Random, depth: int = 0) -> str:
    """A type as a column may have it."""
    text = draw.choice([data_type for data_type in TYPES if depth < 2 or "{}" not in data_type])
    while "{}" in text:
        text = text.replace("{}", type_text(draw, depth + 1), 1)
    while "#" in text:
        text = text.replace("#", str(draw.randint(1, 6)), 1)
    return text + draw.choice(("", "", " NOT NULL"))


def cast_type(draw: random.Random) -> str:
    """A type as a cast may have it."""
    if draw.random() < 0.2:
        return draw.choice(SPELLED)
    return type_text(draw, 1).removesuffix(" NOT NULL")


def respelled(draw: random.Random, text: str) -> str:
    """The text, now and then with words in small letters or a comment."""
    chance = draw.random()
    if chance < 0.04 and "'" not in text and "`" not in text:
        return text.replace("(", "( ").replace(" ", " /* x */ ", 1)
    if chance < 0.10:
        head, bracket, tail = text.partition("(")
        return head.lower() + bracket + tail if head.replace("_", "").isalpha() else text
    return text
