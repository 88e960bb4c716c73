"""Secrets in options, in their values and in SQL: which they are, and how they are masked.

`SECRET_WORDS` and `SECRET_PARTS` are the only table of words: an option is secret if its key
contains one, or if a connector or a catalog declares it secret. Within other values, credentials
are masked: what follows such a word, the password of a URL, and tokens of a known form.

An excerpt of a statement may not parse: `mask_text` works on tokens, and when in doubt masks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Self

from schema_core.base.keywords import VERBS
from schema_core.base.lazy import regex
from schema_core.base.text import Token, quote_string, tokenize, tokenize_excerpt

HIDDEN = "******"

#: A key is secret if it contains one of these; a hyphen stands for one of ``-_. `` or nothing. The
#: first line is Flink's (``org.apache.flink.configuration.GlobalConfiguration``; ``account-key``
#: includes Azure's).
SECRET_WORDS = (
    "password", "secret", "api-key", "auth-params", "service-key", "token", "basic-auth",
    "jaas-config", "http-headers",
    "passwort", "passwd", "pwd", "passphrase", "passcode", "passkey", "credential", "signature",
    "cookie", "authorization", "x-auth", "access-key", "account-key", "private-key", "shared-key",
    "encryption-key", "decryption-key", "signing-key", "master-key", "storage-key", "auth-key",
    "subscription-key", "functions-key", "keystore-key", "key-pem", "oauthbearer-config",
)  # fmt: skip

#: A key is also secret if one of these is a whole part of it: ``sas`` of ``azure.sas.container``
#: and ``Pass`` of ``sslPass2``, not of ``sasl.mechanism`` and ``passed``.
SECRET_PARTS = (
    "pass", "pw", "sas", "sig", "cred", "creds", "jwt", "psk",
    "dbpass", "userpass", "keypass", "storepass", "sslpass", "adminpass", "rootpass", "loginpass",
    "mypass", "authpass", "proxypass", "sshpass",
)  # fmt: skip

#: Phrases that contain a secret word but name something else.
INNOCENT_PHRASES = (
    "pass-through", "pass-thru", "pass-rate", "pass-count", "pass-mark", "one-pass", "two-pass",
    "single-pass", "multi-pass", "tokenizer", "tokeniser", "tokenize", "tokenise", "max-tokens",
    "credentials-provider", "credential-provider", "signature-version", "signature-algorithm",
    "signature-type",
)  # fmt: skip


def _any_of(words: tuple[str, ...]) -> str:
    return "|".join(re.escape(word).replace(r"\-", "[-_. ]?") for word in words)


def _any_part(words: tuple[str, ...]) -> str:
    """Return a pattern that matches one of the words as a part of a name, also in camel case."""
    whole, capitalized = _any_of(words), _any_of(tuple(word.title() for word in words))
    start = r"(?:(?<![A-Za-z])|(?<=%3[BF])|(?<=%26))"  # %3B, %3F and %26 are ``;``, ``?`` and ``&``
    return (
        rf"{start}(?i:{whole})(?![A-Za-z])"
        rf"|(?:(?<![A-Za-z])(?:{whole}|{capitalized})|(?<=[a-z0-9])(?:{capitalized}))(?=[A-Z])"
        rf"|(?<=[a-z0-9])(?:{capitalized})(?![A-Za-z])"
    )


#: A secret word, in the syntax of Python and of Java.
SECRET_PATTERN = f"(?i:{_any_of(SECRET_WORDS)})|{_any_part(SECRET_PARTS)}"

_SECRET = regex(SECRET_PATTERN)
_INNOCENT = regex(_any_of(INNOCENT_PHRASES), re.IGNORECASE)

#: A Unicode escape, which stays in a key where SQL reads plain text.
_ESCAPE = regex(r"\\u?\+?([0-9a-fA-F]{4})")


def _without_innocent(text: str) -> str:
    return _INNOCENT.sub(lambda phrase: "x" * len(phrase[0]), text)


def _decode_escapes(text: str) -> str:
    return _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)


#: No key is declared secret.
NO_KEYS: AbstractSet[str] = frozenset()


class SecretString(str):
    """A string that is masked under any key, because it contains values from elsewhere.

    >>> SecretString("ann:hunter2", ["hunter2"])
    '******'
    """

    __slots__ = ("secrets",)

    secrets: tuple[str, ...]

    def __new__(cls, text: str, secrets: Iterable[str]) -> Self:
        made = super().__new__(cls, text)
        made.secrets = tuple(secrets)
        return made

    def __reduce__(self) -> tuple[type[SecretString], tuple[str, tuple[str, ...]]]:
        return SecretString, (str(self), self.secrets)

    def __repr__(self) -> str:
        return repr(HIDDEN)


def is_secret(key: str, declared: AbstractSet[str] = NO_KEYS) -> bool:
    """Return whether the value of an option must not be shown.

    `declared` are further keys in lower case; ``key.*`` stands for all keys with that prefix.

    >>> is_secret("properties.sasl.jaas.config"), is_secret("path"), is_secret("sslPass")
    (True, False, True)
    >>> is_secret("Combination", frozenset({"combination"}))
    True
    >>> is_secret("Locks.front.number", frozenset({"locks.*"}))
    True
    """
    decoded = _decode_escapes(key)
    return (
        _is_declared(decoded.lower(), declared)
        or _SECRET.search(_without_innocent(decoded)) is not None
    )


def _is_declared(key: str, declared: AbstractSet[str]) -> bool:
    return key in declared or any(
        f"{key[:place]}.*" in declared for place, character in enumerate(key) if character == "."
    )


#: Keys that options of the process declare secret; the connector of an excerpt is unknown.
_DECLARED: frozenset[str] = frozenset()


def declare_secret(keys: Iterable[str]) -> None:
    """Mask the values of these keys in the excerpts of all statements.

    >>> declare_secret(["Vault-Number"])
    >>> "vault-number" in declared_keys()
    True
    """
    global _DECLARED  # noqa: PLW0603 - it grows while connectors are imported
    # those with a secret word are secret anyway, and would hide columns of the same name
    _DECLARED |= {key.lower() for key in keys if not is_secret(key)}


def declared_keys() -> AbstractSet[str]:
    """Return the keys that were declared secret."""
    return _DECLARED


def mask(options: Mapping[str, str], declared: AbstractSet[str] = NO_KEYS) -> dict[str, str]:
    """Return the options with their secrets masked; `declared` as in `is_secret`.

    >>> mask({"user": "ann", "PASSWORD": "hunter2"})
    {'user': 'ann', 'PASSWORD': '******'}
    """
    return {key: mask_value(key, value, declared) for key, value in options.items()}


def mask_value(key: str, value: str, declared: AbstractSet[str] = NO_KEYS) -> str:
    """Return the value of an option with its secrets masked; `declared` as in `is_secret`.

    >>> mask_value("password", "hunter2"), mask_value("url", "https://ann:hunter2@host/")
    ('******', 'https://ann:******@host/')
    """
    if isinstance(value, SecretString) or is_secret(key, declared):
        return HIDDEN
    return mask_credentials(value)


# --- credentials within values -------------------------------------------------------------------

#: A secret word with the rest of its name. Repetitions are bounded: a search takes linear time.
_NAME = rf"(?:{SECRET_PATTERN})[A-Za-z0-9_.\-\[\]]{{0,32}}"
_CLOSED_NAME = rf"{_NAME}\\?[\"'`]?"

#: A word that prose, too, uses for a secret itself.
_SPOKEN = r"(?i:password|passwd|passphrase|passcode)\\?[\"'`]?"

#: Each alternative ends where a credential starts.
_BEFORE_CREDENTIAL = "|".join((
    # name=value, name: value, name => value, also with an encoded equals sign
    rf"{_CLOSED_NAME}\s{{0,8}}(?:=>?|:(?!//)|%(?:25){{0,3}}3[dD])\s{{0,8}}(?=\S)",
    # a list of headers: Authorization,value
    r"(?i:authorization|cookie|x-[a-z-]{0,32}(?:key|token|auth|secret)|api-key)[\"']?\s{0,8},\s{0,8}",
    # <name>value</name> and <name attribute="...">value</name>
    rf"<[\w:.\-]{{0,32}}{_NAME}(?:\s[^<>]{{0,64}})?>(?=[^<])",
    # <name>name</name><value>value; name="name" value="value"; "name": "name", "value": "value"
    rf"{_CLOSED_NAME}\s{{0,8}}</(?:name|key)>\s{{0,64}}<value>",
    rf"{_CLOSED_NAME}\s{{0,8}}[,/]?\s{{0,8}}\\?[\"']?value\\?[\"']?\s{{0,8}}[=:]",
    # --name value, ["--name", "value"]
    rf"(?<![^\s\"'=,\[(])--?[\w.\-]{{0,32}}{_NAME}[\"']?[\s,]{{1,8}}[\"']?(?=[^\s\-])",
    # -p value, which is neither a port nor a path
    r"(?<![^\s\"'])-p[= \t]{1,8}(?!(?:\d{1,5}(?::\d{1,5})?|[./~][^\s]{0,256})(?:\s|\Z))(?=[^\s\-])",
    r"(?<![^\s\"'])-u\s{0,8}[\w.@\-]{1,64}\s{1,8}-p\s{0,8}(?=\S)",
    # curl -u name:value
    r"(?<![^\s\"'])(?:-u|--user)[= \t]{1,8}[\"']?[^\s:\"']{1,64}:(?=\S)",
    # login ann password value, of a netrc file
    rf"(?i:\blogin)\s{{1,8}}\S{{1,64}}\s{{1,8}}{_NAME}\s{{1,8}}",
    # password 'value', password is value1
    rf"{_SPOKEN}\t\s{{0,8}}(?=\S)",
    rf"{_SPOKEN}\s{{1,8}}(?:(?i:is|to)\s{{1,8}})?(?=[\"'`]|[^\s\d]{{0,64}}\d)",
    # _auth=value, of npm
    r"\b_auth\s{0,8}=\s{0,8}(?=\S)",
    # IDENTIFIED BY 'value'
    r"\b(?i:identified)\s{1,8}(?i:by)\s{1,8}(?=['\"])",
    # parameters of a URL that are secret only there
    r"[?&;](?i:key|auth)=(?=.)",
    # the credentials of a header
    r"\b(?i:bearer)[ ]{1,8}(?=[A-Za-z0-9+/=._~\-]{6})",
    r"\b(?i:basic)[ ]{1,8}(?=[\w+/=.~\-]{6})(?=[A-Za-z+/.~\-]{0,256}(?:[0-9=]|[a-z][A-Z]))",
))  # fmt: skip

_PARAMETER = regex(_BEFORE_CREDENTIAL, re.DOTALL)

#: JAAS configurations and private keys: the whole value is secret.
_CREDENTIALS = regex(r"LoginModule|-----BEGIN [A-Z ]{0,32}PRIVATE KEY", re.IGNORECASE)

#: Tokens of AWS, GitHub, GitLab, Slack, Google, Databricks, Hugging Face, OpenAI, Stripe, npm,
#: PyPI, and JSON web tokens.
_TOKEN = regex(
    r"(?<![A-Za-z0-9])(?:(?:AKIA|ASIA)[0-9A-Z]{16}\b|gh[opsru]_[A-Za-z0-9]{16,255}"
    r"|github_pat_\w{16,255}|glpat-[\w\-]{16,255}|xox[abeoprs]-[\w\-]{8,255}|AIza[\w\-]{30,64}"
    r"|ya29\.[\w\-]{16,1024}|dapi[0-9a-f]{32}|hf_[A-Za-z0-9]{20,255}|sk-[\w\-]{20,255}"
    r"|[rs]k_(?:live|test)_\w{8,255}|npm_[A-Za-z0-9]{30,64}|pypi-[\w\-]{30,1024}"
    r"|eyJ[\w\-]{8,4096}\.[\w\-]{2,8192}(?:\.[\w\-]{0,4096})?)"
)

#: Before the password of an Oracle URL: ``jdbc:oracle:thin:scott/tiger@host``.
_ORACLE = regex(r"jdbc:oracle:\w{1,16}:[^/@]{0,256}/", re.IGNORECASE)

_PORT = regex(r"\d{1,5}(?:[/?#;,]|\Z)")

_AUTHORITY_END = regex(r"[/?#\\]")

#: A user name that may be a token.
_LONG_NAME = regex(r"(?=[^0-9]{0,256}[0-9])(?=[^A-Za-z]{0,256}[A-Za-z])[\w\-.~+=%]{20,}")

#: Schemes whose user name is a container, never a token.
_CONTAINERS = frozenset({"abfs", "abfss", "wasb", "wasbs"})

_DECODINGS = 3


def mask_credentials(value: str) -> str:
    """Return a value that is not secret with the credentials in it masked.

    If the end of a credential is not certain, the rest of the value is hidden.

    >>> mask_credentials("jdbc:mysql://host/db?user=ann&password=hunter2&ssl=true")
    'jdbc:mysql://host/db?user=ann&password=******'
    >>> mask_credentials("https://ann:p@ss/w'ord@host/path")
    'https://ann:******@host/path'
    >>> mask_credentials("mssql+pyodbc:///?odbc_connect=DRIVER%3DX%3BPWD%3Dhunter2")
    'mssql+pyodbc:///?odbc_connect=DRIVER%3DX%3BPWD%3D******'
    >>> mask_credentials("run --password hunter2"), mask_credentials("<pass>hunter2</pass>")
    ('run --password ******', '<pass>******')
    """
    pieces, end = [], 0
    for start, stop in _credentials(value):
        pieces += [value[end:start], HIDDEN]
        end = stop
    return "".join([*pieces, value[end:]])


def has_credentials(value: str) -> bool:
    """Return whether a value contains credentials.

    >>> has_credentials("x;password=1"), has_credentials("x;user=1")
    (True, False)
    """
    return bool(_credentials(value))


def _is_masked(key: str, value: str, declared: AbstractSet[str]) -> bool:
    """Return whether any of an option is masked; both parts have their quotes."""
    return is_secret(key[1:-1], declared) or has_credentials(value[1:-1])


def _credentials(value: str) -> list[tuple[int, int]]:
    """Return the spans of the credentials in a value, in order and without overlaps."""
    if _CREDENTIALS.search(value):
        return [(0, len(value))]
    spans = list(_plain_credentials(value))
    if not spans and _is_encoded_credential(value):
        return [(0, len(value))]
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _plain_credentials(value: str) -> Iterator[tuple[int, int]]:
    parameter = _PARAMETER.search(_without_innocent(value))
    if parameter:
        yield parameter.end(), len(value)
    if "@" in value:
        yield from _userinfo(value, parameter.start() if parameter else len(value))
    for token in _TOKEN.finditer(value):
        yield token.span()


def _userinfo(value: str, parameters: int) -> Iterator[tuple[int, int]]:
    """Yield the secrets of ``scheme://user:password@host``; the password may hold ``@`` and ``/``.

    From the position `parameters` on, parameters of the URL hold credentials.
    """
    separator = value.find("://")
    at = value.rfind("@")
    if separator >= 0:
        start = separator + len("://")
        colon = value.find(":", start)
    elif oracle := _ORACLE.match(value):
        start = colon = oracle.end() - 1
    else:  # user:password@host
        start, colon = 0, value.find(":") if " " not in value else -1
    if at > parameters and _PORT.match(value, colon + 1):  # the sign is part of a parameter
        at = value.rfind("@", 0, parameters)
    if 0 <= colon < at - 1:
        yield colon + 1, at
    if separator < 0:
        return
    end = _AUTHORITY_END.search(value, start)
    at = value.rfind("@", start, end.start() if end else len(value))
    user, _, password = value[start : max(at, start)].partition(":")
    scheme = re.split(r"[^a-z0-9]", value[:separator].lower())[-1]
    is_token = scheme in ("http", "https") and password in ("", "x-oauth-basic")
    if user and (is_token or (scheme not in _CONTAINERS and _LONG_NAME.fullmatch(user))):
        yield start, at


def _is_encoded_credential(value: str) -> bool:
    if "%" not in value:
        return False
    from urllib.parse import unquote

    for _ in range(_DECODINGS):
        decoded = unquote(value)
        if decoded == value:
            return False
        if any(_plain_credentials(decoded)):
            return True
        value = decoded
    return False


def secret_parts(options: Mapping[str, str], declared: AbstractSet[str] = NO_KEYS) -> list[str]:
    """Return every substring of the values that `mask` hides, the longest first.

    >>> secret_parts({"password": "hunter2", "url": "https://ann:letmein@host/", "path": "x"})
    ['hunter2', 'letmein']
    """
    parts = {
        value[start:stop]
        for key, value in options.items()
        for start, stop in ([(0, len(value))] if is_secret(key, declared) else _credentials(value))
    }
    for value in options.values():
        if isinstance(value, SecretString):
            parts |= {str(value), *value.secrets}
    return sorted(parts - {""}, key=lambda part: (-len(part), part))


#: Shorter secrets would match parts of other words of a message.
_SHORTEST = 4


def without_secrets(
    message: str, options: Mapping[str, str], declared: AbstractSet[str] = NO_KEYS
) -> str:
    """Return a message about a table or catalog with the secrets of its options masked.

    A message may quote a secret as a string of SQL or of Python, or encoded as in a URL.

    >>> without_secrets("cannot open s3://a:letmein@b", {"path": "s3://a:letmein@b"})
    'cannot open s3://a:******@b'
    >>> without_secrets("got 'it''s me'", {"password": "it's me"})
    "got '******'"
    """
    for part in secret_parts(options, declared):
        for quoted in quoted_forms(part):
            message = message.replace(quoted, HIDDEN)
    return message


def quoted_forms(part: str) -> Iterator[str]:
    """Yield how a message may quote a secret: as it is, in SQL, in Python and in a URL.

    A short secret has none, because it would match parts of other words.

    >>> [*quoted_forms("it's me")][:2], [*quoted_forms("me")]
    (["it's me", "it''s me"], [])
    """
    if len(part) < _SHORTEST:
        return
    yield part
    if part.isalnum():
        return
    from urllib.parse import quote, unquote

    yield part.replace("'", "''")
    yield repr(part)[1:-1]
    yield part.encode("unicode_escape").decode()
    yield quote(part, safe="")
    yield quote(part)
    if len(decoded := unquote(part)) >= _SHORTEST:
        yield decoded


# --- text that is not parsed ---------------------------------------------------------------------

#: The type after a secret word that is a column.
_TYPE = regex(
    r"[\w.\-]{0,64}[\"`]?\s{1,64}(?:STRING|CHAR|VARCHAR|N?VARCHAR2?|TEXT|BYTES|BYTEA|BINARY|VARBINARY|"
    r"BOOLEAN|TINYINT|SMALLINT|INT|INTEGER|BIGINT|FLOAT|DOUBLE|DECIMAL|NUMERIC|DATE|TIME|TIMESTAMP|"
    r"TIMESTAMP_LTZ|ARRAY|MAP|ROW|UUID|JSON|JSONB)\b",
    re.IGNORECASE,
)

_ADJACENT = regex(r"'\s+'")

#: An escape of a literal ``U&'...' UESCAPE '!'`` with any escape character.
_ANY_ESCAPE = regex(r"[^\w\s'\"](?:\+[0-9a-fA-F]{2})?([0-9a-fA-F]{4})")

#: Marks of runs that may have credentials.
_MARK = regex(r"@|://|%|jdbc:oracle:|\\|[uU]&['\"]")

_RUN = regex(r"\S+")

#: The start of the password of a URL, which is not a port.
_PASSWORD_IN_URL = regex(r"://[^\s/?#@:]{0,256}:(?!\d{1,5}(?:[^\w]|\Z))")


#: A word after a secret word in prose.
_PROSE = regex(
    rf"(?:{SECRET_PATTERN})[\w.\-]{{0,32}}[\"'`]?\s{{1,8}}(?:(?:is|was|to|as)\s{{1,8}})?"
    r"(?!(?:a|an|and|are|at|by|for|from|has|if|in|is|it|not|of|on|or|that|the|to|was|which|with)\b)"
    r"(\S{4,})"
)


def prose_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of words of prose that may be secrets.

    >>> [*prose_secrets("the password letmein of ann")]
    [(13, 20)]
    """
    for match in _PROSE.finditer(_without_innocent(text)):
        yield match.span(1)


