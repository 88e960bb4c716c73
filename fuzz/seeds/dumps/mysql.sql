-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
--
-- Host: localhost    Database: shop
-- ------------------------------------------------------
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!50503 SET NAMES utf8mb4 */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;

CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop` /*!40100 DEFAULT CHARACTER SET utf8mb4 */;

USE `shop`;

--
-- Table structure for table `customers`
--

DROP TABLE IF EXISTS `customers`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
CREATE TABLE `customers` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `mail` varchar(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  `name` varchar(80) COLLATE utf8mb4_unicode_ci DEFAULT NULL COMMENT 'it''s the name; \'quoted\'',
  `kind` enum('a','b','it''s') NOT NULL DEFAULT 'a',
  `flags` set('x','y') DEFAULT NULL,
  `active` tinyint(1) NOT NULL DEFAULT '1',
  `rank` tinyint(3) unsigned zerofill DEFAULT NULL,
  `score` double(8,2) DEFAULT '0.00',
  `price` decimal(10,2) unsigned NOT NULL,
  `bits` bit(8) DEFAULT b'0',
  `born` year DEFAULT NULL,
  `photo` mediumblob,
  `place` point /*!80003 SRID 4326 */ DEFAULT NULL,
  `data` json DEFAULT NULL,
  `created` timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  `at` datetime(6) DEFAULT NULL,
  `lower_mail` varchar(255) GENERATED ALWAYS AS (lower(`mail`)) VIRTUAL,
  `secret` varbinary(16) DEFAULT NULL /*!80023 INVISIBLE */,
  PRIMARY KEY (`id`),
  UNIQUE KEY `mail` (`mail`),
  KEY `name` (`name`(20)) USING BTREE,
  FULLTEXT KEY `text` (`name`),
  CONSTRAINT `customers_chk_1` CHECK ((`score` >= 0))
) ENGINE=InnoDB AUTO_INCREMENT=42 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='who buys; here';
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `customers` WRITE;
/*!40000 ALTER TABLE `customers` DISABLE KEYS */;
INSERT INTO `customers` VALUES (1,'a@b','it\'s \"Ann\"; -- /*','a',NULL,1),(2,'c\\','','b','x,y',0);
/*!40000 ALTER TABLE `customers` ENABLE KEYS */;
UNLOCK TABLES;

DROP TABLE IF EXISTS `orders`;
CREATE TABLE `orders` (
  `no` bigint NOT NULL,
  `customer` int unsigned NOT NULL,
  `state` char(3) COLLATE utf8mb4_bin NOT NULL,
  `placed` date NOT NULL,
  `text` longtext,
  PRIMARY KEY (`no`,`placed`),
  KEY `fk` (`customer`),
  CONSTRAINT `fk` FOREIGN KEY (`customer`) REFERENCES `customers` (`id`) ON DELETE CASCADE ON UPDATE NO ACTION
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4
/*!50100 PARTITION BY RANGE (year(`placed`))
(PARTITION p0 VALUES LESS THAN (2000) ENGINE = InnoDB,
 PARTITION p1 VALUES LESS THAN MAXVALUE ENGINE = InnoDB) */;

/*!50003 SET sql_mode = 'ONLY_FULL_GROUP_BY' */ ;
DELIMITER ;;
/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`localhost`*/ /*!50003 TRIGGER `tr` BEFORE INSERT ON `orders` FOR EACH ROW BEGIN
  IF NEW.no IS NULL THEN SET NEW.no = 1; END IF;
END */;;
DELIMITER ;

DELIMITER ;;
CREATE DEFINER=`root`@`%` PROCEDURE `clean`(IN days INT)
BEGIN
  DECLARE x INT DEFAULT 0;
  DROP TABLE IF EXISTS tmp;
  CREATE TABLE tmp (a INT);
  DELETE FROM orders WHERE placed < NOW() - INTERVAL days DAY;
END ;;
DELIMITER ;

/*!50001 CREATE VIEW `open_orders` AS SELECT 
 1 AS `no`*/;
/*!50001 DROP VIEW IF EXISTS `open_orders`*/;
/*!50001 CREATE ALGORITHM=UNDEFINED */
/*!50013 DEFINER=`root`@`localhost` SQL SECURITY DEFINER */
/*!50001 VIEW `open_orders` AS select `orders`.`no` AS `no` from `orders` where (`orders`.`state` = 'new') */;

CREATE TABLE `items` (
  `id` serial,
  `sku` varchar(40) BINARY DEFAULT NULL,
  `n` national varchar(5),
  `c` char byte,
  `d` double precision(6,2),
  `t` time(3) DEFAULT NULL,
  `e` varchar(0) DEFAULT NULL,
  `g` geomcollection DEFAULT NULL
) ENGINE=MyISAM DEFAULT CHARSET=latin1;

ALTER TABLE `items`
  ADD PRIMARY KEY (`id`),
  ADD KEY `sku` (`sku`);
ALTER TABLE `items`
  MODIFY `t` time(6) NOT NULL COMMENT 'longer', AUTO_INCREMENT=13;

/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
-- Dump completed on 2024-05-01 12:00:00
