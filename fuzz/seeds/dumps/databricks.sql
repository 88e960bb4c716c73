USE CATALOG main;
CREATE SCHEMA IF NOT EXISTS shop COMMENT 'it\'s';
CREATE TABLE main.shop.customers (
  id BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY (START WITH 1 INCREMENT BY 1),
  mail STRING COLLATE UTF8_LCASE NOT NULL COMMENT 'where; it\'s',
  name STRING DEFAULT 'nobody' MASK main.shop.hide USING COLUMNS (id),
  balance DECIMAL(12,2),
  home STRUCT<street: STRING COMMENT 'x', zip: STRING NOT NULL>,
  attrs MAP<STRING, ARRAY<INT>>,
  day DATE GENERATED ALWAYS AS (CAST(created AS DATE)),
  created TIMESTAMP,
  local TIMESTAMP_NTZ,
  v VARIANT,
  CONSTRAINT customers_pk PRIMARY KEY (id) RELY)
USING delta
COMMENT 'who buys'
CLUSTER BY (mail)
TBLPROPERTIES (
  'delta.enableDeletionVectors' = 'true',
  'delta.feature.invariants' = 'supported');
CREATE OR REPLACE TABLE main.shop.orders (no BIGINT, customer BIGINT, placed DATE, CONSTRAINT fk FOREIGN KEY (customer) REFERENCES main.shop.customers (id)) USING DELTA PARTITIONED BY (placed) LOCATION 's3://b/o';
CREATE TABLE main.shop.copy SHALLOW CLONE main.shop.orders;
CREATE TABLE main.shop.summary AS SELECT count(*) AS n FROM main.shop.orders;
CREATE OR REFRESH STREAMING TABLE main.shop.events (id BIGINT) AS SELECT * FROM STREAM read_files('x');
CREATE VIEW main.shop.v (no COMMENT 'x') AS SELECT no FROM main.shop.orders;
CREATE FUNCTION main.shop.hide(x STRING) RETURN concat(x, 'it''s');
ALTER TABLE main.shop.orders ADD COLUMNS (note STRING COMMENT 'x' AFTER no, total DOUBLE);
ALTER TABLE main.shop.orders ALTER COLUMN no SET NOT NULL;
ALTER TABLE main.shop.orders ADD CONSTRAINT ck CHECK (no > 0);
COMMENT ON TABLE main.shop.orders IS 'what was ordered';
CREATE TABLE main.shop.last_one (a TINYINT, b BINARY, c INTERVAL DAY TO SECOND) USING PARQUET;
OPTIMIZE main.shop.orders ZORDER BY (no);
GRANT SELECT ON TABLE main.shop.orders TO `readers`;
