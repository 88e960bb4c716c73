"""Masking of secrets in options, values and excerpts of SQL.

Options are masked by key (`mask`): those that contain a secret word, and the keys that the caller
passes as secret, which a connector or a type of catalog declares. Credentials within the value of
any other option are masked as well: passwords of URLs, parameters such as ``?password=...``, JAAS
configurations, keys.

The excerpt of a statement in an error cannot rely on a syntax tree, since the statement may not
parse. `mask_text` works on tokens: in WITH, OPTIONS and SET clauses it hides every value, and
everything once a clause is malformed. Characters are replaced one by one, so carets still fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

#: What is shown in place of a secret.
HIDDEN = "******"

#: An option is secret if its key contains one of these, in whatever case: Flink's own list
#: (``org.apache.flink.configuration.GlobalConfiguration``) and other common names.
SECRET_WORDS = (
    "password", "secret", "fs.azure.account.key", "apikey", "api-key", "auth-params",
    "service-key", "token", "basic-auth", "jaas.config", "http-headers",
    "passwd", "pwd", "passphrase", "api_key", "api.key", "account-key", "account_key", "accountkey",
    "access-key", "access.key", "access_key", "private-key", "private.key", "private_key",
    "authorization",
)  # fmt: skip

#: A Unicode escape, which remains in a key where SQL reads it as plain text.
_ESCAPE = re.compile(r"\\u?\+?([0-9a-fA-F]{4})")


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))


#: No key is declared secret.
NO_KEYS: AbstractSet[str] = frozenset()


def is_secret(key: str, declared: AbstractSet[str] = NO_KEYS) -> bool:
    """Return whether the value of an option must not be shown.

    Args:
        key: The key of the option.
        declared: Keys that are secret although they contain no secret word, in lower case.

    >>> is_secret("properties.sasl.jaas.config"), is_secret("path")
    (True, False)
    >>> is_secret("Combination", frozenset({"combination"}))
    True
    """
    lowered = _ESCAPE.sub(_unescaped, key).lower()
    return lowered in declared or any(word in lowered for word in SECRET_WORDS)


def mask(options: Mapping[str, str], declared: AbstractSet[str] = NO_KEYS) -> dict[str, str]:
    """Return the options with their secrets masked; `declared` as in `is_secret`.

    >>> mask({"user": "ann", "PASSWORD": "hunter2"})
    {'user': 'ann', 'PASSWORD': '******'}
    """
    return {key: masked_value(key, value, declared) for key, value in options.items()}


def masked_value(key: str, value: str, declared: AbstractSet[str] = NO_KEYS) -> str:
    """Return the value of an option with its secrets masked; `declared` as in `is_secret`.

    >>> masked_value("password", "hunter2"), masked_value("url", "https://ann:hunter2@host/")
    ('******', 'https://ann:******@host/')
    """
    return HIDDEN if is_secret(key, declared) else mask_credentials(value)


# --- credentials within values -------------------------------------------------------------------

#: A parameter whose value is a credential, up to its value. Repetitions are bounded, so that the
#: time of a search is linear.
_PARAMETER = re.compile(
    r"""
    (?: passwor[dt] | passwd | passphrase | secret | token | api[-_.]?key | access[-_.]?key
      | account[-_.]?key | private[-_.]?key | shared[-_.]?key | credential | authorization
      | signature | [?&;] key
      | (?: (?<![A-Za-z0-9]) | (?<=%3B) | (?<=%26) ) (?: pwd | pass | pw | sig | sas ) )
    [A-Za-z0-9_.\-]{0,32} \\?["']? [ \t]{0,8} (?: = | :(?!//) | % (?:25){0,3} 3[dD] )
    [ \t]{0,8} (?= . )
  | \b (?: bearer | basic ) [ ]{1,8} (?= [A-Za-z0-9+/=._~\-]{6} )
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)

#: Values that are credentials as a whole: JAAS configurations, private keys.
_CREDENTIALS = re.compile(r"LoginModule|-----BEGIN [A-Z ]{0,32}PRIVATE KEY", re.IGNORECASE)