def secret_positions(text: str, declared: AbstractSet[str] = NO_KEYS) -> list[int]:
    """Return where secret words and credentials start in a text that may not parse, in order.

    A secret never precedes the first position. Columns with a type are not reported.

    >>> secret_positions("token STRING, 'token' = 'x'"), secret_positions("at https://a:b@c")
    ([15], [11])
    """
    plain = _without_innocent(text)
    positions = {
        word.start() for word in _SECRET.finditer(plain) if not _TYPE.match(plain, word.end())
    }
    positions |= {match.start() for match in _PARAMETER.finditer(plain)}
    for pattern in (_CREDENTIALS, _TOKEN):
        positions |= {match.start() for match in pattern.finditer(text)}
    if declared:
        keys = "|".join(map(re.escape, sorted(declared)))
        whole = re.compile(rf"(?<![\w.\-])(?:{keys})(?![\w.\-])", re.IGNORECASE)
        positions |= {key.start() for key in whole.finditer(text)}
    if _MARK.search(text):
        positions |= set(_marked_positions(text, declared))
    if adjacent := _ADJACENT.search(text):
        joined = _ADJACENT.sub("", plain)
        if len(_SECRET.findall(joined)) > len(_SECRET.findall(plain)):
            positions.add(max(0, text.rfind("'", 0, adjacent.start())))
    return sorted(positions)


