BEGIN TRANSACTION;
CREATE TABLE schema_core_entry (
	id INTEGER NOT NULL, 
	parent INTEGER NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	"key" TEXT NOT NULL, 
	name TEXT NOT NULL, 
	form VARCHAR(32) NOT NULL, 
	content TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (parent, kind, "key"), 
	FOREIGN KEY(parent) REFERENCES schema_core_entry (id) ON DELETE CASCADE
);
INSERT INTO "schema_core_entry" VALUES(0,0,'root','','','','',1);
INSERT INTO "schema_core_entry" VALUES(1,0,'database','default','default','','{"properties":{},"comment":null}',1);
INSERT INTO "schema_core_entry" VALUES(2,1,'table','orders','orders','TABLE','{"properties":{"schema.0.name":"a","schema.0.data-type":"INT","schema.1.name":"b","schema.1.data-type":"VARCHAR(2147483647)"}}',1);
INSERT INTO "schema_core_entry" VALUES(3,1,'table','注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文','注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文注文','TABLE','{"properties":{"schema.0.name":"a","schema.0.data-type":"INT","schema.1.name":"b","schema.1.data-type":"VARCHAR(2147483647)","k":"long"}}',1);
INSERT INTO "schema_core_entry" VALUES(4,1,'table','p','p','TABLE','{"properties":{"schema.0.name":"a","schema.0.data-type":"INT","schema.1.name":"b","schema.1.data-type":"VARCHAR(2147483647)","schema.2.name":"c","schema.2.data-type":"VARCHAR(2147483647)","partition.keys.0.name":"b","partition.keys.1.name":"c"}}',1);
INSERT INTO "schema_core_entry" VALUES(5,4,'partition','{"b":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","c":"1"}','{"b":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","c":"1"}','','{"properties":{"k":"v","path":"s3://b/x=1"},"comment":"a part"}',1);
INSERT INTO "schema_core_entry" VALUES(6,4,'partition','{"b":"x/y","c":"1"}','{"b":"x/y","c":"1"}','','{"properties":{"k":"v","path":"s3://b/x=1"},"comment":"a part"}',1);
INSERT INTO "schema_core_entry" VALUES(7,1,'function','f','f','','{"class":"org.example.Plus$One","language":"JAVA","resources":[["JAR","file:///a b.jar"],["FILE","s3://b/c.txt"]],"options":{"k":"v"}}',1);
CREATE TABLE schema_core_migration (
	version INTEGER NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "schema_core_migration" VALUES(1);
COMMIT;