#: What precedes the password of an Oracle URL: ``jdbc:oracle:thin:scott/tiger@host``.
_ORACLE = re.compile(r"jdbc:oracle:\w{1,16}:[^/@]{0,256}/", re.IGNORECASE)

#: How often an encoded value is decoded to look for credentials.
_DECODINGS = 3


def mask_credentials(value: str) -> str:
    """Return the value of an option that is not secret with the credentials in it masked.

    If the end of a credential is not certain, everything up to the end of the value is hidden.

    >>> mask_credentials("jdbc:mysql://host/db?user=ann&password=hunter2&ssl=true")
    'jdbc:mysql://host/db?user=ann&password=******'
    >>> mask_credentials("https://ann:p@ss/w'ord@host/path")
    'https://ann:******@host/path'
    >>> mask_credentials("mssql+pyodbc:///?odbc_connect=DRIVER%3DX%3BPWD%3Dhunter2")
    'mssql+pyodbc:///?odbc_connect=DRIVER%3DX%3BPWD%3D******'
    >>> mask_credentials("/data/orders.csv")
    '/data/orders.csv'
    """
    if _CREDENTIALS.search(value):
        return HIDDEN
    shown = value
    if found := _PARAMETER.search(shown):
        shown = shown[: found.end()] + HIDDEN
    shown = _without_userinfo(shown)
    return HIDDEN if shown == value and _is_encoded_credential(value) else shown


def has_credentials(value: str) -> bool:
    """Return whether a value contains credentials.

    >>> has_credentials("x;password=1"), has_credentials("x;user=1")
    (True, False)
    """
    return mask_credentials(value) != value


def _without_userinfo(value: str) -> str:
    """Hide the password of ``scheme://user:password@host``; it may hold ``@``, ``/`` and quotes."""
    start = value.find("://")
    if start >= 0:
        colon = value.find(":", start + len("://"))
    elif oracle := _ORACLE.match(value):
        colon = oracle.end() - 1
    else:  # user:password@host
        colon = value.find(":") if " " not in value else -1
    at = value.rfind("@")
    return f"{value[: colon + 1]}{HIDDEN}{value[at:]}" if 0 <= colon < at - 1 else value


def _is_encoded_credential(value: str) -> bool:
    """Whether credentials appear once the value is decoded (``%3D`` for ``=``)."""
    for _ in range(_DECODINGS):
        decoded = unquote(value)
        if decoded == value:
            return False
        if _PARAMETER.search(decoded) or _without_userinfo(decoded) != decoded:
            return True
        value = decoded
    return False


def secret_parts(options: Mapping[str, str], declared: AbstractSet[str] = NO_KEYS) -> list[str]:
    """Return every substring of the values that `mask` hides, the longest first.

    >>> secret_parts({"password": "hunter2", "url": "https://ann:letmein@host/", "path": "x"})
    ['hunter2', 'letmein']
    """
    parts = set()
    for key, value in options.items():
        shown = masked_value(key, value, declared)
        if shown != value:
            before, _, after = shown.partition(HIDDEN)
            parts.add(value[len(before) : len(value) - len(after)])
    return sorted(parts - {""}, key=lambda part: (-len(part), part))


#: Shorter secrets are not searched for in messages: they would match parts of other words.
_SHORTEST = 4


def without_secrets(
    message: str, options: Mapping[str, str], declared: AbstractSet[str] = NO_KEYS
) -> str:
    """Return a message about a table or catalog with the secrets of its options masked.

    >>> without_secrets("cannot open s3://a:letmein@b", {"path": "s3://a:letmein@b"})
    'cannot open s3://a:******@b'
    """
    for part in secret_parts(options, declared):
        if len(part) >= _SHORTEST:
            message = message.replace(part, HIDDEN)
    return message


#: A URL with a user, up to the next space.
_URL_WITH_USER = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]{0,32}://[^\s@]{0,1024}@\S*")


def mask_urls(text: str) -> str:
    """Mask the passwords of all URLs in a message.

    >>> mask_urls("Scan s3://a:letmein@bucket [x]")
    'Scan s3://a:******@bucket [x]'
    """
    return _URL_WITH_USER.sub(lambda found: mask_credentials(found[0]), text)


