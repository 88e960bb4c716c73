"""Which options are secret, and how they are shown: everything that shows options asks here.

Texts of SQL are shown too, where a mistake is in them: their secret values are masked
character for character, so that places stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

#: What is shown in place of a secret.
HIDDEN = "******"

#: An option is secret if its key contains one of these, in whatever case (Flink's own list).
SECRET_WORDS = (
    "password", "secret", "fs.azure.account.key", "apikey", "api-key", "auth-params",
    "service-key", "token", "basic-auth", "jaas.config", "http-headers",
)  # fmt: skip

#: Keys that options declare to be secret, in lower case.
_DECLARED: set[str] = set()


def declare_secret(*keys: str) -> None:
    """Say that the values of these options must never be shown, from now on and everywhere.

    >>> is_secret("my.combination")
    False
    >>> declare_secret("my.combination")
    >>> is_secret("My.Combination")
    True
    """
    _DECLARED.update(key.lower() for key in keys)


def is_secret(key: str) -> bool:
    """Whether the value of this option must not be shown.

    >>> is_secret("properties.sasl.jaas.config"), is_secret("path")
    (True, False)
    """
    lowered = key.lower()
    return lowered in _DECLARED or any(word in lowered for word in SECRET_WORDS)


def mask(options: Mapping[str, str]) -> dict[str, str]:
    """The options as they may be shown.

    >>> mask({"user": "ann", "PASSWORD": "hunter2"})
    {'user': 'ann', 'PASSWORD': '******'}
    """
    return {key: masked_value(key, value) for key, value in options.items()}


def masked_value(key: str, value: str) -> str:
    """The value of an option as it may be shown: the password of a URL is masked as well.

    >>> masked_value("password", "hunter2"), masked_value("url", "https://ann:hunter2@host/")
    ('******', 'https://ann:*******@host/')
    """
    return HIDDEN if is_secret(key) else _IN_URL.sub(_asterisks, value)


#: The password of a URL.
_IN_URL = re.compile(r"(?<=://)(?P<kept>[^\s/:@'\"]*:)(?P<value>[^\s/@'\"]+)(?=@)")

#: What a text of SQL is cut into: comments, quoted names, texts. A text that is not closed, or goes
#: on in the next line, ends with its line: what follows a mistake is read rightly again.
_PIECES = re.compile(
    r"--[^\n]*|//[^\n]*|/\*(?!\+).*?\*/|`(?:[^`\n]|``)*`|\"(?:[^\"\n]|\"\")*\""
    r"|'(?P<text>(?:[^'\n]|'')*)(?:'|$)",
    re.DOTALL | re.MULTILINE,
)

#: ``SET my.password = hunter2`` without quotes.
_SET = re.compile(
    r"(?P<kept>\bSET\s+(?P<key>[^\s='\"`]+)\s*=\s*)(?P<value>[^\s;']+)", re.IGNORECASE
)

#: How far behind a key its value may stand.
_NEAR = 40


def mask_text(text: str) -> str:
    """A text of SQL with the values of secret options as so many asterisks.

    >>> mask_text("CREATE TABLE t (a INT) WITH ('password' = 'hunter2', 'path' = 'x')")
    "CREATE TABLE t (a INT) WITH ('password' = '*******', 'path' = 'x')"
    >>> mask_text("SET my.token = abc; SET 'my.token' = 'abc")
    "SET my.token = ***; SET 'my.token' = '***"
    """
    text = _IN_URL.sub(_asterisks, text)
    words = [word for word in (*SECRET_WORDS, *_DECLARED) if word in text.lower()]
    if not words:
        return text
    some = "|".join(map(re.escape, words))
    near = rf"(?P<kept>(?:{some})[^'\s]*'[^'\n]{{0,{_NEAR}}}')(?P<value>(?:[^'\n]|'')*)"
    text = re.sub(near, _asterisks, _by_pieces(text), flags=re.IGNORECASE)
    return _SET.sub(lambda found: _asterisks(found) if is_secret(found["key"]) else found[0], text)


def _by_pieces(text: str) -> str:
    """The text with each text masked that stands near behind the key of a secret option."""
    shown, done, near = [], 0, -1
    for piece in _PIECES.finditer(text):
        start, stop = piece.span("text")
        if start >= 0 and start <= near:
            shown += [text[done:start], _blank(text[start:stop])]
            done = stop
        if start >= 0:
            is_key = start > near and is_secret(text[start:stop])
            near = stop + _NEAR if is_key else -1
    return "".join([*shown, text[done:]])


def _asterisks(found: re.Match[str]) -> str:
    return found["kept"] + _blank(found["value"])


def _blank(value: str) -> str:
    return re.sub(r"[^\n]", "*", value)


class SqlText(str):
    """A text of SQL that is kept: printed as a value it tells no secret.

    >>> SqlText("SELECT 1 /*+ OPTIONS('password' = 'x') */")
    "SELECT 1 /*+ OPTIONS('password' = '*') */"
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(mask_text(str(self)))
