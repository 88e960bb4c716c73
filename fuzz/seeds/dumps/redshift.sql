CREATE SCHEMA IF NOT EXISTS shop AUTHORIZATION app;
CREATE TABLE IF NOT EXISTS shop.customers
(
	id BIGINT NOT NULL DEFAULT "identity"(100, 0, '1,1'::text) ENCODE az64
	,mail VARCHAR(255) NOT NULL  ENCODE lzo
	,name VARCHAR(80)  DEFAULT 'nobody'::character varying ENCODE zstd
	,balance NUMERIC(12,2)   ENCODE az64
	,data SUPER   ENCODE zstd
	,photo VARBYTE(1024)   ENCODE RAW
	,created TIMESTAMP WITHOUT TIME ZONE  DEFAULT ('now'::text)::timestamp without time zone ENCODE az64
	,at TIMESTAMPTZ  ENCODE az64
	,body VARCHAR(MAX)
	,PRIMARY KEY (id)
)
DISTSTYLE KEY
 DISTKEY (id)
 SORTKEY (
	created
	)
;
ALTER TABLE shop.customers owner to app;
COMMENT ON TABLE shop.customers IS 'who buys; it\'s';
CREATE TEMP TABLE stage (LIKE shop.customers INCLUDING DEFAULTS);
CREATE EXTERNAL TABLE spectrum.logs (line varchar(100), at timestamp, s struct<a:int,b:array<varchar(5)>>)
PARTITIONED BY (day date)
ROW FORMAT DELIMITED FIELDS TERMINATED BY '|'
STORED AS PARQUET
LOCATION 's3://b/logs/'
TABLE PROPERTIES ('numRows'='1');
CREATE OR REPLACE PROCEDURE shop.clean(days int)
AS $$
BEGIN
  DROP TABLE shop.customers;
END;
$$ LANGUAGE plpgsql;
CREATE OR REPLACE VIEW shop.v AS SELECT id FROM shop.customers WITH NO SCHEMA BINDING;
CREATE MATERIALIZED VIEW shop.mv AUTO REFRESH YES AS SELECT id FROM shop.customers;
ALTER TABLE shop.customers ADD COLUMN note VARCHAR(10) ENCODE zstd;
ALTER TABLE shop.customers ALTER COLUMN name TYPE VARCHAR(120);
ALTER TABLE shop.customers ALTER DISTSTYLE EVEN;
COPY shop.customers FROM 's3://b/x' IAM_ROLE 'arn:x' FORMAT AS PARQUET;
UNLOAD ('SELECT * FROM shop.customers') TO 's3://b/y' IAM_ROLE 'arn:x';
CREATE TABLE shop.last_one (a SMALLINT, b REAL, c CHAR(3), d GEOMETRY) BACKUP NO;
GRANT SELECT ON shop.last_one TO GROUP readers;
