--
-- PostgreSQL database dump
--

\restrict key

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
-- Name: mood; Type: TYPE; Schema: public; Owner: owner
--

CREATE TYPE public.mood AS ENUM (
    'sad',
    'it''s ok',
    'happy'
);


ALTER TYPE public.mood OWNER TO owner;

--
-- Name: TYPE mood; Type: COMMENT; Schema: public; Owner: owner
--

COMMENT ON TYPE public.mood IS 'a mood';


--
-- Name: point2; Type: TYPE; Schema: public; Owner: owner
--

CREATE TYPE public.point2 AS (
	x integer,
	y text
);


ALTER TYPE public.point2 OWNER TO owner;

--
-- Name: positive; Type: DOMAIN; Schema: public; Owner: owner
--

CREATE DOMAIN public.positive AS numeric(10,2)
	CONSTRAINT positive_check CHECK ((VALUE > (0)::numeric));


ALTER DOMAIN public.positive OWNER TO owner;

--
-- Name: f(); Type: FUNCTION; Schema: public; Owner: owner
--

CREATE FUNCTION public.f() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN INSERT INTO orders VALUES (1); RETURN NEW; END; $$;


ALTER FUNCTION public.f() OWNER TO owner;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: base; Type: TABLE; Schema: public; Owner: owner
--

CREATE TABLE public.base (
    a integer NOT NULL,
    b text
);


ALTER TABLE public.base OWNER TO owner;

--
-- Name: child; Type: TABLE; Schema: public; Owner: owner
--

CREATE TABLE public.child (
    c integer
)
INHERITS (public.base);


ALTER TABLE public.child OWNER TO owner;

--
-- Name: logs; Type: TABLE; Schema: public; Owner: owner
--

CREATE TABLE public.logs (
    day date NOT NULL,
    msg text
)
PARTITION BY RANGE (day);


ALTER TABLE public.logs OWNER TO owner;

--
-- Name: logs_2024; Type: TABLE; Schema: public; Owner: owner
--

CREATE TABLE public.logs_2024 (
    day date NOT NULL,
    msg text
);


ALTER TABLE public.logs_2024 OWNER TO owner;

--
-- Name: orders; Type: TABLE; Schema: public; Owner: owner
--

CREATE TABLE public.orders (
    no bigint NOT NULL,
    person integer NOT NULL,
    total public.positive NOT NULL
);


ALTER TABLE public.orders OWNER TO owner;

--
-- Name: orders_no_seq; Type: SEQUENCE; Schema: public; Owner: owner
--

ALTER TABLE public.orders ALTER COLUMN no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.orders_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: people; Type: TABLE; Schema: public; Owner: owner
--

CREATE TABLE public.people (
    id integer NOT NULL,
    name text NOT NULL,
    feels public.mood,
    moods public.mood[],
    pay public.positive,
    at public.point2,
    born date DEFAULT '1970-01-01'::date
);


ALTER TABLE public.people OWNER TO owner;

--
-- Name: TABLE people; Type: COMMENT; Schema: public; Owner: owner
--

COMMENT ON TABLE public.people IS 'who''s here; all';


--
-- Name: COLUMN people.name; Type: COMMENT; Schema: public; Owner: owner
--

COMMENT ON COLUMN public.people.name IS 'the name';


--
-- Name: people_id_seq; Type: SEQUENCE; Schema: public; Owner: owner
--

CREATE SEQUENCE public.people_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.people_id_seq OWNER TO owner;

--
-- Name: people_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: owner
--

ALTER SEQUENCE public.people_id_seq OWNED BY public.people.id;


--
-- Name: seen; Type: VIEW; Schema: public; Owner: owner
--

CREATE VIEW public.seen AS
 SELECT people.name
   FROM public.people;


ALTER TABLE public.seen OWNER TO owner;

--
-- Name: logs_2024; Type: TABLE ATTACH; Schema: public; Owner: owner
--

ALTER TABLE ONLY public.logs ATTACH PARTITION public.logs_2024 FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');


--
-- Name: people id; Type: DEFAULT; Schema: public; Owner: owner
--

ALTER TABLE ONLY public.people ALTER COLUMN id SET DEFAULT nextval('public.people_id_seq'::regclass);


--
-- Data for Name: base; Type: TABLE DATA; Schema: public; Owner: owner
--

COPY public.base (a, b) FROM stdin;
\.


--
-- Data for Name: child; Type: TABLE DATA; Schema: public; Owner: owner
--

COPY public.child (a, b, c) FROM stdin;
\.


--
-- Data for Name: logs_2024; Type: TABLE DATA; Schema: public; Owner: owner
--

COPY public.logs_2024 (day, msg) FROM stdin;
2024-05-05	"quoted
\.


--
-- Data for Name: orders; Type: TABLE DATA; Schema: public; Owner: owner
--

COPY public.orders (no, person, total) FROM stdin;
1	1	2.50
\.


--
-- Data for Name: people; Type: TABLE DATA; Schema: public; Owner: owner
--

COPY public.people (id, name, feels, moods, pay, at, born) FROM stdin;
1	it's "Ann" $$ `x`	sad	\N	\N	\N	1970-01-01
2	tab\there\nline; CREATE TABLE x (a int);	it's ok	\N	\N	\N	1970-01-01
3	\\.	\N	\N	\N	\N	1970-01-01
4	-- /* $a$	happy	\N	\N	\N	1970-01-01
\.


--
-- Name: orders_no_seq; Type: SEQUENCE SET; Schema: public; Owner: owner
--

SELECT pg_catalog.setval('public.orders_no_seq', 1, true);


--
-- Name: people_id_seq; Type: SEQUENCE SET; Schema: public; Owner: owner
--

SELECT pg_catalog.setval('public.people_id_seq', 4, true);


--
-- Name: orders orders_pkey; Type: CONSTRAINT; Schema: public; Owner: owner
--

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (no, person);


--
-- Name: people people_pkey; Type: CONSTRAINT; Schema: public; Owner: owner
--

ALTER TABLE ONLY public.people
    ADD CONSTRAINT people_pkey PRIMARY KEY (id);


--
-- Name: people_name; Type: INDEX; Schema: public; Owner: owner
--

CREATE INDEX people_name ON public.people USING btree (name);


--
-- Name: people tr; Type: TRIGGER; Schema: public; Owner: owner
--

CREATE TRIGGER tr BEFORE INSERT ON public.people FOR EACH ROW EXECUTE FUNCTION public.f();


--
-- Name: orders orders_person_fkey; Type: FK CONSTRAINT; Schema: public; Owner: owner
--

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_person_fkey FOREIGN KEY (person) REFERENCES public.people(id);


--
-- PostgreSQL database dump complete
--

\unrestrict key

