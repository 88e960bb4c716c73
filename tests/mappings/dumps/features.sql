CREATE SCHEMA shop;
CREATE SCHEMA "Odd Schema";
CREATE EXTENSION IF NOT EXISTS plpgsql;
CREATE ROLE reader;
CREATE TYPE shop.state AS ENUM ('new', 'it''s paid', 'sent; or not');
CREATE TYPE shop.address AS (street text, "Zip Code" character varying(10), state shop.state);
CREATE DOMAIN shop.price AS numeric(12, 2) NOT NULL DEFAULT 0 CHECK (VALUE >= 0);
CREATE TYPE shop.span AS RANGE (subtype = float8);
CREATE SEQUENCE shop.free START 7 CACHE 3;
CREATE TABLE shop.customers (
    id bigint GENERATED ALWAYS AS IDENTITY (START WITH 10),
    "Full Name" character varying(80) COLLATE "C" NOT NULL,
    mail text UNIQUE CHECK (mail LIKE '%@%'),
    home shop.address,
    balance shop.price,
    tags text[] DEFAULT '{}'::text[],
    grid integer[][],
    data jsonb DEFAULT '{"a": "it''s; (CREATE TABLE x (y int))"}',
    since timestamp with time zone DEFAULT now() NOT NULL,
    born date,
    tz time with time zone,
    wait interval day to second(3),
    ip inet,
    uid uuid DEFAULT '00000000-0000-0000-0000-000000000000',
    photo bytea,
    flags bit varying(8),
    lower_name text GENERATED ALWAYS AS (lower(mail)) STORED,
    twice numeric(12, 2) GENERATED ALWAYS AS (balance * 2) STORED,
    PRIMARY KEY (id)
);
CREATE TABLE shop.orders (
    no serial,
    customer bigint NOT NULL REFERENCES shop.customers (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    state shop.state DEFAULT 'new' NOT NULL,
    states shop.state[],
    amount shop.price,
    "order" smallint,
    note char(3),
    at timestamp(3) without time zone,
    CONSTRAINT orders_key PRIMARY KEY (no, customer),
    CONSTRAINT "odd ""name""" UNIQUE (customer, at),
    EXCLUDE USING btree (note WITH =)
);
CREATE TABLE shop.measurements (day date NOT NULL, place integer NOT NULL, value double precision) PARTITION BY RANGE (day);
CREATE TABLE shop.measurements_2025 PARTITION OF shop.measurements FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
CREATE TABLE shop.measurements_rest PARTITION OF shop.measurements DEFAULT;
ALTER TABLE shop.measurements ADD PRIMARY KEY (day, place);
CREATE TABLE shop.animals (name text NOT NULL, legs integer DEFAULT 4);
CREATE TABLE shop.dogs (breed text) INHERITS (shop.animals);
CREATE UNLOGGED TABLE public.cache (key text PRIMARY KEY, value bytea) WITH (fillfactor=70);
CREATE TABLE "Odd Schema"."Odd; Table" ("a b" integer, "select" text, "x""y" real);
COMMENT ON TABLE shop.customers IS 'who''s who; -- all
of them';
COMMENT ON COLUMN shop.customers."Full Name" IS 'as in E''\n'' passports \ ok';
COMMENT ON COLUMN "Odd Schema"."Odd; Table"."a b" IS 'spaces';
COMMENT ON TYPE shop.state IS 'states';
CREATE INDEX orders_at ON shop.orders USING btree (at DESC NULLS LAST) WHERE (note IS NOT NULL);
CREATE UNIQUE INDEX ON shop.customers (lower(mail));
CREATE VIEW shop.open_orders AS SELECT no, customer FROM shop.orders WHERE state = 'new';
CREATE MATERIALIZED VIEW shop.totals AS SELECT customer, sum(amount) AS total FROM shop.orders GROUP BY customer;
CREATE FUNCTION shop.stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.at := now(); -- CREATE TABLE z (a int);
RETURN NEW; END; $$;
CREATE FUNCTION shop.add(a integer, b integer) RETURNS integer LANGUAGE sql BEGIN ATOMIC SELECT a + b; SELECT a + b; END;
CREATE PROCEDURE shop.clean() LANGUAGE sql AS 'DELETE FROM shop.orders; SELECT 1';
CREATE TRIGGER stamp BEFORE INSERT ON shop.orders FOR EACH ROW EXECUTE FUNCTION shop.stamp();
ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON shop.orders USING (customer > 0);
CREATE RULE keep AS ON DELETE TO shop.animals DO INSTEAD NOTHING;
CREATE STATISTICS shop.stats ON customer, state FROM shop.orders;
ALTER TABLE shop.customers ALTER COLUMN mail SET STATISTICS 500;
ALTER TABLE shop.customers ALTER COLUMN photo SET STORAGE EXTERNAL;
ALTER TABLE ONLY shop.animals REPLICA IDENTITY FULL;
CREATE AGGREGATE shop.total(numeric) (SFUNC = numeric_add, STYPE = numeric);
CREATE PUBLICATION everything FOR ALL TABLES;
GRANT SELECT ON ALL TABLES IN SCHEMA shop TO reader;
GRANT SELECT (id) ON shop.customers TO PUBLIC;
ALTER DEFAULT PRIVILEGES IN SCHEMA shop GRANT SELECT ON TABLES TO reader;
INSERT INTO shop.customers ("Full Name", mail, home, tags, balance) VALUES
    ('Ann "the" O''Hara', 'ann@x', ROW('Main; St', '1', 'new'), '{"a\\b", "c;d"}', 1),
    (E'tab\there\nline \\. $$ -- /*', 'b@x', NULL, NULL, 2);
INSERT INTO shop.orders (customer, at, note) VALUES (10, '2026-01-01', '(''');
INSERT INTO shop.measurements VALUES ('2025-05-05', 1, 'NaN'), ('2024-05-05', 2, 1e300);
INSERT INTO public.cache VALUES ('k', '\xdeadbeef');
