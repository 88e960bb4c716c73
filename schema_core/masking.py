"""Masking of secrets in SQL: in excerpts of statements, which may not parse, and hints of queries.

The excerpt of a statement in an error cannot rely on a syntax tree, since the statement may not
parse. `mask_text` works on tokens: in WITH, OPTIONS and SET clauses it hides every value, and
everything once a clause is malformed. Characters are replaced one by one, so carets still fit.

In a query only hints hold options. `mask_query` finds their values however they are written: with
the key in backticks, or over several lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import lru_cache

from schema_core.lazy_regex import regex
from schema_core.secrets import (
    HIDDEN,
    NO_KEYS,
    SECRET_WORDS,
    has_credentials,
    is_secret,
    masked_value,
)
from schema_core.text import quote_string
from schema_core.tokenizer import Token, tokenize, tokenize_excerpt

# --- excerpts of statements ----------------------------------------------------------------------

#: Words that open a clause of options, in Flink and elsewhere.
_OPENERS = frozenset({"WITH", "OPTIONS", "SET", "TBLPROPERTIES", "PROPERTIES", "SERDEPROPERTIES"})

#: Words after which SET does not open a clause: ``CHARACTER SET``, ``STATEMENT SET``.
_BEFORE_SET = frozenset({"CHARACTER", "STATEMENT"})

#: First words of statements: after a malformed clause and a semicolon, they end what is hidden.
_STATEMENTS = frozenset(
    """
    ADD ALTER ANALYZE BEGIN CALL COMPILE CREATE DELETE DESC DESCRIBE DROP END EXECUTE EXPLAIN INSERT
    LOAD REMOVE REPLACE RESET SELECT SET SHOW TABLE TRUNCATE UNLOAD UPDATE USE VALUES WITH
    """.split()  # noqa: SIM905 - readable
)

#: Matches input that may contain secrets.
_SUSPECT = regex(
    rf"\b(?:{'|'.join(_OPENERS)})\b|[:@%=]|bearer|basic|{'|'.join(map(re.escape, SECRET_WORDS))}",
    re.IGNORECASE,
)

#: Symbols that stay visible in a malformed clause.
_PUNCTUATION = frozenset({"(", ")", ",", "=", ";", "/*+", "*/"})

#: A literal that is certainly the key of an option.
_KEY = regex(r"'[\w.#*-]{1,200}'")

#: The start of a clause within a literal, up to a quote.
_CLAUSE_IN_LITERAL = regex(
    rf"\b(?:{'|'.join(sorted(_OPENERS))})[ \t\r\n]{{0,32}}\([ \t\r\n]{{0,32}}['\"`]"
    r"|\A['\"`][ \t\r\n]{0,32}(?:SET|\()[ \t\r\n]{0,32}['\"`]|\A\"[^']*'",
    re.IGNORECASE,
)

#: An option in a comment.
_OPTION_IN_COMMENT = regex(r"['\"`][ \t\r\n]{0,32}=")

#: The longest key outside a clause, in tokens.
_KEY_TOKENS = 64


#: Kinds of tokens with a quoted content.
_LITERALS = frozenset({"string", "escaped", "unicode", "name", "double_quoted"})


@lru_cache(maxsize=2)
def mask_text(text: str) -> str:
    """Mask the values of options in SQL, which need not be valid, for excerpts in messages.

    Each masked character is replaced by an asterisk, so that positions do not change.

    >>> mask_text("CREATE TABLE t (a INT) WITH ('password' = 'hunter2', 'path' = 'x')")
    "CREATE TABLE t (a INT) WITH ('password' = *********, 'path' = ***)"
    >>> mask_text("CREATE TABLE t (a INT) WITH ('password' = hunter2, 'path' = 'x')")
    'CREATE TABLE t (a INT) WITH (********** = *******, ****** = ***)'
    >>> mask_text("SET my.token = abc; SELECT 'x'")
    "SET ******** = ***; SELECT 'x'"
    """
    if not _SUSPECT.search(text):
        return text
    every = tokenize_excerpt(text)
    shown, end = [], 0
    for piece in sorted(_hidden(every), key=lambda one: one.start):
        shown += [text[end : piece.start], re.sub(r"[^\r\n]", "*", piece.value)]
        end = piece.stop
    return "".join([*shown, text[end:]])


def _hidden(every: list[Token]) -> list[Token]:
    """Return the pieces that are masked."""
    hidden: list[Token] = []
    if any(piece.kind == "unclosed" or _holds_clause(piece) for piece in every):
        # Which quotes open and which close is not known: nothing after the first one is certain.
        first = next(number for number, piece in enumerate(every) if _is_uncertain(piece))
        every, hidden = every[:first], every[first:]
    malformed = False
    for statement in _statements(every):
        code = [piece for piece in statement if piece.kind != "comment"]
        continues = malformed and bool(code) and code[0].value.upper() not in _STATEMENTS
        found, malformed = (_all(code), True) if continues else _hidden_in(code)
        comments = (piece for piece in statement if piece.kind == "comment")
        hidden += found
        hidden += [one for one in comments if malformed or _may_hold_secret(one)]
    return hidden


def _is_uncertain(piece: Token) -> bool:
    return piece.kind in _LITERALS or piece.kind == "unclosed" or piece.value.upper() in _OPENERS


def _holds_clause(piece: Token) -> bool:
    """Whether a literal contains the start of a clause: its quotes are mismatched."""
    return piece.kind in _LITERALS and _CLAUSE_IN_LITERAL.search(piece.value) is not None


def _may_hold_secret(comment: Token) -> bool:
    text = comment.value
    return is_secret(text) or has_credentials(text) or bool(_OPTION_IN_COMMENT.search(text))


def _statements(every: list[Token]) -> Iterator[list[Token]]:
    """The pieces up to each semicolon."""
    start = 0
    for number, piece in enumerate(every, 1):
        if piece.value == ";" or number == len(every):
            yield every[start:number]
            start = number


def _all(pieces: list[Token]) -> list[Token]:
    return [piece for piece in pieces if piece.value not in _PUNCTUATION]


def _hidden_in(pieces: list[Token]) -> tuple[list[Token], bool]:
    """The hidden pieces of one statement, and whether a clause in it is malformed."""
    hidden: list[Token] = []
    place = 0
    while place < len(pieces):
        clause = _clause(pieces, place)
        if clause is None:
            one = pieces[place]
            hidden += [one] if one.kind in _LITERALS and has_credentials(one.value[1:-1]) else []
            place += 1
            continue
        end = _end_of_options(pieces, clause)
        if end is None:
            return [*hidden, *_all(pieces[clause:])], True
        hidden += pieces[clause + 3 : end - 1 : 4]
        place = end
    return hidden, False


def _clause(pieces: list[Token], place: int) -> int | None:
    """Where the clause of options starts that the piece at `place` opens; None if it opens none."""
    piece = pieces[place]
    following = pieces[place + 1] if place + 1 < len(pieces) else None
    if following is None:
        return None
    word = piece.value.upper()
    if piece.kind == "any_word" and word == "SET":
        before = pieces[place - 1].value.upper() if place else ""
        is_update = pieces[0].value.upper() == "UPDATE" and following.value != "("
        if before in _BEFORE_SET or is_update:
            return None
        has_key = [one.value for one in pieces[place + 2 : place + 3]] == ["="]
        return place + 3 if has_key and _KEY.fullmatch(following.value) else place + 1
    if piece.kind == "any_word" and word in _OPENERS:
        return place + 1 if following.kind in _LITERALS or following.value in ("(", "=") else None
    if piece.value == "(":
        is_option = following.kind == "string" and [
            one.value for one in pieces[place + 2 : place + 3]
        ] == ["="]
        return place if is_option else None
    if piece.value == "=":
        return place + 1 if place == 0 or is_secret(_key_before(pieces, place)) else None
    if piece.kind in _LITERALS and place == 0 and following.value == "=":
        return place
    return (
        place + 1
        if piece.kind != "any_symbol" and following.kind in _LITERALS and is_secret(piece.value)
        else None
    )


def _key_before(pieces: list[Token], place: int) -> str:
    """The adjacent pieces before an equals sign: ``my.api-key``."""
    start = place - 1
    while (
        0 < start and place - start < _KEY_TOKENS and pieces[start - 1].stop == pieces[start].start
    ):
        start -= 1
    return "".join(piece.value for piece in pieces[start:place])


def _end_of_options(pieces: list[Token], place: int) -> int | None:
    """The place after ``('key' = 'value', ...)``; None if the clause is malformed."""
    if place >= len(pieces) or pieces[place].value != "(":
        return None
    place += 1
    if place < len(pieces) and pieces[place].value == ")":
        return place + 1 if _may_follow(pieces[place + 1 : place + 3]) else None
    while place + 3 < len(pieces):
        key, equals, value, after = pieces[place : place + 4]
        if not (_KEY.fullmatch(key.value) and equals.value == "=" and value.kind == "string"):
            return None
        place += 4
        if after.value == ")":
            return place if _may_follow(pieces[place : place + 2]) else None
        if after.value != ",":
            return None
    return None


def _may_follow(pieces: list[Token]) -> bool:
    """Whether these pieces can follow a clause of options."""
    match [piece.value if piece.kind == "any_symbol" else piece.kind for piece in pieces]:
        case [] | ["any_word" | ")" | "*/" | ";", *_] | [",", "any_word"]:
            return True
        case _:
            return False


# --- hints of queries ----------------------------------------------------------------------------


def mask_query(text: str, declared: AbstractSet[str] = NO_KEYS) -> str:
    """Return a query with the secret values of its hints masked; `declared` as in `is_secret`.

    A query with a character with which no token begins is masked as an excerpt of an error is.

    >>> print(mask_query("SELECT 1 FROM t /*+ OPTIONS('password' = 'x', 'path' = 'y') */"))
    SELECT 1 FROM t /*+ OPTIONS('password' = '******', 'path' = 'y') */
    """
    if "/*+" not in text:
        return text
    tokens = tokenize(text)
    if any(token.kind == "bad" for token in tokens):
        return mask_text(text)
    shown, end = [], 0
    for token, masked in _masked_tokens(tokens, declared):
        shown += [text[end : token.start], quote_string(masked)]
        end = token.stop
    return "".join([*shown, text[end:]])


def _masked_tokens(tokens: list[Token], declared: AbstractSet[str]) -> Iterator[tuple[Token, str]]:
    """Yield the strings within hints that are masked, with their replacements."""
    is_hint = False
    for place, token in enumerate(tokens):
        if token.key in ("/*+", "*/"):
            is_hint = token.key == "/*+"
        elif is_hint and token.kind in ("string", "charset", "unicode", "escaped"):
            key = tokens[place - 2].value if tokens[place - 1].key == "=" else ""
            # A string without a key of its own may continue the one before it.
            continues = not key and tokens[place - 1].kind == "string"
            masked = HIDDEN if continues else masked_value(key, token.value, declared)
            if masked != token.value:
                yield token, masked


class QueryText(str):
    """The text of a stored query, whose `repr` masks the secrets of its hints.

    >>> QueryText("SELECT 1 FROM t /*+ OPTIONS('password' = 'x') */")
    "SELECT 1 FROM t /*+ OPTIONS('password' = '******') */"
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(mask_query(str(self)))
