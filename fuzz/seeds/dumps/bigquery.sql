CREATE SCHEMA IF NOT EXISTS `my-project.shop` OPTIONS(location="EU");
CREATE TABLE `my-project.shop.customers`
(
  id INT64 NOT NULL OPTIONS(description="the id; it's unique"),
  mail STRING(255) NOT NULL,
  name STRING DEFAULT 'nobody' OPTIONS(description='''multi
line; 'quoted' '''),
  balance NUMERIC(12, 2),
  tags ARRAY<STRING>,
  home STRUCT<street STRING OPTIONS(description="s"), zip STRING(10), geo STRUCT<lat FLOAT64, lon FLOAT64>>,
  orders ARRAY<STRUCT<no INT64 NOT NULL, lines ARRAY<STRUCT<sku STRING, n INT64>>>>,
  created TIMESTAMP DEFAULT CURRENT_TIMESTAMP(),
  place GEOGRAPHY,
  data JSON,
  valid RANGE<DATE>,
  PRIMARY KEY (id) NOT ENFORCED,
)
PARTITION BY DATE(created)
CLUSTER BY mail, name
OPTIONS(
  expiration_timestamp=TIMESTAMP "2030-01-01T00:00:00.000Z",
  description="who buys",
  labels=[("team", "shop"), ("env", "it's prod")]
);
CREATE OR REPLACE EXTERNAL TABLE `my-project`.shop.logs (line STRING, at DATETIME,)
WITH PARTITION COLUMNS (day DATE)
OPTIONS (format = 'CSV', uris = ['gs://b/*.csv']);
CREATE VIEW `my-project.shop.open` (no OPTIONS(description="x"), total) AS SELECT 1, 2;
CREATE TABLE shop.copy LIKE `my-project.shop.customers`;
CREATE TEMP FUNCTION twice(x INT64) AS (x * 2);
CREATE OR REPLACE FUNCTION shop.js(x FLOAT64) RETURNS FLOAT64 LANGUAGE js AS r"""
  return x * 2; // it's; CREATE TABLE
""";
CREATE OR REPLACE PROCEDURE shop.clean(days INT64)
BEGIN
  DECLARE x INT64 DEFAULT 0;
  DELETE FROM shop.logs WHERE TRUE;
  CREATE TEMP TABLE tmp (a INT64);
  IF x = 0 THEN DROP TABLE shop.copy; END IF;
END;
ALTER TABLE shop.logs ADD COLUMN IF NOT EXISTS level STRING, ADD COLUMN host STRING(50);
ALTER TABLE shop.logs ALTER COLUMN host SET OPTIONS (description="x");
CREATE MATERIALIZED VIEW shop.mv AS SELECT id FROM shop.copy;
CREATE TABLE shop.last_one (a BIGNUMERIC(50, 2), b BYTES(5), c INTERVAL, d TIME);