def _marked_positions(text: str, declared: AbstractSet[str]) -> Iterator[int]:
    """Yield where a run without spaces has a URL with a user, or an encoded secret."""
    for match in _RUN.finditer(text):
        run = match[0]
        if not _MARK.search(run):
            continue
        at = run.rfind("@")
        if "://" in run and (_PASSWORD_IN_URL.search(run) or any(_userinfo(run, len(run)))):
            yield match.start() + run.index("://") + len("://")
        elif oracle := _ORACLE.search(run):
            yield match.start() + oracle.start()
        elif "://" not in run and 0 <= run.find(":") < at:
            yield match.start() + run.index(":")
        decoded = _ANY_ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), _decode_escapes(run))
        is_escaped = decoded != run and is_secret(decoded.strip("'\",;()uUeE&="), declared)
        if is_escaped or _is_encoded_credential(run):
            yield match.start()


#: A URL, up to the next space; those of JDBC need no slashes.
_URL = regex(r"(?:jdbc:|(?<![a-zA-Z0-9+.-])[a-zA-Z][a-zA-Z0-9+.-]{0,32}://)\S*")


def mask_urls(text: str) -> str:
    """Mask the credentials of all URLs in a message.

    >>> mask_urls("Scan s3://a:letmein@bucket [x]")
    'Scan s3://a:******@bucket [x]'
    >>> mask_urls("jdbc:postgresql://host/shop?password=letmein is unreachable")
    'jdbc:postgresql://host/shop?password=****** is unreachable'
    """
    return _URL.sub(lambda url: mask_credentials(url[0]), text)


