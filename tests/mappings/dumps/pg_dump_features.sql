--
-- PostgreSQL database dump
--

\restrict cNBdv7c14gVjUsuu5DyXLPpHe2lBRlLgxgewNegsZwyXwjwkUsbRwHp1qBLKLR1

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: Odd Schema; Type: SCHEMA; Schema: -; Owner: ann
--

CREATE SCHEMA "Odd Schema";


ALTER SCHEMA "Odd Schema" OWNER TO ann;

--
-- Name: shop; Type: SCHEMA; Schema: -; Owner: ann
--

CREATE SCHEMA shop;


ALTER SCHEMA shop OWNER TO ann;

--
-- Name: state; Type: TYPE; Schema: shop; Owner: ann
--

CREATE TYPE shop.state AS ENUM (
    'new',
    'it''s paid',
    'sent; or not'
);


ALTER TYPE shop.state OWNER TO ann;

--
-- Name: TYPE state; Type: COMMENT; Schema: shop; Owner: ann
--

COMMENT ON TYPE shop.state IS 'states';


--
-- Name: address; Type: TYPE; Schema: shop; Owner: ann
--

CREATE TYPE shop.address AS (
	street text,
	"Zip Code" character varying(10),
	state shop.state
);


ALTER TYPE shop.address OWNER TO ann;

--
-- Name: price; Type: DOMAIN; Schema: shop; Owner: ann
--

CREATE DOMAIN shop.price AS numeric(12,2) NOT NULL DEFAULT 0
	CONSTRAINT price_check CHECK ((VALUE >= (0)::numeric));


ALTER DOMAIN shop.price OWNER TO ann;

--
-- Name: span; Type: TYPE; Schema: shop; Owner: ann
--

CREATE TYPE shop.span AS RANGE (
    subtype = double precision,
    multirange_type_name = shop.span_multirange
);


ALTER TYPE shop.span OWNER TO ann;

--
-- Name: add(integer, integer); Type: FUNCTION; Schema: shop; Owner: ann
--

CREATE FUNCTION shop.add(a integer, b integer) RETURNS integer
    LANGUAGE sql
    BEGIN ATOMIC
 SELECT (a + b);
 SELECT (a + b);
END;


ALTER FUNCTION shop.add(a integer, b integer) OWNER TO ann;

--
-- Name: clean(); Type: PROCEDURE; Schema: shop; Owner: ann
--

CREATE PROCEDURE shop.clean()
    LANGUAGE sql
    AS $$DELETE FROM shop.orders; SELECT 1$$;


ALTER PROCEDURE shop.clean() OWNER TO ann;

--
-- Name: stamp(); Type: FUNCTION; Schema: shop; Owner: ann
--

CREATE FUNCTION shop.stamp() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN NEW.at := now(); -- CREATE TABLE z (a int);
RETURN NEW; END; $$;


ALTER FUNCTION shop.stamp() OWNER TO ann;

--
-- Name: total(numeric); Type: AGGREGATE; Schema: shop; Owner: ann
--

CREATE AGGREGATE shop.total(numeric) (
    SFUNC = numeric_add,
    STYPE = numeric
);


ALTER AGGREGATE shop.total(numeric) OWNER TO ann;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: Odd; Table; Type: TABLE; Schema: Odd Schema; Owner: ann
--

CREATE TABLE "Odd Schema"."Odd; Table" (
    "a b" integer,
    "select" text,
    "x""y" real
);


ALTER TABLE "Odd Schema"."Odd; Table" OWNER TO ann;

--
-- Name: COLUMN "Odd; Table"."a b"; Type: COMMENT; Schema: Odd Schema; Owner: ann
--

COMMENT ON COLUMN "Odd Schema"."Odd; Table"."a b" IS 'spaces';


--
-- Name: cache; Type: TABLE; Schema: public; Owner: ann
--

CREATE UNLOGGED TABLE public.cache (
    key text NOT NULL,
    value bytea
)
WITH (fillfactor='70');


