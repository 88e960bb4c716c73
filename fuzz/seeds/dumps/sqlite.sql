PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE customers (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  mail TEXT NOT NULL COLLATE NOCASE UNIQUE,
  name VARCHAR(80) DEFAULT 'it''s',
  balance DECIMAL(10,2) DEFAULT 0.0,
  created DATETIME DEFAULT CURRENT_TIMESTAMP,
  kind MONEY,
  anything,
  lower_name TEXT GENERATED ALWAYS AS (lower(name)) VIRTUAL
);
INSERT INTO customers VALUES(1,'a@b','it''s; "Ann"',1.5,'2024-01-01',NULL,X'00');
INSERT INTO customers VALUES(2,'c@d',replace('a\nb','\n',char(10)),2,NULL,NULL,NULL);
CREATE TABLE IF NOT EXISTS "orders" (
  "no" INT, [customer id] INTEGER REFERENCES customers(id) ON DELETE CASCADE,
  `state` CHARACTER(3) CHECK (`state` IN ('new', 'old')),
  placed DATE, body BLOB, PRIMARY KEY ("no", placed)
) WITHOUT ROWID;
CREATE TABLE 'quoted name' ('a' UNSIGNED BIG INT, 'b' LONG INTEGER, 'c' FLOATING POINT);
CREATE TABLE strict_one (a INT NOT NULL, b TEXT, c ANY) STRICT;
CREATE VIRTUAL TABLE docs USING fts5(title, body);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('customers',2);
CREATE INDEX orders_customer ON "orders" ("customer id");
CREATE TRIGGER log AFTER DELETE ON customers
BEGIN
  INSERT INTO "orders" (no) VALUES (old.id);
  UPDATE customers SET name = CASE WHEN name = 'x' THEN 'y' ELSE 'it''s' END;
END;
CREATE VIEW open_orders AS SELECT * FROM "orders" WHERE state = 'new';
CREATE TABLE last_one (a INT);
COMMIT;