# --- excerpts of statements ----------------------------------------------------------------------

#: Words that open a clause of options.
_OPENERS = frozenset({"WITH", "OPTIONS", "SET", "TBLPROPERTIES", "PROPERTIES", "SERDEPROPERTIES"})

#: Words after which SET does not open a clause.
_BEFORE_SET = frozenset({"CHARACTER", "STATEMENT"})

#: The end of a statement without certain tokens.
_END = regex(rf";\s{{0,256}}(?=(?:{'|'.join(sorted(VERBS))})\b)", re.IGNORECASE)

#: Symbols that stay visible in a malformed clause.
_PUNCTUATION = frozenset({"(", ")", ",", "=", ";", "/*+", "*/"})

#: A literal that is certainly the key of an option.
_KEY_PATTERN = r"'[\w.#*-]{1,200}'"
_KEY = regex(_KEY_PATTERN)

#: The start of a clause within a literal.
_CLAUSE_IN_LITERAL = regex(
    rf"\b(?:{'|'.join(sorted(_OPENERS))})[ \t\r\n]{{0,32}}\([ \t\r\n]{{0,32}}['\"`]"
    r"|\A['\"`][ \t\r\n]{0,32}(?:SET|\()[ \t\r\n]{0,32}['\"`]|\A\"[^']*'",
    re.IGNORECASE,
)

