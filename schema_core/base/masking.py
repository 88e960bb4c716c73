"""Masking of secrets in SQL: in excerpts of statements, which may not parse, and hints of queries.

The excerpt of a statement in an error cannot rely on a syntax tree, since the statement may not
parse. `mask_text` works on tokens: in WITH, OPTIONS and SET clauses it hides the values of secret
keys and values with credentials. In a malformed clause it also hides values without a key, and
everything after a secret word. Characters are replaced one by one, so carets still fit.

In a query only hints hold options. `mask_query` finds their values however they are written: with
the key in backticks, or over several lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import lru_cache

from schema_core.base.keywords import VERBS
from schema_core.base.lazy_regex import regex
from schema_core.base.secrets import (
    HIDDEN,
    NO_KEYS,
    declared_keys,
    has_credentials,
    is_secret,
    masked_value,
    prose_secrets,
    secret_positions,
)
from schema_core.base.text import quote_string
from schema_core.base.tokenizer import Token, tokenize, tokenize_excerpt

# --- excerpts of statements ----------------------------------------------------------------------

#: Words that open a clause of options, in Flink and elsewhere.
_OPENERS = frozenset({"WITH", "OPTIONS", "SET", "TBLPROPERTIES", "PROPERTIES", "SERDEPROPERTIES"})

#: Words after which SET does not open a clause: ``CHARACTER SET``, ``STATEMENT SET``.
_BEFORE_SET = frozenset({"CHARACTER", "STATEMENT"})

#: The end of a statement where the tokens are not certain.
_END = regex(rf";\s{{0,256}}(?=(?:{'|'.join(sorted(VERBS))})\b)", re.IGNORECASE)

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

#: The start of a clause of options where the tokens are not certain.
_CLAUSE = regex(
    rf"(?<!CHARACTER[ ])(?<!STATEMENT[ ])\b(?:{'|'.join(sorted(_OPENERS))})\b\s{{0,32}}"
    r"(?:\(\s{0,32}|(?=['\"`=]|/\*|--|[uU]&'|[\w.\-]{1,64}\s{0,32}=))"
    r"|\(\s{0,32}(?='[^']{1,200}'\s{0,32}=)|(?:;|\A)\s{0,32}(?==)",
    re.IGNORECASE,
)

#: An option in a comment.
_OPTION_IN_COMMENT = regex(r"['\"`][ \t\r\n]{0,64}=")

#: An option of a well-formed clause, up to the next one or the end.
_OPTION = regex(r"'([\w.#*-]{1,200})'\s{0,64}=\s{0,64}('[^']*(?:''[^']*)*')\s{0,64}([,)])\s{0,64}")

#: The longest key outside a clause, in tokens.
_KEY_TOKENS = 64

#: Kinds of tokens with a quoted content.
_LITERALS = frozenset({"string", "escaped", "unicode", "name", "double_quoted"})


def mask_text(text: str) -> str:
    """Mask the secrets in SQL, which need not be valid, for excerpts in messages.

    Each masked character is replaced by an asterisk, so that positions do not change. The values of
    secret keys are masked, and literals with credentials; in a malformed clause, values without a
    key and everything after a secret word; if a quote is not closed, the rest of such a clause.

    >>> mask_text("CREATE TABLE t (a INT) WITH ('password' = 'hunter2', 'path' = 'x')")
    "CREATE TABLE t (a INT) WITH ('password' = *********, 'path' = 'x')"
    >>> mask_text("CREATE TABLE t (a INT) WITH ('password' = hunter2, 'path' = 'x')")
    'CREATE TABLE t (a INT) WITH (********** = *******, ****** = ***)'
    >>> mask_text("SET my.token = abc; SELECT 'x'")
    "SET ******** = ***; SELECT 'x'"
    """
    return _mask_excerpt(text, declared_keys())


@lru_cache(maxsize=2)
def _mask_excerpt(text: str, declared: AbstractSet[str]) -> str:
    positions = secret_positions(text, declared)
    if not positions and not _CLAUSE.search(text):
        return text
    pieces, end = [], 0
    for start, stop in sorted(_secret_spans(text, positions, declared)):
        if stop > end:
            pieces += [text[end:start], re.sub(r"[^\r\n]", "*", text[max(start, end) : stop])]
            end = stop
    return "".join([*pieces, text[end:]])


def _secret_spans(
    text: str, positions: list[int], declared: AbstractSet[str]
) -> Iterator[tuple[int, int]]:
    """Yield where the hidden parts of a text start and stop; they may overlap.

    `positions` are those of secret words, in order.
    """
    tokens = tokenize_excerpt(text)
    if any(token.kind == "unclosed" or _holds_clause(token) for token in tokens):
        # Which quotes open and which close is not known: nothing after the first one is certain.
        first = next(place for place, token in enumerate(tokens) if _is_uncertain(token))
        yield from _uncertain_spans(text, tokens[first].start, positions, declared)
        del tokens[first:]
    malformed: list[Token] = []
    for statement in _statements(tokens):
        code = [token for token in statement if token.kind != "comment"]
        if malformed and code and code[0].value.upper() not in VERBS:
            malformed += statement
            continue
        yield from _malformed_spans(malformed, positions, declared)
        spans, end = _option_spans(code, declared)
        yield from spans
        malformed = [token for token in statement if token.start >= end]
        for token in statement:
            if token.kind == "comment" and token.start < end:
                yield from _comment_spans(token, positions)
    yield from _malformed_spans(malformed, positions, declared)


def _uncertain_spans(
    text: str, start: int, positions: list[int], declared: AbstractSet[str]
) -> Iterator[tuple[int, int]]:
    """Yield the secrets of well-formed clauses, and everything after other clauses and secrets."""
    clauses = [clause.end() for clause in _CLAUSE.finditer(text, start)]
    for position in sorted({*clauses, *positions[bisect_left(positions, start) :]}):
        if position < start:
            continue
        end = position
        while option := _OPTION.match(text, end):
            if masked_value(option[1], option[2][1:-1], declared) != option[2][1:-1]:
                yield option.span(2)
            end = option.end()
            if option[3] == ")":
                start = end
                break
        else:
            closed = _END.search(text, end)
            start = closed.end() if closed else len(text)
            yield end, start


def _malformed_spans(
    tokens: list[Token], positions: list[int], declared: AbstractSet[str]
) -> Iterator[tuple[int, int]]:
    """Yield the tokens of a malformed clause that may be secrets.

    These are all but punctuation and, before the first secret word, options that are not secret.
    """
    place = bisect_left(positions, tokens[0].start) if tokens else len(positions)
    secret = positions[place] if place < len(positions) else float("inf")
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if token.stop <= secret and _is_option(tokens, place):
            value = tokens[place + 2]
            if masked_value(token.value[1:-1], value.value[1:-1], declared) != value.value[1:-1]:
                yield value.start, value.stop
            place += 2
        elif token.value not in _PUNCTUATION:
            yield token.start, token.stop
        place += 1


def _is_option(tokens: list[Token], place: int) -> bool:
    """Whether ``'key' = 'value'`` is at a place, and no further part of the value follows."""
    following = tokens[place + 1 : place + 5]
    match [(token.value if token.kind == "any_symbol" else token.kind) for token in following]:
        case ["=", "string"] | ["=", "string", "string", "="]:
            return _KEY.fullmatch(tokens[place].value) is not None
        case ["=", "string", after, *_] if after not in _LITERALS:
            return _KEY.fullmatch(tokens[place].value) is not None
    return False


def _comment_spans(comment: Token, every: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the credentials of a comment, and in prose the words that follow secret words.

    `every` are the positions in the whole text, in which a URL may look like a comment.
    """
    positions = secret_positions(comment.value)
    places = every[bisect_left(every, comment.start) : bisect_left(every, comment.stop)]
    if outer := sorted({*places} - {comment.start + position for position in positions}):
        yield outer[0], comment.stop
        return
    is_option = has_credentials(comment.value) or _OPTION_IN_COMMENT.search(comment.value)
    if positions and is_option:
        yield comment.start + positions[0], comment.stop
        return
    for start, stop in prose_secrets(comment.value):
        yield comment.start + start, comment.start + stop