ALTER TABLE public.cache OWNER TO ann;

--
-- Name: animals; Type: TABLE; Schema: shop; Owner: ann
--

CREATE TABLE shop.animals (
    name text NOT NULL,
    legs integer DEFAULT 4
);

ALTER TABLE ONLY shop.animals REPLICA IDENTITY FULL;


ALTER TABLE shop.animals OWNER TO ann;

--
-- Name: customers; Type: TABLE; Schema: shop; Owner: ann
--

CREATE TABLE shop.customers (
    id bigint NOT NULL,
    "Full Name" character varying(80) NOT NULL COLLATE pg_catalog."C",
    mail text,
    home shop.address,
    balance shop.price,
    tags text[] DEFAULT '{}'::text[],
    grid integer[],
    data jsonb DEFAULT '{"a": "it''s; (CREATE TABLE x (y int))"}'::jsonb,
    since timestamp with time zone DEFAULT now() NOT NULL,
    born date,
    tz time with time zone,
    wait interval day to second(3),
    ip inet,
    uid uuid DEFAULT '00000000-0000-0000-0000-000000000000'::uuid,
    photo bytea,
    flags bit varying(8),
    lower_name text GENERATED ALWAYS AS (lower(mail)) STORED,
    twice numeric(12,2) GENERATED ALWAYS AS (((balance)::numeric * (2)::numeric)) STORED,
    CONSTRAINT customers_mail_check CHECK ((mail ~~ '%@%'::text))
);
ALTER TABLE ONLY shop.customers ALTER COLUMN mail SET STATISTICS 500;
ALTER TABLE ONLY shop.customers ALTER COLUMN photo SET STORAGE EXTERNAL;


ALTER TABLE shop.customers OWNER TO ann;

--
-- Name: TABLE customers; Type: COMMENT; Schema: shop; Owner: ann
--

COMMENT ON TABLE shop.customers IS 'who''s who; -- all
of them';


--
-- Name: COLUMN customers."Full Name"; Type: COMMENT; Schema: shop; Owner: ann
--

COMMENT ON COLUMN shop.customers."Full Name" IS 'as in E''\n'' passports \ ok';


--
-- Name: customers_id_seq; Type: SEQUENCE; Schema: shop; Owner: ann
--

ALTER TABLE shop.customers ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME shop.customers_id_seq
    START WITH 10
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: dogs; Type: TABLE; Schema: shop; Owner: ann
--

CREATE TABLE shop.dogs (
    breed text
)
INHERITS (shop.animals);


ALTER TABLE shop.dogs OWNER TO ann;

--
-- Name: free; Type: SEQUENCE; Schema: shop; Owner: ann
--

CREATE SEQUENCE shop.free
    START WITH 7
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 3;


ALTER TABLE shop.free OWNER TO ann;

--
-- Name: measurements; Type: TABLE; Schema: shop; Owner: ann
--

CREATE TABLE shop.measurements (
    day date NOT NULL,
    place integer NOT NULL,
    value double precision
)
PARTITION BY RANGE (day);


ALTER TABLE shop.measurements OWNER TO ann;

--
-- Name: measurements_2025; Type: TABLE; Schema: shop; Owner: ann
--

CREATE TABLE shop.measurements_2025 (
    day date NOT NULL,
    place integer NOT NULL,
    value double precision
);


ALTER TABLE shop.measurements_2025 OWNER TO ann;

--
-- Name: measurements_rest; Type: TABLE; Schema: shop; Owner: ann
--

CREATE TABLE shop.measurements_rest (
    day date NOT NULL,
    place integer NOT NULL,
    value double precision
);


ALTER TABLE shop.measurements_rest OWNER TO ann;

--
-- Name: orders; Type: TABLE; Schema: shop; Owner: ann
--

CREATE TABLE shop.orders (
    no integer NOT NULL,
    customer bigint NOT NULL,
    state shop.state DEFAULT 'new'::shop.state NOT NULL,
    states shop.state[],
    amount shop.price,
    "order" smallint,
    note character(3),
    at timestamp(3) without time zone
);