#: The start of a clause without certain tokens.
_CLAUSE = regex(
    rf"(?<!CHARACTER[ ])(?<!STATEMENT[ ])\b(?:{'|'.join(sorted(_OPENERS))})\b\s{{0,32}}"
    r"(?:\(\s{0,32}|(?=['\"`=]|/\*|--|[uU]&'|[\w.\-]{1,64}\s{0,32}=))"
    r"|\(\s{0,32}(?='[^']{1,200}'\s{0,32}=)|(?:;|\A)\s{0,32}(?==)",
    re.IGNORECASE,
)

#: An option in a comment.
_OPTION_IN_COMMENT = regex(r"['\"`][ \t\r\n]{0,64}=")

#: An option up to the next one or the end.
_OPTION = regex(
    rf"({_KEY_PATTERN})\s{{0,64}}=\s{{0,64}}('[^']*(?:''[^']*)*')\s{{0,64}}([,)])\s{{0,64}}"
)

#: Maximum length of a key outside a clause, in tokens.
_KEY_TOKENS = 64

_LITERALS = frozenset({"string", "escaped", "unicode", "name", "double_quoted"})


def mask_text(text: str) -> str:
    """Mask the secrets in SQL, which need not be valid, for excerpts in messages.

    Each masked character becomes an asterisk, so that carets still fit: values of secret keys and
    literals with credentials; in a malformed clause also values without a key and everything after
    a secret word; if a quote is not closed, the rest of the clause.

    >>> mask_text("CREATE TABLE t (a INT) WITH ('password' = 'hunter2', 'path' = 'x')")
    "CREATE TABLE t (a INT) WITH ('password' = *********, 'path' = 'x')"
    >>> mask_text("CREATE TABLE t (a INT) WITH ('password' = hunter2, 'path' = 'x')")
    'CREATE TABLE t (a INT) WITH (********** = *******, ****** = ***)'
    >>> mask_text("SET my.token = abc; SELECT 'x'")
    "SET ******** = ***; SELECT 'x'"
    """
    return _mask_excerpt(text, declared_keys())