def _is_uncertain(piece: Token) -> bool:
    return piece.kind in _LITERALS or piece.kind == "unclosed" or piece.value.upper() in _OPENERS


def _holds_clause(piece: Token) -> bool:
    """Whether a literal contains the start of a clause: its quotes are mismatched."""
    return piece.kind in _LITERALS and _CLAUSE_IN_LITERAL.search(piece.value) is not None


def _statements(every: list[Token]) -> Iterator[list[Token]]:
    """The pieces up to each semicolon."""
    start = 0
    for number, piece in enumerate(every, 1):
        if piece.value == ";" or number == len(every):
            yield every[start:number]
            start = number


def _option_spans(
    pieces: list[Token], declared: AbstractSet[str]
) -> tuple[list[tuple[int, int]], float]:
    """Return the hidden values of a statement, and the position from which it is malformed."""
    spans: list[tuple[int, int]] = []
    place = 0
    while place < len(pieces):
        clause = _clause(pieces, place)
        if clause is not None:
            end = _end_of_options(pieces, clause)
            if end is None:
                return spans, pieces[clause].start
            for key, _, value, _ in zip(*[iter(pieces[clause + 1 : end])] * 4, strict=False):
                if masked_value(key.value[1:-1], value.value[1:-1], declared) != value.value[1:-1]:
                    spans.append((value.start, value.stop))
            place = end
            continue
        start, end = _secret_value(pieces, place, declared)
        spans += [(piece.start, piece.stop) for piece in pieces[start:end]]
        piece = pieces[place]
        if piece.kind in _LITERALS and has_credentials(piece.value[1:-1]):
            spans.append((piece.start, piece.stop))
        place = max(place + 1, end)
    return spans, float("inf")


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
        return place + 1
    if piece.kind == "any_word" and word in _OPENERS:
        return place + 1 if following.kind in _LITERALS or following.value in ("(", "=") else None
    if piece.value == "(":
        is_option = following.kind == "string" and [
            piece.value for piece in pieces[place + 2 : place + 3]
        ] == ["="]
        return place if is_option else None
    return None