# --- excerpts of statements ----------------------------------------------------------------------

#: The tokens of SQL as far as literals matter; an unclosed one reaches to the end.
_PIECE = re.compile(
    r"""
      (?P<comment> --[^\r\n]* | //[^\r\n]* | /\*(?!\+)(?s:.*?)\*/ )
    | (?P<prefixed> [eE]'[^'\\]*(?:(?:''|\\(?s:.))[^'\\]*)*' | [uU]&'[^']*(?:''[^']*)*' )
    | (?P<string> '[^']*(?:''[^']*)*' )
    | (?P<quoted> `(?:[^`\r\n]|``)+` | "[^"\r\n]*" )
    | (?P<word> [\w$]+ )
    | (?P<unclosed> ['`](?s:.*) | /\*(?!\+)(?s:.*) )
    | (?P<symbol> /\*\+ | \*/ | \S )
    """,
    re.VERBOSE,
)

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
_SUSPECT = re.compile(
    rf"\b(?:{'|'.join(_OPENERS)})\b|[:@%=]|bearer|basic|{'|'.join(map(re.escape, SECRET_WORDS))}",
    re.IGNORECASE,
)

#: Symbols that stay visible in a malformed clause.
_PUNCTUATION = frozenset({"(", ")", ",", "=", ";", "/*+", "*/"})

#: A literal that is certainly the key of an option.
_KEY = re.compile(r"'[\w.#*-]{1,200}'")

#: The start of a clause within a literal, up to a quote.
_CLAUSE_IN_LITERAL = re.compile(
    rf"\b(?:{'|'.join(sorted(_OPENERS))})[ \t\r\n]{{0,32}}\([ \t\r\n]{{0,32}}['\"`]"
    r"|\A['\"`][ \t\r\n]{0,32}(?:SET|\()[ \t\r\n]{0,32}['\"`]|\A\"[^']*'",
    re.IGNORECASE,
)

#: An option in a comment.
_OPTION_IN_COMMENT = re.compile(r"['\"`][ \t\r\n]{0,32}=")

#: The longest key outside a clause, in tokens.
_KEY_TOKENS = 64


class _Piece(NamedTuple):
    """A token of an excerpt: its kind (a group of `_PIECE`), its text and its offsets."""

    kind: str
    text: str
    start: int
    stop: int

    @property
    def is_literal(self) -> bool:
        return self.kind in ("string", "prefixed", "quoted")


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
    every = [_Piece(m.lastgroup or "", m[0], *m.span()) for m in _PIECE.finditer(text)]
    shown, end = [], 0
    for piece in sorted(_hidden(every), key=lambda one: one.start):
        shown += [text[end : piece.start], re.sub(r"[^\r\n]", "*", piece.text)]
        end = piece.stop
    return "".join([*shown, text[end:]])


def _hidden(every: list[_Piece]) -> list[_Piece]:
    """Return the pieces that are masked."""
    hidden: list[_Piece] = []
    if any(piece.kind == "unclosed" or _holds_clause(piece) for piece in every):
        # Which quotes open and which close is not known: nothing after the first one is certain.
        first = next(number for number, piece in enumerate(every) if _is_uncertain(piece))
        every, hidden = every[:first], every[first:]
    malformed = False
    for statement in _statements(every):
        code = [piece for piece in statement if piece.kind != "comment"]
        continues = malformed and bool(code) and code[0].text.upper() not in _STATEMENTS
        found, malformed = (_all(code), True) if continues else _hidden_in(code)
        comments = (piece for piece in statement if piece.kind == "comment")
        hidden += found
        hidden += [one for one in comments if malformed or _may_hold_secret(one)]
    return hidden


def _is_uncertain(piece: _Piece) -> bool:
    return piece.is_literal or piece.kind == "unclosed" or piece.text.upper() in _OPENERS


def _holds_clause(piece: _Piece) -> bool:
    """Whether a literal contains the start of a clause: its quotes are mismatched."""
    return piece.is_literal and _CLAUSE_IN_LITERAL.search(piece.text) is not None


