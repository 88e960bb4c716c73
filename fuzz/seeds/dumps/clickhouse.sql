CREATE DATABASE shop ENGINE = Atomic;
CREATE TABLE shop.customers
(
    `id` UInt64,
    `mail` LowCardinality(String) DEFAULT '' COMMENT 'where; it\'s' CODEC(ZSTD(1)),
    `name` Nullable(String),
    `kind` Enum8('a' = 1, 'it\'s' = 2),
    `balance` Decimal(12, 2),
    `created` DateTime('UTC') DEFAULT now(),
    `at` DateTime64(3, 'Europe/Berlin'),
    `old` DateTime(3),
    `tags` Array(LowCardinality(Nullable(String))),
    `attrs` Map(LowCardinality(String), UInt32),
    `home` Tuple(street String, zip FixedString(5)),
    `lines` Nested(sku String, n UInt16),
    `ip` IPv4,
    `uid` UUID,
    `sum` AggregateFunction(sum, UInt64),
    `n` SimpleAggregateFunction(max, UInt32),
    `pos` Point,
    `hash` UInt64 MATERIALIZED cityHash64(mail),
    `day` Date ALIAS toDate(created),
    `v` Variant(UInt8, String),
    INDEX by_mail mail TYPE bloom_filter(0.01) GRANULARITY 4,
    PROJECTION p (SELECT mail, count() GROUP BY mail),
    CONSTRAINT positive CHECK balance >= 0
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/customers', '{replica}', created)
PARTITION BY toYYYYMM(created)
PRIMARY KEY id
ORDER BY (id, mail)
SAMPLE BY id
TTL created + toIntervalDay(30) DELETE WHERE name = 'x', created + INTERVAL 1 WEEK TO VOLUME 'cold'
SETTINGS index_granularity = 8192
COMMENT 'who buys';
CREATE TABLE shop.queue (`no` UInt64, `body` String) ENGINE = Kafka SETTINGS kafka_broker_list = 'k:9092', kafka_topic_list = 't', kafka_format = 'JSONEachRow';
CREATE MATERIALIZED VIEW shop.mv TO shop.customers AS SELECT no AS id FROM shop.queue;
CREATE TABLE shop.copy AS shop.queue ENGINE = Memory;
CREATE TABLE IF NOT EXISTS shop.d ON CLUSTER '{cluster}' (`a` Int8, `b` Bool) ENGINE = Distributed('c', 'shop', 'x', rand());
CREATE DICTIONARY shop.dict (`id` UInt64, `name` String DEFAULT '') PRIMARY KEY id SOURCE(HTTP(URL 'http://h/x' FORMAT 'TSV')) LAYOUT(FLAT()) LIFETIME(300);
CREATE FUNCTION twice AS (x) -> (x * 2);
INSERT INTO shop.queue FORMAT Values (1, 'it\'s; x');
ALTER TABLE shop.queue ADD COLUMN `at` DateTime AFTER no, MODIFY COLUMN body LowCardinality(String);
RENAME TABLE shop.d TO shop.dd;
CREATE TABLE shop.last_one (`a` Int32) ENGINE = Log;