ALTER TABLE shop.orders OWNER TO ann;

--
-- Name: open_orders; Type: VIEW; Schema: shop; Owner: ann
--

CREATE VIEW shop.open_orders AS
 SELECT orders.no,
    orders.customer
   FROM shop.orders
  WHERE (orders.state = 'new'::shop.state);


ALTER TABLE shop.open_orders OWNER TO ann;

--
-- Name: orders_no_seq; Type: SEQUENCE; Schema: shop; Owner: ann
--

CREATE SEQUENCE shop.orders_no_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE shop.orders_no_seq OWNER TO ann;

--
-- Name: orders_no_seq; Type: SEQUENCE OWNED BY; Schema: shop; Owner: ann
--

ALTER SEQUENCE shop.orders_no_seq OWNED BY shop.orders.no;


--
-- Name: totals; Type: MATERIALIZED VIEW; Schema: shop; Owner: ann
--

CREATE MATERIALIZED VIEW shop.totals AS
 SELECT orders.customer,
    sum((orders.amount)::numeric) AS total
   FROM shop.orders
  GROUP BY orders.customer
  WITH NO DATA;


ALTER TABLE shop.totals OWNER TO ann;

--
-- Name: measurements_2025; Type: TABLE ATTACH; Schema: shop; Owner: ann
--

ALTER TABLE ONLY shop.measurements ATTACH PARTITION shop.measurements_2025 FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');


--
-- Name: measurements_rest; Type: TABLE ATTACH; Schema: shop; Owner: ann
--

ALTER TABLE ONLY shop.measurements ATTACH PARTITION shop.measurements_rest DEFAULT;


--
-- Name: dogs legs; Type: DEFAULT; Schema: shop; Owner: ann
--

ALTER TABLE ONLY shop.dogs ALTER COLUMN legs SET DEFAULT 4;


--
-- Name: orders no; Type: DEFAULT; Schema: shop; Owner: ann
--

ALTER TABLE ONLY shop.orders ALTER COLUMN no SET DEFAULT nextval('shop.orders_no_seq'::regclass);


--
-- Data for Name: Odd; Table; Type: TABLE DATA; Schema: Odd Schema; Owner: ann
--

COPY "Odd Schema"."Odd; Table" ("a b", "select", "x""y") FROM stdin;
\.


--
-- Data for Name: cache; Type: TABLE DATA; Schema: public; Owner: ann
--

COPY public.cache (key, value) FROM stdin;
k	\\xdeadbeef
\.


--
-- Data for Name: animals; Type: TABLE DATA; Schema: shop; Owner: ann
--

COPY shop.animals (name, legs) FROM stdin;
\.


--
-- Data for Name: customers; Type: TABLE DATA; Schema: shop; Owner: ann
--

