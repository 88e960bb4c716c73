-- All flights that left New York in 2013, with the weather at their hour and the planes they used.
-- ${data} is the directory of the files, ${result} where the result goes.

CREATE TABLE flights (
  `year`          SMALLINT NOT NULL,
  `month`         TINYINT NOT NULL,
  `day`           TINYINT NOT NULL,
  dep_time        SMALLINT COMMENT 'local time as a number: 1430 is half past two',
  sched_dep_time  SMALLINT NOT NULL,
  dep_delay       SMALLINT COMMENT 'minutes, negative when early',
  arr_time        SMALLINT,
  sched_arr_time  SMALLINT NOT NULL,
  arr_delay       SMALLINT,
  carrier         CHAR(2) NOT NULL,
  flight          INT NOT NULL,
  tailnum         VARCHAR(6),
  origin          CHAR(3) NOT NULL,
  dest            CHAR(3) NOT NULL,
  air_time        SMALLINT,
  distance        SMALLINT NOT NULL,
  `hour`          TINYINT NOT NULL,
  `minute`        TINYINT NOT NULL,
  time_hour       STRING NOT NULL,
  departure AS TO_TIMESTAMP(
    CONCAT(
      CAST(`year` AS STRING), '-',
      LPAD(CAST(`month` AS STRING), 2, '0'), '-',
      LPAD(CAST(`day` AS STRING), 2, '0'), ' ',
      LPAD(CAST(sched_dep_time / 100 AS STRING), 2, '0'), ':',
      LPAD(CAST(MOD(sched_dep_time, 100) AS STRING), 2, '0'), ':00')),
  source_file     STRING NOT NULL METADATA FROM 'file.name' VIRTUAL,
  WATERMARK FOR departure AS departure - INTERVAL '1' HOUR,
  PRIMARY KEY (`year`, `month`, `day`, carrier, flight, origin, sched_dep_time) NOT ENFORCED
) COMMENT 'one row a flight' WITH (
  'connector' = 'filesystem',
  'path' = '${data}/flights.csv',
  'format' = 'csv',
  'csv.header' = 'true',
  'csv.null-literal' = 'NA'
);

CREATE TABLE weather (
  origin      CHAR(3) NOT NULL,
  `year`      SMALLINT NOT NULL,
  `month`     TINYINT NOT NULL,
  `day`       TINYINT NOT NULL,
  `hour`      TINYINT NOT NULL,
  temp        DECIMAL(5, 2) COMMENT 'degrees Fahrenheit',
  dewp        DECIMAL(5, 2),
  humid       DECIMAL(5, 2),
  wind_dir    SMALLINT,
  wind_speed  DOUBLE COMMENT 'miles an hour',
  wind_gust   DOUBLE,
  precip      DECIMAL(4, 2),
  pressure    DECIMAL(5, 1),
  visib       DECIMAL(4, 2),
  time_hour   STRING NOT NULL,
  PRIMARY KEY (origin, `year`, `month`, `day`, `hour`) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${data}/weather.csv',
  'format' = 'csv',
  'csv.header' = 'true',
  'csv.null-literal' = 'NA'
);

CREATE TABLE planes (
  tailnum       VARCHAR(6) NOT NULL,
  `year`        SMALLINT,
  `type`        STRING,
  manufacturer  STRING,
  model         STRING,
  engines       TINYINT,
  seats         SMALLINT,
  speed         SMALLINT,
  engine        STRING,
  PRIMARY KEY (tailnum) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${data}/planes.csv',
  'format' = 'csv',
  'csv.header' = 'true',
  'csv.null-literal' = 'NA'
);

-- The delay by airport, hour of the day and strength of the wind.
CREATE TABLE delays WITH (
  'connector' = 'filesystem',
  'path' = '${result}/delays',
  'format' = 'parquet'
) AS
SELECT
  origin,
  `hour`,
  wind,
  COUNT(*) AS flights,
  CAST(AVG(CAST(dep_delay AS DOUBLE)) AS DECIMAL(6, 2)) AS mean_delay,
  MAX(dep_delay) AS longest_delay,
  SUM(CAST(seats AS BIGINT)) AS seats,
  MIN(departure) AS first_departure
FROM (
  SELECT
    f.origin,
    f.`hour`,
    CASE WHEN w.wind_speed < 10 THEN 'calm' WHEN w.wind_speed < 20 THEN 'windy' ELSE 'storm' END
      AS wind,
    f.dep_delay,
    p.seats,
    f.departure
  FROM flights AS f
  JOIN weather AS w
    ON f.origin = w.origin AND f.`year` = w.`year` AND f.`month` = w.`month`
    AND f.`day` = w.`day` AND f.`hour` = w.`hour`
  LEFT JOIN planes AS p ON f.tailnum = p.tailnum
  WHERE f.dep_delay IS NOT NULL AND w.wind_speed IS NOT NULL
) AS joined
GROUP BY origin, `hour`, wind;
