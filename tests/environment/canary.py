"""A canary secret in every statement and in every form in which an option can be written."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

from schema_core.errors import SchemaCoreError
from schema_core.sql import statement_syntax as syntax

CANARY = "kanarienvogel"

#: The forms of an option that holds a secret; not all of them can be parsed.
OPTIONS: dict[str, str] = {
    "plain":            f"'password' = '{CANARY}'",
    "far":              f"'password'{' ' * 60}=\n\n{' ' * 60}'{CANARY}'",
    "long key":         f"'password.{'of.' * 30}mine' = '{CANARY}'",
    "several lines":    f"'password' = 'a\nb\n{CANARY}'",
    "adjacent":         f"'password' = 'a'\n '{CANARY}'",
    "adjacent wrongly": f"'password' = 'a' '{CANARY}'",
    "doubled quotes":   f"'password' = 'a''{CANARY}'",
    "double quotes":    f'"password" = "{CANARY}"',
    "no quotes":        f"password = {CANARY}",
    "backticks":       f"`password` = '{CANARY}'",
    "backtick value":  f"'password' = `{CANARY}`",
    "unicode key":      rf"U&'pass\0077ord' = '{CANARY}'",
    "escaped key":      f"E'pass\\u0077ord' = '{CANARY}'",
    "prefixed value":   f"'password' = U&'{CANARY}'",
    "capitals":         f"'PassWord' = '{CANARY}'",
    "commented":        f"-- 'password' = '{CANARY}'\n'a' = 'b'",
    "jaas key":         f"'properties.sasl.jaas.config' = 'x.PlainLoginModule required\n"
                        f" username=\"ann\"\n password=\"{CANARY}\";'",
    "jaas value":       f"'x' = 'x.PlainLoginModule required\n username=\"{CANARY}\"\n;'",
    "jdbc":             f"'url' = 'jdbc:mysql://host/db?user=ann&password={CANARY}&ssl=true'",
    "jdbc semicolon":   f"'url' = 'jdbc:sqlserver://host;user=ann;password={CANARY};encrypt=true'",
    "jdbc oracle":      f"'url' = 'jdbc:oracle:thin:scott/{CANARY}@host:1521/x'",
    "url":              f"'url' = 'postgresql://ann:{CANARY}@host/db'",
    "url with signs":   f"'url' = 'postgresql://ann:p@ss/w\"{CANARY}@host/db'",
    "url with quotes":  f"'url' = 'postgresql://ann:p''{CANARY}@host/db'",
    "urls":             f"'url' = 'http://ann:x@host,http://bob:{CANARY}@host'",
    "odbc":             f"'url' = 'mssql+pyodbc:///?odbc_connect=DRIVER%3DX%3BPWD%3D{CANARY}'",
    "encoded twice":    f"'url' = 'x?y=a%253Bpassword%253D{CANARY}'",
    "json":             f"'config' = '{{\"client_secret\": \"{CANARY}\"}}'",
    "header":           f"'headers' = 'Authorization: Bearer {CANARY}'",
    "whole word":       f"'db.pw' = '{CANARY}'",
    "token as user":    f"'url' = 'https://{CANARY}@host/x'",
    "flag":             f"'command' = 'copy --password {CANARY} x'",
}  # fmt: skip

#: Options with a secret: key and value.
SECRETS: tuple[tuple[str, str], ...] = (
    *((key, CANARY) for key in (
        "credentials", "client.credential", "google.credentials", "pass", "db.pass", "sslPass2",
        "keypass", "passcode", "passkey", "pw", "db_pw", "sas", "fs.azure.sas.x.y", "sig",
        "signature", "encryption.key", "encryptionKey", "decryption-key", "master_key", "psk",
        "header.cookie", "Set-Cookie", "header.Authorization", "header.X-Api-Key", "x-auth",
        "ocp-apim-subscription-key", "x-functions-key", "jwt", "ssl.keystore.key", "PASSWORD",
        "fs.azure.account.key.x", "AWS_SECRET_ACCESS_KEY", "accountKey", "storage.key",
    )),
    *(("x", value) for value in (
        f"copy --password {CANARY}", f"copy --token={CANARY}", f"copy -p {CANARY}",
        f"mysql -uann -p{CANARY}", f"curl -u ann:{CANARY} http://host", f'["--pw", "{CANARY}"]',
        f"<password>{CANARY}</password>", f'<a name="password" value="{CANARY}"/>',
        f"<name>fs.s3a.secret.key</name> <value>{CANARY}</value>",
        f'{{"password": "{CANARY}"}}', f'{{\\"password\\": \\"{CANARY}\\"}}',
        f'[{{"name": "Authorization", "value": "{CANARY}"}}]', f"password: {CANARY}",
        f"password:\n  {CANARY}", f"password => {CANARY}", f"Server=h;Password={CANARY};",
        f"Server=h;Pwd={CANARY};", f"AccountName=a;AccountKey={CANARY};E=1",
        f"BlobEndpoint=x;SharedAccessSignature=sv=1&sig={CANARY}", f"ann:{CANARY}@host",
        f"https://{CANARY}@host/x", f"https://{CANARY}:@host", f"git+https://{CANARY}@host/x.git",
        f"https://{CANARY}:x-oauth-basic@host/x", f"https://ann:b@host?password={CANARY}",
        f"redis://:{CANARY}@host", f"https://host/x?sv=1&sig={CANARY}", f"https://h?key={CANARY}",
        f"Authorization,{CANARY}", f"X-Api-Key,{CANARY}", f"Cookie: id={CANARY}",
        f"Proxy-Authorization: Basic {CANARY}", f"X-Vault-Token: {CANARY}", f"Bearer {CANARY}",
        f"machine h login ann password {CANARY}", f"PGPASSWORD={CANARY} psql",
        f"org.x.ScramLoginModule required username=a password={CANARY};",
        f"password '{CANARY}'", f"passphrase is '{CANARY}'", f"PASSWORD\t{CANARY}",
        f"//registry/:_auth={CANARY}", f"password[0]={CANARY}", f"password 1{CANARY}",
        f"-----BEGIN PRIVATE KEY-----\n{CANARY}",
    )),
)  # fmt: skip

#: Tokens that are secret by their form.
TOKENS = (
    "AKIAIOSFODNN7EXAMPLE", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "xoxb-123456789-abcdef",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "Basic YW5uOmh1bnRlcjI=",
    "postgresql://ghp_abcdefghijklmnopqrstuvwxyz0123456789@host/x",
)  # fmt: skip

#: Options without a secret, which are shown as they are.
INNOCENT: tuple[tuple[str, str], ...] = (
    *((key, "some value") for key in (
        "passed", "path", "passthrough", "pass-through", "key.fields", "compass", "bypass",
        "passenger", "classpath", "primary-key", "partition.keys", "key.format", "sasl.mechanism",
        "tokenizer", "max-tokens", "fs.s3a.aws.credentials.provider", "assignment", "design",
        "signature-version", "connector", "spwan", "max.passes", "PASSED", "compassId",
    )),
    *(("x", value) for value in (
        "abfss://data@account.dfs.core.windows.net/x", "postgresql://ann@host/db",
        "jdbc:mysql://host:3306/db?user=ann", "hdfs://ann@namenode:8020/x", "kafka-1:9092,b:9092",
        "ssh -p 22 host", "mkdir -p /data/x", "docker run -p 80:8080 x", "basic training",
        "Basic English", "passed: 3", "passed=3", "compass=north", "https://host:8080/a?b=c",
        "https://host/@scope/x", "grant_type=client_credentials&scope=x", "key.fields=a;b",
        "yyyy-MM-dd HH:mm:ss", "git@host:a/b", "ann@example.com", "the token table",
        '{"passed": 1}',
        "<passed>1</passed>", "org.apache.flink.Tokenizer", "a:b", "[a-z]+@[a-z]+", "$.a[0]",
    )),
)  # fmt: skip

CREATED = "CREATE TABLE s (a INT) WITH ('connector' = 'filesystem', 'path' = '/nowhere', {})"

#: Class of a statement -> statements of it; ``{}`` is where an option stands.
STATEMENTS: dict[type, tuple[str, ...]] = {
    syntax.CreateTable: (
        CREATED,
        "CREATE TABLE IF NOT EXISTS t (a INT, b AS a + 1) COMMENT 'it''s' WITH ({}, 'b' = 'c')",
        "CREATE TEMPORARY TABLE t2 (a INT) WITH ('connector' = 'nowhere', {})",
        "CREATE TABLE l WITH ({}) LIKE s",
        "CREATE TABLE l2 WITH ({}) LIKE s (OVERWRITING OPTIONS)",
        "CREATE TABLE c WITH ({}) AS SELECT 1 AS a",
        "CREATE TABLE c2 WITH ({}) AS SELECT nothing AS a",
        "CREATE TABLE t3 (a NOTHING, b AS c) WITH ({})",
        "REPLACE TABLE c WITH ({}) AS SELECT 'x' AS a",
    ),
    syntax.CreateView: (
        "CREATE VIEW v AS SELECT * FROM s /*+ OPTIONS({}) */",
        "CREATE VIEW v2 (x) AS SELECT nothing FROM s /*+ OPTIONS('a' = 'b', {}) */ AS t",
    ),
    syntax.CreateMaterializedTable: (
        "CREATE MATERIALIZED TABLE m WITH ({}) FRESHNESS = INTERVAL '1' HOUR AS SELECT 1 AS a",
    ),
    syntax.CreateCatalog: (
        "CREATE CATALOG k WITH ('type' = 'generic_in_memory', {})",
        "CREATE CATALOG k2 COMMENT 'x' WITH ('type' = 'sql', {})",
        "CREATE CATALOG k3 WITH ({})",
    ),
    syntax.CreateDatabase: (
        "CREATE DATABASE d WITH ({})",
        "CREATE DATABASE d WITH ('a' = 'b', {})",
    ),
    syntax.CreateFunction: ("CREATE FUNCTION fn AS 'com.acme.Plus' USING JAR 'x.jar' WITH ({})",),
    syntax.CreateModel: (
        "CREATE MODEL o INPUT (a INT) OUTPUT (b INT) WITH ('provider' = 'x', {})",
    ),
    syntax.CreateConnection: (
        "CREATE CONNECTION n WITH ({})",
        "CREATE TEMPORARY SYSTEM CONNECTION n WITH ('type' = 'x', {})",
    ),
    syntax.BeginStatementSet: ("BEGIN STATEMENT SET",),
    syntax.EndStatementSet: ("END",),
    syntax.DescribeJob: ("DESCRIBE JOB 'x'",),
    syntax.StopJob: ("STOP JOB 'x'",),
    syntax.Drop: ("DROP TABLE nothing",),
    syntax.Alter: (
        "ALTER TABLE s SET ({})",
        "ALTER TABLE nothing SET ({})",
        "ALTER TABLE s ADD PARTITION (a = 1) WITH ({})",
        "ALTER DATABASE default_database SET ({})",
        "ALTER CATALOG default_catalog SET ({})",
        "ALTER MODEL o SET ({})",
        "ALTER CONNECTION n SET ({})",
        "ALTER MATERIALIZED TABLE m RESUME WITH ({})",
        "ALTER VIEW v AS SELECT * FROM s /*+ OPTIONS({}) */",
    ),
    syntax.AlterFunction: ("ALTER FUNCTION fn AS 'com.acme.Minus'",),
    syntax.UseCatalog: ("USE CATALOG nothing",),
    syntax.UseDatabase: ("USE nothing",),
    syntax.UseModules: ("USE MODULES nothing",),
    syntax.LoadModule: ("LOAD MODULE nothing WITH ({})",),
    syntax.UnloadModule: ("UNLOAD MODULE nothing",),
    syntax.Show: ("SHOW CATALOGS", "SHOW TABLES", "SHOW COLUMNS FROM s", "SHOW PARTITIONS s"),
    syntax.ShowCreate: (
        "SHOW CREATE TABLE s", "SHOW CREATE TABLE t", "SHOW CREATE TABLE l", "SHOW CREATE TABLE c",
        "SHOW CREATE VIEW v", "SHOW CREATE MATERIALIZED TABLE m", "SHOW CREATE CATALOG k",
        "SHOW CREATE MODEL o", "SHOW CREATE CONNECTION n",
    ),
    syntax.Describe: (
        "DESCRIBE EXTENDED s", "DESCRIBE v", "DESCRIBE CATALOG EXTENDED k", "DESCRIBE MODEL o",
        "DESCRIBE FUNCTION EXTENDED fn", "DESCRIBE CONNECTION n",
    ),
    syntax.Explain: (
        "EXPLAIN SELECT * FROM s /*+ OPTIONS({}) */",
        "EXPLAIN SELECT * FROM v",
        "EXPLAIN INSERT INTO s SELECT 1",
    ),
    syntax.SelectStatement: (
        "SELECT * FROM s /*+ OPTIONS({}) */ WHERE a = 1",
        "SELECT nothing FROM s /*+ OPTIONS({}, 'a' = 'b') */ AS t",
        "SELECT * FROM v",
    ),
    syntax.Insert: ("INSERT INTO s /*+ OPTIONS({}) */ SELECT 1", "INSERT INTO s SELECT 'x', 2"),
    syntax.Delete: ("DELETE FROM s WHERE a = 1",),
    syntax.Update: ("UPDATE s SET a = 1",),
    syntax.StatementSet: (
        "EXECUTE STATEMENT SET BEGIN INSERT INTO s /*+ OPTIONS({}) */ SELECT 1; END",
    ),
    syntax.Execute: ("EXECUTE SELECT * FROM s /*+ OPTIONS({}) */",),
    syntax.CompilePlan: (
        "COMPILE PLAN '/dev/null/p' FOR INSERT INTO s SELECT a FROM s /*+ OPTIONS({}) */",
        "COMPILE PLAN '/dev/null/p' FOR INSERT INTO s /*+ OPTIONS({}) */ SELECT 1, 2, 3",
    ),
    syntax.ExecutePlan: ("EXECUTE PLAN '/dev/null/p'",),
    syntax.AnalyzeTable: ("ANALYZE TABLE s COMPUTE STATISTICS",),
    syntax.TruncateTable: ("TRUNCATE TABLE s",),
    syntax.CallProcedure: ("CALL nothing('x')",),
    syntax.SetOption: ("SET {}",),
    syntax.ResetOption: ("RESET 'password'",),
    syntax.Jar: (f"ADD JAR 'https://ann:{CANARY}@host/x.jar'",),
}  # fmt: skip


def statements(option: str) -> list[str]:
    """Every statement with this option in it."""
    return [item.replace("{}", option) for some in STATEMENTS.values() for item in some]


def shown_by(error: BaseException) -> Iterator[str]:
    """Return everything that an error shows."""
    yield str(error)
    yield repr(error)
    yield "".join(traceback.format_exception(error, limit=0))
    yield from map(str, getattr(error, "__notes__", ()))
    if isinstance(error, SchemaCoreError):
        for diagnostic in error.diagnostics:
            yield from (
                repr(diagnostic),
                str(diagnostic),
                diagnostic.message,
                diagnostic.hint or "",
                *diagnostic.path,
            )
    if error.__cause__ is not None:
        yield from shown_by(error.__cause__)