COPY shop.customers (id, "Full Name", mail, home, balance, tags, grid, data, since, born, tz, wait, ip, uid, photo, flags) FROM stdin;
10	Ann "the" O'Hara	ann@x	("Main; St",1,new)	1.00	{"a\\\\b",c;d}	\N	{"a": "it's; (CREATE TABLE x (y int))"}	2026-11-23 20:08:02.57434+00	\N	\N	\N	\N	00000000-0000-0000-0000-000000000000	\N	\N
11	tab\there\nline \\. $$ -- /*	b@x	\N	2.00	\N	\N	{"a": "it's; (CREATE TABLE x (y int))"}	2026-11-23 20:08:02.57434+00	\N	\N	\N	\N	00000000-0000-0000-0000-000000000000	\N	\N
\.


--
-- Data for Name: dogs; Type: TABLE DATA; Schema: shop; Owner: ann
--

COPY shop.dogs (name, legs, breed) FROM stdin;
\.


--
-- Data for Name: measurements_2025; Type: TABLE DATA; Schema: shop; Owner: ann
--

COPY shop.measurements_2025 (day, place, value) FROM stdin;
2025-05-05	1	NaN
\.


--
-- Data for Name: measurements_rest; Type: TABLE DATA; Schema: shop; Owner: ann
--

COPY shop.measurements_rest (day, place, value) FROM stdin;
2024-05-05	2	1e+300
\.


--
-- Data for Name: orders; Type: TABLE DATA; Schema: shop; Owner: ann
--

COPY shop.orders (no, customer, state, states, amount, "order", note, at) FROM stdin;
1	10	new	\N	0.00	\N	(' 	2026-11-23 20:08:02.575
\.


--
-- Name: customers_id_seq; Type: SEQUENCE SET; Schema: shop; Owner: ann
--

SELECT pg_catalog.setval('shop.customers_id_seq', 11, true);


--
-- Name: free; Type: SEQUENCE SET; Schema: shop; Owner: ann
--

SELECT pg_catalog.setval('shop.free', 7, false);


--
-- Name: orders_no_seq; Type: SEQUENCE SET; Schema: shop; Owner: ann
--

SELECT pg_catalog.setval('shop.orders_no_seq', 1, true);


--
-- Name: cache cache_pkey; Type: CONSTRAINT; Schema: public; Owner: ann
--

ALTER TABLE ONLY public.cache
    ADD CONSTRAINT cache_pkey PRIMARY KEY (key);


--
-- Name: customers customers_mail_key; Type: CONSTRAINT; Schema: shop; Owner: ann
--

ALTER TABLE ONLY shop.customers
    ADD CONSTRAINT customers_mail_key UNIQUE (mail);


--
-- Name: customers customers_pkey; Type: CONSTRAINT; Schema: shop; Owner: ann
--

ALTER TABLE ONLY shop.customers
    ADD CONSTRAINT customers_pkey PRIMARY KEY (id);


--
-- Name: measurements measurements_pkey; Type: CONSTRAINT; Schema: shop; Owner: ann
--

ALTER TABLE ONLY shop.measurements
    ADD CONSTRAINT measurements_pkey PRIMARY KEY (day, place);


--
-- Name: measurements_2025 measurements_2025_pkey; Type: CONSTRAINT; Schema: shop; Owner: ann
--

ALTER TABLE ONLY shop.measurements_2025
    ADD CONSTRAINT measurements_2025_pkey PRIMARY KEY (day, place);


--
-- Name: measurements_rest measurements_rest_pkey; Type: CONSTRAINT; Schema: shop; Owner: ann
--

ALTER TABLE ONLY shop.measurements_rest
    ADD CONSTRAINT measurements_rest_pkey PRIMARY KEY (day, place);


--
-- Name: orders odd "name"; Type: CONSTRAINT; Schema: shop; Owner: ann
--

ALTER TABLE ONLY shop.orders
    ADD CONSTRAINT "odd ""name""" UNIQUE (customer, at);


--
-- Name: orders orders_key; Type: CONSTRAINT; Schema: shop; Owner: ann
--

ALTER TABLE ONLY shop.orders
    ADD CONSTRAINT orders_key PRIMARY KEY (no, customer);


--
-- Name: orders orders_note_excl; Type: CONSTRAINT; Schema: shop; Owner: ann
--

ALTER TABLE ONLY shop.orders
    ADD CONSTRAINT orders_note_excl EXCLUDE USING btree (note WITH =);


--
-- Name: customers_lower_idx; Type: INDEX; Schema: shop; Owner: ann
--

CREATE UNIQUE INDEX customers_lower_idx ON shop.customers USING btree (lower(mail));


--
-- Name: orders_at; Type: INDEX; Schema: shop; Owner: ann
--

CREATE INDEX orders_at ON shop.orders USING btree (at DESC NULLS LAST) WHERE (note IS NOT NULL);


--
-- Name: measurements_2025_pkey; Type: INDEX ATTACH; Schema: shop; Owner: ann
--

ALTER INDEX shop.measurements_pkey ATTACH PARTITION shop.measurements_2025_pkey;


--
-- Name: measurements_rest_pkey; Type: INDEX ATTACH; Schema: shop; Owner: ann
--

ALTER INDEX shop.measurements_pkey ATTACH PARTITION shop.measurements_rest_pkey;


--
-- Name: stats; Type: STATISTICS; Schema: shop; Owner: ann
--

CREATE STATISTICS shop.stats ON customer, state FROM shop.orders;


ALTER STATISTICS shop.stats OWNER TO ann;

--
-- Name: animals keep; Type: RULE; Schema: shop; Owner: ann
--

CREATE RULE keep AS
    ON DELETE TO shop.animals DO INSTEAD NOTHING;


--
-- Name: orders stamp; Type: TRIGGER; Schema: shop; Owner: ann
--

CREATE TRIGGER stamp BEFORE INSERT ON shop.orders FOR EACH ROW EXECUTE FUNCTION shop.stamp();


--
-- Name: orders orders_customer_fkey; Type: FK CONSTRAINT; Schema: shop; Owner: ann
--

ALTER TABLE ONLY shop.orders
    ADD CONSTRAINT orders_customer_fkey FOREIGN KEY (customer) REFERENCES shop.customers(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;


--
-- Name: orders; Type: ROW SECURITY; Schema: shop; Owner: ann
--

ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY;

--
-- Name: orders own; Type: POLICY; Schema: shop; Owner: ann
--

CREATE POLICY own ON shop.orders USING ((customer > 0));


--
-- Name: everything; Type: PUBLICATION; Schema: -; Owner: ann
--

CREATE PUBLICATION everything FOR ALL TABLES WITH (publish = 'insert, update, delete, truncate');


ALTER PUBLICATION everything OWNER TO ann;

--
-- Name: TABLE animals; Type: ACL; Schema: shop; Owner: ann
--

GRANT SELECT ON TABLE shop.animals TO reader;


--
-- Name: TABLE customers; Type: ACL; Schema: shop; Owner: ann
--

GRANT SELECT ON TABLE shop.customers TO reader;


--
-- Name: COLUMN customers.id; Type: ACL; Schema: shop; Owner: ann
--

GRANT SELECT(id) ON TABLE shop.customers TO PUBLIC;


--
-- Name: TABLE dogs; Type: ACL; Schema: shop; Owner: ann
--

GRANT SELECT ON TABLE shop.dogs TO reader;


--
-- Name: TABLE measurements; Type: ACL; Schema: shop; Owner: ann
--

GRANT SELECT ON TABLE shop.measurements TO reader;


--
-- Name: TABLE measurements_2025; Type: ACL; Schema: shop; Owner: ann
--

GRANT SELECT ON TABLE shop.measurements_2025 TO reader;


--
-- Name: TABLE measurements_rest; Type: ACL; Schema: shop; Owner: ann
--

GRANT SELECT ON TABLE shop.measurements_rest TO reader;


--
-- Name: TABLE orders; Type: ACL; Schema: shop; Owner: ann
--

GRANT SELECT ON TABLE shop.orders TO reader;


--
-- Name: TABLE open_orders; Type: ACL; Schema: shop; Owner: ann
--

GRANT SELECT ON TABLE shop.open_orders TO reader;


--
-- Name: TABLE totals; Type: ACL; Schema: shop; Owner: ann
--

GRANT SELECT ON TABLE shop.totals TO reader;


--
-- Name: DEFAULT PRIVILEGES FOR TABLES; Type: DEFAULT ACL; Schema: shop; Owner: ann
--

ALTER DEFAULT PRIVILEGES FOR ROLE ann IN SCHEMA shop GRANT SELECT ON TABLES  TO reader;


--
-- Name: totals; Type: MATERIALIZED VIEW DATA; Schema: shop; Owner: ann
--

REFRESH MATERIALIZED VIEW shop.totals;


--
-- PostgreSQL database dump complete
--

\unrestrict cNBdv7c14gVjUsuu5DyXLPpHe2lBRlLgxgewNegsZwyXwjwkUsbRwHp1qBLKLR1