_ARGUMENT = r"'(?:[^'\\]++|\\.|'')*+(?:'|\Z)"
_ARGUMENT_OF_TSQL = r"'(?:[^']++|'')*+(?:'|\Z)|\"(?:[^\"]++|\"\")*+(?:\"|\Z)"

#: Arguments without keys, which may be passwords: those of engines of ClickHouse that read other
#: servers, and those of procedures of T-SQL, except the one of comments.
_ARGUMENTS = regex(
    r"\bENGINE\s*=?\s*(?!Replicated|Distributed|Shared|\w*MergeTree)\w+\s*"
    rf"\((?P<engine>(?:[^'()]++|{_ARGUMENT}|\((?:[^'()]++|{_ARGUMENT})*+\))*+)"
    r"|\bEXEC(?:UTE)?\s+(?![\w.\[\]]*sp_addextendedproperty)[\w.\[\]#$]+\s+"
    rf"(?=N?['\"]|[@\d]|NULL\b|DEFAULT\b)(?P<procedure>(?:[^'\";]++|{_ARGUMENT_OF_TSQL})*+)",
    re.IGNORECASE | re.DOTALL,
)
#: An argument, unless its name precedes it.
_UNNAMED = {
    "engine": regex(rf"(?P<value>{_ARGUMENT})", re.DOTALL),
    "procedure": regex(
        rf"@\w+\s*=\s*N?(?:{_ARGUMENT_OF_TSQL})|(?P<value>{_ARGUMENT_OF_TSQL})", re.DOTALL
    ),
}


