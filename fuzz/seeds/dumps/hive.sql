CREATE DATABASE IF NOT EXISTS shop COMMENT 'it\'s' LOCATION 'hdfs://x/shop';
USE shop;
SET hive.exec.dynamic.partition=true;
CREATE EXTERNAL TABLE `customers`(
  `id` bigint COMMENT 'the id; it\'s unique', 
  `mail` string, 
  `name` varchar(80), 
  `balance` decimal(12,2), 
  `tags` array<string>, 
  `attrs` map<string,array<struct<a:int,b:string>>>, 
  `home` struct<street:string,zip:char(5)> COMMENT '', 
  `u` uniontype<int,string>, 
  `at` timestamp)
COMMENT 'who buys'
PARTITIONED BY ( 
  `day` string COMMENT 'a day', 
  `hour` int)
CLUSTERED BY (id) INTO 4 BUCKETS
ROW FORMAT SERDE 
  'org.apache.hadoop.hive.ql.io.orc.OrcSerde' 
WITH SERDEPROPERTIES ( 
  'a'='b;c') 
STORED AS INPUTFORMAT 
  'org.apache.hadoop.hive.ql.io.orc.OrcInputFormat' 
OUTPUTFORMAT 
  'org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat'
LOCATION
  'hdfs://x/customers'
TBLPROPERTIES (
  'transient_lastDdlTime'='1714550000')
CREATE TABLE `orders`(
  `no` bigint, 
  `total` double)
ROW FORMAT DELIMITED FIELDS TERMINATED BY '\;' LINES TERMINATED BY '\n'
STORED AS TEXTFILE;
CREATE TABLE copy LIKE orders;
CREATE VIEW open_orders AS SELECT `no` FROM orders;
CREATE TEMPORARY MACRO twice(x int) x * 2;
ALTER TABLE orders ADD COLUMNS (note string COMMENT 'x', size_ int);
ALTER TABLE orders CHANGE note remark string AFTER total;
ALTER TABLE customers ADD IF NOT EXISTS PARTITION (day='2024', hour=1) LOCATION 'x';
ALTER TABLE orders SET TBLPROPERTIES ('comment'='what was ordered');
CREATE TABLE last_one (a int NOT NULL DISABLE, b date, c binary, PRIMARY KEY (a) DISABLE NOVALIDATE);