def _secret_value(pieces: list[Token], place: int, declared: AbstractSet[str]) -> tuple[int, int]:
    """The places of the secret value that follows `place`; the same place twice without one."""
    piece = pieces[place]
    start = place + 1
    if start == len(pieces):
        return start, start
    if piece.value in ("=", ":"):
        is_value = place == 0 or is_secret(_key_before(pieces, place), declared)
        if not is_value or pieces[start].value == ":":
            return start, start
        start += pieces[start].value == ">"  # of ``=>``
    elif (
        piece.kind == "any_symbol"
        or pieces[start].kind not in _LITERALS
        or not (is_secret(piece.value, declared) or _is_identified_by(pieces, place))
    ):
        return start, start
    return start, _end_of_value(pieces, start)


def _end_of_value(pieces: list[Token], start: int) -> int:
    """The place after the literals and a word at a place, and what is adjacent to them."""
    end = start
    while end < len(pieces) and (
        pieces[end].kind in _LITERALS
        or (pieces[end].value not in _PUNCTUATION and end == start)
        or (pieces[end].value not in _PUNCTUATION and pieces[end].start == pieces[end - 1].stop)
    ):
        end += 1
    return end


def _is_identified_by(pieces: list[Token], place: int) -> bool:
    words = [piece.value.upper() for piece in pieces[max(place - 1, 0) : place + 1]]
    return words == ["IDENTIFIED", "BY"]


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
    pieces, end = [], 0
    for token, masked in _masked_tokens(tokens, declared):
        pieces += [text[end : token.start], quote_string(masked)]
        end = token.stop
    return "".join([*pieces, text[end:]])


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