def mask_arguments(text: str) -> str:
    """Mask the strings that engines and procedures take without keys.

    >>> mask_arguments("ENGINE = MySQL('host', 'd', 't', 'u', 'hunter2')")
    'ENGINE = MySQL(******, ***, ***, ***, *********)'
    >>> mask_arguments("EXEC sp_addlinkedsrvlogin 'hunter2', @useself = 'false'")
    "EXEC sp_addlinkedsrvlogin *********, @useself = 'false'"
    """
    return _mask_spans(text, _argument_spans(text))


def _argument_spans(text: str) -> Iterator[tuple[int, int]]:
    for call in _ARGUMENTS.finditer(text):
        kind = str(call.lastgroup)
        for argument in _UNNAMED[kind].finditer(text, *call.span(kind)):
            if argument["value"] is not None:
                yield argument.span()


def _mask_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text of equal length whose spans, which may overlap, are hidden."""
    pieces, end = [], 0
    for start, stop in sorted(spans):
        if stop > end:
            pieces += [text[end:start], re.sub(r"[^\r\n]", "*", text[max(start, end) : stop])]
            end = stop
    return "".join([*pieces, text[end:]])


@lru_cache(maxsize=2)
def _mask_excerpt(text: str, declared: AbstractSet[str]) -> str:
    spans = [*_argument_spans(text)]
    positions = secret_positions(text, declared)
    if positions or _CLAUSE.search(text):
        spans += _secret_spans(text, positions, declared)
    return _mask_spans(text, spans)


def _secret_spans(
    text: str, positions: list[int], declared: AbstractSet[str]
) -> Iterator[tuple[int, int]]:
    """Yield the hidden spans of a text, which may overlap; `positions` have secret words."""
    tokens = tokenize_excerpt(text)
    if any(token.kind == "unclosed" or _holds_clause(token) for token in tokens):
        # Which quotes open is not known: nothing after the first one is certain.
        first = next(
            place
            for place, token in enumerate(tokens)
            if token.kind in _LITERALS
            or token.kind == "unclosed"
            or token.value.upper() in _OPENERS
        )
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
            if _is_masked(option[1], option[2], declared):
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
            if _is_masked(token.value, value.value, declared):
                yield value.start, value.stop
            place += 2
        elif token.value not in _PUNCTUATION:
            yield token.start, token.stop
        place += 1


def _is_option(tokens: list[Token], place: int) -> bool:
    """Return whether ``'key' = 'value'`` is at a place, without a further part of the value."""
    if not _KEY.fullmatch(tokens[place].value):
        return False
    match _shapes(tokens[place + 1 : place + 5]):
        case ["=", "string"] | ["=", "string", "string", "="]:
            return True
        case ["=", "string", after, *_]:
            return after not in _LITERALS
    return False


def _shapes(tokens: list[Token]) -> list[str]:
    return [token.value if token.kind == "any_symbol" else token.kind for token in tokens]


def _comment_spans(comment: Token, every: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the credentials of a comment, and the words of prose that follow secret words.

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


def _holds_clause(piece: Token) -> bool:
    """Return whether a literal contains the start of a clause: its quotes are mismatched."""
    return piece.kind in _LITERALS and _CLAUSE_IN_LITERAL.search(piece.value) is not None


def _statements(every: list[Token]) -> Iterator[list[Token]]:
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
                if _is_masked(key.value, value.value, declared):
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
    """Return where the clause of options starts that the piece at `place` opens, or None."""
    piece = pieces[place]
    if place + 1 == len(pieces):
        return None
    following = pieces[place + 1]
    word = piece.value.upper() if piece.kind == "any_word" else ""
    if word == "SET":
        before = pieces[place - 1].value.upper() if place else ""
        is_update = pieces[0].value.upper() == "UPDATE" and following.value != "("
        if before in _BEFORE_SET or is_update:
            return None
        return place + 1
    if word in _OPENERS:
        return place + 1 if following.kind in _LITERALS or following.value in ("(", "=") else None
    is_option = _shapes(pieces[place : place + 3]) == ["(", "string", "="]
    return place if is_option else None


def _secret_value(pieces: list[Token], place: int, declared: AbstractSet[str]) -> tuple[int, int]:
    """Return the range of the secret value that follows `place`; empty without one."""
    piece = pieces[place]
    start = place + 1
    if start == len(pieces):
        return start, start
    if piece.value in ("=", ":"):
        is_value = place == 0 or is_secret(_key_before(pieces, place), declared)
        if not is_value or pieces[start].value == ":":
            return start, start
        start += pieces[start].value == ">"  # of ``=>``
    elif piece.kind == "any_symbol" or pieces[start].kind not in _LITERALS:
        return start, start
    elif not is_secret(piece.value, declared):
        words = [piece.value.upper() for piece in pieces[max(place - 1, 0) : place + 1]]
        if words != ["IDENTIFIED", "BY"]:
            return start, start
    end = start  # the value: literals and a word, and what is adjacent to them
    while end < len(pieces) and (
        pieces[end].kind in _LITERALS
        or (
            pieces[end].value not in _PUNCTUATION
            and (end == start or pieces[end].start == pieces[end - 1].stop)
        )
    ):
        end += 1
    return start, end


def _key_before(pieces: list[Token], place: int) -> str:
    start = place - 1
    while (
        0 < start and place - start < _KEY_TOKENS and pieces[start - 1].stop == pieces[start].start
    ):
        start -= 1
    return "".join(piece.value for piece in pieces[start:place])


def _end_of_options(pieces: list[Token], place: int) -> int | None:
    """Return the place after ``('key' = 'value', ...)``; None if the clause is malformed."""
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
    match _shapes(pieces):
        case [] | ["any_word" | ")" | "*/" | ";", *_] | [",", "any_word"]:
            return True
        case _:
            return False


# --- hints of queries ----------------------------------------------------------------------------


def mask_query(text: str, declared: AbstractSet[str] = NO_KEYS) -> str:
    """Return a query with the secret values of its hints masked; only hints hold options.

    A query with a character with which no token begins is masked as an excerpt of an error is.

    >>> print(mask_query("SELECT 1 FROM t /*+ OPTIONS('password' = 'x', 'path' = 'y') */"))
    SELECT 1 FROM t /*+ OPTIONS('password' = '******', 'path' = 'y') */
    """
    if "/*+" not in text:
        return text
    tokens = tokenize(text)
    if any(token.kind == "bad" for token in tokens):
        return mask_text(text)
    pieces, end, is_hint = [], 0, False
    for place, token in enumerate(tokens):
        if token.key in ("/*+", "*/"):
            is_hint = token.key == "/*+"
        elif is_hint and token.kind in ("string", "charset", "unicode", "escaped"):
            key = tokens[place - 2].value if tokens[place - 1].key == "=" else ""
            # A string without a key of its own may continue the one before it.
            continues = not key and tokens[place - 1].kind == "string"
            masked = HIDDEN if continues else mask_value(key, token.value, declared)
            if masked != token.value:
                pieces += [text[end : token.start], quote_string(masked)]
                end = token.stop
    return "".join([*pieces, text[end:]])


class QueryText(str):
    """The text of a stored query, whose `repr` masks the secrets of its hints.

    >>> QueryText("SELECT 1 FROM t /*+ OPTIONS('password' = 'x') */")
    "SELECT 1 FROM t /*+ OPTIONS('password' = '******') */"
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(mask_query(str(self)))