def _may_hold_secret(comment: _Piece) -> bool:
    text = comment.text
    return is_secret(text) or has_credentials(text) or bool(_OPTION_IN_COMMENT.search(text))


def _statements(every: list[_Piece]) -> Iterator[list[_Piece]]:
    """The pieces up to each semicolon."""
    start = 0
    for number, piece in enumerate(every, 1):
        if piece.text == ";" or number == len(every):
            yield every[start:number]
            start = number


def _all(pieces: list[_Piece]) -> list[_Piece]:
    return [piece for piece in pieces if piece.text not in _PUNCTUATION]


def _hidden_in(pieces: list[_Piece]) -> tuple[list[_Piece], bool]:
    """The hidden pieces of one statement, and whether a clause in it is malformed."""
    hidden: list[_Piece] = []
    place = 0
    while place < len(pieces):
        clause = _clause(pieces, place)
        if clause is None:
            one = pieces[place]
            hidden += [one] if one.is_literal and has_credentials(one.text[1:-1]) else []
            place += 1
            continue
        end = _end_of_options(pieces, clause)
        if end is None:
            return [*hidden, *_all(pieces[clause:])], True
        hidden += pieces[clause + 3 : end - 1 : 4]
        place = end
    return hidden, False


def _clause(pieces: list[_Piece], place: int) -> int | None:
    """Where the clause of options starts that the piece at `place` opens; None if it opens none."""
    piece = pieces[place]
    following = pieces[place + 1] if place + 1 < len(pieces) else None
    if following is None:
        return None
    word = piece.text.upper()
    if piece.kind == "word" and word == "SET":
        before = pieces[place - 1].text.upper() if place else ""
        is_update = pieces[0].text.upper() == "UPDATE" and following.text != "("
        if before in _BEFORE_SET or is_update:
            return None
        has_key = [one.text for one in pieces[place + 2 : place + 3]] == ["="]
        return place + 3 if has_key and _KEY.fullmatch(following.text) else place + 1
    if piece.kind == "word" and word in _OPENERS:
        return place + 1 if following.is_literal or following.text in ("(", "=") else None
    if piece.text == "(":
        is_option = following.kind == "string" and [
            one.text for one in pieces[place + 2 : place + 3]
        ] == ["="]
        return place if is_option else None
    if piece.text == "=":
        return place + 1 if place == 0 or is_secret(_key_before(pieces, place)) else None
    if piece.is_literal and place == 0 and following.text == "=":
        return place
    return (
        place + 1
        if piece.kind != "symbol" and following.is_literal and is_secret(piece.text)
        else None
    )


def _key_before(pieces: list[_Piece], place: int) -> str:
    """The adjacent pieces before an equals sign: ``my.api-key``."""
    start = place - 1
    while (
        0 < start and place - start < _KEY_TOKENS and pieces[start - 1].stop == pieces[start].start
    ):
        start -= 1
    return "".join(piece.text for piece in pieces[start:place])


def _end_of_options(pieces: list[_Piece], place: int) -> int | None:
    """The place after ``('key' = 'value', ...)``; None if the clause is malformed."""
    if place >= len(pieces) or pieces[place].text != "(":
        return None
    place += 1
    if place < len(pieces) and pieces[place].text == ")":
        return place + 1 if _may_follow(pieces[place + 1 : place + 3]) else None
    while place + 3 < len(pieces):
        key, equals, value, after = pieces[place : place + 4]
        if not (_KEY.fullmatch(key.text) and equals.text == "=" and value.kind == "string"):
            return None
        place += 4
        if after.text == ")":
            return place if _may_follow(pieces[place : place + 2]) else None
        if after.text != ",":
            return None
    return None


def _may_follow(pieces: list[_Piece]) -> bool:
    """Whether these pieces can follow a clause of options."""
    match [piece.text if piece.kind == "symbol" else piece.kind for piece in pieces]:
        case [] | ["word" | ")" | "*/" | ";", *_] | [",", "word"]:
            return True
        case _:
            return False
